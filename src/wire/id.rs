//! JSON-RPC ids, and whether an answer's id is the request's.

use super::json::JsonKind;
use super::text::SmallText;

/// A JSON-RPC request's id (JSON-RPC 2.0 §4).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum JsonRpcId {
    /// No `id` member: a notification.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// An integer that fits.
    Number(i64),
    /// A string, unescaped.
    Text(Box<str>),
    /// Any other number, as its JSON text.
    Raw(Box<str>),
    /// What cannot be compared: an object, an array, a boolean, or a text of more than [`SmallText::MAX`] bytes.
    Other,
}

/// How an answer's id relates to the request's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdMatch {
    /// The same value; `1` and `1.0` are one number.
    Same,
    /// The same value as another JSON type: `1` and `"1"`.
    TypeChanged,
    /// The answer's id is `null`.
    Null,
    /// The answer has no id.
    Absent,
    /// Another call's id.
    Different,
}

impl JsonRpcId {
    /// The id as JSON, to be echoed in an answer. What cannot be compared is echoed as `null`.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Absent | Self::Null | Self::Other => "null".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Raw(text) => text.to_string(),
            Self::Text(text) => serde_json::Value::from(&**text).to_string(),
        }
    }

    /// Is this JSON text, a string without its quotes, the id as nearly everybody spells it?
    pub(crate) fn is_spelled_plainly(&self, text: &[u8], is_quoted: bool) -> bool {
        match self {
            Self::Number(number) => !is_quoted && integer(text) == Some(*number),
            Self::Text(id) => is_quoted && id.as_bytes() == text && memchr::memchr(b'\\', text).is_none(),
            Self::Absent | Self::Null | Self::Raw(_) | Self::Other => false,
        }
    }

    /// Reads an id that the scanner found.
    pub(crate) fn from_scalar(kind: JsonKind, text: &[u8], cut: bool) -> Self {
        let as_str = || std::str::from_utf8(text).ok().filter(|_| !cut);
        match kind {
            JsonKind::Null => Self::Null,
            JsonKind::String => as_str().map_or(Self::Other, |text| Self::Text(text.into())),
            JsonKind::Number => match integer(text) {
                Some(number) => Self::Number(number),
                None => as_str().map_or(Self::Other, |text| Self::Raw(text.into())),
            },
            _ => Self::Other,
        }
    }
}

/// The id of an answer, held without an allocation until it can be compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerId {
    kind: Option<JsonKind>,
    /// The value of a number that is an integer and fits.
    integer: Option<i64>,
    text: SmallText,
}

impl AnswerId {
    pub(crate) fn clear(&mut self) {
        self.kind = None;
        self.integer = None;
        self.text.clear();
    }

    pub(crate) fn set(&mut self, kind: JsonKind, text: &[u8], cut: bool) {
        self.kind = Some(kind);
        self.text.set(text, cut);
        self.integer = match kind {
            JsonKind::Number => integer(text),
            _ => None,
        };
    }

    pub(crate) fn compare(&self, request: &JsonRpcId) -> IdMatch {
        match (request, self.integer) {
            (JsonRpcId::Other, _) => return IdMatch::Same,
            (JsonRpcId::Number(asked), Some(got)) if *asked == got => return IdMatch::Same,
            _ => {}
        }
        let text = self.text.as_str();
        match self.kind {
            None => IdMatch::Absent,
            Some(JsonKind::Null) => IdMatch::Null,
            // No request id that can be compared is longer than what is kept of the answer's.
            _ if self.text.is_truncated() => IdMatch::Different,
            Some(JsonKind::Number) => match request {
                JsonRpcId::Number(number) if same_number(text, &number.to_string()) => IdMatch::Same,
                JsonRpcId::Raw(raw) if same_number(text, raw) => IdMatch::Same,
                JsonRpcId::Text(string) if **string == *text => IdMatch::TypeChanged,
                _ => IdMatch::Different,
            },
            Some(JsonKind::String) => match request {
                JsonRpcId::Text(string) if **string == *text => IdMatch::Same,
                JsonRpcId::Number(number) if is_spelled(text, *number) => IdMatch::TypeChanged,
                JsonRpcId::Raw(raw) if **raw == *text => IdMatch::TypeChanged,
                _ => IdMatch::Different,
            },
            Some(_) => IdMatch::Different,
        }
    }
}

/// The value of a JSON number that is an integer and fits.
fn integer(text: &[u8]) -> Option<i64> {
    let (digits, is_negative) = match text.strip_prefix(b"-") {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    // Taken together below zero, where there is room for one more.
    let value = digits.iter().try_fold(0_i64, |value, &digit| match digit {
        b'0'..=b'9' => value.checked_mul(10)?.checked_sub(i64::from(digit - b'0')),
        _ => None,
    })?;
    if is_negative { Some(value) } else { value.checked_neg() }
}

/// The number as JSON spells it: neither `+1` nor `01`.
fn is_spelled(text: &str, number: i64) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    plain && text.parse() == Ok(number)
}

