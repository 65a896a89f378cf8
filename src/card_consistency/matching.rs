//! Holds a call against the card of its target, and completes it where the protocol says how.

use http::{HeaderValue, Uri, request::Parts};
use http_body::Body;

use super::{
    admission::{self, Admission},
    store::{HeldCard, Matched},
    tenant,
};
use crate::{
    call::{Binding, Call, CallBody, ProtocolVersion, operation_prefix},
    card::{AgentCard, AgentInterface, Found, Target, UrlPolicy},
    error::CardFailure,
};

/// What calls are held to.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) urls: UrlPolicy,
    pub(super) admissions: Vec<Admission>,
    pub(super) strict: bool,
}

/// The base path of the target: what stands in front of the operation over HTTP+JSON, the whole path otherwise.
pub(super) fn base_path<'a>(head: &'a Parts, call: &Call) -> &'a str {
    let path = head.uri.path();
    match call.binding() {
        Some(Binding::HttpJson) => operation_prefix(&head.method, path).unwrap_or(path),
        _ => path,
    }
}

/// The URI of the target: the request's, without operation and query.
pub(super) fn target_uri(head: &Parts, call: &Call) -> Result<Uri, CardFailure> {
    let path = base_path(head, call);
    let mut parts = head.uri.clone().into_parts();
    parts.path_and_query = if path.is_empty() { "/" } else { path }.parse().ok();
    Uri::from_parts(parts).map_err(|_| unusable(&head.uri, "it is no absolute URI"))
}

pub(super) fn unusable(uri: &Uri, why: &str) -> CardFailure {
    CardFailure::UnusableUrl { url: uri.to_string(), why: why.into() }
}

impl Rules {
    /// The interface of the card that the call goes to.
    pub(super) fn interface<'c>(
        &self,
        card: &'c AgentCard,
        call: &Call,
        target: &Uri,
    ) -> Result<Found<'c>, CardFailure> {
        let at = Target::new(target)
            .map_err(|why| CardFailure::UnusableUrl { url: target.to_string(), why: why.to_string() })?
            .with_binding(call.binding())
            .with_version(call.version())
            .with_tenant(call.tenant());
        card.interface_for(&at, &self.urls).map_err(|flaw| CardFailure::of(flaw, target))
    }

    /// Whether a card is the target's at all. All calls of one target share the verdict, so it goes by what they have in
    /// common: the URL. Binding, version and tenant are each call's own matter.
    pub(super) fn counts(&self, card: &AgentCard, call: &Call, target: &Uri) -> Result<(), CardFailure> {
        let failure = match self.interface(card, call, target) {
            Err(failure @ (CardFailure::UrlMismatch { .. } | CardFailure::UnusableUrl { .. })) => failure,
            _ => return Ok(()),
        };
        // The call's own binding is elsewhere. The card is the target's all the same if another one is here.
        let is_here = |binding| {
            let found = self.interface(card, &Call::new().with_binding(binding), target);
            matches!(found, Ok(_) | Err(CardFailure::UnsupportedVersion { .. } | CardFailure::TenantMismatch { .. }))
        };
        let mut bindings = [Binding::JsonRpc, Binding::HttpJson].into_iter();
        if bindings.any(|binding| call.binding() != Some(binding) && is_here(binding)) { Ok(()) } else { Err(failure) }
    }

    /// Refuses a call that the card does not cover, and completes one that it does: version header and tenant.
    pub(super) fn apply<B>(
        &self,
        held: &HeldCard,
        call: &mut Call,
        head: &mut Parts,
        body: &mut CallBody<B>,
    ) -> Result<(), CardFailure>
    where
        B: Body,
    {
        let card = held.card();
        let of_flaw = |flaw| CardFailure::of(flaw, held.location());
        let (interface, tenant_in_path) = self.matched(held, call, head)?;
        if self.strict {
            card.strict().map_err(|warning| CardFailure::MissingField {
                field: warning.path().to_owned(),
                why: format!("{}, and strict is on", warning.what()),
            })?;
        }
        // A request that names no version is one of the interface's; errors and layers below are to know.
        if let (None, Some(version)) = (call.version(), interface.version().known()) {
            *call = std::mem::take(call).with_version(version);
            tell(head, call);
        }
        if let Some(operation) = call.operation() {
            card.check_operation(operation).map_err(of_flaw)?;
        }
        if card.extensions().iter().any(|extension| extension.is_required()) {
            let used = extensions_of(head);
            card.check_extensions(&used, &[]).map_err(of_flaw)?;
        }
        admission::check(&self.admissions, call, &head.uri)?;
        let version = call.version();
        if version == Some(ProtocolVersion::V1_0) {
            state_version(head);
        }
        let knows_tenants = version.is_some_and(|version| version >= ProtocolVersion::V1_0);
        match (interface.tenant(), call.tenant()) {
            (Some(wanted), None) if knows_tenants && !tenant_in_path => set_tenant(wanted, call, head, body),
            _ => Ok(()),
        }
    }

    /// The interface that the call goes to, and whether its tenant stands in the call's path already.
    fn matched<'c>(
        &self,
        held: &'c HeldCard,
        call: &Call,
        head: &Parts,
    ) -> Result<(&'c AgentInterface, bool), CardFailure> {
        let card = held.card();
        // What is remembered is shared by all layers over the store, so that only the default policy goes by it.
        let by_default = self.urls == UrlPolicy::strict();
        if let Some(known) = held.matched.get().filter(|known| by_default && known.fits(call)) {
            let known_at = |interface: &&AgentInterface| is_at(interface, call, &head.uri);
            if let Some(interface) = card.interfaces().get(known.index).filter(known_at) {
                return Ok((interface, known.tenant_in_path));
            }
        }
        let target = target_uri(head, call)?;
        let Found { index, interface, tenant_in_path, tenant_by_order, .. } = self.interface(card, call, &target)?;
        // Which of several tenants a call without one would reach is nobody's to guess.
        if tenant_by_order {
            return Err(CardFailure::TenantMismatch {
                card: interface.tenant().map(Into::into),
                request: "none, and the card declares several at this URL".into(),
            });
        }
        if by_default {
            held.matched.get_or_init(|| Matched {
                binding: call.binding(),
                version: call.version(),
                tenant: call.tenant().map(Into::into),
                index,
                tenant_in_path,
            });
        }
        Ok((interface, tenant_in_path))
    }
}

