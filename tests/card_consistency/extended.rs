//! The extended card (§3.1.11): asked for once for each credential, and in the public one's stead then.

use a2a_guard::{
    CallBody, CallLayer, CardFailure, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardEvidence, CardStore},
};
use bytes::Bytes;
use http::{HeaderName, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::{Layer, ServiceExt};

use crate::{
    mock::{Dialect, ms, s},
    support::{AGENT, Asked, Card, Cards, Page, ROOT, body_of, call, guard, rest_done, streamed, through, willing},
};

use Dialect::{Rest, V1, V03};

const TARGET: &str = "https://agent.example.com/a2a";
const REST: &str = "https://agent.example.com/extendedAgentCard";

/// What everybody sees: it does not stream.
fn public() -> Card {
    Card::plain().with("extendedAgentCard")
}

/// What those see who are known: it does.
fn fuller() -> Card {
    Card::streaming().with("extendedAgentCard")
}

fn extended(page: impl Into<Page>) -> Cards {
    Cards::of(Page::from(public()).max_age(300)).put_to("Bearer one", TARGET, page)
}

fn layer(cards: &Cards) -> CardConsistencyLayer {
    CardConsistencyLayer::new(cards.store()).extended_card(true)
}

fn by(who: &str, mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    request.headers_mut().insert("authorization", format!("Bearer {who}").parse().unwrap());
    request
}

/// The questions for an extended card among what was asked.
fn questions(cards: &Cards) -> Vec<Asked> {
    cards.asked().into_iter().filter(|asked| !asked.url.contains("well-known")).collect()
}

#[tokio::test(start_paused = true)]
async fn it_stands_in_for_the_public_one_for_the_credential_that_it_was_shown_to() {
    let cards = extended(Page::result(&fuller().json()));
    let agent = crate::support::agent((0..3).map(|_| streamed()));
    let mut service = guard(layer(&cards), &agent);
    for (who, word) in [
        (None, "card/capability_missing"),
        (Some("one"), "success/success"),
        (Some("two"), "card/capability_missing"),
        (Some("one"), "success/success"),
        (None, "card/capability_missing"),
    ] {
        let request = who.map_or_else(|| V1.stream(), |who| by(who, V1.stream()));
        assert_eq!(call(&mut service, request).await.word(), word, "{who:?}");
    }
    assert_eq!(agent.requests().len(), 2);
    let asked = questions(&cards);
    assert_eq!(asked.len(), 2, "once for each credential: {asked:?}");
    assert_eq!(cards.urls().iter().filter(|url| *url == AGENT).count(), 1, "the public one is everybody's");
}

#[tokio::test(start_paused = true)]
async fn it_is_asked_for_as_the_call_would_be_written() {
    let cards = extended(Page::result(&fuller().json()));
    let mut request = by("one", V1.stream());
    request.headers_mut().insert("a2a-extensions", "https://ext.example.com/one".parse().unwrap());
    request.headers_mut().insert("x-request-id", "7".parse().unwrap());
    let agent = crate::support::agent([streamed()]);
    assert_eq!(call(&mut guard(layer(&cards), &agent), request).await.word(), "success/success");
    let asked = questions(&cards).pop().unwrap();
    assert_eq!((asked.method.as_str(), asked.url.as_str()), ("POST", TARGET));
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body, json!({"jsonrpc": "2.0", "id": 1, "method": "GetExtendedAgentCard", "params": {}}));
    assert_eq!(asked.header("authorization"), Some("Bearer one"));
    assert_eq!(asked.header("a2a-version"), Some("1.0"));
    assert_eq!(asked.header("a2a-extensions"), Some("https://ext.example.com/one"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("x-request-id"), None, "nothing else of the call is told");
}

#[tokio::test(start_paused = true)]
async fn older_agents_are_asked_in_their_dialect() {
    let card = |flags: &str| {
        format!(
            r#"{{"name":"A","url":"{TARGET}","protocolVersion":"0.3.0","capabilities":{{{flags}}},"supportsAuthenticatedExtendedCard":true}}"#
        )
    };
    let cards = Cards::of(Page::text(card(""), "application/json")).put_to(
        "Bearer one",
        TARGET,
        Page::result(&card(r#""streaming":true"#)),
    );
    let body = [V03.task_event("WORKING"), V03.update_event("COMPLETED")];
    let agent = crate::support::agent([crate::mock::Answer::sse(crate::mock::MockBody::of(body))]);
    let ended = call(&mut guard(layer(&cards), &agent), by("one", V03.stream())).await;
    assert_eq!(ended.word(), "success/success");
    let asked = questions(&cards).pop().unwrap();
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body, json!({"jsonrpc": "2.0", "id": 1, "method": "agent/getAuthenticatedExtendedCard"}));
    assert_eq!(asked.header("a2a-version"), None, "never on others than 1.0");
}

#[tokio::test(start_paused = true)]
async fn over_http_json_it_is_a_get_below_the_tenant() {
    let rest = |tenant: &str| Card::rest().tenant(tenant).with("extendedAgentCard");
    for (card, path, at) in [
        (rest(""), "/message:send", REST),
        (rest("acme"), "/message:send", "https://agent.example.com/acme/extendedAgentCard"),
        (rest("acme"), "/acme/message:send", "https://agent.example.com/acme/extendedAgentCard"),
    ] {
        let cards = Cards::default().put(ROOT, card.clone()).put_to("Bearer one", at, card);
        let mut request = by("one", Rest.send());
        *request.uri_mut() = format!("https://agent.example.com{path}").parse().unwrap();
        let agent = crate::support::agent([rest_done()]);
        assert_eq!(call(&mut guard(layer(&cards), &agent), request).await.word(), "success/success");
        let asked = questions(&cards);
        assert_eq!(asked.len(), 1);
        assert_eq!((asked[0].method.as_str(), asked[0].url.as_str(), asked[0].body.as_str()), ("GET", at, ""));
        assert_eq!(asked[0].header("a2a-version"), Some("1.0"));
    }
    // In 0.3 below `v1`, whether that is written into the agent's URL or not; in 1.0 that is a path like any other.
    let old = |url: &str| {
        format!(
            r#"{{"name":"A","url":"{url}","preferredTransport":"HTTP+JSON","protocolVersion":"0.3.0","capabilities":{{}},"supportsAuthenticatedExtendedCard":true}}"#
        )
    };
    let current =
        Card::default().interface("https://agent.example.com/v1", "HTTP+JSON", "1.0").with("extendedAgentCard");
    for (card, version, base, at) in [
        (old("https://agent.example.com/rest"), "0.3", "/rest/v1", "https://agent.example.com/rest/v1/card"),
        (old("https://agent.example.com/rest/v1"), "0.3", "/rest/v1", "https://agent.example.com/rest/v1/card"),
        (old("https://agent.example.com/rest"), "0.3", "/rest", "https://agent.example.com/rest/v1/card"),
        (current.json(), "1.0", "/v1", "https://agent.example.com/v1/extendedAgentCard"),
    ] {
        let page = || Page::text(card.clone(), "application/json");
        let cards = Cards::default().put(ROOT, page()).put_to("Bearer one", at, page());
        let mut request = by("one", Rest.send());
        *request.uri_mut() = format!("https://agent.example.com{base}/message:send").parse().unwrap();
        request.headers_mut().insert("a2a-version", version.parse().unwrap());
        let agent = crate::support::agent([crate::mock::Answer::json(Rest.task("COMPLETED"))]);
        call(&mut guard(layer(&cards), &agent), request).await;
        let asked: Vec<_> = questions(&cards).into_iter().map(|asked| asked.url).collect();
        assert_eq!(asked, [at], "{version} at {base}");
    }
}

/// Who asks for the extended card itself goes by the public one, and calls after it do not.
#[tokio::test(start_paused = true)]
async fn a_question_of_the_callers_own_leaves_other_calls_theirs() {
    let cards = extended(Page::result(&fuller().json()));
    let own = || {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard","params":{}}"#;
        by("one", V1.send().map(|_| Full::from(body)))
    };
    let answer = || crate::mock::Answer::json(V1.result(&fuller().json()));
    let agent = crate::support::agent([answer(), answer(), answer(), crate::support::done(), streamed()]);
    let mut service = guard(layer(&cards), &agent);
    for _ in 0..3 {
        assert_eq!(call(&mut service, own()).await.word(), "success/success");
    }
    assert!(questions(&cards).is_empty());
    assert_eq!(call(&mut service, by("one", V1.send())).await.word(), "success/success");
    assert_eq!(questions(&cards).len(), 1);
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn each_tenant_has_its_own() {
    let card = |flags: fn(Card) -> Card| {
        flags(Card::plain().tenant("acme").at(TARGET).tenant("globex").with("extendedAgentCard"))
    };
    let cards = Cards::of(card(|card| card)).put_to("Bearer one", TARGET, Page::result(&card(|card| card).json()));
    let agent = willing(4);
    let mut service = guard(layer(&cards), &agent);
    for tenant in ["acme", "globex", "acme", "globex"] {
        let request = by("one", V1.rpc("SendMessage", &format!(r#""tenant":"{tenant}","message":{{}}"#)));
        assert_eq!(call(&mut service, request).await.word(), "success/success");
    }
    let tenants: Vec<Value> = questions(&cards)
        .iter()
        .map(|asked| serde_json::from_str::<Value>(&asked.body).unwrap()["params"]["tenant"].clone())
        .collect();
    assert_eq!(tenants, ["acme", "globex"]);
}

#[tokio::test(start_paused = true)]
async fn without_the_option_or_a_declaration_or_credentials_nobody_asks() {
    let cards = || extended(Page::result(&fuller().json()));
    let off = cards();
    let (ended, _) = through(CardConsistencyLayer::new(off.store()), by("one", V1.send())).await;
    assert_eq!((ended.word().as_str(), questions(&off).len()), ("success/success", 0));
    let undeclared = Cards::of(Card::plain()).put_to("Bearer one", TARGET, Page::result(&fuller().json()));
    let (ended, _) = through(layer(&undeclared), by("one", V1.send())).await;
    assert_eq!((ended.word().as_str(), questions(&undeclared).len()), ("success/success", 0));
    let anonymous = cards();
    let (ended, _) = through(layer(&anonymous), V1.send()).await;
    assert_eq!((ended.word().as_str(), questions(&anonymous).len()), ("success/success", 0));
    // Who asks for it goes by the public one.
    let own = cards();
    let (_, sent) = through(layer(&own), by("one", V1.rpc("GetExtendedAgentCard", ""))).await;
    assert!(sent.is_some());
    assert_eq!(questions(&own).len(), 0);
    // A call that the public card does not lead here is refused by it.
    let elsewhere = cards();
    let (ended, _) = through(layer(&elsewhere), by("one", V03.send())).await;
    assert_eq!((ended.word().as_str(), questions(&elsewhere).len()), ("card/unsupported_version", 0));
}

/// An agent that has none says so with -32007, and is believed for 60 s.
#[tokio::test(start_paused = true)]
async fn where_there_is_none_the_public_one_stays() {
    for (page, what) in [
        (Page::error(-32007), "-32007"),
        (Page::error(-32004), "-32004: not supported"),
        (Page::error(-32601), "-32601: no such method"),
        (Page::status(404), "404"),
    ] {
        let cards = extended(page);
        let agent = willing(4);
        let mut service = guard(layer(&cards), &agent);
        for (after, asked) in [(s(0), 1), (s(0), 1), (s(60) - ms(1), 1), (ms(1), 2)] {
            tokio::time::advance(after).await;
            assert_eq!(call(&mut service, by("one", V1.send())).await.word(), "success/success", "{what}");
            assert_eq!(questions(&cards).len(), asked, "{what}");
        }
        assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "card/capability_missing");
    }
}

/// Everything else leaves the public one too, and is remembered briefly.
#[tokio::test(start_paused = true)]
async fn what_fails_leaves_the_public_one() {
    let elsewhere = Card::default().at("https://agent.example.com/other").with("streaming");
    let cases = [
        (Page::status(500), 5, "500"),
        (Page::status(503).header("retry-after", "17"), 17, "503"),
        (Page::status(302).header("location", "https://evil.example.net/"), 5, "302"),
        (Page::status(401), 30, "401"),
        (Page::status(403), 30, "403"),
        (Page::fails(std::io::ErrorKind::ConnectionReset), 5, "a lost connection"),
        (Page::error(-32603), 30, "-32603"),
        (Page::result("{}"), 30, "no card"),
        (Page::result("null"), 30, "nothing"),
        (Page::text("<html>", "text/html"), 30, "a page"),
        (Page::text(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, "application/json"), 30, "another call's answer"),
        (Page::text(" ".repeat(300_000), "application/json"), 30, "too much"),
        (Page::text(" ".repeat(300_000), "text/html").under(503).header("retry-after", "17"), 17, "a long 503"),
        (Page::error(-32603).under(500), 5, "-32603 under 500"),
        (Page::result(&fuller().json()).under(500), 5, "a card under 500"),
        (Page::result(&elsewhere.json()), 5, "another agent's card"),
    ];
    for (page, seconds, what) in cases {
        let cards = extended(page);
        let agent = willing(5);
        let mut service = guard(layer(&cards), &agent);
        for (after, asked) in [(s(0), 1), (s(seconds) - ms(1), 1), (ms(1), 2)] {
            tokio::time::advance(after).await;
            assert_eq!(call(&mut service, by("one", V1.send())).await.word(), "success/success", "{what}");
            assert_eq!(questions(&cards).len(), asked, "{what}");
        }
        assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "card/capability_missing", "{what}");
    }
}

/// Through the client that is usually given, one whose answers are judged, each failure is told as what it was.
#[tokio::test(start_paused = true)]
async fn so_it_does_through_a_client_that_judges() {
    let cases = [
        (Page::status(401).header("www-authenticate", "Bearer"), "unauthorized", Some(401), 30),
        (Page::status(403), "unauthorized", Some(403), 30),
        (Page::status(500), "http_status", Some(500), 5),
        (Page::status(503).header("retry-after", "17"), "http_status", Some(503), 17),
        (Page::text("<html>", "text/html").under(404), "not_found", None, 60),
        (Page::error(-32007), "not_found", None, 60),
        (Page::error(-32601), "not_found", None, 60),
        (Page::error(-32603), "not_json", Some(200), 30),
        (Page::text("<html>", "text/html"), "not_json", Some(200), 30),
        (Page::fails(std::io::ErrorKind::ConnectionReset), "connection_lost", None, 5),
    ];
    for (page, class, status, seconds) in cases {
        let store = judged(&extended(page));
        let mut service = guard(CardConsistencyLayer::new(store.clone()).extended_card(true), &willing(1));
        assert_eq!(call(&mut service, by("one", V1.send())).await.word(), "success/success", "{class}");
        let entries = store.snapshot();
        let entry = entries.iter().find(|entry| entry.extended).unwrap();
        let failure = entry.failure.as_ref().unwrap();
        let seen = (failure.class().as_str(), failure.status().map(|status| status.as_u16()), entry.expires_in);
        assert_eq!(seen, (class, status, s(seconds)), "{failure}");
        let CardFailure::Unauthorized { status, www_authenticate, .. } = failure else { continue };
        assert_eq!(www_authenticate.as_deref(), (status.as_u16() == 401).then_some("Bearer"));
    }
    let store = judged(&extended(Page::result(&fuller().json())));
    let agent = crate::support::agent([streamed()]);
    let mut service = guard(CardConsistencyLayer::new(store).extended_card(true), &agent);
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "success/success");
}

fn judged(cards: &Cards) -> CardStore {
    let plain = cards.clone().map_request(|request: Request<CallBody<Full<Bytes>>>| {
        request.map(|body| Full::from(body.as_bytes().cloned().unwrap_or_default()))
    });
    CardStore::builder::<_, Full<Bytes>, _>(CallLayer::new().layer(TerminalStateLayer::new().layer(plain)))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn one_question_for_each_back_off() {
    let cards = extended(Page::status(500));
    let mut service = guard(layer(&cards), &willing(60));
    let mut times = Vec::new();
    for second in 0..60 {
        let before = questions(&cards).len();
        assert_eq!(call(&mut service, by("one", V1.send())).await.word(), "success/success");
        times.extend((questions(&cards).len() > before).then_some(second));
        tokio::time::advance(s(1)).await;
    }
    assert_eq!(times, [0, 5, 15, 35]);
}

#[tokio::test(start_paused = true)]
async fn one_that_nobody_vouches_for_is_not_kept() {
    let cards = extended(Page::result(&fuller().json()));
    let verifier = |evidence: &CardEvidence<'_>| {
        assert!(evidence.bytes.starts_with(b"{\"name\""), "the card's own bytes: {:?}", evidence.bytes);
        if evidence.location.path() == "/a2a" { Err("no".to_owned()) } else { Ok(()) }
    };
    let store = cards.builder().verifier(Arc::new(verifier)).build().unwrap();
    let agent = willing(1);
    let mut service = guard(CardConsistencyLayer::new(store.clone()).extended_card(true), &agent);
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "card/capability_missing");
    assert_eq!(call(&mut service, by("one", V1.send())).await.word(), "success/success");
    let entries = store.snapshot();
    let entry = entries.iter().find(|entry| entry.extended).unwrap();
    assert_eq!(entry.failure.as_ref().unwrap().class().as_str(), "signature");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_wait_goes_by_the_public_one() {
    let cards = extended(Page::result(&fuller().json()).after(s(4)));
    let agent = crate::support::agent([crate::support::done(), streamed()]);
    let mut service = guard(layer(&cards).wait(s(3)), &agent);
    let ended = call(&mut service, by("one", V1.send())).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("success/success", s(3)));
    // It came all the same, and others have it.
    tokio::time::advance(s(1)).await;
    tokio::task::yield_now().await;
    let ended = call(&mut service, by("one", V1.stream())).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("success/success", s(0)));
    assert_eq!(questions(&cards).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_ask_once() {
    let cards = extended(Page::result(&fuller().json()).after(s(1)));
    let agent = willing(1000);
    let service = guard(layer(&cards), &agent);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..1000 {
        let mut service = service.clone();
        calls.spawn(async move { call(&mut service, by("one", V1.send())).await.word() });
    }
    assert!(calls.join_all().await.iter().all(|word| word == "success/success"));
    assert_eq!((questions(&cards).len(), cards.count()), (1, 2));
}

/// Until it is as old as any card may be, or the public card's version is another one.
#[tokio::test(start_paused = true)]
async fn it_holds_until_it_expires_or_the_public_cards_version_changes() {
    let page = |card: Card| Page::from(card).max_age(60);
    let cards = Cards::of(page(public())).put_to("Bearer one", TARGET, Page::result(&fuller().json()));
    let agent = willing(20);
    let mut service = guard(layer(&cards), &agent);
    let mut asked_after = async |advance, expected: usize| {
        tokio::time::advance(advance).await;
        assert_eq!(call(&mut service, by("one", V1.send())).await.word(), "success/success");
        assert_eq!(questions(&cards).len(), expected);
    };
    asked_after(s(0), 1).await;
    // The public card is asked for again, and is the same.
    asked_after(s(60), 1).await;
    asked_after(s(60), 1).await;
    // It says another thing under the same version.
    cards.change(page(public().offers("https://ext.example.com/one")));
    asked_after(s(60), 1).await;
    cards.change(page(public().version("2")));
    asked_after(s(60), 2).await;
    asked_after(s(60), 2).await;
    asked_after(s(240) - ms(1), 2).await;
    asked_after(ms(1), 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_public_card_that_declares_none_any_longer_ends_it() {
    let cards = extended(Page::result(&fuller().json()));
    cards.change(Page::from(public()).max_age(10));
    let agent = crate::support::agent([streamed()]);
    let mut service = guard(layer(&cards), &agent);
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "success/success");
    cards.change(Page::from(Card::plain()).max_age(10));
    tokio::time::advance(s(10)).await;
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "card/capability_missing");
}

/// Over HTTP+JSON the answer's own headers can make it shorter.
#[tokio::test(start_paused = true)]
async fn an_answer_over_http_may_say_how_long_it_holds() {
    let card = || Card::rest().with("extendedAgentCard");
    for (cache, second, asked) in [
        ("max-age=10", s(10) - ms(1), 1),
        ("max-age=10", s(10), 2),
        ("max-age=86400", s(300) - ms(1), 1),
        ("max-age=86400", s(300), 2),
        ("no-store", s(0), 2),
    ] {
        let page = Page::from(card()).header("cache-control", cache);
        let cards = Cards::default().put(ROOT, Page::from(card()).max_age(300)).put_to("Bearer one", REST, page);
        let agent = crate::support::agent([rest_done(), rest_done()]);
        let mut service = guard(layer(&cards), &agent);
        for after in [s(0), second] {
            tokio::time::advance(after).await;
            assert_eq!(call(&mut service, by("one", Rest.send())).await.word(), "success/success");
        }
        assert_eq!(questions(&cards).len(), asked, "{cache}");
    }
}

/// A refusal that contradicts it contradicts the agent's cards, and both are read anew, once.
#[tokio::test(start_paused = true)]
async fn a_contradiction_doubts_both() {
    let cards = extended(Page::result(&fuller().json()));
    let refused = || crate::mock::Answer::json(V1.error(-32004));
    let agent = crate::support::agent([refused(), refused(), refused(), streamed()]);
    let mut service = guard(layer(&cards), &agent);
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "refused/peer_error");
    assert_eq!((cards.count(), questions(&cards).len()), (2, 1));
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "refused/peer_error");
    assert_eq!((cards.count(), questions(&cards).len()), (4, 2));
    let anew: Vec<_> = cards.asked().into_iter().skip(2).collect();
    assert!(anew.iter().all(|asked| asked.header("cache-control") == Some("no-cache")), "{anew:?}");
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "refused/peer_error");
    assert_eq!(cards.count(), 4, "no storm");
    tokio::time::advance(s(5)).await;
    cards.clone().put_to("Bearer one", TARGET, Page::result(&public().json()));
    assert_eq!(call(&mut service, by("one", V1.stream())).await.word(), "card/capability_missing");
    assert_eq!(cards.count(), 6);
}

