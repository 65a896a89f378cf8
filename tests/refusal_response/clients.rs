//! Unmodified clients above: one that speaks JSON-RPC and nothing else, through an axum router, over a real socket; and
//! tonic's, to which a service that cannot fail is a channel like any other.

use std::net::{Ipv4Addr, SocketAddr};

use a2a_guard::{CallLayer, Limits, RefusalResponseLayer};
use axum::Router;
use bytes::Bytes;
use http::{Request, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use serde_json::{Value, json};
use tower::{Layer, Service, ServiceBuilder};

use crate::{
    mock::{Answer, Dialect, MockBody, Peer, ms},
    plain,
};

use Dialect::V1;

/// A gateway whose one upstream answers so.
async fn gateway(answers: impl IntoIterator<Item = Answer>) -> SocketAddr {
    let ending = plain().limits(Limits::default().idle(ms(50)).head(ms(50)).blocking_head(ms(50))).build().unwrap();
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(ending)
        .service(Peer::new(answers));
    // The service cannot fail, so a router takes it as it is.
    let router: Router = Router::new().fallback_service(stack);
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let router = router.clone();
            tokio::spawn(async move {
                auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(socket), TowerToHyperService::new(router))
                    .await
            });
        }
    });
    address
}

/// A JSON-RPC client as anyone writes it.
struct Plain {
    address: SocketAddr,
    id: u64,
}

impl Plain {
    /// The result, or the error object: there is no third way.
    async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let answer: Value = serde_json::from_slice(&self.post(method, params).await).expect("JSON");
        Self::result(self.id, answer)
    }

    /// The results of a stream, and the error that ended it, if one did.
    async fn stream(&mut self, method: &str, params: Value) -> (Vec<Value>, Option<Value>) {
        let body = String::from_utf8(self.post(method, params).await.to_vec()).unwrap();
        let mut results = Vec::new();
        for event in body.split("\n\n").filter(|event| !event.is_empty()) {
            let data: String = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            match Self::result(self.id, serde_json::from_str(&data).expect("JSON in each event")) {
                Ok(result) => results.push(result),
                Err(error) => return (results, Some(error)),
            }
        }
        (results, None)
    }

    fn result(id: u64, mut answer: Value) -> Result<Value, Value> {
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)));
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].take()),
        }
    }

    async fn post(&mut self, method: &str, params: Value) -> Bytes {
        self.id += 1;
        let body = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        let request = Request::post(format!("http://{}/a2a", self.address))
            .header(CONTENT_TYPE, "application/json")
            .header("a2a-version", "1.0")
            .body(Full::<Bytes>::from(body.to_string()))
            .unwrap();
        let response = Client::builder(TokioExecutor::new()).build_http().request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        response.into_body().collect().await.expect("a body that ends well").to_bytes()
    }
}

#[tokio::test]
async fn a_plain_json_rpc_client_gets_a_result_or_a_typed_error() {
    let address = gateway([
        Answer::json(V1.result(&V1.bare_task("COMPLETED"))),
        Answer::never(),
        Answer::new(500, "text/html", MockBody::new().data("<html>")),
        Answer::lost(std::io::ErrorKind::ConnectionRefused),
    ])
    .await;
    let mut client = Plain { address, id: 0 };
    let task = json!({ "id": "task-1" });
    assert_eq!(client.call("GetTask", task.clone()).await.unwrap()["status"]["state"], "TASK_STATE_COMPLETED");
    // The others are answers to calls whose ids are no longer 1.
    for (code, reason) in
        [(-32603, "CAPABILITY_TIMEOUT"), (-32006, "INVALID_AGENT_RESPONSE"), (-32603, "AGENT_UNREACHABLE")]
    {
        let error = client.call("GetTask", task.clone()).await.unwrap_err();
        assert_eq!((&error["code"], &error["data"][0]["reason"]), (&json!(code), &json!(reason)));
    }
}

