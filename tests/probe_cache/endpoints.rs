//! Unknown, probing, trusted, distrusted: each way from one to the other, and when.

use a2a_guard::probe_cache::EndpointState;
use http_body_util::BodyExt;
use tokio::time::{Instant, advance};

use crate::{
    mock::{Answer, Dialect, ms, s},
    support::{Agent, begun, builder, call, does, guard, html, no_task, refused_probe, stale, usual},
};

use Dialect::{Rest, V1};

#[tokio::test(start_paused = true)]
async fn the_first_call_waits_for_one_probe_and_the_next_for_none() {
    let agent = Agent::new(|asked| if asked.is_probe() { no_task(asked).after(ms(200)) } else { does(asked) });
    let (mut service, layer) = usual(&agent);
    assert!(layer.endpoints().is_empty());
    assert_eq!(call(&mut service, V1.send()).await.fate(), ("success/success".into(), ms(200)));
    for request in [V1.send(), V1.stream(), V1.get(), V1.rpc("ListTasks", "")] {
        assert_eq!(call(&mut service, request).await.fate(), ("success/success".into(), s(0)));
    }
    assert_eq!(agent.counts(), (1, 5));
    assert_eq!(agent.asked().iter().map(|asked| asked.is_probe()).position(|is| is), Some(0));
    let endpoints = layer.endpoints();
    assert_eq!(endpoints.len(), 1);
    assert_eq!(endpoints[0].url, "https://agent.example.com:443/a2a");
    assert!(matches!(endpoints[0].state, EndpointState::Trusted { lasts } if lasts > s(269) && lasts <= s(300)));
    assert_eq!(layer.availability().stats().probes, 1);
}

#[tokio::test(start_paused = true)]
async fn trust_lasts_300_s_and_not_a_moment_longer() {
    let agent = Agent::willing();
    let layer = builder(&agent).jitter(0.0).build().unwrap();
    let mut service = guard(&layer, &agent);
    // Only the probe speaks for the endpoint here: the agent refuses what it is asked.
    agent.change(|asked| if asked.is_probe() { no_task(asked) } else { Answer::json(V1.error(-32603)) });
    let refused = || async { "refused/peer_error".to_owned() };
    assert_eq!(call(&mut service, V1.send()).await.word(), refused().await);
    advance(s(300) - ms(1)).await;
    assert_eq!(call(&mut service, V1.send()).await.word(), refused().await);
    assert_eq!(agent.probes(), 1, "1 ms before it expires");
    advance(ms(1)).await;
    assert_eq!(call(&mut service, V1.send()).await.word(), refused().await);
    assert_eq!(agent.probes(), 2);
}

#[tokio::test(start_paused = true)]
async fn calls_that_go_well_renew_it() {
    let agent = Agent::willing();
    let (mut service, _layer) = usual(&agent);
    for _ in 0..20 {
        assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
        advance(s(250)).await;
    }
    assert_eq!(agent.counts(), (1, 20));
    // So do those that do not wait for their task, though not each of a quick row.
    for _ in 0..20 {
        assert_eq!(call(&mut service, V1.send_at_once()).await.word(), "success/success");
        advance(s(200)).await;
    }
    assert_eq!(agent.probes(), 1);
    advance(s(100)).await;
    call(&mut service, V1.send()).await;
    assert_eq!(agent.probes(), 2, "300 s after the last");
}

#[tokio::test(start_paused = true)]
async fn a_long_call_renews_it_from_its_end_on() {
    let agent = Agent::called(|asked| does(asked).after(s(200)));
    let layer = builder(&agent).jitter(0.0).build().unwrap();
    let mut service = guard(&layer, &agent);
    // The first is long; the second begins right after its end, and is long too.
    assert_eq!(call(&mut service, V1.send()).await.fate(), ("success/success".into(), s(200)));
    assert_eq!(call(&mut service, V1.send()).await.fate(), ("success/success".into(), s(200)));
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Trusted { lasts } if lasts == s(300)));
}

