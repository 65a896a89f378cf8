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

/// What a query may say of how the request is to be read. The rest of it belongs to the caller's own address, keys and
/// signatures among it.
const IN_QUERY: [&str; 3] = ["a2a-version", "a2a-extensions", "historylength"];

/// What of a query goes along.
pub(super) fn carried_query(query: &str) -> Option<String> {
    let is_protocol = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        IN_QUERY.iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    let kept: Vec<_> = query.split('&').filter(is_protocol).collect();
    (!kept.is_empty()).then(|| kept.join("&"))
}

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
