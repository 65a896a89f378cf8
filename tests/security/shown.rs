//! Secrets: what shows itself in a log by `Debug` shows no credential of a call, and none out of a URL.

use a2a_guard::{
    ProtocolVersion,
    card_consistency::{CardAsk, CardKeyRef, Route},
};
use http::{HeaderMap, HeaderValue, Uri};

use crate::support::{Card, Cards};

#[tokio::test(start_paused = true)]
async fn nothing_shows_what_a_call_carries() {
    let target: Uri = "https://me:s3cret@agent.example.com/a2a?key=s3cret".parse().unwrap();
    let mut headers = HeaderMap::new();
    for name in ["authorization", "cookie", "x-api-key", "x-anything"] {
        headers.insert(name, HeaderValue::from_static("s3cret"));
    }
    let ask = CardAsk::new(target.clone(), headers.clone()).version(ProtocolVersion::V1_0).tenant(Some("acme"));
    let store = Cards::of(Card::plain()).store();
    let held = store.get(ask.clone()).await.unwrap();
    let route = Route::new(store.clone(), target.clone());
    for (what, shown) in [
        ("a key", format!("{:?}", CardKeyRef::new(&target, &headers).with_tenant("acme"))),
        ("the key of a question", format!("{:?}", ask.key())),
        ("a question", format!("{ask:?}")),
        ("a card", format!("{held:?}")),
        ("a store", format!("{store:?} {:?}", store.snapshot())),
        ("a resolver", format!("{route:?}")),
    ] {
        assert!(!shown.contains("s3cret"), "{what}: {shown}");
        assert!(what == "a store" || shown.contains("agent.example.com"), "{what} is told apart: {shown}");
    }
}
