use tower_layer::Layer;

use super::TracingService;

/// Opens a span for each call, and keeps it open until its answer's body has been read or dropped.
///
/// Directly below [`CallLayer`](crate::CallLayer), which names the call; above all else, so that whatever the layers
/// below and the client do for the call happens in it. Below a retry policy there is a span an attempt, above it one
/// for all. The span says how the call ended where [`TracingObserver`](super::TracingObserver) observes it; failures
/// are filled in without one.
///
/// The span is at `INFO`, its target is `a2a_guard::call` and its name `a2a.call`. Fields, as far as they are known:
///
/// | field | what | named so by |
/// | --- | --- | --- |
/// | `otel.name`, `otel.kind`, `otel.status_code` | the operation, `client`, `ERROR` unless the call succeeded or was abandoned | tracing-opentelemetry |
/// | `a2a.method` | the operation: `SendMessage` | agentgateway; `a2a.method.name` in OpenTelemetry's draft |
/// | `a2a.binding` | `JSONRPC`, `HTTP+JSON`, `GRPC` | Kong's `kong.gen_ai.a2a.binding` |
/// | `a2a.protocol.version` | `1.0` | OpenTelemetry's draft |
/// | `a2a.tenant`, `a2a.task.id` | as sent, else as answered | OpenTelemetry's draft |
/// | `a2a.task.state` | the last one seen, as 1.0 spells it | OpenTelemetry's draft, agentgateway |
/// | `gen_ai.conversation.id` | the request's context id | OpenTelemetry's draft; `a2a.context.id` in agentgateway |
/// | `server.address`, `server.port` | where the request goes | OpenTelemetry |
/// | `error.type` | the class, of a call that failed | OpenTelemetry |
/// | `http.response.status_code` | of the response head | OpenTelemetry |
/// | `rpc.response.status_code` | the JSON-RPC or gRPC code that the peer gave | OpenTelemetry's draft |
/// | `a2a.outcome`, `a2a.class` | the words of [`OutcomeKind`](crate::OutcomeKind) and [`Class`](crate::Class) | here |
/// | `a2a.retry` | the word of [`Retry`](crate::Retry) | here |
/// | `a2a.streaming`, `a2a.events`, `a2a.first_event.seconds` | of streams | here |
/// | `a2a.response.bytes`, `a2a.tolerated` | of all calls | here |
/// | `a2a.skill`, `a2a.region` | as the call names them | here |
///
/// The draft: the A2A client span of
/// [OpenTelemetry's conventions for generative AI](https://github.com/open-telemetry/semantic-conventions-genai/pull/195),
/// which is under development and covers the call and its stream, as this span does. Texts that others chose are
/// escaped and cut to 128 characters. No header, no body and no query is told.
///
/// ```
/// use a2a_guard::{CallLayer, TerminalStateLayer, observability::{TracingLayer, TracingObserver}};
/// use tower::ServiceBuilder;
///
/// let layers = ServiceBuilder::new()
///     .layer(CallLayer::new())
///     .layer(TracingLayer::new())
///     .layer(TerminalStateLayer::builder().observe(TracingObserver::new()).build()?);
/// # let _ = layers;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TracingLayer;

impl TracingLayer {
    /// A span a call.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for TracingLayer {
    type Service = TracingService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        TracingService::new(inner)
    }
}
