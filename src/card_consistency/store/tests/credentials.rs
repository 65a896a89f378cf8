//! Whose card it is: credentials, tenants, versions.

use super::*;
use crate::ProtocolVersion;

/// Wants credentials, and has a card for each.
fn guarded(seen: &Seen) -> Reply {
    match seen.header("authorization") {
        Some("bad") => Reply::status(401).header("www-authenticate", "Bearer error=invalid_token"),
        Some(token) => Reply::card(token),
        None => Reply::status(401).header("www-authenticate", "Bearer"),
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_are_sent_after_a_401_and_the_card_is_theirs() {
    let agent = Agent::at(SCOPED, guarded);
    let store = agent.store();
    let held = store.get(bearer("one")).await.unwrap();
    assert_eq!((named(&held).as_str(), held.is_private()), ("one", true));
    assert_eq!(agent.uris(), [SCOPED, SCOPED]);
    assert_eq!((agent.seen(0).header("authorization"), agent.seen(1).header("authorization")), (None, Some("one")));
    assert!(is_held(&store, &bearer("one")));
    assert!(!is_held(&store, &bearer("two")) && !is_held(&store, &ask()));
    // The challenge is remembered for a while: nobody is asked without credentials again.
    assert_eq!(name(&store, bearer("two")).await, "two");
    assert_eq!(agent.seen(2).header("authorization"), Some("two"));
    assert_eq!(class(&store, ask()).await, Class::Unauthorized);
    assert_eq!(agent.count(), 3);
    assert!(is_held(&store, &bearer("one")) && is_held(&store, &bearer("two")));
}

#[tokio::test(start_paused = true)]
async fn a_challenge_is_remembered_for_30_seconds() {
    let agent = Agent::at(SCOPED, guarded);
    let store = agent.store();
    store.get(bearer("one")).await.unwrap();
    pass(30).await;
    store.get(bearer("two")).await.unwrap();
    assert_eq!((agent.seen(2).header("authorization"), agent.seen(3).header("authorization")), (None, Some("two")));
}

#[tokio::test(start_paused = true)]
async fn bad_credentials_are_nobody_elses_failure() {
    let agent = Agent::at(SCOPED, guarded);
    let store = agent.store();
    let failure = store.get(bearer("bad")).await.unwrap_err();
    assert_eq!(failure.www_authenticate(), Some("Bearer error=invalid_token"));
    assert_eq!(class(&store, bearer("bad")).await, Class::Unauthorized);
    assert_eq!(agent.count(), 2);
    assert_eq!(name(&store, bearer("good")).await, "good");
    assert_eq!(class(&store, bearer("bad")).await, Class::Unauthorized);
}

#[tokio::test(start_paused = true)]
async fn without_credentials_a_401_is_the_end_and_those_who_have_some_go_on() {
    let agent = Agent::at(SCOPED, guarded);
    let store = agent.store();
    let failure = store.get(ask()).await.unwrap_err();
    assert_eq!((failure.class(), failure.www_authenticate()), (Class::Unauthorized, Some("Bearer")));
    assert_eq!(class(&store, ask()).await, Class::Unauthorized);
    assert_eq!(agent.count(), 1);
    assert_eq!(name(&store, bearer("one")).await, "one");
    assert_eq!(agent.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn calls_with_different_credentials_at_once_get_each_its_own_card() {
    let agent = Agent::at(SCOPED, |seen| guarded(seen).after(Duration::from_secs(1)));
    let store = agent.store();
    let tokens = ["one", "two", "three"];
    let calls: Vec<_> = (0..300).map(|n| (tokens[n % 3], tokio::spawn(store.get(bearer(tokens[n % 3]))))).collect();
    let nobody: Vec<_> = (0..100).map(|_| tokio::spawn(store.get(ask()))).collect();
    for (token, call) in calls {
        assert_eq!(named(&call.await.unwrap().unwrap()), token);
    }
    for call in nobody {
        assert_eq!(call.await.unwrap().unwrap_err().class(), Class::Unauthorized);
    }
    // The challenge, and one card each.
    assert_eq!(agent.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn credentials_never_go_to_another_origin() {
    let agent = Agent::new(|_| Reply::status(401));
    for template in [
        "https://cards.example/{host}",
        "http://{host}/card.json",
        "https://{host}:8443/card.json",
        "https://{host}.evil.example/card.json",
    ] {
        let store = CardStore::builder(agent.clone()).location_template(template).build().unwrap();
        let before = agent.count();
        assert_eq!(class(&store, bearer("secret")).await, Class::Unauthorized);
        assert_eq!(agent.count(), before + 1, "{template}");
        // They make no difference, so that nobody need ask again.
        assert_eq!(class(&store, bearer("other")).await, Class::Unauthorized);
        assert_eq!(agent.count(), before + 1, "{template}");
    }
    assert!((0..agent.count()).all(|n| agent.seen(n).header("authorization").is_none()));
    let store = CardStore::builder(agent.clone()).location_template("https://{host}:443/card.json").build().unwrap();
    let before = agent.count();
    assert_eq!(class(&store, bearer("secret")).await, Class::Unauthorized);
    assert_eq!(agent.seen(before + 1).header("authorization"), Some("secret"), "the target's own origin");
}

#[tokio::test(start_paused = true)]
async fn only_headers_that_are_named_are_credentials() {
    let agent = Agent::new(|_| Reply::status(401));
    let store =
        CardStore::builder(agent.clone()).credential_headers([HeaderName::from_static("x-token")]).build().unwrap();
    store.get(ask_with(&[("authorization", "secret"), ("x-token", "t")])).await.unwrap_err();
    assert_eq!(agent.seen(1).headers, pairs(&[("accept", "application/json"), ("x-token", "t")]));
}

#[tokio::test(start_paused = true)]
async fn with_credentials_it_may_turn_out_that_there_is_no_card_here() {
    let agent = Agent::new(|seen| match (seen.uri.as_str(), seen.header("authorization")) {
        (SCOPED, None) => Reply::status(401),
        (ROOT, None) => Reply::card("root"),
        _ => Reply::status(404),
    });
    assert_eq!(name(&agent.store(), bearer("one")).await, "root");
    assert_eq!(agent.uris(), [SCOPED, SCOPED, ROOT]);
}

#[tokio::test(start_paused = true)]
async fn private_cards_and_those_that_vary_are_each_credentials_own() {
    for (header, value) in
        [("cache-control", "private, max-age=60"), ("vary", "Authorization"), ("vary", "accept, cookie")]
    {
        let agent = Agent::script([Reply::card("a").header(header, value)]);
        let store = agent.store();
        assert!(store.get(bearer("one")).await.unwrap().is_private());
        assert!(is_held(&store, &bearer("one")) && !is_held(&store, &bearer("two")) && !is_held(&store, &ask()));
        store.get(bearer("two")).await.unwrap();
        store.get(ask()).await.unwrap();
        assert_eq!(agent.count(), 3);
        assert!(is_held(&store, &bearer("one")) && is_held(&store, &bearer("two")) && is_held(&store, &ask()));
        // Nobody sent any.
        assert!((0..3).all(|n| agent.seen(n).header("authorization").is_none()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_public_card_is_everybodys() {
    let agent = Agent::script([Reply::card("a")]);
    let store = agent.store();
    store.get(bearer("one")).await.unwrap();
    assert!(is_held(&store, &bearer("two")) && is_held(&store, &ask().version(ProtocolVersion::V0_3)));
}

#[tokio::test(start_paused = true)]
async fn a_card_that_becomes_public_is_everybodys_again() {
    let private = Reply::card("a").header("cache-control", "private, max-age=1");
    let agent = Agent::script([private.clone(), private, Reply::card("b")]);
    let store = agent.store();
    store.get(bearer("one")).await.unwrap();
    store.get(bearer("two")).await.unwrap();
    pass(1).await;
    assert_eq!(name(&store, bearer("one")).await, "b");
    assert!(is_held(&store, &bearer("three")));
}

/// A 304 is about the card that somebody has, whatever it says of caches: nobody else was shown it.
#[tokio::test(start_paused = true)]
async fn a_renewal_makes_no_private_card_public() {
    let agent = Agent::script([
        Reply::card("a").header("cache-control", "private, max-age=1").header("etag", "\"1\""),
        Reply::status(304).header("cache-control", "max-age=60"),
        Reply::card("b").header("cache-control", "private, max-age=60"),
    ]);
    let store = agent.store();
    store.get(bearer("one")).await.unwrap();
    pass(1).await;
    assert!(store.get(bearer("one")).await.unwrap().is_private());
    assert!(is_held(&store, &bearer("one")) && !is_held(&store, &bearer("two")) && !is_held(&store, &ask()));
    assert_eq!(name(&store, bearer("two")).await, "b");
}

/// What is learnt later counts for what is held from then on.
#[tokio::test(start_paused = true)]
async fn an_agent_may_begin_to_vary_by_more() {
    let vary = |name, value: &'static str| Reply::card(name).header("vary", value);
    let agent = Agent::script([
        vary("a", "A2A-Version").header("cache-control", "max-age=1"),
        vary("b", "A2A-Version, Authorization").header("cache-control", "max-age=60"),
    ]);
    let store = agent.store();
    let one = || bearer("one").version(ProtocolVersion::V1_0);
    store.get(one()).await.unwrap();
    pass(1).await;
    assert_eq!(name(&store, one()).await, "b");
    assert!(is_held(&store, &one()) && !is_held(&store, &bearer("two").version(ProtocolVersion::V1_0)));
    assert!(!is_held(&store, &bearer("one").version(ProtocolVersion::V0_3)));
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_moment_leaves_the_cards_of_others_alone() {
    let private = |_: &Seen| Reply::card("a").header("cache-control", "private, max-age=60");
    for agent in [Agent::at(SCOPED, guarded), Agent::at(SCOPED, private)] {
        let store = agent.store();
        store.get(bearer("one")).await.unwrap();
        *agent.answers.lock().unwrap() = Box::new(|_| Reply::status(500));
        assert_eq!(class(&store, bearer("two")).await, Class::HttpStatus);
        assert!(is_held(&store, &bearer("one")));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_varies_now_by_this_and_now_by_that_is_asked_for_each() {
    let agent = Agent::new(|seen| match seen.header("a2a-version") {
        Some(version) => Reply::card(version).header("vary", "A2A-Version"),
        None => Reply::card("none").header("cache-control", "private, max-age=60"),
    });
    let store = agent.store();
    let asks = || [bearer("one"), bearer("one").version(ProtocolVersion::V1_0), bearer("two")];
    for _ in 0..5 {
        for ask in asks() {
            store.get(ask).await.unwrap();
        }
    }
    assert!(asks().iter().all(|ask| is_held(&store, ask)));
    assert!(agent.count() <= 5, "{}", agent.count());
}

#[tokio::test(start_paused = true)]
async fn tenants_by_header_have_each_a_card() {
    let agent = Agent::new(|seen| Reply::card(seen.header("x-tenant").unwrap_or("none")));
    let store =
        CardStore::builder(agent.clone()).tenant_headers([HeaderName::from_static("x-tenant")]).build().unwrap();
    for (headers, expected) in [(&[("x-tenant", "a")][..], "a"), (&[("x-tenant", "b")], "b"), (&[], "none")] {
        assert_eq!(name(&store, ask_with(headers)).await, expected);
        assert_eq!(name(&store, ask_with(headers)).await, expected);
    }
    assert_eq!(agent.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn versions_have_each_a_card_where_the_agent_says_so() {
    let agent = Agent::new(|seen| {
        Reply::card(seen.header("a2a-version").unwrap_or("none"))
            .header("vary", "A2A-Version")
            .after(Duration::from_secs(1))
    });
    let store = agent.store();
    let versions = [Some(ProtocolVersion::V1_0), Some(ProtocolVersion::V0_3), None];
    let calls: Vec<_> = versions.map(|version| tokio::spawn(store.get(ask().version(version)))).into_iter().collect();
    let mut names = Vec::new();
    for call in calls {
        names.push(named(&call.await.unwrap().unwrap()));
    }
    assert_eq!(names, ["1.0", "0.3", "none"]);
    assert_eq!(agent.count(), 3);
    for (version, expected) in versions.into_iter().zip(names) {
        assert_eq!(name(&store, ask().version(version)).await, expected);
    }
    assert_eq!(agent.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn version_and_credential_can_both_matter() {
    let agent = Agent::new(|seen| match seen.header("authorization") {
        Some(token) => {
            let version = seen.header("a2a-version").unwrap_or("none");
            Reply::card(&format!("{token} {version}")).header("vary", "A2A-Version")
        }
        None => Reply::status(401),
    });
    let store = agent.store();
    for token in ["one", "two"] {
        for version in [ProtocolVersion::V1_0, ProtocolVersion::V0_3] {
            assert_eq!(name(&store, bearer(token).version(version)).await, format!("{token} {version}"));
        }
    }
    for token in ["one", "two"] {
        for version in [ProtocolVersion::V1_0, ProtocolVersion::V0_3] {
            assert!(is_held(&store, &bearer(token).version(version)), "{token} {version}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn private_cards_that_are_not_stored_are_each_credentials_own_too() {
    let agent = Agent::new(|seen| {
        let reply = guarded(seen).header("cache-control", "no-store");
        if seen.header("authorization").is_some() { reply.after(Duration::from_secs(1)) } else { reply }
    });
    let store = agent.store();
    let tokens = ["one", "two", "three", "four", "five"];
    for _ in 0..2 {
        let calls: Vec<_> = (0..100).map(|n| (tokens[n % 5], tokio::spawn(store.get(bearer(tokens[n % 5]))))).collect();
        for (token, call) in calls {
            assert_eq!(named(&call.await.unwrap().unwrap()), token);
        }
    }
    assert_eq!(store.stats().entries, 0);
}

#[tokio::test(start_paused = true)]
async fn a_failure_behind_one_credential_is_not_that_of_others() {
    let agent = Agent::at(SCOPED, |_| Reply::card("public").header("cache-control", "max-age=1"));
    let store = agent.store();
    store.get(bearer("one")).await.unwrap();
    *agent.answers.lock().unwrap() = Box::new(|seen| match seen.header("authorization") {
        Some("one") => Reply::status(500),
        _ => guarded(seen),
    });
    pass(1).await;
    assert_eq!(class(&store, bearer("one")).await, Class::HttpStatus);
    assert_eq!(name(&store, bearer("two")).await, "two");
    assert_eq!(class(&store, bearer("one")).await, Class::HttpStatus);
    assert_eq!(agent.count(), 4);
}
