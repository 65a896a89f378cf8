//! Poisoned caches: what one caller, tenant or neighbour brings about is not what another one gets.

use a2a_guard::card_consistency::CardConsistencyLayer;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use http_body_util::Full;

use crate::{
    mock::{Dialect, s},
    support::{AGENT, Card, Cards, Page, ROOT, call, guard, layer, through, willing},
};

use Dialect::{Rest, V1};

fn by(who: &str) -> Request<Full<Bytes>> {
    let mut request = V1.send();
    request.headers_mut().insert("authorization", format!("Bearer {who}").parse().unwrap());
    request
}

/// `Vary: *` says that no other request is known to get this card (RFC 9111 §4.1): whatever an option allows of cards
/// that are stale, it is asked for again first.
#[tokio::test(start_paused = true)]
async fn a_card_that_varies_by_everything_stands_in_for_nothing() {
    for vary in ["*", "accept, *", "Accept-Language,*"] {
        let good = || Page::from(Card::plain()).max_age(300).header("vary", vary);
        let cards = Cards::of(good());
        let store = cards.builder().stale_while_revalidate(s(120)).stale_if_error(s(240)).build().unwrap();
        let mut service = guard(CardConsistencyLayer::new(store), &willing(9));
        assert_eq!(call(&mut service, by("one")).await.word(), "success/success");
        cards.change(Card::default().at("https://agent.example.com/elsewhere"));
        assert_eq!(call(&mut service, by("two")).await.word(), "card/url_mismatch", "{vary}");

        let cards = Cards::of(good());
        let store = cards.builder().stale_while_revalidate(s(120)).stale_if_error(s(240)).build().unwrap();
        let mut service = guard(CardConsistencyLayer::new(store), &willing(9));
        assert_eq!(call(&mut service, by("one")).await.word(), "success/success");
        cards.change(Page::status(503));
        assert_eq!(call(&mut service, by("two")).await.word(), "card/http_status", "{vary}");
    }
}

/// What a host of cards wants remembered goes nowhere: neither back to it, nor on to the agent or the caller.
#[tokio::test(start_paused = true)]
async fn cookies_of_a_card_are_nobodys() {
    let page =
        Page::from(Card::plain()).header("set-cookie", "session=evil; Domain=example.com").header("etag", "\"1\"");
    let cards = Cards::of(page.header("cache-control", "max-age=0"));
    let agent = willing(3);
    let mut service = guard(layer(&cards), &agent);
    for _ in 0..3 {
        let ended = call(&mut service, V1.send()).await;
        assert_eq!(ended.word(), "success/success");
        assert!(!ended.headers.contains_key("set-cookie"));
    }
    assert_eq!(cards.count(), 3);
    assert!(cards.asked().iter().all(|asked| asked.header("cookie").is_none()));
    assert!(agent.requests().iter().all(|request| !request.headers().contains_key("cookie")));
}

/// A caller with several tenants at once is none of them alone.
#[tokio::test(start_paused = true)]
async fn tenants_do_not_share() {
    let tenants = |values: &[&str]| {
        let mut request = V1.send();
        for value in values {
            request.headers_mut().append("x-tenant", HeaderValue::from_str(value).unwrap());
        }
        request
    };
    let cards = Cards::of(Page::status(404)).put(ROOT, Page::status(404)).put_for(
        "acme",
        AGENT,
        Page::from(Card::plain()).max_age(300),
    );
    let store = cards.builder().tenant_headers([HeaderName::from_static("x-tenant")]).build().unwrap();
    let mut service = guard(CardConsistencyLayer::new(store), &willing(2));
    assert_eq!(call(&mut service, tenants(&["acme"])).await.word(), "success/success");
    for other in [&["ACME"][..], &["acm", "e"], &["evil", "acme"], &["acme,evil"], &["acme "], &[]] {
        let before = cards.count();
        let ended = call(&mut service, tenants(other)).await;
        // A trailing blank is no part of a field's value on the wire; here it came in by hand, and is another one.
        assert_eq!(ended.word(), "card/not_found", "{other:?}");
        assert!(cards.count() > before, "{other:?} was asked for on its own account");
    }
    assert_eq!(call(&mut service, tenants(&["acme"])).await.word(), "success/success");
}

