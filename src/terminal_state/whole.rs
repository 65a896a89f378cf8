//! An answer that is judged as a whole: read within its cap, frame by frame, and handed on as the same frames.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    response::Parts,
};
use http_body::Body;

use super::{
    answer::AnswerJudge,
    body::Replay,
    contained::{Contained, Panicked},
    deadline::{Due, Phase},
    flight::{FRAMES_PER_POLL, Flight, Timed},
    grpc::{self, Kept},
    judging,
    pieces::Pieces,
    status,
};
use crate::{
    error::{BoxError, CallError, PeerResponse},
    outcome::{Class, Observe},
    wire::{
        Expected, Flaw, GrpcEnd, GrpcStatus, JsonRpcId, Payload, PeerError, Tolerated, Verdict, grpc::frame::PREFIX,
    },
};

/// What the whole is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A unary result.
    Result,
    /// One result where a stream was asked.
    Downgrade,
    /// What an error status says.
    Refusal,
}

/// What is read, as a small thing: it moves. Its judge is in the [`Flight`], which does not.
pub(super) struct Whole {
    head: Parts,
    purpose: Purpose,
    expected: Option<Expected>,
    pieces: Pieces,
    trailers: Option<Box<HeaderMap>>,
    truncated: bool,
}

/// What became of the whole, and where its reader goes on.
pub(super) type Judged = Result<Response<Replay>, CallError>;

impl Whole {
    pub(super) fn new<O>(head: Parts, purpose: Purpose, expected: Option<Expected>, flight: &mut Flight<O>) -> Self
    where
        O: Observe,
    {
        flight.enter(if flight.call.is_streaming() { Phase::FirstEvent } else { Phase::Body });
        if let (Some(expected), AnswerJudge::Json(judge)) = (expected, &mut flight.judge) {
            judge.expect(expected);
        }
        Self { head, purpose, expected, pieces: Pieces::default(), trailers: None, truncated: false }
    }

