//! The layers between a generated client and the official Rust server.

use std::time::{Duration, Instant};

use a2a_guard::{CallError, CallLayer, Limits, Retry, TerminalStateLayer};
use a2a_guard_peers::{GrpcServer, Profile};
use a2a_pb::proto::a2a_service_client::A2aServiceClient;
use a2a_pb::proto::stream_response::Payload;
use a2a_pb::proto::{
    CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, StreamResponse, SubscribeToTaskRequest, Task,
    TaskState, send_message_response,
};
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt;

use crate::{channel, guarded, send};

/// The bound under test. What the server says at once has to come within it, on a machine that stands still for a
/// while.
const BOUND: Duration = Duration::from_secs(1);
/// What a call may take beyond its bound, on a machine that does other things too. That is less than all its other
/// bounds: it was none of them that ended it.
const SLACK: Duration = Duration::from_secs(10);
/// All others.
const LONG: Duration = Duration::from_secs(30);

type Bounded = A2aServiceClient<a2a_guard::tonic::GuardedChannel<Channel>>;

fn bounded(origin: &str, change: impl FnOnce(Limits) -> Limits) -> Bounded {
    let limits = change(Limits::within(LONG));
    let layers = (CallLayer::new(), TerminalStateLayer::builder().limits(limits).build().unwrap());
    A2aServiceClient::new(a2a_guard::tonic::channel_with(channel(origin), origin, layers).unwrap())
}

fn error(status: &Status) -> &CallError {
    a2a_guard::tonic::call_error(status).unwrap_or_else(|| panic!("no error of ours behind {status:?}"))
}

fn word(status: &Status) -> String {
    format!("{}/{}", error(status).outcome(), error(status).class())
}

async fn task(client: &mut Bounded, text: &str) -> Result<Task, Status> {
    match client.send_message(send(text)).await?.into_inner().payload {
        Some(send_message_response::Payload::Task(task)) => Ok(task),
        other => panic!("no task: {other:?}"),
    }
}

/// The events of a stream, and how it ended.
async fn read(mut stream: Streaming<StreamResponse>) -> (Vec<Payload>, Result<(), Status>) {
    let mut events = Vec::new();
    loop {
        match stream.message().await {
            Ok(Some(event)) => events.push(event.payload.unwrap()),
            Ok(None) => return (events, Ok(())),
            Err(status) => return (events, Err(status)),
        }
    }
}

async fn stream(client: &mut Bounded, text: &str) -> (Vec<Payload>, Result<(), Status>) {
    match client.send_streaming_message(send(text)).await {
        Ok(response) => read(response.into_inner()).await,
        Err(status) => (Vec::new(), Err(status)),
    }
}

fn state_of(payload: &Payload) -> Option<TaskState> {
    let status = match payload {
        Payload::Task(task) => task.status.as_ref(),
        Payload::StatusUpdate(update) => update.status.as_ref(),
        _ => None,
    };
    Some(status?.state())
}

#[tokio::test]
async fn unary_calls() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let mut client = guarded(&server.origin());
    let done = task(&mut client, "task").await.unwrap();
    assert_eq!(done.status.as_ref().unwrap().state(), TaskState::Completed);
    let failed = task(&mut client, "fail").await.unwrap();
    assert_eq!(failed.status.unwrap().state(), TaskState::Failed);

    let answer = client.send_message(send("message")).await.unwrap().into_inner();
    assert!(matches!(answer.payload, Some(send_message_response::Payload::Message(_))));
    let request = GetTaskRequest { id: done.id.clone(), ..GetTaskRequest::default() };
    assert_eq!(client.get_task(request).await.unwrap().into_inner().id, done.id);
    let card = client.get_extended_agent_card(GetExtendedAgentCardRequest::default()).await.unwrap().into_inner();
    assert!(card.name.ends_with("(extended)"));
}

