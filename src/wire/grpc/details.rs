//! `google.rpc.Status` and its details, from bytes (google/rpc/status.proto, google/rpc/error_details.proto).
//!
//! | message | fields |
//! | --- | --- |
//! | `google.rpc.Status` | code 1, message 2, details 3 (`google.protobuf.Any`: type_url 1, value 2) |
//! | `google.rpc.ErrorInfo` | reason 1, domain 2, metadata 3 (a map: key 1, value 2) |
//! | `google.rpc.RetryInfo` | retry_delay 1 (`google.protobuf.Duration`: seconds 1, nanos 2) |
//! | `google.rpc.BadRequest` | field_violations 1 (field 1, description 2) |
//! | `google.protobuf.Struct` | fields 1 (a map: key 1, value 2 (string_value 3, list_value 6 (values 1))) |
//!
//! They are read into the JSON that the other bindings have them in, so that all of them are understood alike. This is
//! the rare path.

use serde_json::{Map, Value as Json};

use super::fields::{Value, fields};
use crate::wire::peer_error::PeerError;

/// How many details, and entries of each, are looked at.
const MAX: usize = 64;

pub(super) fn read(status: &[u8], error: &mut PeerError) {
    for (number, value) in fields(status).take(MAX) {
        match (number, value) {
            (2, Value::Bytes(message)) if error.message.is_none() && !message.is_empty() => {
                error.set_message(&text(message));
            }
            (3, Value::Bytes(any)) => {
                if let Some(detail) = detail(any) {
                    error.read_detail(&detail);
                }
            }
            _ => {}
        }
    }
}

/// What a `google.protobuf.Any` holds, if it is of a type that is known.
fn detail(any: &[u8]) -> Option<Map<String, Json>> {
    let url = text(bytes(any, 1));
    let value = bytes(any, 2);
    let mut detail = match url.rsplit('/').next()? {
        "google.rpc.ErrorInfo" => error_info(value),
        "google.rpc.RetryInfo" => {
            let delay = bytes(value, 1);
            Map::from_iter([("retryDelay".to_owned(), duration(delay)?)])
        }
        "google.rpc.BadRequest" => {
            let violations = repeated(value, 1).map(violation).collect();
            Map::from_iter([("fieldViolations".to_owned(), Json::Array(violations))])
        }
        // An object of a vendor's own, which has no type in JSON.
        "google.protobuf.Struct" => return Some(object(value)),
        _ => return None,
    };
    detail.insert("@type".to_owned(), url.into());
    Some(detail)
}

fn error_info(info: &[u8]) -> Map<String, Json> {
    let metadata = repeated(info, 3).map(|entry| (text(bytes(entry, 1)), text(bytes(entry, 2)).into())).collect();
    Map::from_iter([
        ("reason".to_owned(), text(bytes(info, 1)).into()),
        ("domain".to_owned(), text(bytes(info, 2)).into()),
        ("metadata".to_owned(), Json::Object(metadata)),
    ])
}

/// A delay; a negative one is none.
fn duration(duration: &[u8]) -> Option<Json> {
    let part = |wanted| {
        let numbers = fields(duration).filter_map(|(number, value)| match value {
            Value::Number(value) if number == wanted => Some(value.cast_signed()),
            _ => None,
        });
        u64::try_from(numbers.last().unwrap_or(0)).ok()
    };
    let parts = [("seconds".to_owned(), part(1)?.into()), ("nanos".to_owned(), part(2)?.into())];
    Some(Json::Object(Map::from_iter(parts)))
}

fn violation(violation: &[u8]) -> Json {
    Json::Object(Map::from_iter([
        ("field".to_owned(), text(bytes(violation, 1)).into()),
        ("description".to_owned(), text(bytes(violation, 2)).into()),
    ]))
}

/// The texts in an object, and its lists of texts; nothing else of it is asked for.
fn object(object: &[u8]) -> Map<String, Json> {
    let entry = |entry| {
        let value = match last(bytes(entry, 2))? {
            (3, string) => text(string).into(),
            (6, list) => {
                let texts = repeated(list, 1).filter_map(|value| last(value).filter(|(number, _)| *number == 3));
                Json::Array(texts.map(|(_, string)| text(string).into()).collect())
            }
            _ => return None,
        };
        Some((text(bytes(entry, 1)), value))
    };
    repeated(object, 1).filter_map(entry).collect()
}

/// What a `google.protobuf.Value` is: the last of its members counts, and those that are texts, lists or objects have
/// bytes.
fn last(value: &[u8]) -> Option<(u32, &[u8])> {
    let members = fields(value).filter(|(number, _)| (1..=6).contains(number));
    match members.last()? {
        (number, Value::Bytes(bytes)) => Some((number, bytes)),
        _ => None,
    }
}

/// The last value of a field; empty if there is none.
fn bytes(message: &[u8], wanted: u32) -> &[u8] {
    repeated(message, wanted).last().unwrap_or_default()
}

