//! Whether an interface of a card *is* the target of a call. If none is, the card is another agent's, or stale.

use http::Uri;
use percent_encoding::percent_decode_str;

use super::{
    agent_card::AgentCard,
    flaw::CardFlaw,
    interface::{AgentInterface, CardVersion, Dialect},
    mismatch::{Mismatch, MismatchField},
    url::{CardUrl, Leaves, Origin, Scheme, UrlFault, UrlPolicy},
};
use crate::call::{Binding, ProtocolVersion};

/// Where a call really goes, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    url: CardUrl,
    binding: Option<Binding>,
    version: Option<ProtocolVersion>,
    tenant: Option<&'a str>,
    any_query: bool,
}

impl<'a> Target<'a> {
    /// A target at `uri`, which must be absolute. For HTTP+JSON it is what stands in front of the operation; whether
    /// that ends in a `/v1` or a tenant, the card decides. For gRPC the path says nothing. What an interface has in its
    /// query the target must have too; it may have more, an API key say (A2A 1.0 §4.5.2).
    ///
    /// # Errors
    ///
    /// What makes the URI none of a target.
    pub fn new(uri: &Uri) -> Result<Self, UrlFault> {
        Ok(Self { url: CardUrl::of(uri)?, binding: None, version: None, tenant: None, any_query: false })
    }

    /// The binding that the call is written for. Without one, every binding is the target's.
    #[must_use]
    pub fn with_binding(mut self, binding: impl Into<Option<Binding>>) -> Self {
        self.binding = binding.into();
        self
    }

    /// The version in whose dialect the call is written. Without one, the card's is believed.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<Option<ProtocolVersion>>) -> Self {
        self.version = version.into();
        self
    }

    /// The tenant that the call carries. Without one (the empty string is none), it can be any interface's: the first
    /// without a tenant, else the first.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<Option<&'a str>>) -> Self {
        self.tenant = tenant.into().filter(|tenant| !tenant.is_empty());
        self
    }

    /// Whatever an interface has in its query.
    pub(crate) fn with_any_query(mut self) -> Self {
        self.any_query = true;
        self
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin::of_url(self.url.clone())
    }
}

/// The interface that is the target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found<'c> {
    /// Its place in [`AgentCard::interfaces`].
    pub index: usize,
    /// The interface.
    pub interface: &'c AgentInterface,
    /// The tenant already stands in the call's path, as HTTP+JSON has it: `/{tenant}/message:send`.
    pub tenant_in_path: bool,
    /// The call names no tenant, and other interfaces that are the target as well declare another one than this: that
    /// it is this one is by the card's order alone.
    pub tenant_by_order: bool,
}

/// Why an interface is not the target.
#[derive(Clone, Copy, Debug)]
enum Differs<'c> {
    /// Of another binding, whose URL is nothing to judge.
    Foreign,
    Unusable(UrlFault),
    In(MismatchField, &'c CardUrl),
}

impl Differs<'_> {
    /// How far the comparison came.
    fn reached(self) -> Option<MismatchField> {
        match self {
            Self::Foreign | Self::Unusable(_) => None,
            Self::In(field, _) => Some(field),
        }
    }
}

/// An interface of the target's own binding first, then the one that came furthest.
type Nearness = (bool, Option<MismatchField>);

/// How an interface is the target.
struct Same {
    tenant_named: bool,
    tenant_in_path: bool,
}

