use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use bytes::Bytes;
use http::{Request, request::Parts};
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::{
    task::coop,
    time::{Instant, Sleep},
};
use tower_service::Service;

use super::{Call, CallBody, layer::Config, naming::Naming, order, reading::Reading};
use crate::{
    clock,
    outcome::{self, Observe, Outcome},
};

/// The service of [`CallLayer`](crate::CallLayer).
#[derive(Clone)]
pub struct CallService<S, O = ()> {
    inner: S,
    config: Arc<Config>,
    observer: O,
}

impl<S, O> CallService<S, O> {
    pub(super) fn new(inner: S, config: Arc<Config>, observer: O) -> Self {
        Self { inner, config, observer }
    }
}

impl<S, O> fmt::Debug for CallService<S, O>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B, O> Service<Request<B>> for CallService<S, O>
where
    S: Service<Request<CallBody<B>>> + Clone,
    B: Body<Data = Bytes> + Unpin,
    O: Observe + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = CallFuture<S, B, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> CallFuture<S, B, O> {
        let (mut parts, body) = request.into_parts();
        let given = parts.extensions.get_mut::<Call>();
        let is_named = |call: &Call| call.began().is_some() || (call.operation().is_some() && call.binding().is_some());
        let given = match given {
            Some(named) if is_named(named) => {
                order::begin_named(named);
                return self.pass(Request::from_parts(parts, CallBody::unread(body)));
            }
            Some(given) => order::begin(given, &self.config.order),
            None => order::begin_unnamed(&mut parts.extensions, &self.config.order),
        };
        let began = Instant::now();
        let mut naming = Naming::new(&self.config, given, &parts, began);
        if !naming.wants_body() {
            let call = naming.finish(&self.config, &parts);
            parts.extensions.insert(call);
            let _for_the_layers_below = clock::hand_down(began);
            return self.pass(Request::from_parts(parts, CallBody::unread(body)));
        }
        let mut reading = Reading::new(body, self.config.max_body);
        // Most bodies are whole already. Then nothing waits and no waker is needed, and the service that was polled
        // ready is the one that is called.
        if reading.poll(&mut Context::from_waker(Waker::noop()), &mut naming, &self.config).is_ready() {
            let call = naming.finish(&self.config, &parts);
            parts.extensions.insert(call);
            let _for_the_layers_below = clock::hand_down(began);
            return self.pass(Request::from_parts(parts, reading.into_body()));
        }
        // A body that takes its time must not hold the place that a ready service has (in a concurrency limit, say).
        // The ready one is given back, and a fresh clone waited for once the body is there.
        let service = self.inner.clone();
        self.inner = service.clone();
        // Reading is part of the call, and cut to its total where that is known here.
        let own = parts.extensions.get().and_then(|by| naming.total_in(by));
        let total = own.or(self.config.total).into_iter().chain(naming.asked_total(&parts));
        let bound = total.fold(self.config.read_timeout, std::cmp::min);
        // Of a time that no clock reaches, tokio makes one that is far enough.
        let sleep = began.checked_add(bound).map_or_else(|| tokio::time::sleep(bound), tokio::time::sleep_until);
        let sleep = Box::pin(sleep);
        let (config, observer) = (Arc::clone(&self.config), self.observer.clone());
        let waiting = Some(Box::new(Waiting { service, config, parts, naming, reading, observer }));
        CallFuture { state: State::Reading { sleep, waiting } }
    }
}

impl<S, O> CallService<S, O> {
    fn pass<B>(&mut self, request: Request<CallBody<B>>) -> CallFuture<S, B, O>
    where
        S: Service<Request<CallBody<B>>>,
        B: Body,
        O: Observe,
    {
        CallFuture { state: State::Called { future: self.inner.call(request) } }
    }
}