/// Numbers of equal value, spelled as they may: `1`, `1.0`, `1e0`. Integers are compared as text, for as floating point
/// numbers two large ones can fall together.
fn same_number(one: &str, other: &str) -> bool {
    let is_float = |text: &str| text.contains(['.', 'e', 'E']);
    if one == other {
        return true;
    }
    if !is_float(one) && !is_float(other) {
        return false;
    }
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one.is_finite() && one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(json: &str) -> JsonRpcId {
        match serde_json::from_str(json).unwrap() {
            serde_json::Value::Null => JsonRpcId::Null,
            serde_json::Value::String(text) => JsonRpcId::Text(text.into()),
            serde_json::Value::Number(_) => JsonRpcId::from_scalar(JsonKind::Number, json.as_bytes(), false),
            _ => JsonRpcId::Other,
        }
    }

    fn answer(json: &str) -> AnswerId {
        let mut id = AnswerId::default();
        match json.bytes().next() {
            None => {}
            Some(b'"') => id.set(JsonKind::String, json.trim_matches('"').as_bytes(), false),
            Some(b'n') => id.set(JsonKind::Null, b"null", false),
            Some(b'{') => id.set(JsonKind::Object, b"", false),
            Some(_) => id.set(JsonKind::Number, json.as_bytes(), false),
        }
        id
    }

    #[test]
    fn integers_are_read_up_to_their_bounds() {
        for text in
            ["0", "-0", "7", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.0", "1e3"]
        {
            assert_eq!(integer(text.as_bytes()), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn answers_are_told_from_other_calls() {
        use IdMatch::{Absent, Different, Null, Same, TypeChanged};
        let cases = [
            ("1", "1", Same),
            ("1", "1.0", Same),
            ("1", "10e-1", Same),
            ("1", "\"1\"", TypeChanged),
            ("\"1\"", "1", TypeChanged),
            ("1", "2", Different),
            ("1", "", Absent),
            ("1", "null", Null),
            ("1", "{", Different),
            ("1", "\"01\"", Different),
            ("1", "\"+1\"", Different),
            ("0", "\"0\"", TypeChanged),
            ("1.5", "1.5", Same),
            ("1.5", "1.50", Same),
            ("1.5", "\"1.5\"", TypeChanged),
            ("1.5", "\"2.5\"", Different),
            ("1.5", "2.5", Different),
            ("-1", "\"-1\"", TypeChanged),
            ("-1", "1", Different),
            ("1", "2.0", Different),
            ("\"a\"", "1", Different),
            ("12345678901234567890", "12345678901234567890", Same),
            ("12345678901234567890", "12345678901234567891", Different),
            ("9007199254740993", "9007199254740992", Different),
            ("\"a\"", "\"a\"", Same),
            ("\"a\"", "\"b\"", Different),
            ("null", "null", Null),
            ("{}", "", Same),
            ("{}", "7", Same),
        ];
        for (asked, got, expected) in cases {
            assert_eq!(answer(got).compare(&request(asked)), expected, "{asked} {got}");
        }
        // Two that are beyond all floating point numbers are not one.
        assert_eq!(answer("1e998").compare(&JsonRpcId::Raw("1e999".into())), Different);
    }

    #[test]
    fn ids_are_read_as_what_they_are() {
        let read = |kind, text: &[u8], cut| JsonRpcId::from_scalar(kind, text, cut);
        assert_eq!(read(JsonKind::String, b"a", false), JsonRpcId::Text("a".into()));
        assert_eq!(read(JsonKind::Number, b"-7", false), JsonRpcId::Number(-7));
        assert_eq!(read(JsonKind::Number, b"1.5", false), JsonRpcId::Raw("1.5".into()));
        assert_eq!(read(JsonKind::Null, b"null", false), JsonRpcId::Null);
        // What is not there whole, or is none, cannot be compared.
        for (kind, text, cut) in [
            (JsonKind::String, &b"a"[..], true),
            (JsonKind::String, b"\xff", false),
            (JsonKind::Number, b"1.5", true),
            (JsonKind::Bool, b"true", false),
            (JsonKind::Object, b"", false),
        ] {
            assert_eq!(read(kind, text, cut), JsonRpcId::Other, "{kind:?}");
        }
    }

    #[test]
    fn an_id_that_was_cut_is_no_shorter_one() {
        let longest = "a".repeat(SmallText::MAX);
        let mut id = AnswerId::default();
        id.set(JsonKind::String, longest.as_bytes(), false);
        assert_eq!(id.compare(&JsonRpcId::Text(longest.as_str().into())), IdMatch::Same);
        id.set(JsonKind::String, format!("{longest}a").as_bytes(), false);
        assert_eq!(id.compare(&JsonRpcId::Text(longest.into())), IdMatch::Different);
    }

    #[test]
    fn nothing_of_an_id_outlives_it() {
        let mut id = answer("1");
        id.clear();
        assert_eq!(id.compare(&JsonRpcId::Number(1)), IdMatch::Absent);
    }

    #[test]
    fn ids_are_echoed_as_json() {
        assert_eq!(request("1").to_json(), "1");
        assert_eq!(request("1e3").to_json(), "1e3");
        assert_eq!(JsonRpcId::Text("a\"\n".into()).to_json(), r#""a\"\n""#);
        assert_eq!(JsonRpcId::Absent.to_json(), "null");
        assert_eq!(JsonRpcId::Other.to_json(), "null");
    }
}
