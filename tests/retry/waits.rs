//! How long it waits.

use a2a_guard::{LimitOverrides, Limits, Operation, retry::RetryPolicy};
use http::Request;
use http_body_util::Full;

use crate::{
    attempt, done, lost,
    mock::{Answer, Dialect, MockBody, ms, s},
    refused, status, within,
};
use Dialect::V1;

fn asks_to_wait(code: u16, seconds: &'static str) -> Answer {
    status(code).header("retry-after", seconds)
}

#[tokio::test(start_paused = true)]
async fn what_the_peer_asks_for_is_waited_for() {
    for code in [429, 503] {
        for (request, done) in [(V1.send(), done(V1, "send")), (V1.get(), done(V1, "get"))] {
            let tried = attempt(RetryPolicy::new(), request, [asks_to_wait(code, "7"), done]).await;
            assert_eq!(tried.fate().0, "success/success");
            tried.assert_within(s(7), s(7) + ms(101));
        }
    }
    let info = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"busy","data":[
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}"#;
    let tried = attempt(RetryPolicy::new(), V1.send(), [Answer::json(info), done(V1, "send")]).await;
    assert_eq!(tried.fate().0, "success/success");
    tried.assert_within(s(3), s(3) + ms(101));
}

#[tokio::test(start_paused = true)]
async fn pauses_of_its_own_grow() {
    let answers = || [status(429), status(429), status(429), done(V1, "get")];
    let tried = attempt(RetryPolicy::new().attempts(4), V1.get(), answers()).await;
    assert_eq!(tried.fate().0, "success/success");
    tried.assert_within(ms(350), ms(703));
    let slower = RetryPolicy::new().attempts(4).pause(s(10), s(20));
    attempt(slower, V1.get(), answers()).await.assert_within(s(25), s(51));
}

/// To wait in vain helps nobody.
#[tokio::test(start_paused = true)]
async fn what_does_not_fit_into_the_total_is_not_waited_for() {
    let limits = Limits::within(s(60));
    let tried = within(limits.clone(), RetryPolicy::new(), V1.get(), [asks_to_wait(429, "60"), done(V1, "get")]).await;
    assert_eq!((tried.fate(), tried.requests.len()), (("refused/rate_limited".into(), s(0)), 1));
    // What was spent before counts.
    let late = asks_to_wait(429, "40").after(s(20));
    let tried = within(limits.clone(), RetryPolicy::new(), V1.get(), [late, done(V1, "get")]).await;
    assert_eq!((tried.fate(), tried.requests.len()), (("refused/rate_limited".into(), s(20)), 1));
    let in_time = asks_to_wait(429, "39").after(s(20));
    let tried = within(limits, RetryPolicy::new(), V1.get(), [in_time, done(V1, "get")]).await;
    assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("success/success", 2));
}

#[tokio::test(start_paused = true)]
async fn a_calls_own_total_counts() {
    for (total, requests) in [(s(5), 1), (s(9), 2)] {
        let mut request = V1.get();
        request.extensions_mut().insert(LimitOverrides::default().total(total));
        let tried = attempt(RetryPolicy::new(), request, [asks_to_wait(429, "7"), done(V1, "get")]).await;
        assert_eq!(tried.requests.len(), requests);
    }
}

#[tokio::test(start_paused = true)]
async fn so_does_the_time_that_a_request_of_grpc_gives_itself() {
    for (timeout, requests) in [("5S", 1), ("30S", 2), ("900S", 2), ("none", 2)] {
        let get = Request::post("https://agent.example.com/lf.a2a.v1.A2AService/GetTask")
            .header("content-type", "application/grpc")
            .header("grpc-timeout", timeout)
            .body(Full::from(&[0, 0, 0, 0, 0][..]))
            .unwrap();
        let tried = attempt(RetryPolicy::new().attempts(2).pause(s(20), s(20)), get, [refused(), refused()]).await;
        assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("transport/connect", requests), "{timeout}");
        assert!(requests == 2 || tried.elapsed == s(0), "{timeout}");
    }
    // Of other bindings it is a header like any other.
    let mut request = V1.get();
    request.headers_mut().insert("grpc-timeout", "5S".parse().unwrap());
    let tried = attempt(RetryPolicy::new().attempts(2).pause(s(20), s(20)), request, [refused(), refused()]).await;
    assert_eq!(tried.requests.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn so_does_the_total_of_an_operation() {
    let answers = || [asks_to_wait(429, "7"), done(V1, "get")];
    for (operation, total, requests) in
        [(Operation::GetTask, s(5), 1), (Operation::GetTask, s(9), 2), (Operation::SendMessage, s(5), 2)]
    {
        let policy = RetryPolicy::new().operation_limits(operation, LimitOverrides::default().total(total));
        let tried = attempt(policy.clone(), V1.get(), answers()).await;
        assert_eq!(tried.requests.len(), requests, "{operation} {total:?}");
        // The call's own comes first.
        let mut request = V1.get();
        request.extensions_mut().insert(LimitOverrides::default().total(s(100)));
        assert_eq!(attempt(policy, request, answers()).await.requests.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_too_long_a_pause_is_not_asked_again() {
    let policy = RetryPolicy::new().max_wait(s(10));
    let tried = attempt(policy.clone(), V1.get(), [asks_to_wait(429, "11"), done(V1, "get")]).await;
    assert_eq!((tried.fate(), tried.requests.len()), (("refused/rate_limited".into(), s(0)), 1));
    let tried = attempt(policy, V1.get(), [asks_to_wait(429, "10"), done(V1, "get")]).await;
    assert_eq!(tried.requests.len(), 2);
}

/// All attempts and pauses are one call.
#[tokio::test(start_paused = true)]
async fn the_total_spans_all_attempts() {
    let limits = Limits::within(s(70)).head(s(30));
    let answers = (0..9).map(|_| Answer::never());
    let tried = within(limits, RetryPolicy::new().attempts(9), V1.get(), answers).await;
    assert_eq!(tried.fate(), ("timeout/total".into(), s(70)));
    assert_eq!(tried.attempts, ["timeout/head", "timeout/head", "timeout/total"]);
    let error = tried.result.unwrap_err();
    assert_eq!(error.elapsed(), s(70), "from the first attempt on");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_broke_off_late_is_asked_for_again_in_what_is_left() {
    let cut = || Answer::new(200, "application/json", MockBody::new().data("{").wait(s(40)).reset());
    let limits = Limits::within(s(60));
    let tried = within(limits, RetryPolicy::new().attempts(9), V1.get(), [cut(), cut(), lost(), refused()]).await;
    assert_eq!((tried.fate(), tried.requests.len()), (("timeout/total".into(), s(60)), 2));
}
