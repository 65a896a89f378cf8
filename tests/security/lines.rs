//! Log injection: whatever a peer or a caller of a gateway writes, `Display` and `Debug` of what comes of it are one
//! line.

use a2a_guard::{Call, CallError, TerminalStateLayer, card_consistency::Route};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;

use crate::{
    mock::{Answer, Dialect, MockBody, call},
    probing,
    support::{Card, Cards, Page, ROOT, layer, once, through},
    texts::{assert_harmless, hostile, hostile_json},
};

use Dialect::{Rest, V1};

/// So long a line may be: every text in it is cut.
const LONGEST: usize = 8192;

#[track_caller]
fn check(what: &str, error: &CallError) {
    for text in [format!("{error}"), format!("{error:?}")] {
        assert_harmless(what, &text, LONGEST);
    }
    // What the caller itself says, as `Debug` of the standard library escapes it.
    let call = format!("{:?}", error.call());
    assert!(!call.contains(['\n', '\r', '\u{1b}', '\u{2028}', '\u{202e}']), "{what}: {call}");
}

/// An answer with header fields that no text of Rust's could hold.
fn with_headers(status: u16, headers: &[(&'static str, &[u8])], body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(MockBody::new().data(body));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
    for (name, value) in headers {
        response.headers_mut().append(*name, HeaderValue::from_bytes(value).unwrap());
    }
    Answer::response(response)
}

/// What of a hostile text may stand in a field at all: everything but control characters.
fn field() -> Vec<u8> {
    hostile().chars().filter(|c| !c.is_ascii_control()).collect::<String>().into_bytes()
}

fn percent_encoded(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>().into_bytes()
}

fn of_skill(mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    request.extensions_mut().insert(Call::new().with_skill(hostile()).with_region(hostile()));
    request
}

fn grpc(method: &str) -> Request<Full<Bytes>> {
    Request::post(format!("https://agent.example.com/lf.a2a.v1.A2AService/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::from(&[0, 0, 0, 0, 0][..]))
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn texts_of_an_answer() {
    let (text, field) = (hostile_json(), field());
    let json = ("content-type", &b"application/json"[..]);
    let rpc = |more: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32004,"message":{text}{more}}}}}"#);
    let info = format!(
        r#"{{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":{text},"domain":{text},"metadata":{{{text}:{text},"region":{text}}}}}"#
    );
    let status = format!(r#"{{"error":{{"code":400,"status":{text},"message":{text},"details":[{info}]}}}}"#);
    let problem = format!(r#"{{"type":{text},"title":{text},"detail":{text},"status":400}}"#);
    let skills = format!(r#","data":{{"region":{text},"availableSkills":[{text},{text}]}}"#);
    let task = format!(r#"{{"task":{{"id":{text},"contextId":{text},"status":{{"state":{text}}}}}}}"#);
    let working = task.replace(&format!(r#""state":{text}"#), r#""state":"TASK_STATE_WORKING""#);
    let id = format!(r#"{{"jsonrpc":{text},"id":{text},"result":{task}}}"#);
    let page = |status| with_headers(status, &[("content-type", &field)], hostile());
    let encoded = percent_encoded(&hostile());
    let rows = [
        ("a message", V1.get(), Answer::json(rpc(""))),
        ("a region and skills", of_skill(V1.send()), Answer::json(rpc(&skills))),
        ("a status", Rest.send(), with_headers(400, &[json], status)),
        ("a problem", Rest.send(), with_headers(400, &[("content-type", b"application/problem+json")], problem)),
        ("mere words", Rest.send(), with_headers(500, &[json], format!(r#"{{"message":{text}}}"#))),
        ("a media type", V1.send(), page(200)),
        ("a page", V1.send(), page(502)),
        ("a coding", V1.send(), with_headers(200, &[json, ("content-encoding", &field)], "x")),
        ("a place to go", V1.send(), with_headers(307, &[("location", &field)], "")),
        ("a challenge", V1.send(), with_headers(401, &[("www-authenticate", &field)], "")),
        ("a time to wait", V1.send(), with_headers(503, &[("retry-after", &field)], "")),
        ("an id of another call", V1.send(), Answer::json(id)),
        ("a task that is lost", V1.stream(), Answer::sse(MockBody::of([V1.event(&working)]))),
        (
            "a message of gRPC",
            grpc("GetTask"),
            with_headers(
                200,
                &[("content-type", b"application/grpc"), ("grpc-status", b"5"), ("grpc-message", &encoded)],
                "",
            ),
        ),
        (
            "a message of gRPC as it is, and a status that is none",
            grpc("GetTask"),
            with_headers(
                200,
                &[("content-type", b"application/grpc"), ("grpc-status", &field), ("grpc-message", &field)],
                "",
            ),
        ),
    ];
    for (what, request, answer) in rows {
        let ended = call(TerminalStateLayer::builder(), request, answer).await;
        check(what, ended.error());
    }
}

/// A path is the target's, and a target may be what a caller of a gateway, or a card, names.
#[tokio::test(start_paused = true)]
async fn paths_of_a_target() {
    let odd: String = hostile().chars().filter(|c| !c.is_ascii_control() && !"\"\\' ".contains(*c)).collect();
    let uri: Uri = format!("https://agent.example.com/{odd}").parse().expect("the `http` crate takes it");
    let at = |mut request: Request<Full<Bytes>>| {
        *request.uri_mut() = uri.clone();
        request
    };
    let ended = call(TerminalStateLayer::builder(), at(V1.send()), Answer::json("")).await;
    check("a path", ended.error());
    let (ended, _) = through(layer(&Cards::default()), at(V1.send())).await;
    check("a card below such a path", ended.error());
    let long: Uri = format!("https://agent.example.com/{}", "a/".repeat(30_000)).parse().unwrap();
    let mut request = V1.send();
    *request.uri_mut() = long;
    let (ended, _) = through(layer(&Cards::default()), request).await;
    check("a path without end", ended.error());
}

#[tokio::test(start_paused = true)]
async fn texts_of_a_card() {
    let text = hostile_json();
    let member = |name: &str| Card::plain().json().replacen('{', &format!(r#"{{{name}:{text},"#), 1);
    let url = format!("https://agent.example.com/{}", hostile().replace(['"', '\\', '\n', '\r', '\0'], ""));
    let rows: Vec<(&str, String)> = vec![
        ("a field that nobody knows", member(&text)),
        ("a field that stands there twice", member("\"name\"").replacen('{', &format!(r#"{{"name":{text},"#), 1)),
        ("a list that is a text", Card::plain().json().replace(r#""skills":["#, &format!(r#""skills":{text},"x":["#))),
        (
            "a binding",
            Card::default().interface("https://agent.example.com/a2a", "X", "1.0").json().replace(r#""X""#, &text),
        ),
        (
            "a version",
            Card::default().interface("https://agent.example.com/a2a", "JSONRPC", "X").json().replace(r#""X""#, &text),
        ),
        ("a tenant", Card::plain().tenant("X").json().replace(r#""X""#, &text)),
        ("an extension", Card::plain().requires("X").json().replace(r#""X""#, &text)),
        ("a URL", Card::default().at("X").json().replace(r#""X""#, &serde_json::Value::from(url).to_string())),
        ("a page", hostile()),
    ];
    for (what, card) in rows {
        let mut request = V1.rpc("GetTask", r#""id":"t","tenant":"other""#);
        request.headers_mut().insert("a2a-version", HeaderValue::from_static("1.0"));
        let (ended, _) = once(Page::text(card, "application/json"), request).await;
        if let Some(error) = &ended.error {
            check(what, error);
        }
        assert!(ended.error.is_some() || what.starts_with("a field that nobody"), "{what}");
    }
}

/// A card that is a hint names the target, whose path then stands in every line about the call.
#[tokio::test(start_paused = true)]
async fn a_hint_writes_no_lines() {
    let path: String = hostile().chars().filter(|c| !c.is_ascii_control() && !"\"\\' ".contains(*c)).collect();
    let url = format!("https://agent.example.com/{path}");
    let hint = Card::default().at("X").json().replace(r#""X""#, &serde_json::Value::from(url).to_string());
    let cards = Cards::default().put(ROOT, Page::text(hint, "application/json"));
    let route = Route::new(cards.store(), "https://agent.example.com".parse().unwrap());
    let (ended, _) = through(layer(&cards).resolver(route), V1.send()).await;
    check("a target out of a hint", ended.error());
}

/// User information and queries hold passwords and keys.
#[tokio::test(start_paused = true)]
async fn no_line_has_what_is_secret_in_a_uri() {
    let to = |uri: &str| {
        let mut request = V1.send();
        *request.uri_mut() = uri.parse().unwrap();
        request
    };
    let (cards, agent) = (Cards::default(), probing::Agent::willing());
    let base = |uri: &str| Route::new(cards.store(), uri.parse().unwrap());
    let probes = probing::builder(&agent).build().unwrap();
    let rows = [
        ("relative", through(layer(&cards), to("/a2a?key=s3cret")).await.0),
        ("relative, at probes", probing::call(&mut probing::guard(&probes, &agent), to("/a2a?key=s3cret")).await),
        ("a scheme", through(layer(&cards), to("ftp://me:s3cret@agent.example.com/a2a?key=s3cret")).await.0),
        ("no card", through(layer(&cards), to("https://me:s3cret@agent.example.com/a2a?key=s3cret")).await.0),
        (
            "a base",
            through(layer(&cards).resolver(base("ftp://me:s3cret@agent.example.com/?key=s3cret")), V1.send()).await.0,
        ),
        (
            "a base without a card",
            through(layer(&cards).resolver(base("https://me:s3cret@agent.example.com/?key=s3cret")), V1.send()).await.0,
        ),
    ];
    for (what, ended) in rows {
        let line = ended.error().to_string();
        assert!(!line.contains("s3cret"), "{what}: {line}");
        let mut source = std::error::Error::source(ended.error());
        while let Some(error) = source {
            assert!(!error.to_string().contains("s3cret"), "{what}: {error}");
            source = error.source();
        }
    }
}