#[tokio::test]
async fn streams() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let mut client = guarded(&server.origin());
    for (text, state) in [
        ("task", TaskState::Completed),
        ("slow:2", TaskState::Completed),
        ("fail", TaskState::Failed),
        ("reject", TaskState::Rejected),
        ("input", TaskState::InputRequired),
        ("auth", TaskState::AuthRequired),
        ("big:300000", TaskState::Completed),
        ("after", TaskState::Completed),
    ] {
        let (events, ended) = stream(&mut client, text).await;
        ended.unwrap_or_else(|status| panic!("{text}: {status}"));
        assert!(events.iter().filter_map(state_of).any(|last| last == state), "{text}: {events:?}");
    }
    let (events, ended) = stream(&mut client, "message").await;
    ended.unwrap();
    assert!(matches!(events[..], [Payload::Message(_)]));
}

#[tokio::test]
async fn refusals() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let mut client = guarded(&server.origin());
    let expect = |status: Status, code: Code, reason: &str, a2a: &str| {
        assert_eq!(word(&status), "refused/peer_error");
        assert_eq!(status.code(), code, "{status:?}");
        assert_eq!(status.get_error_details().error_info().unwrap().reason, reason);
        let error = error(&status);
        assert_eq!((error.reason(), error.grpc_code()), (Some(reason), Some(code as i32)));
        assert_eq!(error.a2a_error().map(|error| error.name()), Some(a2a));
    };
    let get = GetTaskRequest { id: "nobody".to_owned(), ..GetTaskRequest::default() };
    let status = client.get_task(get).await.unwrap_err();
    expect(status, Code::NotFound, "TASK_NOT_FOUND", "TaskNotFoundError");

    let done = task(&mut client, "task").await.unwrap();
    let cancel = CancelTaskRequest { id: done.id.clone(), ..CancelTaskRequest::default() };
    let status = client.cancel_task(cancel).await.unwrap_err();
    expect(status, Code::FailedPrecondition, "TASK_NOT_CANCELABLE", "TaskNotCancelableError");

    let subscribe = SubscribeToTaskRequest { id: done.id, ..SubscribeToTaskRequest::default() };
    let status = client.subscribe_to_task(subscribe).await.unwrap_err();
    expect(status, Code::FailedPrecondition, "UNSUPPORTED_OPERATION", "UnsupportedOperationError");

    let status = task(&mut client, "typed0").await.unwrap_err();
    expect(status, Code::InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError");
    let (events, ended) = stream(&mut client, "typed").await;
    assert_eq!(events.len(), 2);
    let status = ended.unwrap_err();
    assert_eq!(error(&status).events(), 2);
    assert_eq!(error(&status).retry(), Retry::Unsafe);
    expect(status, Code::InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError");

    let server = GrpcServer::start(Profile::Bare).await.unwrap();
    let (events, ended) = stream(&mut guarded(&server.origin()), "task").await;
    assert!(events.is_empty());
    expect(ended.unwrap_err(), Code::FailedPrecondition, "UNSUPPORTED_OPERATION", "UnsupportedOperationError");
}

#[tokio::test]
async fn hangs_and_panics() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let bound = |limits: Limits| limits.head(BOUND).blocking_head(BOUND).first_event(BOUND).idle(BOUND);
    let mut client = bounded(&server.origin(), bound);
    for text in ["hang0", "hang", "crash0", "crash", "panicsync"] {
        let began = Instant::now();
        let status = task(&mut client, text).await.unwrap_err();
        let took = began.elapsed();
        // A panic may come through as an answer of the server's; nothing hangs.
        let ended = word(&status);
        assert!(
            ended == "timeout/head" || (text.contains("panic") || text.contains("crash")) && ended != "success/success",
            "{text}: {ended}"
        );
        assert!(took < BOUND + SLACK, "{text}: {took:?}");
    }
    for (text, ended, events) in [("hang0", "timeout/first_event", 0), ("hang", "timeout/idle", 2)] {
        let began = Instant::now();
        let (seen, result) = stream(&mut client, text).await;
        let status = result.unwrap_err();
        assert_eq!((word(&status).as_str(), seen.len()), (ended, events), "{text}");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert_eq!(error(&status).task_id().is_some(), events > 0);
        assert!(began.elapsed() < BOUND + SLACK);
    }
    // They took no one else with them.
    task(&mut client, "task").await.unwrap();
}

