//! What `RefusalResponseLayer` writes for people and programs above: texts that do no harm, fields that are in range,
//! and no field of a peer's that would speak for the connection.

use std::convert::Infallible;

use a2a_guard::{
    CallBody, CallError, CallLayer, CardFailure, RefusalResponseLayer, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, Resolution, Resolve},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower::{Layer, Service, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody, Peer},
    support::{Card, Cards, Page},
    texts::{assert_harmless, hostile, hostile_json},
};

use Dialect::{Rest, V1, V03};

struct Got {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

async fn call(request: Request<Full<Bytes>>, answer: Answer) -> Got {
    let peer: Peer<CallBody<Full<Bytes>>> = Peer::new([answer]);
    let ending = TerminalStateLayer::builder().limits(a2a_guard::Limits::default().max_refusal(100)).build().unwrap();
    let mut stack = CallLayer::new().layer(RefusalResponseLayer::new().layer(ending.layer(peer)));
    let Ok::<_, Infallible>(ready) = stack.ready().await;
    let Ok::<_, Infallible>(response) = ready.call(request).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body: String::from_utf8(body).unwrap() }
}

fn answer(status: u16, headers: &[(&'static str, &str)], body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(MockBody::new().data(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    for (name, value) in headers {
        response.headers_mut().append(*name, HeaderValue::from_str(value).unwrap());
    }
    Answer::response(response)
}

/// Every text in a document.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| texts(value, into)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            into.push(name.clone());
            texts(value, into);
        }),
        _ => {}
    }
}

/// A refusal of which only the beginning was kept is written anew, out of what its peer said.
#[tokio::test(start_paused = true)]
async fn texts_of_a_peer() {
    let text = hostile_json();
    let error = format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32004,"message":{text},"data":{{"region":{text},"availableSkills":[{text}]}}}}}}"#
    );
    let status = format!(r#"{{"error":{{"code":400,"status":{text},"message":{text},"details":[]}}}}"#);
    for (what, request, refusal) in [
        ("JSON-RPC 1.0", V1.send(), answer(200, &[("content-type", "application/json")], error.clone())),
        ("JSON-RPC 0.3", V03.send(), answer(200, &[("content-type", "application/json")], error)),
        ("HTTP+JSON", Rest.send(), answer(400, &[("content-type", "application/json")], status)),
        ("a page", V1.send(), answer(200, &[("content-type", "text/html")], hostile())),
    ] {
        let got = call(request, refusal).await;
        let document: Value = serde_json::from_str(&got.body).unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut all = Vec::new();
        texts(&document, &mut all);
        assert!(all.len() > 10, "{what}: {}", got.body);
        for text in all {
            assert_harmless(what, &text, 4096);
        }
        assert!(got.body.len() < 16 << 10, "{what}: {} bytes", got.body.len());
    }
}

/// `google.protobuf.Duration` ends with the year 9999 (ten thousand years, 315,576,000,000 s); what is longer, a reader
/// of ProtoJSON takes for an error of the whole answer.
#[tokio::test(start_paused = true)]
async fn a_time_to_wait_that_nobody_lives_to_see() {
    for after in ["1000000000000000000", "18446744073709551615"] {
        for request in [V1.send(), Rest.send(), V03.send()] {
            let page = "x".repeat(1000);
            let got = call(request, answer(503, &[("retry-after", after), ("content-type", "text/plain")], page)).await;
            let document: Value = serde_json::from_str(&got.body).unwrap();
            let mut all = Vec::new();
            texts(&document, &mut all);
            let delay = all.iter().position(|text| text.ends_with("google.rpc.RetryInfo"));
            let delay = delay.and_then(|_| all.iter().find_map(|text| text.strip_suffix('s')?.parse::<u64>().ok()));
            assert!(delay.is_some_and(|seconds| seconds <= 315_576_000_000), "{after}: {}", got.body);
        }
    }
}

/// Fields that speak for one connection, or for a body that another is sent in place of, end where they came from.
#[tokio::test(start_paused = true)]
async fn fields_of_a_connection_end_there() {
    let connection = [
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "1"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "keep-alive"),
        ("transfer-encoding", "chunked"),
        ("te", "trailers"),
        ("upgrade", "h2c"),
        ("content-length", "7"),
    ];
    let headers = |more: &[(&'static str, &'static str)]| [&connection[..], more].concat();
    let good_length = V1.error(-32001).len().to_string();
    let rows = [
        ("handed on", V1.send(), answer(200, &headers(&[("content-type", "application/json")]), V1.error(-32001))),
        ("written anew", V1.send(), answer(429, &headers(&[("content-type", "text/plain")]), "x".repeat(1000))),
        (
            "of two lengths",
            V1.send(),
            answer(
                200,
                &[("content-length", &good_length), ("content-length", "1"), ("content-type", "application/json")],
                V1.error(-32001),
            ),
        ),
        ("of a page", Rest.send(), answer(500, &headers(&[("content-type", "text/html")]), "<html>")),
    ];
    for (what, request, refusal) in rows {
        let got = call(request, refusal).await;
        for (name, _) in connection.iter().filter(|(name, _)| *name != "content-length") {
            assert!(!got.headers.contains_key(*name), "{what}, {}: {name} in {:?}", got.status, got.headers);
        }
        for length in got.headers.get_all("content-length") {
            assert_eq!(length.to_str().unwrap(), got.body.len().to_string(), "{what}");
        }
    }
}

