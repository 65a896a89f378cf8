//! What is done about a task that a failed or abandoned gRPC call leaves behind.

use std::time::Duration;

use a2a_guard::{
    Binding, Call, CallBody, Limits, Operation, Recovery,
    wire::grpc::{
        GrpcDialect,
        encode::{Message, about_task},
    },
};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};

use crate::{
    dialect::{
        COMPLETED, WORKING, answer, artifact, bare_task, ended, framed, ok, request, send, stream, task, trailers_only,
    },
    mock::{Answer, Ended, MockBody, Peer, call, s},
    with,
};

type Own = Peer<CallBody<Full<Bytes>>>;

/// A call through a layer that recovers by way of another peer, and what that peer was asked.
async fn recovered(
    set: impl Fn(Recovery) -> Recovery,
    request: Request<Full<Bytes>>,
    first: Answer,
    own: Vec<Answer>,
) -> (Ended, Vec<Request<CallBody<Full<Bytes>>>>) {
    let peer: Own = Peer::new(own);
    let limits = Limits::default().blocking_head(s(30)).idle(s(10));
    let ended = call(with(limits).recovery(set(Recovery::new(peer.clone()))), request, first).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    (ended, peer.requests())
}

async fn body_of(request: Request<CallBody<Full<Bytes>>>) -> Bytes {
    request.into_body().collect().await.unwrap().to_bytes()
}

fn reconcile(recovery: Recovery) -> Recovery {
    recovery.reconcile()
}

#[tokio::test(start_paused = true)]
async fn a_task_that_did_finish_becomes_the_streams_last_message() {
    let cut = || answer(MockBody::of([task(WORKING), artifact("one")]).data(artifact("two").slice(..9)).reset());
    let mut call = stream();
    call.headers_mut().insert("grpc-timeout", "5M".parse().unwrap());
    call.headers_mut().insert("grpc-accept-encoding", "gzip".parse().unwrap());
    let (ended, asked) = recovered(reconcile, call, cut(), vec![answer(ok(&[framed(&bare_task(COMPLETED))]))]).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(ended.bytes(), [task(WORKING), artifact("one"), task(COMPLETED)].concat());
    assert_eq!(ended.trailers.as_ref().unwrap()["grpc-status"], "0");
    let noted = ended.notes.one();
    assert_eq!((noted.state, noted.events, noted.tolerated), (Some("TASK_STATE_COMPLETED"), 3, vec!["reconciled"]));

    let [request] = <[_; 1]>::try_from(asked).unwrap();
    assert_eq!((request.method().as_str(), request.uri().path()), ("POST", "/lf.a2a.v1.A2AService/GetTask"));
    assert_eq!(request.version(), http::Version::HTTP_2);
    let headers = request.headers();
    assert_eq!(
        (&headers["content-type"], &headers["te"]),
        (&"application/grpc".parse().unwrap(), &"trailers".parse::<http::HeaderValue>().unwrap())
    );
    assert_eq!(headers["authorization"], "Bearer t");
    assert!(!headers.contains_key("grpc-timeout") && !headers.contains_key("grpc-accept-encoding"));
    assert_eq!(body_of(request).await, framed(&about_task(GrpcDialect::V1, "task-1", None)));
}

#[tokio::test(start_paused = true)]
async fn a_unary_answer_that_was_lost_is_asked_for_again() {
    let lost = answer(MockBody::new().data(task(WORKING)).reset());
    let (ended, _) = recovered(reconcile, send(), lost, vec![answer(ok(&[framed(&bare_task(COMPLETED))]))]).await;
    assert_eq!((ended.word().as_str(), ended.bytes()), ("success/success", task(COMPLETED).to_vec()));
    assert_eq!(ended.headers["content-type"], "application/grpc");
    assert_eq!(ended.trailers.unwrap()["grpc-status"], "0");
}

#[tokio::test(start_paused = true)]
async fn only_a_finished_task_of_that_id_will_do() {
    let other = framed(&Message::new().text(1, "task-2").message(3, Message::new().number(1, COMPLETED)));
    for own in [
        answer(ok(&[framed(&bare_task(WORKING))])),
        answer(ok(&[other])),
        answer(MockBody::new().data(framed(&bare_task(COMPLETED)))),
        answer(ended(MockBody::new().data(framed(&bare_task(COMPLETED))), &[("grpc-status", "13")])),
        answer(ok(&[])),
        trailers_only(&[("grpc-status", "5")]),
        Answer::new(200, "text/html", MockBody::new().data("<html>")),
        // All of it is right but the status or the type.
        Answer::new(200, "text/html", ok(&[framed(&bare_task(COMPLETED))])),
        Answer::new(500, "application/grpc", ok(&[framed(&bare_task(COMPLETED))])),
        Answer::never(),
    ] {
        let cut = answer(MockBody::new().data(task(WORKING)));
        let (ended, _) = recovered(reconcile, stream(), cut, vec![own]).await;
        assert_eq!(ended.word(), "broken/truncated");
        assert_eq!((ended.bytes(), ended.trailers), (task(WORKING).to_vec(), None));
    }
}