/// Each of many endpoints expires at a time of its own, within a tenth of 300 s.
#[tokio::test(start_paused = true)]
async fn jitter_is_bounded_and_spreads() {
    let agent = Agent::willing();
    let (mut service, layer) = usual(&agent);
    for n in 0..200 {
        let mut request = V1.get();
        *request.uri_mut() = format!("https://agent-{n}.example.com/a2a").parse().unwrap();
        assert_eq!(call(&mut service, request).await.word(), "success/success");
    }
    let lasts: Vec<_> = layer
        .endpoints()
        .into_iter()
        .map(|entry| match entry.state {
            EndpointState::Trusted { lasts } => lasts,
            state => panic!("{state:?}"),
        })
        .collect();
    assert_eq!(lasts.len(), 200);
    assert!(lasts.iter().all(|lasts| (s(270)..=s(300)).contains(lasts)), "{lasts:?}");
    let (least, most) = (lasts.iter().min().unwrap(), lasts.iter().max().unwrap());
    assert!(*least < s(276) && *most > s(294), "from {least:?} to {most:?}");
}

#[tokio::test(start_paused = true)]
async fn a_disproved_endpoint_gets_no_calls() {
    let agent = Agent::probed(|| html(200));
    let (mut service, layer) = usual(&agent);
    let ended = call(&mut service, V1.send()).await;
    assert_eq!(ended.word(), "stale/endpoint_not_conforming");
    let error = stale(&ended);
    assert_eq!(
        (error.host(), error.skill(), error.seen()),
        (Some("agent.example.com"), None, Some("HTTP 200 text/html; charset=utf-8"))
    );
    assert!(error.response().is_none() && error.region().is_none());
    let error = ended.error();
    assert!(error.is_routing_signal() && !error.work_may_have_started());
    assert_eq!((error.retry().as_str(), error.http_status()), ("safe", None));
    let source = std::error::Error::source(error).unwrap().to_string();
    assert!(source.starts_with("broken/wrong_media_type"), "{source}");
    assert_eq!(agent.counts(), (1, 0));
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Distrusted { lasts } if lasts == s(5)));

    // Without another probe, for as long as it backs off; then with one.
    advance(s(5) - ms(1)).await;
    assert_eq!(call(&mut service, V1.stream()).await.word(), "stale/endpoint_not_conforming");
    assert_eq!(agent.counts(), (1, 0));
    agent.change(|asked| if asked.is_probe() { no_task(asked) } else { does(asked) });
    advance(ms(1)).await;
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert_eq!(agent.counts(), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn failures_back_off_up_to_a_minute() {
    for (answer, word) in [
        (html as fn(u16) -> Answer, "stale/endpoint_not_conforming"),
        (|_| Answer::new(500, "text/plain", crate::mock::MockBody::new()), "refused/peer_error"),
    ] {
        let agent =
            Agent::new(move |asked| if asked.is_probe() { answer(200) } else { Answer::json(V1.error(-32603)) });
        let (mut service, _layer) = usual(&agent);
        let started = Instant::now();
        let mut at = Vec::new();
        while started.elapsed() < s(400) {
            let before = agent.probes();
            assert_eq!(call(&mut service, V1.send()).await.word(), word);
            if agent.probes() > before {
                at.push(started.elapsed().as_secs());
            }
            advance(s(1)).await;
        }
        assert_eq!(at, [0, 5, 15, 35, 75, 135, 195, 255, 315, 375], "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_asks_to_wait_is_left_alone() {
    let agent = Agent::new(|asked| match asked.is_probe() {
        true => Answer::new(429, "text/plain", crate::mock::MockBody::new()).header("retry-after", "40"),
        false => Answer::json(V1.error(-32603)),
    });
    let (mut service, _layer) = usual(&agent);
    for (pause, probes) in [(s(0), 1), (s(40) - ms(1), 1), (ms(1), 2)] {
        advance(pause).await;
        assert_eq!(call(&mut service, V1.send()).await.word(), "refused/peer_error");
        assert_eq!(agent.probes(), probes);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_probe_leaves_unknown_a_call_that_goes_well_proves() {
    let agent = Agent::probed(|| Answer::new(401, "text/plain", crate::mock::MockBody::new()));
    let (mut service, layer) = usual(&agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Trusted { .. }));
    advance(s(200)).await;
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert_eq!(agent.counts(), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_takes_too_long_is_given_up_and_the_call_goes_on() {
    let agent = Agent::probed(Answer::never);
    let (mut service, layer) = usual(&agent);
    assert_eq!(call(&mut service, V1.send()).await.fate(), ("success/success".into(), s(5)));
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Trusted { .. }), "by the call");
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_no_longer_than_it_may() {
    let agent = Agent::probed(|| refused_probe(-32001).after(s(3)));
    let layer = builder(&agent).wait(ms(500)).build().unwrap();
    let mut service = guard(&layer, &agent);
    assert_eq!(call(&mut service, V1.get()).await.fate(), ("success/success".into(), ms(500)));
    // The probe went on, and none is needed now.
    tokio::time::sleep(s(3)).await;
    assert_eq!(call(&mut service, V1.get()).await.fate(), ("success/success".into(), s(0)));
    assert_eq!(agent.probes(), 1);

    // Nor than what is left of its total.
    let agent = Agent::probed(Answer::never);
    let (mut service, _layer) = usual(&agent);
    let mut request = V1.get();
    request.extensions_mut().insert(a2a_guard::LimitOverrides::default().total(s(2)));
    let ended = call(&mut service, request).await;
    assert!(ended.elapsed <= s(2), "{:?}", ended.fate());
}

/// 404 for a whole endpoint that was trusted a moment ago: it was moved, perhaps.
#[tokio::test(start_paused = true)]
async fn a_trusted_endpoint_that_is_gone_is_probed_again_but_not_by_each_call() {
    let agent = Agent::willing();
    let (mut service, _layer) = usual(&agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    agent.change(|_| html(404));
    // The last probe is too fresh to be doubted.
    assert_eq!(call(&mut service, V1.send()).await.word(), "refused/endpoint_not_found");
    assert_eq!(call(&mut service, V1.send()).await.word(), "refused/endpoint_not_found");
    assert_eq!(agent.probes(), 1);
    advance(s(5)).await;
    assert_eq!(call(&mut service, V1.send()).await.word(), "refused/endpoint_not_found");
    assert_eq!(agent.probes(), 1, "that one raised the doubt");
    assert_eq!(call(&mut service, V1.send()).await.word(), "stale/endpoint_not_conforming");
    assert_eq!(agent.probes(), 2);
}

/// Operations that an agent need not have say nothing of its endpoint.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_not_there_is_no_missing_endpoint() {
    let to_task = |method: &str| V1.rpc(method, r#""id":"task-1""#);
    for (request, probes) in [(to_task("CancelTask"), 1), (to_task("ListTasks"), 1), (V1.get(), 2), (V1.send(), 2)] {
        let agent = Agent::willing();
        let (mut service, _layer) = usual(&agent);
        assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
        advance(s(6)).await;
        agent.change(|asked| if asked.is_probe() { no_task(asked) } else { html(404) });
        assert_eq!(call(&mut service, request).await.word(), "refused/endpoint_not_found");
        call(&mut service, V1.send()).await;
        assert_eq!(agent.probes(), probes);
    }
}

/// That a stream begins well shows what is spoken there, long before it ends.
#[tokio::test(start_paused = true)]
async fn the_first_event_of_a_stream_is_proof() {
    let agent = Agent::new(|asked| match asked.is_probe() {
        true => Answer::new(500, "text/plain", crate::mock::MockBody::new()),
        false => Answer::sse(crate::mock::MockBody::new().data(V1.task_event("WORKING")).hang()),
    });
    let (mut service, layer) = usual(&agent);
    let mut response = begun(&mut service, V1.stream()).await.await.unwrap();
    assert!(response.body_mut().frame().await.unwrap().unwrap().is_data());
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Trusted { .. }));
    drop(response);
}

#[tokio::test(start_paused = true)]
async fn endpoints_are_known_one_by_one() {
    let agent = Agent::new(|asked| match (asked.is_probe(), asked.uri.path(), asked.header("x-tenant")) {
        (true, "/closed", _) | (true, _, Some("blocked")) => refused_probe(-32601),
        (true, ..) => no_task(asked),
        _ => does(asked),
    });
    let layer = builder(&agent).tenant_headers([http::HeaderName::from_static("x-tenant")]).build().unwrap();
    let mut service = guard(&layer, &agent);
    let at = |url: &str| {
        let mut request = V1.send();
        *request.uri_mut() = url.parse().unwrap();
        request
    };
    let of_tenant = |tenant: &str| {
        let mut request = V1.send();
        request.headers_mut().insert("x-tenant", tenant.parse().unwrap());
        request
    };
    let good = "success/success";
    for (request, word, probes) in [
        (at("https://agent.example.com/a2a"), good, 1),
        (at("https://AGENT.example.com:443/a2a"), good, 1),
        (at("https://agent.example.com/closed"), "stale/endpoint_not_conforming", 2),
        (at("https://agent.example.com/a2a"), good, 2),
        (at("https://other.example.com/a2a"), good, 3),
        (of_tenant("acme"), good, 4),
        (of_tenant("blocked"), "stale/endpoint_not_conforming", 5),
        (of_tenant("acme"), good, 5),
        (V1.rpc("GetTask", r#""id":"task-1","tenant":"acme""#), good, 6),
        (Dialect::V03.send(), good, 7),
        (Rest.send(), good, 8),
        (Rest.stream(), good, 8),
    ] {
        let ended = call(&mut service, request).await;
        assert_eq!((ended.word().as_str(), agent.probes()), (word, probes));
    }
    assert_eq!(layer.forget_endpoints(&"https://other.example.com".parse().unwrap()), 1);
    assert_eq!(call(&mut service, at("https://other.example.com/a2a")).await.word(), good);
    assert_eq!(agent.probes(), 9, "forgotten, and probed anew");
}

#[tokio::test(start_paused = true)]
async fn so_many_endpoints_are_kept_and_no_more() {
    let agent = Agent::willing();
    let layer = builder(&agent).capacity(8).build().unwrap();
    let mut service = guard(&layer, &agent);
    for round in 1..=2 {
        for n in 0..200 {
            let mut request = V1.send();
            *request.uri_mut() = format!("https://agent-{n}.example.com/a2a").parse().unwrap();
            assert_eq!(call(&mut service, request).await.word(), "success/success");
        }
        assert!(layer.endpoints().len() <= 8, "{}", layer.endpoints().len());
        // One that was thrown out is probed again, also if its place is still known.
        assert!(agent.probes() >= 200 + (round - 1) * 192, "{round}: {}", agent.probes());
    }
}

/// As `CardConsistencyLayer` has it: over JSON-RPC the query is a part of the address.
#[tokio::test(start_paused = true)]
async fn agents_that_differ_in_the_query_are_told_apart() {
    let agent = Agent::new(|asked| match asked.uri.query() {
        Some("agent=7") => refused_probe(-32601),
        _ if asked.is_probe() => no_task(asked),
        _ => does(asked),
    });
    let (mut service, _layer) = usual(&agent);
    for (number, word) in [(7, "stale/endpoint_not_conforming"), (8, "success/success")] {
        let mut request = V1.send();
        *request.uri_mut() = format!("https://agent.example.com/a2a?agent={number}").parse().unwrap();
        assert_eq!(call(&mut service, request).await.word(), word, "agent {number}");
    }
}
