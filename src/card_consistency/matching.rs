//! Holds a call against the card of its target, and completes it where the protocol says how.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body::Body;

use super::{
    FirstEventExtension,
    admission::{self, Admission},
    first_event,
    store::{AsOf, ExtendedCall, HeldCard, Matched},
    tenant,
};
use crate::{
    call::{
        Binding, Call, CallBody, Operation, ProtocolVersion, grpc_layout_of, grpc_path_beside, method_of,
        operation_prefix, split_grpc_path,
    },
    card::{AgentCard, AgentInterface, CardUrl, Found, Target, UrlPolicy},
    error::CardFailure,
    wire::grpc::encode::{self, Message},
    words,
};

const VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// The extensions that a request activates (§3.2.6); the second is the name in 0.3.
const EXTENSIONS: [HeaderName; 2] =
    [HeaderName::from_static("a2a-extensions"), HeaderName::from_static("x-a2a-extensions")];

/// Of `GetExtendedAgentCardRequest` in 1.0; that of 0.3 is empty.
const TENANT: u32 = 1;

/// What calls are held to.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) urls: Arc<UrlPolicy>,
    pub(super) admissions: Vec<Admission>,
    pub(super) strict: bool,
    pub(super) first_event: Option<Arc<FirstEventExtension>>,
}

/// The base path of the target: what stands in front of the operation over HTTP+JSON and of the service over gRPC, the
/// whole path over JSON-RPC.
pub(super) fn base_path<'a, B>(request: &'a Request<B>, call: &Call) -> &'a str {
    let path = request.uri().path();
    match call.binding() {
        Some(Binding::HttpJson) => operation_prefix(request.method(), path).unwrap_or(path),
        Some(Binding::Grpc) => split_grpc_path(path).0,
        _ => path,
    }
}

/// What of a request's path and query tells the agent. Over JSON-RPC that is all of it: it has nothing else in them.
pub(super) fn place<'a, B>(request: &'a Request<B>, call: &Call) -> &'a str {
    match (call.binding(), request.uri().path_and_query()) {
        (Some(Binding::JsonRpc), Some(all)) => all.as_str(),
        _ => base_path(request, call),
    }
}

/// The URI of the target: the request's, without operation and query.
pub(super) fn target_uri<B>(request: &Request<B>, call: &Call) -> Result<Uri, CardFailure> {
    let uri = with_path(request.uri(), base_path(request, call));
    uri.ok_or_else(|| CardFailure::unusable_uri(request.uri(), "it is no absolute URI"))
}

/// The same with the query, where that is a part of the address: JSON-RPC has nothing else in it.
fn address<B>(request: &Request<B>, call: &Call) -> Result<Uri, CardFailure> {
    match call.binding() {
        Some(Binding::JsonRpc) => Ok(request.uri().clone()),
        _ => target_uri(request, call),
    }
}

fn target<'c>(uri: &Uri, call: &'c Call) -> Result<Target<'c>, CardFailure> {
    let at = Target::new(uri)
        .map_err(|why| CardFailure::unusable_uri(uri, why.to_string()))?
        .with_binding(call.binding())
        .with_version(call.version())
        .with_tenant(call.tenant());
    Ok(at)
}

