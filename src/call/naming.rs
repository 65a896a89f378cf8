use std::time::Duration;

use http::{Extensions, HeaderMap, Method, Uri, header::CONTENT_TYPE, request::Parts};
use percent_encoding::percent_decode_str;
use tokio::time::Instant;

use super::{
    Binding, Call, Operation, ProtocolVersion,
    grpc_path::{self, GrpcName},
    http_path::{self, PathName},
    json_rpc_method,
    layer::Config,
};
use crate::limits::LimitOverrides;
use crate::wire::{
    Envelope, LONGEST_KNOWN, MediaType, OwnWords, RequestFacts, RequestScan, SmallText,
    grpc::{GrpcRequestScan, status::field, timeout::parse_timeout},
};

/// A call on its way to its name: what the head tells, then what the body tells.
pub(super) struct Naming {
    /// Taken at the end.
    call: Option<Call>,
    scan: Option<Scan>,
    /// Its caller said which tenant it is for.
    tenant_given: bool,
}

/// Reads the body, by what it may be.
enum Scan {
    /// Nothing came yet.
    Due(Envelope),
    Json(RequestScan),
    /// The body was like one before, and has named the call.
    Known,
    Grpc(GrpcRequestScan),
}

impl Naming {
    /// What method, path and headers tell. What `call` says already stays.
    pub(super) fn new(config: &Config, call: Call, parts: &Parts, began: Instant) -> Self {
        let tenant_given = call.tenant().is_some();
        let (call, package) = of_head(config, call, parts, began);
        let scan = match (call.binding(), call.operation()) {
            (Some(Binding::Grpc), Some(operation)) => {
                // The package says whose messages they are, whatever the caller called the version.
                let version = package.or(call.version());
                let layout = grpc_path::layout_of(operation, version);
                let (skill, region) = (config.skill_metadata.as_deref(), config.region_metadata.as_deref());
                Some(Scan::Grpc(GrpcRequestScan::new(layout, skill, region)))
            }
            _ => body_envelope(&call, parts).map(Scan::Due),
        };
        Self { call: Some(call), scan, tenant_given }
    }

    /// Whether the body can tell more.
    pub(super) fn wants_body(&self) -> bool {
        self.scan.is_some()
    }

    /// Whether what came of the body so far leaves anything to learn.
    pub(super) fn wants_more(&self) -> bool {
        match &self.scan {
            Some(Scan::Due(_)) => true,
            Some(Scan::Json(scan)) => scan.is_valid(),
            Some(Scan::Grpc(scan)) => scan.is_valid(),
            // There is no more to come.
            Some(Scan::Known) => true,
            None => false,
        }
    }

    /// Whether all that there is to learn is known, so that nothing need be waited for. What is there already is still
    /// read, for a layer below that wants the request whole.
    pub(super) fn has_all(&self) -> bool {
        matches!(&self.scan, Some(Scan::Grpc(scan)) if scan.is_over())
    }

    /// The total that the caller set for the call. Where its body is still to tell what kind it is of, the longest.
    pub(super) fn total_in(&self, by: &LimitOverrides) -> Option<Duration> {
        match self.call.as_ref().filter(|call| call.operation().is_some()) {
            Some(call) => by.total_of(call.is_streaming()),
            None => by.longest_total(),
        }
    }

    /// The time that the request itself gives the call.
    pub(super) fn asked_total(&self, parts: &Parts) -> Option<Duration> {
        let is_grpc = self.call.as_ref().and_then(Call::binding) == Some(Binding::Grpc);
        if is_grpc { grpc_timeout(&parts.headers) } else { None }
    }

    /// Reads on. `is_all`: these bytes are the whole of the body, as far as is known.
    pub(super) fn feed(&mut self, config: &Config, data: &[u8], is_all: bool) {
        match &mut self.scan {
            Some(Scan::Due(envelope)) => {
                let envelope = *envelope;
                self.begin(config, envelope, data, is_all);
            }
            Some(Scan::Json(scan)) => scan.feed(data),
            Some(Scan::Grpc(scan)) => scan.feed(data),
            Some(Scan::Known) | None => {}
        }
    }

    /// Reads the first bytes of a body. If they are all, and like those of a request before, that need not be. What
    /// requests look like is shared by all calls of the layer, and nobody waits for it: to scan is quicker.
    fn begin(&mut self, config: &Config, envelope: Envelope, data: &[u8], is_all: bool) {
        let may_be_known = is_all && data.len() <= LONGEST_KNOWN;
        if may_be_known
            && let Ok(mut known) = config.known.0.try_lock()
            && let Some(known) = known.find(envelope, data)
        {
            self.call = self.call.take().map(|call| of_body(call, known.facts(), known.own(), self.tenant_given));
            self.scan = Some(Scan::Known);
            return;
        }
        let scan = || RequestScan::new(envelope, config.skill_metadata.as_deref(), config.region_metadata.as_deref());
        let mut first = scan();
        first.feed(data);
        if may_be_known
            && first.is_valid()
            && let Ok(mut known) = config.known.0.try_lock()
        {
            known.learn(envelope, data, scan);
        }
        self.scan = Some(Scan::Json(first));
    }