/// A card that names another host's interfaces counts at that host for nothing.
#[tokio::test(start_paused = true)]
async fn a_card_speaks_for_its_own_place() {
    let evil = "https://evil.example.net/a2a";
    let claims = Card::default().at(evil).at("https://agent.example.com/a2a").with("streaming");
    let cards = Cards::of(Page::from(Card::plain()).max_age(300))
        .put("https://evil.example.net/a2a/.well-known/agent-card.json", Page::from(claims).max_age(300));
    let agent = crate::support::agent((0..2).map(|_| crate::support::done()));
    let mut service = guard(layer(&cards), &agent);
    let mut to_evil = V1.send();
    *to_evil.uri_mut() = evil.parse().unwrap();
    assert_eq!(call(&mut service, to_evil).await.word(), "success/success");
    // It says that the agent streams; the agent does not.
    assert_eq!(call(&mut service, V1.stream()).await.word(), "card/capability_missing");
    assert_eq!(cards.urls().last().map(String::as_str), Some(AGENT));
}

/// Values of a call stay within the place that a location has for them.
#[tokio::test(start_paused = true)]
async fn values_stay_in_their_place_in_a_location() {
    let host = "https://cards.example.net";
    let asked = async |pattern: &str, uri: &str, tenant: Option<&str>| {
        let cards = Cards::default();
        let store = cards.builder().location_template(format!("{host}{pattern}")).build().unwrap();
        let mut request = match tenant {
            Some(tenant) => V1.rpc("GetTask", &format!(r#""id":"t","tenant":{}"#, serde_json::Value::from(tenant))),
            None => V1.send(),
        };
        *request.uri_mut() = uri.parse().unwrap();
        through(CardConsistencyLayer::new(store), request).await;
        cards.urls().into_iter().filter(|url| url.starts_with(host)).collect::<Vec<_>>()
    };
    let agent = "https://agent.example.com";
    // As it is meant.
    let path = "/cards/{host}{path}.json";
    assert_eq!(asked(path, &format!("{agent}/x"), None).await, [format!("{host}/cards/agent.example.com/x.json")]);
    // Steps in a path lead to another host's cards.
    for up in ["/../evil.example.net/x", "/a/../../evil.example.net/x", "/./x", "/%2e%2e/evil/x", "/.%2E/evil/x", "/.."]
    {
        assert_eq!(asked(path, &format!("{agent}{up}"), None).await, [""; 0], "{up}");
    }
    // Pairs in a path are no pairs of the query.
    let query = "/card?agent={path}&tenant={tenant}";
    let injected = asked(query, &format!("{agent}/a&tenant=evil&x=1"), Some("acme")).await;
    for url in &injected {
        let pairs: Vec<_> = url.split_once('?').unwrap().1.split('&').collect();
        assert_eq!(pairs.len(), 2, "{url}");
        assert_eq!(pairs[1], "tenant=acme", "{url}");
    }
    for (tenant, written) in [
        ("/../evil", "%2F..%2Fevil"),
        ("a/../../evil", "a%2F..%2F..%2Fevil"),
        ("a?x=1&y", "a%3Fx%3D1%26y"),
        ("a#b", "a%23b"),
        ("a\r\nHost: evil", "a%0D%0AHost%3A%20evil"),
        ("%2e%2e", "%252e%252e"),
        ("\u{202e}", "%E2%80%AE"),
    ] {
        let urls = asked("/tenants/{tenant}/card.json", &format!("{agent}/a2a"), Some(tenant)).await;
        assert_eq!(urls, [format!("{host}/tenants/{written}/card.json")], "{tenant:?}");
    }
}

/// The tenant of an interface is a stranger's text, and one segment of the path that is called.
#[tokio::test(start_paused = true)]
async fn a_tenant_out_of_a_card_stays_one_segment() {
    for (tenant, expected) in [
        ("a/../../admin", Some("/a%2F..%2F..%2Fadmin/message:send")),
        ("../admin", Some("/..%2Fadmin/message:send")),
        ("a?b#c", Some("/a%3Fb%23c/message:send")),
        ("a%2fb", Some("/a%252fb/message:send")),
        ("a:b", Some("/a%3Ab/message:send")),
        ("..", None),
        (".", None),
    ] {
        let cards = Cards::default().put(ROOT, Card::rest().tenant(tenant));
        let (ended, sent) = through(layer(&cards), Rest.send()).await;
        let path = sent.as_ref().map(|request| request.uri().path());
        assert_eq!(path, expected, "{tenant}: {:?}", ended.error);
        assert!(sent.is_none_or(|request| request.uri().authority().unwrap() == "agent.example.com"));
    }
}
