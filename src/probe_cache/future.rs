use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{Extensions, Request, Response};
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
    // Most calls go at once, and then what they have is not moved from one state to another.
    pub struct ProbeCacheFuture<S, B, O = ()>
    where
        S: Service<Request<B>>,
        O: Observe,
    {
        #[pin]
        calling: Option<S::Future>,
        // Taken by the body.
        call: Option<Call>,
        // Where somebody could name it.
        watch: Option<Watch>,
        before: Option<Box<Before<S, B, O>>>,
    }

    impl<S, B, O> PinnedDrop for ProbeCacheFuture<S, B, O>
    where
        S: Service<Request<B>>,
        O: Observe,
    {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Some(before) = this.before {
                before.abandoned(this.call.as_ref());
            }
        }
    }
}

/// A call that was sent, and is watched.
type Gone<F> = (F, Option<Watch>);

/// What a call goes through that does not go at once. Its wait is one for I/O, so that a box is no matter.
enum Before<S, B, O> {
    Refused { error: Option<CallError> },
    Waiting { answer: Pin<Box<dyn Future<Output = Result<(), Disproof>> + Send>>, waiting: Option<Waiting<S, B, O>> },
    Readying { readying: Readying<S, B, O> },
}

/// A call that waits for what is found out of its endpoint.
pub(super) struct Waiting<S, B, O> {
    pub(super) service: S,
    pub(super) config: Arc<Config<O>>,
    pub(super) request: Request<B>,
    pub(super) place: Arc<Place>,
    pub(super) card: Option<Box<Card>>,
}

/// A call that may go, once the service below is ready.
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
    #[inline]
    pub(super) fn calling(future: S::Future, call: Call, watch: Option<Watch>) -> Self {
        Self { calling: Some(future), call: Some(call), watch, before: None }
    }

    pub(super) fn waiting(
        answer: Pin<Box<dyn Future<Output = Result<(), Disproof>> + Send>>,
        waiting: Waiting<S, B, O>,
        call: Call,
    ) -> Self {
        Self::held_up(Before::Waiting { answer, waiting: Some(waiting) }, call)
    }

    pub(super) fn refused(error: CallError, call: Call) -> Self {
        Self::held_up(Before::Refused { error: Some(error) }, call)
    }

    fn held_up(before: Before<S, B, O>, call: Call) -> Self {
        Self { calling: None, call: Some(call), watch: None, before: Some(Box::new(before)) }
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
        let mut this = self.project();
        // Where something is not there that should be, this is polled after its end: nothing comes any more, as of a
        // fused future.
        if let Some(before) = this.before {
            let (future, watch) = ready!(before.poll(cx, this.call))?;
            (*this.watch, *this.before) = (watch, None);
            this.calling.set(Some(future));
        }
        let (Some(future), Some(_)) = (this.calling.as_pin_mut(), &this.call) else { return Poll::Pending };
        let called = ready!(future.poll(cx));
        let Some(call) = this.call.take() else { return Poll::Pending };
        Poll::Ready(match called {
            Ok(response) => {
                let watch = begun(this.watch, &call);
                Ok(response.map(|body| ProbeCacheBody::new(body, call, watch)))
            }
            Err(error) => Err(failed(error, &call, this.watch.take())),
        })
    }
}

/// A unary call is over with its head, for below it was judged as a whole; a stream goes on to be watched.
#[inline]
fn begun(watch: &mut Option<Watch>, call: &Call) -> Option<Watch> {
    if call.is_streaming() {
        watch.iter().for_each(Watch::begins_well);
        return watch.take();
    }
    watch.iter().for_each(Watch::ends_well);
    None
}

#[cold]
#[inline(never)]
fn failed<E>(error: E, call: &Call, watch: Option<Watch>) -> CallError
where
    E: Into<BoxError>,
{
    let error = lost(error.into(), call, false);
    if let Some(watch) = watch {
        watch.see(&error);
    }
    error
}

impl<S, B, O> Before<S, B, O> {
    /// Whoever calls let go of a call that was not sent yet.
    #[cold]
    fn abandoned(&self, call: Option<&Call>)
    where
        O: Observe,
    {
        if let (Some(call), Some((config, extensions))) = (call, self.unsent()) {
            config.tell_abandoned(call, extensions);
        }
    }

    /// What a call holds that was not sent yet.
    fn unsent(&self) -> Option<(&Config<O>, &Extensions)> {
        match self {
            Self::Waiting { waiting: Some(waiting), .. } => Some((&waiting.config, waiting.request.extensions())),
            Self::Readying { readying } => Some((&readying.config, readying.request.as_ref()?.extensions())),
            _ => None,
        }
    }

    /// The call, once it goes. It is left to `call` for as long as it may yet.
    #[cold]
    #[inline(never)]
    fn poll(&mut self, cx: &mut Context<'_>, call: &mut Option<Call>) -> Poll<Result<Gone<S::Future>, CallError>>
    where
        S: Service<Request<B>>,
        S::Error: Into<BoxError>,
        O: Observe,
    {
        loop {
            let next = match self {
                Self::Refused { error } => match error.take() {
                    Some(error) => return Poll::Ready(Err(error)),
                    None => return Poll::Pending,
                },
                Self::Waiting { answer, waiting } => {
                    let answer = ready!(answer.as_mut().poll(cx));
                    let Some(Waiting { service, config, request, place, card }) = waiting.take() else {
                        return Poll::Pending;
                    };
                    match answer {
                        Ok(()) => {
                            let now = place.clock.millis(Instant::now());
                            let watch = call.as_ref().map(|call| Watch::new(place, call, now, card));
                            let request = Some(request);
                            Self::Readying { readying: Readying { service, request, watch, config } }
                        }
                        Err(disproof) => {
                            let refusal = disproof.refusal(call.as_ref().unwrap_or(&Call::new()));
                            let error = config.refuse(refusal, request.extensions());
                            // Nothing was sent, and nothing is held.
                            drop((service, request));
                            Self::Refused { error: Some(error) }
                        }
                    }
                }
                Self::Readying { readying: Readying { service, request, watch, config } } => {
                    let ready = ready!(service.poll_ready(cx));
                    let Some(request) = request.take() else { return Poll::Pending };
                    if let Err(error) = ready {
                        let error = lost(error.into(), &call.take().unwrap_or_default(), true);
                        return Poll::Ready(Err(config.refuse(error, request.extensions())));
                    }
                    return Poll::Ready(Ok((service.call(request), watch.take())));
                }
            };
            *self = next;
        }
    }
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