#[tokio::test(start_paused = true)]
async fn the_task_of_a_failed_send_is_canceled() {
    let path_03 = "/a2a.v1.A2AService/SendStreamingMessage";
    for (call, path, message) in [
        (stream(), "/lf.a2a.v1.A2AService/CancelTask", about_task(GrpcDialect::V1, "task-1", None)),
        (
            request(path_03, &Message::new()),
            "/a2a.v1.A2AService/CancelTask",
            about_task(GrpcDialect::V03, "task-1", None),
        ),
        (
            request("/lf.a2a.v1.A2AService/SendMessage", &Message::new().text(1, "acme")),
            "/lf.a2a.v1.A2AService/CancelTask",
            about_task(GrpcDialect::V1, "task-1", Some("acme")),
        ),
    ] {
        let hangs = answer(MockBody::new().data(task(WORKING)).hang());
        let own = vec![answer(ok(&[framed(&bare_task(5))]))];
        let (ended, asked) = recovered(Recovery::cancel_on_failure, call, hangs, own).await;
        assert_eq!(ended.word(), "timeout/idle");
        let [request] = <[_; 1]>::try_from(asked).unwrap();
        assert_eq!(request.uri().path(), path);
        assert_eq!(body_of(request).await, framed(&message));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_no_loss() {
    let refused = trailers_only(&[("grpc-status", "13")]);
    let (ended, asked) = recovered(Recovery::cancel_on_failure, stream(), refused, vec![]).await;
    assert_eq!((ended.word().as_str(), asked.len()), ("refused/peer_error", 0));
}

/// A caller that named the call itself may have left the version open: the path has it.
#[tokio::test(start_paused = true)]
async fn the_package_says_whose_messages_are_sent() {
    let mut call = request("/a2a.v1.A2AService/SendStreamingMessage", &Message::new());
    let named = Call::new().with_operation(Operation::SendStreamingMessage).with_binding(Binding::Grpc);
    call.extensions_mut().insert(named);
    let hangs = answer(MockBody::new().data(task(WORKING)).hang());
    let own = vec![answer(ok(&[framed(&bare_task(5))]))];
    let (_, asked) = recovered(Recovery::cancel_on_failure, call, hangs, own).await;
    let [request] = <[_; 1]>::try_from(asked).unwrap();
    assert_eq!(body_of(request).await, framed(&about_task(GrpcDialect::V03, "task-1", None)));
}

/// The beginning of an id is another task's.
#[tokio::test(start_paused = true)]
async fn an_id_that_did_not_come_whole_is_nobodys() {
    let whole = task(WORKING);
    let cancel = |recovery: Recovery| recovery.cancel_on_failure().reconcile();
    for request in [send, stream] {
        for len in 1..whole.len() {
            let cut = || MockBody::of(whole.slice(..len).chunks(4).map(Bytes::copy_from_slice));
            let bodies = [cut().hang(), cut().reset(), cut(), ended(cut(), &[("grpc-status", "0")])];
            for body in bodies {
                let own = vec![Answer::never(), Answer::never()];
                let (ended, asked) = recovered(cancel, request(), answer(body), own).await;
                let id = ended.error().task_id();
                assert!(id.is_none_or(|id| id == "task-1"), "{len}: {id:?}");
                assert!(id.is_some() || asked.is_empty(), "{len}");
            }
            // Dropped on its way.
            let peer: Own = Peer::new([Answer::never()]);
            let layer = with(Limits::default()).recovery(Recovery::new(peer.clone()).cancel_on_drop());
            let (mut stack, notes) = crate::mock::stack(layer, Peer::new([answer(cut().hang())]));
            let call = tower::Service::call(tower::ServiceExt::ready(&mut stack).await.unwrap(), request());
            assert!(tokio::time::timeout(s(1), call).await.is_err());
            let id = notes.one().task_id;
            assert!(id.as_deref().is_none_or(|id| id == "task-1"), "{len}: {id:?}");
            tokio::time::sleep(s(1)).await;
            assert!(id.is_some() || peer.requests().is_empty(), "{len}");
        }
    }
}
