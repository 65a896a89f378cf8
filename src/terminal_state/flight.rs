//! A call in flight: its bounds, what was seen of it, and the one outcome that it has.

mod failing;

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{StatusCode, Uri, response::Parts};
use pin_project_lite::pin_project;
use tokio::{task::coop, time::Instant};

use self::failing::is_loss;
use super::{
    answer::Answer,
    deadline::{Deadlines, Due, Phase},
    layer::Config,
    recovery::Recovery,
    rescue::{Origin, Rescued},
    shape,
    timer::Timer,
};
use crate::{
    call::{Call, Operation},
    clock,
    error::{CallError, Seen},
    limits::{Bounds, LimitOverrides},
    outcome::{Class, Observe, Outcome, OutcomeKind},
    wire::{Facts, GrpcExpected, JsonRpcId, TaskState, Tolerated},
};

/// So many frames may come without a Pending before the clock is read, and so many bytes: a timer alone does not bound
/// a body that is always ready.
const FRAMES_UNCHECKED: u32 = 64;
const BYTES_UNCHECKED: usize = 256 << 10;

/// So many frames are taken in one poll before others get their turn.
pub(super) const FRAMES_PER_POLL: u32 = 1024;

/// The recovery in progress of a failed call.
pub(super) type Rescue = Pin<Box<dyn Future<Output = Option<Rescued>> + Send>>;

pin_project! {
    /// A flight and its timer. Boxed once for each call, so that future and body hand on a pointer.
    pub(super) struct Timed<O>
    where
        O: Observe,
    {
        #[pin]
        timer: Timer,
        flight: Flight<O>,
    }
}

pub(super) type Boxed<O> = Pin<Box<Timed<O>>>;

