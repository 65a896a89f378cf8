//! A span a call, around all that is done for it.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use a2a_guard::{
    Call, CallBody, CallError, CallLayer, Limits, Observe, Outcome, TerminalStateLayer,
    observability::{TracingLayer, TracingObserver},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use tracing::Level;

use crate::{
    answer,
    mock::{Answer, BoxError, Dialect, MockBody, Peer, s},
    subscriber::Subscribed,
};
use Dialect::{Rest, V1, V03};

/// Says each time that it is asked for a frame, and when it is dropped.
struct Telling(MockBody);

impl Body for Telling {
    type Data = Bytes;
    type Error = <MockBody as Body>::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        tracing::info!("body polled");
        Pin::new(&mut self.0).poll_frame(cx)
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        tracing::info!("body dropped");
    }
}

type Request_ = Request<CallBody<Full<Bytes>>>;

/// A client that tells of all it does, with a span of its own for the exchange.
fn telling(
    peer: Peer<CallBody<Full<Bytes>>>,
) -> impl Service<
    Request_,
    Response = Response<Telling>,
    Error = BoxError,
    Future = impl Future<Output = Result<Response<Telling>, BoxError>>,
> + Clone {
    service_fn(move |request: Request_| {
        tracing::info!("called");
        let peer = peer.clone();
        async move {
            let exchange = tracing::info_span!("exchange");
            tracing::info!("future polled");
            let response = peer.oneshot(request).await?;
            drop(exchange);
            Ok(response.map(Telling))
        }
    })
}

async fn read<B>(response: Result<Response<B>, CallError>) -> Result<Bytes, CallError>
where
    B: Body<Data = Bytes, Error = CallError>,
{
    Ok(response?.into_body().collect().await?.to_bytes())
}

#[tokio::test(start_paused = true)]
async fn all_that_is_done_for_a_call_happens_in_its_span() {
    let (subscribed, _guard) = Subscribed::all();
    let body = MockBody::new().data(V1.task_event("WORKING")).wait(s(1)).data(V1.update_event("COMPLETED"));
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TracingLayer::new())
        .layer(TerminalStateLayer::builder().observe(TracingObserver::new()).build().unwrap())
        .service(telling(Peer::new([Answer::sse(body)])));

    let response = stack.oneshot(V1.stream()).await;
    assert!(!subscribed.call().1.fields.contains_key("a2a.outcome"), "a head is no success");
    read(response).await.unwrap();

    let (call, span) = subscribed.call();
    assert!(span.is_closed(), "{span:#?}");
    assert_eq!(span.level, Level::INFO);
    let events = subscribed.events();
    for what in ["called", "future polled", "body polled", "body dropped"] {
        let told: Vec<_> = events.iter().filter(|event| event.fields["message"] == what).collect();
        assert!(!told.is_empty(), "not told: {what}");
        assert!(told.iter().all(|event| event.span == Some(call)), "outside of the span: {told:#?}");
    }
    let spans = subscribed.spans();
    assert_eq!(spans.iter().find(|span| span.name == "exchange").unwrap().parent, Some(call));
    assert_eq!(subscribed.end().span, Some(call));
}

/// The fields of a call's span.
async fn fields(request: Request<Full<Bytes>>, answer: Answer) -> Vec<(String, String)> {
    let (subscribed, _guard) = Subscribed::all();
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TracingLayer::new())
        .layer(TerminalStateLayer::builder().observe(TracingObserver::new()).build().unwrap())
        .service(Peer::new([answer]));
    let _ = read(stack.oneshot(request).await).await;
    let (_, span) = subscribed.call();
    assert!(span.is_closed(), "{span:#?}");
    span.fields.into_iter().collect()
}

fn assert_fields(fields: &[(String, String)], due: &[(&str, &str)]) {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(fields, due);
}