/// The interval between two doubts outlives an ordinary renewal.
#[tokio::test(start_paused = true)]
async fn a_card_that_is_soon_stale_brings_no_storm_either() {
    let url = "https://agent.example.com/extendedAgentCard";
    let card = |card: Card| card.with("extendedAgentCard");
    let cards = Cards::default().put(ROOT, Page::from(card(Card::rest())).max_age(300)).put_to(
        "Bearer one",
        url,
        Page::from(card(Card::rest().with("streaming"))).max_age(1),
    );
    let problem = r#"{"type":"https://a2a-protocol.org/errors/unsupported-operation","status":400,"detail":"no"}"#;
    let refused =
        || crate::mock::Answer::new(400, "application/problem+json", crate::mock::MockBody::new().data(problem));
    let agent = crate::support::agent([refused(), rest_done(), refused(), refused()]);
    let mut service = guard(layer(&cards), &agent);
    let doubted = |ended: crate::mock::Ended| assert_eq!(ended.word(), "refused/peer_error");
    doubted(call(&mut service, by("one", Rest.stream())).await);
    assert_eq!(call(&mut service, by("one", Rest.send())).await.word(), "success/success");
    assert_eq!(questions(&cards).len(), 2, "asked for anew");
    tokio::time::advance(s(2)).await;
    doubted(call(&mut service, by("one", Rest.stream())).await);
    assert_eq!(questions(&cards).len(), 3, "stale");
    doubted(call(&mut service, by("one", Rest.stream())).await);
    assert_eq!(questions(&cards).len(), 3, "within the interval");
}