impl AgentCard {
    /// The interface that *is* the target: the same normalised URL, binding, version and tenant.
    ///
    /// # Errors
    ///
    /// For the interface that comes closest, the first that does not fit, in this order: the URL cannot be called;
    /// scheme, authority, path, binding, version, tenant differ.
    pub fn interface_for(&self, target: &Target<'_>, policy: &UrlPolicy) -> Result<Found<'_>, CardFlaw> {
        let origin = target.origin();
        let mut first: Option<Found<'_>> = None;
        let mut closest: Option<(Nearness, Differs<'_>, &AgentInterface)> = None;
        for (index, interface) in self.interfaces().iter().enumerate() {
            match compare(interface, target, &origin, policy) {
                Ok(same) => {
                    let found = Found { index, interface, tenant_in_path: same.tenant_in_path, tenant_by_order: false };
                    if same.tenant_named {
                        return Ok(found);
                    }
                    match &mut first {
                        Some(first) => first.tenant_by_order |= first.interface.tenant != interface.tenant,
                        None => first = Some(found),
                    }
                }
                Err(differs) => {
                    let same_binding = target.binding.is_none_or(|binding| interface.binding.known() == Some(binding));
                    let nearness = (same_binding, differs.reached());
                    if closest.is_none_or(|(other, ..)| nearness > other) {
                        closest = Some((nearness, differs, interface));
                    }
                }
            }
        }
        match (first, closest) {
            (Some(found), _) => Ok(found),
            (None, Some((_, Differs::Foreign, _))) => Err(self.no_interface_of(target.binding).into()),
            (None, Some((_, Differs::Unusable(why), interface))) => {
                Err(CardFlaw::UnusableUrl { url: interface.url.clone(), why })
            }
            (None, Some((_, Differs::In(field, url), interface))) => {
                Err(mismatch(field, interface, url, target).into())
            }
            // A card is not read without an interface.
            (None, None) => Err(CardFlaw::missing("supportedInterfaces", super::Absence::Empty)),
        }
    }
}

impl AgentInterface {
    /// Whether the interface may be called by someone who was told of an agent at `agent`: any path of its origin is
    /// the agent's, other origins as far as `policy` allows them.
    ///
    /// # Errors
    ///
    /// The first that does not fit, in this order: the URL cannot be called; scheme, authority differ.
    pub fn check(&self, agent: &Origin, policy: &UrlPolicy) -> Result<(), CardFlaw> {
        let usable = self.parsed_url().and_then(|url| policy.usable(url, agent).map(|()| url));
        let url = usable.map_err(|why| CardFlaw::UnusableUrl { url: self.url.clone(), why })?;
        let field = match policy.leaves(url, agent) {
            None => return Ok(()),
            Some(Leaves::Scheme) => MismatchField::Scheme,
            Some(Leaves::Authority) => MismatchField::Authority,
        };
        let at = agent.url().clone();
        let target = Target { url: at, binding: None, version: None, tenant: None, any_query: false };
        Err(mismatch(field, self, url, &target).into())
    }
}

fn compare<'c>(
    interface: &'c AgentInterface,
    target: &Target<'_>,
    origin: &Origin,
    policy: &UrlPolicy,
) -> Result<Same, Differs<'c>> {
    let other_binding = target.binding.is_some_and(|binding| interface.binding.known() != Some(binding));
    let unusable = |fault| if other_binding { Differs::Foreign } else { Differs::Unusable(fault) };
    let url = interface.parsed_url().map_err(unusable)?;
    policy.usable(url, origin).map_err(unusable)?;
    let differs = |field| Err(Differs::In(field, url));
    if url.scheme().is_some() && url.scheme() != target.url.scheme() && !policy.admits_other_scheme() {
        return differs(MismatchField::Scheme);
    }
    if !url.same_authority(&target.url) {
        return differs(MismatchField::Authority);
    }
    // The path of a gRPC target is no other binding's.
    let rest = if other_binding && target.binding == Some(Binding::Grpc) {
        Some("")
    } else {
        path_rest(interface, url, target)
    };
    let Some(rest) = rest else {
        return differs(MismatchField::Path);
    };
    if other_binding {
        return differs(MismatchField::Binding);
    }
    if target.version.is_some_and(|version| !interface.understands(version)) {
        return differs(MismatchField::Version);
    }
    let in_path = rest.strip_prefix('/').filter(|_| interface.dialect() == Some(Dialect::V1)).map(decoded);
    for asked in [in_path.as_deref(), target.tenant].into_iter().flatten() {
        if interface.tenant() != Some(asked) {
            return differs(MismatchField::Tenant);
        }
    }
    let named = in_path.as_deref().or(target.tenant);
    Ok(Same { tenant_named: named == interface.tenant(), tenant_in_path: in_path.is_some() })
}

/// What the target's path has behind the interface's. `None`: it is another path. Something: the `/v1` of 0.3, or the
/// `/{tenant}` of 1.0, both of HTTP+JSON.
fn path_rest<'t>(interface: &AgentInterface, url: &CardUrl, target: &'t Target<'_>) -> Option<&'t str> {
    match interface.binding.known() {
        Some(Binding::Grpc) => Some(""),
        Some(Binding::HttpJson) => {
            let bare = |path: &'t str| path.strip_suffix('/').unwrap_or(path);
            // Joining an operation to a URL leaves one slash between them, whoever wrote it.
            let base = url.path().strip_suffix('/').unwrap_or(url.path());
            let rest = bare(target.url.path()).strip_prefix(base)?;
            let is_prefix = interface.dialect().is_some_and(|dialect| dialect.http_json_prefix() == rest);
            let is_tenant = interface.dialect() == Some(Dialect::V1)
                && interface.tenant.is_some()
                && rest.strip_prefix('/').is_some_and(|segment| !segment.is_empty() && !segment.contains('/'));
            (rest.is_empty() || is_prefix || is_tenant).then_some(rest)
        }
        _ => {
            let same = url.path() == target.url.path() && (target.any_query || url.query_is_in(&target.url));
            same.then_some("")
        }
    }
}

fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

fn mismatch(field: MismatchField, interface: &AgentInterface, url: &CardUrl, target: &Target<'_>) -> Mismatch {
    let scheme = |url: &CardUrl| url.scheme().map_or("", Scheme::as_str).to_owned();
    let (card, wanted) = match field {
        MismatchField::Scheme => (scheme(url), scheme(&target.url)),
        MismatchField::Authority => (url.authority(), target.url.authority()),
        MismatchField::Path => (url.path_and_query(), target.url.path_and_query()),
        MismatchField::Binding => {
            (interface.binding.as_str().to_owned(), target.binding.map_or("", Binding::as_str).to_owned())
        }
        MismatchField::Version => {
            let stated = match &interface.version {
                CardVersion::Known(version) => version.to_string(),
                CardVersion::Other(text) => text.to_string(),
            };
            (stated, target.version.map(|version| version.to_string()).unwrap_or_default())
        }
        MismatchField::Tenant => {
            let in_path = path_rest(interface, url, target).and_then(|rest| rest.strip_prefix('/')).map(decoded);
            let tenant = target.tenant.map(str::to_owned).or(in_path);
            (interface.tenant().unwrap_or_default().to_owned(), tenant.unwrap_or_default())
        }
    };
    Mismatch {
        field,
        card: card.into(),
        target: wanted.into(),
        card_url: interface.url.clone(),
        target_url: target.url.to_string().into(),
        place: interface.place,
    }
}

#[cfg(test)]
mod tests;