impl Rules {
    /// The interface of the card that the call goes to.
    fn interface<'c>(
        &self,
        card: &'c AgentCard,
        target: &Target<'_>,
        location: &Uri,
    ) -> Result<Found<'c>, CardFailure> {
        card.interface_for(target, &self.urls).map_err(|flaw| CardFailure::of(flaw, location))
    }

    /// Whether a card is the target's at all. All calls of one target share the verdict, so it goes by what they have
    /// in common: the URL, without its query. Binding, version, tenant and query are each call's own matter.
    pub(super) fn counts(&self, card: &AgentCard, call: &Call, uri: &Uri) -> Result<(), CardFailure> {
        let failure = match self.interface(card, &target(uri, call)?.with_any_query(), uri) {
            Err(failure @ (CardFailure::UrlMismatch { .. } | CardFailure::UnusableUrl { .. })) => failure,
            _ => return Ok(()),
        };
        // The call's own binding is elsewhere. The card is the target's all the same if another one is here.
        let is_here = |binding| {
            let other = Call::new().with_binding(binding);
            let found = target(uri, &other).and_then(|at| self.interface(card, &at.with_any_query(), uri));
            matches!(found, Ok(_) | Err(CardFailure::UnsupportedVersion { .. } | CardFailure::TenantMismatch { .. }))
        };
        let mut bindings = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc].into_iter();
        if bindings.any(|binding| call.binding() != Some(binding) && is_here(binding)) { Ok(()) } else { Err(failure) }
    }

    /// How the agent of a public card is asked for its extended one: in the call's own dialect, at its own target.
    /// `None` if the call would not go there, or its dialect has no such operation.
    pub(super) fn extended_call(
        &self,
        card: &AgentCard,
        call: &Call,
        method: &Method,
        uri: &Uri,
    ) -> Option<ExtendedCall> {
        let binding = call.binding()?;
        let prefix = operation_prefix(method, uri.path()).filter(|_| binding == Binding::HttpJson);
        let base = match prefix {
            Some(prefix) => with_path(uri, prefix)?,
            None => uri.clone(),
        };
        let found =
            self.interface(card, &target(&base, call).ok()?, uri).ok().filter(|found| !found.tenant_by_order)?;
        let version = call.version().or_else(|| found.interface.version().known())?;
        if version < ProtocolVersion::V0_3 {
            return None;
        }
        let is_current = version >= ProtocolVersion::V1_0;
        let tenant = found.interface.tenant().filter(|_| is_current);
        match binding {
            Binding::JsonRpc => {
                let method = method_of(Operation::GetExtendedAgentCard, version)?;
                let params = match tenant {
                    Some(tenant) => format!(r#","params":{{"tenant":{}}}"#, serde_json::to_string(tenant).ok()?),
                    None if is_current => r#","params":{}"#.to_owned(),
                    None => String::new(),
                };
                let body = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#));
                Some(ExtendedCall { method: Method::POST, uri: uri.clone(), body, binding, version })
            }
            Binding::HttpJson => {
                let prefix = prefix?;
                let path = match tenant.filter(|_| !found.tenant_in_path) {
                    _ if !is_current && prefix.ends_with("/v1") => format!("{prefix}/card"),
                    _ if !is_current => format!("{prefix}/v1/card"),
                    Some(tenant) => format!("{prefix}/{}/extendedAgentCard", tenant::as_segment(tenant)?),
                    None => format!("{prefix}/extendedAgentCard"),
                };
                let uri = with_path(uri, &path)?;
                Some(ExtendedCall { method: Method::GET, uri, body: Bytes::new(), binding, version })
            }
            Binding::Grpc => {
                let path = grpc_path_beside(uri.path(), Operation::GetExtendedAgentCard)?;
                let body = Message::new().text_unless_empty(TENANT, tenant.unwrap_or_default()).framed()?;
                Some(ExtendedCall { method: Method::POST, uri: with_path(uri, &path)?, body, binding, version })
            }
        }
    }

    /// Whether a card covers a call that is known to find it in this epoch: what [`apply`](Self::apply) says of it,
    /// without matching it again. The version header may still be missing.
    #[inline]
    pub(super) fn covers<B>(&self, held: &HeldCard, epoch: u64, call: &Call, request: &Request<B>) -> bool {
        held.memo.stands(epoch, &self.urls, call, request.uri(), place(request, call))
            && call.capability().is_none_or(|capability| held.card().declares(capability))
            && !(call.is_streaming() && self.first_event.is_some())
    }

    /// Refuses a call that the card does not cover, and completes one that it does: version header and tenant.
    ///
    /// Returns what the card remembers of such calls, if another one to the same place needs no more than
    /// [`Rules::covers`].
    pub(super) fn apply<'c, B>(
        &self,
        held: &'c HeldCard,
        call: &mut Call,
        request: &mut Request<CallBody<B>>,
    ) -> Result<Option<&'c Matched>, CardFailure>
    where
        B: Body,
    {
        let card = held.card();
        let of_flaw = |flaw| CardFailure::of(flaw, held.location());
        let (known, interface, tenant_in_path) = self.matched(held, call, request)?;
        let mut known = known.filter(|_| self.admissions.is_empty());
        if self.strict {
            card.strict().map_err(|warning| CardFailure::MissingField {
                field: warning.path().to_owned(),
                why: format!("{}, and strict is on", warning.what()),
                location: Some(Box::new(held.location().clone())),
            })?;
        }
        // A request that names no version is one of the interface's; errors and layers below are to know.
        if let (None, Some(version)) = (call.version(), interface.version().known()) {
            *call = std::mem::take(call).with_version(version);
            tell(request, call);
            known = None;
        }
        if let Some(operation) = call.operation() {
            card.check_operation(operation).map_err(of_flaw)?;
        }
        if card.extensions().iter().any(|extension| extension.is_required()) {
            let used = extensions_of(request);
            card.check_extensions(&used, &[]).map_err(of_flaw)?;
            known = None;
        }
        if !self.admissions.is_empty() {
            admission::check(&self.admissions, call, request.uri())?;
        }
        state_version_of(request, call);
        if let Some(extension) = self.first_event.as_ref().filter(|_| call.is_streaming())
            && let Some(bound) = held.memo.first_event(extension, || extension.read(card))
        {
            first_event::set(request, bound);
        }
        let knows_tenants = call.version().is_some_and(|version| version >= ProtocolVersion::V1_0);
        match (interface.tenant(), call.tenant()) {
            (Some(wanted), None) if knows_tenants && !tenant_in_path => {
                set_tenant(wanted, call, request)?;
                Ok(None)
            }
            _ => Ok(known),
        }
    }

    /// What the card remembers of such calls, if they went to the same place; the interface that the call goes to, and
    /// whether its tenant stands in the call's path already.
    fn matched<'c, B>(
        &self,
        held: &'c HeldCard,
        call: &Call,
        request: &Request<B>,
    ) -> Result<(Option<&'c Matched>, &'c AgentInterface, bool), CardFailure> {
        let card = held.card();
        let (uri, path) = (request.uri(), place(request, call));
        let known = || {
            let known = held.memo.matched(&self.urls, call);
            known.filter_map(|known| Some((known, card.interfaces().get(known.index)?)))
        };
        if let Some((known, interface)) = known().find(|(known, _)| known.is_of(&self.urls, call, uri, path)) {
            return Ok((Some(known), interface, known.tenant_in_path));
        }
        if let Some((known, interface)) = known().find(|(_, interface)| is_at(interface, call, request)) {
            return Ok((None, interface, known.tenant_in_path));
        }
        let address = address(request, call)?;
        let found = self.interface(card, &target(&address, call)?, held.location());
        let found = found.map_err(|failure| without_query(failure, &address))?;
        let Found { index, interface, tenant_in_path, tenant_by_order, .. } = found;
        // Which of several tenants a call without one would reach is nobody's to guess.
        if tenant_by_order {
            return Err(CardFailure::TenantMismatch {
                card: interface.tenant().map(Into::into),
                request: "none, and the card declares several at this URL".into(),
            });
        }
        let known = held.memo.remember(Matched {
            urls: Arc::clone(&self.urls),
            uri: uri.clone(),
            path: path.into(),
            binding: call.binding(),
            version: call.version(),
            tenant: call.tenant().map(Into::into),
            index,
            tenant_in_path,
            as_of: AsOf::default(),
        });
        Ok((known, interface, tenant_in_path))
    }
}

