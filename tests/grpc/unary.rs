//! Unary calls: exactly one message, and a status that is 0.

use a2a_guard::{Limits, wire::grpc::encode::Message};
use bytes::Bytes;
use http_body::Body;
use tower::{Service, ServiceExt};

use crate::{
    dialect::{
        COMPLETED, SUBMITTED, WORKING, answer, bare_task, compressed, delete, ended, error_info, fields, framed, get,
        message, ok, request, send, task, update,
    },
    mock::{MockBody, Peer, Step, call, frames_of, stack},
    plain, with,
};

#[tokio::test(start_paused = true)]
async fn good_answers_pass_frame_by_frame_with_their_trailers() {
    let list = framed(&Message::new().message(1, Message::new().text(2, "c")));
    let card = request("/lf.a2a.v1.A2AService/GetExtendedAgentCard", &Message::new());
    let name = request("/a2a.v1.A2AService/SendMessage", &Message::new());
    for (request, message, state) in [
        (send(), task(COMPLETED), Some("TASK_STATE_COMPLETED")),
        (send(), task(WORKING), Some("TASK_STATE_WORKING")),
        (send(), message(), None),
        (get(), framed(&bare_task(5)), Some("TASK_STATE_CANCELED")),
        (name, task(5), Some("TASK_STATE_CANCELLED")),
        (delete(), framed(&Message::new()), None),
        (card, list, None),
    ] {
        for frames in [vec![message.clone()], message.chunks(2).map(Bytes::copy_from_slice).collect()] {
            let trailers = [("grpc-status", "0"), ("grpc-message", ""), ("x-trace", "abc")];
            let body = ended(MockBody::of(frames.clone()), &trailers);
            let ended = call(plain(), request.clone(), answer(body)).await;
            assert_eq!(ended.word(), "success/success");
            assert_eq!((ended.frames, ended.trailers), (frames, Some(fields(&trailers))));
            let noted = ended.notes.one();
            assert_eq!((noted.word().as_str(), noted.state), ("success/success", state));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_body_knows_its_length_and_its_end() {
    let frame = task(COMPLETED);
    let (mut stack, _) = stack(plain(), Peer::new([answer(ok(std::slice::from_ref(&frame)))]));
    let mut body = stack.ready().await.unwrap().call(send()).await.unwrap().into_body();
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(frame.len() as u64), false));
    let (frames, trailers) = frames_of(&mut body).await;
    assert_eq!((frames, trailers), (vec![frame], Some(fields(&[("grpc-status", "0")]))));
    assert!(body.is_end_stream());
}

/// Behind trailers there is nothing, whatever the transport does.
#[tokio::test(start_paused = true)]
async fn trailers_are_the_end() {
    let ended = call(plain(), send(), answer(ok(&[task(COMPLETED)]).hang())).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("success/success", std::time::Duration::ZERO));
}

/// Some servers say 0 in the head, and nothing behind the message.
#[tokio::test(start_paused = true)]
async fn the_status_may_stand_in_the_head() {
    let head = answer(MockBody::new().data(task(COMPLETED))).header("grpc-status", "0");
    let ended = call(plain(), send(), head).await;
    assert_eq!((ended.word().as_str(), ended.trailers), ("success/success", None));
}

