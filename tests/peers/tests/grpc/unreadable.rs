//! Answers at which a tonic client alone fails or panics, though they say that all is well, or that it is not.

use a2a_guard::{Guard, Limits};
use a2a_pb::proto::a2a_service_client::A2aServiceClient;
use a2a_pb::proto::stream_response::Payload;
use a2a_pb::proto::{SendMessageResponse, StreamResponse, Task, TaskState, TaskStatus, send_message_response};
use prost::Message;
use std::time::Duration;
use tonic::Code;

use crate::h2_peer::{End, Peer, Script};
use crate::{channel, guarded, send};

fn task(state: TaskState) -> Task {
    let status = TaskStatus { state: state.into(), ..TaskStatus::default() };
    Task { id: "task-1".to_owned(), status: Some(status), ..Task::default() }
}

fn answer() -> Vec<u8> {
    SendMessageResponse { payload: Some(send_message_response::Payload::Task(task(TaskState::Completed))) }
        .encode_to_vec()
}

fn event(state: TaskState) -> Vec<u8> {
    StreamResponse { payload: Some(Payload::Task(task(state))) }.encode_to_vec()
}

/// tonic reads the error of every answer before it looks whether there is one, and panics at details that are no
/// base64.
#[tokio::test]
async fn a_success_is_one_whatever_it_says_of_an_error() {
    for (name, value) in [
        ("grpc-status-details-bin", "!!!"),
        ("grpc-status-details-bin", "CAl"),
        ("grpc-status-details-bin", "CAk=,CAU="),
        ("grpc-message", "%ff%fe"),
    ] {
        let in_trailers = |message| Script::grpc().message(message).status(0, "").trailer(name, value);
        let in_head = |message| Script::grpc().header("grpc-status", "0").header(name, value).message(message);
        for (unary, stream) in [
            (in_trailers(answer()), in_trailers(event(TaskState::Completed))),
            (in_head(answer()), in_head(event(TaskState::Completed))),
        ] {
            let peer = Peer::serve([unary, stream]).await.unwrap();
            let mut client = guarded(&format!("http://{}", peer.addr()));
            let unary = client.send_message(send("hello")).await.unwrap().into_inner();
            assert!(unary.payload.is_some(), "{name}: {value}");
            let mut events = client.send_streaming_message(send("hello")).await.unwrap().into_inner();
            assert!(events.message().await.unwrap().is_some(), "{name}: {value}");
            assert!(events.message().await.unwrap().is_none(), "{name}: {value}");
        }
    }
}

/// tonic takes a status in the head for the last word, and does not look at trailers behind it: a failure that is told
/// in those would look like a good end.
#[tokio::test]
async fn a_rendered_failure_is_seen_behind_a_head_that_says_all_is_well() {
    let cut = Script::grpc().header("grpc-status", "0").message(event(TaskState::Working));
    let stuck = cut.clone().end(End::Hang);
    for (script, code) in [(cut, Code::Internal), (stuck, Code::DeadlineExceeded)] {
        let peer = Peer::serve([script]).await.unwrap();
        let origin = format!("http://{}", peer.addr());
        let limits = Limits::within(Duration::from_secs(30)).idle(Duration::from_secs(1));
        let guard = Guard::builder().limits(limits).build().unwrap().rendered();
        let mut client =
            A2aServiceClient::new(a2a_guard::tonic::channel_with(channel(&origin), &*origin, guard).unwrap());
        let mut events = client.send_streaming_message(send("hello")).await.unwrap().into_inner();
        assert!(events.message().await.unwrap().is_some());
        assert_eq!(events.message().await.unwrap_err().code(), code);
    }
}