/// What was asked for by an older public card does not stand in for a newer one.
#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_late_is_not_a_newer_cards() {
    let cards = extended(Page::result(&fuller().json()).after(s(3)));
    let store = cards.store();
    let layer = CardConsistencyLayer::new(store.clone()).extended_card(true);
    let agent = crate::support::agent([crate::support::done(), crate::support::done()]);
    let (mut first, mut second) = (guard(layer.clone(), &agent), guard(layer, &agent));
    let early = tokio::spawn(async move { call(&mut first, by("one", V1.send())).await.word() });
    tokio::time::sleep(s(1)).await;
    store.put(&TARGET.parse().unwrap(), public().version("2").json().into()).await.unwrap();
    assert_eq!(call(&mut second, by("one", V1.send())).await.word(), "success/success");
    assert_eq!(early.await.unwrap(), "success/success");
    assert_eq!(questions(&cards).len(), 2, "asked again");
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_is_forgotten_with_it() {
    let cards = extended(Page::result(&fuller().json()));
    let store = cards.store();
    let agent = willing(2);
    let mut service = guard(CardConsistencyLayer::new(store.clone()).extended_card(true), &agent);
    call(&mut service, by("one", V1.send())).await;
    assert_eq!(store.snapshot().iter().filter(|entry| entry.extended && entry.by_credential).count(), 1);
    assert!(store.forget(&TARGET.parse().unwrap()));
    assert!(store.snapshot().is_empty());
    call(&mut service, by("one", V1.send())).await;
    assert_eq!(questions(&cards).len(), 2);
}