/// What HTTP says in a head, gRPC says behind the messages.
#[tokio::test(start_paused = true)]
async fn the_challenge_may_stand_in_the_trailers() {
    let trailers = [("grpc-status", "16"), ("www-authenticate", "Bearer realm=\"a\"")];
    let refused = || answer(ended(MockBody::new(), &trailers));
    let in_head = refused().header("www-authenticate", "Basic");
    for (answer, due) in [(refused(), "Bearer realm=\"a\""), (in_head, "Basic")] {
        let ended = call(plain(), send(), answer).await;
        assert_eq!(ended.word(), "refused/auth");
        assert_eq!(ended.error.unwrap().www_authenticate(), Some(due));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_behind_a_message_is_one_and_names_the_task() {
    let info = error_info(13, "INTERNAL_ERROR");
    let trailers = [("grpc-status", "13"), ("grpc-status-details-bin", info.as_str())];
    for body in [MockBody::new().data(task(WORKING)), MockBody::new().data(task(WORKING)).data(task(WORKING))] {
        let ended = call(plain(), send(), answer(ended(body, &trailers))).await;
        assert_eq!(ended.word(), "refused/peer_error");
        let error = ended.error();
        assert_eq!((error.grpc_code(), error.reason()), (Some(13), Some("INTERNAL_ERROR")));
        assert_eq!(error.task_id(), Some("task-1"));
        let kept = error.response().unwrap();
        assert!(kept.body.starts_with(&task(WORKING)));
        assert_eq!(kept.trailers, Some(fields(&trailers)));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_success_has_its_class() {
    let no_trailers = || MockBody::new().data(task(COMPLETED));
    let (half, _) = task(COMPLETED).split_at(9).clone().to_owned_pair();
    let table = [
        ("broken/empty", ok(&[])),
        ("broken/truncated", no_trailers()),
        ("broken/truncated", MockBody::new()),
        ("broken/truncated", MockBody::new().data(task(COMPLETED)).reset()),
        ("broken/truncated", ok(std::slice::from_ref(&half))),
        ("broken/truncated", MockBody::new().data(half)),
        ("broken/truncated", ended(no_trailers(), &[("x-other", "1")])),
        ("broken/protocol_violation", ok(&[task(COMPLETED), task(COMPLETED)])),
        ("broken/protocol_violation", ok(&[framed(&Message::new())])),
        ("broken/protocol_violation", ok(&[update(COMPLETED)])),
        ("broken/protocol_violation", ok(&[framed(&Message::new().message(1, Message::new()))])),
        ("broken/malformed", ok(&[Bytes::from_static(b"\0\0\0\0\x02\x0a\x7f")])),
        ("broken/malformed", ok(&[Bytes::from_static(b"<html>")])),
        ("broken/malformed", ok(&[Bytes::from_static(br#"{"task":{}}"#)])),
        ("broken/protocol_violation", ok(&[compressed()])),
    ];
    for (at, (word, body)) in table.into_iter().enumerate() {
        let ended = call(plain(), send(), answer(body)).await;
        assert_eq!(ended.word(), word, "{at}");
        assert_eq!(ended.notes.words(), [word], "{at}");
        assert_eq!(ended.error().a2a_error().map(|error| error.name()), Some("InvalidAgentResponseError"), "{at}");
    }
}

/// A page of HTML is known by its first byte: nobody waits for the rest.
#[tokio::test(start_paused = true)]
async fn what_is_no_grpc_is_not_read_on() {
    let ended = call(plain(), send(), answer(MockBody::new().data("<").hang())).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/malformed", std::time::Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_broken_answer_still_names_its_task() {
    let ended = call(plain(), send(), answer(MockBody::new().data(task(WORKING)).reset())).await;
    assert_eq!(
        (ended.error().task_id(), ended.error().task_state().unwrap().as_str()),
        (Some("task-1"), "TASK_STATE_WORKING")
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_above_its_cap_is_not_waited_for() {
    let frame = framed(&Message::new().message(1, bare_task(COMPLETED).text(6, &"x".repeat(1000))));
    let len = frame.len() - 5;
    let limits = |max| with(Limits::default().max_unary_body(max));
    let whole = call(limits(len), send(), answer(ok(std::slice::from_ref(&frame)))).await;
    assert_eq!(whole.word(), "success/success");
    // The prefix alone says so.
    let body = MockBody::new().data(frame.slice(..5)).hang();
    let ended = call(limits(len - 1), send(), answer(body)).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/too_large", std::time::Duration::ZERO));
    // So does a length in the head, before anything came.
    let ended = call(limits(len - 1), send(), answer(ok(&[frame]))).await;
    assert_eq!(ended.word(), "broken/too_large");
}

/// Messages without end are bounded too, each of them being small.
#[tokio::test(start_paused = true)]
async fn many_messages_are_not_collected() {
    let body = MockBody::new().forever(task(SUBMITTED), std::time::Duration::ZERO);
    let ended = call(with(Limits::default().max_unary_body(10_000)), send(), answer(body)).await;
    assert_eq!(ended.word(), "broken/too_large");
}

#[tokio::test(start_paused = true)]
async fn a_compressed_message_is_not_inspected_and_that_is_said() {
    let head = || answer(ok(&[compressed()])).header("grpc-encoding", "gzip");
    let ended = call(plain(), send(), head()).await;
    assert_eq!((ended.word().as_str(), ended.bytes()), ("success/success", compressed().to_vec()));
    assert_eq!(ended.notes.one().tolerated, ["compressed_message"]);
    assert_eq!(call(plain().strict(true), send(), head()).await.word(), "broken/protocol_violation");
    let identity = answer(ok(&[compressed()])).header("grpc-encoding", "identity");
    assert_eq!(call(plain(), send(), identity).await.word(), "broken/protocol_violation");
}

#[tokio::test(start_paused = true)]
async fn a_state_of_no_known_number_is_tolerated() {
    let ended = call(plain(), send(), answer(ok(&[task(99)]))).await;
    assert_eq!((ended.word().as_str(), ended.notes.one().state), ("success/success", None));
    assert_eq!(ended.notes.one().tolerated, ["unknown_state"]);
    assert_eq!(call(plain().strict(true), send(), answer(ok(&[task(99)]))).await.word(), "broken/protocol_violation");
}

#[tokio::test(start_paused = true)]
async fn empty_frames_and_pauses_change_nothing() {
    let body = MockBody::new().data("").then(Step::Yield).data(task(COMPLETED)).data("").trailers("grpc-status", "0");
    let ended = call(plain(), send(), answer(body)).await;
    assert_eq!((ended.word().as_str(), ended.bytes()), ("success/success", task(COMPLETED).to_vec()));
}

trait OwnedPair {
    fn to_owned_pair(&self) -> (Bytes, Bytes);
}

impl OwnedPair for (&[u8], &[u8]) {
    fn to_owned_pair(&self) -> (Bytes, Bytes) {
        (Bytes::copy_from_slice(self.0), Bytes::copy_from_slice(self.1))
    }
}
