//! An answer that nobody can judge: it passes as it is, within bounds and caps.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, response::Parts};
use http_body::{Body, Frame};

use super::{
    contained::Contained,
    deadline::Phase,
    flight::{Boxed, FRAMES_PER_POLL},
    grpc, judging,
    pieces::Pieces,
    status,
};
use crate::{
    call::Binding,
    error::{BoxError, CallError},
    outcome::{Class, Observe, OutcomeKind},
    wire::{Expected, GrpcStatus, Judge, MediaType, PeerError, Tolerated, Verdict},
};

pub(super) struct Passing<O>
where
    O: Observe,
{
    timed: Boxed<O>,
    media: MediaType,
    /// How a gRPC call ended, for the outcome.
    grpc: Option<(OutcomeKind, Class)>,
    /// Reads along, for the outcome: a JSON-RPC answer may be an error under any status.
    judge: Option<Judge>,
    /// The first of an error's body, for the outcome.
    kept: Pieces,
    passed: usize,
    cap: Option<usize>,
    failure: Option<CallError>,
    over: bool,
}

impl<O> Passing<O>
where
    O: Observe,
{
    pub(super) fn new(head: &Parts, read_along: Option<Expected>, mut timed: Boxed<O>) -> Self {
        let flight = timed.as_mut().flight();
        let media = judging::media_type(&head.headers);
        // A stream has no size of its own; time bounds it.
        let streams = matches!(media, MediaType::EventStream | MediaType::Grpc);
        flight.enter(Phase::Body);
        flight.answer_is_stream(streams);
        let cap = (!streams).then(|| flight.limits().max_unary_body);
        let judge = read_along.map(Judge::new);
        let is_grpc = flight.call.binding() == Some(Binding::Grpc);
        let status = GrpcStatus::of(&head.headers).filter(|_| is_grpc);
        let grpc = status.map(|status| grpc::unnamed(status, flight));
        Self { timed, media, grpc, judge, kept: Pieces::default(), passed: 0, cap, failure: None, over: false }
    }

    pub(super) fn poll_frame<B>(
        &mut self,
        mut body: Pin<&mut Contained<B>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CallError>>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        if let Some(error) = self.failure.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if self.over {
            return Poll::Ready(None);
        }
        for _ in 0..FRAMES_PER_POLL {
            let frame = match body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(error))) => {
                    let error = self.timed.get().cut(error.into());
                    return self.fail(error);
                }
                Poll::Ready(None) => {
                    self.ended();
                    return Poll::Ready(None);
                }
                Poll::Pending => {
                    let error = match body.panicked() {
                        Some(panicked) => self.timed.get().panicked(panicked),
                        None => {
                            let due = ready!(self.timed.as_mut().poll_bounds(cx));
                            self.timed.get().timeout(due)
                        }
                    };
                    return self.fail(error);
                }
            };
            self.timed.as_mut().flight().note_frame(frame.data_ref().map_or(0, Bytes::len));
            if let Some(due) = self.timed.as_mut().flight().check_bounds() {
                let error = self.timed.get().timeout(due);
                return self.fail(error);
            }
            // A consumer's pause behind an empty frame would count as the peer's.
            if frame.data_ref().is_some_and(Bytes::is_empty) && !body.is_end_stream() {
                continue;
            }
            if let Some(trailers) = frame.trailers_ref() {
                self.read_trailers(trailers);
            }
            if let Some(data) = frame.data_ref() {
                let room = self.cap.map_or(usize::MAX, |cap| cap - self.passed);
                if data.len() > room {
                    return self.pass_the_last(data.slice(..room));
                }
                self.passed = self.passed.saturating_add(data.len());
                self.read_along(data);
            }
            // Who sends a body on may never ask for the end that it was told of.
            if body.is_end_stream() {
                self.ended();
            }
            return Poll::Ready(Some(Ok(frame)));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Nothing more comes; the outcome is as the answer says it.
    pub(super) fn ended(&mut self) {
        self.over = true;
        let (kind, class) = self.verdict();
        self.timed.as_mut().flight().settle_as(kind, class);
    }

    /// Whether nothing more is to come, be it a failure.
    pub(super) fn is_over(&self) -> bool {
        self.over && self.failure.is_none()
    }

    fn fail(&mut self, error: CallError) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        self.over = true;
        self.timed.as_mut().flight().fail(&error);
        Poll::Ready(Some(Err(error)))
    }

    /// What still fits below the cap passes, and then the body fails.
    fn pass_the_last(&mut self, data: Bytes) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        let error = self.timed.get().broken(Class::TooLarge, "the body is larger than max_unary_body");
        if data.is_empty() {
            return self.fail(error);
        }
        self.over = true;
        self.timed.as_mut().flight().fail(&error);
        self.failure = Some(error);
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn read_along(&mut self, data: &Bytes) {
        if let Some(judge) = &mut self.judge {
            judge.feed(data);
        }
        let max = self.timed.get().limits().max_refusal;
        if !self.timed.get().status().is_success() && self.media.is_json() && self.kept.len() < max {
            let room = max - self.kept.len();
            self.kept.push(data.slice(..data.len().min(room)));
        }
    }

    fn read_trailers(&mut self, trailers: &HeaderMap) {
        let flight = self.timed.as_mut().flight();
        if flight.call.binding() == Some(Binding::Grpc)
            && let Some(status) = GrpcStatus::of(trailers)
        {
            self.grpc = Some(grpc::unnamed(status, flight));
        }
    }

    fn verdict(&mut self) -> (OutcomeKind, Class) {
        if let Some(verdict) = self.grpc.filter(|(kind, _)| *kind != OutcomeKind::Success) {
            return verdict;
        }
        let status = self.timed.get().status();
        let call = &self.timed.get().call;
        // Where nobody knows that it is JSON-RPC, the answer has to say so.
        let names_itself = |judge: &Judge| {
            call.binding().is_some() || !judge.facts().tolerated.contains(Tolerated::JSONRPC_MEMBER_MISSING)
        };
        let error = self
            .judge
            .as_mut()
            .is_some_and(|judge| matches!(judge.finish(self.timed.get().id()), Verdict::Error) && names_itself(judge));
        // Nobody can say more of what was asked for on condition that it is new, and is not.
        if !status.is_success() && status != StatusCode::NOT_MODIFIED {
            let peer = PeerError::parse(&self.kept.prefix(usize::MAX), self.media);
            let verdict = status::with_body(status, call.binding(), call.task_id().is_some(), peer.as_ref());
            return (verdict.kind, verdict.class);
        }
        if error { (OutcomeKind::Refused, Class::PeerError) } else { (OutcomeKind::Success, Class::Success) }
    }
}
