//! An answer that is judged as a whole: read within its cap, frame by frame, and handed on as the same frames.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body::Body;

use super::{
    answer::{AnswerJudge, Purpose, WholeExpected},
    contained::{Contained, Panicked},
    deadline::{Due, Phase},
    flight::{FRAMES_PER_POLL, Flight, Timed},
    grpc::{self, Kept},
    judging,
    pieces::{Pieces, event_of},
    status,
};
use crate::{
    error::{BoxError, CallError, PeerResponse},
    outcome::{Class, Observe},
    wire::{
        Expected, Facts, Flaw, GrpcEnd, GrpcJudge, JsonRpcId, Judge, LONGEST_KNOWN, PeerError, Tolerated, Verdict,
        grpc::frame::PREFIX,
    },
};

/// An answer as it is read. All that came of it is in the flight.
struct Whole<'a, O>
where
    O: Observe,
{
    flight: &'a mut Flight<O>,
}

/// What became of the whole. One that is good is in the flight, as it is to be handed on.
pub(super) type Judged = Result<(), CallError>;

/// Behind the head: reading begins.
#[inline]
pub(super) fn begin<O>(purpose: Purpose, expected: Option<WholeExpected>, flight: &mut Flight<O>)
where
    O: Observe,
{
    flight.enter(if flight.call.is_streaming() { Phase::FirstEvent } else { Phase::Body });
    flight.answer.purpose = purpose;
    flight.answer.expected = expected;
}

/// Reads on, until there is a verdict.
pub(super) fn poll<B, O>(
    mut body: Pin<&mut Contained<B>>,
    cx: &mut Context<'_>,
    mut timed: Pin<&mut Timed<O>>,
) -> Poll<Judged>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
    O: Observe,
{
    for _ in 0..FRAMES_PER_POLL {
        let frame = body.as_mut().poll_frame(cx);
        if frame.is_pending() {
            if let Some(panicked) = body.as_mut().panicked() {
                let flight = timed.as_mut().flight();
                return Poll::Ready(Whole { flight }.panicked(panicked));
            }
            let due = ready!(timed.as_mut().poll_bounds(cx));
            let flight = timed.as_mut().flight();
            return Poll::Ready(Whole { flight }.bound_reached(due));
        }
        let mut whole = Whole { flight: timed.as_mut().flight() };
        let judged = match ready!(frame) {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => whole.data_came(data),
                Err(frame) => whole.trailers_came(frame.into_trailers().ok()),
            },
            Some(Err(error)) => Some(whole.broke_off(error.into())),
            None => Some(whole.ended()),
        };
        if let Some(judged) = judged {
            return Poll::Ready(judged);
        }
    }
    // A body that is always ready must not keep its thread from everything else.
    cx.waker().wake_by_ref();
    Poll::Pending
}

