//! Layers with different policies over one store: what one of them takes is not the other's.

use a2a_guard::{
    card::UrlPolicy,
    card_consistency::{CardConsistencyLayer, CardKeyRef},
};
use http::{HeaderMap, Uri};

use crate::{
    mock::Dialect,
    support::{AGENT, Card, Cards, Page, call, guard, willing},
};

use Dialect::V1;

#[tokio::test(start_paused = true)]
async fn what_one_policy_admits_another_does_not() {
    // Behind a mesh that encrypts: the card says http, the call goes to https.
    let cards =
        Cards::default().put(AGENT, Page::from(Card::default().at("http://agent.example.com/a2a")).max_age(300));
    let store = cards.store();
    let agent = willing(20);
    let strict = CardConsistencyLayer::new(store.clone());
    let lenient = strict.clone().urls(UrlPolicy::strict().allow_plaintext());
    let mut services = [guard(lenient.clone(), &agent), guard(strict, &agent), guard(lenient, &agent)];
    for round in 0..3 {
        for (service, word) in services.iter_mut().zip(["success/success", "card/url_mismatch", "success/success"]) {
            assert_eq!(call(service, V1.send()).await.word(), word, "round {round}");
        }
    }
    assert_eq!(cards.count(), 1, "one card for all");
    let (target, none) = (Uri::from_static("https://agent.example.com/a2a"), HeaderMap::new());
    assert!(store.peek(&CardKeyRef::new(&target, &none)).is_some());
}

/// More kinds of calls than are remembered of one card are matched each time.
#[tokio::test(start_paused = true)]
async fn calls_of_many_kinds_are_each_matched_with_their_own_interface() {
    let tenants: Vec<String> = (0..12).map(|n| format!("tenant-{n}")).collect();
    let card =
        tenants.iter().fold(Card::default(), |card, tenant| card.at("https://agent.example.com/a2a").tenant(tenant));
    let cards = Cards::of(Page::from(card).max_age(300));
    let agent = willing(100);
    let mut service = guard(CardConsistencyLayer::new(cards.store()), &agent);
    for _ in 0..2 {
        for tenant in tenants.iter().map(String::as_str).chain(["tenant-99"]) {
            let request = V1.rpc("SendMessage", &format!(r#""tenant":"{tenant}","message":{{}}"#));
            let word = if tenant == "tenant-99" { "card/tenant_mismatch" } else { "success/success" };
            assert_eq!(call(&mut service, request).await.word(), word, "{tenant}");
        }
    }
}
