//! Sets the tenant of the selected interface in a request that names none (A2A 1.0 §8.3.2).

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Uri, header::CONTENT_LENGTH, uri::PathAndQuery};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
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
pub(super) fn in_json_rpc(body: &Bytes, tenant: &str) -> Option<Bytes> {
    #[derive(serde::Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        params: Option<&'a RawValue>,
    }
    let text = std::str::from_utf8(body).ok()?;
    let request: Request<'_> = serde_json::from_str(text).ok()?;
    let value = serde_json::to_string(tenant).ok()?;
    let mut edited = BytesMut::with_capacity(body.len() + value.len() + 24);
    match request.params {
        Some(params) => {
            let at = params.get().as_ptr() as usize - text.as_ptr() as usize;
            let inside = params.get().strip_prefix('{')?;
            let comma = if inside.trim_start().starts_with('}') { "" } else { "," };
            edited.extend_from_slice(&body[..=at]);
            edited.extend_from_slice(format!("\"tenant\":{value}{comma}").as_bytes());
            edited.extend_from_slice(&body[at + 1..]);
        }
        None => {
            let end = text.rfind('}')?;
            edited.extend_from_slice(&body[..end]);
            edited.extend_from_slice(format!(",\"params\":{{\"tenant\":{value}}}").as_bytes());
            edited.extend_from_slice(&body[end..]);
        }
    }
    Some(edited.freeze())
}

/// The HTTP+JSON request's URI with `/{tenant}` between the interface's path and the operation.
pub(super) fn in_path(uri: &Uri, prefix: &str, tenant: &str) -> Option<Uri> {
    let path = uri.path();
    let operation = path.strip_prefix(prefix)?;
    let tenant = utf8_percent_encode(tenant, SEGMENT);
    let target = match uri.query() {
        Some(query) => format!("{prefix}/{tenant}{operation}?{query}"),
        None => format!("{prefix}/{tenant}{operation}"),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target).ok()?);
    Uri::from_parts(parts).ok()
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
        ] {
            assert_eq!(in_json_rpc(&Bytes::from_static(before.as_bytes()), "a\"b").unwrap(), after, "{before}");
        }
        for not_editable in [r#"{"params":[1]}"#, "not json", "[]"] {
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
