//! Each bound is reached exactly at its time, in its class.

use a2a_guard::Limits;
use tower::{Layer, Service, ServiceExt};

use crate::{
    fate,
    mock::{Answer, Dialect, MockBody, Peer, call, s},
    with,
};

use Dialect::{Rest, V1, V02, V03};

const PING: &str = ": ping\n\n";

/// Half a document, so that the rest is waited for.
fn half() -> MockBody {
    MockBody::new().data(r#"{"jsonrpc":"2.0","#)
}

#[tokio::test(start_paused = true)]
async fn head_bounds_a_call_that_does_not_block() {
    for request in [V1.get(), V03.get(), Rest.get(), V1.subscribe()] {
        let ended = call(with(Limits::default().head(s(7))), request, Answer::never()).await;
        assert_eq!(ended.fate(), fate("timeout/head", s(7)));
        assert_eq!(ended.error().bound(), Some(s(7)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_says_what_did_not_come() {
    let event = || MockBody::new().data(V1.task_event("WORKING"));
    for (answer, words) in [
        (Answer::never(), "timeout/head: no response head"),
        (Answer::sse(MockBody::new().hang()), "timeout/first_event: no event"),
        (Answer::sse(event().hang()), "timeout/idle: no bytes"),
        (Answer::sse(event().every(s(4), PING, 100)), "timeout/event_gap: bytes, but no event"),
        (Answer::sse(MockBody::new().forever(V1.task_event("WORKING"), s(1))), "timeout/total: not finished"),
    ] {
        let limits = Limits::default()
            .blocking_head(s(11))
            .first_event(s(5))
            .idle(s(7))
            .event_gap(s(30))
            .auth_wait(s(60))
            .total(s(90));
        let line = call(with(limits), V1.stream(), answer).await.error().to_string();
        assert!(line.starts_with(words), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_with_the_bound_is_in_time() {
    let answer = Answer::json(V1.result(&V1.bare_task("WORKING"))).after(s(7));
    let ended = call(with(Limits::default().head(s(7))), V1.get(), answer).await;
    assert_eq!(ended.fate(), fate("success/success", s(7)));
}

#[tokio::test(start_paused = true)]
async fn blocking_head_bounds_sends_that_wait_for_their_task() {
    for dialect in [V1, V03, V02, Rest] {
        for request in [dialect.send(), dialect.stream()] {
            let limits = Limits::default().head(s(7)).blocking_head(s(11));
            let ended = call(with(limits), request, Answer::never()).await;
            assert_eq!(ended.fate(), fate("timeout/head", s(11)), "{dialect:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn head_bounds_sends_that_do_not_wait() {
    for dialect in [V1, V03, Rest] {
        let limits = Limits::default().head(s(7)).blocking_head(s(11));
        let ended = call(with(limits), dialect.send_at_once(), Answer::never()).await;
        assert_eq!(ended.fate(), fate("timeout/head", s(7)), "{dialect:?}");
    }
}

/// Nobody read whether it waits for its task, so it may.
#[tokio::test(start_paused = true)]
async fn a_post_that_nobody_read_has_the_head_of_one_that_blocks() {
    for (request, elapsed) in [(V1.send_at_once(), s(11)), (V1.get(), s(11)), (Rest.get(), s(7))] {
        let limits = Limits::default().head(s(7)).blocking_head(s(11));
        let mut alone = with(limits).build().unwrap().layer(Peer::new([Answer::never()]));
        let started = tokio::time::Instant::now();
        let error = alone.ready().await.unwrap().call(request).await.unwrap_err();
        assert_eq!((error.class().as_str(), started.elapsed()), ("head", elapsed));
    }
}

#[tokio::test(start_paused = true)]
async fn first_event_counts_from_the_head() {
    for dialect in Dialect::ALL {
        let answer = Answer::sse(MockBody::new().hang()).after(s(2));
        let ended = call(with(Limits::default().first_event(s(5))), dialect.stream(), answer).await;
        assert_eq!(ended.fate(), fate("timeout/first_event", s(7)), "{dialect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn comments_are_no_first_event() {
    let body = MockBody::new().every(s(2), PING, 100);
    let ended = call(with(Limits::default().first_event(s(5))), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.fate(), fate("timeout/first_event", s(5)));
}

#[tokio::test(start_paused = true)]
async fn half_an_event_is_no_first_event() {
    let body = MockBody::new().every(s(2), "data: {\"jsonrpc\":\ndata: ", 100);
    let ended = call(with(Limits::default().first_event(s(5))), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.fate(), fate("timeout/first_event", s(5)));
}

#[tokio::test(start_paused = true)]
async fn first_event_bounds_a_document_that_answers_a_streaming_call() {
    let answer = Answer::new(200, "application/json", half().every(s(2), " ", 100));
    let ended = call(with(Limits::default().first_event(s(5))), V1.stream(), answer).await;
    assert_eq!(ended.fate(), fate("timeout/first_event", s(5)));
}

#[tokio::test(start_paused = true)]
async fn idle_bounds_a_silent_body_of_a_unary_call() {
    let body = half().every(s(4), " ", 3).hang();
    let answer = Answer::new(200, "application/json", body).after(s(1));
    let ended = call(with(Limits::default().idle(s(5))), V1.get(), answer).await;
    assert_eq!(ended.fate(), fate("timeout/idle", s(1 + 12 + 5)));
}

#[tokio::test(start_paused = true)]
async fn idle_bounds_a_body_of_which_nothing_comes() {
    let answer = Answer::new(200, "application/json", MockBody::new().hang()).after(s(1));
    let ended = call(with(Limits::default().idle(s(5))), V1.get(), answer).await;
    assert_eq!(ended.fate(), fate("timeout/idle", s(6)));
}

#[tokio::test(start_paused = true)]
async fn empty_frames_are_no_bytes() {
    let limits = || with(Limits::default().idle(s(5)).event_gap(s(60)));
    let json = Answer::new(200, "application/json", half().every(s(3), "", 100));
    assert_eq!(call(limits(), V1.get(), json).await.fate(), fate("timeout/idle", s(5)));
    let body = MockBody::new().data(V1.task_event("WORKING")).every(s(3), "", 100);
    assert_eq!(call(limits(), V1.stream(), Answer::sse(body)).await.fate(), fate("timeout/idle", s(5)));
    let other = Answer::new(200, "text/plain", MockBody::new().data("x").every(s(3), "", 100));
    let request = V1.request("GET", "/x", String::new());
    assert_eq!(call(limits(), request, other).await.fate(), fate("timeout/idle", s(5)));
}

#[tokio::test(start_paused = true)]
async fn idle_bounds_a_silent_stream() {
    for dialect in Dialect::ALL {
        let body = MockBody::new().data(dialect.task_event("WORKING")).every(s(4), PING, 3).hang();
        let limits = Limits::default().idle(s(5)).event_gap(s(60));
        let ended = call(with(limits), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(ended.fate(), fate("timeout/idle", s(12 + 5)), "{dialect:?}");
        assert_eq!(ended.error().events(), 1);
        assert_eq!(ended.error().task_id(), Some("task-1"));
    }
}

#[tokio::test(start_paused = true)]
async fn event_gap_bounds_keep_alives() {
    for dialect in Dialect::ALL {
        let body = MockBody::new()
            .data(dialect.task_event("SUBMITTED"))
            .wait(s(3))
            .data(dialect.update_event("WORKING"))
            .every(s(4), PING, 100);
        let limits = Limits::default().idle(s(5)).event_gap(s(22));
        let ended = call(with(limits), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(ended.fate(), fate("timeout/event_gap", s(3 + 22)), "{dialect:?}");
        assert_eq!(ended.error().events(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn event_gap_bounds_an_event_that_never_ends() {
    let body = MockBody::new().data(V1.task_event("WORKING")).every(s(4), "data: {\n", 100);
    let limits = Limits::default().idle(s(5)).event_gap(s(22));
    let ended = call(with(limits), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.fate(), fate("timeout/event_gap", s(22)));
}

/// However the event was cut, as long as it ends with its last frame.
#[tokio::test(start_paused = true)]
async fn where_idle_and_gap_fall_together_silence_is_idle() {
    let event = V1.task_event("WORKING");
    let (head, rest) = event.split_at(event.len() / 2);
    let cut = MockBody::new().data(head.to_vec()).data(rest.to_vec());
    for body in [MockBody::new().data(event.clone()), cut] {
        let limits = Limits::default().idle(s(5)).event_gap(s(5));
        let ended = call(with(limits), V1.stream(), Answer::sse(body.hang())).await;
        assert_eq!(ended.fate(), fate("timeout/idle", s(5)));
    }
}

/// However they were cut: the bytes behind the event came in its frame, or in the next.
#[tokio::test(start_paused = true)]
async fn where_idle_and_gap_fall_together_bytes_behind_the_event_make_it_a_gap() {
    let (event, ping) = (V1.task_event("WORKING"), PING.as_bytes());
    let together = [&event[..], ping].concat();
    for body in [MockBody::new().data(event.clone()).data(PING), MockBody::new().data(together)] {
        let limits = Limits::default().idle(s(5)).event_gap(s(5));
        let ended = call(with(limits), V1.stream(), Answer::sse(body.hang())).await;
        assert_eq!(ended.fate(), fate("timeout/event_gap", s(5)));
    }
}

#[tokio::test(start_paused = true)]
async fn total_bounds_a_body_that_trickles() {
    let answer = Answer::new(200, "application/json", half().every(s(1), " ", 1000)).after(s(3));
    let limits = Limits::within(s(40)).total_unary(s(41)).idle(s(5));
    let ended = call(with(limits), V1.get(), answer).await;
    assert_eq!(ended.fate(), fate("timeout/total", s(41)));
}

#[tokio::test(start_paused = true)]
async fn total_bounds_a_stream_that_goes_on_and_on() {
    let event = "data: {\"statusUpdate\":{\"taskId\":\"task-1\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}\n\n";
    let body = MockBody::new().data(Rest.task_event("SUBMITTED")).every(s(3), event, 1000);
    let limits = Limits::default().total_unary(s(400)).total_stream(s(1000));
    let ended = call(with(limits), Rest.stream(), Answer::sse(body)).await;
    assert_eq!(ended.fate(), fate("timeout/total", s(1000)));
    assert_eq!(ended.error().events(), 1 + 333);
}

#[tokio::test(start_paused = true)]
async fn total_of_streams_is_not_that_of_unary_calls() {
    let body = MockBody::new().data(V1.task_event("WORKING")).every(s(50), PING, 100);
    let limits = Limits::default().total_unary(s(300)).total_stream(s(1001)).event_gap(s(1001));
    let ended = call(with(limits), V1.stream(), Answer::sse(body).after(s(1))).await;
    assert_eq!(ended.fate(), fate("timeout/total", s(1001)));
}

#[tokio::test(start_paused = true)]
async fn linger_ends_a_stream_that_stays_open_behind_its_end() {
    for dialect in Dialect::ALL {
        for state in ["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED"] {
            let body = MockBody::new().data(dialect.task_event("WORKING")).wait(s(1));
            let body = body.data(dialect.update_event(state)).hang();
            let ended = call(with(Limits::default().linger(s(3))), dialect.stream(), Answer::sse(body)).await;
            assert_eq!(ended.fate(), fate("success/success", s(1 + 3)), "{dialect:?} {state}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn keep_alives_do_not_lengthen_the_linger() {
    let body = MockBody::new().data(V1.task_event("COMPLETED")).every(s(1), PING, 100);
    let ended = call(with(Limits::default().linger(s(5))), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.fate(), fate("success/success", s(5)));
}

#[tokio::test(start_paused = true)]
async fn auth_wait_ends_a_stream_that_waits_for_a_credential() {
    for dialect in [V1, V03, Rest] {
        let body = MockBody::new().data(dialect.task_event("AUTH_REQUIRED")).every(s(30), PING, 1000);
        let limits = Limits::default().auth_wait(s(700)).idle(s(40)).event_gap(s(50));
        let ended = call(with(limits), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(ended.fate(), fate("success/success", s(700)), "{dialect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_got_its_credential_resumes() {
    let body = MockBody::new()
        .data(V1.task_event("AUTH_REQUIRED"))
        .wait(s(590))
        .data(V1.update_event("WORKING"))
        .wait(s(100))
        .data(V1.update_event("COMPLETED"));
    let ended = call(with(Limits::default()), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.fate(), fate("success/success", s(690)));
    assert_eq!(ended.notes.one().state, Some("TASK_STATE_COMPLETED"));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_resumed_is_idle_again_when_it_falls_silent() {
    let body = MockBody::new().data(V1.task_event("AUTH_REQUIRED")).wait(s(590)).data(V1.update_event("WORKING"));
    let ended = call(with(Limits::default().idle(s(9))), V1.stream(), Answer::sse(body.hang())).await;
    assert_eq!(ended.fate(), fate("timeout/idle", s(599)));
}

#[tokio::test(start_paused = true)]
async fn total_counts_while_a_credential_is_waited_for() {
    let body = MockBody::new().data(V1.task_event("AUTH_REQUIRED")).hang();
    let limits = Limits::within(s(50)).total_stream(s(51));
    let ended = call(with(limits.auth_wait(s(51))), V1.stream(), Answer::sse(body).after(s(1))).await;
    assert_eq!(ended.fate(), fate("timeout/total", s(51)));
}

#[tokio::test(start_paused = true)]
async fn total_does_not_undo_a_task_that_ended() {
    let body = MockBody::new().data(V1.task_event("COMPLETED")).hang();
    let limits = Limits::within(s(10)).linger(s(9));
    let ended = call(with(limits), V1.stream(), Answer::sse(body).after(s(4))).await;
    assert_eq!(ended.fate(), fate("success/success", s(10)));
}
