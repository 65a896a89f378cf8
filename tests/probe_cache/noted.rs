//! Whether a probe passed is a condition of a card's authority, and the card is told.

use a2a_guard::{
    ProbeCacheLayer,
    card_consistency::{AuthorityCondition, CardKeyRef, CardStore},
};
use http::{HeaderMap, Request, Uri};
use http_body_util::Full;
use tokio::time::{Instant, sleep};

use crate::{
    mock::{Answer, Dialect, s},
    support::{Agent, builder, call, guard, html, no_task, refused_probe},
};

use Dialect::{Rest, V1};

/// For every binding, at the places where the tests call.
const CARD: &str = r#"{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;

async fn store_at(target: &Uri) -> CardStore {
    let nobody = Agent::new(|_| html(404));
    let store = CardStore::builder::<_, Full<bytes::Bytes>, _>(nobody).build().unwrap();
    store.put(target, CARD.into()).await.unwrap();
    store
}

fn holds(store: &CardStore, target: &Uri) -> bool {
    let headers = HeaderMap::new();
    let card = store.peek(&CardKeyRef::new(target, &headers)).expect("a card that is held");
    card.authority(target, None, Instant::now()).holds(AuthorityCondition::Probe)
}

fn base(dialect: Dialect) -> Uri {
    let send: Request<Full<bytes::Bytes>> = dialect.send();
    let url = send.uri().to_string();
    url.strip_suffix("/message:send").unwrap_or(&url).parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_a_probe_came_to_is_told_in_both_directions() {
    for dialect in [V1, Rest] {
        let target = base(dialect);
        let store = store_at(&target).await;
        assert!(!holds(&store, &target));
        let agent = Agent::willing();
        let layer = builder(&agent).note_probes(store.clone()).build().unwrap();
        let mut service = guard(&layer, &agent);
        assert_eq!(call(&mut service, dialect.send()).await.word(), "success/success");
        assert!(holds(&store, &target), "{dialect:?}");

        // A page, and then nothing that says either.
        agent.change(|_| html(200));
        layer.forget_endpoints(&target);
        assert_eq!(call(&mut service, dialect.send()).await.word(), "stale/endpoint_not_conforming");
        assert!(!holds(&store, &target), "{dialect:?}");
        agent.change(|_| html(503));
        layer.forget_endpoints(&target);
        call(&mut service, dialect.send()).await;
        assert!(!holds(&store, &target), "{dialect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_knows_is_no_failure() {
    let target = base(V1);
    let store = store_at(&target).await;
    let agent = Agent::willing();
    let layer = builder(&agent).note_probes(store.clone()).build().unwrap();
    let mut service = guard(&layer, &agent);
    call(&mut service, V1.send()).await;
    agent.change(|asked| if asked.is_probe() { refused_probe(-32603) } else { html(503) });
    layer.forget_endpoints(&target);
    call(&mut service, V1.send()).await;
    assert_eq!(agent.probes(), 2);
    assert!(holds(&store, &target));
}

/// A call that goes well is no probe: what is never probed has no such word for it.
#[tokio::test(start_paused = true)]
async fn calls_that_go_well_are_not_told_of() {
    let target = base(V1);
    let store = store_at(&target).await;
    let agent = Agent::willing();
    let layer = ProbeCacheLayer::without_probes().note_probes(store.clone()).build().unwrap();
    assert_eq!(call(&mut guard(&layer, &agent), V1.send()).await.word(), "success/success");
    assert!(!holds(&store, &target));
}

#[tokio::test(start_paused = true)]
async fn the_store_whose_cards_are_distrusted_is_told_as_well() {
    let target = base(V1);
    let store = store_at(&target).await;
    let agent = Agent::willing();
    let layer = builder(&agent).cards(store.clone()).build().unwrap();
    call(&mut guard(&layer, &agent), V1.send()).await;
    assert!(holds(&store, &target));
}

/// A probe that no call waits for.
#[tokio::test(start_paused = true)]
async fn a_probe_ahead_of_time_is_told_of_too() {
    let target = base(V1);
    let store = store_at(&target).await;
    let agent = Agent::new(|asked| if asked.is_probe() { no_task(asked) } else { Answer::json(V1.error(-32603)) });
    let layer = builder(&agent).jitter(0.0).refresh_ahead(s(40)).note_probes(store.clone()).build().unwrap();
    let mut service = guard(&layer, &agent);
    call(&mut service, V1.send()).await;
    // A card of which nothing is known.
    store.put(&target, CARD.into()).await.unwrap();
    assert!(!holds(&store, &target));
    sleep(s(200)).await;
    call(&mut service, V1.send()).await;
    sleep(s(99)).await;
    assert_eq!(agent.probes(), 2);
    assert!(holds(&store, &target));
}
