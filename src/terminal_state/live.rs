//! A stream of events on its way through: judged as it passes, each event handed on as soon as it is found good.

mod grpc;

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE, response::Parts};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;

use super::{
    answer::{AnyStreamJudge, StreamExpected},
    contained::Contained,
    deadline::{Due, Phase},
    flight::{Boxed, FRAMES_PER_POLL, Flight, Rescue},
    judging,
    pieces::{Pieces, event_of},
    shape,
};
use crate::{
    error::{BoxError, CallError, PeerResponse},
    outcome::{Class, Observe, OutcomeKind},
    wire::{
        Facts, Finish, Flaw, Judge, MediaType, PeerError, Progress, StepKind, Tolerated, Verdict,
        grpc::status::drop_status, sse::event_data,
    },
};

pin_project! {
    pub(super) struct Live<B, O>
    where
        O: Observe,
    {
        // Dropped when the stream is over, and with it the connection's hold on it.
        #[pin]
        body: Option<Contained<B>>,
        rest: Rest<O>,
    }
}

/// All of a stream but the body that it comes from.
struct Rest<O>
where
    O: Observe,
{
    timed: Boxed<O>,
    judge: AnyStreamJudge,
    expected: StreamExpected,
    strict: bool,
    /// Bytes of an event that has not ended yet.
    held: Pieces,
    /// Bytes that may go out.
    out: Pieces,
    /// How much came in earlier frames, all of it before the first event.
    prelude: usize,
    /// Whether an event ended in what goes out next.
    event_in_out: bool,
    trailers: Option<HeaderMap>,
    /// The fields of the head, for a refusal that comes later.
    headers: HeaderMap,
    /// The head, until the first event is there and the caller gets it.
    head: Option<Box<Parts>>,
    rescue: Option<(Rescue, CallError)>,
    failure: Option<CallError>,
    over: bool,
}

