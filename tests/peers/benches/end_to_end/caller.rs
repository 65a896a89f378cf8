//! The clients that are compared: each with a connection of its own.

use std::{fmt::Debug, net::SocketAddr, pin::pin, time::Duration};

use a2a::{Message, Part, Role, SendMessageRequest, SendMessageResponse};
use a2a_client::{A2AClient, jsonrpc::JsonRpcTransport};
use a2a_guard::{
    CallBody, Guard, ProbeCacheLayer,
    guard::{GuardCards, GuardProbes},
};
use a2a_protocol_client::ClientBuilder;
use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tower::{Layer, Service, ServiceExt, timeout::Timeout};
use tower_http::timeout::ResponseBodyTimeout;

use crate::agent::EVENTS;

/// What timeouts alone bound a call's head and each wait for more of its body by.
const BOUND: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bare,
    /// tower's timeout for the head and tower-http's for the body: what people stack to have a bound at all.
    Timed,
    Guarded,
    Official,
    Protocol,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [Self::Bare, Self::Timed, Self::Guarded, Self::Official, Self::Protocol];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bare => "hyper-util",
            Self::Timed => "the same, timeouts",
            Self::Guarded => "the same, guarded",
            Self::Official => "a2a-client-lf",
            Self::Protocol => "a2a-protocol-client",
        }
    }
}

type Hyper<B> = Client<HttpConnector, B>;
type Timed = Timeout<ResponseBodyTimeout<Hyper<Full<Bytes>>>>;
type Guarded = <Guard<(), GuardCards, GuardProbes> as Layer<Hyper<CallBody<Full<Bytes>>>>>::Service;

pub(crate) enum Caller {
    Bare(Hyper<Full<Bytes>>, Asked),
    Timed(Timed, Asked),
    Guarded(Box<Guarded>, Asked),
    Official(Box<A2AClient<JsonRpcTransport>>, SendMessageRequest),
    Protocol(Box<a2a_protocol_client::A2aClient>, Box<a2a_protocol_types::MessageSendParams>),
}

impl Caller {
    /// None where such a client cannot speak HTTP/2 without TLS.
    pub(crate) fn new(kind: Kind, agent: SocketAddr, http2: bool) -> Option<Self> {
        let at = format!("http://{agent}/rpc");
        Some(match kind {
            Kind::Bare => Self::Bare(hyper(http2), Asked::new(&at)),
            Kind::Timed => {
                let bodies = ResponseBodyTimeout::new(hyper(http2), BOUND);
                Self::Timed(Timeout::new(bodies, BOUND), Asked::new(&at))
            }
            Kind::Guarded => {
                let client = hyper(http2);
                let probes = ProbeCacheLayer::builder(client.clone()).build().expect("a layer");
                let guard = Guard::builder().cards(client.clone()).availability(probes).build().expect("a guard");
                Self::Guarded(Box::new(guard.layer(client)), Asked::new(&at))
            }
            Kind::Official => {
                let client = reqwest::Client::builder().no_proxy();
                let client = if http2 { client.http2_prior_knowledge() } else { client };
                let transport = JsonRpcTransport::new(client.build().expect("a client"), at);
                let message = Message::new(Role::User, vec![Part::text(text())]);
                let request = SendMessageRequest { message, configuration: None, metadata: None, tenant: None };
                Self::Official(Box::new(A2AClient::new(transport)), request)
            }
            Kind::Protocol if http2 => return None,
            Kind::Protocol => {
                use a2a_protocol_types::{Message, MessageId, MessageRole, MessageSendParams, Part};
                let message = Message {
                    id: MessageId::new("m"),
                    role: MessageRole::User,
                    parts: vec![Part::text(text())],
                    task_id: None,
                    context_id: None,
                    reference_task_ids: None,
                    extensions: None,
                    metadata: None,
                };
                let params = MessageSendParams { tenant: None, message, configuration: None, metadata: None };
                let client = ClientBuilder::new(at).build().expect("a client");
                Self::Protocol(Box::new(client), Box::new(params))
            }
        })
    }

