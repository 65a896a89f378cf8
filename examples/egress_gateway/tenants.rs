//! A union gateway's tenants, each under a path of its own.

use http::{HeaderName, HeaderValue, Uri, request::Parts, uri::PathAndQuery};
use percent_encoding::percent_decode_str;

const TENANTS: &str = "/tenants/";

/// Where a request belongs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// This tenant's, with what stands in front of the agent's path.
    Tenant { prefix: String },
    /// Nobody's: the card of all tenants together, or a call that names none.
    Nowhere,
}

/// Takes the tenant out of the request's path, and names it in the header.
pub(crate) fn enter(head: &mut Parts, header: &HeaderName) -> Place {
    // Who calls through the path does not choose another tenant by header.
    head.headers.remove(header);
    let path = head.uri.path();
    let Some((segment, rest)) = path.strip_prefix(TENANTS).map(|behind| behind.split_once('/').unwrap_or((behind, "")))
    else {
        return Place::Nowhere;
    };
    let tenant = percent_decode_str(segment).decode_utf8().ok().filter(|tenant| !tenant.is_empty());
    let value = tenant.and_then(|tenant| HeaderValue::from_str(&tenant).ok());
    let target = match head.uri.query() {
        Some(query) => format!("/{rest}?{query}"),
        None => format!("/{rest}"),
    };
    let prefix = format!("{TENANTS}{segment}");
    let (Some(value), Ok(target)) = (value, PathAndQuery::try_from(target)) else { return Place::Nowhere };
    let mut parts = std::mem::take(&mut head.uri).into_parts();
    parts.path_and_query = Some(target);
    let Ok(uri) = Uri::from_parts(parts) else { return Place::Nowhere };
    head.uri = uri;
    head.headers.insert(header, value);
    Place::Tenant { prefix }
}
