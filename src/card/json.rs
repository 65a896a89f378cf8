//! A card's JSON, one level at a time: values stay raw text until someone asks for them.
//!
//! No tree of the whole document is built. A tree takes up to a hundred times the memory of its text, and forgets that
//! a name stood there twice. What nobody asks for is only skipped, at any depth and without recursion.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{Deserializer as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::wire::readable::readable;

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    List,
    /// An object.
    Object,
}

impl JsonType {
    /// As it stands in a message.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Object => "an object",
        }
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text of one valid JSON value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Json<'a>(&'a RawValue);

impl<'a> Json<'a> {
    /// A whole document: one value with nothing but white space around it.
    pub(super) fn document(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    pub(super) fn raw(self) -> &'a RawValue {
        self.0
    }

    pub(super) fn kind(self) -> JsonType {
        match self.0.get().as_bytes().first() {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::List,
            Some(b'"') => JsonType::Text,
            Some(b't' | b'f') => JsonType::Bool,
            Some(b'n') => JsonType::Null,
            _ => JsonType::Number,
        }
    }

    pub(super) fn is_null(self) -> bool {
        self.kind() == JsonType::Null
    }

    /// The text, unescaped. `None` if this is none, or one that stands for no Unicode text (a lone surrogate).
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

        serde_json::from_str::<Text<'a>>(self.0.get()).ok().map(|text| text.0)
    }

    /// The same, of a text that is for people only: halves of characters are replaced.
    pub(super) fn prose(self) -> Option<String> {
        serde_json::from_slice(&readable(self.0.get().as_bytes())).ok()
    }

    pub(super) fn flag(self) -> Option<bool> {
        serde_json::from_str(self.0.get()).ok()
    }

    pub(super) fn items(self) -> Option<Vec<Self>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.0.get()).ok()?;
        Some(items.into_iter().map(Self).collect())
    }

    /// The members of an object, those of `names` kept.
    pub(super) fn members<const N: usize>(self, names: [&'static str; N]) -> Option<Members<'a, N>> {
        serde_json::Deserializer::from_str(self.0.get()).deserialize_map(MemberVisitor(names)).ok()
    }

    /// Every member of an object, in order.
    pub(super) fn entries(self) -> Option<Vec<(Cow<'a, str>, Self)>> {
        serde_json::Deserializer::from_str(self.0.get()).deserialize_map(EntryVisitor).ok()
    }
}

/// The members of one object that were asked for, by their place in the list of names.
pub(super) struct Members<'a, const N: usize> {
    names: [&'static str; N],
    values: [Option<Json<'a>>; N],
    /// The first of the names that stood there twice.
    pub(super) repeated: Option<&'static str>,
    /// Names that nobody asked for: the first few, and not more of each than a message needs.
    pub(super) unknown: Vec<Box<str>>,
}

impl<'a, const N: usize> Members<'a, N> {
    const UNKNOWN: usize = 8;
    const UNKNOWN_NAME: usize = 64;

    /// The value behind a name; the last one, where it stands there twice.
    pub(super) fn get(&self, name: &'static str) -> Option<Json<'a>> {
        let index = self.names.iter().position(|known| *known == name);
        debug_assert!(index.is_some(), "{name} was not asked for");
        index.and_then(|index| self.values.get(index).copied().flatten())
    }

    /// The value behind a name, unless it is `null`, which ProtoJSON reads like absence.
    pub(super) fn present(&self, name: &'static str) -> Option<Json<'a>> {
        self.get(name).filter(|value| !value.is_null())
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct MemberVisitor<const N: usize>([&'static str; N]);

impl<'de, const N: usize> Visitor<'de> for MemberVisitor<N> {
    type Value = Members<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members { names: self.0, values: [None; N], repeated: None, unknown: Vec::new() };
        while let Some(Name(name)) = map.next_key()? {
            let slot = self.0.iter().zip(&mut members.values).find(|(known, _)| **known == name);
            let Some((known, slot)) = slot else {
                map.next_value::<IgnoredAny>()?;
                if members.unknown.len() < Members::<N>::UNKNOWN {
                    members.unknown.push(name.chars().take(Members::<N>::UNKNOWN_NAME).collect());
                }
                continue;
            };
            if slot.is_some() {
                members.repeated = members.repeated.or(Some(known));
            }
            *slot = Some(Json(map.next_value()?));
        }
        Ok(members)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Vec<(Cow<'de, str>, Json<'de>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((Name(name), value)) = map.next_entry()? {
            entries.push((name, Json(value)));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json<'_> {
        Json::document(text).unwrap()
    }

    #[test]
    fn every_kind_is_told_by_its_first_byte() {
        for (text, kind) in [
            ("null", JsonType::Null),
            (" true ", JsonType::Bool),
            ("-1e3", JsonType::Number),
            ("\t\"x\"", JsonType::Text),
            ("[1]", JsonType::List),
            ("\n{}", JsonType::Object),
        ] {
            assert_eq!(json(text).kind(), kind, "{text}");
        }
    }

    #[test]
    fn members_are_found_by_name_however_it_is_escaped() {
        let value = json(r#"{"\u0061": 1, "b": null, "other": {"deep": []}, "x\ny": 0}"#);
        let members = value.members(["a", "b", "c"]).unwrap();
        assert_eq!(members.get("a").unwrap().raw().get(), "1");
        assert!(members.get("b").is_some() && members.present("b").is_none());
        assert!(members.get("c").is_none());
        assert_eq!(members.repeated, None);
        assert_eq!(*members.unknown, [Box::from("other"), Box::from("x\ny")]);
    }

    #[test]
    fn a_repeated_name_is_told_and_the_last_value_counts() {
        let members = json(r#"{"a":1,"\u0061":2,"z":1,"z":2}"#).members(["a"]).unwrap();
        assert_eq!(members.repeated, Some("a"));
        assert_eq!(members.get("a").unwrap().raw().get(), "2");
    }

    #[test]
    fn what_is_skipped_may_nest_deeper_than_any_stack() {
        let text = format!(r#"{{"x":{}{},"a":"b"}}"#, "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(json(&text).members(["a"]).unwrap().get("a").unwrap().text().unwrap(), "b");
    }

    #[test]
    fn other_kinds_are_none() {
        assert!(json("[]").members(["a"]).is_none());
        assert!(json("1").items().is_none());
        assert!(json("1").text().is_none());
        assert!(json("\"true\"").flag().is_none());
        assert!(json(r#""\ud800""#).text().is_none());
        assert_eq!(json(r#""a\ud800""#).prose().unwrap(), "a\u{fffd}");
        assert!(json("1").prose().is_none());
        assert!(json(r#"{"\ud800":1}"#).entries().is_none());
        assert_eq!(json(r#""\ud83d\ude00""#).text().unwrap(), "😀");
    }
}
