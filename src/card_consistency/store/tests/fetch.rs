//! One search: locations, statuses, media types, sizes, bounds.

use super::*;

#[tokio::test(start_paused = true)]
async fn locations_are_asked_in_order_and_the_one_that_answers_is_told() {
    let agent = Agent::at(LEGACY_ROOT, |_| Reply::card("old"));
    let held = agent.store().get(ask()).await.unwrap();
    assert_eq!(agent.uris(), [SCOPED, ROOT, LEGACY, LEGACY_ROOT]);
    assert_eq!(held.location(), LEGACY_ROOT);
    assert!(held.is_legacy() && !held.is_private());
    assert_eq!(held.bytes(), card("old").as_bytes());
    assert_eq!(held.card().name(), "old");
}

#[tokio::test(start_paused = true)]
async fn the_base_path_is_kept_and_the_origin_comes_second() {
    let agent = Agent::at(SCOPED, |_| Reply::card("scoped"));
    assert_eq!(name(&agent.store(), ask()).await, "scoped");
    assert_eq!(agent.uris(), [SCOPED]);
    let agent = Agent::at(ROOT, |_| Reply::card("root"));
    assert_eq!(name(&agent.store(), ask()).await, "root");
    assert_eq!(agent.uris(), [SCOPED, ROOT]);
}

