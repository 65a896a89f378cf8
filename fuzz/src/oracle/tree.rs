//! JSON by serde_json: whether it is any, and its members where they lie.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// A value, as its text.
pub type Raw<'a> = &'a RawValue;

/// Is it a whole JSON document, and nothing else? Over serde_json alone it may also be nested without end, and text
/// that is no UTF-8.
#[must_use]
pub fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Is it one that only lacks its end?
#[must_use]
pub fn is_beginning(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_err_and(|error| error.is_eof())
}

/// How many arrays and objects lie around each other in a document, at most.
#[must_use]
pub fn depth(json: &[u8]) -> usize {
    let (mut depth, mut most, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    most
}

/// The value that a document is.
#[must_use]
pub fn root(bytes: &[u8]) -> Option<Raw<'_>> {
    serde_json::from_slice(bytes).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Object,
    Array,
}

#[must_use]
pub fn kind(value: Raw<'_>) -> Kind {
    match value.get().as_bytes()[0] {
        b'n' => Kind::Null,
        b't' | b'f' => Kind::Bool,
        b'"' => Kind::String,
        b'{' => Kind::Object,
        b'[' => Kind::Array,
        _ => Kind::Number,
    }
}

/// The members of an object in their order, with those that stand there twice.
#[derive(Debug, Default)]
pub struct Members<'a>(pub Vec<(String, Raw<'a>)>);

impl<'a> Members<'a> {
    /// Of a value that is no object: none.
    #[must_use]
    pub fn of(value: Raw<'a>) -> Self {
        serde_json::from_str(value.get()).unwrap_or_default()
    }

    /// The first of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    #[must_use]
    pub fn kind(&self, name: &str) -> Option<Kind> {
        self.get(name).map(kind)
    }

    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The text of a member that is a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        text(self.get(name)?)
    }

    /// Does one of these stand there twice?
    #[must_use]
    pub fn repeats(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.0.iter().filter(|(key, _)| key == name).count() > 1)
    }
}

/// A string's content. Halves of a surrogate pair that stand alone are U+FFFD.
#[must_use]
pub fn text(value: Raw<'_>) -> Option<String> {
    serde_json::from_str::<Text>(value.get()).ok().map(|text| text.0)
}

#[derive(Debug)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfText;
        impl Visitor<'_> for OfText {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            // As bytes, serde_json gives strings that hold half a pair.
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(replaced(bytes)))
            }
        }
        deserializer.deserialize_bytes(OfText)
    }
}

/// serde_json encodes half a pair as if it were a character.
fn replaced(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => return text + valid,
            Err(error) => {
                let (valid, behind) = rest.split_at(error.valid_up_to());
                text.push_str(std::str::from_utf8(valid).unwrap());
                text.push(char::REPLACEMENT_CHARACTER);
                rest = &behind[3..];
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMembers;
        impl<'de> Visitor<'de> for OfMembers {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Text(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(OfMembers)
    }
}
