use http::Uri;

/// Whether a request with this URI does not say itself which server it is for (RFC 9110 §7.1).
#[inline]
pub(crate) fn is_relative(uri: &Uri) -> bool {
    uri.scheme().is_none() || uri.authority().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_scheme_or_authority_is_relative() {
        for (uri, expected) in
            [("https://agent.example.com/a2a", false), ("/a2a", true), ("*", true), ("agent.example.com:443", true)]
        {
            assert_eq!(is_relative(&uri.parse().unwrap()), expected, "{uri}");
        }
    }
}