/// To the older name only 404 sends it: whoever answers otherwise knows the current one.
#[tokio::test(start_paused = true)]
async fn the_older_name_is_tried_on_404_only() {
    for (status, asked, expected) in [(404, 3, Class::HttpStatus), (405, 2, Class::NotFound), (410, 2, Class::NotFound)]
    {
        let agent = Agent::new(move |seen| Reply::status(if seen.uri.ends_with("/agent.json") { 500 } else { status }));
        let failure = agent.store().get(ask()).await.unwrap_err();
        assert_eq!((failure.class(), agent.count()), (expected, asked), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_missing_card_sends_the_search_on() {
    for status in [404, 405, 410] {
        let agent =
            Agent::new(move |seen| if seen.uri == SCOPED { Reply::status(status) } else { Reply::card("root") });
        assert_eq!(name(&agent.store(), ask()).await, "root", "{status}");
    }
    for (status, expected) in [
        (403, Class::Unauthorized),
        (401, Class::Unauthorized),
        (301, Class::HttpStatus),
        (307, Class::HttpStatus),
        (204, Class::HttpStatus),
        (206, Class::HttpStatus),
        (304, Class::HttpStatus),
        (429, Class::HttpStatus),
        (500, Class::HttpStatus),
    ] {
        let agent = Agent::script([Reply::status(status).header("location", ROOT)]);
        let failure = agent.store().get(ask()).await.unwrap_err();
        assert_eq!(failure.class(), expected, "{status}");
        assert_eq!(failure.status().unwrap().as_u16(), status);
        assert_eq!(failure.location().unwrap(), SCOPED);
        assert_eq!(agent.count(), 1, "{status}");
    }
}

/// Seen of agents behind an authentication that answers every unknown path with 400, and of sites that have a page for
/// each.
#[tokio::test(start_paused = true)]
async fn what_says_nothing_below_the_agents_path_sends_it_on_too() {
    fn page() -> Reply {
        Reply { frames: vec![Bytes::from_static(b"<h1>")], ..Reply::status(200) }.header("content-type", "text/html")
    }
    let answers: [(fn() -> Reply, Class); 2] = [(|| Reply::status(400), Class::HttpStatus), (page, Class::NotJson)];
    for (answer, class) in answers {
        let agent = Agent::new(move |seen| if seen.uri == ROOT { Reply::card("root") } else { answer() });
        assert_eq!(name(&agent.store(), ask()).await, "root");
        assert_eq!(agent.uris(), [SCOPED, ROOT]);
        // It is told where nobody knows better.
        let agent = Agent::new(move |seen| if seen.uri == SCOPED { answer() } else { Reply::status(404) });
        let failure = agent.store().get(ask()).await.unwrap_err();
        assert_eq!((failure.class(), failure.location().unwrap().to_string().as_str()), (class, SCOPED));
        // Elsewhere it is the answer: there is no place behind the origin's but older names.
        let agent = Agent::new(move |seen| if seen.uri == ROOT { answer() } else { Reply::status(404) });
        assert_eq!(agent.store().get(ask()).await.unwrap_err().class(), class);
        assert_eq!(agent.uris(), [SCOPED, ROOT]);
    }
    // Nor does a configured place guess.
    let agent = Agent::new(move |seen| if seen.uri == ROOT { Reply::card("root") } else { page() });
    let store = CardStore::builder(agent.clone()).location_template("https://cards.example/{host}").build().unwrap();
    assert_eq!(class(&store, ask()).await, Class::NotJson);
    assert_eq!(agent.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_made_up_for_once() {
    let lost = || Reply::fails(std::io::ErrorKind::ConnectionReset);
    let agent = Agent::script([lost(), Reply::card("a")]);
    let store = agent.store();
    assert_eq!(name(&store, ask()).await, "a");
    assert_eq!((agent.uris(), store.stats().requests), (vec![SCOPED.to_owned(); 2], 2));
    let agent = Agent::script([lost(), lost(), Reply::card("a")]);
    assert_eq!(class(&agent.store(), ask()).await, Class::ConnectionLost);
    assert_eq!(agent.count(), 2);
    let agent = Agent::script([Reply::fails(std::io::ErrorKind::ConnectionRefused), Reply::card("a")]);
    assert_eq!(class(&agent.store(), ask()).await, Class::Connect);
    assert_eq!(agent.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_400_is_a_missing_card_under_the_legacy_name() {
    let agent = Agent::new(|seen| Reply::status(if seen.uri.ends_with("agent.json") { 400 } else { 404 }));
    let failure = agent.store().get(ask()).await.unwrap_err();
    let CardFailure::NotFound { tried } = failure else { panic!("{failure}") };
    assert_eq!(tried.iter().map(ToString::to_string).collect::<Vec<_>>(), [SCOPED, ROOT, LEGACY, LEGACY_ROOT]);
}

#[tokio::test(start_paused = true)]
async fn the_legacy_name_can_be_left_out() {
    let agent = Agent::script([Reply::status(404)]);
    let store = CardStore::builder(agent.clone()).legacy_location(false).build().unwrap();
    assert_eq!(class(&store, ask()).await, Class::NotFound);
    assert_eq!(agent.uris(), [SCOPED, ROOT]);
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_is_what_a_card_needs_and_nothing_of_the_call() {
    let agent = Agent::script([Reply::card("a")]);
    let store =
        CardStore::builder(agent.clone()).tenant_headers([HeaderName::from_static("x-tenant")]).build().unwrap();
    let call = ask_with(&[
        ("authorization", "Bearer secret"),
        ("cookie", "secret"),
        ("x-tenant", "acme"),
        ("x-trace", "1"),
        ("content-type", "application/json"),
    ]);
    store.get(call.version(crate::ProtocolVersion::V1_0)).await.unwrap();
    assert_eq!(
        agent.seen(0).headers,
        pairs(&[("accept", "application/json"), ("a2a-version", "1.0"), ("x-tenant", "acme")])
    );
}

#[tokio::test(start_paused = true)]
async fn a_challenge_is_kept_for_the_caller() {
    let agent =
        Agent::script([Reply::status(403).header("www-authenticate", "Bearer").header("content-type", "text/html")]);
    let failure = agent.store().get(bearer("Bearer x")).await.unwrap_err();
    assert_eq!((failure.class(), failure.www_authenticate()), (Class::Unauthorized, Some("Bearer")));
    assert_eq!(agent.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_is_no_card_and_is_not_read() {
    let html = Reply { frames: vec!["<!doctype html>".into()], ..Reply::status(200) };
    let agent = Agent::script([html.header("content-type", "text/html; charset=utf-8")]);
    let failure = agent.store().get(ask()).await.unwrap_err();
    let CardFailure::NotJson { status, content_type, .. } = failure else { panic!("{failure}") };
    assert_eq!((status.as_u16(), content_type.as_deref()), (200, Some("text/html; charset=utf-8")));
    assert_eq!((*agent.frames.lock().unwrap(), agent.count()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn media_types() {
    for good in ["application/json", "application/a2a+json; v=1", "application/vnd.x+json"] {
        let reply = Reply { frames: vec![card("a").into()], ..Reply::status(200) };
        assert_eq!(name(&Agent::script([reply.header("content-type", good)]).store(), ask()).await, "a", "{good}");
    }
    // Not said: the body says it, unless that is not enough.
    let reply = Reply { frames: vec![card("a").into()], ..Reply::status(200) };
    let agent = Agent::script([reply]);
    assert_eq!(name(&agent.store(), ask()).await, "a");
    let strict = CardStore::builder(agent).strict(true).build().unwrap();
    assert_eq!(class(&strict, ask()).await, Class::NotJson);
    let cut = Agent::script([Reply::json(card("a")[..40].to_owned())]);
    assert_eq!(class(&cut.store(), ask()).await, Class::NotJson);
}

#[tokio::test(start_paused = true)]
async fn a_card_without_what_it_needs_names_the_field() {
    let agent = Agent::script([Reply::json("{}"), Reply::card("a")]);
    let store = agent.store();
    let failure = store.get(ask()).await.unwrap_err();
    assert_eq!((failure.class(), failure.field()), (Class::MissingField, Some("supportedInterfaces")));
    assert!(store.peek(&ask().key()).is_none());
}

#[tokio::test(start_paused = true)]
async fn reading_stops_at_the_cap() {
    let frames: Vec<Bytes> = std::iter::once(Bytes::from("{\"name\":\""))
        .chain(std::iter::repeat_n(Bytes::from(vec![b'A'; 1000]), 300))
        .collect();
    let reply = Reply { frames, hangs: true, ..Reply::status(200) }.header("content-type", "application/json");
    let agent = Agent::script([reply]);
    let store = CardStore::builder(agent.clone()).max_card_bytes(262_144).build().unwrap();
    let failure = store.get(ask()).await.unwrap_err();
    assert!(matches!(failure, CardFailure::TooLarge { limit: 262_144, .. }), "{failure}");
    assert_eq!(*agent.frames.lock().unwrap(), 264);
    assert_eq!(agent.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_says_it_is_too_large_is_not_read() {
    let agent = Agent::script([Reply::json(vec![b' '; 262_145])]);
    assert_eq!(class(&agent.store(), ask()).await, Class::TooLarge);
    assert_eq!(*agent.frames.lock().unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_card_of_exactly_the_cap_is_read() {
    let text = card("a");
    for (cap, fits) in [(text.len(), true), (text.len() - 1, false)] {
        let store = CardStore::builder(Agent::script([Reply::card("a")])).max_card_bytes(cap).build().unwrap();
        assert_eq!(store.get(ask()).await.is_ok(), fits);
    }
}

#[tokio::test(start_paused = true)]
async fn empty_frames_without_end_have_an_end() {
    let reply = Reply { frames: vec![Bytes::new(); 300_000], ..Reply::status(200) };
    let agent = Agent::script([reply.header("content-type", "application/json")]);
    assert_eq!(class(&agent.store(), ask()).await, Class::TooLarge);
}

#[tokio::test(start_paused = true)]
async fn the_bound_is_on_all_locations_together() {
    let agent = Agent::script([Reply::status(404).after(Duration::from_secs(4))]);
    let began = Instant::now();
    let failure = agent.store().get(ask()).await.unwrap_err();
    assert!(matches!(failure, CardFailure::FetchTimeout { bound } if bound == Duration::from_secs(10)), "{failure}");
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    assert_eq!(agent.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_a_timeout() {
    let reply = Reply { frames: vec!["{".into()], hangs: true, ..Reply::status(200) };
    let agent = Agent::script([reply.header("content-type", "application/json")]);
    let began = Instant::now();
    assert_eq!(class(&agent.store(), ask()).await, Class::FetchTimeout);
    assert_eq!(began.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_caller_with_less_time_waits_no_longer_and_the_fetch_goes_on() {
    let agent = Agent::script([Reply::card("a").after(Duration::from_secs(3))]);
    let store = agent.store();
    let began = Instant::now();
    let failure = store.get(ask().bound(Duration::from_secs(2))).await.unwrap_err();
    assert!(matches!(failure, CardFailure::FetchTimeout { bound } if bound == Duration::from_secs(2)), "{failure}");
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert_eq!(name(&store, ask()).await, "a");
    assert_eq!((began.elapsed(), agent.count()), (Duration::from_secs(3), 1));
}

#[tokio::test(start_paused = true)]
async fn connection_failures_keep_their_class_and_source() {
    use std::error::Error as _;
    for (kind, expected) in [
        (std::io::ErrorKind::ConnectionRefused, Class::Connect),
        (std::io::ErrorKind::ConnectionReset, Class::ConnectionLost),
    ] {
        let failure = Agent::script([Reply::fails(kind)]).store().get(ask()).await.unwrap_err();
        assert_eq!(failure.class(), expected);
        assert_eq!(failure.source().unwrap().downcast_ref::<std::io::Error>().unwrap().kind(), kind);
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_no_url_is_not_asked() {
    let agent = Agent::script([Reply::card("a")]);
    let relative = CardAsk::new(Uri::from_static("/a2a"), HeaderMap::new());
    assert_eq!(class(&agent.store(), relative).await, Class::UnusableUrl);
    assert_eq!(agent.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_configured_location_comes_first_and_the_others_after_it() {
    let template = "https://cards.example/{host}?tenant={tenant}";
    let agent = Agent::at(SCOPED, |_| Reply::card("scoped"));
    let store = CardStore::builder(agent.clone()).location_template(template).build().unwrap();
    assert_eq!(name(&store, ask().tenant(Some("acme"))).await, "scoped");
    assert_eq!(agent.uris(), ["https://cards.example/agent.example.com?tenant=acme", SCOPED]);
    // Its cards are each tenant's own.
    assert!(is_held(&store, &ask().tenant(Some("acme"))));
    assert!(!is_held(&store, &ask().tenant(Some("other"))));
    assert!(!is_held(&store, &ask()));
}

#[tokio::test(start_paused = true)]
async fn a_function_says_where_and_its_word_is_checked() {
    let agent = Agent::script([Reply::card("a")]);
    let store = CardStore::builder(agent.clone())
        .location_fn(|target| match target.tenant {
            Some("none") => None,
            Some(tenant) => format!("https://cards.example/{tenant}").parse().ok(),
            None => Some(Uri::from_static("/relative")),
        })
        .build()
        .unwrap();
    assert_eq!(class(&store, ask()).await, Class::UnusableUrl);
    store.get(ask().tenant(Some("t"))).await.unwrap();
    store.get(ask().tenant(Some("none"))).await.unwrap();
    assert_eq!(agent.uris(), ["https://cards.example/t", SCOPED]);
}

#[tokio::test(start_paused = true)]
async fn what_the_connector_verified_is_kept_with_the_card() {
    let transport = VerifiedTransport::new("agent.example.com", TransportProof::Pinned);
    let agent = Agent::script([Reply { transport: Some(transport.clone()), ..Reply::card("a") }]);
    assert_eq!(agent.store().get(ask()).await.unwrap().transport(), Some(&transport));
    assert_eq!(Agent::script([Reply::card("a")]).store().get(ask()).await.unwrap().transport(), None);
}
