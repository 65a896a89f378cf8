//! From an agent's base by way of its card, a hint, to an interface; what is there is asked of that one's own card.

use a2a_guard::{
    CardFailure,
    card::{Origin, UrlPolicy},
    card_consistency::{CardConsistencyLayer, Route},
};
use bytes::Bytes;
use http::{Request, Version};
use http_body_util::Full;

use crate::{
    mock::Dialect,
    support::{Card, Cards, ROOT, failure, layer, through},
};

use Dialect::{Rest, V1, V03};

fn route(cards: &Cards) -> Route {
    Route::new(cards.store(), "https://agent.example.com".parse().unwrap())
}

fn routed(cards: &Cards) -> CardConsistencyLayer<Route> {
    layer(cards).resolver(route(cards))
}

fn at(mut request: Request<Full<Bytes>>, uri: &str) -> Request<Full<Bytes>> {
    *request.uri_mut() = uri.parse().unwrap();
    request
}

#[tokio::test(start_paused = true)]
async fn the_first_usable_interface_is_taken() {
    let hint = Card::default()
        .interface("https://agent.example.com/v03", "JSONRPC", "0.3")
        .interface("https://agent.example.com/bus", "ACME-BUS", "1.0")
        .interface("https://agent.example.com/rest", "HTTP+JSON", "1.0")
        .at("https://agent.example.com/first")
        .at("https://agent.example.com/second");
    let cards = Cards::default().put(ROOT, hint);
    for (request, expected) in [
        (V1.send(), "https://agent.example.com/first"),
        (V03.send(), "https://agent.example.com/v03"),
        (Rest.send(), "https://agent.example.com/rest/message:send"),
        (Rest.get(), "https://agent.example.com/rest/tasks/task-1"),
        (
            at(Rest.get(), "https://agent.example.com/tasks/task-1?historyLength=3"),
            "https://agent.example.com/rest/tasks/task-1?historyLength=3",
        ),
    ] {
        let (_, sent) = through(routed(&cards), request).await;
        assert_eq!(sent.unwrap().uri().to_string(), expected);
    }
}

/// The `Host` field and the version of HTTP are of the connection by which the request came; elsewhere the client below
/// has its own.
#[tokio::test(start_paused = true)]
async fn what_a_request_has_of_its_connection_ends_there() {
    let (here, there) = ("https://agent.example.com/first", "https://agents.example.net/first");
    let urls = UrlPolicy::strict().allow_other_origin(Origin::parse("https://agents.example.net").unwrap());
    for (to, kept) in [(here, true), (there, false)] {
        let cards = Cards::default()
            .put(ROOT, Card::default().at(to))
            .put("https://agents.example.net/.well-known/agent-card.json", Card::default().at(to));
        let mut request = V1.send();
        request.headers_mut().insert("host", "agent.example.com".parse().unwrap());
        *request.version_mut() = Version::HTTP_2;
        let (ended, sent) = through(layer(&cards).resolver(route(&cards).urls(urls.clone())), request).await;
        let sent = sent.unwrap_or_else(|| panic!("{ended:?}"));
        assert_eq!((sent.uri().to_string().as_str(), sent.headers().contains_key("host")), (to, kept));
        assert_eq!(sent.version(), if kept { Version::HTTP_2 } else { Version::default() });
    }
}

#[tokio::test(start_paused = true)]
async fn over_http_json_each_version_has_its_own_paths() {
    let old = Card::default().interface("https://agent.example.com/old", "HTTP+JSON", "0.3");
    let mut request = at(Rest.send(), "https://agent.example.com/v1/message:send");
    request.headers_mut().insert("a2a-version", "0.3".parse().unwrap());
    let (_, sent) = through(routed(&Cards::default().put(ROOT, old)), request).await;
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/old/v1/message:send");
}

/// 0.2 spelled its methods as 0.3 does.
#[tokio::test(start_paused = true)]
async fn the_oldest_agents_are_found_too() {
    let oldest = Card::default().interface("https://agent.example.com/a2a", "JSONRPC", "0.2.5");
    let (_, sent) = through(routed(&Cards::default().put(ROOT, oldest)), V03.send()).await;
    assert!(sent.is_some());
}

