//! What nobody can name, and what goes nowhere that is known.

use crate::{
    mock::{Answer, Dialect, Notes},
    support::{Agent, builder, call, guard, guard_noting, usual},
};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_can_name_passes_and_nothing_is_probed() {
    let agent = Agent::new(|_| Answer::json(r#"{"any":"thing"}"#));
    let (mut service, layer) = usual(&agent);
    let card = Request::get("https://agent.example.com/.well-known/agent-card.json").body(Full::default()).unwrap();
    let vendor = Request::post("https://agent.example.com/x").body(Full::from("{}")).unwrap();
    for request in [card, vendor] {
        let ended = call(&mut service, request).await;
        assert_eq!((ended.word().as_str(), ended.bytes().as_slice()), ("success/success", &br#"{"any":"thing"}"#[..]));
    }
    assert_eq!(agent.counts(), (0, 2));
    assert!(layer.endpoints().is_empty());
}

fn relative() -> Request<Full<Bytes>> {
    let mut request = Dialect::V1.send();
    *request.uri_mut() = "/a2a".parse().unwrap();
    request.headers_mut().insert("host", "gateway.example.net".parse().unwrap());
    request
}

#[tokio::test(start_paused = true)]
async fn a_relative_uri_needs_an_origin() {
    let agent = Agent::willing();
    let notes = Notes::default();
    let layer = builder(&agent).observe(notes.clone()).build().unwrap();
    let ended = call(&mut guard(&layer, &agent), relative()).await;
    assert_eq!(ended.word(), "card/unusable_url");
    assert!(ended.error().to_string().contains("set origin(uri) on ProbeCacheLayer"), "{}", ended.error());
    assert_eq!((agent.counts(), notes.words()), ((0, 0), vec!["card/unusable_url".into()]));

    let layer = builder(&agent).origin("https://agent.example.com".parse().unwrap()).build().unwrap();
    let mut service = guard(&layer, &agent);
    assert_eq!(call(&mut service, relative()).await.word(), "success/success");
    assert_eq!(call(&mut service, Dialect::V1.send()).await.word(), "success/success");
    assert_eq!(agent.counts(), (1, 2), "one endpoint");
    assert!(agent.asked().iter().all(|asked| asked.uri == "https://agent.example.com/a2a"));
    assert!(agent.asked().iter().all(|asked| asked.header("host").is_none()), "the gateway's");
}

#[tokio::test(start_paused = true)]
async fn the_observer_is_told_of_refused_endpoints_and_of_nothing_else() {
    let agent = Agent::probed(|| crate::support::html(200));
    let (own, below) = (Notes::default(), Notes::default());
    let layer = builder(&agent).observe(own.clone()).build().unwrap();
    let mut service = guard_noting(&layer, &agent, &below);
    for _ in 0..2 {
        assert_eq!(call(&mut service, Dialect::V1.send()).await.word(), "stale/endpoint_not_conforming");
    }
    assert_eq!(own.words(), ["stale/endpoint_not_conforming"; 2]);
    assert!(own.all().iter().all(|noted| noted.error && noted.status.is_none()));
    assert!(below.all().is_empty());
    tokio::time::advance(crate::mock::s(5)).await;
    agent.change(|asked| match asked.is_probe() {
        true => crate::support::no_task(asked),
        false => Answer::json(Dialect::V1.error(-32603)),
    });
    assert_eq!(call(&mut service, Dialect::V1.send()).await.word(), "refused/peer_error");
    assert_eq!((own.all().len(), below.words()), (2, vec!["refused/peer_error".into()]));
}

#[tokio::test(start_paused = true)]
async fn without_a_layer_below_failures_are_typed_all_the_same() {
    use tower::{Layer, ServiceExt};
    let agent = Agent::called(|_| Answer::lost(std::io::ErrorKind::ConnectionReset));
    let service = builder(&agent).build().unwrap().layer(agent.clone());
    let error = service.oneshot(crate::support::unread(Dialect::Rest.get())).await.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("transport", "connection_lost"));
}
