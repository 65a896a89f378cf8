//! One candidate's request: written to its interface, with what goes along and nothing else.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, header::CONTENT_TYPE, request::Parts};
use http_body::Body;
use tokio::time::Instant;

use super::{
    alternatives::{Alternative, Alternatives},
    headers,
    layer::Config,
};
use crate::{
    call::{self, Binding, Call, CallBody, ProtocolVersion},
    card_consistency::{rewritten, set_tenant, state_version, tenant_in_path},
    directory::{Candidate, Decision, Need, PeerId, Written},
    probe_cache::Probe,
};

/// Who answered, in the extensions of the response: where a call about the task belongs, and why it was this one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Delegated {
    /// Who.
    pub peer: PeerId,
    /// Where the request went.
    pub uri: Uri,
    /// What it was written in, of [`Alternatives`] say: so the answer is as well.
    pub written: Written,
    /// As whose tenant, its own or the interface's: calls about the task name it too.
    pub tenant: Option<Box<str>>,
    /// Why.
    pub decision: Arc<Decision>,
}

/// The caller's request, from which each attempt's is made.
pub(super) struct Original<B: Body> {
    pub(super) parts: Parts,
    pub(super) body: Option<CallBody<B>>,
    pub(super) call: Call,
    pub(super) need: Need,
}

/// A request to one candidate, before it has its body.
pub(super) struct Letter {
    pub(super) parts: Parts,
    pub(super) call: Call,
    pub(super) written: Written,
    /// To be set.
    tenant: Option<Box<str>>,
    /// Of an alternative.
    body: Option<Bytes>,
}

const SENT: &str = "the request's body can be sent once, and was";

/// A header of 1.0 that says nothing of a request written otherwise.
const VERSION: HeaderName = HeaderName::from_static("a2a-version");