#[tokio::test(start_paused = true)]
async fn the_span_of_a_stream() {
    let mut request = V1.stream();
    request.extensions_mut().insert(Call::new().with_skill("translate").with_region("eu").with_tenant("acme"));
    let body = MockBody::new().wait(s(2)).data(V1.task_event("WORKING")).wait(s(3)).data(V1.update_event("COMPLETED"));
    let bytes = (V1.task_event("WORKING").len() + V1.update_event("COMPLETED").len()).to_string();
    assert_fields(
        &fields(request, Answer::sse(body)).await,
        &[
            ("a2a.binding", "JSONRPC"),
            ("a2a.class", "success"),
            ("a2a.events", "2"),
            ("a2a.first_event.seconds", "2.0"),
            ("a2a.method", "SendStreamingMessage"),
            ("a2a.outcome", "success"),
            ("a2a.protocol.version", "1.0"),
            ("a2a.region", "eu"),
            ("a2a.response.bytes", &bytes),
            ("a2a.skill", "translate"),
            ("a2a.streaming", "true"),
            ("a2a.task.id", "task-1"),
            ("a2a.task.state", "TASK_STATE_COMPLETED"),
            ("a2a.tenant", "acme"),
            ("http.response.status_code", "200"),
            ("otel.kind", "client"),
            ("otel.name", "SendStreamingMessage"),
            ("server.address", "agent.example.com"),
            ("server.port", "443"),
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn the_span_of_a_refusal() {
    let answer = Answer::json(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task"}}"#);
    assert_fields(
        &fields(V1.get(), answer).await,
        &[
            ("a2a.binding", "JSONRPC"),
            ("a2a.class", "peer_error"),
            ("a2a.method", "GetTask"),
            ("a2a.outcome", "refused"),
            ("a2a.protocol.version", "1.0"),
            ("a2a.response.bytes", "73"),
            ("a2a.retry", "safe"),
            ("a2a.streaming", "false"),
            ("a2a.task.id", "task-1"),
            ("error.type", "peer_error"),
            ("http.response.status_code", "200"),
            ("otel.kind", "client"),
            ("otel.name", "GetTask"),
            ("otel.status_code", "ERROR"),
            ("rpc.response.status_code", "-32001"),
            ("server.address", "agent.example.com"),
            ("server.port", "443"),
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn the_span_of_a_coded_call() {
    let mut request = V1.request("POST", "/lf.a2a.v1.A2AService/GetTask", String::new());
    request.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
    let answer = Answer::new(200, "application/grpc", MockBody::new()).header("grpc-status", "5");
    let fields = fields(request, answer).await;
    for due in [
        ("a2a.binding", "GRPC"),
        ("a2a.class", "peer_error"),
        ("a2a.method", "GetTask"),
        ("rpc.response.status_code", "5"),
    ] {
        assert!(fields.contains(&(due.0.into(), due.1.into())), "{due:?} is not in {fields:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn states_are_called_by_one_name_in_all_versions() {
    for dialect in [V03, Rest] {
        let body = match dialect {
            Rest => dialect.task("INPUT_REQUIRED"),
            _ => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, dialect.task("INPUT_REQUIRED")),
        };
        let fields = fields(dialect.send(), Answer::json(body)).await;
        assert!(fields.contains(&("a2a.task.state".into(), "TASK_STATE_INPUT_REQUIRED".into())), "{fields:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_let_go_of_ends_in_its_span() {
    let (subscribed, _guard) = Subscribed::all();
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TracingLayer::new())
        .layer(TerminalStateLayer::builder().observe(TracingObserver::new()).build().unwrap())
        .service(telling(Peer::new([Answer::sse(MockBody::of([V1.task_event("WORKING")]).hang()), Answer::never()])));

    // In its body …
    let response = stack.clone().oneshot(V1.stream()).await.unwrap();
    drop(response);
    // … and before its head.
    assert!(tokio::time::timeout(s(1), stack.oneshot(V1.get())).await.is_err());

    let ends: Vec<_> = subscribed.events().into_iter().filter(|e| e.fields.contains_key("a2a.outcome")).collect();
    assert_eq!(ends.len(), 2);
    for (end, (number, span)) in
        ends.iter().zip((1..).zip(subscribed.spans()).filter(|(_, span)| span.name == "a2a.call"))
    {
        assert_eq!((end.fields["a2a.outcome"].as_str(), end.span), ("abandoned", Some(number)));
        assert!(span.is_closed());
        assert_eq!(span.fields["a2a.class"], "abandoned");
        assert!(!span.fields.contains_key("otel.status_code"), "who let go has not failed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_span_in_between_hides_nothing() {
    let (subscribed, _guard) = Subscribed::all();
    let ending = TerminalStateLayer::builder().observe(TracingObserver::new()).build().unwrap();
    let inner = ending.layer(Peer::new([Answer::never()]));
    let between = service_fn(move |request: Request_| {
        let inner = inner.clone();
        tracing::Instrument::instrument(async move { inner.oneshot(request).await }, tracing::info_span!("between"))
    });
    let stack = ServiceBuilder::new().layer(CallLayer::new()).layer(TracingLayer::new()).service(between);
    let error = stack.oneshot(V1.get()).await.unwrap_err();

    let (call, span) = subscribed.call();
    assert_eq!((error.class().as_str(), span.fields["a2a.class"].as_str()), ("head", "head"));
    assert_eq!(subscribed.end().span, Some(call));
    // The error outlives the call; its span does not.
    assert!(span.is_closed());
}

#[tokio::test(start_paused = true)]
async fn above_the_layer_that_names_the_call_the_span_is_named_at_its_end() {
    let (subscribed, _guard) = Subscribed::all();
    let stack = ServiceBuilder::new()
        .layer(TracingLayer::new())
        .layer(CallLayer::new())
        .layer(TerminalStateLayer::builder().observe(TracingObserver::new()).build().unwrap())
        .service(Peer::new([Answer::never()]));
    assert!(stack.oneshot(V1.send_at_once()).await.is_err());
    let (_, span) = subscribed.call();
    assert_eq!(span.fields["a2a.method"], "SendMessage");
    assert_eq!(span.fields["a2a.binding"], "JSONRPC");
    assert_eq!(span.fields["otel.name"], "SendMessage");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_filled_in_without_an_observer_and_told_once() {
    let (subscribed, _guard) = Subscribed::all();
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TracingLayer::new())
        .layer(TerminalStateLayer::new())
        .service(Peer::new([Answer::sse(MockBody::of([V1.task_event("WORKING")]))]));
    let error = read(stack.oneshot(V1.stream()).await).await.unwrap_err();
    assert_eq!(error.class().as_str(), "truncated");
    let (call, span) = subscribed.call();
    assert_eq!(span.fields["a2a.class"], "truncated");
    assert_eq!(span.fields["a2a.events"], "1");
    assert_eq!((subscribed.end().span, subscribed.end().level), (Some(call), Level::ERROR));
}

#[tokio::test(start_paused = true)]
async fn another_observer_does_not_keep_the_span_empty() {
    let (subscribed, _guard) = Subscribed::all();
    let other = |_: &Outcome<'_>| {};
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TracingLayer::new())
        .layer(TerminalStateLayer::builder().observe(other.and(())).build().unwrap())
        .service(Peer::new([Answer::never()]));
    assert!(stack.oneshot(V1.get()).await.is_err());
    assert_eq!(subscribed.call().1.fields["a2a.class"], "head");
    assert_eq!(subscribed.end().fields["a2a.class"], "head");
}

/// Who does not want spans gets none, and the call passes as ever.
#[tokio::test(start_paused = true)]
async fn a_span_that_nobody_wants_is_not_opened() {
    let (subscribed, _guard) = Subscribed::up_to(Level::WARN);
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TracingLayer::new())
        .layer(
            TerminalStateLayer::builder().limits(Limits::within(s(5))).observe(TracingObserver::new()).build().unwrap(),
        )
        .service(Peer::new([Answer::json(answer("COMPLETED")), Answer::never()]));
    read(stack.clone().oneshot(V1.get()).await).await.unwrap();
    assert!(subscribed.events().is_empty(), "a success is told more quietly");
    assert!(stack.oneshot(V1.get()).await.is_err());
    assert_eq!(subscribed.end().fields["a2a.class"], "total");
    assert!(subscribed.spans().is_empty());
}
