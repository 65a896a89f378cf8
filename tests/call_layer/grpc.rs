//! gRPC: the path names operation and version, the message tenant and task.

use a2a_guard::{
    Binding, Call, CallLayer, Operation, ProtocolVersion,
    wire::grpc::{
        GrpcDialect,
        encode::{Message, about_task, send_text},
    },
};
use bytes::Bytes;
use http::Request;
use tokio::time::Instant;

use crate::{
    call_of,
    mock::{MockBody, frames_of, ms, s},
    named, passed, request,
};

fn grpc(path: &str, body: MockBody) -> Request<MockBody> {
    let mut request = request("POST", path, body);
    request.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
    request
}

/// As tonic sends it: one frame, and then the end.
pub(crate) fn of(path: &str, message: &Message) -> Request<MockBody> {
    grpc(path, MockBody::new().data(message.framed().unwrap()))
}

const GET: &str = "/lf.a2a.v1.A2AService/GetTask";
const SEND: &str = "/lf.a2a.v1.A2AService/SendMessage";

#[tokio::test(start_paused = true)]
async fn path_and_message_name_a_call() {
    let call = named(&CallLayer::new(), of(GET, &about_task(GrpcDialect::V1, "t-1", Some("acme")))).await;
    assert_eq!((call.binding(), call.operation()), (Some(Binding::Grpc), Some(Operation::GetTask)));
    assert_eq!(
        (call.version(), call.tenant(), call.task_id()),
        (Some(ProtocolVersion::V1_0), Some("acme"), Some("t-1"))
    );
    let request = of("/a2a.v1.A2AService/TaskSubscription", &about_task(GrpcDialect::V03, "t-1", None));
    let call = named(&CallLayer::new(), request).await;
    assert_eq!((call.operation(), call.version()), (Some(Operation::SubscribeToTask), Some(ProtocolVersion::V0_3)));
    assert_eq!((call.tenant(), call.task_id(), call.is_streaming()), (None, Some("t-1"), true));
}

