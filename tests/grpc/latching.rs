//! After the terminal event nothing changes the outcome, and what the caller reads agrees with it.

use bytes::Bytes;

use crate::{
    dialect::{COMPLETED, FAILED, WORKING, answer, artifact, ended, fields, message, stream, task, update},
    mock::{MockBody, call, s},
    plain,
};

/// All that a transport may do behind the end.
fn whatever(body: impl Fn() -> MockBody) -> Vec<(&'static str, MockBody)> {
    vec![
        ("end", body()),
        ("reset", body().reset()),
        ("silence", body().hang()),
        (
            "refusal",
            ended(body(), &[("grpc-status", "13"), ("grpc-message", "boom"), ("grpc-status-details-bin", "CA0")]),
        ),
        ("garbage", body().data("<html>").hang()),
        ("half a prefix", body().data(Bytes::from_static(b"\0\0"))),
        ("half a message", body().data(artifact("late").slice(..9)).reset()),
        ("a message announced that is too large", body().data(Bytes::from_static(b"\0\xff\xff\xff\xff")).hang()),
        ("other trailers", ended(body(), &[("x-other", "1")])),
    ]
}

#[tokio::test(start_paused = true)]
async fn nothing_changes_a_success() {
    for good in [vec![task(WORKING), update(COMPLETED)], vec![task(FAILED)], vec![message()]] {
        let bytes = good.concat();
        for (what, body) in whatever(|| MockBody::of(good.clone())) {
            let ended = call(plain(), stream(), answer(body)).await;
            assert_eq!(
                (ended.word().as_str(), ended.notes.words()),
                ("success/success", vec!["success/success".into()]),
                "{what}"
            );
            assert_eq!(ended.bytes(), bytes, "{what}");
            let trailers = ended.trailers.unwrap();
            assert_eq!(
                (&trailers["grpc-status"], trailers.contains_key("grpc-message")),
                (&"0".parse::<http::HeaderValue>().unwrap(), false),
                "{what}"
            );
            assert!(!trailers.contains_key("grpc-status-details-bin"), "{what}");
            assert!(ended.elapsed <= s(2), "{what}");
        }
    }
}

/// In one frame with the end, too.
#[tokio::test(start_paused = true)]
async fn what_stands_behind_the_end_in_its_frame_is_no_other_matter() {
    for behind in [&b"<html>"[..], b"\0\0", &artifact("late").slice(..9), b"\0\xff\xff\xff\xff"] {
        let body = MockBody::new().data([&task(COMPLETED)[..], behind].concat()).hang();
        let ended = call(plain(), stream(), answer(body)).await;
        assert_eq!((ended.word().as_str(), ended.bytes()), ("success/success", task(COMPLETED).to_vec()));
        assert_eq!(ended.trailers, Some(fields(&[("grpc-status", "0")])));
    }
}

/// Whole messages pass, if none is judged: a reader may want them, and cannot stumble over them.
#[tokio::test(start_paused = true)]
async fn whole_messages_behind_the_end_pass() {
    let late = [artifact("late"), update(WORKING), Bytes::from_static(b"\0\0\0\0\x02\xff\xff")];
    let body = late.iter().cloned().fold(MockBody::new().data(task(COMPLETED)), MockBody::data);
    let ended = call(plain(), stream(), answer(ended(body, &[("grpc-status", "0"), ("x-trace", "1")]))).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(ended.bytes(), [&task(COMPLETED)[..], &late.concat()].concat());
    assert_eq!(ended.trailers, Some(fields(&[("grpc-status", "0"), ("x-trace", "1")])));
    let noted = ended.notes.one();
    assert_eq!((noted.events, noted.state), (1, Some("TASK_STATE_COMPLETED")));
}

/// They are what the peer says besides; only what contradicts the outcome goes.
#[tokio::test(start_paused = true)]
async fn other_trailers_stay() {
    let trailers = [("grpc-status", "14"), ("grpc-message", "bye"), ("x-trace", "1")];
    let body = ended(MockBody::new().data(task(COMPLETED)), &trailers);
    let ended = call(plain(), stream(), answer(body)).await;
    assert_eq!(ended.trailers, Some(fields(&[("grpc-status", "0"), ("x-trace", "1")])));
}
