//! Bounds of the layer, of an operation, and of one call.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    time::Duration,
};

use a2a_guard::{LimitOverrides, Limits, Operation};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    fate,
    mock::{Answer, Dialect, HOUR, MockBody, call, ms, s},
    plain, with,
};

use Dialect::{Rest, V1};

fn own(mut request: Request<Full<Bytes>>, overrides: LimitOverrides) -> Request<Full<Bytes>> {
    request.extensions_mut().insert(overrides);
    request
}

fn by() -> LimitOverrides {
    LimitOverrides::default()
}

#[tokio::test(start_paused = true)]
async fn an_operation_has_its_own_bounds() {
    let layer = || with(Limits::default().head(s(9))).operation_limits(Operation::GetTask, by().head(s(3)));
    assert_eq!(call(layer(), V1.get(), Answer::never()).await.fate(), fate("timeout/head", s(3)));
    assert_eq!(call(layer(), Rest.get(), Answer::never()).await.fate(), fate("timeout/head", s(3)));
    assert_eq!(call(layer(), V1.subscribe(), Answer::never()).await.fate(), fate("timeout/head", s(9)));
}

#[tokio::test(start_paused = true)]
async fn what_an_operation_leaves_open_is_the_layers() {
    let layer = with(Limits::default().idle(s(4))).operation_limits(Operation::GetTask, by().head(s(3)));
    let answer = Answer::new(200, "application/json", MockBody::new().hang());
    assert_eq!(call(layer, V1.get(), answer).await.fate(), fate("timeout/idle", s(4)));
}

#[test]
fn bounds_of_a_streaming_operation_are_held_to_the_total_of_streams() {
    let longer = by().blocking_head(s(700)).idle(s(700));
    let layer = plain().operation_limits(Operation::SendStreamingMessage, longer.clone()).build();
    assert!(layer.is_ok(), "{:?}", layer.err());
    assert!(plain().operation_limits(Operation::SendMessage, longer).build().is_err());
}

#[test]
fn bounds_that_an_operation_never_reaches_are_not_held_against_it() {
    let short = by().total_unary(s(10)).head(s(5)).idle(s(5));
    let layer = plain().operation_limits(Operation::GetTask, short.clone()).build();
    assert!(layer.is_ok(), "{:?}", layer.err());
    let error = plain().operation_limits(Operation::SendMessage, short).build().unwrap_err();
    assert_eq!((error.setting(), error.operation()), ("blocking_head", Some(Operation::SendMessage)));
}

#[tokio::test(start_paused = true)]
async fn a_call_has_its_own_bounds_above_all() {
    let layer = with(Limits::default().head(s(9))).operation_limits(Operation::GetTask, by().head(s(3)));
    let request = own(V1.get(), by().head(s(5)));
    assert_eq!(call(layer, request, Answer::never()).await.fate(), fate("timeout/head", s(5)));
}

#[tokio::test(start_paused = true)]
async fn what_a_call_leaves_open_is_its_operations() {
    let layer = plain().operation_limits(Operation::GetTask, by().head(s(3)));
    let request = own(V1.get(), by().idle(s(5)));
    assert_eq!(call(layer, request, Answer::never()).await.fate(), fate("timeout/head", s(3)));
}

