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
    CardConsistencyBody, Direct, Resolution, contradiction,
    layer::Config,
    modes::{self, Asked},
    service::go_to,
    store::HeldCard,
};
use crate::{
    call::{Call, CallBody},
    clock,
    error::{BoxError, CallError, CardFailure, lost},
    outcome::Observe,
};

pin_project! {
    /// The future of [`CardConsistencyService`](super::CardConsistencyService).
    // Most calls go at once, and then what they have is not moved from one state to another.
    pub struct CardConsistencyFuture<S, B, R = Direct, O = ()>
    where
        S: Service<Request<CallBody<B>>>,
        B: Body,
        O: Observe,
    {
        #[pin]
        calling: Option<S::Future>,
        // Until its answer has it.
        call: Option<Call>,
        // The card that it goes by.
        card: Option<Arc<HeldCard>>,
        // The request of a send.
        asked: Option<Bytes>,
        before: Option<Box<Before<S, B, R, O>>>,
    }

    impl<S, B, R, O> PinnedDrop for CardConsistencyFuture<S, B, R, O>
    where
        S: Service<Request<CallBody<B>>>,
        B: Body,
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

/// What a call goes through that does not go at once. Its wait is one for I/O, so that a box is no matter.
enum Before<S, B, R, O>
where
    B: Body,
{
    Refused { error: Option<CallError> },
    Waiting { wish: Wish, waiting: Option<Waiting<S, B, R, O>> },
    Readying { readying: Option<Readying<S, B, R, O>> },
}

/// What a call waits for.
pub(super) enum Wish {
    Resolving { resolution: Pin<Box<dyn Future<Output = Resolution> + Send>> },
    Fetching { fetch: Pin<Box<dyn Future<Output = Result<Arc<HeldCard>, CardFailure>> + Send>> },
}

/// A call that waits for its target or its card.
pub(super) struct Waiting<S, B, R, O>
where
    B: Body,
{
    pub(super) service: S,
    pub(super) config: Arc<Config<R, O>>,
    pub(super) request: Request<CallBody<B>>,
    pub(super) deadline: Instant,
}

/// What a call goes by.
struct Watch {
    card: Arc<HeldCard>,
    asked: Option<Bytes>,
}

/// A call that has its card, and waits for its turn again.
pub(super) struct Readying<S, B, R, O>
where
    B: Body,
{
    service: S,
    request: Request<CallBody<B>>,
    watch: Watch,
    config: Arc<Config<R, O>>,
}

impl<S, B, R, O> CardConsistencyFuture<S, B, R, O>
where
    S: Service<Request<CallBody<B>>>,
    B: Body,
    O: Observe,
{
    /// It has gone: by a card, which is watched then.
    #[inline]
    pub(super) fn calling(future: S::Future, call: Call, card: Option<Arc<HeldCard>>, asked: Option<Bytes>) -> Self {
        Self { calling: Some(future), call: Some(call), card, asked, before: None }
    }

    pub(super) fn waiting(wish: Wish, waiting: Waiting<S, B, R, O>, call: Call) -> Self {
        let wish = match wish {
            Wish::Resolving { resolution } => bounded(resolution, &waiting),
            fetching => fetching,
        };
        Self::held_up(Before::Waiting { wish, waiting: Some(waiting) }, call)
    }

    pub(super) fn refused(error: CallError, call: &Call) -> Self {
        Self::held_up(Before::Refused { error: Some(error) }, call.clone())
    }

    fn held_up(before: Before<S, B, R, O>, call: Call) -> Self {
        Self { calling: None, call: Some(call), card: None, asked: None, before: Some(Box::new(before)) }
    }
}

impl<S, B, R, O, P> Future for CardConsistencyFuture<S, B, R, O>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes>,
    O: Observe,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
{
    type Output = Result<Response<CardConsistencyBody<P>>, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // Where something is not there that should be, this is polled after its end: nothing comes any more, as of a
        // fused future.
        if let Some(before) = this.before {
            let Some(call) = this.call else { return Poll::Pending };
            let (future, watch) = ready!(before.poll(cx, call))?;
            (*this.card, *this.asked, *this.before) = (Some(watch.card), watch.asked, None);
            this.calling.set(Some(future));
        }
        let (Some(future), Some(_)) = (this.calling.as_pin_mut(), &this.call) else { return Poll::Pending };
        let called = ready!(future.poll(cx));
        let Some(call) = this.call.take() else { return Poll::Pending };
        Poll::Ready(match called {
            Ok(response) => Ok(CardConsistencyBody::around(response, call, this.card.take())),
            Err(error) => Err(failed(error, &call, this.card.take(), this.asked.take())),
        })
    }
}

#[cold]
#[inline(never)]
fn failed<E>(error: E, call: &Call, card: Option<Arc<HeldCard>>, asked: Option<Bytes>) -> CallError
where
    E: Into<BoxError>,
{
    let error = lost(error.into(), call, false);
    if let Some(card) = card {
        contradiction::see(&card, asked.map(|body| Asked::of(call, body)).as_ref(), &error);
    }
    error
}

