//! What is handed on is what came: the same frames, trailers, sizes and ends.

use a2a_guard::{Class, Limits, TerminalStateBody};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::{Service, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody, Notes, Peer, call, frames_of, s, stack},
    plain, with,
};

use Dialect::{Rest, V1};

type Answered = Response<TerminalStateBody<MockBody, Notes>>;

async fn respond(request: Request<Full<Bytes>>, answer: Answer) -> Answered {
    let (mut stack, _) = stack(plain(), Peer::new([answer]));
    stack.ready().await.unwrap().call(request).await.unwrap()
}

/// A picture: no operation of A2A's.
fn unnamed() -> Request<Full<Bytes>> {
    V1.request("GET", "/picture", String::new())
}

/// The same memory, not only the same bytes.
fn assert_same(sent: &[Bytes], got: &[Bytes]) {
    let places = |frames: &[Bytes]| frames.iter().map(|frame| (frame.as_ptr(), frame.len())).collect::<Vec<_>>();
    assert_eq!(places(sent), places(got));
}

/// A unary document in three frames.
fn document() -> Vec<Bytes> {
    let mut document = Bytes::from(V1.result(&V1.bare_task("WORKING")));
    let first = document.split_to(10);
    let second = document.split_to(20);
    vec![first, second, document]
}

fn events() -> Vec<Bytes> {
    vec![V1.task_event("WORKING"), Bytes::from(": ping\n\n"), V1.update_event("WORKING"), V1.update_event("COMPLETED")]
}

#[tokio::test(start_paused = true)]
async fn frames_of_a_unary_answer_are_not_copied() {
    let sent = document();
    let response = respond(V1.get(), Answer::new(200, "application/json", MockBody::of(sent.clone()))).await;
    assert_same(&sent, &frames_of(response.into_body()).await.0);
}

#[tokio::test(start_paused = true)]
async fn frames_of_an_answer_that_passes_are_not_copied() {
    let sent = document();
    let response = respond(unnamed(), Answer::new(200, "image/png", MockBody::of(sent.clone()))).await;
    assert_same(&sent, &frames_of(response.into_body()).await.0);
}

#[tokio::test(start_paused = true)]
async fn frames_of_a_stream_are_not_copied() {
    let sent = events();
    let response = respond(V1.stream(), Answer::sse(MockBody::of(sent.clone()))).await;
    assert_same(&sent, &frames_of(response.into_body()).await.0);
}

#[tokio::test(start_paused = true)]
async fn several_events_in_a_frame_go_on_as_that_frame() {
    let sent = [Bytes::from(events().concat())];
    let response = respond(V1.stream(), Answer::sse(MockBody::of(sent.clone()))).await;
    assert_same(&sent, &frames_of(response.into_body()).await.0);
}

#[tokio::test(start_paused = true)]
async fn pieces_of_an_event_go_on_as_they_came() {
    let mut event = V1.task_event("COMPLETED");
    let first = event.split_to(30);
    let sent = [first, event];
    let response = respond(V1.stream(), Answer::sse(MockBody::of(sent.clone()))).await;
    assert_same(&sent, &frames_of(response.into_body()).await.0);
}