impl<B> Original<B>
where
    B: Body<Data = Bytes>,
{
    /// The request to a candidate, without credentials and body; or why there is none.
    pub(super) fn letter_to(&self, candidate: &Candidate, config: &Config) -> Result<Letter, Box<str>> {
        let (Some(interface), Some(written)) = (candidate.interface(), candidate.written) else {
            return Err("it has no interface for the request".into());
        };
        let alternatives = self.parts.extensions.get::<Alternatives>();
        let own = (self.call.binding(), self.version()) == (Some(written.binding), written.version);
        let alternative = alternatives.and_then(|others| others.list.iter().find(|one| one.written == written));
        let (mut call, mut parts, body) = match alternative.filter(|_| !own) {
            Some(alternative) => {
                let (call, parts) = self.alternative(alternative, config)?;
                (call, parts, Some(alternative.body.clone()))
            }
            None => (self.call.clone(), self.head(config)?, None),
        };
        if call.version().is_none() {
            call = call.with_version(written.version);
        }
        if call.skill().is_none() {
            call = call.with_skill(&*candidate.skill);
        }
        let path = parts.uri.path();
        let operation = match written.binding {
            Binding::JsonRpc => "",
            Binding::Grpc => call::split_grpc_path(path).1,
            Binding::HttpJson => {
                path.get(call::operation_prefix(&parts.method, path).unwrap_or_default().len()..).unwrap_or(path)
            }
        };
        let query = parts.uri.query().filter(|_| written.binding == Binding::HttpJson).and_then(headers::carried_query);
        let uri = rewritten(interface, &call, operation, query.as_deref(), &candidate.at.base)
            .map_err(|why| why.to_string())?;
        parts.uri = uri.clone();
        call = call.with_target(uri);
        // Over HTTP+JSON it stood in the path, which is written anew.
        let has_tenant = call.tenant().is_some() && written.binding != Binding::HttpJson;
        let knows_tenants = written.version >= ProtocolVersion::V1_0;
        let tenant = interface.tenant().filter(|_| knows_tenants && !has_tenant).map(Into::into);
        Ok(Letter { parts, call, written, tenant, body })
    }

    /// The same with its body; or why there is none. A body that cannot be had twice is gone then.
    pub(super) fn complete(&mut self, letter: Letter) -> Result<(Request<CallBody<B>>, Call), Box<str>> {
        let Letter { mut parts, mut call, written, tenant, body } = letter;
        parts.extensions.insert(call.clone());
        let is_once = body.is_none() && !self.has_copies();
        let body = match (body, &self.body) {
            (Some(body), _) => CallBody::from(body),
            (None, Some(own)) => match own.try_clone() {
                Some(copy) => copy,
                None => self.body.take().ok_or(SENT)?,
            },
            (None, None) => return Err(SENT.into()),
        };
        let mut request = Request::from_parts(parts, body);
        if written.version == ProtocolVersion::V1_0 {
            state_version(&mut request);
        }
        if let Some(tenant) = tenant
            && let Err(why) = set_tenant(&tenant, &mut call, &mut request)
        {
            // It was not sent, and may be to another one.
            if is_once {
                self.body = Some(request.into_body());
            }
            return Err(why.to_string().into());
        }
        Ok((request, call))
    }

    /// Whether the body can be sent more than once.
    pub(super) fn has_copies(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.try_clone().is_some())
    }

    /// The version that the request is written in. One that says none over HTTP+JSON is understood by interfaces of
    /// 1.0.
    pub(super) fn version(&self) -> ProtocolVersion {
        self.call.version().unwrap_or(ProtocolVersion::V1_0)
    }

    /// What of the caller's head goes along; or why on whose behalf it is cannot be said.
    fn head(&self, config: &Config) -> Result<Parts, &'static str> {
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = self.parts.method.clone();
        parts.uri = self.parts.uri.clone();
        // That of the caller's connection. By which version a peer is called, the client below knows; gRPC has one
        // alone.
        if self.call.binding() == Some(Binding::Grpc) {
            parts.version = self.parts.version;
        }
        parts.headers = headers::carried(&self.parts.headers, &config.kept);
        parts.extensions = self.parts.extensions.clone();
        if let Some(name) = &config.caller_header {
            parts.headers.remove(name);
        }
        if let Some(caller) = self.need.caller_name() {
            parts.extensions.insert(caller.clone());
            if let Some(name) = &config.caller_header {
                let value = HeaderValue::try_from(caller.as_str());
                parts.headers.insert(name.clone(), value.map_err(|_| "the caller's name cannot stand in a header")?);
            }
        }
        Ok(parts)
    }

    fn alternative(&self, alternative: &Alternative, config: &Config) -> Result<(Call, Parts), &'static str> {
        let mut parts = self.head(config)?;
        parts.method = Alternative::METHOD;
        parts.uri = alternative.uri.clone();
        for name in [http::header::CONTENT_LENGTH, http::header::CONTENT_ENCODING, VERSION] {
            parts.headers.remove(name);
        }
        for name in ["content-digest", "repr-digest", "grpc-encoding"] {
            parts.headers.remove(name);
        }
        parts.headers.insert(CONTENT_TYPE, alternative.content_type.clone());
        if alternative.written.binding == Binding::Grpc {
            parts.version = http::Version::HTTP_2;
            parts.headers.insert(http::header::TE, HeaderValue::from_static("trailers"));
        }
        let mut given = Call::new().with_binding(alternative.written.binding).with_version(alternative.written.version);
        if let Some(skill) = self.call.skill() {
            given = given.with_skill(skill);
        }
        if let Some(region) = self.call.region() {
            given = given.with_region(region);
        }
        let began = self.call.began().unwrap_or_else(Instant::now);
        let call = call::of_whole(given, &parts, &alternative.body, began);
        Ok((call, parts))
    }
}

impl Letter {
    /// A probe of where it goes, as the tenant that it is for.
    pub(super) fn probe(&self, credentials: &[HeaderName]) -> Option<Probe> {
        let Self { parts, call, tenant, .. } = self;
        let Some(tenant) = tenant else {
            return Probe::of(call, &parts.method, &parts.uri, &parts.headers, credentials, 0);
        };
        let uri = match call.binding() {
            Some(Binding::HttpJson) => tenant_in_path(&parts.method, &parts.uri, tenant)?,
            _ => parts.uri.clone(),
        };
        let call = call.clone().with_tenant(&**tenant);
        Probe::of(&call, &parts.method, &uri, &parts.headers, credentials, 0)
    }
}

/// Credentials for this peer, in the stead of whatever stands there.
pub(super) fn add_credentials(headers: &mut HeaderMap, credentials: &HeaderMap) -> Vec<HeaderName> {
    let names: Vec<_> = credentials.keys().cloned().collect();
    for name in &names {
        headers.remove(name);
        for value in credentials.get_all(name) {
            let mut value = value.clone();
            value.set_sensitive(true);
            headers.append(name.clone(), value);
        }
    }
    names
}