pin_project! {
    /// The future of [`CallService`].
    pub struct CallFuture<S, B, O = ()>
    where
        S: Service<Request<CallBody<B>>>,
        B: Body,
        O: Observe,
    {
        #[pin]
        state: State<S, B, O, S::Future>,
    }

    impl<S, B, O> PinnedDrop for CallFuture<S, B, O>
    where
        S: Service<Request<CallBody<B>>>,
        B: Body,
        O: Observe,
    {
        fn drop(this: Pin<&mut Self>) {
            match this.project().state.project() {
                StateProj::Reading { waiting: Some(waiting), .. } => {
                    let Waiting { config, parts, naming, observer, .. } = &mut **waiting;
                    if observer.listens() {
                        let call = naming.finish(config, parts);
                        outcome::tell(observer, &Outcome::of_abandoned(&call).within(&parts.extensions));
                    }
                }
                StateProj::Readying { readying: Some(readying) } => {
                    let Readying { request, observer, .. } = &**readying;
                    if let Some(call) = request.extensions().get::<Call>() {
                        outcome::tell(observer, &Outcome::of_abandoned(call).within(request.extensions()));
                    }
                }
                _ => {}
            }
        }
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, B, O, F>
    where
        B: Body,
    {
        Reading { sleep: Pin<Box<Sleep>>, waiting: Option<Box<Waiting<S, B, O>>> },
        // Boxed too: a future is as large as its largest state, and most never come here.
        Readying { readying: Option<Box<Readying<S, B, O>>> },
        Called { #[pin] future: F },
    }
}

/// A call whose body is still on its way.
struct Waiting<S, B, O>
where
    B: Body,
{
    service: S,
    config: Arc<Config>,
    parts: Parts,
    naming: Naming,
    reading: Reading<B>,
    observer: O,
}

/// A call that is named, and waits for its turn.
struct Readying<S, B, O>
where
    B: Body,
{
    service: S,
    request: Request<CallBody<B>>,
    observer: O,
}

impl<S, B, O> Future for CallFuture<S, B, O>
where
    S: Service<Request<CallBody<B>>>,
    B: Body<Data = Bytes> + Unpin,
    O: Observe,
{
    type Output = Result<S::Response, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        // Where something is not there that should be, this is polled after its end: nothing comes any more, as of a
        // fused future.
        loop {
            let next = match state.as_mut().project() {
                StateProj::Reading { sleep, waiting } => {
                    if let Some(waiting) = waiting {
                        let Waiting { naming, reading, config, .. } = &mut **waiting;
                        // The body first: what has come is read, however late it is.
                        if reading.poll(cx, naming, config).is_pending()
                            && sleep.as_mut().poll(cx).is_pending()
                            // Where the task's budget is spent, the timer does not say whether it fired.
                            && (coop::has_budget_remaining() || Instant::now() < sleep.deadline())
                        {
                            return Poll::Pending;
                        }
                    }
                    let Some(waiting) = waiting.take() else {
                        return Poll::Pending;
                    };
                    let Waiting { service, config, mut parts, mut naming, reading, observer } = *waiting;
                    let call = naming.finish(&config, &parts);
                    parts.extensions.insert(call);
                    let request = Request::from_parts(parts, reading.into_body());
                    State::Readying { readying: Some(Box::new(Readying { service, request, observer })) }
                }
                StateProj::Readying { readying } => {
                    let Some(unsent) = readying else {
                        return Poll::Pending;
                    };
                    let ready = ready!(unsent.service.poll_ready(cx));
                    // Taken before it fails: a call that failed was not abandoned.
                    let Some(readying) = readying.take() else {
                        return Poll::Pending;
                    };
                    ready?;
                    let Readying { mut service, request, .. } = *readying;
                    State::Called { future: service.call(request) }
                }
                StateProj::Called { future } => return future.poll(cx),
            };
            state.set(next);
        }
    }
}

impl<S, B, O> fmt::Debug for CallFuture<S, B, O>
where
    S: Service<Request<CallBody<B>>>,
    B: Body,
    O: Observe,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").finish_non_exhaustive()
    }
}
