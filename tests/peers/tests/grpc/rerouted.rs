//! Middleware between a generated client and the layers writes the path anew, as a mesh does that routes by its own
//! names.

use a2a_guard::{Operation, Outcome, ProtocolVersion};
use a2a_pb::proto::a2a_service_client::A2aServiceClient;
use a2a_pb::proto::stream_response::Payload;
use a2a_pb::proto::{StreamResponse, Task, TaskState, TaskStatus};
use prost::Message;
use std::sync::{Arc, Mutex};
use tonic::Code;
use tower::ServiceBuilder;

use crate::h2_peer::{End, Peer, Script};
use crate::{channel, send};

fn task(state: TaskState) -> Vec<u8> {
    let status = TaskStatus { state: state.into(), ..TaskStatus::default() };
    let task = Task { id: "task-1".to_owned(), status: Some(status), ..Task::default() };
    StreamResponse { payload: Some(Payload::Task(task)) }.encode_to_vec()
}

/// What the client says beside the path names the call: its stream is judged, and ends as it should.
#[tokio::test]
async fn a_call_is_named_though_its_path_says_nothing() {
    let cut = Script::grpc().message(task(TaskState::Working)).status(0, "");
    let done = Script::grpc().message(task(TaskState::Completed)).end(End::Cut);
    let peer = Peer::serve([cut, done]).await.unwrap();
    let origin = format!("http://{}", peer.addr());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let ending = a2a_guard::TerminalStateLayer::builder().observe(move |outcome: &Outcome<'_>| {
        let call = outcome.call();
        told.lock().unwrap().push((call.operation(), call.version(), outcome.class().as_str()));
    });
    let layers = (a2a_guard::CallLayer::new(), ending.build().unwrap());
    let guarded = a2a_guard::tonic::channel_with(channel(&origin), &*origin, layers).unwrap();
    let rerouted = ServiceBuilder::new()
        .map_request(|mut request: http::Request<tonic::body::Body>| {
            *request.uri_mut() = http::Uri::from_static("/route-42");
            request
        })
        .service(guarded);
    let mut client = A2aServiceClient::new(rerouted);

    let mut events = client.send_streaming_message(send("hello")).await.unwrap().into_inner();
    assert!(events.message().await.unwrap().is_some());
    let status = events.message().await.unwrap_err();
    assert_eq!(status.code(), Code::Internal, "{status:?}");
    assert_eq!(a2a_guard::tonic::call_error(&status).unwrap().task_id(), Some("task-1"));

    let mut events = client.send_streaming_message(send("hello")).await.unwrap().into_inner();
    assert!(events.message().await.unwrap().is_some());
    assert!(events.message().await.unwrap().is_none());

    let (operation, version) = (Some(Operation::SendStreamingMessage), Some(ProtocolVersion::V1_0));
    assert_eq!(*seen.lock().unwrap(), [(operation, version, "truncated"), (operation, version, "success")]);
    assert!(peer.requests().iter().all(|request| request.target == "/route-42"));
}
