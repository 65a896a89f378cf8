//! `CallLayer`: names each call, and changes not a byte of it.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod bodies;
mod grpc;
mod grpc_method;
mod http_json;
mod json_rpc;
mod sequences;
mod slow;
mod words;

use a2a_guard::{Call, CallBody, CallLayer};
use bytes::Bytes;
use http::Request;
use tower::{Layer, Service, ServiceExt};

use mock::{Answer, MockBody, Peer};

/// What the client below sees of a request.
async fn passed(layer: &CallLayer, request: Request<MockBody>) -> Request<CallBody<MockBody>> {
    let peer = Peer::new([Answer::json("{}")]);
    let mut service = layer.layer(peer.clone());
    service.ready().await.unwrap().call(request).await.unwrap();
    peer.requests().remove(0)
}

/// What a request is named.
async fn named(layer: &CallLayer, request: Request<MockBody>) -> Call {
    call_of(&passed(layer, request).await)
}

fn call_of<B>(request: &Request<B>) -> Call {
    request.extensions().get::<Call>().expect("each request has its call").clone()
}

fn request(method: &str, path: &str, body: MockBody) -> Request<MockBody> {
    let uri = format!("https://agent.example.com{path}");
    Request::builder().method(method).uri(uri).body(body).unwrap()
}

/// A JSON-RPC request, in one frame.
fn post(body: impl Into<Bytes>) -> Request<MockBody> {
    request("POST", "/a2a", MockBody::new().data(body))
}

/// A JSON-RPC request with the id 1.
fn rpc(method: &str, params: &str) -> Request<MockBody> {
    post(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#))
}
