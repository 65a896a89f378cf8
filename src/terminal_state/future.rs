use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{
    HeaderValue, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    response::Parts,
};
use http_body::Body;
use pin_project_lite::pin_project;

use super::{
    TerminalStateBody,
    answer::{Purpose, StreamExpected, WholeExpected},
    body::Replay,
    contained::Contained,
    flight::{Boxed, Flight, Rescue},
    grpc::{self, GrpcPlan, Kept},
    judging::{self, Plan},
    live::Live,
    passing::Passing,
    rescue::Rescued,
    whole,
};
use crate::{
    call::Binding,
    error::{BoxError, CallError, PeerResponse},
    outcome::{Class, Observe, OutcomeKind},
    wire::{Expected, GrpcExpected, grpc::frame::PREFIX},
};

pin_project! {
    /// The future of [`TerminalStateService`](crate::TerminalStateService): ready when the call succeeded, failed, or,
    /// for a stream, when its first event is in hand.
    pub struct TerminalStateFuture<F, B, O = ()>
    where
        O: Observe,
    {
        #[pin]
        state: State<F, B, O>,
        flight: Option<Boxed<O>>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F, B, O>
    where
        O: Observe,
    {
        /// Over: what is left to give is an error, or nothing.
        Over { error: Option<CallError> },
        /// Waiting for the head.
        Head { #[pin] future: Contained<F> },
        /// Reading an answer that is judged as a whole.
        Whole { #[pin] body: Contained<B> },
        /// Waiting for the first event of a stream.
        First { live: Option<Pin<Box<Live<B, O>>>> },
        /// Asking what became of the task of a failed call.
        Rescue { rescue: Rescue, error: Option<CallError> },
    }
}

impl<F, B, O> TerminalStateFuture<F, B, O>
where
    O: Observe,
{
    pub(super) fn called(future: F, flight: Boxed<O>) -> Self {
        let future = Contained::new(future, flight.get().config.catch_panics);
        Self { state: State::Head { future }, flight: Some(flight) }
    }

    pub(super) fn failed(error: CallError) -> Self {
        Self { state: State::Over { error: Some(error) }, flight: None }
    }
}

type Output<B, O> = Result<Response<TerminalStateBody<B, O>>, CallError>;

/// Where a head leads.
enum Next<F, B, O>
where
    O: Observe,
{
    State(State<F, B, O>),
    Done(Output<B, O>),
}

impl<F, B, E, O> Future for TerminalStateFuture<F, B, O>
where
    F: Future<Output = Result<Response<B>, E>>,
    E: Into<BoxError>,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
    O: Observe,
{
    type Output = Output<B, O>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // Where something is not there that should be, this is polled after its end: nothing comes any more, as of a
        // fused future.
        loop {
            let next = match this.state.as_mut().project() {
                StateProj::Over { error } => match error.take() {
                    Some(error) => Next::Done(Err(error)),
                    None => return Poll::Pending,
                },
                StateProj::Head { mut future } => {
                    let Some(timed) = this.flight.as_mut() else { return Poll::Pending };
                    match future.as_mut().poll(cx) {
                        Poll::Ready(Ok(response)) => {
                            let (head, body) = response.into_parts();
                            // Before anyone looks at it: a head is large, and this way it is moved no more than it has
                            // to be.
                            timed.as_mut().flight().head_came(head);
                            let body = Contained::new(body, timed.get().config.catch_panics);
                            let shape = BodyShape { length: body.size_hint().lower(), is_empty: body.is_end_stream() };
                            match start(shape, timed.get()) {
                                Start::Whole { purpose, expected } => {
                                    whole::begin(purpose, expected, timed.as_mut().flight());
                                    this.state.set(State::Whole { body });
                                    continue;
                                }
                                Start::Stream(expected) => {
                                    let Some((head, flight)) = leave(this.flight) else { return Poll::Pending };
                                    this.state.set(State::first(body, head, expected, flight));
                                    continue;
                                }
                                Start::Pass { read_along } => {
                                    let Some((head, flight)) = leave(this.flight) else { return Poll::Pending };
                                    Next::Done(Ok(passing(body, head, read_along, flight)))
                                }
                                Start::Failed(error) => {
                                    timed.as_mut().flight().fail(&error);
                                    Next::Done(Err(error))
                                }
                            }
                        }
                        Poll::Ready(Err(error)) => {
                            let flight = timed.as_mut().flight();
                            failed(flight.lost_or_late(error.into()), flight)
                        }
                        Poll::Pending => {
                            let error = match future.panicked() {
                                Some(panicked) => timed.get().panicked(panicked),
                                None => {
                                    let due = ready!(timed.as_mut().poll_bounds(cx));
                                    timed.get().timeout(due)
                                }
                            };
                            failed(error, timed.as_mut().flight())
                        }
                    }
                }
                StateProj::Whole { body } => {
                    let Some(timed) = this.flight.as_mut() else { return Poll::Pending };
                    match ready!(whole::poll(body, cx, timed.as_mut())) {
                        Ok(()) => {
                            this.state.set(State::Over { error: None });
                            let Some((head, mut timed)) = leave(this.flight) else { return Poll::Pending };
                            let body = TerminalStateBody::replay(timed.as_mut().flight().answer.take_body());
                            // Written where it goes, before the flight ends.
                            return Poll::Ready(Ok(Response::from_parts(head, body)));
                        }
                        Err(error) => failed(error, timed.as_mut().flight()),
                    }
                }
                StateProj::First { live } => {
                    let Some(waiting) = live.as_mut() else { return Poll::Pending };
                    let first = ready!(waiting.as_mut().poll_first_event(cx));
                    Next::Done(match (first, live.take()) {
                        (Ok(head), Some(live)) => Ok(stream(head, TerminalStateBody::live(live))),
                        (Err(error), _) => Err(error),
                        (Ok(_), None) => return Poll::Pending,
                    })
                }
                StateProj::Rescue { rescue, error } => {
                    let Some(timed) = this.flight.as_mut() else { return Poll::Pending };
                    Next::Done(ready!(poll_rescue(rescue, error, cx, timed.as_mut().flight())))
                }
            };
            match next {
                Next::State(next) => this.state.set(next),
                Next::Done(output) => {
                    // What is left of the exchange goes now, not when the caller lets go of a finished future.
                    this.state.set(State::Over { error: None });
                    *this.flight = None;
                    return Poll::Ready(output);
                }
            }
        }
    }
}

impl<F, B, O> State<F, B, O>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
    O: Observe,
{
    #[inline(never)]
    fn first(body: Contained<B>, head: Parts, expected: StreamExpected, flight: Boxed<O>) -> Self {
        Self::First { live: Some(Box::pin(Live::new(body, head, expected, flight))) }
    }
}

#[inline(never)]
fn passing<B, O>(
    body: Contained<B>,
    head: Parts,
    read_along: Option<Expected>,
    flight: Boxed<O>,
) -> Response<TerminalStateBody<B, O>>
where
    B: Body<Data = Bytes>,
    O: Observe,
{
    let passing = Passing::new(&head, read_along, flight);
    Response::from_parts(head, TerminalStateBody::passing(body, passing))
}

#[cold]
fn poll_rescue<B, O>(
    rescue: &mut Rescue,
    error: &mut Option<CallError>,
    cx: &mut Context<'_>,
    flight: &mut Flight<O>,
) -> Poll<Output<B, O>>
where
    O: Observe,
{
    let rescued = ready!(rescue.as_mut().poll(cx));
    let Some(error) = error.take() else { return Poll::Pending };
    Poll::Ready(match rescued {
        Some(rescued) => Ok(rescued_response(rescued, flight)),
        None => {
            flight.fail(&error);
            Err(error)
        }
    })
}

/// A call failed before it had an answer to give: unless its task can be asked for, that is its end.
#[cold]
fn failed<F, B, O>(error: CallError, flight: &mut Flight<O>) -> Next<F, B, O>
where
    O: Observe,
{
    match flight.rescue(&error) {
        Some(rescue) => Next::State(State::Rescue { rescue, error: Some(error) }),
        None => {
            flight.fail(&error);
            Next::Done(Err(error))
        }
    }
}

/// What to do about the body behind a head.
enum Start {
    Whole { purpose: Purpose, expected: Option<WholeExpected> },
    Stream(StreamExpected),
    Pass { read_along: Option<Expected> },
    Failed(CallError),
}

/// What is known of a body before it is read.
#[derive(Clone, Copy)]
struct BodyShape {
    /// It holds at least so much.
    length: u64,
    /// There is none.
    is_empty: bool,
}

fn start<O>(body: BodyShape, flight: &Flight<O>) -> Start
where
    O: Observe,
{
    let Some(head) = &flight.answer.head else { return Start::Pass { read_along: None } };
    if let Some(expected) = flight.grpc {
        return start_grpc(head, body, expected, flight);
    }
    let (purpose, expected) = match judging::plan(&flight.call, head.status, &head.headers) {
        Plan::Pass { read_along } => return Start::Pass { read_along },
        Plan::Stream(expected) => return Start::Stream(StreamExpected::Events(expected)),
        Plan::Broken(class, what) => return Start::Failed(broken_by_head(head, class, what, flight)),
        Plan::ErrorBody => (Purpose::Refusal, None),
        Plan::Whole(expected) => (Purpose::Result, Some(WholeExpected::Json(expected))),
        Plan::Downgrade(expected) => (Purpose::Downgrade, Some(WholeExpected::Json(expected))),
    };
    // A length that is declared too large need not be read to be refused.
    if purpose != Purpose::Refusal && body.length > flight.limits().max_unary_body as u64 {
        return Start::Failed(broken_by_head(head, Class::TooLarge, "the body is larger than max_unary_body", flight));
    }
    Start::Whole { purpose, expected }
}

#[inline(never)]
fn start_grpc<O>(head: &Parts, body: BodyShape, expected: GrpcExpected, flight: &Flight<O>) -> Start
where
    O: Observe,
{
    let whole = |coded, has_status| {
        let expected = WholeExpected::Message { expected, coded, has_status, max: flight.limits().max_unary_body };
        Start::Whole { purpose: Purpose::Result, expected: Some(expected) }
    };
    let broken = match grpc::plan(head.status, &head.headers) {
        GrpcPlan::Messages { coded, has_status } if flight.call.is_streaming() => {
            return Start::Stream(StreamExpected::Messages { expected, coded, has_status });
        }
        GrpcPlan::Messages { .. }
            if body.length > (flight.limits().max_unary_body as u64).saturating_add(PREFIX as u64) =>
        {
            Some((Class::TooLarge, "the body is larger than max_unary_body"))
        }
        GrpcPlan::Messages { coded, has_status } => return whole(coded, has_status),
        GrpcPlan::ErrorBody => return Start::Whole { purpose: Purpose::Refusal, expected: None },
        GrpcPlan::Broken(class, what) => Some((class, what)),
        GrpcPlan::Refused => None,
    };
    let error = match broken {
        Some((class, what)) => Some(broken_by_head(head, class, what, flight)),
        None => {
            let kept = Kept { headers: &head.headers, trailers: None, body: Bytes::new(), truncated: !body.is_empty };
            kept.refusal(flight)
        }
    };
    match error {
        Some(error) => Start::Failed(error),
        // A status is there, or it would not have refused.
        None => whole(false, true),
    }
}

/// Takes what the answer goes on with: its head, and the flight that it was kept in.
#[inline]
fn leave<O>(flight: &mut Option<Boxed<O>>) -> Option<(Parts, Boxed<O>)>
where
    O: Observe,
{
    let mut timed = flight.take()?;
    let head = timed.as_mut().flight().answer.head.take()?;
    Some((head, timed))
}

/// The head alone says that this is no answer: the body is not waited for.
#[cold]
fn broken_by_head<O>(head: &Parts, class: Class, what: &'static str, flight: &Flight<O>) -> CallError
where
    O: Observe,
{
    let mut failure = flight.failure(OutcomeKind::Broken, class, what);
    failure.got = judging::declared(class, &head.headers);
    failure.seen.retry_after = judging::retry_after(&head.headers);
    failure.response = Some(PeerResponse {
        status: head.status,
        headers: head.headers.clone(),
        body: Bytes::new(),
        trailers: None,
        truncated: true,
    });
    CallError::new(failure)
}

/// A stream's head loses its length: the layer may end the stream early, and may complete its last event.
fn stream<B>(mut head: Parts, body: B) -> Response<B> {
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, body)
}

fn rescued_response<B, O>(rescued: Rescued, flight: &mut Flight<O>) -> Response<TerminalStateBody<B, O>>
where
    O: Observe,
{
    let streaming = flight.call.is_streaming();
    let is_grpc = flight.call.binding() == Some(Binding::Grpc);
    let media = flight.call.shape().media_type().unwrap_or("application/json");
    let body = flight
        .origin()
        .map(|origin| if streaming { origin.event(&rescued) } else { origin.body(&rescued) })
        .unwrap_or_default();
    flight.succeed_as_rescued(&rescued, u64::from(streaming));
    let mut response = Response::new(TerminalStateBody::replay(match is_grpc {
        true => Replay::with_trailers(body, grpc::ok_trailers(None)),
        false => Replay::of(body),
    }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

impl<F, B, O> fmt::Debug for TerminalStateFuture<F, B, O>
where
    O: Observe,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Over { .. } => "over",
            State::Head { .. } => "head",
            State::Whole { .. } => "whole",
            State::First { .. } => "first event",
            State::Rescue { .. } => "rescue",
        };
        f.debug_struct("TerminalStateFuture").field("state", &state).finish_non_exhaustive()
    }
}
