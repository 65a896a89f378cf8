//! How long a delegated call may take, whoever is asked, and what it fails with if it takes longer.

use http_body::Body;
use tokio::time::Instant;

use crate::{
    call::{self, Binding, Call},
    directory::delegate::{attempt::Original, layer::Config},
    error::{CallError, Failure},
    limits::{CENTURY, LimitOverrides},
    outcome::{Class, OutcomeKind},
};

/// When the call is over, whoever is asked.
pub(super) fn deadline<B: Body>(original: &Original<B>, config: &Config, now: Instant) -> Instant {
    let (call, extensions) = (&original.call, &original.parts.extensions);
    let stream = call.is_streaming();
    let total = match extensions.get::<LimitOverrides>() {
        Some(by) => config.limits.overridden(by).total_of(stream),
        None => config.limits.total_of(stream),
    };
    let asked = match call.binding() {
        Some(Binding::Grpc) => call::grpc_timeout(&original.parts.headers),
        _ => None,
    };
    let total = asked.map_or(total, |asked| asked.min(total)).min(CENTURY);
    now + total.saturating_sub(call.elapsed())
}

pub(super) fn late(call: &Call, deadline: Instant, never_sent: bool) -> CallError {
    let what = "the call was not over in time, with whom it was delegated to";
    let mut failure = Failure::new(OutcomeKind::Timeout, Class::Total, what, call.clone(), call.elapsed());
    failure.never_sent = never_sent;
    failure.bound = call.began().map(|began| deadline.saturating_duration_since(began));
    CallError::new(failure)
}
