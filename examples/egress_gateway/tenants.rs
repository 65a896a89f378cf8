//! A union gateway's tenants, each under a path of its own.

use http::{HeaderName, HeaderValue, Uri, request::Parts, uri::PathAndQuery};
use percent_encoding::percent_decode_str;

use super::headers::remove_every_spelling;

const TENANTS: &str = "/tenants/";

/// Takes the tenant out of the request's path, and names it in the header; says what stood in front of the agent's
/// path. `None` if the request is nobody's: for the card of all tenants together, say, or a call that names none.
///
/// After what is for one connection alone was removed: a header of the gateway's own must not be named as such.
pub(crate) fn enter(head: &mut Parts, header: &HeaderName) -> Option<String> {
    // Who calls through the path does not choose another tenant by header.
    remove_every_spelling(&mut head.headers, header);
    let behind = head.uri.path().strip_prefix(TENANTS)?;
    let (segment, rest) = behind.split_once('/').unwrap_or((behind, ""));
    let tenant = percent_decode_str(segment).decode_utf8().ok().filter(|tenant| !tenant.is_empty())?;
    // A field's value has no white space around it (RFC 9110 §5.5): the agent would read another tenant's name than
    // this.
    let tenant = Some(tenant).filter(|tenant| tenant.trim_matches([' ', '\t']) == tenant)?;
    let value = HeaderValue::from_str(&tenant).ok()?;
    let target = match head.uri.query() {
        Some(query) => format!("/{rest}?{query}"),
        None => format!("/{rest}"),
    };
    let prefix = format!("{TENANTS}{segment}");
    let mut parts = head.uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target).ok()?);
    head.uri = Uri::from_parts(parts).ok()?;
    head.headers.insert(header, value);
    Some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(target: &str) -> Option<(String, String, String)> {
        let request = http::Request::get(target).header("x-tenant", "mallory").header("x_tenant", "mallory");
        let (mut head, ()) = request.body(()).unwrap().into_parts();
        let prefix = enter(&mut head, &HeaderName::from_static("x-tenant"));
        let tenants: Vec<_> =
            head.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let Some(prefix) = prefix else {
            assert_eq!(tenants, [], "{target}");
            return None;
        };
        let [("x-tenant", tenant)] = tenants[..] else { panic!("{tenants:?}") };
        Some((prefix, tenant.to_owned(), head.uri.to_string()))
    }

    #[test]
    fn a_tenant_is_a_path_of_its_own() {
        for (target, prefix, tenant, rest) in [
            ("/tenants/a/a2a?b=c", "/tenants/a", "a", "/a2a?b=c"),
            ("/tenants/a", "/tenants/a", "a", "/"),
            ("/tenants/a%2Fb/", "/tenants/a%2Fb", "a/b", "/"),
            ("/tenants/a//b", "/tenants/a", "a", "//b"),
            ("/tenants/a%20b/c", "/tenants/a%20b", "a b", "/c"),
            ("http://gate:1/tenants/a/x", "/tenants/a", "a", "http://gate:1/x"),
        ] {
            assert_eq!(entered(target), Some((prefix.into(), tenant.into(), rest.into())), "{target}");
        }
    }

    #[test]
    fn nothing_else_is_anybodys() {
        for target in [
            "/",
            "/.well-known/agent-card.json",
            "/tenants/",
            "/tenants//x",
            "/Tenants/a",
            "/tenants/%0d%0a/x",
            "/tenants/%ff/x",
            "/tenants/%20a/x",
            "/tenants/a%09/x",
            "/tenants/%20/x",
        ] {
            assert_eq!(entered(target), None, "{target}");
        }
    }
}
