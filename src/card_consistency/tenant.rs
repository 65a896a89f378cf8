//! Sets the tenant of the selected interface in a request that names none (A2A 1.0 §8.3.2).

use std::{fmt, ops::Range};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Uri, header::CONTENT_LENGTH, uri::PathAndQuery};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Unreserved characters of RFC 3986 stay as they are in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Headers that vouch for the request's bytes as they are (RFC 9421, RFC 9530, RFC 3230).
const SEALS: [&str; 7] =
    ["signature", "signature-input", "content-digest", "repr-digest", "digest", "content-md5", "x-amz-content-sha256"];

/// Whether a header vouches for the request as it is, so that it must not be changed.
pub(super) fn seal(headers: &HeaderMap) -> Option<&'static str> {
    SEALS.into_iter().find(|name| headers.contains_key(*name))
}

/// The JSON-RPC request with `params.tenant`; `None` if it is none to set it in. All other bytes stay.
///
/// An empty tenant is none (A2A 1.0 §8.3.2), and is replaced: of two members of one name, readers differ about which
/// counts.
pub(super) fn in_json_rpc(body: &Bytes, tenant: &str) -> Option<Bytes> {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow, default, deserialize_with = "present")]
        params: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, default, deserialize_with = "present")]
        tenant: Option<&'a RawValue>,
    }
    let text = std::str::from_utf8(body).ok()?;
    let request: Request<'_> = serde_json::from_str(text).ok()?;
    let value = serde_json::to_string(tenant).ok()?;
    let Some(params) = request.params else {
        let end = text.rfind('}')?;
        return edited(text, end..end, &format!(",\"params\":{{\"tenant\":{value}}}"));
    };
    if params.get() == "null" {
        return edited(text, place(text, params), &format!("{{\"tenant\":{value}}}"));
    }
    let inside = params.get().strip_prefix('{')?;
    match serde_json::from_str::<Params<'_>>(params.get()).ok()?.tenant {
        Some(none) if matches!(none.get(), "null" | "\"\"") => edited(text, place(text, none), &value),
        // Another one, which nobody could read whole.
        Some(_) => None,
        None => {
            let start = place(text, params).start + 1;
            let comma = if inside.trim_start().starts_with('}') { "" } else { "," };
            edited(text, start..start, &format!("\"tenant\":{value}{comma}"))
        }
    }
}

/// A member that is there, be it `null`.
fn present<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Where in the text a part of it stands.
fn place(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.get().len()
}

fn edited(text: &str, place: Range<usize>, with: &str) -> Option<Bytes> {
    let mut edited = BytesMut::with_capacity(text.len() + with.len());
    edited.extend_from_slice(text.get(..place.start)?.as_bytes());
    edited.extend_from_slice(with.as_bytes());
    edited.extend_from_slice(text.get(place.end..)?.as_bytes());
    Some(edited.freeze())
}

/// The HTTP+JSON request's URI with `/{tenant}` between the interface's path and the operation.
pub(super) fn in_path(uri: &Uri, prefix: &str, tenant: &str) -> Option<Uri> {
    let path = uri.path();
    let operation = path.strip_prefix(prefix)?;
    let tenant = as_segment(tenant)?;
    let target = match uri.query() {
        Some(query) => format!("{prefix}/{tenant}{operation}?{query}"),
        None => format!("{prefix}/{tenant}{operation}"),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target).ok()?);
    Uri::from_parts(parts).ok()
}

/// The tenant as a segment of a path; `None` for a step in it, which servers take out, and what stands before it,
/// however it is encoded (RFC 3986 §5.2.4).
pub(super) fn as_segment(tenant: &str) -> Option<impl fmt::Display + '_> {
    (!matches!(tenant, "." | "..")).then(|| utf8_percent_encode(tenant, SEGMENT))
}

/// A declared length follows the body.
pub(super) fn follow_length(headers: &mut HeaderMap, len: usize) {
    if headers.contains_key(CONTENT_LENGTH) {
        headers.insert(CONTENT_LENGTH, len.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_rpc_gains_the_member_and_nothing_else_changes() {
        for (before, after) in [
            (
                r#"{"method":"GetTask", "params": {"id":"t"} }"#,
                r#"{"method":"GetTask", "params": {"tenant":"a\"b","id":"t"} }"#,
            ),
            (r#"{"params":{ },"id":1}"#, r#"{"params":{"tenant":"a\"b" },"id":1}"#),
            (r#"{"id":1}"#, r#"{"id":1,"params":{"tenant":"a\"b"}}"#),
            (r#"{"params": null ,"id":1}"#, r#"{"params": {"tenant":"a\"b"} ,"id":1}"#),
            (r#"{"params":{"id":"t","tenant": "" }}"#, r#"{"params":{"id":"t","tenant": "a\"b" }}"#),
            (r#"{"params":{"tenant":null}}"#, r#"{"params":{"tenant":"a\"b"}}"#),
        ] {
            assert_eq!(in_json_rpc(&Bytes::from_static(before.as_bytes()), "a\"b").unwrap(), after, "{before}");
        }
        for not_editable in [
            r#"{"params":[1]}"#,
            r#"{"params":{"tenant":"other"}}"#,
            r#"{"params":{"tenant":"","tenant":""}}"#,
            "not json",
            "[]",
        ] {
            assert_eq!(in_json_rpc(&Bytes::from_static(not_editable.as_bytes()), "t"), None, "{not_editable}");
        }
    }

    #[test]
    fn http_json_has_it_in_front_of_the_operation() {
        let uri: Uri = "https://a.example/base/message:send?x=1".parse().unwrap();
        assert_eq!(in_path(&uri, "/base", "a c/me").unwrap(), "https://a.example/base/a%20c%2Fme/message:send?x=1");
        let root: Uri = "https://a.example/tasks/t:cancel".parse().unwrap();
        assert_eq!(in_path(&root, "", "acme").unwrap(), "https://a.example/acme/tasks/t:cancel");
    }
}
