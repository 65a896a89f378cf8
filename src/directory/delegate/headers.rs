//! Which headers of a request that names no peer go to the one that is chosen.

use http::{HeaderMap, HeaderName};

/// What says how the request is to be read, and to which trace it belongs. Nothing else is known not to be a secret of
/// the caller's, and so nothing else goes to a peer that the caller did not name.
const CARRIED: [&str; 19] = [
    "content-type",
    "content-length",
    "content-encoding",
    "content-digest",
    "repr-digest",
    "accept",
    "accept-encoding",
    "accept-language",
    "te",
    "user-agent",
    "grpc-timeout",
    "grpc-encoding",
    "grpc-accept-encoding",
    "a2a-version",
    "a2a-extensions",
    "x-a2a-extensions",
    "traceparent",
    "tracestate",
    "x-request-id",
];

/// The headers that go along, and those that the user named. A value that is marked as sensitive has to be named.
pub(super) fn carried(headers: &HeaderMap, named: &[HeaderName]) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for (name, value) in headers {
        let is_protocol = CARRIED.contains(&name.as_str()) && !value.is_sensitive();
        if is_protocol || named.contains(name) {
            kept.append(name.clone(), value.clone());
        }
    }
    kept
}
