use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tower_service::Service;

use super::{
    ProbeCacheBody,
    layer::Config,
    place::Place,
    verdict::Disproof,
    watch::{Card, Watch},
};
use crate::{
    call::Call,
    error::{BoxError, CallError, lost},
    outcome::Observe,
};

pin_project! {
    /// The future of [`ProbeCacheService`](super::ProbeCacheService).
    pub struct ProbeCacheFuture<S, B, O = ()>
    where
        S: Service<Request<B>>,
        O: Observe,
    {
        #[pin]
        state: State<S, B, O, S::Future>,
        // Taken by the body.
        call: Option<Call>,
    }

    impl<S, B, O> PinnedDrop for ProbeCacheFuture<S, B, O>
    where
        S: Service<Request<B>>,
        O: Observe,
    {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let (config, request) = match this.state.project() {
                StateProj::Waiting { waiting: Some(waiting), .. } => (&waiting.config, &waiting.request),
                StateProj::Readying { readying } => match &readying.request {
                    Some(request) => (&readying.config, request),
                    None => return,
                },
                _ => return,
            };
            if let Some(call) = this.call {
                config.tell_abandoned(call, request.extensions());
            }
        }
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, B, O, F> {
        Refused { error: Option<CallError> },
        // Its wait is one for I/O, so that a box is no matter.
        Waiting { answer: Pin<Box<dyn Future<Output = Result<(), Disproof>> + Send>>, waiting: Option<Box<Waiting<S, B, O>>> },
        Readying { readying: Box<Readying<S, B, O>> },
        Calling { #[pin] future: F, watch: Option<Watch> },
    }
}

/// A call that waits for what is found out of its endpoint.
pub(super) struct Waiting<S, B, O> {
    pub(super) service: S,
    pub(super) config: Arc<Config<O>>,
    pub(super) request: Request<B>,
    pub(super) place: Arc<Place>,
    pub(super) card: Option<Box<Card>>,
}

/// A call that may go, once the service below is ready. Boxed, for calls that need not wait are to stay small.
struct Readying<S, B, O> {
    service: S,
    // Until it is sent.
    request: Option<Request<B>>,
    watch: Option<Watch>,
    config: Arc<Config<O>>,
}

impl<S, B, O> ProbeCacheFuture<S, B, O>
where
    S: Service<Request<B>>,
    O: Observe,
{
    pub(super) fn calling(future: S::Future, call: Call, watch: Option<Watch>) -> Self {
        Self { state: State::Calling { future, watch }, call: Some(call) }
    }

    pub(super) fn waiting(
        answer: Pin<Box<dyn Future<Output = Result<(), Disproof>> + Send>>,
        waiting: Waiting<S, B, O>,
        call: Call,
    ) -> Self {
        Self { state: State::Waiting { answer, waiting: Some(Box::new(waiting)) }, call: Some(call) }
    }

    pub(super) fn refused(error: CallError, call: Call) -> Self {
        Self { state: State::Refused { error: Some(error) }, call: Some(call) }
    }
}

impl<S, B, O, P> Future for ProbeCacheFuture<S, B, O>
where
    S: Service<Request<B>, Response = Response<P>>,
    S::Error: Into<BoxError>,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
    O: Observe,
{
    type Output = Result<Response<ProbeCacheBody<P>>, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut state, call) = (this.state, this.call);
        loop {
            let next = match state.as_mut().project() {
                StateProj::Refused { error } => match error.take() {
                    Some(error) => return Poll::Ready(Err(error)),
                    None => return Poll::Pending,
                },
                StateProj::Waiting { answer, waiting } => {
                    let answer = ready!(answer.as_mut().poll(cx));
                    let Some(waiting) = waiting.take() else { return Poll::Pending };
                    let Waiting { service, config, request, place, card } = *waiting;
                    match answer {
                        Ok(()) => {
                            let now = place.clock.millis(Instant::now());
                            let watch = call.as_ref().map(|call| Watch::new(place, call, now, card));
                            let request = Some(request);
                            State::Readying { readying: Box::new(Readying { service, request, watch, config }) }
                        }
                        Err(disproof) => {
                            let refusal = disproof.refusal(call.as_ref().unwrap_or(&Call::new()));
                            let error = config.refuse(refusal, request.extensions());
                            // Nothing was sent, and nothing is held.
                            drop((service, request));
                            State::Refused { error: Some(error) }
                        }
                    }
                }
                StateProj::Readying { readying } => {
                    let Readying { service, request, watch, config } = &mut **readying;
                    let ready = ready!(service.poll_ready(cx));
                    let Some(request) = request.take() else { return Poll::Pending };
                    if let Err(error) = ready {
                        let error = lost(error.into(), &call.take().unwrap_or_default(), true);
                        return Poll::Ready(Err(config.refuse(error, request.extensions())));
                    }
                    State::Calling { future: service.call(request), watch: watch.take() }
                }
                StateProj::Calling { future, watch } => {
                    let called = ready!(future.poll(cx));
                    let (watch, Some(call)) = (watch.take(), call.take()) else { return Poll::Pending };
                    return Poll::Ready(match called {
                        Ok(response) => {
                            let watch = watch.and_then(|watch| begun(watch, &call));
                            Ok(response.map(|body| ProbeCacheBody::new(body, call, watch)))
                        }
                        Err(error) => {
                            let error = lost(error.into(), &call, false);
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

/// A unary call is over with its head, for below it was judged as a whole; a stream goes on to be watched.
fn begun(watch: Watch, call: &Call) -> Option<Watch> {
    if call.is_streaming() {
        watch.begins_well();
        return Some(watch);
    }
    watch.ends_well();
    None
}

impl<S, B, O> fmt::Debug for ProbeCacheFuture<S, B, O>
where
    S: Service<Request<B>>,
    O: Observe,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeCacheFuture").field("call", &self.call).finish_non_exhaustive()
    }
}
