use a2a_guard::wire::{ErrorForm, GrpcStatus, MediaType, PeerError};
use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD},
};
use http::{HeaderMap, HeaderValue};
use prost::Message;
use serde_json::json;

use crate::{
    input::Input,
    oracle::{
        proto,
        rpc::{Status, to_json},
        tree::{self, Members},
    },
};

const MEDIA: [MediaType; 6] = [
    MediaType::Json,
    MediaType::ProblemJson,
    MediaType::Absent,
    MediaType::Other,
    MediaType::Html,
    MediaType::EventStream,
];

/// Errors with their details: in JSON, by a tree and by the scanner; over gRPC, by prost and as the same in JSON.
pub fn details(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (is_grpc, choice) = (input.one_in(2), input.byte());
    if is_grpc {
        of_status(choice, input.rest());
    } else {
        of_body(MEDIA[usize::from(choice) % MEDIA.len()], input.rest());
    }
}

fn assert_bounded(error: &PeerError) {
    let words = [&error.status, &error.reason, &error.region].into_iter().flatten();
    let pairs = error.metadata.iter().chain(&error.field_violations).flat_map(|(name, value)| [name, value]);
    let texts = [&error.message, &error.problem_type].into_iter().flatten();
    assert!(words.chain(pairs).chain(error.available_skills.iter().flatten()).all(|word| word.len() <= 256));
    assert!(texts.into_iter().all(|text| text.len() <= 1024));
    assert!(error.metadata.len() <= 32 && error.field_violations.len() <= 32);
    assert!(error.available_skills.as_ref().is_none_or(|skills| skills.len() <= 64));
}

fn of_body(media: MediaType, body: &[u8]) {
    let parsed = PeerError::parse(body, media);
    let scanned = PeerError::scan(body);
    parsed.iter().chain(&scanned).for_each(assert_bounded);
    if let Some(error) = &parsed {
        assert_eq!(error.is_typed(), error.form != ErrorForm::Text);
        let _ = error.kind(Some(404));
    }
    // HTML and text never say more than their status.
    if matches!(media, MediaType::Html | MediaType::Text) {
        return assert_eq!(parsed, None);
    }
    let Some(root) = tree::root(body).filter(|_| tree::is_json(body)) else { return };
    let members = Members::of(root);
    let error = members.get("error").map(Members::of).unwrap_or_default();
    let names = ["jsonrpc", "error", "code", "message", "status", "data", "details"];
    if members.repeats(&names) || error.repeats(&names) {
        return;
    }
    // Both ways of reading see the same.
    let (Some(parsed), Some(scanned)) = (&parsed, &scanned) else {
        let is_missed = parsed.as_ref().is_some_and(|error| {
            matches!(error.form, ErrorForm::JsonRpc | ErrorForm::CodeMessage) && error.code.is_some()
        });
        return assert!(!is_missed || scanned.is_some(), "{parsed:?} was not seen by the scanner");
    };
    if !matches!(parsed.form, ErrorForm::JsonRpc | ErrorForm::RpcStatus | ErrorForm::CodeMessage) {
        return;
    }
    if scanned.form == parsed.form {
        assert_eq!((scanned.code, &scanned.message), (parsed.code, &parsed.message));
        if parsed.form == ErrorForm::RpcStatus {
            assert_eq!(scanned.status, parsed.status);
        }
    }
}

fn of_status(choice: u8, status: &[u8]) {
    let text = match choice % 2 {
        0 => BASE64_STANDARD.encode(status),
        _ => BASE64_STANDARD_NO_PAD.encode(status),
    };
    let mut fields = HeaderMap::new();
    fields.insert("grpc-status", HeaderValue::from(u16::from(choice % 17)));
    if choice & 0x80 != 0 {
        // Where there is a message in the clear, the other one does not count.
        fields.insert("grpc-message", HeaderValue::from_static("a%20message"));
    }
    fields.insert("grpc-status-details-bin", HeaderValue::from_str(&text).expect("base64"));
    let read = GrpcStatus::of(&fields).expect("a status").to_error();
    assert_bounded(&read);
    assert_eq!(read.form, ErrorForm::Grpc);

    let Ok(decoded) = Status::decode(status) else { return };
    let retries = |any: &prost_types::Any| any.type_url.ends_with("RetryInfo") && any.value.len() > 20;
    if decoded.details.iter().any(retries) {
        return;
    }
    // Some things are read in more than one way.
    if proto::has_group(status, 8) || proto::is_disputed(status, 8) {
        return;
    }
    if choice & 0x80 != 0 {
        assert_eq!(read.message.as_deref(), Some("a message"));
    }
    let Some(details) = decoded.details.iter().map(to_json).collect::<Option<Vec<_>>>() else { return };
    let body = json!({ "error": { "code": 400, "status": "X", "message": decoded.message, "details": details } });
    let same = PeerError::parse(&serde_json::to_vec(&body).expect("JSON"), MediaType::Json).expect("an error");
    assert_eq!(
        (read.reason, read.retry_after, read.region, read.available_skills, read.field_violations, read.metadata),
        (same.reason, same.retry_after, same.region, same.available_skills, same.field_violations, same.metadata),
        "{body}"
    );
}