#[tokio::test(start_paused = true)]
async fn without_a_usable_interface_the_call_is_refused() {
    for (hint, class) in [
        (Card::default().interface("https://agent.example.com/v03", "JSONRPC", "0.3"), "unsupported_version"),
        (Card::rest(), "no_compatible_interface"),
        (Card::default().at("https://elsewhere.example.com/a2a"), "url_mismatch"),
        (Card::default().at("http://agent.example.com/a2a"), "url_mismatch"),
        (Card::default().at("https://10.0.0.1/a2a"), "unusable_url"),
        (Card::default().at("https://user@agent.example.com/a2a"), "unusable_url"),
    ] {
        let (ended, sent) = through(routed(&Cards::default().put(ROOT, hint)), V1.send()).await;
        assert_eq!(ended.word(), format!("card/{class}"));
        assert!(sent.is_none());
    }
    let (ended, _) = through(routed(&Cards::default()), V1.send()).await;
    assert_eq!(ended.word(), "card/not_found");
}

#[tokio::test(start_paused = true)]
async fn another_origin_is_gone_to_only_by_name_and_its_own_card_decides() {
    let there = "https://agents.example.net/a2a";
    let cards = Cards::default()
        .put(ROOT, Card::default().at(there).with("streaming"))
        .put("https://agents.example.net/a2a/.well-known/agent-card.json", Card::default().at(there));
    let (ended, sent) = through(routed(&cards), V1.send()).await;
    let CardFailure::UrlMismatch { field, card, target, .. } = failure(&ended) else { panic!("{ended:?}") };
    assert_eq!((*field, &**card, &**target), ("authority", "agents.example.net", "agent.example.com"));
    assert!(sent.is_none());
    assert_eq!(cards.count(), 1, "its card is not asked for either");

    let named = || {
        let urls = UrlPolicy::strict().allow_other_origin(Origin::parse("https://agents.example.net").unwrap());
        layer(&cards).resolver(route(&cards).urls(urls))
    };
    let (ended, sent) = through(named(), V1.send()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(*sent.unwrap().uri(), there);
    let (ended, _) = through(named(), V1.stream()).await;
    assert_eq!(ended.word(), "card/capability_missing", "the hint said otherwise");
}

#[tokio::test(start_paused = true)]
async fn errors_name_where_the_call_went() {
    let cards = Cards::default().put(ROOT, Card::default().at("https://agent.example.com/inner/rpc"));
    let (ended, _) = through(routed(&cards), V1.stream()).await;
    assert_eq!(ended.word(), "card/capability_missing");
    assert_eq!(ended.error().call().target().unwrap(), "https://agent.example.com/inner/rpc");
    assert!(ended.error().to_string().contains(" at https://agent.example.com/inner/rpc, "), "{}", ended.error());
}

/// The tenant that the caller put into the path is not lost on the way, and not exchanged for another.
#[tokio::test(start_paused = true)]
async fn a_tenant_in_the_path_is_kept() {
    let card = |tenant| {
        Cards::default()
            .put(ROOT, Card::default().interface("https://agent.example.com/rest", "HTTP+JSON", "1.0").tenant(tenant))
    };
    let request = || at(Rest.send(), "https://agent.example.com/acme/message:send");
    let (ended, sent) = through(routed(&card("acme")), request()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/rest/acme/message:send");

    let (ended, sent) = through(routed(&card("globex")), request()).await;
    assert_eq!(ended.word(), "card/tenant_mismatch");
    assert!(sent.is_none());
}

/// Whatever else stands there is of the base that was called, and not of the interface.
#[tokio::test(start_paused = true)]
async fn a_path_that_is_no_tenants_ends_at_the_base() {
    let rest = |version| Card::default().interface("https://agent.example.com/rest", "HTTP+JSON", version);
    for (card, version, path, expected) in [
        (rest("1.0"), "1.0", "/acme/message:send", "/rest/message:send"),
        (rest("1.0"), "1.0", "/acme/more/message:send", "/rest/message:send"),
        (rest("0.3"), "0.3", "/acme/v1/message:send", "/rest/v1/message:send"),
        (rest("0.3").tenant("acme"), "0.3", "/acme/v1/message:send", "/rest/v1/message:send"),
    ] {
        let mut request = at(Rest.send(), &format!("https://agent.example.com{path}"));
        request.headers_mut().insert("a2a-version", version.parse().unwrap());
        let (ended, sent) = through(routed(&Cards::default().put(ROOT, card)), request).await;
        let sent = sent.unwrap_or_else(|| panic!("{path} {version}: {ended:?}"));
        assert_eq!(sent.uri().path(), expected, "{path} {version}");
    }
}