/// One row: what the call sets, its request, the answer, and how it has to end.
type Row = (LimitOverrides, Request<Full<Bytes>>, Answer, &'static str, Duration);

#[tokio::test(start_paused = true)]
async fn each_bound_can_be_set_for_one_call() {
    let ping = || MockBody::new().data(V1.task_event("WORKING")).every(s(1), ":\n", 1000);
    let json = |body| Answer::new(200, "application/json", body);
    let open = |state| MockBody::new().data(V1.task_event(state)).hang();
    let rows: [Row; 10] = [
        (by().head(s(2)), V1.get(), Answer::never(), "timeout/head", s(2)),
        (by().blocking_head(s(2)), V1.send(), Answer::never(), "timeout/head", s(2)),
        (by().first_event(s(2)), V1.stream(), Answer::sse(MockBody::new().hang()), "timeout/first_event", s(2)),
        (by().idle(s(2)), V1.stream(), Answer::sse(open("WORKING")), "timeout/idle", s(2)),
        (by().idle(s(2)), V1.get(), json(MockBody::new().hang()), "timeout/idle", s(2)),
        (by().event_gap(s(2)), V1.stream(), Answer::sse(ping()), "timeout/event_gap", s(2)),
        (by().total_unary(s(2)), V1.get(), json(MockBody::new().every(s(1), " ", 99)), "timeout/total", s(2)),
        (by().total_stream(s(2)).event_gap(s(9)), V1.stream(), Answer::sse(ping()).after(s(1)), "timeout/total", s(2)),
        (by().linger(s(1)), V1.stream(), Answer::sse(open("COMPLETED")), "success/success", s(1)),
        (by().auth_wait(s(3)), V1.stream(), Answer::sse(open("AUTH_REQUIRED")), "success/success", s(3)),
    ];
    for (overrides, request, answer, word, elapsed) in rows {
        let ended = call(plain(), own(request, overrides.clone()), answer).await;
        assert_eq!(ended.fate(), fate(word, elapsed), "{overrides:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_cap_can_be_set_for_one_call() {
    let document = || V1.result(&V1.bare_task("WORKING"));
    let ended = call(plain(), own(V1.get(), by().max_unary_body(20)), Answer::json(document())).await;
    assert_eq!(ended.word(), "broken/too_large");
    let body = MockBody::new().data(V1.task_event("WORKING"));
    let ended = call(plain(), own(V1.stream(), by().max_event(20)), Answer::sse(body)).await;
    assert_eq!(ended.word(), "broken/too_large");
    let answer = Answer::new(500, "text/plain", MockBody::new().data("far too long").hang());
    let ended = call(plain(), own(V1.get(), by().max_refusal(5)), answer).await;
    assert_eq!(ended.error().response().unwrap().body, "far t");
}

#[tokio::test(start_paused = true)]
async fn a_calls_own_bound_is_cut_to_its_total() {
    let layer = || with(Limits::within(s(20)));
    let ended = call(layer(), own(V1.get(), by().head(HOUR)), Answer::never()).await;
    assert_eq!(ended.elapsed, s(20));
    let body = MockBody::new().data(V1.task_event("WORKING")).hang();
    let request = own(V1.stream(), by().idle(HOUR).event_gap(HOUR));
    assert_eq!(call(layer(), request, Answer::sse(body)).await.elapsed, s(20));
}

#[tokio::test(start_paused = true)]
async fn a_short_total_of_one_call_cuts_the_other_bounds() {
    let request = own(V1.send(), by().total_unary(s(2)));
    assert_eq!(call(plain(), request, Answer::never()).await.elapsed, s(2));
    let request = own(V1.stream(), by().total_stream(s(2)));
    assert_eq!(call(plain(), request, Answer::sse(MockBody::new().hang())).await.elapsed, s(2));
}

#[tokio::test(start_paused = true)]
async fn a_streams_head_is_not_cut_to_the_total_of_unary_calls() {
    let request = own(V1.stream(), by().total_unary(s(2)));
    let body = MockBody::new().data(V1.task_event("COMPLETED"));
    let ended = call(plain(), request, Answer::sse(body).after(s(10))).await;
    assert_eq!(ended.fate(), fate("success/success", s(10)));
}

#[tokio::test(start_paused = true)]
async fn a_unary_head_is_not_cut_to_the_total_of_streams() {
    let request = own(V1.get(), by().total_stream(s(2)));
    let answer = Answer::json(V1.result(&V1.bare_task("WORKING"))).after(s(10));
    assert_eq!(call(plain(), request, answer).await.fate(), fate("success/success", s(10)));
}

#[tokio::test(start_paused = true)]
async fn an_eternal_total_of_one_call_is_no_panic() {
    let request = own(V1.get(), by().total_unary(Duration::MAX));
    assert_eq!(call(plain(), request, Answer::never()).await.fate(), fate("timeout/head", s(30)));
    let request = own(V1.stream(), by().total_stream(Duration::MAX).idle(Duration::MAX).event_gap(s(400)));
    let body = MockBody::new().data(V1.task_event("WORKING")).hang();
    assert_eq!(call(plain(), request, Answer::sse(body)).await.fate(), fate("timeout/event_gap", s(400)));
}

#[tokio::test(start_paused = true)]
async fn bounds_of_nothing_end_a_call_at_once() {
    let request = own(V1.get(), by().total_unary(Duration::ZERO));
    assert_eq!(call(plain(), request, Answer::never()).await.elapsed, Duration::ZERO);
}

/// Such a bound is due when its turn comes; until then it does not wake the call again and again.
#[tokio::test(start_paused = true)]
async fn a_bound_of_next_to_no_time_for_one_call_does_not_keep_it_busy() {
    for bound in [Duration::ZERO, Duration::from_nanos(1), ms(1)] {
        for overrides in [by().auth_wait(bound), by().idle(bound), by().first_event(bound), by().event_gap(bound)] {
            let (mut polls, request) = (0, own(V1.stream(), overrides.clone()));
            let mut future = pin!(call(plain(), request, Answer::never()));
            let ended = poll_fn(|cx| {
                polls += 1;
                assert!(polls < 1000, "{overrides:?}: {polls} polls");
                future.as_mut().poll(cx)
            });
            assert_eq!(ended.await.fate(), fate("timeout/head", s(300)));
        }
    }
    let body = || MockBody::new().data(V1.task_event("AUTH_REQUIRED")).hang();
    for bound in [ms(1), ms(999)] {
        let ended = call(plain(), own(V1.stream(), by().auth_wait(bound)), Answer::sse(body()).after(s(7))).await;
        assert_eq!(ended.fate(), fate("success/success", s(7) + bound));
    }
}
