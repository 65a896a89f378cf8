//! What is held: putting in, looking at, dropping, refreshing, and no more than may be.

use super::*;

fn uri() -> Uri {
    Uri::from_static(TARGET)
}

#[tokio::test(start_paused = true)]
async fn a_card_that_was_put_in_holds_for_as_long_as_any() {
    let agent = Agent::at(SCOPED, |_| Reply::card("fetched"));
    let store = agent.store();
    store.put(&uri(), card("put").into()).await.unwrap();
    assert_eq!(name(&store, bearer("any").version(crate::ProtocolVersion::V1_0)).await, "put");
    pass_ms(299_999).await;
    assert_eq!((name(&store, ask()).await, agent.count()), ("put".to_owned(), 0));
    pass_ms(1).await;
    assert_eq!(name(&store, ask()).await, "fetched");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_card_is_not_put_in() {
    let store = Agent::script([Reply::status(404)]).store();
    assert_eq!(store.put(&uri(), "{}".into()).await.unwrap_err().class(), Class::MissingField);
    assert!(store.peek(&ask().key()).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_card_that_was_put_in_is_not_overwritten_by_what_was_asked_before() {
    let agent = Agent::script([Reply::card("fetched").after(Duration::from_secs(2))]);
    let store = agent.store();
    let call = tokio::spawn(store.get(ask()));
    sleep(Duration::from_secs(1)).await;
    store.put(&uri(), card("put").into()).await.unwrap();
    assert_eq!(named(&call.await.unwrap().unwrap()), "fetched");
    assert_eq!(name(&store, ask()).await, "put");
}

#[tokio::test(start_paused = true)]
async fn what_was_forgotten_does_not_come_back_with_a_fetch_that_was_under_way() {
    for clear in [false, true] {
        let agent = Agent::script([Reply::card("a").after(Duration::from_secs(2))]);
        let store = agent.store();
        let call = tokio::spawn(store.get(ask()));
        sleep(Duration::from_secs(1)).await;
        if clear {
            store.clear();
        } else {
            assert!(!store.forget(&uri()));
        }
        call.await.unwrap().unwrap();
        assert!(store.peek(&ask().key()).is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn forgetting_drops_a_target_for_whomever_it_was_held() {
    let agent = Agent::script([Reply::card("a").header("cache-control", "private, max-age=60")]);
    let store = agent.store();
    store.get(bearer("one")).await.unwrap();
    store.get(bearer("two")).await.unwrap();
    store.put(&Uri::from_static("https://other.example/"), card("other").into()).await.unwrap();
    assert!(store.forget(&"https://AGENT.example.com:443/a2a/".parse().unwrap()));
    assert!(!store.forget(&uri()));
    assert!(!is_held(&store, &bearer("one")) && !is_held(&store, &bearer("two")));
    assert_eq!(store.stats().entries, 1);
    store.clear();
    assert_eq!(store.stats().entries, 0);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_goes_past_every_cache_and_past_a_remembered_failure() {
    let cached = |name| Reply::card(name).header("cache-control", "max-age=60").header("etag", "\"1\"");
    let agent = Agent::script([cached("a"), cached("b"), Reply::status(404), cached("c")]);
    let store = CardStore::builder(agent.clone()).legacy_location(false).build().unwrap();
    store.get(ask()).await.unwrap();
    assert_eq!(named(&store.refresh(ask()).await.unwrap()), "b");
    let seen = agent.seen(1);
    assert_eq!((seen.header("cache-control"), seen.header("if-none-match")), (Some("no-cache"), None));
    assert_eq!(name(&store, ask()).await, "b");
    *agent.answers.lock().unwrap() = Box::new(|_| Reply::status(404));
    assert_eq!(store.refresh(ask()).await.unwrap_err().class(), Class::NotFound);
    assert_eq!(class(&store, ask()).await, Class::NotFound);
    *agent.answers.lock().unwrap() = Box::new(|_| Reply::card("c"));
    assert_eq!(named(&store.refresh(ask()).await.unwrap()), "c");
}

#[tokio::test(start_paused = true)]
async fn those_who_refresh_at_once_share_a_fetch() {
    let agent = Agent::script([Reply::card("a").after(Duration::from_secs(1))]);
    let store = agent.store();
    let calls: Vec<_> = (0..100).map(|_| tokio::spawn(store.refresh(ask()))).collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(agent.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_more_is_held_than_may_be() {
    let agent = Agent::script([Reply::card("a")]);
    let store = CardStore::builder(agent).capacity(64).build().unwrap();
    for port in 1..2000 {
        let target: Uri = format!("https://agent.example.com:{port}/").parse().unwrap();
        store.get(CardAsk::new(target, HeaderMap::new())).await.unwrap();
    }
    let entries = store.stats().entries;
    assert!((32..=64).contains(&entries), "{entries}");
    // Whatever was evicted is only fetched again.
    store.get(CardAsk::new(Uri::from_static("https://agent.example.com:1/"), HeaderMap::new())).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_store_of_one_works() {
    let agent = Agent::at(SCOPED, |seen| match seen.header("authorization") {
        Some(token) => Reply::card(token),
        None => Reply::status(401),
    });
    let store = CardStore::builder(agent).capacity(1).build().unwrap();
    for token in ["one", "two", "one"] {
        assert_eq!(name(&store, bearer(token)).await, token);
    }
    assert!(store.stats().entries <= 1);
}

#[tokio::test(start_paused = true)]
async fn a_verifier_sees_the_bytes_before_anything_is_kept() {
    let verifier = |evidence: &CardEvidence<'_>| {
        assert_eq!((evidence.location.to_string().as_str(), evidence.card.name()), (SCOPED, "forged"));
        assert_eq!(evidence.bytes, card("forged").as_bytes());
        Err("no signature by a trusted key".to_owned())
    };
    let agent = Agent::script([Reply::card("forged")]);
    let store = CardStore::builder(agent.clone()).verifier(Arc::new(verifier)).build().unwrap();
    let failure = store.get(ask()).await.unwrap_err();
    assert_eq!(failure.to_string(), "the card is not vouched for: no signature by a trusted key");
    assert_eq!((failure.class(), agent.count()), (Class::Signature, 1));
    assert!(store.peek(&ask().key()).is_none());
    pass_ms(29_999).await;
    assert_eq!((class(&store, ask()).await, agent.count()), (Class::Signature, 1));
}

#[tokio::test(start_paused = true)]
async fn a_verifier_that_does_not_return_is_bounded_by_the_fetch() {
    struct Stuck;
    impl VerifyCard for Stuck {
        fn verify<'a>(&'a self, _: CardEvidence<'a>) -> Verdict<'a> {
            Box::pin(std::future::pending())
        }
    }
    let store = CardStore::builder(Agent::script([Reply::card("a")])).verifier(Arc::new(Stuck)).build().unwrap();
    assert_eq!(class(&store, ask()).await, Class::FetchTimeout);
}

#[tokio::test(start_paused = true)]
async fn the_snapshot_tells_what_is_held_and_names_no_secret() {
    let agent = Agent::new(|seen| match seen.uri.as_str() {
        SCOPED if seen.header("authorization").is_some() => Reply::card("a").header("cache-control", "max-age=10"),
        SCOPED => Reply::status(401),
        _ => Reply::status(404),
    });
    let store = agent.store();
    store.get(bearer("secret")).await.unwrap();
    store.get(CardAsk::new(Uri::from_static("http://other.example/x/"), HeaderMap::new())).await.unwrap_err();
    pass(3).await;
    let mut entries = store.snapshot();
    entries.sort_by(|a, b| a.target.cmp(&b.target));
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0].target, "http://other.example:80/x");
    assert_eq!(entries[0].failure.as_ref().unwrap().class(), Class::NotFound);
    assert_eq!((entries[0].expires_in, entries[0].by_credential), (Duration::from_secs(57), false));
    assert_eq!(entries[1].target, "https://agent.example.com:443/a2a");
    assert_eq!(entries[1].location.as_ref().unwrap(), SCOPED);
    assert_eq!((entries[1].expires_in, entries[1].by_credential), (Duration::from_secs(7), true));
    assert!(!format!("{entries:?}{store:?}").contains("secret"));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let builder = || CardStore::builder(Agent::script([Reply::status(404)]));
    let header = |name: &'static str| [HeaderName::from_static(name)];
    for (builder, expected) in [
        (builder().max_age(Duration::from_secs(301)), "max_age"),
        (builder().max_card_bytes(0), "max_card_bytes"),
        (builder().fetch_timeout(Duration::ZERO), "fetch_timeout"),
        (builder().capacity(0), "capacity"),
        (builder().max_searches(0), "max_searches"),
        (builder().tenant_headers(header("authorization")), "tenant_headers"),
        (builder().tenant_headers(header("host")), "tenant_headers"),
        (builder().credential_headers(header("a2a-version")), "credential_headers"),
        (builder().location_template("https://{skill}/"), "location_template"),
    ] {
        assert_eq!(builder.build().unwrap_err().setting(), expected);
    }
    let error = builder().location_template("cards.example/{host}").build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "location_template (\"cards.example/{host}\") has no scheme: begin it with https:// or {scheme}://"
    );
    let error = builder().capacity(0).build().unwrap_err();
    assert_eq!(error.to_string(), "capacity must not be zero: no card could ever be kept");
}

#[tokio::test(start_paused = true)]
async fn a_card_tells_where_it_was_found_and_until_when_it_may_be_used() {
    for (location, legacy) in [(SCOPED, false), (LEGACY, true)] {
        let agent = Agent::at(location, |_| Reply::card("a").header("cache-control", "max-age=10"));
        let store = agent.store();
        let held = store.get(ask()).await.unwrap();
        assert_eq!(
            (held.location().to_string().as_str(), held.is_legacy(), held.is_extended()),
            (location, legacy, false)
        );
        pass_ms(9999).await;
        assert!(held.is_fresh(Instant::now()));
        pass_ms(1).await;
        assert!(!held.is_fresh(Instant::now()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_extended_card_says_that_it_is_one() {
    const URL: &str = "https://agent.example.com/a2a/extendedAgentCard";
    let agent = Agent::new(|seen| match seen.uri.as_str() {
        SCOPED | URL => Reply::json(card("a").replace("\"streaming\"", "\"extendedAgentCard\":true,\"streaming\"")),
        _ => Reply::status(404),
    });
    let call = ExtendedCall {
        method: http::Method::GET,
        uri: Uri::from_static(URL),
        body: Bytes::new(),
        binding: crate::call::Binding::HttpJson,
        version: crate::ProtocolVersion::V1_0,
    };
    let held = agent.store().get(bearer("one").extend(move |_| Some(call.clone()))).await.unwrap();
    assert_eq!((held.location().to_string().as_str(), held.is_extended(), held.is_private()), (URL, true, true));
    assert!(!held.is_legacy());
}

/// The locations that stand in a pattern decide what a call is told apart by.
#[tokio::test(start_paused = true)]
async fn tenants_share_a_card_whose_location_does_not_depend_on_them() {
    for (pattern, requests) in [("https://cards.example/{host}", 1), ("https://cards.example/{host}/{tenant}", 2)] {
        let agent = Agent::script([Reply::card("a").header("cache-control", "max-age=60")]);
        let store = CardStore::builder(agent.clone()).location_template(pattern).build().unwrap();
        for tenant in ["one", "two", "one", "two"] {
            store.get(ask().tenant(Some(tenant))).await.unwrap();
        }
        assert_eq!(agent.count(), requests, "{pattern}");
    }
}
