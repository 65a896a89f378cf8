//! The layers' own requests: for cards, probes, and about tasks that calls left behind. They carry what a call's own
//! fields say of who calls and for whom, and nothing that speaks for the call's body or connection, by which a server
//! in between could be made to see two requests where there is one.

use a2a_guard::{Recovery, TerminalStateLayer};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::Full;

use crate::{
    mock::{Answer, Dialect, MockBody, Peer, call},
    probing,
    support::{Card, Cards, layer, through},
};

use Dialect::{Rest, V1};

/// Of one connection (RFC 9110 §7.6.1), of one body (§8; RFC 9530; RFC 9421), of one try (§10.1.1, §13, §14).
const OF_THIS_REQUEST: [(&str, &str); 24] = [
    ("connection", "keep-alive, x-hop"),
    ("keep-alive", "timeout=5"),
    ("proxy-connection", "keep-alive"),
    ("transfer-encoding", "chunked"),
    ("te", "trailers, deflate"),
    ("trailer", "x-late"),
    ("upgrade", "h2c"),
    ("http2-settings", "AAMAAABkAAQAoAAAAAIAAAAA"),
    ("content-length", "9999"),
    ("content-encoding", "gzip"),
    ("content-digest", "sha-256=:AAAA:"),
    ("repr-digest", "sha-256=:AAAA:"),
    ("digest", "sha-256=AAAA"),
    ("content-md5", "AAAA"),
    ("x-amz-content-sha256", "0000"),
    ("signature", "sig1=:AAAA:"),
    ("signature-input", "sig1=()"),
    ("expect", "100-continue"),
    ("range", "bytes=0-0"),
    ("if-range", "\"x\""),
    ("if-none-match", "\"x\""),
    ("if-match", "\"x\""),
    ("if-modified-since", "Sun, 29 Nov 2026 20:00:00 GMT"),
    ("if-unmodified-since", "Sun, 29 Nov 2026 20:00:00 GMT"),
];

fn laden(mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    for (name, value) in OF_THIS_REQUEST {
        request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    request.headers_mut().insert("authorization", HeaderValue::from_static("Bearer t"));
    request.headers_mut().insert("x-hop", HeaderValue::from_static("1"));
    request
}

/// What a layer writes itself may stand there; what the call had may not.
#[track_caller]
fn check(what: &str, headers: &HeaderMap) {
    for (name, value) in OF_THIS_REQUEST {
        let repeated = headers.get_all(name).iter().any(|there| there == value);
        assert!(!repeated, "{what}: {name} in {headers:?}");
    }
    assert!(!headers.contains_key("x-hop"), "{what}: what `Connection` names, in {headers:?}");
}

#[tokio::test(start_paused = true)]
async fn questions_for_cards() {
    let cards = Cards::of(Card::plain());
    through(layer(&cards), laden(V1.send())).await;
    assert_eq!(cards.count(), 1);
    check("a card", &cards.asked()[0].headers);
}

#[tokio::test(start_paused = true)]
async fn probes() {
    for request in [V1.send(), Rest.send()] {
        let agent = probing::Agent::willing();
        let (mut service, _) = probing::usual(&agent);
        probing::call(&mut service, laden(request)).await;
        let asked = agent.asked();
        let probe = asked.iter().find(|asked| asked.is_probe()).expect("a probe");
        check("a probe", &probe.headers);
        assert_eq!(probe.header("authorization"), Some("Bearer t"));
    }
}

#[tokio::test(start_paused = true)]
async fn requests_about_tasks() {
    for dialect in Dialect::ALL {
        let aside: Peer<Full<Bytes>> = Peer::new((0..2).map(|_| Answer::new(404, "text/plain", MockBody::new())));
        let recovery = Recovery::new(aside.clone()).reconcile().cancel_on_failure();
        let lost = Answer::sse(MockBody::of([dialect.task_event("WORKING")]));
        let ended = call(TerminalStateLayer::builder().recovery(recovery), laden(dialect.stream()), lost).await;
        assert_eq!(ended.word(), "broken/truncated", "{dialect:?}");
        tokio::task::yield_now().await;
        let requests = aside.requests();
        assert!(!requests.is_empty(), "{dialect:?}");
        for request in requests {
            check(&format!("{dialect:?} {}", request.uri()), request.headers());
            assert_eq!(request.headers()["authorization"], "Bearer t");
            assert_eq!(request.uri().authority().unwrap(), "agent.example.com");
        }
    }
}

/// An id out of an answer is a text in a request about it: it stays one segment, and one line.
#[tokio::test(start_paused = true)]
async fn ids_out_of_answers() {
    for id in ["../../admin", "a/b", "a?x=1", "a#b", "a\\r\\nHost: evil", "%2e%2e%2f", "\\u202e", "a:cancel", ".", ".."]
    {
        let aside: Peer<Full<Bytes>> = Peer::new([Answer::new(404, "text/plain", MockBody::new())]);
        let recovery = Recovery::new(aside.clone()).reconcile();
        let event = Rest.event(&Rest.task("WORKING").replace("task-1", id));
        call(TerminalStateLayer::builder().recovery(recovery), Rest.stream(), Answer::sse(MockBody::of([event]))).await;
        for request in aside.requests() {
            let uri = request.uri();
            assert_eq!(uri.authority().unwrap(), "agent.example.com", "{id}");
            let segment = uri.path().strip_prefix("/tasks/").unwrap_or_else(|| panic!("{id}: {uri}"));
            assert!(!segment.contains('/') && uri.query().is_none() && !matches!(segment, "." | ".."), "{id}: {uri}");
        }
    }
}