impl<O> Whole<'_, O>
where
    O: Observe,
{
    fn data_came(&mut self, data: Bytes) -> Option<Judged> {
        self.flight.note_frame(data.len());
        if let Some(judged) = self.take_in(data) {
            return Some(judged);
        }
        self.flight.check_bounds().map(|due| self.bound_reached(due))
    }

    fn trailers_came(&mut self, trailers: Option<HeaderMap>) -> Option<Judged> {
        self.flight.answer.trailers = trailers.map(Box::new);
        self.flight.note_frame(0);
        // Of gRPC they are the end, whatever the transport still does.
        if self.flight.answer.trailers.is_some() && self.flight.grpc.is_some() {
            return Some(self.ended());
        }
        self.flight.check_bounds().map(|due| self.bound_reached(due))
    }

    fn take_in(&mut self, data: Bytes) -> Option<Judged> {
        if self.flight.answer.purpose == Purpose::Refusal {
            return self.keep(data);
        }
        let max = self.max_body();
        let room = max - self.flight.answer.pieces.len();
        if data.len() > room {
            return Some(Err(self.too_large(data.slice(..room))));
        }
        let flaw = self.flight.answer.take_in(data)?;
        Some(Err(self.flawed_early(flaw)))
    }

    #[cold]
    fn flawed_early(&mut self, flaw: Flaw) -> CallError {
        self.flight.note_what_came();
        match flaw {
            Flaw::TooLarge => self.flight.broken(Class::TooLarge, "the message is larger than max_unary_body"),
            flaw => self.flight.flawed(flaw),
        }
    }

    #[cold]
    fn too_large(&mut self, last: Bytes) -> CallError {
        self.flight.answer.take_in(last);
        self.flight.note_what_came();
        self.flight.broken(Class::TooLarge, "the body is larger than max_unary_body")
    }

    /// The first of an error's body. The rest is not waited for.
    #[cold]
    fn keep(&mut self, data: Bytes) -> Option<Judged> {
        let max = self.flight.limits().max_refusal;
        let answer = &mut self.flight.answer;
        let room = max - answer.pieces.len().min(max);
        answer.truncated = data.len() > room;
        answer.pieces.push(data.slice(..data.len().min(room)));
        answer.truncated.then(|| self.refusal(Tolerated::default()))
    }

    fn ended(&mut self) -> Judged {
        let Some(expected) = self.flight.answer.expected.filter(|_| self.flight.answer.purpose != Purpose::Refusal)
        else {
            return self.refusal(Tolerated::default());
        };
        if let Some(judge) = self.flight.answer.judge.take() {
            return match *judge {
                AnswerJudge::Json(mut judge) => self.document_ended(&mut judge),
                AnswerJudge::Grpc(judge) => self.message_ended(&judge),
            };
        }
        // Nobody judges yet, so there is no second piece.
        match expected {
            WholeExpected::Json(expected) => {
                if let Some(known) = self.find_known(expected) {
                    return known;
                }
                let mut judge = Judge::new(expected);
                judge.feed(self.flight.answer.pieces.first().unwrap_or_default());
                let judged = self.document_ended(&mut judge);
                if judged.is_ok() {
                    self.learn(expected);
                }
                judged
            }
            WholeExpected::Message { expected, max, .. } => {
                // A compressed message is judged as it comes.
                let mut judge = GrpcJudge::new(expected, max);
                judge.feed(self.flight.answer.pieces.first().unwrap_or_default());
                self.message_ended(&judge)
            }
        }
    }

    /// Is the answer like one before? Then it need not be judged. What answers look like is shared by all calls of the
    /// layer, and nobody waits for it: to judge is quicker.
    #[inline(always)]
    fn find_known(&mut self, expected: Expected) -> Option<Judged> {
        if !self.may_be_known() {
            return None;
        }
        let config = &*self.flight.config;
        let document = self.flight.answer.pieces.first()?;
        // Asked before: nobody else's code runs, and perhaps panics, with what is shared in hand.
        let listens = config.observer.listens();
        let mut answers = config.known.try_lock().ok()?;
        let known = answers.find(expected, document, self.flight.id())?;
        let facts = listens.then(|| known.facts());
        drop(answers);
        self.flight.succeed_as_judged(facts.as_ref());
        Some(Ok(()))
    }

    #[inline(never)]
    fn learn(&mut self, expected: Expected) {
        if self.may_be_known()
            && let Some(document) = self.flight.answer.pieces.first()
            && let Ok(mut known) = self.flight.config.known.try_lock()
        {
            known.learn(expected, document, self.flight.id());
        }
    }

    fn may_be_known(&self) -> bool {
        self.flight.answer.purpose == Purpose::Result && self.flight.answer.pieces.len() <= LONGEST_KNOWN
    }

    fn document_ended(&mut self, judge: &mut Judge) -> Judged {
        let verdict = judge.finish(self.flight.id());
        let facts = judge.facts();
        match verdict {
            Verdict::Valid => self.valid(facts),
            Verdict::Error => self.refusal(facts.tolerated),
            Verdict::Flawed(Flaw::Empty) if self.empty_is_due() => {
                self.flight.succeed_as_seen();
                Ok(())
            }
            Verdict::Flawed(flaw) => {
                self.flight.note_facts(facts);
                Err(self.flight.flawed(flaw))
            }
        }
    }

    /// A gRPC answer is at its end: its status has the first word, and its message the next.
    fn message_ended(&mut self, judge: &GrpcJudge) -> Judged {
        let facts = judge.facts();
        match self.flight.answer.grpc_status() {
            Some(status) if status.is_ok() => {}
            Some(_) => {
                self.flight.note_facts(facts);
                return self.refusal(facts.tolerated);
            }
            None => {
                self.flight.note_facts(facts);
                return Err(self.flight.broken(Class::Truncated, "the answer ended without grpc-status"));
            }
        }
        match judge.finish() {
            GrpcEnd::Message => {
                self.flight.answer.make_readable();
                self.valid(facts)
            }
            GrpcEnd::Empty => Err(self.flight.flawed(Flaw::Empty)),
            GrpcEnd::Cut => {
                self.flight.note_facts(facts);
                Err(self.flight.broken(Class::Truncated, "the answer ended within its message"))
            }
            GrpcEnd::Flawed(flaw) => {
                self.flight.note_facts(facts);
                Err(self.flight.flawed(flaw))
            }
        }
    }

    #[inline]
    fn valid(&mut self, facts: &Facts) -> Judged {
        if !facts.tolerated.is_empty() && self.flight.config.strict {
            self.flight.note_facts(facts);
            if let Some(error) = self.flight.strictly(facts.tolerated) {
                return Err(error);
            }
        }
        if self.flight.answer.purpose == Purpose::Downgrade {
            return self.downgraded(facts);
        }
        self.flight.succeed_as_judged(Some(facts));
        Ok(())
    }

    /// Who got a JSON-RPC request without an id must not answer it; with one, a reply is due even where it has nothing
    /// to say (JSON-RPC 2.0 §4.1 and §5).
    fn empty_is_due(&self) -> bool {
        matches!(self.flight.answer.expected, Some(WholeExpected::Json(_)))
            && self.flight.answer.purpose != Purpose::Refusal
            && self.flight.call.id() == Some(&JsonRpcId::Absent)
    }

    /// One result answers a streaming call: refused, or adapted into a stream of one event.
    #[cold]
    fn downgraded(&mut self, facts: &Facts) -> Judged {
        self.flight.note_facts(facts);
        if !self.flight.config.adapt_downgrade {
            return Err(self.flight.broken(Class::SilentDowngrade, "one JSON result where a stream was asked"));
        }
        let answer = &mut self.flight.answer;
        answer.pieces = Pieces::of(event_of(&answer.pieces));
        answer.trailers = None;
        if let Some(head) = &mut answer.head {
            head.headers.remove(CONTENT_LENGTH);
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        }
        self.flight.seen.events = 1;
        self.flight.seen.tolerated.insert(Tolerated::DOWNGRADE_ADAPTED);
        self.flight.succeed_as_seen();
        Ok(())
    }

    /// The answer says no, by its status or by an error object in it.
    #[cold]
    fn refusal(&mut self, tolerated: Tolerated) -> Judged {
        let flight = &mut *self.flight;
        let headers = flight.answer.take_headers();
        let trailers = flight.answer.trailers.take();
        let kept = flight.answer.pieces.prefix(flight.limits().max_refusal);
        let whole_len = flight.answer.pieces.len();
        let truncated = flight.answer.truncated || kept.len() < whole_len;
        if flight.grpc.is_some()
            && let Some(status) = grpc::status_of(&headers, trailers.as_deref())
            && !status.is_ok()
        {
            let kept = Kept { headers: &headers, trailers: trailers.as_deref(), body: kept, truncated };
            return Err(kept.refused(status, flight));
        }
        let by_status = flight.answer.purpose == Purpose::Refusal;
        let peer = PeerError::parse(&kept, judging::media_type(&headers));
        // Larger than what is kept, and read to its end all the same: a result was due.
        let peer = peer.or_else(|| match by_status || kept.len() == whole_len {
            true => None,
            false => PeerError::scan(&flight.answer.pieces.prefix(usize::MAX)),
        });
        let verdict = if by_status {
            let names_task = flight.call.task_id().is_some();
            status::with_body(flight.status(), flight.call.binding(), names_task, peer.as_ref())
        } else {
            status::PEER_ERROR
        };
        let mut failure = flight.failure(verdict.kind, verdict.class, verdict.what);
        failure.peer = peer.map(Box::new);
        failure.seen.tolerated = tolerated;
        failure.seen.retry_after = judging::retry_after(&headers);
        failure.response = Some(PeerResponse {
            status: flight.status(),
            headers,
            truncated,
            body: kept,
            trailers: trailers.map(|trailers| *trailers),
        });
        Err(CallError::new(failure))
    }

    #[cold]
    fn broke_off(&mut self, error: BoxError) -> Judged {
        self.cut_short(|flight| flight.cut(error))
    }

    #[cold]
    fn panicked(&mut self, panicked: Panicked) -> Judged {
        self.cut_short(|flight| flight.panicked(panicked))
    }

    #[cold]
    fn bound_reached(&mut self, due: Due) -> Judged {
        self.cut_short(|flight| flight.timeout(due))
    }

    /// The body did not come to its end: that is the error, unless it makes no difference.
    fn cut_short(&mut self, error: impl FnOnce(&Flight<O>) -> CallError) -> Judged {
        if self.status_decides() {
            self.flight.answer.truncated = true;
            return self.refusal(Tolerated::default());
        }
        self.flight.note_what_came();
        Err(error(self.flight))
    }

    /// Whether the head said it all, whatever becomes of the body.
    fn status_decides(&self) -> bool {
        self.flight.answer.purpose == Purpose::Refusal && status::by_status_alone(self.flight.status()).is_some()
    }

    /// The most that a body may have. Of gRPC it is the message that is bounded.
    fn max_body(&self) -> usize {
        let max = self.flight.limits().max_unary_body;
        if self.flight.grpc.is_some() { max.saturating_add(PREFIX) } else { max }
    }
}