/// An id comes back as it was, whatever its length, or as `null`: never cut to another call's.
#[tokio::test(start_paused = true)]
async fn ids_of_a_megabyte() {
    for length in [10, 1024, 1025, 1 << 20] {
        let id = "i".repeat(length);
        let body = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"GetTask","params":{{"id":"t"}}}}"#);
        let got = call(V1.request("POST", "/a2a", body), Answer::json("<")).await;
        let document: Value = serde_json::from_str(&got.body).unwrap();
        assert!(document["id"] == id || document["id"].is_null(), "{length}");
        assert!(got.body.len() < 4096, "{length}: {} bytes", got.body.len());
        // An answer whose id is its beginning is no answer to it.
        let cut = format!(r#"{{"jsonrpc":"2.0","id":"{}","result":{}}}"#, &id[..length / 2], V1.bare_task("COMPLETED"));
        let got = call(V1.rpc("GetTask", r#""id":"t""#), Answer::json(cut)).await;
        let document: Value = serde_json::from_str(&got.body).unwrap();
        assert_eq!(document["error"]["code"], -32006, "{length}: {}", got.body);
    }
}

/// Where the agent and its card are, and what a resolver or a verifier of the user's own says of them, is in the
/// operator's line alone: a gateway's callers are strangers.
#[tokio::test(start_paused = true)]
async fn the_way_to_a_card_is_nobody_elses_business() {
    let inside = "https://agent.inside.example/a2a";
    let at = |page: Page| Cards::default().put("https://agent.inside.example/.well-known/agent-card.json", page);
    let card = |url: &str| Page::from(Card::default().at(url));
    let challenge = || Page::status(401).header("www-authenticate", "Bearer realm=\"x\"");
    let rows = [
        ("card/not_found", Cards::default(), "no card"),
        ("card/unauthorized", at(challenge()), "wants other credentials, HTTP 401 (Bearer"),
        ("card/http_status", at(Page::status(500)), "HTTP 500 for the card"),
        (
            "card/not_json",
            at(Page::text("<html>", "text/html")),
            "no card in JSON: another media type than JSON (text/html)",
        ),
        ("card/too_large", at(Page::text(" ".repeat(300 << 10), "application/json")), "larger than 262144 bytes"),
        ("card/missing_field", at(Page::text("{}", "application/json")), "the card's"),
        ("card/url_mismatch", at(card("https://agent.inside.example/other")), "its path is not the target's"),
        ("card/url_mismatch", at(card("https://other.inside.example/a2a")), "its authority is not the target's"),
        ("card/unusable_url", at(card("https://agent.inside.example/a2a/message:send")), "a URL that cannot be called"),
    ];
    for (word, cards, said) in rows {
        let (outcome, class) = word.split_once('/').unwrap();
        for dialect in [V1, V03] {
            let mut request = dialect.send();
            *request.uri_mut() = inside.parse().unwrap();
            let (text, line) = rendered(CardConsistencyLayer::new(cards.store()), request).await;
            assert!(text.contains(&format!("\"outcome\":\"{outcome}\"")), "{word}: {text}");
            assert!(text.contains(&format!("\"class\":\"{class}\"")), "{word}: {text}");
            assert!(text.contains(said), "{word}: {text}");
            assert!(!text.contains("inside"), "{word}: {text}");
            assert!(line.contains("https://agent.inside.example"), "{word}: {line}");
        }
    }
    let cards = Cards::default();
    for failure in [
        CardFailure::unusable_url("https://vault.inside.example", "no lease at vault.inside.example"),
        CardFailure::not_found(vec!["https://vault.inside.example".parse().unwrap()]),
    ] {
        let resolver = Refusing(failure);
        let (text, line) = rendered(CardConsistencyLayer::new(cards.store()).resolver(resolver), V1.send()).await;
        assert!(!text.contains("inside") && line.contains("vault.inside.example"), "{text} {line}");
    }
}

#[derive(Debug)]
struct Refusing(CardFailure);

impl Resolve for Refusing {
    fn resolve(&self, _: &http::request::Parts, _: &a2a_guard::Call) -> Resolution {
        Resolution::Refused(self.0.clone())
    }
}

/// What a caller gets of a call that its card refuses, and the operator's line about it.
async fn rendered<R>(layer: CardConsistencyLayer<R>, request: Request<Full<Bytes>>) -> (String, String)
where
    R: Resolve,
{
    let peer: Peer<CallBody<Full<Bytes>>> = Peer::new([]);
    let ending = TerminalStateLayer::new().layer(peer);
    let stack = CallLayer::new().layer(RefusalResponseLayer::new().layer(layer.layer(ending)));
    let Ok::<_, Infallible>(response) = stack.oneshot(request).await;
    let line = response.extensions().get::<CallError>().unwrap().to_string();
    let headers = format!("{:?}", response.headers());
    let body = response.into_body().collect().await.unwrap().to_bytes().to_vec();
    (format!("{headers}{}", String::from_utf8(body).unwrap()), line)
}