#[tokio::test]
async fn crashes_in_a_stream() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let bound = |limits: Limits| limits.head(BOUND).first_event(BOUND).idle(BOUND);
    let mut client = bounded(&server.origin(), bound);
    for text in ["crash0", "crash", "panicsync"] {
        let began = Instant::now();
        let (_, ended) = stream(&mut client, text).await;
        let status = ended.unwrap_err();
        let outcome = error(&status).outcome().as_str();
        assert!(["timeout", "broken", "transport", "refused"].contains(&outcome), "{text}: {status:?}");
        assert!(began.elapsed() < BOUND + SLACK, "{text}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn streams_that_end_too_early() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let mut client = guarded(&server.origin());
    let (events, ended) = stream(&mut client, "empty").await;
    assert!(events.is_empty());
    assert_eq!(word(&ended.unwrap_err()), "broken/empty");
    let (events, ended) = stream(&mut client, "unfinished").await;
    let status = ended.unwrap_err();
    assert_eq!((word(&status).as_str(), events.len()), ("broken/truncated", 2));
    assert_eq!(error(&status).task_state().map(|state| state.as_str()), Some("TASK_STATE_WORKING"));
    assert!(error(&status).task_id().is_some());
}

#[tokio::test]
async fn a_server_that_dies_in_a_stream() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let mut client = guarded(&server.origin());
    let mut events = client.send_streaming_message(send("hang")).await.unwrap().into_inner();
    events.message().await.unwrap().unwrap();
    events.message().await.unwrap().unwrap();
    let began = Instant::now();
    drop(server);
    let status = events.message().await.unwrap_err();
    assert_eq!(word(&status), "broken/truncated");
    assert_eq!(status.code(), Code::Internal);
    assert_eq!(error(&status).events(), 2);
    assert!(error(&status).task_id().is_some());
    assert!(began.elapsed() < SLACK);

    // And nobody is there any more.
    let status = client.send_message(send("task")).await.unwrap_err();
    assert_eq!((word(&status).as_str(), status.code()), ("transport/connect", Code::Unavailable));
}

#[tokio::test]
async fn a_server_that_dies_before_its_answer() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let mut client = guarded(&server.origin());
    let asked = tokio::spawn(async move { client.send_message(send("hang0")).await });
    while server.asked() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(server);
    let status = asked.await.unwrap().unwrap_err();
    assert_eq!((word(&status).as_str(), status.code()), ("transport/connection_lost", Code::Unavailable));
    assert_eq!(error(&status).retry(), Retry::Unsafe);
}

#[tokio::test]
async fn deadlines() {
    let server = GrpcServer::start(Profile::Full).await.unwrap();
    let mut client = guarded(&server.origin());
    for text in ["hang0", "slow:100"] {
        let mut request = tonic::Request::new(send(text));
        request.set_timeout(BOUND);
        let began = Instant::now();
        let status = client.send_message(request).await.unwrap_err();
        assert_eq!((word(&status).as_str(), status.code()), ("timeout/total", Code::DeadlineExceeded), "{text}");
        assert!(began.elapsed() < BOUND + SLACK);
    }
    // tonic's own timers know heads alone.
    let mut request = tonic::Request::new(send("slow:100"));
    request.set_timeout(BOUND);
    let began = Instant::now();
    let (events, ended) = read(client.send_streaming_message(request).await.unwrap().into_inner()).await;
    let status = ended.unwrap_err();
    assert_eq!((word(&status).as_str(), status.code()), ("timeout/total", Code::DeadlineExceeded));
    assert!(events.len() >= 2);
    assert!(began.elapsed() < BOUND + SLACK);
}
