//! A call in flight: its bounds, what was seen of it, and the one outcome that it has.

mod bounds;
mod failing;
mod outcome;
mod timed;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use http::{StatusCode, Uri, response::Parts};
use tokio::time::Instant;

use self::bounds::{head_of, own_bounds, total_of};
pub(super) use self::timed::{Boxed, Timed};
use super::{
    answer::Answer,
    deadline::Deadlines,
    layer::Config,
    rescue::{Origin, Rescued},
    shape,
};
use crate::{
    call::Call,
    clock,
    error::Seen,
    limits::{Bounds, LimitOverrides},
    outcome::Observe,
    wire::{Facts, GrpcExpected, JsonRpcId},
};

/// So many frames are taken in one poll before others get their turn.
pub(super) const FRAMES_PER_POLL: u32 = 1024;

/// The recovery in progress of a failed call.
pub(super) type Rescue = Pin<Box<dyn Future<Output = Option<Rescued>> + Send>>;

pub(super) struct Flight<O>
where
    O: Observe,
{
    pub(super) config: Arc<Config<O>>,
    pub(super) call: Call,
    pub(super) seen: Seen,
    /// What gRPC it should be.
    pub(super) grpc: Option<GrpcExpected>,
    /// It lives here because here nothing is moved.
    pub(super) answer: Answer,
    /// Where the request went, if the call does not say so itself.
    pub(super) target: Option<Uri>,
    own_bounds: Option<Box<Bounds>>,
    /// The time that the request itself gives the call.
    asked_total: Option<Duration>,
    deadlines: Deadlines,
    began: Instant,
    dispatched: Instant,
    frames_unchecked: u32,
    bytes_unchecked: usize,
    /// The last poll was a Pending.
    pending: bool,
    /// The last frame came after a Pending.
    waited: bool,
    /// What the request was, where the task may be asked for.
    pub(super) origin: Option<Box<Origin>>,
    settled: bool,
    /// Of the answer's body, for the outcome.
    bytes: u64,
    /// Read where somebody observes.
    first_event: Option<Instant>,
    #[cfg(feature = "tracing")]
    pub(super) span: Option<crate::observability::CallSpan>,
}

impl<O> Flight<O>
where
    O: Observe,
{
    #[inline(always)]
    fn new(
        config: Arc<Config<O>>,
        call: Call,
        target: Option<Uri>,
        overrides: Option<&LimitOverrides>,
        asked_total: Option<Duration>,
        unread: bool,
    ) -> Self {
        let dispatched = clock::now();
        let began = call.began().unwrap_or(dispatched);
        let shared = config.bounds(&call);
        let own_bounds = overrides.map(|by| own_bounds(shared, by, call.is_streaming()));
        let limits = own_bounds.as_deref().unwrap_or(shared);
        let total = total_of(limits, call.is_streaming(), asked_total);
        let deadlines = Deadlines::new(began, dispatched, head_of(&call, limits, unread), total).hasty(limits.hasty);
        let grpc = shape::grpc(&call);
        Self {
            config,
            call,
            seen: Seen::default(),
            grpc,
            answer: Answer::default(),
            target,
            own_bounds,
            asked_total,
            deadlines,
            began,
            dispatched,
            frames_unchecked: 0,
            bytes_unchecked: 0,
            pending: false,
            waited: false,
            origin: None,
            settled: false,
            bytes: 0,
            first_event: None,
            #[cfg(feature = "tracing")]
            span: None,
        }
    }

    #[inline]
    pub(super) fn limits(&self) -> &Bounds {
        self.own_bounds.as_deref().unwrap_or_else(|| self.config.bounds(&self.call))
    }

    /// Notes what an answer, or the beginning of one, says of its task. An id that was cut is none.
    pub(super) fn note_facts(&mut self, facts: &Facts) {
        let id = Some(&facts.task_id).filter(|id| !id.is_empty() && !id.is_truncated());
        self.seen.task_id = id.map(|id| id.as_str().into());
        self.seen.task_state = facts.state;
        self.seen.tolerated = facts.tolerated;
    }

    /// Notes what the beginning of a whole answer says of its task.
    #[cold]
    pub(super) fn note_what_came(&mut self) {
        let id = self.call.id().unwrap_or(&JsonRpcId::Other);
        let facts = self.answer.facts(id);
        self.note_facts(&facts);
    }

    /// The id to compare answers with; one that nobody read agrees with every other.
    pub(super) fn id(&self) -> &JsonRpcId {
        self.call.id().unwrap_or(&JsonRpcId::Other)
    }

    pub(super) fn status(&self) -> StatusCode {
        self.seen.status.unwrap_or_default()
    }

    #[inline]
    pub(super) fn head_came(&mut self, head: Parts) {
        self.seen.status = Some(head.status);
        self.answer.head = Some(head);
    }

    pub(super) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }
}