/// Calls that find one card may differ in a slash at the end, which over JSON-RPC makes another URL.
fn is_at(interface: &AgentInterface, call: &Call, uri: &Uri) -> bool {
    call.binding() == Some(Binding::HttpJson) || interface.parsed_url().is_ok_and(|url| url.path() == uri.path())
}

/// Layers below find the call in the request's extensions, if anyone has put it there.
pub(super) fn tell(head: &mut Parts, call: &Call) {
    if let Some(told) = head.extensions.get_mut::<Call>() {
        *told = call.clone();
    }
}

/// `A2A-Version: 1.0` on a 1.0 request that does not say it (§3.6.1). Nothing is changed that is there.
fn state_version(head: &mut Parts) {
    let in_query = |query: &str| query.split('&').any(|pair| pair.to_ascii_lowercase().starts_with("a2a-version="));
    if !head.headers.contains_key("a2a-version") && !head.uri.query().is_some_and(in_query) {
        head.headers.insert("a2a-version", HeaderValue::from_static("1.0"));
    }
}

/// The extensions that the request activates (§3.2.6): `A2A-Extensions`, and `X-A2A-Extensions` in 0.3.
fn extensions_of(head: &Parts) -> Vec<&str> {
    ["a2a-extensions", "x-a2a-extensions"]
        .into_iter()
        .flat_map(|name| head.headers.get_all(name))
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect()
}

fn set_tenant<B>(wanted: &str, call: &mut Call, head: &mut Parts, body: &mut CallBody<B>) -> Result<(), CardFailure>
where
    B: Body,
{
    // What cannot be set was sent without, and that is another tenant than the card's.
    let cannot =
        |why: &str| CardFailure::TenantMismatch { card: Some(wanted.into()), request: format!("none, and {why}") };
    if let Some(seal) = tenant::seal(&head.headers) {
        return Err(cannot(&format!("the {seal} header forbids to set it")));
    }
    match call.binding() {
        Some(Binding::JsonRpc) => {
            let edited = body.as_bytes().and_then(|bytes| tenant::in_json_rpc(bytes, wanted));
            let edited = edited.ok_or_else(|| cannot("the body is none in which it can be set"))?;
            tenant::follow_length(&mut head.headers, edited.len());
            *body = CallBody::from(edited);
        }
        Some(Binding::HttpJson) => {
            let prefix = operation_prefix(&head.method, head.uri.path()).unwrap_or_default().to_owned();
            head.uri =
                tenant::in_path(&head.uri, &prefix, wanted).ok_or_else(|| cannot("the path has no place for it"))?;
            *call = std::mem::take(call).with_target(head.uri.clone());
        }
        _ => return Err(cannot("nothing here sets it over this binding")),
    }
    *call = std::mem::take(call).with_tenant(wanted);
    tell(head, call);
    Ok(())
}
