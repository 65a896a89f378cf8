//! Versions: `A2A-Version` is stated for 1.0, and a call in a version that the card does not have is not sent.

use a2a_guard::CardFailure;

use crate::{
    mock::Dialect,
    support::{Card, Cards, Page, ROOT, call, failure, guard, layer, once, through, willing},
};

use Dialect::{Rest, V1, V02, V03};

fn card(version: &str) -> Card {
    Card::default().interface("https://agent.example.com/a2a", "JSONRPC", version)
}

#[tokio::test(start_paused = true)]
async fn a_request_of_1_0_that_lacks_it_is_given_it() {
    for (card, request) in [
        (Cards::of(Card::plain()), V1.send()),
        (Cards::default().put(ROOT, Card::rest()), {
            let mut request = Rest.send();
            request.headers_mut().remove("a2a-version");
            request
        }),
    ] {
        assert!(!request.headers().contains_key("a2a-version"));
        let (ended, sent) = through(layer(&card), request).await;
        assert_eq!(ended.word(), "success/success");
        let sent = sent.unwrap();
        let values: Vec<_> = sent.headers().get_all("a2a-version").iter().collect();
        assert_eq!(values, ["1.0"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_stated_stays_as_it_is() {
    for stated in ["1.0", "1.0.3"] {
        let mut request = V1.send();
        request.headers_mut().insert("a2a-version", stated.parse().unwrap());
        let (_, sent) = once(Card::plain(), request).await;
        assert_eq!(sent.unwrap().headers()["a2a-version"], stated);
    }
    let mut request = Rest.send();
    request.headers_mut().remove("a2a-version");
    *request.uri_mut() = "https://agent.example.com/message:send?A2A-Version=1.0".parse().unwrap();
    let (ended, sent) = through(layer(&Cards::default().put(ROOT, Card::rest())), request).await;
    assert_eq!(ended.word(), "success/success");
    assert!(!sent.unwrap().headers().contains_key("a2a-version"), "it stands in the query");
}

#[tokio::test(start_paused = true)]
async fn older_requests_are_never_given_one() {
    for (card, request) in [(card("0.3.0"), V03.send()), (card("0.2.5"), V03.send()), (card("0.2.5"), V02.send())] {
        let (_, sent) = once(card, request).await;
        assert!(!sent.unwrap().headers().contains_key("a2a-version"));
    }
    let old = Card::default().interface("https://agent.example.com", "HTTP+JSON", "0.3");
    let mut request = Rest.send();
    request.headers_mut().remove("a2a-version");
    *request.uri_mut() = "https://agent.example.com/v1/message:send".parse().unwrap();
    let (_, sent) = through(layer(&Cards::default().put(ROOT, old)), request).await;
    assert!(!sent.unwrap().headers().contains_key("a2a-version"));
}

/// Whoever speaks 1.1 has to say so.
#[tokio::test(start_paused = true)]
async fn newer_requests_are_not_made_older() {
    let newer = Card::default().interface("https://agent.example.com", "HTTP+JSON", "1.1");
    let mut request = Rest.send();
    request.headers_mut().remove("a2a-version");
    let (_, sent) = through(layer(&Cards::default().put(ROOT, newer)), request).await;
    assert!(!sent.unwrap().headers().contains_key("a2a-version"));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_card_does_not_have_is_refused() {
    for (card, request, offered, wanted) in
        [(card("0.3"), V1.send(), "0.3", "1.0"), (Card::plain(), V03.send(), "1.0", "0.3")]
    {
        let (ended, sent) = once(card, request).await;
        assert_eq!(ended.word(), "card/unsupported_version");
        assert_eq!(ended.error().a2a_error().unwrap().name(), "VersionNotSupportedError");
        let CardFailure::UnsupportedVersion { offered: is, wanted: want, .. } = failure(&ended) else {
            panic!("{ended:?}")
        };
        assert_eq!((is[0].1.as_str(), want[0].1.as_str()), (offered, wanted));
        assert!(sent.is_none());
    }
}

/// A patch says nothing.
#[tokio::test(start_paused = true)]
async fn a_patch_is_ignored() {
    assert_eq!(once(card("1.0.7"), V1.send()).await.0.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn one_url_may_serve_both() {
    let both = card("1.0").interface("https://agent.example.com/a2a", "JSONRPC", "0.3");
    let cards = Cards::of(Page::from(both).max_age(300));
    let answers = [V1, V03, V1].map(|dialect| crate::mock::Answer::json(dialect.result(&dialect.task("COMPLETED"))));
    let agent = crate::support::agent(answers);
    let mut service = guard(layer(&cards), &agent);
    for dialect in [V1, V03, V1] {
        assert_eq!(call(&mut service, dialect.send()).await.word(), "success/success");
    }
    let stated: Vec<_> = agent.requests().iter().map(|sent| sent.headers().contains_key("a2a-version")).collect();
    assert_eq!((stated, cards.count()), (vec![true, false, true], 1));
}

/// A card for each version at one URL, told apart by the header that a call would send.
#[tokio::test(start_paused = true)]
async fn the_card_is_asked_for_in_the_calls_version() {
    let cards = Cards::of(Page::from(Card::plain()).max_age(300).header("vary", "a2a-version"));
    let agent = willing(2);
    let mut service = guard(layer(&cards), &agent);
    call(&mut service, V1.send()).await;
    call(&mut service, V03.send()).await;
    call(&mut service, V1.send()).await;
    let asked: Vec<_> = cards.asked().iter().map(|asked| asked.header("a2a-version").map(str::to_owned)).collect();
    assert_eq!(asked, [Some("1.0".into()), Some("0.3".into())]);
}
