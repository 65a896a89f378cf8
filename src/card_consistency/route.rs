use std::fmt;

use http::{Uri, request::Parts, uri::PathAndQuery};

use super::{
    Resolution, Resolve,
    store::{CardAsk, CardStore},
};
use crate::{
    call::{Binding, Call, ProtocolVersion, operation_prefix, split_grpc_path},
    card::{AgentCard, AgentInterface, ClientSpeaks, Dialect, Origin, UrlPolicy},
    error::{CardFailure, without_secrets},
};

/// Starts from the base URL of an agent: reads the card there as a *hint*, selects the first interface that the request
/// is written for, and sends it there.
///
/// The hint decides where the call goes, and nothing else. What the target can do, its own card says.
#[derive(Clone)]
pub struct Route {
    hints: CardStore,
    base: Uri,
    urls: UrlPolicy,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route")
            .field("hints", &self.hints)
            .field("base", &without_secrets(&self.base))
            .field("urls", &self.urls)
            .finish()
    }
}

impl Route {
    /// From the agent whose base URL is `base`; its card comes from `hints`.
    #[must_use]
    pub fn new(hints: CardStore, base: Uri) -> Self {
        Self { hints, base, urls: UrlPolicy::strict() }
    }

    /// What the URLs in the hint may be. Default: [`UrlPolicy::strict`], which keeps calls on the base URL's origin.
    #[must_use]
    pub fn urls(mut self, urls: UrlPolicy) -> Self {
        self.urls = urls;
        self
    }
}

impl Resolve for Route {
    fn resolve(&self, head: &Parts, call: &Call) -> Resolution {
        let ask = CardAsk::new(self.base.clone(), head.headers.clone()).version(call.version());
        let Self { hints, base, urls } = self.clone();
        let call = call.clone();
        let path = head.uri.path();
        let (prefix, operation) = match call.binding() {
            Some(Binding::Grpc) => split_grpc_path(path),
            _ => path.split_at(operation_prefix(&head.method, path).unwrap_or_default().len()),
        };
        let operation = operation.to_owned();
        // Over gRPC it stands in the message.
        let in_path = || tenant_of(prefix, self.base.path()).map(str::to_owned);
        let tenant = if call.binding() == Some(Binding::HttpJson) { in_path() } else { None };
        let query = head.uri.query().map(str::to_owned);
        Resolution::Later(Box::pin(async move {
            let card = match hints.get(ask).await {
                Ok(card) => card,
                Err(failure) => return Resolution::Refused(failure),
            };
            match select(card.card(), &call, &base, &urls).and_then(|interface| {
                // Whether it is the interface's, its own card says.
                let tenant =
                    tenant.filter(|_| interface.tenant().is_some() && interface.dialect() == Some(Dialect::V1));
                let operation = tenant.map_or(operation.clone(), |tenant| format!("/{tenant}{operation}"));
                rewritten(interface, &call, &operation, query.as_deref(), &base)
            }) {
                Ok(uri) => Resolution::To(uri),
                Err(failure) => Resolution::Refused(failure),
            }
        }))
    }
}

/// What stands between the agent's base path and the operation: `/{tenant}` over HTTP+JSON (A2A 1.0 §8.3.2).
fn tenant_of<'p>(prefix: &'p str, base: &str) -> Option<&'p str> {
    let tenant = prefix.strip_prefix(base.trim_end_matches('/'))?.strip_prefix('/')?;
    (!tenant.is_empty() && !tenant.contains('/') && tenant != "v1").then_some(tenant)
}

fn select<'c>(
    card: &'c AgentCard,
    call: &Call,
    base: &Uri,
    urls: &UrlPolicy,
) -> Result<&'c AgentInterface, CardFailure> {
    let version = call.version().unwrap_or(ProtocolVersion::V1_0);
    // 0.2 had the spelling of 0.3 before it.
    let older = (version == ProtocolVersion::V0_3).then_some(ProtocolVersion::V0_2);
    let speaks = ClientSpeaks::new(call.binding(), std::iter::once(version).chain(older));
    let (_, interface) = card.select(&speaks).map_err(|flaw| CardFailure::of(flaw.into(), base))?;
    let origin = Origin::of(base).map_err(|why| CardFailure::unusable_uri(base, why.to_string()))?;
    interface.check(&origin, urls).map_err(|flaw| CardFailure::of(flaw, base))?;
    Ok(interface)
}

/// Where a request for this operation goes at an interface.
pub(crate) fn rewritten(
    interface: &AgentInterface,
    call: &Call,
    operation: &str,
    query: Option<&str>,
    base: &Uri,
) -> Result<Uri, CardFailure> {
    let unusable = || CardFailure::UnusableUrl { url: interface.url().into(), why: "it is no URI".into() };
    if call.binding() == Some(Binding::Grpc) {
        let authority = interface.authority().map_err(|_| unusable())?;
        // Without a scheme, the one by which the agent's base is called (A2A 1.0 §7.1).
        let scheme = match authority.tls() {
            Some(tls) => {
                if tls {
                    "https"
                } else {
                    "http"
                }
            }
            None => base.scheme_str().unwrap_or("https"),
        };
        return format!("{scheme}://{}{operation}", authority.host_port()).parse().map_err(|_| unusable());
    }
    let uri: Uri = interface.url().parse().map_err(|_| unusable())?;
    if call.binding() != Some(Binding::HttpJson) {
        return Ok(uri);
    }
    let prefix = interface.dialect().map(|dialect| dialect.http_json_prefix()).unwrap_or_default();
    let path = uri.path().trim_end_matches('/');
    let target = match query {
        Some(query) => format!("{path}{prefix}{operation}?{query}"),
        None => format!("{path}{prefix}{operation}"),
    };
    let mut parts = uri.into_parts();
    parts.scheme = parts.scheme.or_else(|| base.scheme().cloned());
    parts.path_and_query = Some(PathAndQuery::try_from(target).map_err(|_| unusable())?);
    Uri::from_parts(parts).map_err(|_| unusable())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_segment_behind_the_base_is_a_tenant() {
        for (prefix, base, tenant) in [
            ("/acme", "", Some("acme")),
            ("/acme", "/", Some("acme")),
            ("/agents/acme", "/agents", Some("acme")),
            ("/agents/acme", "/agents/", Some("acme")),
            ("", "", None),
            ("/", "", None),
            ("/acme/more", "", None),
            ("/acme/", "", None),
            ("/v1", "", None),
            ("/agents/v1", "/agents", None),
            ("/other/acme", "/agents", None),
            ("/agentsacme", "/agents", None),
        ] {
            assert_eq!(tenant_of(prefix, base), tenant, "{prefix} below {base}");
        }
    }
}