    /// The call, named from all that was seen.
    pub(super) fn finish(&mut self, config: &Config, parts: &Parts) -> Call {
        let call = self.call.take().unwrap_or_default();
        let call = match &mut self.scan {
            None => return call,
            Some(Scan::Due(_)) => of_body(call, &RequestFacts::default(), OwnWords::default(), self.tenant_given),
            Some(Scan::Known) => call,
            Some(Scan::Json(scan)) => {
                scan.finish();
                of_body(call, scan.facts(), OwnWords::default(), self.tenant_given)
            }
            Some(Scan::Grpc(scan)) => of_body(call, scan.facts(), OwnWords::default(), self.tenant_given),
        };
        if call.binding().is_some() {
            return call;
        }
        // It was no JSON-RPC, so the path has the last word.
        match http_path::name(&parts.method, parts.uri.path()) {
            Some(named) => of_path(config.base_path.as_deref(), call, &parts.headers, &parts.uri, named),
            None => call,
        }
    }
}

/// Names a call whose request is all there.
#[cfg(feature = "directory")]
pub(crate) fn of_whole(given: Call, parts: &Parts, body: &[u8], began: Instant) -> Call {
    let config = Config::default();
    let mut naming = Naming::new(&config, given, parts, began);
    naming.feed(&config, body, false);
    naming.finish(&config, parts)
}

/// Names a call from the request's head alone, as the layers do that stand without a [`CallLayer`](crate::CallLayer).
pub(crate) fn from_head(method: &Method, uri: &Uri, headers: &HeaderMap, extensions: &Extensions) -> Call {
    let call = Call::new();
    if is_grpc(headers) {
        return of_grpc(call, grpc_path::name_of(uri.path(), extensions));
    }
    match http_path::name(method, uri.path()) {
        Some(named) => of_path(None, call, headers, uri, named),
        None => call,
    }
}

/// The second is the version that the package of a gRPC service is of.
fn of_head(config: &Config, given: Call, parts: &Parts, began: Instant) -> (Call, Option<ProtocolVersion>) {
    let mut call = given;
    let facts = call.edit();
    facts.began = Some(began);
    facts.target.get_or_insert_with(|| parts.uri.clone());
    if facts.skill.is_none()
        && let Some(skill) = config.skill_header.as_ref().and_then(|name| header(&parts.headers, name.as_str()))
    {
        facts.skill = Some(skill.into());
    }
    if facts.region.is_none()
        && let Some(region) = config.region_header.as_ref().and_then(|name| header(&parts.headers, name.as_str()))
    {
        facts.region = Some(region.into());
    }
    if call.binding().is_none_or(|binding| binding == Binding::Grpc) && is_grpc(&parts.headers) {
        let named = grpc_path::name_of(parts.uri.path(), &parts.extensions);
        return (of_grpc(call, named), named.map(|named| named.version));
    }
    let call = match http_path::name(&parts.method, parts.uri.path()) {
        Some(named) if named.operation.is_some() || parts.method != Method::POST => {
            of_path(config.base_path.as_deref(), call, &parts.headers, &parts.uri, named)
        }
        // A path that has the form without naming an operation may be a JSON-RPC endpoint's: the body decides.
        _ => call,
    };
    (call, None)
}

/// What the path tells, if the call is an HTTP+JSON one. A tenant stands in it where `base_path` ends.
fn of_path(base_path: Option<&str>, mut call: Call, headers: &HeaderMap, uri: &Uri, named: PathName<'_>) -> Call {
    if !matches!(call.binding(), None | Some(Binding::HttpJson)) {
        return call;
    }
    call = call.with_binding(Binding::HttpJson);
    if call.version().is_none() {
        let version = version_header(headers).or_else(|| version_query(uri.query()));
        if let Some(version) = version {
            call = call.with_version(version);
        }
    }
    if let (None, Some(operation)) = (call.operation(), named.operation) {
        call = call.with_operation(operation);
    }
    if let (None, Some(id)) = (call.task_id(), named.task_id) {
        call = call.with_task_id(percent_decode_str(id).decode_utf8_lossy());
    }
    if call.tenant().is_none() {
        let tenant = base_path
            .and_then(|base| named.prefix.strip_prefix(base.trim_end_matches('/')))
            .and_then(|rest| rest.strip_prefix('/'))
            .filter(|tenant| !tenant.is_empty() && !tenant.contains('/') && *tenant != "v1");
        let in_query = uri.query().filter(|_| call.version().is_none_or(|of| of >= ProtocolVersion::V1_0));
        for tenant in [
            tenant.map(|tenant| percent_decode_str(tenant).decode_utf8_lossy().into_owned()),
            in_query.and_then(tenant_in),
        ]
        .into_iter()
        .flatten()
        {
            let tenant = together(call.tenant(), &tenant);
            call = call.with_tenant(tenant);
        }
    }
    call
}