impl<S, B, R, O> Before<S, B, R, O>
where
    B: Body,
{
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
    fn unsent(&self) -> Option<(&Config<R, O>, &Extensions)> {
        match self {
            Self::Waiting { waiting: Some(waiting), .. } => Some((&waiting.config, waiting.request.extensions())),
            Self::Readying { readying: Some(readying) } => Some((&readying.config, readying.request.extensions())),
            _ => None,
        }
    }

    /// The call, once it goes.
    #[cold]
    #[inline(never)]
    fn poll(&mut self, cx: &mut Context<'_>, call: &mut Call) -> Poll<Result<(S::Future, Watch), CallError>>
    where
        S: Service<Request<CallBody<B>>>,
        S::Error: Into<BoxError>,
        O: Observe,
    {
        loop {
            let next = match self {
                Self::Refused { error } => match error.take() {
                    Some(error) => return Poll::Ready(Err(error)),
                    None => return Poll::Pending,
                },
                Self::Waiting { wish, waiting } => match wish {
                    Wish::Resolving { resolution } => {
                        let resolution = ready!(resolution.as_mut().poll(cx));
                        let Some(waiting) = waiting.take() else { return Poll::Pending };
                        resolved(resolution, waiting, call)
                    }
                    Wish::Fetching { fetch } => {
                        let fetched = ready!(fetch.as_mut().poll(cx));
                        let Some(waiting) = waiting.take() else { return Poll::Pending };
                        match fetched {
                            Ok(card) => with_card(card, waiting, call),
                            Err(failure) => {
                                let after = waiting.config.remembered(&waiting.request, call);
                                let extensions = waiting.request.extensions();
                                let error = waiting.config.refuse_until(call, failure, after, extensions);
                                Self::Refused { error: Some(error) }
                            }
                        }
                    }
                },
                Self::Readying { readying } => {
                    let Some(waiting) = readying else { return Poll::Pending };
                    let ready = ready!(waiting.service.poll_ready(cx));
                    let Some(Readying { mut service, request, watch, config }) = readying.take() else {
                        return Poll::Pending;
                    };
                    if let Err(error) = ready {
                        let error = lost(error.into(), call, true);
                        config.tell(&error, request.extensions());
                        return Poll::Ready(Err(error));
                    }
                    return Poll::Ready(Ok((service.call(request), watch)));
                }
            };
            *self = next;
        }
    }
}

/// A resolver has no bound of its own, and may come to another.
fn bounded<S, B, R, O>(
    resolution: Pin<Box<dyn Future<Output = Resolution> + Send>>,
    waiting: &Waiting<S, B, R, O>,
) -> Wish
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
fn resolved<S, B, R, O>(resolution: Resolution, mut waiting: Waiting<S, B, R, O>, call: &mut Call) -> Before<S, B, R, O>
where
    B: Body,
    O: Observe,
{
    let failure = match resolution {
        Resolution::AsSent => None,
        Resolution::To(uri) => {
            go_to(&mut waiting.request, call, uri);
            None
        }
        Resolution::Refused(failure) => Some(failure),
        Resolution::Later(resolution) => {
            return Before::Waiting { wish: bounded(resolution, &waiting), waiting: Some(waiting) };
        }
    };
    if let Some(failure) = failure {
        return Before::Refused { error: Some(waiting.config.refuse(call, failure, waiting.request.extensions())) };
    }
    // That took a while, perhaps: a card that was fresh when the call began need not be now.
    if let Some((card, _)) = waiting.config.held(&waiting.request, call, clock::now()) {
        return with_card(card, waiting, call);
    }
    match waiting.config.ask(&waiting.request, call) {
        Ok(ask) => {
            let left = waiting.deadline.saturating_duration_since(clock::now());
            let fetch = Box::pin(waiting.config.store.get(ask.bound(left)));
            Before::Waiting { wish: Wish::Fetching { fetch }, waiting: Some(waiting) }
        }
        Err(failure) => {
            Before::Refused { error: Some(waiting.config.refuse(call, failure, waiting.request.extensions())) }
        }
    }
}

fn with_card<S, B, R, O>(card: Arc<HeldCard>, waiting: Waiting<S, B, R, O>, call: &mut Call) -> Before<S, B, R, O>
where
    B: Body,
    O: Observe,
{
    let Waiting { service, config, mut request, .. } = waiting;
    match config.prepare(&card, call, &mut request) {
        Ok(_) => {
            let watch = Watch { asked: modes::kept(call, request.body()), card };
            let readying = Readying { service, request, watch, config };
            Before::Readying { readying: Some(readying) }
        }
        Err(failure) => Before::Refused { error: Some(config.refuse(call, failure, request.extensions())) },
    }
}

impl<S, B, R, O> fmt::Debug for CardConsistencyFuture<S, B, R, O>
where
    S: Service<Request<CallBody<B>>>,
    B: Body,
    O: Observe,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardConsistencyFuture").field("call", &self.call).finish_non_exhaustive()
    }
}
