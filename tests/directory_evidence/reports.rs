//! What counts, and as what.

use std::{io::ErrorKind, time::Duration};

use a2a_guard::{
    Call, Limits, TerminalStateLayer,
    directory::{Report, ReportKind},
};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::mock::{Answer, Dialect::V1, MockBody, call, s};
use ReportKind::{Failure, Neutral, Overclaim};

fn status(status: u16) -> Answer {
    Answer::new(status, "text/plain", MockBody::new().data("text"))
}

fn error(code: i64) -> Answer {
    Answer::json(V1.error(code))
}

fn named(request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    let mut request = request;
    request.extensions_mut().insert(Call::new().with_skill("translate"));
    request
}

fn not_in_the_region() -> Answer {
    let data = r#"{"region":"eu","availableSkills":["summarise"]}"#;
    Answer::json(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32004,"message":"no","data":{data}}}}}"#))
}

fn to_task() -> Request<Full<Bytes>> {
    let message = r#""message":{"messageId":"m-1","taskId":"task-1","role":"ROLE_USER","parts":[{"text":"more"}]}"#;
    V1.rpc("SendMessage", message)
}

fn push_config() -> Request<Full<Bytes>> {
    V1.rpc("GetTaskPushNotificationConfig", r#""taskId":"task-1","id":"config-1""#)
}

fn extended_card() -> Request<Full<Bytes>> {
    V1.rpc("GetExtendedAgentCard", "")
}

type Row = (fn() -> Request<Full<Bytes>>, fn() -> Answer, &'static str, ReportKind);

const ROWS: [Row; 45] = [
    // Not in time, not there, not understood.
    (|| V1.send(), Answer::never, "timeout/head", Failure),
    (|| V1.send(), || Answer::new(200, "application/json", MockBody::new().hang()), "timeout/idle", Failure),
    (|| V1.send(), || Answer::lost(ErrorKind::ConnectionRefused), "transport/connect", Failure),
    (|| V1.send(), || Answer::lost(ErrorKind::ConnectionReset), "transport/connection_lost", Failure),
    (|| V1.send(), || status(500), "broken/http_status", Failure),
    (|| V1.send(), || status(502), "broken/http_status", Failure),
    (|| V1.send(), || Answer::json("{"), "broken/malformed", Failure),
    (|| V1.send(), || Answer::new(200, "text/html", MockBody::new().data("<p>")), "broken/wrong_media_type", Failure),
    (|| V1.stream(), || Answer::json(V1.result(&V1.task("COMPLETED"))), "broken/silent_downgrade", Failure),
    (|| V1.stream(), || Answer::sse(MockBody::new().data(V1.task_event("WORKING"))), "broken/truncated", Failure),
    // It is not where it says it is, or not well.
    (|| V1.send(), || status(404), "refused/endpoint_not_found", Failure),
    (|| V1.send(), || status(410), "refused/endpoint_not_found", Failure),
    (|| V1.send(), || status(301), "refused/redirected", Failure),
    (|| V1.send(), || status(503), "refused/unavailable", Failure),
    (|| V1.send(), || error(-32603), "refused/peer_error", Failure),
    (|| V1.send(), || error(-32006), "refused/peer_error", Failure),
    // It claims what it does not do.
    (|| named(V1.send()), || error(-32004), "stale/skill_unavailable", Overclaim),
    (|| named(V1.send()), not_in_the_region, "stale/skill_unavailable", Overclaim),
    (|| named(to_task()), not_in_the_region, "stale/skill_unavailable", Overclaim),
    (|| V1.send(), not_in_the_region, "refused/peer_error", Overclaim),
    (|| V1.send(), || error(-32004), "refused/peer_error", Overclaim),
    (|| V1.stream(), || error(-32004), "refused/peer_error", Overclaim),
    (|| named(V1.stream()), || error(-32004), "refused/peer_error", Overclaim),
    (|| V1.send(), || error(-32601), "refused/peer_error", Overclaim),
    (|| V1.send(), || error(-32009), "refused/peer_error", Overclaim),
    (push_config, || error(-32003), "refused/peer_error", Overclaim),
    (push_config, || error(-32004), "refused/peer_error", Overclaim),
    (extended_card, || error(-32007), "refused/peer_error", Overclaim),
    (extended_card, || error(-32004), "refused/peer_error", Overclaim),
    // It is about the request, the task, or the caller.
    (|| named(to_task()), || error(-32004), "refused/peer_error", Neutral),
    (|| V1.subscribe(), || error(-32004), "refused/peer_error", Neutral),
    (|| V1.get(), || error(-32001), "refused/peer_error", Neutral),
    (to_task, || error(-32002), "refused/peer_error", Neutral),
    (|| V1.send(), || error(-32005), "refused/peer_error", Neutral),
    (|| V1.send(), || error(-32008), "refused/peer_error", Neutral),
    (|| V1.send(), || error(-32700), "refused/peer_error", Neutral),
    (|| V1.send(), || error(-32600), "refused/peer_error", Neutral),
    (|| V1.send(), || error(-32602), "refused/peer_error", Neutral),
    (|| V1.send(), || error(-32050), "refused/peer_error", Neutral),
    (|| V1.send(), || status(401), "refused/auth", Neutral),
    (|| V1.send(), || status(403), "refused/auth", Neutral),
    (|| V1.send(), || status(407), "refused/auth", Neutral),
    (|| V1.send(), || status(429), "refused/rate_limited", Neutral),
    (|| V1.send(), || status(413), "refused/too_large", Neutral),
    (|| V1.send(), || status(415), "refused/unsupported_media", Neutral),
];

#[tokio::test(start_paused = true)]
async fn each_error_counts_as_what_it_says_of_the_peer() {
    for (request, answer, word, kind) in ROWS {
        let limits = Limits::default().blocking_head(s(30)).idle(s(20));
        let ended = call(TerminalStateLayer::builder().limits(limits), request(), answer()).await;
        assert_eq!(ended.word(), word);
        let report = Report::of_error(ended.error(), Duration::from_millis(7));
        assert_eq!(report.kind(), kind, "{}", ended.error());
        assert_eq!(report.elapsed(), Duration::from_millis(7));
    }
}

#[test]
fn the_words_are_stable() {
    let words = [Report::success(s(1)), Report::failure(s(1)), Report::overclaim(s(1)), Report::neutral()]
        .map(|report| report.kind().to_string());
    assert_eq!(words, ["success", "failure", "overclaim", "neutral"]);
}
