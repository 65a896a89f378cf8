//! `google.rpc.Status` and its details by prost, and the same as JSON (google/rpc/status.proto,
//! google/rpc/error_details.proto, "ProtoJSON Format").

use std::collections::BTreeMap;

use prost::Message;
use prost_types::{Any, Duration, Struct, Value, value::Kind};
use serde_json::{Map, Value as Json, json};

#[derive(Clone, PartialEq, prost::Message)]
pub struct Status {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(message, repeated, tag = "3")]
    pub details: Vec<Any>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ErrorInfo {
    #[prost(string, tag = "1")]
    reason: String,
    #[prost(string, tag = "2")]
    domain: String,
    #[prost(btree_map = "string, string", tag = "3")]
    metadata: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Duration>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    field_violations: Vec<FieldViolation>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FieldViolation {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    description: String,
}

/// The same details as prost writes them: each field once, in order, and nothing that it does not know.
#[must_use]
pub fn canonical(status: &[u8]) -> Option<Status> {
    let mut status = Status::decode(status).ok()?;
    for any in &mut status.details {
        let value = &any.value[..];
        any.value = match any.type_url.rsplit('/').next()? {
            "google.rpc.ErrorInfo" => ErrorInfo::decode(value).ok()?.encode_to_vec(),
            "google.rpc.RetryInfo" => RetryInfo::decode(value).ok()?.encode_to_vec(),
            "google.rpc.BadRequest" => BadRequest::decode(value).ok()?.encode_to_vec(),
            "google.protobuf.Struct" => Struct::decode(value).ok()?.encode_to_vec(),
            _ => continue,
        };
    }
    Some(status)
}

/// A detail as JSON; `None` if it is of no type that is known, or cannot be said so.
#[must_use]
pub fn to_json(any: &Any) -> Option<Json> {
    let value = &any.value[..];
    let detail = match any.type_url.rsplit('/').next()? {
        "google.rpc.ErrorInfo" => {
            let ErrorInfo { reason, domain, metadata } = ErrorInfo::decode(value).ok()?;
            json!({ "@type": any.type_url, "reason": reason, "domain": domain, "metadata": metadata })
        }
        "google.rpc.RetryInfo" => {
            let delay = RetryInfo::decode(value).ok()?.retry_delay.unwrap_or_default();
            json!({ "@type": any.type_url, "retryDelay": delay_to_json(delay)? })
        }
        "google.rpc.BadRequest" => {
            let violations = BadRequest::decode(value).ok()?.field_violations.into_iter();
            let violations: Vec<_> = violations
                .map(|violation| json!({ "field": violation.field, "description": violation.description }))
                .collect();
            json!({ "@type": any.type_url, "fieldViolations": violations })
        }
        "google.protobuf.Struct" => {
            let fields = Struct::decode(value).ok()?.fields;
            Json::Object(
                fields.into_iter().map(|(name, value)| Some((name, value_to_json(value)?))).collect::<Option<_>>()?,
            )
        }
        _ => json!({ "@type": any.type_url }),
    };
    Some(detail)
}

fn delay_to_json(Duration { seconds, nanos }: Duration) -> Option<String> {
    let in_range = seconds >= 0 && (0..1_000_000_000).contains(&nanos);
    in_range.then(|| format!("{seconds}.{nanos:09}s"))
}

fn value_to_json(value: Value) -> Option<Json> {
    Some(match value.kind? {
        Kind::NullValue(_) => Json::Null,
        Kind::NumberValue(number) => Json::from(number),
        Kind::StringValue(text) => Json::String(text),
        Kind::BoolValue(flag) => Json::Bool(flag),
        Kind::StructValue(fields) => {
            let fields = fields.fields.into_iter().map(|(name, value)| Some((name, value_to_json(value)?)));
            Json::Object(fields.collect::<Option<Map<_, _>>>()?)
        }
        Kind::ListValue(list) => Json::Array(list.values.into_iter().map(value_to_json).collect::<Option<_>>()?),
    })
}
