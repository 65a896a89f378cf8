//! Media types, as far as an A2A client must tell them apart.

/// The media type of a `content-type` value (RFC 9110 §8.3.1); case and parameters make no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MediaType {
    /// No header, or an empty one.
    Absent,
    /// `application/json`, `text/json`, or any type with suffix `+json` (`application/a2a+json`, say).
    Json,
    /// `application/problem+json` (RFC 9457).
    ProblemJson,
    /// `text/event-stream`.
    EventStream,
    /// `application/grpc` or `application/grpc+proto`.
    Grpc,
    /// `text/html` or `application/xhtml+xml`: a page for people, where a machine was asked.
    Html,
    /// Any other `text/…`.
    Text,
    /// Anything else, also what is no media type at all.
    Other,
}

impl MediaType {
    /// Reads a header's value.
    #[must_use]
    pub fn of(value: Option<&[u8]>) -> Self {
        let value = match value {
            None => return Self::Absent,
            // As nearly all servers and clients spell them: no need to take these apart.
            Some(b"application/json" | b"application/a2a+json") => return Self::Json,
            Some(b"text/event-stream") => return Self::EventStream,
            Some(b"application/grpc" | b"application/grpc+proto") => return Self::Grpc,
            Some(value) => value,
        };
        let essence = match memchr::memchr(b';', value) {
            Some(end) => value.get(..end).unwrap_or_default(),
            None => value,
        }
        .trim_ascii();
        if essence.is_empty() {
            return if value.trim_ascii().is_empty() { Self::Absent } else { Self::Other };
        }
        let Some(slash) = memchr::memchr(b'/', essence) else {
            return Self::Other;
        };
        let (kind, subtype) = essence.split_at(slash);
        let subtype = subtype.get(1..).unwrap_or_default();
        if !is_token(kind) || !is_token(subtype) {
            return Self::Other;
        }
        Self::of_essence(kind, subtype)
    }

    fn of_essence(kind: &[u8], subtype: &[u8]) -> Self {
        let is = |what: &str, name: &str| {
            kind.eq_ignore_ascii_case(what.as_bytes()) && subtype.eq_ignore_ascii_case(name.as_bytes())
        };
        if is("application", "json") || is("text", "json") {
            Self::Json
        } else if is("text", "event-stream") {
            Self::EventStream
        } else if is("application", "problem+json") {
            Self::ProblemJson
        } else if is("application", "grpc") || is("application", "grpc+proto") {
            Self::Grpc
        } else if is("application", "grpc+json") || is("application", "grpc-web+json") {
            // The suffix tells the codec of framed messages here.
            Self::Other
        } else if is("text", "html") || is("application", "xhtml+xml") {
            Self::Html
        } else if has_json_suffix(subtype) {
            Self::Json
        } else if kind.eq_ignore_ascii_case(b"text") {
            Self::Text
        } else {
            Self::Other
        }
    }

    /// True if the body is said to be one JSON document.
    #[must_use]
    pub fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::ProblemJson)
    }
}

/// RFC 6839 §3.1.
fn has_json_suffix(subtype: &[u8]) -> bool {
    let suffix = b"+json";
    subtype.len() > suffix.len()
        && subtype.get(subtype.len() - suffix.len()..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

/// RFC 9110 §5.6.2.
fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values() {
        let cases: &[(&str, MediaType)] = &[
            ("", MediaType::Absent),
            ("  ", MediaType::Absent),
            (";charset=utf-8", MediaType::Other),
            ("application/json", MediaType::Json),
            ("Application/JSON; charset=\"utf-8\"", MediaType::Json),
            ("application/a2a+json;v=1;x=y", MediaType::Json),
            ("text/json", MediaType::Json),
            ("application/vnd.x+JSON", MediaType::Json),
            ("application/+json", MediaType::Other),
            ("application/problem+json", MediaType::ProblemJson),
            ("application/json-seq", MediaType::Other),
            ("application/x-ndjson", MediaType::Other),
            ("application/json, text/html", MediaType::Other),
            ("text/event-stream;charset=utf-8", MediaType::EventStream),
            ("TEXT/EVENT-STREAM", MediaType::EventStream),
            ("application/grpc", MediaType::Grpc),
            ("application/grpc+proto", MediaType::Grpc),
            ("Application/GRPC", MediaType::Grpc),
            ("application/grpc+proto; x=y", MediaType::Grpc),
            ("application/grpc+json", MediaType::Other),
            ("application/grpc-web", MediaType::Other),
            ("text/html; charset=utf-8", MediaType::Html),
            ("application/xhtml+xml", MediaType::Html),
            ("text/plain", MediaType::Text),
            ("text/", MediaType::Other),
            ("json", MediaType::Other),
            ("application / json", MediaType::Other),
            ("image/png", MediaType::Other),
        ];
        for (value, expected) in cases {
            assert_eq!(MediaType::of(Some(value.as_bytes())), *expected, "{value:?}");
        }
        assert_eq!(MediaType::of(None), MediaType::Absent);
        assert_eq!(MediaType::of(Some(b"\xff/\xff")), MediaType::Other);
    }

    #[test]
    fn one_document_is_said_by_json_alone() {
        for (value, is_json) in [
            ("application/json", true),
            ("application/a2a+json", true),
            ("application/problem+json", true),
            ("application/x-ndjson", false),
            ("text/event-stream", false),
            ("application/grpc", false),
            ("text/html", false),
            ("", false),
        ] {
            assert_eq!(MediaType::of(Some(value.as_bytes())).is_json(), is_json, "{value:?}");
        }
    }
}