/// Nothing but the credentials that are named as such goes along, and the call's bytes are its own.
#[tokio::test(start_paused = true)]
async fn credentials_are_the_configured_ones() {
    let cards = Cards::of(public()).put(TARGET, Page::result(&fuller().json()));
    let store = cards.builder().credential_headers([HeaderName::from_static("x-token")]).build().unwrap();
    let layer = CardConsistencyLayer::new(store).extended_card(true);
    let (_, sent) = through(layer.clone(), by("one", V1.send())).await;
    assert!(questions(&cards).is_empty(), "no credential");
    assert_eq!(body_of(sent.unwrap()).await, body_of(V1.send().map(CallBody::unread)).await);
    let mut request = by("one", V1.send());
    request.headers_mut().insert("x-token", "t".parse().unwrap());
    through(layer, request).await;
    let asked = questions(&cards).pop().unwrap();
    assert_eq!((asked.header("x-token"), asked.header("authorization")), (Some("t"), None));
}

/// Agents of one path that differ in the query share a public card, and each has an extended one of its own.
#[tokio::test(start_paused = true)]
async fn agents_that_differ_in_the_query_have_each_their_own() {
    let at = |agent: u8| format!("{TARGET}?agent={agent}");
    let own =
        |agent: u8| Page::result(&Card::default().at(&at(agent)).with("streaming").with("extendedAgentCard").json());
    let all = Card::default().at(TARGET).at(&at(7)).at(&at(8)).with("extendedAgentCard");
    let cards = Cards::of(Page::from(all).max_age(300)).put_to("Bearer one", TARGET, Page::result(&fuller().json()));
    let cards = cards.put_to("Bearer one", &at(7), own(7)).put_to("Bearer one", &at(8), own(8));
    let agent = crate::support::agent((0..6).map(|_| streamed()));
    let mut service = guard(layer(&cards), &agent);
    for asked in [TARGET, &at(7), &at(8), TARGET, &at(7), &at(8)] {
        let mut request = by("one", V1.stream());
        *request.uri_mut() = asked.parse().unwrap();
        assert_eq!(call(&mut service, request).await.word(), "success/success", "{asked}");
    }
    let asked = questions(&cards).iter().map(|asked| asked.url.clone()).collect::<Vec<_>>();
    assert_eq!(asked, [TARGET.to_owned(), at(7), at(8)]);
}
