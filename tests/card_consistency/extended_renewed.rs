//! An extended card outlives the public one by which it was asked for. It stands in for whichever stands now.

use a2a_guard::{
    ProtocolVersion,
    card_consistency::{AuthorityCondition, CardConsistencyLayer, CardKeyRef, CardStore, FirstEventExtension},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Uri};
use http_body_util::Full;
use tokio::time::Instant;

use crate::{
    mock::{Answer, Dialect, MockBody, s},
    support::{AGENT, Card, Cards, Page, agent, call, guard, streamed},
};

use Dialect::V1;

const TARGET: &str = "https://agent.example.com/a2a";

fn known(mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    request.headers_mut().insert("authorization", HeaderValue::from_static("Bearer one"));
    request
}

/// The public one is asked for again each 10 s, and comes anew: it has no validator.
fn cards() -> Cards {
    let public = Card::streaming().with("extendedAgentCard");
    Cards::of(Page::from(public.clone()).max_age(10)).put_to("Bearer one", TARGET, Page::result(&public.json()))
}

fn layer(store: &CardStore) -> CardConsistencyLayer {
    CardConsistencyLayer::new(store.clone()).extended_card(true)
}

fn forced(cards: &Cards) -> Vec<String> {
    let forced = cards.asked().into_iter().filter(|asked| asked.header("cache-control") == Some("no-cache"));
    forced.map(|asked| asked.url).collect()
}

#[tokio::test(start_paused = true)]
async fn a_contradiction_reaches_the_public_card_that_stands_now() {
    let cards = cards();
    let store = cards.store();
    let refused = || Answer::json(V1.error(-32004));
    let agent = agent([streamed(), streamed(), refused(), streamed(), streamed()]);
    let mut service = guard(layer(&store), &agent);
    assert_eq!(call(&mut service, known(V1.stream())).await.word(), "success/success");
    tokio::time::advance(s(10)).await;
    // By the same extended card, beside another public one.
    assert_eq!(call(&mut service, known(V1.stream())).await.word(), "success/success");
    assert_eq!(cards.count(), 3);
    assert_eq!(call(&mut service, known(V1.stream())).await.word(), "refused/peer_error");
    assert!(forced(&cards).is_empty());
    // Everybody's next call, whoever was refused.
    assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success");
    assert_eq!(forced(&cards), [AGENT]);
    assert_eq!(call(&mut service, known(V1.stream())).await.word(), "success/success");
    assert_eq!(forced(&cards), [AGENT, TARGET]);
}

#[tokio::test(start_paused = true)]
async fn what_is_seen_of_the_agent_is_seen_by_both() {
    let cards = cards();
    let store = cards.store();
    let (target, none) = (Uri::from_static(TARGET), HeaderMap::new());
    let public = CardKeyRef::new(&target, &none);
    let agent = agent([crate::support::done(), crate::support::done(), streamed()]);
    let mut service = guard(layer(&store), &agent);
    call(&mut service, known(V1.send())).await;
    tokio::time::advance(s(10)).await;
    call(&mut service, known(V1.send())).await;
    // By a call that went by the extended one.
    call(&mut service, known(V1.stream())).await;
    let authority = store.peek(&public).unwrap().authority(&target, ProtocolVersion::V1_0, Instant::now());
    assert!(authority.holds(AuthorityCondition::Streaming), "{authority}");
}

/// What it states counts for those who see it.
#[tokio::test(start_paused = true)]
async fn the_bound_on_the_first_event_is_that_of_the_card_that_counts() {
    const URI: &str = "https://example.com/ext/first-event/v1";
    let stating = |timeout: &str| {
        Card::streaming().with("extendedAgentCard").states(URI, &format!(r#"{{"firstEventTimeout":{timeout}}}"#))
    };
    let cards = Cards::of(stating("40")).put_to("Bearer one", TARGET, Page::result(&stating("90").json()));
    let layer = layer(&cards.store()).first_event(FirstEventExtension::new(URI)).unwrap();
    for (request, bound) in [(known(V1.stream()), s(90)), (V1.stream(), s(40)), (known(V1.stream()), s(90))] {
        let agent = agent([Answer::sse(MockBody::new().hang())]);
        let ended = call(&mut guard(layer.clone(), &agent), request).await;
        assert_eq!(ended.fate(), ("timeout/first_event".into(), bound));
    }
}