fn repeated(message: &[u8], wanted: u32) -> impl Iterator<Item = &[u8]> {
    let wanted = move |(number, value)| match value {
        Value::Bytes(bytes) if number == wanted => Some(bytes),
        _ => None,
    };
    fields(message).filter_map(wanted).take(MAX)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::wire::{grpc::encode::Message, peer_error::ErrorForm};

    fn any(name: &str, value: Message) -> Message {
        Message::new().text(1, &format!("type.googleapis.com/{name}")).message(2, value)
    }

    fn read_all(details: impl IntoIterator<Item = Message>) -> PeerError {
        let status = details.into_iter().fold(Message::new().number(1, 9), |status, detail| status.message(3, detail));
        let mut error = PeerError::new(ErrorForm::Grpc);
        read(status.as_bytes(), &mut error);
        error
    }

    fn entry(key: &str, value: &str) -> Message {
        Message::new().text(1, key).text(2, value)
    }

    #[test]
    fn error_info_with_its_metadata() {
        let info = Message::new()
            .text(1, "UNSUPPORTED_OPERATION")
            .text(2, "a2a-protocol.org")
            .message(3, entry("region", "eu"))
            .message(3, entry("availableSkills", r#"["a","b"]"#));
        let error = read_all([any("google.rpc.ErrorInfo", info)]);
        assert_eq!(error.reason.as_deref(), Some("UNSUPPORTED_OPERATION"));
        assert_eq!(error.region.as_deref(), Some("eu"));
        assert_eq!(error.available_skills, Some(vec!["a".into(), "b".into()]));
        assert_eq!(error.metadata.len(), 2);
    }

    #[test]
    fn the_message_of_the_details_stands_in_for_none_beside_them() {
        for (beside, within, expected) in [
            (None, "no", Some("no")),
            (None, "", None),
            (Some("not found"), "no", Some("not found")),
            (Some("not found"), "", Some("not found")),
        ] {
            let mut error = PeerError::new(ErrorForm::Grpc);
            error.message = beside.map(str::to_owned);
            read(Message::new().number(1, 9).text(2, within).as_bytes(), &mut error);
            assert_eq!(error.message.as_deref(), expected, "{beside:?} {within:?}");
        }
    }

    #[test]
    fn a_reason_of_another_domain_is_none() {
        let info = Message::new().text(1, "TASK_NOT_FOUND").text(2, "example.com");
        assert_eq!(read_all([any("google.rpc.ErrorInfo", info)]).reason, None);
    }

    #[test]
    fn retry_bad_request_and_a_vendors_object() {
        let retry =
            any("google.rpc.RetryInfo", Message::new().message(1, Message::new().number(1, 3).number(2, 500_000_000)));
        let violation = entry("message", "missing");
        let bad = any("google.rpc.BadRequest", Message::new().message(1, violation));
        let list = Message::new().message(1, Message::new().text(3, "x"));
        let skills = Message::new().text(1, "availableSkills").message(2, Message::new().message(6, list));
        let region = Message::new().text(1, "region").message(2, Message::new().text(3, "us"));
        let own = any("google.protobuf.Struct", Message::new().message(1, region).message(1, skills));
        let error = read_all([any("x.Unknown", Message::new()), retry, bad, own]);
        assert_eq!(error.retry_after, Some(Duration::from_millis(3500)));
        assert_eq!(error.field_violations, [("message".to_owned(), "missing".to_owned())]);
        assert_eq!((error.region.as_deref(), error.available_skills), (Some("us"), Some(vec!["x".into()])));
    }

    /// As in JSON, and as every reader of a `oneof` has it.
    #[test]
    fn what_is_no_text_in_a_list_is_left_out_and_the_last_of_a_value_counts() {
        let number = Message::new().number(4, 1);
        let texts = Message::new().message(1, number).message(1, Message::new().text(3, "x"));
        let skills = Message::new().text(1, "availableSkills").message(2, Message::new().message(6, texts));
        let region = Message::new().text(1, "region").message(2, Message::new().text(3, "eu").text(3, "us"));
        let error = read_all([any("google.protobuf.Struct", Message::new().message(1, region).message(1, skills))]);
        assert_eq!((error.region.as_deref(), error.available_skills), (Some("us"), Some(vec!["x".into()])));
    }

    #[test]
    fn a_negative_delay_is_none() {
        let delay = Message::new().number(1, (-3_i64).cast_unsigned());
        assert_eq!(read_all([any("google.rpc.RetryInfo", Message::new().message(1, delay))]).retry_after, None);
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        let mut error = PeerError::new(ErrorForm::Grpc);
        for seed in 0_u32..2000 {
            let bytes: Vec<u8> =
                (0..seed % 97).map(|i| (seed.wrapping_mul(2_654_435_761).rotate_left(i) & 0xff) as u8).collect();
            read(&bytes, &mut error);
        }
        assert!(error.metadata.len() <= 32 && error.field_violations.len() <= 32);
    }
}
