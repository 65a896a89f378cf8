//! Caps on sizes hold to the byte.

use a2a_guard::Limits;

use crate::{
    mock::{Answer, Dialect, Ended, MockBody, call},
    with,
};

use Dialect::V1;

async fn unary(max: usize, cut: usize) -> Ended {
    let document = V1.result(&V1.bare_task("WORKING"));
    let (one, two) = document.split_at(cut.min(document.len()));
    let body = MockBody::new().data(one.to_owned()).data(two.to_owned());
    call(with(Limits::default().max_unary_body(max)), V1.get(), Answer::new(200, "application/json", body)).await
}

#[tokio::test(start_paused = true)]
async fn a_unary_body_as_large_as_allowed_passes() {
    let length = V1.result(&V1.bare_task("WORKING")).len();
    for cut in [1, length / 2, length] {
        assert_eq!(unary(length, cut).await.word(), "success/success");
        assert_eq!(unary(length - 1, cut).await.word(), "broken/too_large");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_declared_too_large_is_not_read() {
    let long = MockBody::new().data("x".repeat(101));
    let request = || V1.get();
    let limits = || with(Limits::default().max_unary_body(100));
    let ended = call(limits(), request(), Answer::new(200, "application/json", long)).await;
    assert_eq!(ended.word(), "broken/too_large");
    let response = ended.error().response().expect("its head");
    assert!(response.body.is_empty() && response.truncated);
    // A refusal is kept as far as its cap goes, however long it is.
    let long = MockBody::new().data("x".repeat(101));
    let ended = call(limits(), request(), Answer::new(500, "text/plain", long)).await;
    assert_eq!(ended.word(), "broken/http_status");
}

#[tokio::test(start_paused = true)]
async fn an_event_as_large_as_allowed_passes() {
    let (first, last) = (V1.task_event("WORKING"), V1.update_event("COMPLETED"));
    let length = first.len().max(last.len());
    let body = || MockBody::of([first.clone(), last.clone()]);
    let ended = call(with(Limits::default().max_event(length)), V1.stream(), Answer::sse(body())).await;
    assert_eq!(ended.word(), "success/success");
    let ended = call(with(Limits::default().max_event(length - 1)), V1.stream(), Answer::sse(body())).await;
    assert_eq!(ended.word(), "broken/too_large");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_grows_too_large_is_not_waited_for() {
    let body = MockBody::new().data(V1.task_event("WORKING")).data("data: ").data(vec![b'x'; 2000]).hang();
    let ended = call(with(Limits::default().max_event(1000)), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.word(), "broken/too_large");
    assert_eq!(ended.bytes(), V1.task_event("WORKING"));
}

#[tokio::test(start_paused = true)]
async fn comments_without_an_event_are_not_kept_without_end() {
    let body = MockBody::new().forever(": a comment\n\n", std::time::Duration::ZERO);
    let ended = call(with(Limits::default().max_event(1000)), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.word(), "broken/too_large");
}

#[tokio::test(start_paused = true)]
async fn comments_in_one_frame_count_one_by_one() {
    // Ten bytes each: none of them reaches the bound itself.
    let body = MockBody::new().data(": 7 byte\n\n".repeat(3)).hang();
    let ended = call(with(Limits::default().max_event(25)), V1.stream(), Answer::sse(body)).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/too_large", std::time::Duration::ZERO));
}

/// The comments came in one frame with the event, or in frames of their own.
#[tokio::test(start_paused = true)]
async fn comments_before_the_first_event_count_alike_however_they_are_cut() {
    let comments = ": a comment\n\n".repeat(100);
    let event = V1.task_event("COMPLETED");
    let together = MockBody::new().data([comments.as_bytes(), &event].concat());
    let apart = MockBody::new().data(comments.clone()).data(event.clone());
    let limits = || with(Limits::default().max_event(1000));
    let together = call(limits(), V1.stream(), Answer::sse(together)).await;
    let apart = call(limits(), V1.stream(), Answer::sse(apart)).await;
    assert_eq!(together.word(), apart.word());
}

async fn refusal(frames: &[&'static str]) -> Ended {
    let body = frames.iter().fold(MockBody::new(), |body, frame| body.data(*frame));
    call(with(Limits::default().max_refusal(8)), V1.get(), Answer::new(500, "text/plain", body)).await
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_kept_up_to_its_cap() {
    for frames in [&["12345678"][..], &["1234", "5678"], &["1234", "", "5678", ""]] {
        let ended = refusal(frames).await;
        let response = ended.error().response().unwrap();
        assert_eq!((&response.body[..], response.truncated), (&b"12345678"[..], false), "{frames:?}");
    }
    for frames in [&["123456789"][..], &["1234", "56789"], &["12345678", "9"]] {
        let ended = refusal(frames).await;
        let response = ended.error().response().unwrap();
        assert_eq!((&response.body[..], response.truncated), (&b"12345678"[..], true), "{frames:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_refusal_says_behind_its_cap_is_not_waited_for() {
    for body in [MockBody::new().data("123456789"), MockBody::new().data("12345").data("6789")] {
        let answer = Answer::new(500, "text/plain", body.hang());
        let ended = call(with(Limits::default().max_refusal(8)), V1.get(), answer).await;
        assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/http_status", std::time::Duration::ZERO));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_in_a_stream_is_kept_up_to_its_cap() {
    let event = V1.event_of_error(-32004);
    for (max, truncated) in [(event.len(), false), (event.len() - 1, true)] {
        let ended =
            call(with(Limits::default().max_refusal(max)), V1.stream(), Answer::sse(MockBody::of([event.clone()])))
                .await;
        assert_eq!(ended.word(), "refused/peer_error");
        let response = ended.error().response().unwrap();
        assert_eq!((&response.body[..], response.truncated), (&event[..max], truncated));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_object_larger_than_what_is_kept_still_has_its_code() {
    let padding = "x".repeat(100);
    let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32001,"message":"no","data":["{padding}"]}}}}"#);
    let limits = || with(Limits::default().max_refusal(80));
    let unary = call(limits(), V1.get(), Answer::json(error.clone())).await;
    assert_eq!((unary.word().as_str(), unary.error().code()), ("refused/peer_error", Some(-32001)));
    assert!(unary.error().response().unwrap().truncated);
    let body = MockBody::new().data(V1.task_event("WORKING")).data(format!("data: {error}\n\n"));
    let stream = call(limits(), V1.stream(), Answer::sse(body)).await;
    assert_eq!((stream.word().as_str(), stream.error().code()), ("refused/peer_error", Some(-32001)));
    // Also where it stands behind all that is kept.
    let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"data":["{padding}"],"message":"no","code":-32001}}}}"#);
    let unary = call(limits(), V1.get(), Answer::json(error)).await;
    assert_eq!((unary.word().as_str(), unary.error().code()), ("refused/peer_error", Some(-32001)));
}
