//! Not a byte of the body changes, however it is cut, however much of it is read, and however it ends.

use a2a_guard::{CallBody, CallLayer, Operation};
use bytes::Bytes;
use http::Request;
use http_body::Body;
use http_body_util::BodyExt;

use crate::{
    call_of,
    mock::{MockBody, frames_of, ms, s},
    named, passed, post, request,
};
use tokio::time::Instant;

const SEND: &str = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"taskId":"t-1"}}}"#;

fn pieces(text: &str, size: usize) -> Vec<Bytes> {
    text.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect()
}

fn at_a2a(body: MockBody) -> Request<MockBody> {
    request("POST", "/a2a", body)
}

fn assert_same(sent: &[Bytes], got: &[Bytes]) {
    let places = |frames: &[Bytes]| frames.iter().map(|frame| (frame.as_ptr(), frame.len())).collect::<Vec<_>>();
    assert_eq!(places(sent), places(got));
}

#[tokio::test(start_paused = true)]
async fn frames_go_on_as_they_came_whatever_the_cut() {
    for size in 1..=SEND.len() {
        let sent = pieces(SEND, size);
        let passed = passed(&CallLayer::new(), at_a2a(MockBody::of(sent.clone()))).await;
        assert_eq!(call_of(&passed).operation(), Some(Operation::SendMessage), "{size}");
        assert_eq!(call_of(&passed).task_id(), Some("t-1"), "{size}");
        assert_same(&sent, &frames_of(passed.into_body()).await.0);
    }
}

/// Who sends byte by byte makes nobody keep more than was sent.
#[tokio::test(start_paused = true)]
async fn many_tiny_frames_are_put_together() {
    let text = SEND.replace("t-1", &"t".repeat(10_000));
    let passed = passed(&CallLayer::new(), at_a2a(MockBody::of(pieces(&text, 1)))).await;
    assert_eq!(call_of(&passed).operation(), Some(Operation::SendMessage));
    let frames = frames_of(passed.into_body()).await.0;
    assert!(frames.len() < 1100 && frames.concat() == text.as_bytes(), "{}", frames.len());
}

#[tokio::test(start_paused = true)]
async fn a_body_in_one_frame_is_at_hand() {
    let sent = Bytes::from_static(SEND.as_bytes());
    let passed = passed(&CallLayer::new(), post(sent.clone())).await;
    assert_eq!(passed.body().as_bytes().unwrap().as_ptr(), sent.as_ptr());
}

#[tokio::test(start_paused = true)]
async fn a_body_in_several_frames_is_not_put_together() {
    let passed = passed(&CallLayer::new(), at_a2a(MockBody::of(pieces(SEND, 20)))).await;
    assert!(passed.body().as_bytes().is_none());
}

