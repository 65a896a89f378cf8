//! What of a message is for one connection alone, and goes no further.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE},
};

/// RFC 9110 §7.6.1, and what of old was taken for the same. `te: trailers` is renewed, for gRPC asks for it.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let trailers = headers
        .get_all(TE)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.trim().eq_ignore_ascii_case("trailers"));
    let of_old = ["keep-alive", "proxy-connection", "http2-settings"].map(HeaderName::from_static);
    let known = [CONNECTION, TRANSFER_ENCODING, UPGRADE, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE];
    for name in named.into_iter().chain(of_old).chain(known) {
        headers.remove(name);
    }
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
}

/// Removes a header that is the gateway's alone to set, in every spelling that a server may take for it: CGI and what
/// came of it tell `X-Tenant` and `X_Tenant` not apart.
pub(crate) fn remove_every_spelling(headers: &mut HeaderMap, name: &HeaderName) {
    let plain = |name: &HeaderName| name.as_str().replace('_', "-");
    let wanted = plain(name);
    let found: Vec<HeaderName> = headers.keys().filter(|name| plain(name) == wanted).cloned().collect();
    for name in found {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines.iter().map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v))).collect()
    }

    #[test]
    fn what_is_for_one_connection_goes_no_further() {
        let mut given = headers(&[
            ("connection", "close, X-Mine"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("te", "gzip, trailers"),
            ("upgrade", "h2c"),
            ("http2-settings", "AAAA"),
            ("proxy-authorization", "Basic eA=="),
            ("authorization", "Bearer x"),
            ("x-other", "2"),
        ]);
        remove_hop_by_hop(&mut given);
        assert_eq!(given, headers(&[("authorization", "Bearer x"), ("x-other", "2"), ("te", "trailers")]));
    }

    #[test]
    fn a_header_goes_in_every_spelling() {
        let mut given = headers(&[("x-tenant", "a"), ("x_tenant", "b"), ("x-tenants", "c")]);
        remove_every_spelling(&mut given, &HeaderName::from_static("x-tenant"));
        assert_eq!(given, headers(&[("x-tenants", "c")]));
    }
}