    /// One call, read to its end.
    pub(crate) async fn unary(&mut self) {
        match self {
            Self::Bare(client, asked) => read(client.request(asked.request("SendMessage")).await).await,
            Self::Timed(client, asked) => {
                let ready = client.ready().await.expect("a client");
                read(ready.call(asked.request("SendMessage")).await).await;
            }
            Self::Guarded(client, asked) => {
                let ready = client.ready().await.expect("a client");
                read(ready.call(asked.request("SendMessage")).await).await;
            }
            Self::Official(client, request) => {
                let answer = client.send_message(request).await.expect("a task");
                assert!(matches!(answer, SendMessageResponse::Task(_)));
            }
            Self::Protocol(client, params) => {
                let answer = client.send_message(params.as_ref().clone()).await.expect("a task");
                assert!(matches!(answer, a2a_protocol_types::SendMessageResponse::Task(_)));
            }
        }
    }

    /// One stream, read to its end.
    pub(crate) async fn stream(&mut self) {
        match self {
            Self::Bare(client, asked) => read(client.request(asked.request("SendStreamingMessage")).await).await,
            Self::Timed(client, asked) => {
                let ready = client.ready().await.expect("a client");
                read(ready.call(asked.request("SendStreamingMessage")).await).await;
            }
            Self::Guarded(client, asked) => {
                let ready = client.ready().await.expect("a client");
                read(ready.call(asked.request("SendStreamingMessage")).await).await;
            }
            Self::Official(client, request) => {
                let mut stream = client.send_streaming_message(request).await.expect("a stream");
                let mut events = 0;
                while let Some(event) = stream.next().await {
                    event.expect("an event");
                    events += 1;
                }
                assert_eq!(events, EVENTS);
            }
            Self::Protocol(client, params) => {
                let mut stream = client.stream_message(params.as_ref().clone()).await.expect("a stream");
                let mut events = 0;
                while let Some(event) = stream.next().await {
                    event.expect("an event");
                    events += 1;
                }
                assert_eq!(events, EVENTS);
            }
        }
    }
}

fn hyper<B>(http2: bool) -> Hyper<B>
where
    B: Body<Data: Send> + Send,
{
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).http2_only(http2).build(connector)
}

/// What makes a request of 1 KiB.
fn text() -> String {
    "x".repeat(800)
}

/// The requests of the first two: made like any other, of a URI and a text.
pub(crate) struct Asked {
    at: http::Uri,
    message: String,
}

impl Asked {
    fn new(at: &str) -> Self {
        let message = format!(r#"{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"{}"}}]}}"#, text());
        Self { at: at.parse().expect("a URI"), message }
    }

    fn request(&self, method: &str) -> Request<Full<Bytes>> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{}}}}}"#, self.message);
        Request::post(self.at.clone())
            .header("content-type", "application/json")
            .header("a2a-version", "1.0")
            .body(Full::from(body))
            .expect("a request")
    }
}

/// Of a body's end, how much is kept, in bytes: the completion is there.
const END: usize = 128;

/// Reads and drops the body, whose end tells that it is complete.
async fn read<B, E>(response: Result<Response<B>, E>)
where
    B: Body<Data = Bytes, Error: Debug>,
    E: Debug,
{
    let response = response.expect("a response");
    assert_eq!(response.status(), 200);
    let mut body = pin!(response.into_body());
    let mut end = Vec::with_capacity(2 * END);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.expect("a whole body").into_data() {
            end.extend_from_slice(&data[data.len().saturating_sub(END)..]);
            end.drain(..end.len().saturating_sub(END));
        }
    }
    assert!(end.windows(9).any(|part| part == b"COMPLETED"), "{}", end.escape_ascii());
}