#[tokio::test]
async fn so_does_its_stream() {
    let address = gateway([Answer::sse(MockBody::of([V1.task_event("WORKING")]).hang())]).await;
    let mut client = Plain { address, id: 0 };
    let message = json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "hello" }] } });
    let (results, error) = client.stream("SendStreamingMessage", message).await;
    assert_eq!(results.len(), 1);
    let error = error.unwrap();
    assert_eq!((&error["code"], &error["data"][0]["reason"]), (&json!(-32603), &json!("CAPABILITY_TIMEOUT")));
    assert_eq!(error["data"][0]["metadata"]["task_id"], "task-1");
}

/// The types that a router asks for.
#[test]
fn a_stack_is_a_service_for_routers() {
    fn takes<S>(_: &S)
    where
        S: Service<Request<axum::body::Body>, Error = std::convert::Infallible> + Clone + Send + Sync + 'static,
        S::Response: axum::response::IntoResponse,
        S::Future: Send + 'static,
    {
    }
    let peer = Peer::new([]);
    takes(&CallLayer::new().layer(RefusalResponseLayer::new().layer(plain().build().unwrap().layer(peer))));
}

/// Calls through the stack as the client does that tonic generates, without a word of tonic in the stack.
#[tokio::test(start_paused = true)]
async fn tonic_reads_a_status_where_the_layers_failed() {
    use tonic::{Code, client::Grpc};
    use tonic_prost::ProstCodec;

    let stack = |answer: Answer| {
        let layers = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(RefusalResponseLayer::new())
            .layer(plain().limits(Limits::default().idle(ms(50)).head(ms(50)).blocking_head(ms(50))).build().unwrap());
        Grpc::with_origin(layers.service(Peer::new([answer])), "https://agent.example.com".parse().unwrap())
    };
    let path = |method: &str| format!("/lf.a2a.v1.A2AService/{method}").parse().unwrap();
    let messages = |body| Answer::new(200, "application/grpc", body);

    let mut client = stack(Answer::never());
    client.ready().await.unwrap();
    let codec = ProstCodec::<(), ()>::default();
    let status = client.unary(tonic::Request::new(()), path("GetTask"), codec).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::DeadlineExceeded, "no response head within 50 ms"));
    let details = String::from_utf8_lossy(status.details());
    for word in ["google.rpc.ErrorInfo", "CAPABILITY_TIMEOUT", "a2a-guard", "GetTask over GRPC 1.0"] {
        assert!(details.contains(word), "{word}: {details}");
    }

    // StreamResponse { task: Task { id: "t-1", status: { state: WORKING } } }
    let working = &b"\0\0\0\0\x0b\x0a\x09\x0a\x03t-1\x1a\x02\x08\x02"[..];
    let mut client = stack(messages(MockBody::new().data(working).hang()));
    client.ready().await.unwrap();
    let codec = ProstCodec::<(), ()>::default();
    let stream = client.server_streaming(tonic::Request::new(()), path("SendStreamingMessage"), codec).await;
    let mut stream = stream.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(()));
    let status = stream.message().await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::DeadlineExceeded, "no bytes within 50 ms"));
    assert!(String::from_utf8_lossy(status.details()).contains("t-1"));
}

/// What the agent itself says is what tonic would have seen without the layers.
#[tokio::test(start_paused = true)]
async fn tonic_reads_the_agents_own_status() {
    use tonic::{Code, client::Grpc};
    use tonic_prost::ProstCodec;

    let body = MockBody::new().trailers("grpc-status", "5");
    let answer = Answer::new(200, "application/grpc", body).header("x-request-id", "7");
    let layers = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(plain().build().unwrap());
    let service = layers.service(Peer::new([answer]));
    let mut client = Grpc::with_origin(service, "https://agent.example.com".parse().unwrap());
    client.ready().await.unwrap();
    let path = "/lf.a2a.v1.A2AService/GetTask".parse().unwrap();
    let status = client.unary(tonic::Request::new(()), path, ProstCodec::<(), ()>::default()).await.unwrap_err();
    assert_eq!((status.code(), status.message(), status.details().len()), (Code::NotFound, "", 0));
    assert_eq!(status.metadata().get("x-request-id").unwrap(), "7");
}