#[tokio::test(start_paused = true)]
async fn trailers_are_handed_on() {
    let with_trailers = |frames: Vec<Bytes>| MockBody::of(frames).trailers("x-checksum", "c0ffee");
    let answers = [
        (V1.get(), Answer::new(200, "application/json", with_trailers(document()))),
        (V1.stream(), Answer::sse(with_trailers(events()))),
        (unnamed(), Answer::new(200, "image/png", with_trailers(document()))),
    ];
    for (request, answer) in answers {
        let (frames, trailers) = frames_of(respond(request, answer).await.into_body()).await;
        assert_eq!(trailers.expect("trailers")["x-checksum"], "c0ffee");
        assert!(!frames.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn trailers_of_a_refusal_are_kept() {
    for status in [200, 400] {
        let body = MockBody::new().data(V1.error(-32001)).trailers("x-checksum", "c0ffee");
        let ended = call(plain(), V1.get(), Answer::new(status, "application/json", body)).await;
        let trailers = ended.error().response().unwrap().trailers.as_ref().expect("trailers");
        assert_eq!(trailers["x-checksum"], "c0ffee");
    }
}

#[tokio::test(start_paused = true)]
async fn heads_go_on_unchanged_but_for_the_length_of_streams() {
    let length = "1000";
    let unary = Answer::json(document().concat()).header("content-length", length).header("x-more", "1");
    let headers = respond(V1.get(), unary).await.into_parts().0.headers;
    assert_eq!((&headers["content-length"], &headers["x-more"]), (&length.parse().unwrap(), &"1".parse().unwrap()));

    let stream = Answer::sse(MockBody::of(events())).header("content-length", length).header("x-more", "1");
    let headers = respond(V1.stream(), stream).await.into_parts().0.headers;
    assert!(!headers.contains_key("content-length"));
    assert_eq!(
        (&headers["content-type"], &headers["x-more"]),
        (&"text/event-stream".parse().unwrap(), &"1".parse().unwrap())
    );

    let other = Answer::new(206, "image/png", MockBody::of(document())).header("content-length", length);
    let response = respond(unnamed(), other).await;
    assert_eq!((response.status().as_u16(), &response.headers()["content-length"]), (206, &length.parse().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn the_size_of_a_unary_answer_is_exact_to_its_end() {
    let sent = document();
    let total: usize = sent.iter().map(Bytes::len).sum();
    let body = MockBody::of(sent.clone()).wait(s(1)).trailers("x-checksum", "c0ffee");
    let mut body = respond(V1.get(), Answer::new(200, "application/json", body)).await.into_body();
    assert_eq!(body.size_hint().exact(), Some(total as u64));
    for frame in &sent {
        assert!(!body.is_end_stream());
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), frame);
    }
    assert_eq!(body.size_hint().exact(), Some(0));
    assert!(!body.is_end_stream(), "the trailers are still to come");
    assert!(body.frame().await.unwrap().unwrap().is_trailers());
    assert!(body.is_end_stream());
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_size_of_an_answer_that_passes_is_its_own() {
    let sent = document();
    let total: usize = sent.iter().map(Bytes::len).sum();
    let mut body = respond(unnamed(), Answer::new(200, "image/png", MockBody::of(sent.clone()))).await.into_body();
    let mut left = total;
    for frame in &sent {
        assert_eq!(body.size_hint().exact(), Some(left as u64));
        assert!(!body.is_end_stream());
        left -= frame.len();
        body.frame().await.unwrap().unwrap();
    }
    assert!(body.is_end_stream());
    assert_eq!(body.size_hint().exact(), Some(0));
    assert!(body.frame().await.is_none());
    let open = respond(unnamed(), Answer::new(200, "image/png", MockBody::new().data("x").hang())).await;
    assert_eq!(open.body().size_hint().exact(), None);
}

/// Who is told that it ended would never ask for the failure.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_yet_to_fail_is_not_at_its_end() {
    let builder = with(Limits::default().max_unary_body(3));
    let (mut stack, notes) = stack(builder, Peer::new([Answer::new(200, "image/png", MockBody::new().data("four"))]));
    let mut body = stack.ready().await.unwrap().call(unnamed()).await.unwrap().into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "fou");
    assert!(!body.is_end_stream());
    assert_eq!(body.frame().await.unwrap().unwrap_err().class(), Class::TooLarge);
    assert!(body.is_end_stream());
    assert_eq!(notes.words(), ["broken/too_large"]);
    let fits = Answer::new(200, "image/png", MockBody::new().data("one"));
    assert_eq!(call(with(Limits::default().max_unary_body(3)), unnamed(), fits).await.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_goes_on_is_not_at_its_end() {
    let sent = events();
    let mut body = respond(V1.stream(), Answer::sse(MockBody::of(sent.clone()))).await.into_body();
    for _ in &sent {
        assert!(!body.is_end_stream());
        body.frame().await.unwrap().unwrap();
    }
    assert!(body.frame().await.is_none() && body.is_end_stream());
}

#[tokio::test(start_paused = true)]
async fn the_size_of_a_stream_is_not_known() {
    let mut body = respond(V1.stream(), Answer::sse(MockBody::of(events()))).await.into_body();
    assert_eq!((body.size_hint().lower(), body.size_hint().upper()), (0, None));
    assert!(!body.is_end_stream());
    while let Some(frame) = body.frame().await {
        frame.unwrap();
    }
    assert!(body.is_end_stream());
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_that_passes_is_at_its_end() {
    let response = respond(unnamed(), Answer::new(204, "text/plain", MockBody::new())).await;
    assert!(response.body().is_end_stream());
    assert_eq!(response.body().size_hint().exact(), Some(0));
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_to_a_delete_is_a_success() {
    let request = Rest.request("DELETE", "/tasks/task-1/pushNotificationConfigs/c", String::new());
    let ended = call(plain(), request, Answer::new(204, "application/json", MockBody::new())).await;
    assert_eq!((ended.word().as_str(), ended.status.unwrap().as_u16()), ("success/success", 204));
}

/// Whoever gets a JSON-RPC request without an id must not answer it (JSON-RPC 2.0 §4.1), whatever it asks for.
#[tokio::test(start_paused = true)]
async fn nothing_is_due_to_a_request_without_an_id() {
    for method in ["SendMessage", "SendStreamingMessage"] {
        for (id, word) in [("", "success/success"), (r#""id":null,"#, "broken/empty"), (r#""id":1,"#, "broken/empty")] {
            let body = format!(
                r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"x"}}]}}}}}}"#
            );
            let empty = Answer::new(204, "application/json", MockBody::new());
            assert_eq!(call(plain(), V1.request("POST", "/a2a", body), empty).await.word(), word, "{method} {id}");
        }
    }
}

/// After its failure a body has nothing more to give: neither data that came before, nor trailers.
#[tokio::test(start_paused = true)]
async fn a_body_that_failed_is_at_its_end() {
    let unfinished = MockBody::new().data(V1.task_event("WORKING")).trailers("x-checksum", "c0ffee");
    let bodies = [
        respond(V1.stream(), Answer::sse(unfinished)).await.into_body(),
        respond(V1.stream(), Answer::sse(MockBody::new().data(V1.task_event("WORKING")).reset())).await.into_body(),
        respond(unnamed(), Answer::new(200, "image/png", MockBody::new().data("x").reset().data("y")))
            .await
            .into_body(),
    ];
    for mut body in bodies {
        while let Some(Ok(frame)) = body.frame().await {
            assert!(frame.is_data());
        }
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn an_unterminated_last_event_gains_its_line_end_and_nothing_else() {
    for (style, missing) in [("\n", "\n\n"), ("\r\n", "\r\n\r\n"), ("\r", "\r\r")] {
        let data = V1.result(&V1.task("COMPLETED"));
        let sent = format!(": hello{style}{style}data: {data}");
        let ended = call(plain(), V1.stream(), Answer::sse(MockBody::new().data(sent.clone()))).await;
        assert_eq!(ended.word(), "success/success", "{style:?}");
        assert_eq!(String::from_utf8(ended.bytes()).unwrap(), format!("{sent}{missing}"));
    }
}
