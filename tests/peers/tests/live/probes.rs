//! The server as a probe finds it.

use a2a_guard::probe_cache::{EndpointState, SkillAvailability};
use a2a_guard::{Binding, CallBody, CallLayer, ProbeCacheLayer, TerminalStateLayer};
use bytes::Bytes;
use futures::future::join_all;
use http_body_util::{BodyExt, Full};
use tower::{Layer, ServiceBuilder, ServiceExt};

use crate::ask::Ask;
use crate::caller::{Peer, client};
use crate::tap::Tap;

over_both_bindings! {
    trusted_after_one_probe
    a_place_beside_the_agent
}

fn layer(probes: &Tap) -> ProbeCacheLayer {
    let skills = SkillAvailability::new();
    ProbeCacheLayer::builder(probes.layer(client::<CallBody<Full<Bytes>>>())).availability(skills).build().unwrap()
}

/// What became of a call, and whether it was sent.
async fn call(peer: &Peer, layer: &ProbeCacheLayer, request: http::Request<Full<Bytes>>) -> (String, bool) {
    let sent = Tap::default();
    let agent = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(layer.clone())
        .layer(TerminalStateLayer::builder().limits(peer.limits.clone()).build().unwrap())
        .layer(sent.clone())
        .service(client::<CallBody<Full<Bytes>>>());
    let ended = match agent.oneshot(request).await {
        Ok(response) => response.into_body().collect().await.map(drop),
        Err(error) => Err(error),
    };
    let what = ended.map_or_else(|error| format!("{}/{}", error.outcome(), error.class()), |()| "success".into());
    (what, !sent.requests().is_empty())
}

/// One probe for all calls that come at once, answered with `TaskNotFound`; none for those that follow.
async fn trusted_after_one_probe(binding: Binding) {
    let peer = Peer::full(binding).await;
    let probes = Tap::default();
    let layer = layer(&probes);
    let calls = (0..20).map(|_| call(&peer, &layer, Ask::Send("message").request(&peer.server, binding)));
    assert!(join_all(calls).await.iter().all(|ended| *ended == ("success".into(), true)));
    let [probe] = &probes.requests()[..] else { panic!("one: {:?}", probes.requests()) };
    assert_eq!(probe.headers["a2a-version"], "1.0");
    let answer = probes.bytes();
    assert!(answer.windows(14).any(|seen| seen == b"TASK_NOT_FOUND"), "{}", answer.escape_ascii());
    let [endpoint] = &layer.endpoints()[..] else { panic!("one: {:?}", layer.endpoints()) };
    assert!(matches!(endpoint.state, EndpointState::Trusted { .. }), "{endpoint:?}");

    for ask in [Ask::Stream("task"), Ask::Send("fail"), Ask::Get("nobody")] {
        call(&peer, &layer, ask.request(&peer.server, binding)).await;
    }
    assert_eq!(probes.requests().len(), 1);
}

/// The server's framework answers there, with 404 and nothing: calls to it are not sent.
async fn a_place_beside_the_agent(binding: Binding) {
    let peer = Peer::full(binding).await;
    let probes = Tap::default();
    let layer = layer(&probes);
    for _ in 0..3 {
        let mut request = Ask::Send("message").request(&peer.server, binding);
        let beside = request.uri().to_string().replace("/rpc", "/nowhere").replace("/rest", "/nowhere");
        *request.uri_mut() = beside.parse().unwrap();
        let ended = call(&peer, &layer, request).await;
        assert_eq!(ended, ("stale/endpoint_not_conforming".into(), false));
    }
    assert_eq!(probes.requests().len(), 1);
    // That says nothing of the agent.
    let ended = call(&peer, &layer, Ask::Send("message").request(&peer.server, binding)).await;
    assert_eq!(ended, ("success".into(), true));
}