/// A tenant, and what was named before it. Which of several would count nobody knows: together they are nobody's.
fn together(before: Option<&str>, tenant: &str) -> String {
    match before {
        Some(before) if before != tenant => format!("{before},{tenant}"),
        _ => tenant.to_owned(),
    }
}

/// The tenant that a query names: agents take parameters of the request that stand in no other place from there.
pub(super) fn tenant_in(query: &str) -> Option<String> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let mut tenant: Option<String> = None;
    for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        if percent_decode_str(key).eq(*b"tenant") && !value.is_empty() {
            tenant = Some(together(tenant.as_deref(), &decoded(value)));
        }
    }
    tenant
}

/// Which kind of body the request may have that says more about the call.
fn body_envelope(call: &Call, parts: &Parts) -> Option<Envelope> {
    match call.binding() {
        // A send says more than its path does; all others may name a tenant.
        Some(Binding::HttpJson) if parts.method == Method::POST => call.operation().map(|_| Envelope::Bare),
        Some(Binding::HttpJson) => None,
        Some(Binding::JsonRpc) => Some(Envelope::JsonRpc),
        Some(Binding::Grpc) => None,
        // JSON-RPC has no path of its own, and servers accept it under any media type.
        None if parts.method == Method::POST => Some(Envelope::JsonRpc),
        None => None,
    }
}

fn of_body(mut call: Call, read: &RequestFacts, own: OwnWords<'_>, tenant_given: bool) -> Call {
    let facts = call.edit();
    if facts.binding.is_none() {
        if !read.jsonrpc {
            return call;
        }
        facts.binding = Some(Binding::JsonRpc);
    }
    if facts.binding == Some(Binding::JsonRpc) {
        if let Some((operation, version)) = json_rpc_method::operation_of(read.method.as_str()) {
            if facts.operation.is_none() {
                facts.set_operation(operation);
            }
            facts.version.get_or_insert(version);
        }
        facts.id.get_or_insert_with(|| own.id.unwrap_or_else(|| read.id.clone()));
    }
    if facts.blocking.is_none() && facts.operation.is_some_and(Operation::is_send) {
        facts.blocking = Some(!read.return_immediately.unwrap_or(false) && read.blocking.unwrap_or(true));
    }
    if !tenant_given && !read.tenant.is_empty() {
        // What is longer than any that is compared is another one than each of those.
        let cut = if read.tenant.is_truncated() { "\u{2026}" } else { "" };
        facts.tenant = Some(match &facts.tenant {
            None if cut.is_empty() => read.tenant.as_str().into(),
            before => together(before.as_deref(), &format!("{}{cut}", read.tenant.as_str())).into(),
        });
    }
    match own.task_id {
        Some(id) => fill_with(&mut facts.task_id, id),
        None => fill(&mut facts.task_id, &read.task_id),
    }
    match own.context_id {
        Some(id) => fill_with(&mut facts.context_id, id),
        None => fill(&mut facts.context_id, &read.context_id),
    }
    fill(&mut facts.skill, &read.skill);
    fill(&mut facts.region, &read.region);
    call
}

/// Sets a text that the caller left open, if the body holds it whole.
fn fill(place: &mut Option<Box<str>>, text: &SmallText) {
    if place.is_none() && !text.is_truncated() {
        fill_with(place, text.as_str());
    }
}

fn fill_with(place: &mut Option<Box<str>>, text: &str) {
    if place.is_none() && !text.is_empty() {
        *place = Some(text.into());
    }
}

/// `grpc-timeout`; a malformed one is as if it were not there.
pub(crate) fn grpc_timeout(headers: &HeaderMap) -> Option<Duration> {
    field(headers, "grpc-timeout").and_then(|value| parse_timeout(value.as_bytes()))
}

fn is_grpc(headers: &HeaderMap) -> bool {
    let declared = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    MediaType::of(declared) == MediaType::Grpc
}

/// What service and method of a gRPC call tell. The package is the version's, whatever `a2a-version` says.
fn of_grpc(call: Call, named: Option<GrpcName>) -> Call {
    let mut call = call.with_binding(Binding::Grpc);
    let Some(named) = named else { return call };
    let facts = call.edit();
    facts.version.get_or_insert(named.version);
    if let (None, Some(operation)) = (facts.operation, named.operation) {
        facts.set_operation(operation);
    }
    call
}

/// §3.6: the header's value; absent or empty it says nothing here.
fn version_header(headers: &HeaderMap) -> Option<ProtocolVersion> {
    header(headers, "a2a-version").and_then(ProtocolVersion::parse)
}

/// §3.6.1: the version may come as a query parameter.
fn version_query(query: Option<&str>) -> Option<ProtocolVersion> {
    query?
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| key.eq_ignore_ascii_case("a2a-version"))
        .and_then(|(_, value)| ProtocolVersion::parse(value))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty())
}