#[tokio::test(start_paused = true)]
async fn sizes_and_ends_are_those_of_the_whole_body() {
    let total = SEND.len() as u64;
    let read = passed(&CallLayer::new(), at_a2a(MockBody::of(pieces(SEND, 20)))).await.into_body();
    let partly = passed(&CallLayer::new().max_body(30), at_a2a(MockBody::of(pieces(SEND, 20)))).await.into_body();
    let unread = passed(&CallLayer::new(), request("PUT", "/x", MockBody::of(pieces(SEND, 20)))).await.into_body();
    for mut body in [read, partly, unread] {
        let mut left = total;
        while left > 0 {
            assert_eq!(body.size_hint().exact(), Some(left));
            assert!(!body.is_end_stream());
            left -= body.frame().await.unwrap().unwrap().into_data().unwrap().len() as u64;
        }
        assert!(body.is_end_stream());
        assert_eq!(body.size_hint().exact(), Some(0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_body_stays_empty() {
    for body in [MockBody::new(), MockBody::new().data("").data("")] {
        let passed = passed(&CallLayer::new(), at_a2a(body)).await;
        assert!(passed.body().is_end_stream());
        assert_eq!(passed.body().size_hint().exact(), Some(0));
    }
    let none: CallBody<MockBody> = CallBody::default();
    assert!(none.is_end_stream());
    assert_eq!(frames_of(CallBody::<MockBody>::from(Bytes::from("own"))).await.0, ["own"]);
}

#[tokio::test(start_paused = true)]
async fn trailers_are_kept() {
    for layer in [CallLayer::new(), CallLayer::new().max_body(1)] {
        let body = MockBody::of(pieces(SEND, 20)).trailers("x-checksum", "c0ffee");
        let passed = passed(&layer, at_a2a(body)).await;
        assert!(!passed.body().is_end_stream());
        let (frames, trailers) = frames_of(passed.into_body()).await;
        assert_eq!(frames.concat(), SEND.as_bytes());
        assert_eq!(trailers.unwrap()["x-checksum"], "c0ffee");
    }
}

#[tokio::test(start_paused = true)]
async fn past_its_cap_a_body_is_named_from_what_was_read_and_the_rest_passes() {
    let sent = pieces(SEND, 10);
    let method_in_it = SEND.find("params").unwrap();
    let layer = CallLayer::new().max_body(method_in_it);
    let passed = passed(&layer, at_a2a(MockBody::of(sent.clone()))).await;
    let call = call_of(&passed);
    assert_eq!((call.operation(), call.task_id()), (Some(Operation::SendMessage), None));
    assert_same(&sent, &frames_of(passed.into_body()).await.0);
}

/// What comes behind the cap is not waited for.
#[tokio::test(start_paused = true)]
async fn past_its_cap_a_body_is_not_waited_for() {
    let body = MockBody::of(pieces(SEND, 10)).wait(s(10)).data("  ").hang();
    let started = Instant::now();
    let call = named(&CallLayer::new().max_body(SEND.len()), at_a2a(body)).await;
    assert_eq!((call.task_id(), started.elapsed()), (Some("t-1"), s(0)));
}

#[tokio::test(start_paused = true)]
async fn a_cap_before_the_method_leaves_the_call_unnamed() {
    let sent = pieces(SEND, 5);
    let passed = passed(&CallLayer::new().max_body(10), at_a2a(MockBody::of(sent.clone()))).await;
    assert_eq!(call_of(&passed).operation(), None);
    assert_same(&sent, &frames_of(passed.into_body()).await.0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_fails_passes_as_that_failing_body() {
    for wait in [s(0), s(1)] {
        for cut in [0, 1, 40, SEND.len()] {
            let body = MockBody::of(pieces(&SEND[..cut], 10)).wait(wait).reset();
            let passed = passed(&CallLayer::new(), at_a2a(body)).await;
            let mut body = passed.into_body();
            assert!(!body.is_end_stream());
            let mut got = Vec::new();
            let error = loop {
                match body.frame().await.expect("the failure is still to come") {
                    Ok(frame) => got.extend_from_slice(frame.data_ref().unwrap()),
                    Err(error) => break error,
                }
            };
            assert_eq!(got, &SEND.as_bytes()[..cut]);
            assert_eq!(error.downcast_ref::<std::io::Error>().unwrap().kind(), std::io::ErrorKind::ConnectionReset);
            assert!(body.frame().await.is_none());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_fails_still_names_what_came() {
    let body = MockBody::new().data(&SEND[..SEND.find("params").unwrap()]).reset();
    assert_eq!(named(&CallLayer::new(), at_a2a(body)).await.operation(), Some(Operation::SendMessage));
}

/// The size of a body that failed is not known: it must not look whole.
#[tokio::test(start_paused = true)]
async fn a_body_that_fails_has_no_exact_size() {
    let body = MockBody::new().data("{").reset();
    let passed = passed(&CallLayer::new(), at_a2a(body)).await;
    assert_eq!((passed.body().size_hint().lower(), passed.body().size_hint().upper()), (1, None));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_json_passes_at_once() {
    for start in ["hello", "<xml>", "--boundary\r\n", "\u{1f}\u{8}", "{\"a\": nope", "{} {}", "\0"] {
        let body = MockBody::new().data(start).wait(ms(1)).data("the rest").hang();
        let started = Instant::now();
        let passed = passed(&CallLayer::new(), at_a2a(body)).await;
        assert_eq!(started.elapsed(), s(0), "{start:?}");
        assert_eq!(call_of(&passed).operation(), None);
        let mut body = passed.into_body();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), start);
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "the rest");
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_utf8_and_deep_nesting_harm_nobody() {
    let mut latin = SEND.as_bytes().to_vec();
    let place = SEND.find("t-1").unwrap();
    latin[place] = 0xe9;
    let deep = [&b"["[..]; 100_000].concat();
    for body in [latin, deep] {
        let passed = passed(&CallLayer::new(), post(body.clone())).await;
        assert_eq!(frames_of(passed.into_body()).await.0.concat(), body);
    }
}

/// Twice the time at most: a runtime that is kept busy looks at its timers now and then only.
#[tokio::test(start_paused = true)]
async fn empty_frames_without_end_do_not_hold_the_caller() {
    let body = MockBody::new().forever("", ms(1));
    let started = Instant::now();
    named(&CallLayer::new().read_timeout(s(5)), at_a2a(body)).await;
    assert!(started.elapsed() <= s(10), "{:?}", started.elapsed());
}

/// What a retry needs: the same body once more, and its bytes shared.
#[tokio::test(start_paused = true)]
async fn a_body_can_be_had_twice_if_all_of_it_is_in_memory() {
    let trailing = || MockBody::of(pieces(SEND, 20)).trailers("x-sum", "1");
    for body in [MockBody::of(pieces(SEND, 200)), MockBody::of(pieces(SEND, 20)), trailing()] {
        let first = passed(&CallLayer::new(), at_a2a(body)).await.into_body();
        let second = first.try_clone().expect("all of it was read");
        let (first, second) = (frames_of(first).await, frames_of(second).await);
        assert_eq!(first.0.concat(), SEND.as_bytes());
        assert_same(&first.0, &second.0);
        assert_eq!(first.1, second.1);
    }
    let nothing = passed(&CallLayer::new(), request("GET", "/tasks/t-1", MockBody::new())).await.into_body();
    assert!(frames_of(nothing.try_clone().expect("there is nothing to read")).await.0.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_not_all_there_cannot() {
    let partly = passed(&CallLayer::new().max_body(30), at_a2a(MockBody::of(pieces(SEND, 20)))).await;
    let unread = passed(&CallLayer::new(), request("PUT", "/x", MockBody::of(pieces(SEND, 20)))).await;
    let broken = passed(&CallLayer::new(), at_a2a(MockBody::new().data(SEND).reset())).await;
    for body in [partly, unread, broken] {
        assert!(body.body().try_clone().is_none(), "{:?}", body.body());
    }
}