impl<O> Timed<O>
where
    O: Observe,
{
    /// A call in flight, as [`Flight::new`] makes one. The place comes first, so that it is written where it stays.
    #[inline(always)]
    pub(super) fn boxed(
        config: Arc<Config<O>>,
        call: Call,
        target: Option<Uri>,
        overrides: Option<&LimitOverrides>,
        asked_total: Option<Duration>,
        unread: bool,
    ) -> Boxed<O> {
        let place = Box::new_uninit();
        let flight = Flight::new(config, call, target, overrides, asked_total, unread);
        Box::into_pin(Box::write(place, Self { timer: Timer::default(), flight }))
    }

    pub(super) fn get(&self) -> &Flight<O> {
        &self.flight
    }

    pub(super) fn flight(self: Pin<&mut Self>) -> &mut Flight<O> {
        self.project().flight
    }

    /// After a Pending: which bound was reached, if any.
    pub(super) fn poll_bounds(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Due> {
        let this = self.project();
        let (mut timer, flight) = (this.timer, this.flight);
        flight.frames_unchecked = 0;
        flight.bytes_unchecked = 0;
        let now = flight.deadlines.wants_look().then(Instant::now);
        if let Some(now) = now {
            flight.deadlines.look(now);
        } else if !timer.is_set() && !flight.deadlines.may_be_sooner() {
            // Whatever phase comes, its bound is no shorter than the floor.
            let earliest = flight.dispatched + flight.limits().floor;
            timer.as_mut().set(earliest.min(flight.deadlines.total().at));
        }
        // Nothing is due before the timer fires; and where the task has budget left, the timer says whether it did.
        if timer.is_ahead_of(now)
            && !flight.deadlines.may_be_sooner()
            && coop::has_budget_remaining()
            && timer.as_mut().poll_set(cx).is_pending()
        {
            flight.pending = true;
            return Poll::Pending;
        }
        flight.poll_due(timer, now, cx)
    }
}

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
        let deadlines = Deadlines::new(began, dispatched, head_of(&call, limits, unread), total);
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

    /// Compares with what is due, and sets the timer for it.
    #[inline(never)]
    fn poll_due(&mut self, mut timer: Pin<&mut Timer>, mut now: Option<Instant>, cx: &mut Context<'_>) -> Poll<Due> {
        let floor = self.limits().floor;
        self.deadlines.clear_sooner();
        loop {
            let due = self.deadlines.due(self.limits());
            if now.is_some_and(|now| now >= due.at) {
                return Poll::Ready(due);
            }
            if timer.as_mut().poll(cx, now.unwrap_or(self.dispatched), due.at, floor).is_pending() {
                self.pending = true;
                // Where the task's budget is spent, the timer does not say whether it fired.
                let reached = !coop::has_budget_remaining() && Instant::now() >= due.at;
                return if reached { Poll::Ready(due) } else { Poll::Pending };
            }
            let fired = Instant::now();
            self.deadlines.look(fired);
            timer.as_mut().rearm(fired, self.deadlines.due(self.limits()).at, floor);
            now = Some(fired);
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

    pub(super) fn enter(&mut self, phase: Phase) {
        self.deadlines.enter(phase);
    }

    pub(super) fn enter_once(&mut self, phase: Phase) {
        self.deadlines.enter_once(phase);
    }

    /// The total of a call whose answer turned out to be a stream, or not to be one.
    pub(super) fn answer_is_stream(&mut self, stream: bool) {
        let total = total_of(self.limits(), stream, self.asked_total);
        self.deadlines.set_total(self.began, total);
    }

    pub(super) fn note_event(&mut self) {
        if self.first_event.is_none() && self.config.observer.listens() {
            self.first_event = Some(Instant::now());
        }
        self.deadlines.note_event();
    }

    /// Frames go out in which no event ended: the gap between events counts only while the consumer polls.
    pub(super) fn hand_out_without_event(&mut self) {
        if self.deadlines.counts_gap() {
            let (gap, waited) = (self.limits().event_gap, self.waited);
            self.deadlines.hand_out_without_event(Instant::now(), gap, waited);
        }
    }

    /// The consumer asks for more.
    pub(super) fn consumer_is_back(&mut self) {
        if self.deadlines.stands_still() {
            self.deadlines.look(Instant::now());
        }
    }

    /// Bytes came behind the last event, in its own frame.
    pub(super) fn note_bytes_behind_event(&mut self) {
        self.deadlines.note_bytes_behind_event();
    }

    /// Notes a frame that came.
    pub(super) fn note_frame(&mut self, len: usize) {
        if len > 0 {
            self.deadlines.note_bytes();
        }
        self.waited = std::mem::take(&mut self.pending);
        self.frames_unchecked += 1;
        self.bytes_unchecked = self.bytes_unchecked.saturating_add(len);
        self.bytes = self.bytes.saturating_add(len as u64);
    }

    /// After a frame was judged: which bound was reached, if so much came without a Pending that the clock is due to
    /// be read.
    #[inline(always)]
    pub(super) fn check_bounds(&mut self) -> Option<Due> {
        if self.frames_unchecked < FRAMES_UNCHECKED && self.bytes_unchecked < BYTES_UNCHECKED {
            return None;
        }
        self.check_bounds_now()
    }

    #[inline(never)]
    fn check_bounds_now(&mut self) -> Option<Due> {
        self.frames_unchecked = 0;
        self.bytes_unchecked = 0;
        let now = Instant::now();
        self.deadlines.look(now);
        Some(self.deadlines.due(self.limits())).filter(|due| now >= due.at)
    }

    /// What is left of the call's total.
    pub(super) fn left(&self) -> Duration {
        self.deadlines.total().at.saturating_duration_since(self.dispatched)
    }

    /// The call ended well, as the judge of its whole answer read it. What that says is asked for where somebody listens.
    #[inline]
    pub(super) fn succeed_as_judged(&mut self, facts: Option<&Facts>) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        let Some(facts) = facts.filter(|_| self.config.observer.listens()) else { return };
        let task_id = Some(facts.task_id.as_str()).filter(|id| !id.is_empty());
        self.observe(OutcomeKind::Success, Class::Success, None, task_id, facts.state, facts.tolerated);
    }

    /// The call ended well, and all that is known of it was noted in `seen`.
    pub(super) fn succeed_as_seen(&mut self) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        self.call.note_ended_well();
        let Seen { task_id, task_state, tolerated, .. } = &self.seen;
        self.observe(OutcomeKind::Success, Class::Success, None, task_id.as_deref(), *task_state, *tolerated);
    }

    /// The call ended well after all: its task had finished.
    pub(super) fn succeed_as_rescued(&mut self, rescued: &Rescued, events: u64) {
        self.seen.events += events;
        self.seen.task_id = self.seen.task_id.take().or_else(|| self.call.task_id().map(Into::into));
        self.seen.task_state = Some(rescued.state);
        self.seen.tolerated.insert(Tolerated::RECONCILED);
        self.succeed_as_seen();
    }

    /// The call ended, in a way that its caller sees from an answer that passes as it is.
    pub(super) fn settle_as(&mut self, kind: OutcomeKind, class: Class) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        let Seen { task_id, task_state, tolerated, .. } = &self.seen;
        self.observe(kind, class, None, task_id.as_deref(), *task_state, *tolerated);
    }

    /// The call failed.
    pub(super) fn fail(&mut self, error: &CallError) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        let recovery = self.canceller().filter(|recovery| recovery.cancels_on_failure());
        if let (Some(recovery), Some(origin), Some(task_id)) = (recovery, &self.origin, error.task_id())
            && is_loss(error)
        {
            recovery.cancel(origin, task_id);
        }
        let (task_id, state) = (error.task_id(), error.task_state());
        self.observe(error.outcome(), error.class(), Some(error), task_id, state, error.tolerated());
    }

    /// Asks what became of the task of a failed call, if that is wanted.
    pub(super) fn rescue(&self, error: &CallError) -> Option<Rescue> {
        let recovery = self.config.recovery.as_ref().filter(|recovery| recovery.reconciles())?;
        let origin = self.origin.as_ref()?;
        let task_id = error.task_id()?;
        // A connection that was lost before any answer may have lost the message too: what has become of the task since
        // says nothing of it.
        let sends = self.call.operation().is_some_and(Operation::is_send);
        let may_be_undelivered = sends && error.class() == Class::ConnectionLost && self.seen.task_id.is_none();
        // What comes of it goes out as the answer, or as an event, and may be as large as one.
        let limits = self.limits();
        let max = if self.call.is_streaming() { limits.max_event } else { limits.max_unary_body };
        (is_loss(error) && !may_be_undelivered).then(|| recovery.ask(origin, task_id, max)).flatten()
    }

    /// Who only watches a task does not end it: a call that sent none cancels none.
    fn canceller(&self) -> Option<&Recovery> {
        self.config.recovery.as_ref().filter(|_| self.call.operation().is_some_and(Operation::is_send))
    }

    pub(super) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    fn observe(
        &self,
        kind: OutcomeKind,
        class: Class,
        error: Option<&CallError>,
        task_id: Option<&str>,
        task_state: Option<TaskState>,
        tolerated: Tolerated,
    ) {
        if !self.config.observer.listens() {
            return;
        }
        if let Some(error) = error {
            error.failure().told.set();
        }
        self.config.observer.observe(&Outcome {
            kind,
            class,
            call: &self.call,
            target: self.target.as_ref().or_else(|| self.call.target()),
            error,
            status: self.seen.status,
            grpc_code: self.seen.grpc_code,
            task_id,
            task_state,
            events: self.seen.events,
            tolerated,
            began: self.began,
            first_event: self.first_event,
            bytes: self.bytes,
            #[cfg(feature = "tracing")]
            span: self.span.as_ref(),
        });
    }
}

