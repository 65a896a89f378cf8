//! Streams of messages on their way through.

use a2a_guard::{Limits, wire::grpc::encode::Message};
use bytes::Bytes;

use crate::{
    dialect::{
        AUTH_REQUIRED, CANCELED, COMPLETED, FAILED, INPUT_REQUIRED, REJECTED, SUBMITTED, WORKING, answer, artifact,
        bare_task, compressed, ended, fields, framed, message, ok, request, stream, subscribe, task, update,
    },
    mock::{MockBody, Step, call},
    plain, with,
};

/// A whole stream, its last state being this.
fn messages(last: u64) -> Vec<Bytes> {
    vec![task(SUBMITTED), update(WORKING), artifact("one"), artifact("two"), update(last)]
}

#[tokio::test(start_paused = true)]
async fn good_streams_pass_frame_by_frame_with_their_trailers() {
    for last in [COMPLETED, FAILED, CANCELED, REJECTED, INPUT_REQUIRED, AUTH_REQUIRED] {
        let all = messages(last);
        let bytes = all.concat();
        let cuts: [Vec<Bytes>; 3] =
            [all.clone(), vec![bytes.clone().into()], bytes.chunks(7).map(Bytes::copy_from_slice).collect()];
        for frames in cuts {
            let trailers = [("grpc-status", "0"), ("x-trace", "abc")];
            let ended = call(plain(), stream(), answer(ended(MockBody::of(frames), &trailers))).await;
            assert_eq!((ended.word().as_str(), ended.bytes()), ("success/success", bytes.clone()));
            assert_eq!(ended.trailers, Some(fields(&trailers)));
            let noted = ended.notes.one();
            assert_eq!((noted.word().as_str(), noted.events), ("success/success", 5));
            assert_eq!((noted.task_id.as_deref(), noted.tolerated.len()), (Some("task-1"), 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn frames_of_whole_messages_are_not_cut_or_copied() {
    let all = messages(COMPLETED);
    let ended = call(plain(), stream(), answer(ok(&all))).await;
    assert_eq!(ended.frames, all);
    assert!(ended.frames.iter().zip(&all).all(|(out, sent)| out.as_ptr() == sent.as_ptr()));
}

#[tokio::test(start_paused = true)]
async fn one_message_is_a_whole_stream() {
    let ended = call(plain(), stream(), answer(ok(&[message()]))).await;
    assert_eq!((ended.word().as_str(), ended.notes.one().events), ("success/success", 1));
}

#[tokio::test(start_paused = true)]
async fn streams_of_0_3_are_understood() {
    let request = || request("/a2a.v1.A2AService/SendStreamingMessage", &Message::new());
    let last = framed(&Message::new().message(3, bare_task(CANCELED).number(4, 1)));
    let ended = call(plain(), request(), answer(ok(&[task(SUBMITTED), last]))).await;
    assert_eq!((ended.word().as_str(), ended.notes.one().state), ("success/success", Some("TASK_STATE_CANCELLED")));
}

#[tokio::test(start_paused = true)]
async fn a_first_event_that_is_no_task_is_tolerated() {
    let of = || answer(ok(&[update(WORKING), update(COMPLETED)]));
    let ended = call(plain(), stream(), of()).await;
    assert_eq!((ended.word().as_str(), ended.notes.one().tolerated), ("success/success", vec!["first_event_not_task"]));
    assert_eq!(call(plain().strict(true), stream(), of()).await.word(), "broken/protocol_violation");
    // A message to a task that is there already is answered with what changes about it.
    let about = Message::new().message(2, Message::new().text(1, "m-1").text(3, "task-1"));
    let send_to_task = request("/lf.a2a.v1.A2AService/SendStreamingMessage", &about);
    assert_eq!(call(plain().strict(true), send_to_task, of()).await.word(), "success/success");
    // 0.3 takes up a stream where it was.
    let subscribe_03 = request("/a2a.v1.A2AService/TaskSubscription", &Message::new().text(1, "tasks/task-1"));
    let ended = call(plain().strict(true), subscribe_03, of()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(call(plain().strict(true), subscribe(), of()).await.word(), "broken/protocol_violation");
}

#[tokio::test(start_paused = true)]
async fn a_flaw_ends_the_stream_behind_what_was_good() {
    let flaws: [(&str, Bytes); 6] = [
        ("broken/malformed", Bytes::from_static(b"<html>")),
        ("broken/malformed", Bytes::from_static(b"\0\0\0\0\x02\x0a\x7f")),
        ("broken/protocol_violation", framed(&Message::new())),
        ("broken/protocol_violation", framed(&Message::new().message(3, Message::new()))),
        ("broken/protocol_violation", compressed()),
        ("broken/too_large", Bytes::from_static(b"\0\x7f\xff\xff\xff")),
    ];
    for (word, flaw) in flaws {
        let good = [&task(WORKING)[..], &artifact("one")].concat();
        let bodies =
            [MockBody::new().data(good.clone()).data(flaw.clone()), MockBody::new().data([&good[..], &flaw].concat())];
        for body in bodies {
            let ended = call(plain(), stream(), answer(ended(body, &[("grpc-status", "0")]))).await;
            assert_eq!((ended.word().as_str(), ended.bytes()), (word, good.clone()));
            assert_eq!((ended.error().events(), ended.error().task_id()), (2, Some("task-1")));
            assert_eq!(ended.trailers, None);
            assert_eq!(ended.notes.words(), [word]);
        }
        // As the first of all, it is no stream.
        let ended = call(plain(), stream(), answer(MockBody::new().data(flaw).hang())).await;
        assert_eq!((ended.word().as_str(), ended.status), (word, None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_not_whole_is_held_back() {
    let (first, second) = update(COMPLETED).split_at(9).to_owned_pair();
    let body =
        MockBody::new().data(task(WORKING)).data(first).then(Step::Yield).data(second).trailers("grpc-status", "0");
    let ended = call(plain(), stream(), answer(body)).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(ended.bytes(), [&task(WORKING)[..], &update(COMPLETED)].concat());
    // No frame ends within a message.
    assert_eq!(ended.frames[0], task(WORKING));
}

#[tokio::test(start_paused = true)]
async fn max_event_bounds_one_message() {
    let big = framed(&Message::new().message(1, bare_task(COMPLETED).text(6, &"x".repeat(1000))));
    let limits = |max| with(Limits::default().max_event(max));
    let ended = call(limits(big.len() - 5), stream(), answer(ok(std::slice::from_ref(&big)))).await;
    assert_eq!(ended.word(), "success/success");
    let ended = call(limits(big.len() - 6), stream(), answer(MockBody::new().data(big.slice(..5)).hang())).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/too_large", std::time::Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn compressed_streams_end_as_their_status_says() {
    let of = |body: MockBody| answer(body).header("grpc-encoding", "gzip");
    let ended = call(plain(), stream(), of(ok(&[compressed(), compressed()]))).await;
    let noted = ended.notes.one();
    assert_eq!(
        (ended.word().as_str(), noted.events, noted.tolerated),
        ("success/success", 2, vec!["compressed_message"])
    );
    assert_eq!(ended.bytes(), [compressed(), compressed()].concat());
    // What is not compressed is read as ever.
    let ended = call(plain(), stream(), of(ok(&[task(WORKING), compressed(), update(WORKING)]))).await;
    assert_eq!(ended.word(), "broken/truncated");
    let ended = call(plain(), stream(), of(MockBody::new().data(compressed()))).await;
    assert_eq!(ended.word(), "broken/truncated");
    // Whatever it says, half a message is none.
    for cut in 1..compressed().len() {
        let ended = call(plain(), stream(), of(ok(&[compressed(), compressed().slice(..cut)]))).await;
        assert_eq!((ended.word().as_str(), ended.bytes()), ("broken/truncated", compressed().to_vec()), "{cut}");
    }
    let ended = call(plain().strict(true), stream(), of(ok(&[compressed()]))).await;
    assert_eq!(ended.word(), "broken/protocol_violation");
}

#[tokio::test(start_paused = true)]
async fn a_length_of_the_body_is_not_promised() {
    let head = answer(ok(&messages(COMPLETED))).header("content-length", "9");
    assert!(!call(plain(), stream(), head).await.headers.contains_key("content-length"));
}

trait OwnedPair {
    fn to_owned_pair(&self) -> (Bytes, Bytes);
}

impl OwnedPair for (&[u8], &[u8]) {
    fn to_owned_pair(&self) -> (Bytes, Bytes) {
        (Bytes::copy_from_slice(self.0), Bytes::copy_from_slice(self.1))
    }
}