/// Calls that find one card may differ in slashes at the end, and in the query, which over JSON-RPC make another URL.
fn is_at<B>(interface: &AgentInterface, call: &Call, request: &Request<B>) -> bool {
    match call.binding() {
        Some(Binding::HttpJson) => return !base_path(request, call).ends_with('/'),
        // Host and port are all there is.
        Some(Binding::Grpc) => return true,
        _ => {}
    }
    let same = |url: &CardUrl| {
        let same_query = || CardUrl::of(request.uri()).is_ok_and(|uri| url.query_is_in(&uri));
        words::equal(url.path().as_bytes(), request.uri().path().as_bytes()) && (url.query().is_none() || same_query())
    };
    interface.parsed_url().is_ok_and(same)
}

/// What a request has in its query may be secret, and nothing is said of it.
fn without_query(mut failure: CardFailure, address: &Uri) -> CardFailure {
    if let CardFailure::UrlMismatch { target, target_url, .. } = &mut failure
        && address.query().is_some()
    {
        for text in [target, target_url] {
            if let Some(end) = text.find('?') {
                text.truncate(end);
                text.push_str("?\u{2026}");
            }
        }
    }
    failure
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = if path.is_empty() { "/" } else { path }.parse().ok();
    Uri::from_parts(parts).ok()
}

/// Layers below find the call in the request's extensions, if anyone has put it there.
pub(super) fn tell<B>(request: &mut Request<B>, call: &Call) {
    if let Some(told) = request.extensions_mut().get_mut::<Call>() {
        *told = call.clone();
    }
}