impl<B, O> Live<B, O>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
    O: Observe,
{
    pub(super) fn new(body: Contained<B>, mut head: Parts, expected: StreamExpected, mut timed: Boxed<O>) -> Self {
        let flight = timed.as_mut().flight();
        flight.enter(Phase::FirstEvent);
        let task_first = shape::task_comes_first(&flight.call, expected);
        let judge = AnyStreamJudge::new(expected, flight.limits().max_event, task_first);
        let strict = flight.config.strict;
        let headers = head.headers.clone();
        if matches!(expected, StreamExpected::Messages { has_status: true, .. }) {
            // How the stream ends say its trailers. Clients that find a status before those do not look at them.
            drop_status(&mut head.headers);
        }
        let rest = Rest {
            timed,
            judge,
            expected,
            strict,
            held: Pieces::default(),
            out: Pieces::default(),
            prelude: 0,
            event_in_out: false,
            trailers: None,
            headers,
            head: Some(Box::new(head)),
            rescue: None,
            failure: None,
            over: false,
        };
        Self { body: Some(body), rest }
    }

    /// The head, once the first event is in hand; or why there will be none.
    pub(super) fn poll_first_event(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Parts, CallError>> {
        for _ in 0..FRAMES_PER_POLL {
            let rest = self.as_mut().project().rest;
            if (rest.timed.get().seen.events > 0 || (rest.over && rest.failure.is_none()))
                && let Some(head) = rest.head.take()
            {
                return Poll::Ready(Ok(*head));
            }
            if let Some(failure) = rest.failure.take() {
                return Poll::Ready(Err(failure));
            }
            if let Some(data) = ready!(self.as_mut().advance(cx)) {
                self.as_mut().project().rest.keep(data);
            }
        }
        // A body that is always ready must not keep its thread from everything else.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    pub(super) fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        self.as_mut().project().rest.timed.as_mut().flight().consumer_is_back();
        for _ in 0..FRAMES_PER_POLL {
            let rest = self.as_mut().project().rest;
            if let Some(bytes) = rest.next_out() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if let Some(failure) = rest.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            if rest.over {
                return Poll::Ready(rest.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
            }
            if let Some(data) = ready!(self.as_mut().advance(cx)) {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    pub(super) fn is_over(&self) -> bool {
        let rest = &self.rest;
        rest.over && rest.out.is_empty() && rest.failure.is_none() && rest.trailers.is_none()
    }

    /// Takes the next step: one frame, the end, or a bound that was reached. Gives a frame that goes on as it came, ahead
    /// of all that comes of later steps; whatever else goes out is then in `out`.
    #[inline(always)]
    fn advance(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        let rest = this.rest;
        if rest.rescue.is_none()
            && let Some(mut body) = this.body.as_mut().as_pin_mut()
        {
            // The frame is judged where it lies: what was just written is slow to move.
            let mut polled = body.as_mut().poll_frame(cx);
            match &mut polled {
                Poll::Ready(Some(Ok(frame))) => match frame.data_mut() {
                    Some(data) => {
                        if rest.frame_came(data) {
                            return Poll::Ready(Some(std::mem::take(data)));
                        }
                    }
                    None => rest.trailers_came(frame.trailers_mut().map(std::mem::take)),
                },
                Poll::Ready(Some(Err(_))) => {
                    if let Poll::Ready(Some(Err(error))) = polled {
                        rest.broke_off(|flight| flight.cut(error.into()));
                    }
                }
                Poll::Ready(None) => rest.ended(),
                Poll::Pending => match body.panicked() {
                    Some(panicked) => rest.broke_off(|flight| flight.panicked(panicked)),
                    None => {
                        let due = ready!(rest.timed.as_mut().poll_bounds(cx));
                        rest.bound_reached(due);
                    }
                },
            }
            if rest.over || rest.rescue.is_some() {
                this.body.set(None);
            }
        } else if let Some((rescue, _)) = &mut rest.rescue {
            let rescued = ready!(rescue.as_mut().poll(cx));
            rest.end_of_rescue(rescued);
        } else {
            // Nothing is polled again that has ended.
            rest.over = true;
        }
        Poll::Ready(None)
    }
}

impl<O> Rest<O>
where
    O: Observe,
{
    /// What goes out next of what was collected.
    fn next_out(&mut self) -> Option<Bytes> {
        let bytes = self.out.pop()?;
        if !self.event_in_out {
            self.timed.as_mut().flight().hand_out_without_event();
        }
        if self.out.is_empty() {
            self.event_in_out = false;
        }
        Some(bytes)
    }

    /// A frame came. True if it goes on as it is; else all of it was taken.
    #[inline(always)]
    fn frame_came(&mut self, data: &mut Bytes) -> bool {
        self.timed.as_mut().flight().note_frame(data.len());
        let passes = self.take_in(data);
        if !self.over
            && self.rescue.is_none()
            && let Some(due) = self.timed.as_mut().flight().check_bounds()
        {
            if passes {
                self.keep(std::mem::take(data));
            }
            self.bound_reached(due);
            return false;
        }
        passes
    }

    /// A frame that could go on as it is has to wait after all.
    fn keep(&mut self, data: Bytes) {
        self.out.push(data);
        self.event_in_out = true;
    }

    fn trailers_came(&mut self, trailers: Option<HeaderMap>) {
        self.trailers = trailers;
        self.timed.as_mut().flight().note_frame(0);
        if self.is_grpc() {
            return self.messages_ended();
        }
        if let Some(due) = self.timed.as_mut().flight().check_bounds() {
            self.bound_reached(due);
        }
    }

    /// Judges a frame: what is found good goes out, what is unfinished is held. True if the whole of it is good events,
    /// with nothing before it to wait for: then it is left where it is.
    fn take_in(&mut self, data: &mut Bytes) -> bool {
        let mut at = 0;
        let mut good = 0;
        let mut event_end = 0;
        while at < data.len() && !self.judge.passes_all() {
            let step = self.judge.step(&data[at..], self.timed.get().id());
            at += step.consumed;
            match step.kind {
                StepKind::Event => {
                    if self.strict
                        && let Some(error) = self.strictly()
                    {
                        self.let_out(data.split_to(good));
                        self.fail(error);
                        return false;
                    }
                    good = at;
                    event_end = at;
                    self.event_ended();
                }
                StepKind::Boundary => {
                    good = at;
                    if self.is_prelude_too_long(&data[..at]) {
                        let error = self.timed.get().broken(Class::TooLarge, "comments without end, and no event");
                        self.fail(error);
                        return false;
                    }
                }
                StepKind::Held => break,
                StepKind::Error => {
                    self.let_out(data.split_to(good));
                    self.held.push(data.split_to(at - good));
                    self.refused();
                    return false;
                }
                StepKind::Flawed(flaw) => {
                    self.let_out(data.split_to(good));
                    self.held.push(data.split_to(at - good));
                    self.flawed(flaw);
                    return false;
                }
            }
        }
        self.prelude = self.prelude.saturating_add(data.len());
        if event_end > 0 && event_end == data.len() && self.held.is_empty() && self.out.is_empty() {
            self.event_in_out = false;
            return true;
        }
        if event_end > 0 && event_end < data.len() {
            self.timed.as_mut().flight().note_bytes_behind_event();
        }
        let mut data = std::mem::take(data);
        // Behind the end of the task nothing is judged any more, and all of it passes.
        if good == data.len() || self.judge.passes_all() {
            self.let_out(data);
        } else {
            self.let_out(data.split_to(good));
            self.held.push(data);
        }
        false
    }

    /// Comments that come before the first event are kept for the caller, but not without end. A line feed at the end
    /// does not count: a cut may have separated it from its carriage return.
    fn is_prelude_too_long(&self, frame: &[u8]) -> bool {
        let comments = frame.strip_suffix(b"\n").unwrap_or(frame).len();
        self.timed.get().seen.events == 0 && self.prelude.saturating_add(comments) > self.timed.get().limits().max_event
    }

    /// What was held and `data` behind it may go out.
    fn let_out(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        if !self.held.is_empty() {
            self.held.append_to(&mut self.out);
        }
        self.out.push(data);
    }

    /// What `strict` says of the event that ended: it is not handed on, but what it says of the task is known.
    fn strictly(&mut self) -> Option<CallError> {
        self.timed.get().strictly(self.judge.tolerated())?;
        let events = self.timed.get().seen.events;
        self.note_seen();
        self.timed.as_mut().flight().seen.events = events;
        self.timed.get().strictly(self.judge.tolerated())
    }

    /// An event was found good.
    fn event_ended(&mut self) {
        self.event_in_out = true;
        self.timed.as_mut().flight().note_event();
        self.note_seen();
        match self.judge.progress() {
            Progress::Open => self.timed.as_mut().flight().enter_once(Phase::Events),
            Progress::InputRequired => self.timed.as_mut().flight().enter_once(Phase::Linger),
            Progress::AuthRequired => self.timed.as_mut().flight().enter_once(Phase::AuthWait),
            Progress::Done => {
                self.timed.as_mut().flight().enter(Phase::Linger);
                self.timed.as_mut().flight().succeed_as_seen();
            }
        }
    }

    fn note_seen(&mut self) {
        let seen = &mut self.timed.as_mut().flight().seen;
        seen.events = self.judge.events();
        seen.task_state = self.judge.state();
        seen.tolerated = self.judge.tolerated();
        if seen.task_id.is_none() {
            seen.task_id = self.judge.task_id().map(Into::into);
        }
    }

    /// The task rests: whatever the transport does now, the stream is a success.
    fn rests(&self) -> bool {
        self.judge.progress() != Progress::Open
    }

    fn end_well(&mut self) {
        if self.is_grpc() {
            self.end_messages_well();
        }
        self.held.append_to(&mut self.out);
        self.timed.as_mut().flight().succeed_as_seen();
        self.over = true;
    }

    fn bound_reached(&mut self, due: Due) {
        if due.class == Class::Success || self.judge.progress() == Progress::Done {
            return self.end_well();
        }
        self.note_task_of_held();
        let error = self.timed.get().timeout(due);
        self.fail(error);
    }

    fn broke_off(&mut self, error: impl FnOnce(&Flight<O>) -> CallError) {
        if self.rests() {
            return self.end_well();
        }
        self.note_task_of_held();
        let error = error(self.timed.get());
        self.fail(error);
    }

    fn ended(&mut self) {
        if self.judge.progress() == Progress::Done {
            return self.end_well();
        }
        let AnyStreamJudge::Events(judge) = &mut self.judge else { return self.messages_ended() };
        match judge.finish(self.timed.get().id()) {
            Finish::Clean => {}
            Finish::Event { missing } => {
                if let Some(error) = self.strictly() {
                    return self.fail(error);
                }
                self.held.append_to(&mut self.out);
                self.out.push(Bytes::from_static(missing));
                self.event_ended();
            }
            Finish::Error => return self.refused(),
            Finish::Cut if self.rests() => return self.end_well(),
            Finish::Cut => return self.truncated("the stream ended within an event"),
            Finish::Flawed(flaw) => return self.flawed(flaw),
            Finish::Unframed => return self.unframed(),
        }
        if self.rests() {
            self.end_well();
        } else if self.timed.as_mut().flight().seen.events == 0 {
            self.flawed(Flaw::Empty);
        } else {
            self.truncated("the stream ended before its task rested");
        }
    }

    fn truncated(&mut self, what: &'static str) {
        self.note_task_of_held();
        let error = self.timed.get().broken(Class::Truncated, what);
        self.fail(error);
    }

    fn flawed(&mut self, flaw: Flaw) {
        // Only of gRPC is anything looked at behind the end of the task.
        if self.judge.progress() == Progress::Done {
            return self.end_well();
        }
        self.note_task_of_held();
        let error = self.timed.get().flawed(flaw);
        self.fail(error);
    }

    /// An event of the wrong shape, or the beginning of one, may still name the task that it leaves behind.
    fn note_task_of_held(&mut self) {
        if self.held.is_empty() || self.timed.get().seen.task_id.is_some() {
            return;
        }
        let flight = self.timed.as_mut().flight();
        let tolerated = flight.seen.tolerated;
        match (&mut self.judge, self.expected) {
            (AnyStreamJudge::Messages(judge), _) => flight.note_facts(judge.last()),
            (_, StreamExpected::Events(expected)) => {
                let mut judge = Judge::new(expected);
                judge.feed(&event_data(&self.held.prefix(self.held.len())));
                judge.finish(flight.id());
                flight.note_facts(judge.facts());
            }
            _ => {}
        }
        flight.seen.tolerated = tolerated;
    }

    /// The event that is held is an error.
    fn refused(&mut self) {
        let raw = self.held.prefix(self.held.len());
        let data = event_data(&raw);
        self.refuse(&data, raw.slice(..raw.len().min(self.timed.get().limits().max_refusal)), raw.len());
    }

    fn refuse(&mut self, data: &[u8], kept: Bytes, len: usize) {
        let StreamExpected::Events(expected) = self.expected else { return };
        self.note_seen();
        let mut judge = Judge::new(expected);
        judge.feed(data);
        judge.finish(self.timed.get().id());
        self.timed.as_mut().flight().seen.tolerated.insert(judge.facts().tolerated);
        let max = self.timed.get().limits().max_refusal;
        let mut failure = self.timed.get().failure(OutcomeKind::Refused, Class::PeerError, "the peer refused");
        let peer = match data.get(..=max) {
            Some(_) => PeerError::scan(data),
            None => PeerError::parse(data, MediaType::Json),
        };
        failure.peer = peer.map(Box::new);
        failure.seen.retry_after = judging::retry_after(&self.headers);
        failure.response = Some(PeerResponse {
            status: self.timed.get().status(),
            headers: self.headers.clone(),
            truncated: kept.len() < len,
            body: kept,
            trailers: None,
        });
        self.fail(CallError::new(failure));
    }

    /// A JSON document under the media type of streams: an error in it is the peer's answer all the same.
    fn unframed(&mut self) {
        let StreamExpected::Events(expected) = self.expected else { return };
        let mut judge = Judge::new(shape::downgraded(expected));
        self.held.iter().for_each(|piece| judge.feed(piece));
        match judge.finish(self.timed.get().id()) {
            Verdict::Error => {
                let kept = self.held.prefix(self.timed.get().limits().max_refusal);
                self.refuse(&kept.clone(), kept, self.held.len());
            }
            Verdict::Valid => self.downgraded(judge.facts()),
            Verdict::Flawed(flaw) => self.flawed(flaw),
        }
    }

    /// One result stands where a stream was asked: refused, or adapted into its one event.
    fn downgraded(&mut self, facts: &Facts) {
        let adapts = self.timed.get().config.adapt_downgrade;
        self.timed.as_mut().flight().note_facts(facts);
        if !adapts {
            let error = self.timed.get().broken(Class::SilentDowngrade, "one JSON result where a stream was asked");
            return self.fail(error);
        }
        let seen = &mut self.timed.as_mut().flight().seen;
        seen.events = 1;
        seen.tolerated.insert(Tolerated::DOWNGRADE_ADAPTED);
        if let Some(head) = &mut self.head {
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        }
        self.out.push(event_of(&self.held));
        self.held.clear();
        self.timed.as_mut().flight().succeed_as_seen();
        self.over = true;
    }

    fn fail(&mut self, error: CallError) {
        self.held.clear();
        self.trailers = None;
        if let Some(rescue) = self.timed.get().rescue(&error) {
            self.rescue = Some((rescue, error));
            return;
        }
        self.timed.as_mut().flight().fail(&error);
        self.failure = Some(error);
        self.over = true;
    }

    fn end_of_rescue(&mut self, rescued: Option<super::rescue::Rescued>) {
        let Some((_, error)) = self.rescue.take() else { return };
        match (rescued, self.timed.get().origin()) {
            (Some(rescued), Some(origin)) => {
                let event = origin.event(&rescued);
                self.out.push(event);
                if self.is_grpc() {
                    self.end_messages_well();
                }
                self.timed.as_mut().flight().succeed_as_rescued(&rescued, 1);
            }
            _ => {
                self.timed.as_mut().flight().fail(&error);
                self.failure = Some(error);
            }
        }
        self.over = true;
    }
}
