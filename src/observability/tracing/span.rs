use std::{
    fmt::{self, Display},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::Uri;
use tracing::{Span, field};

use super::TARGET;
use crate::{
    call::{Call, Operation},
    error::CallError,
    observability::words,
    outcome::{Outcome, OutcomeKind},
    wire::{Tolerated, text::escape},
};

/// So many characters of an identifier are told.
pub(super) const ID: usize = 128;

/// The span of one call. It travels in the request's extensions, so that who tells of the call's end finds it whatever
/// spans are open there.
#[derive(Clone, Debug)]
pub(crate) struct CallSpan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    span: Span,
    named: bool,
    filled: AtomicBool,
}

impl CallSpan {
    /// Opens a span, if anybody wants one.
    pub(super) fn open(call: &Call, uri: &Uri) -> Option<Self> {
        let target = call.target().unwrap_or(uri);
        let named = call.operation().is_some();
        let span = tracing::info_span!(
            target: TARGET,
            "a2a.call",
            otel.name = call.operation().map(Operation::as_str),
            otel.kind = "client",
            otel.status_code = field::Empty,
            a2a.method = call.operation().map(Operation::as_str),
            a2a.binding = call.binding().map(|binding| binding.as_str()),
            a2a.protocol.version = call.version().map(field::display),
            a2a.streaming = call.is_streaming(),
            a2a.tenant = call.tenant().map(escaped),
            a2a.skill = call.skill().map(escaped),
            a2a.region = call.region().map(escaped),
            a2a.task.id = call.task_id().map(escaped),
            gen_ai.conversation.id = call.context_id().map(escaped),
            server.address = target.host().map(escaped),
            server.port = port(target),
            a2a.outcome = field::Empty,
            a2a.class = field::Empty,
            a2a.task.state = field::Empty,
            a2a.retry = field::Empty,
            a2a.events = field::Empty,
            a2a.response.bytes = field::Empty,
            a2a.first_event.seconds = field::Empty,
            a2a.tolerated = field::Empty,
            "error.type" = field::Empty,
            http.response.status_code = field::Empty,
            rpc.response.status_code = field::Empty,
        );
        (!span.is_disabled()).then(|| Self(Arc::new(Inner { span, named, filled: AtomicBool::new(false) })))
    }

    pub(super) fn get(&self) -> &Span {
        &self.0.span
    }

    /// Whether somebody told it how its call ended.
    pub(super) fn is_filled(&self) -> bool {
        self.0.filled.load(Ordering::Relaxed)
    }

    /// Notes how the call ended.
    pub(super) fn fill(&self, outcome: &Outcome<'_>) {
        self.0.filled.store(true, Ordering::Relaxed);
        let span = &self.0.span;
        let call = outcome.call();
        if !self.0.named
            && let Some(operation) = call.operation()
        {
            span.record("otel.name", operation.as_str());
            span.record("a2a.method", operation.as_str());
            span.record("a2a.binding", call.binding().map(|binding| binding.as_str()));
            span.record("a2a.protocol.version", call.version().map(field::display));
        }
        span.record("a2a.outcome", outcome.kind().as_str());
        span.record("a2a.class", outcome.class().as_str());
        span.record("a2a.task.state", outcome.task_state().map(|state| words::state(state.kind())));
        if let Some(task_id) = outcome.task_id().filter(|id| Some(*id) != call.task_id()) {
            span.record("a2a.task.id", escaped(task_id));
        }
        span.record("http.response.status_code", outcome.http_status().map(|status| status.as_u16()));
        span.record("a2a.response.bytes", outcome.bytes());
        if call.is_streaming() {
            span.record("a2a.events", outcome.events());
            span.record("a2a.first_event.seconds", outcome.first_event().map(|latency| latency.as_secs_f64()));
        }
        if !outcome.tolerated().is_empty() {
            span.record("a2a.tolerated", field::display(Slips(outcome.tolerated())));
        }
        if !matches!(outcome.kind(), OutcomeKind::Success | OutcomeKind::Abandoned) {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", outcome.class().as_str());
        }
        if let Some(error) = outcome.error() {
            span.record("a2a.retry", error.retry().as_str());
        }
        let code = outcome.error().and_then(CallError::code).or_else(|| outcome.grpc_code().map(i64::from));
        span.record("rpc.response.status_code", code.map(field::display));
    }
}

/// A text that others chose, as it may stand in a log.
pub(super) fn escaped(text: &str) -> field::DisplayValue<impl Display> {
    field::display(escape(text, ID))
}

/// The port that is dialled.
fn port(uri: &Uri) -> Option<u16> {
    uri.port_u16().or_else(|| match uri.scheme_str()? {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    })
}

/// `id_type_changed,kind_missing`
pub(super) struct Slips(pub(super) Tolerated);

impl Display for Slips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            f.write_str(name)?;
        }
        Ok(())
    }
}