/// What `a2a-version` says is the card's business: the messages are those of the package.
#[tokio::test(start_paused = true)]
async fn the_package_says_the_version() {
    for media in ["application/grpc", "application/grpc+proto", "Application/GRPC; x=y"] {
        let mut request = of(GET, &Message::new());
        request.headers_mut().insert("content-type", media.parse().unwrap());
        request.headers_mut().insert("a2a-version", "0.3".parse().unwrap());
        assert_eq!(named(&CallLayer::new(), request).await.version(), Some(ProtocolVersion::V1_0), "{media}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_send_says_whether_it_waits() {
    let v1 = |on: u64| Message::new().message(3, Message::new().number(4, on));
    let v03 = |on: u64| Message::new().message(2, Message::new().number(4, on));
    for (path, message, blocks) in [
        (SEND, Message::new(), true),
        (SEND, v1(0), true),
        (SEND, v1(1), false),
        ("/a2a.v1.A2AService/SendMessage", Message::new(), true),
        ("/a2a.v1.A2AService/SendMessage", v03(1), true),
        ("/a2a.v1.A2AService/SendMessage", v03(0), false),
        (GET, Message::new(), false),
    ] {
        assert_eq!(named(&CallLayer::new(), of(path, &message)).await.is_blocking(), blocks, "{path} {message:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn metadata_keys_tell_skill_and_region() {
    let value = |text: &str| Message::new().text(3, text);
    let entry = |key: &str, text: &str| Message::new().text(1, key).message(2, value(text));
    let metadata = Message::new().message(1, entry("skillId", "translate")).message(1, entry("region", "eu"));
    let layer = CallLayer::new().skill_metadata("skillId").region_metadata("region");
    for message in
        [Message::new().message(4, metadata.clone()), Message::new().message(2, Message::new().message(6, metadata))]
    {
        let call = named(&layer, of(SEND, &message)).await;
        assert_eq!((call.skill(), call.region()), (Some("translate"), Some("eu")));
    }
    assert_eq!(named(&CallLayer::new(), of(SEND, &Message::new())).await.skill(), None);
}

#[tokio::test(start_paused = true)]
async fn what_the_caller_set_wins() {
    let mut request = of(GET, &about_task(GrpcDialect::V1, "t-1", Some("acme")));
    request.extensions_mut().insert(Call::new().with_tenant("mine").with_version(ProtocolVersion::V0_3));
    let call = named(&CallLayer::new(), request).await;
    assert_eq!((call.tenant(), call.operation()), (Some("mine"), Some(Operation::GetTask)));
    // The messages are those of the package all the same.
    assert_eq!((call.version(), call.task_id()), (Some(ProtocolVersion::V0_3), Some("t-1")));
}

#[tokio::test(start_paused = true)]
async fn the_body_goes_on_as_it_came_and_whole_if_it_was_there() {
    let message = send_text(GrpcDialect::V1, "m", "hello", &[], None).framed().unwrap();
    let request = passed(&CallLayer::new(), grpc(SEND, MockBody::new().data(message.clone()))).await;
    assert_eq!(request.body().as_bytes(), Some(&message));
    let pieces: Vec<Bytes> = message.chunks(3).map(Bytes::copy_from_slice).collect();
    let request = passed(&CallLayer::new(), grpc(SEND, MockBody::of(pieces.clone()))).await;
    assert_eq!(call_of(&request).operation(), Some(Operation::SendMessage));
    assert_eq!(frames_of(request.into_body()).await.0, pieces);
}

/// Its one message is there: what is still to come is nothing that names the call.
#[tokio::test(start_paused = true)]
async fn an_end_that_does_not_come_is_not_waited_for() {
    let started = Instant::now();
    let message = about_task(GrpcDialect::V1, "t-1", None).framed().unwrap();
    let body = MockBody::new().data(message.clone()).wait(s(5)).trailers("x-end", "late");
    let request = passed(&CallLayer::new(), grpc(GET, body)).await;
    assert_eq!((call_of(&request).task_id(), started.elapsed()), (Some("t-1"), s(0)));
    let (frames, trailers) = frames_of(request.into_body()).await;
    assert_eq!((frames.concat(), trailers.unwrap()["x-end"].as_bytes()), (message.to_vec(), &b"late"[..]));
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_slowly_is_waited_for() {
    let message = about_task(GrpcDialect::V1, "t-1", None).framed().unwrap();
    let (first, second) = message.split_at(7);
    let body = || MockBody::new().data(first.to_vec()).wait(s(20)).data(second.to_vec());
    assert_eq!(named(&CallLayer::new(), grpc(GET, body())).await.task_id(), Some("t-1"));
    // But no longer than the request gives the call.
    let mut request = grpc(GET, body());
    request.headers_mut().insert("grpc-timeout", "1500m".parse().unwrap());
    let started = Instant::now();
    assert_eq!((named(&CallLayer::new(), request).await.task_id(), started.elapsed()), (None, ms(1500)));
    // A malformed one says nothing.
    let mut request = grpc(GET, body());
    request.headers_mut().insert("grpc-timeout", "1.5s".parse().unwrap());
    assert_eq!(named(&CallLayer::new(), request).await.task_id(), Some("t-1"));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_passes_on() {
    for bytes in [&b"\x01\0\0\0\x03abc"[..], b"{\"id\":\"t-1\"}", b"\0\0\0\0\x02\xff\xff", b""] {
        let request = passed(&CallLayer::new(), grpc(GET, MockBody::new().data(bytes))).await;
        let call = call_of(&request);
        assert_eq!((call.operation(), call.task_id()), (Some(Operation::GetTask), None));
        assert_eq!(frames_of(request.into_body()).await.0.concat(), bytes);
    }
}

#[tokio::test(start_paused = true)]
async fn other_services_are_not_read() {
    let request = grpc("/grpc.health.v1.Health/Check", MockBody::new().hang());
    let call = named(&CallLayer::new(), request).await;
    assert_eq!((call.binding(), call.operation()), (Some(Binding::Grpc), None));
}
