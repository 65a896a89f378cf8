//! A JSON-RPC interface whose URL has a query.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    mock::Dialect,
    support::{Card, Cards, Page, call, guard, layer, through, willing},
};

use Dialect::V1;

fn to(query: &str) -> Request<Full<Bytes>> {
    let mut request = V1.send();
    *request.uri_mut() = format!("https://agent.example.com/a2a{query}").parse().unwrap();
    request
}

#[tokio::test(start_paused = true)]
async fn what_the_interface_has_in_its_query_the_call_must_have() {
    let card = || Card::default().at("https://agent.example.com/a2a?agent=7");
    for (query, word) in [
        ("?agent=7", "success/success"),
        ("?key=s3cret&agent=7", "success/success"),
        ("?agent=7&A2A-Version=1.0", "success/success"),
        ("?agent=8", "card/url_mismatch"),
        ("?key=s3cret", "card/url_mismatch"),
        ("", "card/url_mismatch"),
    ] {
        let (ended, sent) = through(layer(&Cards::of(card())), to(query)).await;
        assert_eq!(ended.word(), word, "{query}");
        match sent {
            Some(sent) => assert_eq!(sent.uri().to_string(), format!("https://agent.example.com/a2a{query}")),
            None => {
                let text = ended.error().to_string();
                assert!(!text.contains("s3cret") && text.contains("its path is \"/a2a?agent=7\""), "{text}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn more_than_that_makes_no_difference() {
    for query in ["", "?key=s3cret", "?a2a-version=1.0"] {
        let (ended, _) = through(layer(&Cards::of(Card::plain())), to(query)).await;
        assert_eq!(ended.word(), "success/success", "{query}");
    }
}

/// They share a card, and nothing else.
#[tokio::test(start_paused = true)]
async fn agents_that_differ_in_the_query_are_told_apart_on_each_call() {
    let card = Card::default().at("https://agent.example.com/a2a?agent=7").at("https://agent.example.com/a2a?agent=8");
    let cards = Cards::of(Page::from(card.tenant("eight")).max_age(300));
    let agent = willing(10);
    let mut service = guard(layer(&cards), &agent);
    for _ in 0..2 {
        for (query, word, tenant) in [
            ("?agent=7", "success/success", false),
            ("?agent=8", "success/success", true),
            ("?agent=9", "card/url_mismatch", false),
        ] {
            assert_eq!(call(&mut service, to(query)).await.word(), word, "{query}");
            if word == "success/success" {
                let sent = crate::support::body_of(agent.requests().pop().unwrap()).await;
                assert_eq!(sent.contains("\"tenant\":\"eight\""), tenant, "{query}: {sent}");
            }
        }
    }
    assert_eq!(cards.count(), 1);
}