/// Says which version a 1.0 call speaks, and nothing of others.
#[inline]
pub(super) fn state_version_of<B>(request: &mut Request<B>, call: &Call) {
    if call.version() == Some(ProtocolVersion::V1_0) {
        state_version(request);
    }
}

/// `A2A-Version: 1.0` on a 1.0 request that does not say it (§3.6.1). Nothing is changed that is there.
#[inline]
pub(crate) fn state_version<B>(request: &mut Request<B>) {
    let in_query = |query: &str| query.split('&').any(|pair| pair.to_ascii_lowercase().starts_with("a2a-version="));
    if !has_header(request.headers(), &VERSION) && !request.uri().query().is_some_and(in_query) {
        say_version(request.headers_mut());
    }
}

/// Most say it.
#[cold]
#[inline(never)]
fn say_version(headers: &mut HeaderMap) {
    headers.insert(VERSION, HeaderValue::from_static("1.0"));
}

/// Whether a header is there. Among a few, looking at each takes less time than the map's hash of a name.
#[inline]
fn has_header(headers: &HeaderMap, name: &HeaderName) -> bool {
    if headers.keys_len() > 16 {
        return headers.contains_key(name);
    }
    headers.keys().any(|there| words::equal(there.as_str().as_bytes(), name.as_str().as_bytes()))
}

/// The extensions that the request activates.
fn extensions_of<B>(request: &Request<B>) -> Vec<&str> {
    EXTENSIONS
        .iter()
        .flat_map(|name| request.headers().get_all(name))
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect()
}

/// Sets the tenant of an interface in a request that names none (A2A 1.0 §8.3.2).
pub(crate) fn set_tenant<B>(
    wanted: &str,
    call: &mut Call,
    request: &mut Request<CallBody<B>>,
) -> Result<(), CardFailure>
where
    B: Body,
{
    // What cannot be set was sent without, and that is another tenant than the card's.
    let cannot =
        |why: &str| CardFailure::TenantMismatch { card: Some(wanted.into()), request: format!("none, and {why}") };
    if let Some(seal) = tenant::seal(request.headers()) {
        return Err(cannot(&format!("the {seal} header forbids to set it")));
    }
    match call.binding() {
        Some(Binding::JsonRpc) => {
            let edited = request.body().to_bytes().and_then(|bytes| tenant::in_json_rpc(&bytes, wanted));
            set_body(request, edited.ok_or_else(|| cannot("the body is none in which it can be set"))?);
        }
        Some(Binding::HttpJson) => {
            let uri = tenant_in_path(request.method(), request.uri(), wanted);
            *request.uri_mut() = uri.ok_or_else(|| cannot("the path has no place for it"))?;
            *call = std::mem::take(call).with_target(request.uri().clone());
        }
        Some(Binding::Grpc) => {
            let message = request.body().to_bytes().ok_or_else(|| cannot("the message is not all at hand"))?;
            let layout = call.operation().map(|operation| grpc_layout_of(operation, call.version()));
            let layout = layout.ok_or_else(|| cannot("nobody knows where in the message it belongs"))?;
            let edited = encode::with_tenant(&message, layout, wanted).map_err(|why| cannot(&why.to_string()))?;
            set_body(request, edited);
        }
        None => return Err(cannot("nobody knows the binding")),
    }
    *call = std::mem::take(call).with_tenant(wanted);
    tell(request, call);
    Ok(())
}

/// The URI of an HTTP+JSON request as this tenant's.
pub(crate) fn tenant_in_path(method: &Method, uri: &Uri, wanted: &str) -> Option<Uri> {
    tenant::in_path(uri, operation_prefix(method, uri.path()).unwrap_or_default(), wanted)
}

fn set_body<B>(request: &mut Request<CallBody<B>>, body: Bytes)
where
    B: Body,
{
    tenant::follow_length(request.headers_mut(), body.len());
    *request.body_mut() = CallBody::from(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_among_few_and_among_many() {
        let wanted = HeaderName::from_static("a2a-version");
        for others in [0, 1, 15, 16, 17, 40] {
            let mut headers = HeaderMap::new();
            for number in 0..others {
                headers.insert(HeaderName::try_from(format!("x-{number}")).unwrap(), "1".parse().unwrap());
            }
            assert!(!has_header(&headers, &wanted), "{others}");
            headers.insert(&wanted, "1.0".parse().unwrap());
            assert!(has_header(&headers, &wanted), "{others}");
        }
    }
}