    /// Reads on, until there is a verdict.
    pub(super) fn poll<B, O>(
        &mut self,
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
                    return Poll::Ready(self.panicked(panicked, timed.as_mut().flight()));
                }
                let due = ready!(timed.as_mut().poll_bounds(cx));
                return Poll::Ready(self.bound_reached(due, timed.as_mut().flight()));
            }
            let flight = timed.as_mut().flight();
            match ready!(frame) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        flight.note_frame(data.len());
                        if let Some(judged) = self.take_in(data, flight) {
                            return Poll::Ready(judged);
                        }
                        if let Some(due) = flight.check_bounds() {
                            return Poll::Ready(self.bound_reached(due, flight));
                        }
                    }
                    Err(frame) => {
                        self.trailers = frame.into_trailers().ok().map(Box::new);
                        flight.note_frame(0);
                        // Of gRPC they are the end, whatever the transport still does.
                        if self.trailers.is_some() && matches!(flight.judge, AnswerJudge::Grpc(_)) {
                            return Poll::Ready(self.ended(flight));
                        }
                        if let Some(due) = flight.check_bounds() {
                            return Poll::Ready(self.bound_reached(due, flight));
                        }
                    }
                },
                Some(Err(error)) => return Poll::Ready(self.broke_off(error.into(), flight)),
                None => return Poll::Ready(self.ended(flight)),
            }
        }
        // A body that is always ready must not keep its thread from everything else.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn take_in<O>(&mut self, data: Bytes, flight: &mut Flight<O>) -> Option<Judged>
    where
        O: Observe,
    {
        let len = self.pieces.len().saturating_add(data.len());
        if self.purpose == Purpose::Refusal {
            let max = flight.limits().max_refusal;
            let room = max - self.pieces.len().min(max);
            self.truncated = data.len() > room;
            self.pieces.push(data.slice(..data.len().min(room)));
            // The rest is not waited for.
            return self.truncated.then(|| self.refusal(flight));
        }
        let max = max_body(flight);
        if len > max {
            let room = max - self.pieces.len();
            flight.judge.feed(&data[..room]);
            flight.note_what_came();
            return Some(Err(flight.broken(Class::TooLarge, "the body is larger than max_unary_body")));
        }
        if let Some(flaw) = flight.judge.feed(&data) {
            flight.note_what_came();
            return Some(Err(match flaw {
                Flaw::TooLarge => flight.broken(Class::TooLarge, "the message is larger than max_unary_body"),
                flaw => flight.flawed(flaw),
            }));
        }
        self.pieces.push(data);
        None
    }

    fn ended<O>(&mut self, flight: &mut Flight<O>) -> Judged
    where
        O: Observe,
    {
        if self.purpose == Purpose::Refusal {
            return self.refusal(flight);
        }
        let Some(verdict) = flight.verdict() else { return self.message_ended(flight) };
        match verdict {
            Verdict::Valid => {
                let tolerated = flight.judge.facts().tolerated;
                if !tolerated.is_empty() && flight.config.strict {
                    self.note_seen(flight);
                }
                if let Some(error) = flight.strictly(tolerated) {
                    return Err(error);
                }
                if self.purpose == Purpose::Downgrade {
                    return self.downgraded(flight);
                }
                flight.succeed_as_judged();
                Ok(self.pass())
            }
            Verdict::Error => self.refusal(flight),
            Verdict::Flawed(Flaw::Empty) if self.empty_is_due(flight) => {
                flight.succeed_as_seen();
                Ok(self.pass())
            }
            Verdict::Flawed(flaw) => {
                self.note_seen(flight);
                Err(flight.flawed(flaw))
            }
        }
    }

    /// A gRPC answer is at its end: its status has the first word, and its message the next.
    fn message_ended<O>(&mut self, flight: &mut Flight<O>) -> Judged
    where
        O: Observe,
    {
        let end = match &flight.judge {
            AnswerJudge::Grpc(judge) => judge.finish(),
            AnswerJudge::Json(_) => GrpcEnd::Empty,
        };
        match grpc::status_of(&self.head.headers, self.trailers.as_deref()) {
            Some(status) if status.is_ok() => {}
            Some(status) => return Err(self.refused(status, flight)),
            None => {
                flight.note_what_came();
                return Err(flight.broken(Class::Truncated, "the answer ended without grpc-status"));
            }
        }
        match end {
            GrpcEnd::Message => {
                let tolerated = flight.judge.facts().tolerated;
                if !tolerated.is_empty() && flight.config.strict {
                    self.note_seen(flight);
                }
                if let Some(error) = flight.strictly(tolerated) {
                    return Err(error);
                }
                flight.succeed_as_judged();
                Ok(self.pass())
            }
            GrpcEnd::Empty => Err(flight.flawed(Flaw::Empty)),
            GrpcEnd::Cut => {
                flight.note_what_came();
                Err(flight.broken(Class::Truncated, "the answer ended within its message"))
            }
            GrpcEnd::Flawed(flaw) => {
                self.note_seen(flight);
                Err(flight.flawed(flaw))
            }
        }
    }

    /// What a `grpc-status` other than 0 says.
    fn refused<O>(&self, status: GrpcStatus<'_>, flight: &mut Flight<O>) -> CallError
    where
        O: Observe,
    {
        flight.note_what_came();
        let body = self.pieces.prefix(flight.limits().max_refusal);
        let truncated = self.truncated || body.len() < self.pieces.len();
        let kept = Kept { headers: &self.head.headers, trailers: self.trailers.as_deref(), body, truncated };
        kept.refused(status, flight)
    }

    /// A delete may answer with nothing, and so must who got a JSON-RPC request without an id (JSON-RPC 2.0 §4.1).
    fn empty_is_due<O>(&self, flight: &Flight<O>) -> bool
    where
        O: Observe,
    {
        self.expected.is_some_and(|expected| expected.payload == Payload::Anything)
            || (self.purpose == Purpose::Result && flight.call.id() == Some(&JsonRpcId::Absent))
    }

    fn pass(&mut self) -> Response<Replay> {
        let replay = Replay::new(std::mem::take(&mut self.pieces), self.trailers.take());
        Response::from_parts(self.take_head(), replay)
    }

    /// One result answers a streaming call: refused, or adapted into a stream of one event.
    fn downgraded<O>(&mut self, flight: &mut Flight<O>) -> Judged
    where
        O: Observe,
    {
        self.note_seen(flight);
        if !flight.config.adapt_downgrade {
            return Err(flight.broken(Class::SilentDowngrade, "one JSON result where a stream was asked"));
        }
        let event = Replay::event_of(&self.pieces);
        let mut head = self.take_head();
        head.headers.remove(CONTENT_LENGTH);
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        flight.seen.events = 1;
        flight.seen.tolerated.insert(Tolerated::DOWNGRADE_ADAPTED);
        flight.succeed_as_seen();
        Ok(Response::from_parts(head, event))
    }

    fn note_seen<O>(&self, flight: &mut Flight<O>)
    where
        O: Observe,
    {
        let facts = flight.judge.facts().clone();
        flight.note_facts(&facts);
    }

    /// The answer says no, by its status or by an error object in it.
    fn refusal<O>(&mut self, flight: &mut Flight<O>) -> Judged
    where
        O: Observe,
    {
        if matches!(flight.judge, AnswerJudge::Grpc(_))
            && let Some(status) = grpc::status_of(&self.head.headers, self.trailers.as_deref())
            && !status.is_ok()
        {
            return Err(self.refused(status, flight));
        }
        let max = flight.limits().max_refusal;
        let kept = self.pieces.prefix(max);
        let peer = PeerError::parse(&kept, judging::media_type(&self.head.headers));
        // Larger than what is kept, and read to its end all the same: a result was due.
        let peer = peer.or_else(|| match self.purpose {
            Purpose::Refusal => None,
            _ if kept.len() == self.pieces.len() => None,
            _ => PeerError::scan(&self.pieces.prefix(usize::MAX)),
        });
        let verdict = if self.purpose == Purpose::Refusal {
            let names_task = flight.call.task_id().is_some();
            status::with_body(self.head.status, flight.call.binding(), names_task, peer.as_ref())
        } else {
            status::PEER_ERROR
        };
        let mut failure = flight.failure(verdict.kind, verdict.class, verdict.what);
        failure.peer = peer.map(Box::new);
        failure.seen.tolerated = flight.judge.facts().tolerated;
        failure.seen.retry_after = judging::retry_after(&self.head.headers);
        failure.response = Some(PeerResponse {
            status: self.head.status,
            headers: self.head.headers.clone(),
            truncated: self.truncated || kept.len() < self.pieces.len(),
            body: kept,
            trailers: self.trailers.take().map(|trailers| *trailers),
        });
        Err(CallError::new(failure))
    }

    fn broke_off<O>(&mut self, error: BoxError, flight: &mut Flight<O>) -> Judged
    where
        O: Observe,
    {
        if self.status_decides() {
            self.truncated = true;
            return self.refusal(flight);
        }
        flight.note_what_came();
        Err(flight.cut(error))
    }

    fn panicked<O>(&mut self, panicked: Panicked, flight: &mut Flight<O>) -> Judged
    where
        O: Observe,
    {
        if self.status_decides() {
            self.truncated = true;
            return self.refusal(flight);
        }
        flight.note_what_came();
        Err(flight.panicked(panicked))
    }

    fn bound_reached<O>(&mut self, due: Due, flight: &mut Flight<O>) -> Judged
    where
        O: Observe,
    {
        if self.status_decides() {
            self.truncated = true;
            return self.refusal(flight);
        }
        flight.note_what_came();
        Err(flight.timeout(due))
    }

    /// Whether the head said it all, whatever becomes of the body.
    fn status_decides(&self) -> bool {
        self.purpose == Purpose::Refusal && status::by_status_alone(self.head.status).is_some()
    }

    fn take_head(&mut self) -> Parts {
        std::mem::replace(&mut self.head, Response::new(()).into_parts().0)
    }
}

/// The most that a body may have. Of gRPC it is the message that is bounded.
fn max_body<O>(flight: &Flight<O>) -> usize
where
    O: Observe,
{
    let max = flight.limits().max_unary_body;
    match flight.judge {
        AnswerJudge::Json(_) => max,
        AnswerJudge::Grpc(_) => max.saturating_add(PREFIX),
    }
}
