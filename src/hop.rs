//! What of a message concerns one connection alone, and goes no further (RFC 9110 §7.6.1).

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{CONNECTION, TE, TRANSFER_ENCODING, UPGRADE},
};

/// Those that need not be named by `Connection`, and what of old was taken for the same.
const KNOWN: [HeaderName; 7] = [
    CONNECTION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
];

/// Removes it.
pub(crate) fn remove(headers: &mut HeaderMap) {
    remove_named(headers);
    for name in &KNOWN {
        headers.remove(name);
    }
}

/// The same of a request that is sent on: that trailers are understood holds for the next connection too, and gRPC asks
/// for it.
pub(crate) fn remove_of_request(headers: &mut HeaderMap) {
    // Most requests have none of them.
    if !headers.keys().any(|name| KNOWN.contains(name)) {
        return;
    }
    let codings = headers.get_all(TE).iter().filter_map(|value| value.to_str().ok());
    let trailers =
        codings.flat_map(|value| value.split(',')).any(|coding| coding.trim().eq_ignore_ascii_case("trailers"));
    remove(headers);
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
}

/// Removes what `Connection` names.
pub(crate) fn remove_named(headers: &mut HeaderMap) {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(','));
    let named: Vec<_> = names.filter_map(|name| HeaderName::try_from(name.trim()).ok()).collect();
    for name in named {
        headers.remove(name);
    }
}
