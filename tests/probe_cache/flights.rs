//! However many calls want to know of an endpoint, one probe is sent for them.

use std::{future::Future, pin::Pin, task::Poll};

use a2a_guard::{CallError, CallLayer, ProbeCacheLayer};
use http_body_util::Full;
use tokio::{task::JoinSet, time::Instant};
use tower::{Layer, ServiceBuilder, ServiceExt, limit::GlobalConcurrencyLimitLayer};

use crate::{
    mock::{Answer, Dialect, Ended, ms, s},
    support::{Agent, Guarded, builder, call, does, for_skill, guard, html, no_task, usual},
};

use Dialect::V1;

const CALLS: usize = 1000;

fn slow() -> Agent {
    Agent::new(|asked| if asked.is_probe() { no_task(asked).after(s(1)) } else { does(asked) })
}

async fn crowd<O>(service: &Guarded<O>) -> Vec<Ended>
where
    Guarded<O>: Clone + Send + 'static,
    O: a2a_guard::Observe + Send + Sync + 'static,
{
    let mut calls = JoinSet::new();
    for n in 0..CALLS {
        let mut service = service.clone();
        // With skills of their own, to one endpoint.
        calls.spawn(async move { call(&mut service, for_skill(V1.send(), &format!("skill-{}", n % 7), "eu")).await });
    }
    calls.join_all().await
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_to_a_cold_endpoint_make_one_probe() {
    let agent = slow();
    let (service, layer) = usual(&agent);
    let started = Instant::now();
    let ended = crowd(&service).await;
    assert!(ended.iter().all(|ended| ended.word() == "success/success"));
    assert_eq!((agent.counts(), started.elapsed()), ((1, CALLS), s(1)));
    assert_eq!(layer.availability().stats().probes, 1);
}

#[tokio::test(start_paused = true)]
async fn what_it_disproves_is_shared() {
    let agent = Agent::probed(|| html(200).after(s(1)));
    let (service, layer) = usual(&agent);
    let ended = crowd(&service).await;
    assert!(ended.iter().all(|ended| ended.fate() == ("stale/endpoint_not_conforming".into(), s(1))));
    assert_eq!(agent.counts(), (1, 0));
    assert_eq!(layer.endpoints().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_caller_may_go_and_the_probe_goes_on() {
    let agent = slow();
    let (service, _layer) = usual(&agent);
    let (mut first, mut second) = (service.clone(), service);
    let mut first = Box::pin(async move { call(&mut first, V1.send()).await });
    poll_until_it_waits(&mut first).await;
    tokio::time::advance(ms(500)).await;
    let mut second = Box::pin(async move { call(&mut second, V1.send()).await });
    poll_until_it_waits(&mut second).await;
    drop(first);
    let started = Instant::now();
    assert_eq!(second.await.word(), "success/success");
    assert_eq!((started.elapsed(), agent.counts()), (ms(500), (1, 1)), "neither cancelled nor begun again");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_nobody_waits_for_any_longer_is_not_lost() {
    let agent = slow();
    let (service, _layer) = usual(&agent);
    let mut only = service.clone();
    let mut only = Box::pin(async move { call(&mut only, V1.send()).await });
    poll_until_it_waits(&mut only).await;
    drop(only);
    tokio::time::sleep(s(2)).await;
    assert_eq!(call(&mut service.clone(), V1.send()).await.fate(), ("success/success".into(), s(0)));
    assert_eq!(agent.counts(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_panics_lets_the_calls_go_on() {
    let agent = Agent::new(|asked| if asked.is_probe() { panic!("of the client's own") } else { does(asked) });
    let (mut service, _layer) = usual(&agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
}

/// Calls and probes share a limit of one. A call that held its place while it waits for its probe would wait for ever.
#[tokio::test(start_paused = true)]
async fn a_limit_of_one_below_calls_and_probes_ends_without_deadlock() {
    let agent = slow();
    let limit = GlobalConcurrencyLimitLayer::new(1);
    let layer = ProbeCacheLayer::builder::<_, Full<bytes::Bytes>, _>(limit.layer(agent.clone())).build().unwrap();
    let service = ServiceBuilder::new().layer(CallLayer::new()).layer(layer).layer(limit).service(agent.clone());
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let service = service.clone();
        calls.spawn(async move { service.oneshot(V1.send()).await.map(|response| response.status()) });
    }
    let calls = tokio::time::timeout(s(60), calls.join_all()).await.expect("a deadlock");
    let good = calls.iter().filter(|ended: &&Result<_, CallError>| ended.is_ok()).count();
    assert_eq!((good, agent.counts()), (CALLS, (1, CALLS)));
}

#[tokio::test(start_paused = true)]
async fn so_many_probes_run_at_once_and_no_more() {
    let agent = slow();
    let layer = builder(&agent).max_probes(2).build().unwrap();
    let service = guard(&layer, &agent);
    let mut calls = JoinSet::new();
    let started = Instant::now();
    for n in 0..6 {
        let mut service = service.clone();
        let mut request = V1.send();
        *request.uri_mut() = format!("https://agent-{n}.example.com/a2a").parse().unwrap();
        calls.spawn(async move { call(&mut service, request).await.word() });
    }
    assert!(calls.join_all().await.iter().all(|word| word == "success/success"));
    assert_eq!((started.elapsed(), agent.probes()), (s(3), 6));
}

/// However many endpoints they have.
#[tokio::test(start_paused = true)]
async fn agents_that_hang_leave_places_to_others() {
    const HANGING: usize = 3;
    let agent = Agent::new(|asked| match asked.is_probe() {
        true if asked.uri.host().unwrap().starts_with("hangs") => no_task(asked).after(s(3600)),
        true => no_task(asked).after(ms(100)),
        false => does(asked),
    });
    let layer = builder(&agent).max_probes(16).build().unwrap();
    let service = guard(&layer, &agent);
    let to = |target: String| {
        let (mut service, mut request) = (service.clone(), V1.send());
        *request.uri_mut() = target.parse().unwrap();
        async move { call(&mut service, request).await }
    };
    let mut hanging = JoinSet::new();
    for n in 0..16 * HANGING {
        hanging.spawn(to(format!("https://hangs-{}.example/{n}", n % HANGING)));
    }
    tokio::time::sleep(ms(1)).await;
    assert_eq!(agent.probes(), 12 + HANGING);
    let started = Instant::now();
    for n in 0..4 {
        assert_eq!(to(format!("https://quick.example/{n}")).await.word(), "success/success");
    }
    assert_eq!(started.elapsed(), ms(400));
}

/// Lets a future run until it waits for something, the tasks that it started as well.
async fn poll_until_it_waits<F: Future + Unpin>(future: &mut F) {
    for _ in 0..16 {
        std::future::poll_fn(|cx| {
            assert!(Pin::new(&mut *future).poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        tokio::task::yield_now().await;
    }
}

/// Who joins a probe that another one began while both waited for a turn gives its own turn back.
#[tokio::test(start_paused = true)]
async fn a_turn_is_held_for_a_probe_and_not_for_a_wait() {
    let agent = Agent::new(|asked| match asked.uri.path() {
        _ if !asked.is_probe() => does(asked),
        "/good" => no_task(asked),
        _ => Answer::never(),
    });
    let layer = builder(&agent).max_probes(2).probe_timeout(s(5)).wait(s(60)).build().unwrap();
    let service = guard(&layer, &agent);
    let mut calls = JoinSet::new();
    // The first two have all turns there are. Of the others three wait for one endpoint.
    for path in ["/one", "/other", "/third", "/third", "/third", "/good"] {
        let (mut service, mut request) = (service.clone(), V1.send());
        *request.uri_mut() = format!("https://agent.example.com{path}").parse().unwrap();
        calls.spawn(async move { (path, call(&mut service, request).await.elapsed) });
        tokio::time::sleep(ms(1)).await;
    }
    let good = calls.join_all().await.into_iter().find(|(path, _)| *path == "/good").unwrap();
    assert!(good.1 < s(5), "{good:?}");
}
