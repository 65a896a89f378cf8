use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{Request, Response, request::Parts};
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tower_service::Service;

use super::{
    CardConsistencyBody, Direct, Resolution, contradiction::Watch, layer::Config, service::go_to, store::HeldCard,
};
use crate::{
    call::{Call, CallBody},
    error::{BoxError, CallError, CardFailure, Failure, lost},
};

pin_project! {
    /// The future of [`CardConsistencyService`](super::CardConsistencyService).
    pub struct CardConsistencyFuture<S, B, R = Direct>
    where
        S: Service<Request<CallBody<B>>>,
        B: Body,
    {
        #[pin]
        state: State<S, B, R, S::Future>,
        call: Call,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, B, R, F>
    where
        B: Body,
    {
        Refused { error: Option<CallError> },
        // Its wait is one for I/O, so that a box is no matter.
        Waiting { wish: Wish, waiting: Option<Box<Waiting<S, B, R>>> },
        Readying { service: S, request: Option<Request<CallBody<B>>>, watch: Option<Watch> },
        Calling { #[pin] future: F, watch: Option<Watch> },
    }
}

/// What a call waits for.
pub(super) enum Wish {
    Resolving { resolution: Pin<Box<dyn Future<Output = Resolution> + Send>> },
    Fetching { fetch: Pin<Box<dyn Future<Output = Result<Arc<HeldCard>, CardFailure>> + Send>> },
}

/// A call that waits for its target or its card.
pub(super) struct Waiting<S, B, R>
where
    B: Body,
{
    pub(super) service: S,
    pub(super) config: Arc<Config<R>>,
    pub(super) head: Parts,
    pub(super) body: CallBody<B>,
    pub(super) deadline: Instant,
}

impl<S, B, R> CardConsistencyFuture<S, B, R>
where
    S: Service<Request<CallBody<B>>>,
    B: Body,
{
    pub(super) fn calling(future: S::Future, call: Call, watch: Option<Watch>) -> Self {
        Self { state: State::Calling { future, watch }, call }
    }

    pub(super) fn waiting(wish: Wish, waiting: Waiting<S, B, R>, call: Call) -> Self {
        let wish = match wish {
            Wish::Resolving { resolution } => bounded(resolution, &waiting),
            fetching => fetching,
        };
        Self { state: State::Waiting { wish, waiting: Some(Box::new(waiting)) }, call }
    }

    pub(super) fn refused(call: &Call, failure: CardFailure) -> Self {
        Self { state: State::Refused { error: Some(refusal(call, failure)) }, call: call.clone() }
    }
}

impl<S, B, R, P> Future for CardConsistencyFuture<S, B, R>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes>,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
{
    type Output = Result<Response<CardConsistencyBody<P>>, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut state, call) = (this.state, this.call);
        loop {
            let next = match state.as_mut().project() {
                StateProj::Refused { error } => match error.take() {
                    Some(error) => return Poll::Ready(Err(error)),
                    None => return Poll::Pending,
                },
                StateProj::Waiting { wish, waiting } => match wish {
                    Wish::Resolving { resolution } => {
                        let resolution = ready!(resolution.as_mut().poll(cx));
                        let Some(waiting) = waiting.take() else { return Poll::Pending };
                        resolved(resolution, waiting, call)
                    }
                    Wish::Fetching { fetch } => {
                        let fetched = ready!(fetch.as_mut().poll(cx));
                        let Some(waiting) = waiting.take() else { return Poll::Pending };
                        match fetched {
                            Ok(card) => with_card(card, *waiting, call),
                            Err(failure) => State::Refused { error: Some(refusal(call, failure)) },
                        }
                    }
                },
                StateProj::Readying { service, request, watch } => {
                    if let Err(error) = ready!(service.poll_ready(cx)) {
                        return Poll::Ready(Err(lost(error.into(), call, true)));
                    }
                    let Some(request) = request.take() else { return Poll::Pending };
                    State::Calling { future: service.call(request), watch: watch.take() }
                }
                StateProj::Calling { future, watch } => {
                    let called = ready!(future.poll(cx));
                    let watch = watch.take();
                    return Poll::Ready(match called {
                        Ok(response) => {
                            let call = std::mem::take(call);
                            Ok(response.map(|body| CardConsistencyBody::new(body, call, watch)))
                        }
                        Err(error) => {
                            let error = lost(error.into(), call, false);
                            if let Some(watch) = watch {
                                watch.see(&error);
                            }
                            Err(error)
                        }
                    });
                }
            };
            state.set(next);
        }
    }
}

/// A resolver has no bound of its own, and may come to another.
fn bounded<S, B, R>(resolution: Pin<Box<dyn Future<Output = Resolution> + Send>>, waiting: &Waiting<S, B, R>) -> Wish
where
    B: Body,
{
    let (deadline, bound) = (waiting.deadline, waiting.config.wait());
    Wish::Resolving {
        resolution: Box::pin(async move {
            let late = Resolution::Refused(CardFailure::FetchTimeout { bound });
            tokio::time::timeout_at(deadline, resolution).await.unwrap_or(late)
        }),
    }
}

/// The target is known: now the card, held or fetched.
fn resolved<S, B, R, F>(
    resolution: Resolution,
    mut waiting: Box<Waiting<S, B, R>>,
    call: &mut Call,
) -> State<S, B, R, F>
where
    B: Body,
{
    match resolution {
        Resolution::AsSent => {}
        Resolution::To(uri) => go_to(&mut waiting.head, call, uri),
        Resolution::Refused(failure) => return State::Refused { error: Some(refusal(call, failure)) },
        Resolution::Later(resolution) => {
            return State::Waiting { wish: bounded(resolution, &waiting), waiting: Some(waiting) };
        }
    }
    // That took a while, perhaps: a card that was fresh when the call began need not be now.
    if let Some(card) = waiting.config.held(&waiting.head, call, Instant::now()) {
        return with_card(card, *waiting, call);
    }
    match waiting.config.ask(&waiting.head, call) {
        Ok(ask) => {
            let left = waiting.deadline.saturating_duration_since(Instant::now());
            let fetch = Box::pin(waiting.config.store.get(ask.bound(left)));
            State::Waiting { wish: Wish::Fetching { fetch }, waiting: Some(waiting) }
        }
        Err(failure) => State::Refused { error: Some(refusal(call, failure)) },
    }
}

fn with_card<S, B, R, F>(card: Arc<HeldCard>, waiting: Waiting<S, B, R>, call: &mut Call) -> State<S, B, R, F>
where
    B: Body,
{
    let Waiting { service, config, mut head, mut body, .. } = waiting;
    match config.prepare(&card, call, &mut head, &mut body) {
        Ok(()) => {
            let watch = Watch { store: config.store.clone(), card };
            State::Readying { service, request: Some(Request::from_parts(head, body)), watch: Some(watch) }
        }
        Err(failure) => State::Refused { error: Some(refusal(call, failure)) },
    }
}

/// Refused before dispatch.
fn refusal(call: &Call, failure: CardFailure) -> CallError {
    CallError::new(Failure::of_card(failure, call.clone(), call.elapsed()))
}

impl<S, B, R> fmt::Debug for CardConsistencyFuture<S, B, R>
where
    S: Service<Request<CallBody<B>>>,
    B: Body,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardConsistencyFuture").field("call", &self.call).finish_non_exhaustive()
    }
}
