//! Endpoints in use are probed before their trust expires, by option.

use std::time::Duration;

use a2a_guard::probe_cache::EndpointState;
use tokio::time::{Instant, sleep};

use crate::{
    mock::{Answer, Dialect, ms, s},
    support::{Agent, Asked, builder, call, guard, no_task},
};

use Dialect::V1;

/// Conforms, and refuses what it is asked, which proves nothing.
fn unproving() -> Agent {
    Agent::new(|asked| if asked.is_probe() { no_task(asked).after(ms(200)) } else { Answer::json(V1.error(-32603)) })
}

fn probes_at(agent: &Agent, since: Instant) -> Vec<Duration> {
    agent.asked().iter().filter(|asked| asked.is_probe()).map(|asked| asked.at - since).collect()
}

#[tokio::test(start_paused = true)]
async fn no_call_waits_at_an_endpoint_in_use() {
    let agent = unproving();
    let layer = builder(&agent).jitter(0.0).refresh_ahead(s(40)).build().unwrap();
    let mut service = guard(&layer, &agent);
    let started = Instant::now();
    let mut waited = Vec::new();
    while started.elapsed() < s(1200) {
        let mut request = V1.send();
        request.headers_mut().insert("authorization", "Bearer t".parse().unwrap());
        let ended = call(&mut service, request).await;
        if ended.elapsed > s(0) {
            waited.push(started.elapsed());
        }
        sleep(s(7)).await;
    }
    assert_eq!(waited.len(), 1, "the first call alone: {waited:?}");
    let probes = probes_at(&agent, started);
    assert!((4..=6).contains(&probes.len()), "{probes:?}");
    for pair in probes.windows(2) {
        assert!(pair[1] - pair[0] >= s(255) && pair[1] - pair[0] < s(300), "{probes:?}");
    }
    assert!(agent.asked().iter().filter(|asked| asked.is_probe()).all(|asked| asked.header("authorization").is_some()));
}

/// It is looked often enough for an interval that is short.
#[tokio::test(start_paused = true)]
async fn nor_where_it_begins_shortly_before() {
    let agent = unproving();
    let layer = builder(&agent).jitter(0.0).refresh_ahead(s(4)).build().unwrap();
    let mut service = guard(&layer, &agent);
    let started = Instant::now();
    let mut waited = 0;
    while started.elapsed() < s(1200) {
        waited += u32::from(call(&mut service, V1.send()).await.elapsed > s(0));
        sleep(s(1)).await;
    }
    assert_eq!(waited, 1, "the first call alone");
}

/// A runtime ends, and with it the task; the next one has its own.
#[test]
fn it_runs_in_whichever_runtime_is_left() {
    let agent = unproving();
    let layer = builder(&agent).jitter(0.0).refresh_ahead(s(40)).build().unwrap();
    let mut service = guard(&layer, &agent);
    for round in 1..=2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            layer.forget_endpoints(V1.send().uri());
            call(&mut service, V1.send()).await;
            sleep(s(270)).await;
        });
        assert_eq!(agent.probes(), 2 * round, "the first, and one ahead");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_nobody_calls_is_left_alone() {
    let agent = unproving();
    let layer = builder(&agent).jitter(0.0).refresh_ahead(s(40)).build().unwrap();
    let mut service = guard(&layer, &agent);
    call(&mut service, V1.send()).await;
    sleep(s(280)).await;
    // The call that caused the first probe counts as a use; nothing does after that.
    sleep(s(2000)).await;
    assert!(agent.probes() <= 2, "{}", agent.probes());
    assert_eq!(layer.endpoints()[0].state, EndpointState::Unknown);
}

#[tokio::test(start_paused = true)]
async fn without_the_option_nothing_runs() {
    let agent = unproving();
    let layer = builder(&agent).build().unwrap();
    call(&mut guard(&layer, &agent), V1.send()).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_task_ends_with_the_last_handle() {
    let agent = unproving();
    let layer = builder(&agent).refresh_ahead(s(40)).build().unwrap();
    let mut service = guard(&layer, &agent);
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    for _ in 0..3 {
        call(&mut service, V1.send()).await;
        sleep(s(400)).await;
    }
    assert_eq!(tasks(), 1);
    drop(layer);
    sleep(s(100)).await;
    assert_eq!(tasks(), 1, "a service is left");
    drop(service);
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    assert_eq!(tasks(), 0);
    assert!(agent.asked().iter().any(Asked::is_probe));
}
