//! End to end: store, layer and verifier around an agent.

use a2a_guard::card_consistency::CardConsistencyLayer;
use serde_json::Value;

use crate::{
    fixtures::{read, store, why},
    mock::Dialect::V1,
    support::{AGENT, Cards, Page, call, failure, guard, willing},
};

fn page(card: impl Into<String>) -> Page {
    Page::text(card.into(), "application/json")
}

#[tokio::test(start_paused = true)]
async fn calls_go_by_a_signed_card() {
    for path in ["python/plain.es256.json", "python/both.rs256.json", "js/plain.eddsa.json", "js/both.es256.json"] {
        let cards = Cards::of(page(read(path)));
        let store = store(&cards, false);
        let agent = willing(2);
        let mut service = guard(CardConsistencyLayer::new(store.clone()), &agent);
        for _ in 0..2 {
            let mut request = V1.send();
            let extension = "https://example.com/ext/slow/v1".parse().unwrap();
            request.headers_mut().insert("a2a-extensions", extension);
            assert_eq!(call(&mut service, request).await.word(), "success/success", "{path}");
        }
        assert_eq!((cards.count(), store.stats().entries), (1, 1), "{path}");
    }
}

/// A gateway that puts its own address into the card, and leaves `signatures` as they were.
#[tokio::test(start_paused = true)]
async fn a_card_that_a_gateway_rewrote_is_refused() {
    for path in ["python/plain.es256.json", "js/plain.rs256.json", "python/both.eddsa.json"] {
        let mut card: Value = serde_json::from_str(&read(path)).unwrap();
        let interfaces = card["supportedInterfaces"].as_array_mut().unwrap();
        for interface in interfaces {
            let url = interface["url"].as_str().unwrap();
            // The calls below go to the gateway, whose card this claims to be.
            interface["url"] = url.replace("agent.example.com", "gateway.example.com").into();
        }
        let at = AGENT.replace("agent.example.com", "gateway.example.com");
        let cards = Cards::default().put(&at, page(card.to_string()));
        let store = store(&cards, false);
        let agent = willing(1);
        let mut service = guard(CardConsistencyLayer::new(store.clone()), &agent);
        for _ in 0..2 {
            let mut request = V1.send();
            *request.uri_mut() = "https://gateway.example.com/a2a".parse().unwrap();
            let ended = call(&mut service, request).await;
            assert_eq!(ended.word(), "card/signature", "{path}");
            let told = why(failure(&ended).clone());
            assert!(told.ends_with("did not sign this content"), "{path}: {told}");
        }
        assert!(agent.requests().is_empty(), "nothing was sent");
        assert_eq!(cards.count(), 1, "the refusal is remembered");
        // And nothing of the card is held.
        let held = store.snapshot();
        assert!(held.iter().all(|entry| entry.location.is_none() && entry.failure.is_some()), "{held:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_card_without_a_signature_is_refused_in_words() {
    let cards = Cards::of(page(read("cards/plain.json")));
    let agent = willing(1);
    let mut service = guard(CardConsistencyLayer::new(store(&cards, false)), &agent);
    let ended = call(&mut service, V1.send()).await;
    assert_eq!(ended.word(), "card/signature");
    let line = ended.error().to_string();
    assert!(line.contains("the card is not vouched for: it carries no signature"), "{line}");
    assert!(agent.requests().is_empty());
}

/// The Python SDK writes the address of its keys into what it signs.
#[tokio::test(start_paused = true)]
async fn keys_at_an_allowed_address_count_and_no_others_are_asked_for() {
    use a2a_guard::{card::Origin, signatures::SignatureVerifier};
    use std::sync::Arc;

    const KEYS: &str = "https://keys.example.com/jwks.json";
    for (allowed, word, asked) in
        [("https://keys.example.com", "success/success", 1), ("https://keys.example.com:8443", "card/signature", 0)]
    {
        for path in ["python/plain.es256.json", "python/plain.rs256.json", "python/plain.eddsa.json"] {
            let cards = Cards::of(page(read(path))).put(KEYS, page(read("keys/jwks.json")));
            let origin = Origin::parse(allowed).unwrap();
            let verifier = SignatureVerifier::builder().jku_client(cards.clone()).allow_jku_origin(origin).build();
            let store = cards.builder().verifier(Arc::new(verifier.unwrap())).build().unwrap();
            let mut service = guard(CardConsistencyLayer::new(store), &willing(2));
            for _ in 0..2 {
                let mut request = V1.send();
                request.headers_mut().insert("a2a-extensions", "https://example.com/ext/slow/v1".parse().unwrap());
                request.headers_mut().insert("authorization", "Bearer secret".parse().unwrap());
                assert_eq!(call(&mut service, request).await.word(), word, "{path} {allowed}");
            }
            let questions: Vec<_> = cards.asked().into_iter().filter(|question| question.url == KEYS).collect();
            assert_eq!(questions.len(), asked, "{path} {allowed}");
            assert!(questions.iter().all(|question| question.header("authorization").is_none()));
        }
    }
}

/// The signer's key is replaced while the program runs.
#[tokio::test(start_paused = true)]
async fn a_card_is_believed_once_its_key_is_trusted() {
    use a2a_guard::signatures::SignatureVerifier;
    use std::sync::Arc;

    let old =
        r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"old","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    let verifier = Arc::new(SignatureVerifier::builder().jwks(old).build().unwrap());
    let cards = Cards::of(page(read("js/defaults.eddsa.json")));
    let store = cards.builder().verifier(Arc::clone(&verifier) as _).build().unwrap();
    let agent = willing(1);
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), "card/signature");
    verifier.replace_jwks(read("keys/jwks.json")).unwrap();
    store.clear();
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
}