#[cold]
fn own_bounds(shared: &Bounds, by: &LimitOverrides, stream: bool) -> Box<Bounds> {
    Box::new(Bounds::new(shared.overridden(by).cut_to_total(stream)))
}

/// The whole of a call; no longer than the request itself gives it.
fn total_of(bounds: &Bounds, stream: bool, asked: Option<Duration>) -> Duration {
    let total = bounds.total_of(stream);
    asked.map_or(total, |asked| total.min(asked))
}

/// From the call to the response head. A request that nobody read may be a send: JSON-RPC without a `CallLayer`.
fn head_of(call: &Call, bounds: &Bounds, unread: bool) -> Duration {
    if call.is_blocking() || (call.operation().is_none() && unread) { bounds.blocking_head } else { bounds.head }
}

impl<O> Drop for Flight<O>
where
    O: Observe,
{
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        if self.seen.task_id.is_none() && self.seen.status.is_some() && self.seen.events == 0 {
            self.note_what_came();
        }
        // Who lets go of a task that waits for input or a credential has all there is for now.
        if self.seen.task_state.is_some_and(|state| state.is_interrupted()) {
            return self.succeed_as_seen();
        }
        self.settle_as(OutcomeKind::Abandoned, Class::Abandoned);
        let recovery = self.canceller().filter(|recovery| recovery.cancels_on_drop());
        let task_id = self.seen.task_id.as_deref().or_else(|| self.call.task_id());
        if let (Some(recovery), Some(origin), Some(task_id)) = (recovery, &self.origin, task_id) {
            recovery.cancel(origin, task_id);
        }
    }
}
