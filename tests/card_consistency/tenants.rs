//! A request carries exactly the tenant of its interface (§8.3.2).

use a2a_guard::{CallBody, CallLayer, CardFailure};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::{
    mock::{Answer, Dialect, MockBody, Peer},
    support::{Card, Cards, Page, ROOT, body_of, call, failure, guard, layer, once, rest_done, through, willing},
};

use Dialect::{Rest, V1, V03};

fn acme() -> Card {
    Card::plain().tenant("acme")
}

fn rest_acme() -> Cards {
    Cards::default().put(ROOT, Card::rest().tenant("acme"))
}

fn with_params(params: &str) -> Request<Full<Bytes>> {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{params}}}"#);
    V1.request("POST", "/a2a", body)
}

async fn params_of(request: Request<CallBody<Full<Bytes>>>) -> Value {
    let body: Value = serde_json::from_str(&body_of(request).await).unwrap();
    body["params"].clone()
}

#[tokio::test(start_paused = true)]
async fn over_json_rpc_it_is_set_in_the_params_and_the_length_follows() {
    let mut request = V1.send();
    let before = body_of(V1.send().map(CallBody::unread)).await;
    request.headers_mut().insert("content-length", before.len().into());
    let (ended, sent) = once(acme(), request).await;
    assert_eq!(ended.word(), "success/success");
    let sent = sent.unwrap();
    let length = sent.headers()["content-length"].to_str().unwrap().to_owned();
    let after = body_of(sent).await;
    assert_eq!(after, before.replacen(r#""params":{"#, r#""params":{"tenant":"acme","#, 1));
    assert_eq!(length, after.len().to_string());
}

#[tokio::test(start_paused = true)]
async fn a_length_that_was_not_stated_is_not_added() {
    let (_, sent) = once(acme(), V1.send()).await;
    assert!(!sent.unwrap().headers().contains_key("content-length"));
}

#[tokio::test(start_paused = true)]
async fn an_empty_tenant_is_none_and_is_replaced() {
    for params in [
        r#"{"tenant":"","message":{}}"#,
        r#"{"message":{},"tenant":""}"#,
        r#"{"message":{},"tenant":null}"#,
        r#"{"message":{"tenant":"inner"}}"#,
        r#"{"message":{}, "ten\u0061nt" : "" }"#,
    ] {
        let (ended, sent) = once(acme(), with_params(params)).await;
        assert_eq!(ended.word(), "success/success", "{params}");
        let text = body_of(sent.unwrap()).await;
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(body["params"]["tenant"], "acme", "{text}");
        // Who reads the first of two and who reads the last must read the same.
        let params: Vec<(String, Value)> = members(&body_text(&text));
        assert_eq!(params.iter().filter(|(name, _)| name == "tenant").count(), 1, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn params_that_are_null_are_replaced() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":null}"#.to_owned();
    let (_, sent) = once(acme(), V1.request("POST", "/a2a", body)).await;
    let text = body_of(sent.unwrap()).await;
    assert_eq!(text.matches("\"params\"").count(), 1, "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["params"], json!({"tenant": "acme"}), "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_same_tenant_passes_as_it_is() {
    let request = || with_params(r#"{"tenant":"acme","message":{}}"#);
    let (ended, sent) = once(acme(), request()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(body_of(sent.unwrap()).await, body_of(request().map(CallBody::unread)).await);
}

#[tokio::test(start_paused = true)]
async fn another_tenant_is_refused() {
    for (card, params, of_card) in [
        (acme(), r#"{"tenant":"other","message":{}}"#, Some("acme")),
        (acme(), r#"{"tenant":"ACME","message":{}}"#, Some("acme")),
        (Card::plain(), r#"{"tenant":"other","message":{}}"#, None),
        (Card::plain().tenant(""), r#"{"tenant":"other","message":{}}"#, None),
    ] {
        let (ended, sent) = once(card, with_params(params)).await;
        assert_eq!(ended.word(), "card/tenant_mismatch", "{params}");
        let CardFailure::TenantMismatch { card, .. } = failure(&ended) else { panic!("{ended:?}") };
        assert_eq!(card.as_deref(), of_card);
        assert!(sent.is_none(), "dispatched");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_tenant_in_the_card_nothing_is_set() {
    for card in [Card::plain(), Card::plain().tenant("")] {
        let (_, sent) = once(card, V1.send()).await;
        let params = params_of(sent.unwrap()).await;
        assert!(params.get("tenant").is_none(), "{params}");
    }
}

#[tokio::test(start_paused = true)]
async fn over_http_json_it_is_set_in_the_path() {
    let (ended, sent) = through(layer(&rest_acme()), Rest.send()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/acme/message:send");

    let card = Card::default().interface("https://agent.example.com/base/", "HTTP+JSON", "1.0").tenant("a c/me");
    let mut request = Rest.get();
    *request.uri_mut() = "https://agent.example.com/base/tasks/t%2F1?historyLength=2".parse().unwrap();
    let (_, sent) = through(layer(&Cards::default().put(ROOT, card)), request).await;
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/base/a%20c%2Fme/tasks/t%2F1?historyLength=2");
}

#[tokio::test(start_paused = true)]
async fn in_the_path_already_it_stays_and_another_is_refused() {
    let mut request = Rest.send();
    *request.uri_mut() = "https://agent.example.com/acme/message:send".parse().unwrap();
    let (ended, sent) = through(layer(&rest_acme()), request).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/acme/message:send");

    let mut request = Rest.send();
    *request.uri_mut() = "https://agent.example.com/other/message:send".parse().unwrap();
    let (ended, sent) = through(layer(&rest_acme()), request).await;
    assert_eq!(ended.word(), "card/tenant_mismatch");
    assert!(sent.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_somebody_vouches_for_is_refused_rather_than_changed() {
    for seal in ["signature", "signature-input", "content-digest", "digest", "x-amz-content-sha256"] {
        for (cards, mut request) in [(Cards::of(acme()), V1.send()), (rest_acme(), Rest.send())] {
            request.headers_mut().insert(seal, "sig1=:x:".parse().unwrap());
            let (ended, sent) = through(layer(&cards), request).await;
            assert_eq!(ended.word(), "card/tenant_mismatch", "{seal}");
            assert!(ended.error().to_string().contains(seal), "{}", ended.error());
            assert!(sent.is_none());
        }
        // Nothing needs to be changed here.
        let mut request = with_params(r#"{"tenant":"acme","message":{}}"#);
        request.headers_mut().insert(seal, "sig1=:x:".parse().unwrap());
        assert_eq!(once(acme(), request).await.0.word(), "success/success", "{seal}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_several_at_one_url_the_call_says_which() {
    let card = || Card::plain().tenant("acme").at("https://agent.example.com/a2a").tenant("globex");
    for tenant in ["acme", "globex"] {
        let request = with_params(&format!(r#"{{"tenant":"{tenant}","message":{{}}}}"#));
        let (ended, sent) = once(card(), request).await;
        assert_eq!(ended.word(), "success/success");
        assert_eq!(params_of(sent.unwrap()).await["tenant"], tenant);
    }
    let (ended, sent) = once(card(), V1.send()).await;
    assert_eq!(ended.word(), "card/tenant_mismatch", "nobody guesses");
    assert!(sent.is_none());
    assert_eq!(once(card(), with_params(r#"{"tenant":"initech"}"#)).await.0.word(), "card/tenant_mismatch");

    // One of them for nobody in particular: that is the one without.
    let open = Card::plain().tenant("acme").at("https://agent.example.com/a2a");
    let (ended, sent) = once(open, V1.send()).await;
    assert_eq!(ended.word(), "success/success");
    assert!(params_of(sent.unwrap()).await.get("tenant").is_none());
}

#[tokio::test(start_paused = true)]
async fn one_card_serves_its_tenants_with_one_fetch() {
    let card = Card::plain().tenant("acme").at("https://agent.example.com/a2a").tenant("globex");
    let cards = Cards::of(Page::from(card).max_age(300));
    let agent = willing(4);
    let mut service = guard(layer(&cards), &agent);
    for (tenant, word) in [
        ("acme", "success/success"),
        ("globex", "success/success"),
        ("initech", "card/tenant_mismatch"),
        ("acme", "success/success"),
    ] {
        let request = with_params(&format!(r#"{{"tenant":"{tenant}","message":{{}}}}"#));
        assert_eq!(call(&mut service, request).await.word(), word, "{tenant}");
    }
    assert_eq!((cards.count(), agent.requests().len()), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn older_versions_know_no_tenant() {
    let card = Card::default().interface("https://agent.example.com/a2a", "JSONRPC", "0.3").tenant("acme");
    let (_, sent) = once(card, V03.send()).await;
    assert!(params_of(sent.unwrap()).await.get("tenant").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_was_not_read_whole_cannot_be_changed() {
    use tower::{Layer, ServiceExt};
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"id":"t","x":"{}"}}}}"#, "x".repeat(200));
    // In one piece it is there as a whole, however long; of several, what is above the cap was not read.
    for (pieces, word) in [(1, "success/success"), (2, "card/tenant_mismatch")] {
        let pieces = body.as_bytes().chunks(body.len().div_ceil(pieces)).map(Bytes::copy_from_slice);
        let agent: Peer<CallBody<MockBody>> = Peer::new([crate::support::done()]);
        let stack = CallLayer::new().max_body(64).layer(layer(&Cards::of(acme())).layer(agent.clone()));
        let request = V1.request("POST", "/a2a", String::new()).map(|_| MockBody::of(pieces));
        let called = stack.oneshot(request).await.map(|_| ());
        let called =
            called.map_or_else(|error| format!("{}/{}", error.outcome(), error.class()), |()| "success/success".into());
        assert_eq!(called, word);
        assert_eq!(agent.requests().is_empty(), word.starts_with("card"));
    }
}

/// In pieces below the cap it is put together.
#[tokio::test(start_paused = true)]
async fn a_body_in_pieces_gains_it_too() {
    use http_body_util::BodyExt;
    use tower::{Layer, ServiceExt};
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}"#;
    let agent: Peer<CallBody<MockBody>> = Peer::new([crate::support::done()]);
    let stack = CallLayer::new().layer(layer(&Cards::of(acme())).layer(agent.clone()));
    let pieces = body.as_bytes().chunks(7).map(Bytes::copy_from_slice);
    let request = V1.request("POST", "/a2a", String::new()).map(|_| MockBody::of(pieces));
    stack.oneshot(request).await.unwrap();
    let sent = agent.requests().pop().unwrap().into_body().collect().await.unwrap().to_bytes();
    assert_eq!(sent, body.replacen(r#""params":{"#, r#""params":{"tenant":"acme","#, 1));
}

/// What asks for the task afterwards has to ask as the same tenant.
#[tokio::test(start_paused = true)]
async fn layers_below_are_told_of_the_tenant() {
    for (cards, request) in [(Cards::of(acme()), V1.send()), (rest_acme(), Rest.send())] {
        let agent =
            crate::support::agent([if request.uri().path() == "/a2a" { crate::support::done() } else { rest_done() }]);
        assert_eq!(call(&mut guard(layer(&cards), &agent), request).await.word(), "success/success");
        let sent = agent.requests().pop().unwrap();
        let told = sent.extensions().get::<a2a_guard::Call>().unwrap();
        assert_eq!(told.tenant(), Some("acme"));
        assert_eq!(told.target(), Some(sent.uri()));
    }
}

/// The members of an object, repeated ones too.
fn members(object: &str) -> Vec<(String, Value)> {
    struct Members(Vec<(String, Value)>);
    impl<'de> serde::Deserialize<'de> for Members {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Members;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                    let mut members = Vec::new();
                    while let Some(member) = map.next_entry()? {
                        members.push(member);
                    }
                    Ok(Members(members))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    serde_json::from_str::<Members>(object).unwrap().0
}

/// The text of a request's params.
fn body_text(request: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        params: &'a serde_json::value::RawValue,
    }
    serde_json::from_str::<Body<'_>>(request).unwrap().params.get().to_owned()
}

/// Servers take such segments out of a path, and the one before with them: that would be another agent's place.
#[tokio::test(start_paused = true)]
async fn a_tenant_that_is_a_step_in_a_path_is_never_set_there() {
    for tenant in [".", ".."] {
        let cards = Cards::default().put(
            "https://agent.example.com/agents/one/.well-known/agent-card.json",
            Card::default()
                .interface("https://agent.example.com/agents/one", "HTTP+JSON", "1.0")
                .tenant(tenant)
                .with("extendedAgentCard"),
        );
        let mut request = Rest.send();
        *request.uri_mut() = "https://agent.example.com/agents/one/message:send".parse().unwrap();
        request.headers_mut().insert("authorization", "Bearer one".parse().unwrap());
        let (ended, sent) = through(layer(&cards).extended_card(true), request).await;
        assert_eq!((ended.word().as_str(), sent.is_none()), ("card/tenant_mismatch", true), "{tenant}");
        let stepped = cards.urls().into_iter().find(|url| url.contains("/./") || url.contains("/../"));
        assert_eq!(stepped, None);
    }
}

/// A caller of a gateway may be hostile: what one reader takes for the tenant, and another does not, is refused.
#[tokio::test(start_paused = true)]
async fn no_spelling_gets_around_it() {
    // The card has one.
    for params in [
        r#"{"tenant":"acme","tenant":"evil"}"#,
        r#"{"tenant":"evil","tenant":"acme","tenant":""}"#,
        r#"{"tenant":"acme","tenant":null}"#,
        r#"{"tenant":"acme","tenant":{}}"#,
        r#"{"tenant":"acme","tenant":""}"#,
        r#"{"tenant":"acme"},"params":{}"#,
        r#"{"tenant":"acme"},"params":null"#,
        r#"{"tenant":"acme"},"params":{"tenant":"evil"}"#,
        r#"{"tenant":"acme"},"params":[]"#,
        r#"{"tenant":"acme"},"p\u0061rams":{}"#,
        r#"{"ten\u0061nt":"evil"}"#,
        r#"{"tenant":{"x":1}}"#,
        r#"{"tenant":7}"#,
    ] {
        let (ended, sent) = once(acme(), with_params(params)).await;
        assert_eq!(ended.word(), "card/tenant_mismatch", "{params}");
        assert!(sent.is_none());
    }
    // The card has none.
    for params in [r#"{"ten\u0061nt":"evil"}"#, r#"{"tenant":"","tenant":"evil"}"#, r#"{},"params":{"tenant":"evil"}"#]
    {
        let (ended, sent) = once(Card::plain(), with_params(params)).await;
        assert_eq!(ended.word(), "card/tenant_mismatch", "{params}");
        assert!(sent.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn over_http_json_neither_body_nor_query_names_another() {
    let to = |method: &str, path: &str, body: &str| {
        let mut request = Rest.request(method, path, body.to_owned());
        *request.uri_mut() = format!("https://agent.example.com{path}").parse().unwrap();
        request
    };
    let message = r#""message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}"#;
    let named = format!(r#"{{"tenant":"evil",{message}}}"#);
    for card in [Card::rest(), Card::rest().tenant("acme")] {
        for (method, path, body) in [
            ("POST", "/message:send", &*named),
            ("POST", "/acme/message:send", &named),
            ("GET", "/tasks/t-1?tenant=evil", ""),
            ("GET", "/tasks/t-1?historyLength=1&tenant=evil", ""),
            ("GET", "/tasks?ten%61nt=evil", ""),
            ("POST", "/tasks/t-1:cancel?tenant=evil", "{}"),
            ("POST", "/tasks/t-1:cancel", r#"{"tenant":"evil"}"#),
            ("GET", "/tasks?tenant=acme&tenant=evil", ""),
        ] {
            let cards = Cards::default().put(ROOT, Page::from(card.clone()).max_age(300));
            let agent = Peer::new((0..4).map(|_| Answer::json(Rest.bare_task("COMPLETED"))));
            let mut service = guard(layer(&cards), &agent);
            // The first is good, so that the card is held and remembered.
            for _ in 0..2 {
                let ended = call(&mut service, to("GET", "/tasks/t-1", "")).await;
                assert_eq!(ended.word(), "success/success");
            }
            let ended = call(&mut service, to(method, path, body)).await;
            let is_path = path.starts_with("/acme") && card.json().contains("acme");
            let expected =
                if is_path || !path.starts_with("/acme") { "card/tenant_mismatch" } else { "card/url_mismatch" };
            assert_eq!(ended.word(), expected, "{method} {path} {body} {}", card.json());
        }
    }
}
