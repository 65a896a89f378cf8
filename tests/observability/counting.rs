//! Counters and histograms of calls.

use a2a_guard::{
    Call, CallLayer, ProbeCacheLayer, TerminalStateLayer,
    observability::{MetricsObserver, record_availability, record_card_store},
};
use http_body_util::BodyExt;
use metrics::Unit;
use tower::{Layer, ServiceBuilder, ServiceExt};

use crate::{
    answer,
    mock::{Answer, Dialect::V1, MockBody, Peer, s},
    no_cards,
    recorder::Recorded,
};

#[tokio::test(start_paused = true)]
async fn calls_are_counted_and_timed_by_how_they_ended() {
    let (recorded, _guard) = Recorded::new();
    let (task, done) = (V1.task_event("WORKING"), V1.update_event("COMPLETED"));
    let stream_bytes = (task.len() + done.len()) as u64;
    let slip = answer("COMPLETED").replacen(r#""id":1"#, r#""id":"1""#, 1);
    let unary_bytes = (answer("COMPLETED").len() + slip.len()) as u64;
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TerminalStateLayer::builder().observe(MetricsObserver::new()).build().unwrap())
        .service(Peer::new([
            Answer::sse(MockBody::new().wait(s(2)).data(task).wait(s(3)).data(done)).after(s(1)),
            Answer::json(answer("COMPLETED")).after(s(7)),
            Answer::json(slip),
            Answer::never(),
        ]));
    stack.clone().oneshot(V1.stream()).await.unwrap().into_body().collect().await.unwrap();
    for _ in 0..2 {
        stack.clone().oneshot(V1.get()).await.unwrap().into_body().collect().await.unwrap();
    }
    stack.oneshot(V1.get()).await.unwrap_err();

    let count = |series: &str| recorded.counter(series);
    let stream = r#"operation="SendStreamingMessage",binding="JSONRPC""#;
    let get = r#"operation="GetTask",binding="JSONRPC""#;
    let ended = |shape: &str, outcome: &str, class: &str| {
        count(&format!(r#"a2a_guard_calls_total{{{shape},outcome="{outcome}",class="{class}"}}"#))
    };
    assert_eq!(ended(stream, "success", "success"), Some(1));
    assert_eq!(ended(get, "success", "success"), Some(2));
    assert_eq!(ended(get, "timeout", "head"), Some(1));

    let lasted = |shape: &str, outcome: &str| {
        recorded.samples(&format!(r#"a2a_guard_call_duration_seconds{{{shape},outcome="{outcome}"}}"#))
    };
    assert_eq!(lasted(stream, "success"), [6.0]);
    assert_eq!(lasted(get, "success"), [7.0, 0.0]);
    assert_eq!(lasted(get, "timeout"), [30.0]);

    assert_eq!(recorded.samples(&format!("a2a_guard_first_event_seconds{{{stream}}}")), [3.0]);
    assert_eq!(count(&format!("a2a_guard_events_total{{{stream}}}")), Some(2));
    assert_eq!(count(&format!("a2a_guard_received_bytes_total{{{stream}}}")), Some(stream_bytes));
    assert_eq!(count(&format!("a2a_guard_received_bytes_total{{{get}}}")), Some(unary_bytes));
    assert_eq!(count(&format!("a2a_guard_events_total{{{get}}}")), None, "no stream");
    let completed = format!(r#"a2a_guard_task_states_total{{{get},state="TASK_STATE_COMPLETED"}}"#);
    assert_eq!(count(&completed), Some(2));
    assert_eq!(count(r#"a2a_guard_tolerated_total{slip="id_type_changed"}"#), Some(1));
}

#[tokio::test(start_paused = true)]
async fn what_others_choose_becomes_no_label() {
    let (recorded, _guard) = Recorded::new();
    let observer = MetricsObserver::new();
    let ending = TerminalStateLayer::builder().observe(observer).build().unwrap();
    let answers = (0..50).map(|n| {
        let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{n},"message":"m-{n}"}}}}"#);
        Answer::json(error)
    });
    let stack = CallLayer::new().layer(ending.layer(Peer::new(answers)));
    for n in 0..50 {
        let mut request = V1.rpc("GetTask", &format!(r#""id":"t-{n}","tenant":"x-{n}""#));
        *request.uri_mut() = format!("https://agent-{n}.example.com/a2a").parse().unwrap();
        request.headers_mut().insert("a2a-version", format!("1.{n}").parse().unwrap());
        stack.clone().oneshot(request).await.unwrap_err();
    }
    let series = recorded.series();
    assert_eq!(series.len(), 3, "{series:#?}");
}

/// A recorder may be installed after the first call.
#[tokio::test(start_paused = true)]
async fn a_recorder_that_comes_late_is_heard() {
    let ending = TerminalStateLayer::builder().observe(MetricsObserver::new()).build().unwrap();
    let answers = [Answer::json(answer("COMPLETED")), Answer::json(answer("COMPLETED"))];
    let stack = CallLayer::new().layer(ending.layer(Peer::new(answers)));
    stack.clone().oneshot(V1.get()).await.unwrap();
    let (recorded, _guard) = Recorded::new();
    stack.oneshot(V1.get()).await.unwrap();
    let calls = r#"a2a_guard_calls_total{operation="GetTask",binding="JSONRPC",outcome="success",class="success"}"#;
    assert_eq!(recorded.counter(calls), Some(1));
}

#[tokio::test(start_paused = true)]
async fn the_recorder_is_told_the_units() {
    let (recorded, _guard) = Recorded::new();
    let _observer = MetricsObserver::new();
    assert_eq!(recorded.unit("a2a_guard_call_duration_seconds"), Some(Unit::Seconds));
    assert_eq!(recorded.unit("a2a_guard_received_bytes_total"), Some(Unit::Bytes));
    assert_eq!(recorded.unit("a2a_guard_calls_total"), Some(Unit::Count));
}

#[tokio::test(start_paused = true)]
async fn what_a_card_store_has_done_is_published() {
    let (recorded, _guard) = Recorded::new();
    let cards = no_cards();
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(a2a_guard::card_consistency::CardConsistencyLayer::new(cards.clone()))
        .layer(TerminalStateLayer::new())
        .service(Peer::new([]));
    for _ in 0..3 {
        stack.clone().oneshot(V1.get()).await.unwrap_err();
    }
    for _ in 0..2 {
        record_card_store(&cards, "agents");
    }
    let stats = cards.stats();
    let count = |name: &str| recorded.counter(&format!(r#"a2a_guard_card_{name}_total{{store="agents"}}"#));
    assert_eq!((stats.searches, stats.failures, stats.remembered), (1, 1, 2));
    assert_eq!((count("fetches"), count("failures"), count("remembered")), (Some(1), Some(1), Some(2)));
    assert_eq!(count("requests"), Some(stats.requests));
    assert_eq!(recorded.gauge(r#"a2a_guard_card_entries{store="agents"}"#), Some(stats.entries as f64));
    assert_eq!(recorded.gauge(r#"a2a_guard_card_fetches_in_flight{store="agents"}"#), Some(0.0));
}

#[tokio::test(start_paused = true)]
async fn what_is_known_of_skills_is_published() {
    let (recorded, _guard) = Recorded::new();
    let probes = ProbeCacheLayer::without_probes().build().unwrap();
    let answers = (0..3).map(|_| Answer::json(V1.result(&V1.task("COMPLETED"))));
    let stack = CallLayer::new().layer(probes.clone().layer(TerminalStateLayer::new().layer(Peer::new(answers))));
    for _ in 0..3 {
        let mut request = V1.send();
        request.extensions_mut().insert(Call::new().with_skill("translate"));
        stack.clone().oneshot(request).await.unwrap().into_body().collect().await.unwrap();
    }
    record_availability(probes.availability(), "agents");
    let count = |name: &str| recorded.counter(&format!(r#"a2a_guard_{name}_total{{store="agents"}}"#));
    assert_eq!((count("skill_hits"), count("skill_misses"), count("probes")), (Some(2), Some(1), Some(0)));
    assert_eq!(recorded.gauge(r#"a2a_guard_skill_entries{store="agents"}"#), Some(1.0));
}
