//! Small things that want to become large: what a peer sends costs what it weighs, in time and in what is kept of it.
//!
//! Times are the processor's, with much room: what is linear here takes milliseconds, what is not takes minutes.

use std::time::Duration;

use a2a_guard::{CallError, Limits, TerminalStateLayer, card::UrlPolicy, card_consistency::Route};
use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;

use crate::{
    mock::{Answer, Dialect, MockBody, call},
    spent::Spent,
    support::{self, Card, Cards, Page, ROOT, guard, layer, willing},
};

use Dialect::{Rest, V1};

const AT_MOST: Duration = Duration::from_secs(10);

#[track_caller]
fn in_time(what: &str, began: Spent) {
    let took = began.so_far();
    assert!(took < AT_MOST, "{what}: {took:?}");
}

/// What is kept of an error, however much it says.
#[track_caller]
fn bounded(what: &str, error: &CallError) {
    let lengths = [error.peer_message(), error.reason(), error.region()].map(|text| text.map_or(0, str::len));
    assert!(lengths.iter().all(|length| *length <= 1024), "{what}: {lengths:?}");
    if let Some(skills) = error.available_skills() {
        assert!(skills.len() <= 64 && skills.iter().all(|skill| skill.len() <= 256), "{what}: {}", skills.len());
    }
    assert!(error.to_string().len() < 8192, "{what}");
}

/// Details that nest, repeat, count and grow, as the `data` of an error.
fn details(size: usize) -> Vec<(&'static str, String)> {
    let repeat = |text: &str| text.repeat(size / text.len());
    let list = |item: &str| format!("[{}null]", repeat(&format!("{item},")));
    vec![
        ("lists in lists", format!("{}{}", "[".repeat(size / 2), "]".repeat(size / 2))),
        ("objects in objects", format!("{}1{}", r#"{"a":"#.repeat(size / 6), "}".repeat(size / 6))),
        ("lists side by side", list("[]")),
        ("objects side by side", list("{}")),
        ("details side by side", list(r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R"}"#)),
        ("one name many times", format!(r#"{{{}"region":"eu"}}"#, repeat(r#""region":"us","#))),
        ("many names", format!("{{{}\"z\":1}}", (0..size / 12).map(|n| format!(r#""n{n}":1,"#)).collect::<String>())),
        ("a number of many digits", "9".repeat(size)),
        ("a number that nothing holds", "1e999999999".to_owned()),
        ("many such numbers", list("-1e99999")),
        ("skills side by side", format!(r#"{{"availableSkills":{}}}"#, list("\"s\""))),
        ("a skill of a megabyte", format!(r#"{{"availableSkills":["{}"]}}"#, "s".repeat(size))),
        ("skills in a text", format!(r#"{{"availableSkills":"{}"}}"#, repeat("s,"))),
        ("skills in JSON in a text", format!(r#"{{"availableSkills":"{}"}}"#, "[".repeat(size))),
        ("escapes", format!(r#"{{"region":"{}"}}"#, repeat("\\u202e"))),
        ("half a character, many times", format!(r#"{{"region":"{}"}}"#, repeat("\\ud83d"))),
        ("violations", format!(r#"[{{"@type":"x/google.rpc.BadRequest","fieldViolations":{}}}]"#, list("{}"))),
        (
            "metadata",
            format!(
                r#"[{{"@type":"x/google.rpc.ErrorInfo","metadata":{{{}"z":1}}}}]"#,
                (0..size / 12).map(|n| format!(r#""n{n}":{{}},"#)).collect::<String>()
            ),
        ),
    ]
}

/// Below what is kept of a refusal, and far above.
#[tokio::test(start_paused = true)]
async fn details_of_errors() {
    for size in [60 << 10, 1 << 20] {
        for (what, data) in details(size) {
            let rpc = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32004,"message":"no","data":{data}}}}}"#);
            let status =
                format!(r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","message":"no","details":{data}}}}}"#);
            let event = format!("data: {rpc}\n\n");
            let json = |status, body: String| Answer::new(status, "application/json", MockBody::new().data(body));
            for (how, request, answer) in [
                ("in an answer", V1.send(), json(200, rpc.clone())),
                ("under a status", V1.send(), json(400, rpc)),
                ("over HTTP+JSON", Rest.send(), json(429, status)),
                ("in an event", V1.stream(), Answer::sse(MockBody::of([V1.task_event("WORKING")]).data(event))),
            ] {
                let what = format!("{what}, {how}, {size} bytes");
                let began = Spent::from_now();
                let ended = call(TerminalStateLayer::builder(), request, answer).await;
                in_time(&what, began);
                let error = ended.error();
                assert!(ended.word().starts_with("refused/") || ended.word().starts_with("broken/"), "{what}: {error}");
                bounded(&what, error);
            }
        }
    }
}

/// Header fields, as they come.
type Fields = Vec<(&'static str, Vec<u8>)>;

fn grpc_refusal(fields: &Fields) -> Answer {
    let mut response = Response::new(MockBody::new());
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    for (name, value) in fields {
        response.headers_mut().append(*name, HeaderValue::from_bytes(value).unwrap());
    }
    Answer::response(response)
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::new();
    for chunk in bytes.chunks(3) {
        let three = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or_default()));
        let bits = three[0] << 16 | three[1] << 8 | three[2];
        text.extend(
            [18, 12, 6, 0].into_iter().take(chunk.len() + 1).map(|shift| ALPHABET[(bits >> shift & 63) as usize]),
        );
    }
    text
}

/// A field of bytes: its tag, its length, the bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(bytes);
    field
}

#[tokio::test(start_paused = true)]
async fn trailers_of_grpc() {
    let request = || {
        Request::post("https://agent.example.com/lf.a2a.v1.A2AService/GetTask")
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::<Bytes>::from(&[0, 0, 0, 0, 0][..]))
            .unwrap()
    };
    let any = |value: &[u8]| [field(1, b"type.googleapis.com/google.protobuf.Struct"), field(2, value)].concat();
    // Structs in structs: as deep as so many bytes go.
    let nested =
        (0..4000).fold(Vec::new(), |inner, _| field(1, &[field(1, b"a"), field(2, &field(5, &inner))].concat()));
    let flat = field(
        1,
        &[field(1, b"availableSkills"), field(2, &field(6, &field(1, &field(3, b"s")).repeat(4000)))].concat(),
    );
    let many = field(3, &any(b"")).repeat(800);
    let endless = [vec![0x1a], vec![0xff; 40_000]].concat();
    let details = |status: &[u8]| ("grpc-status-details-bin", base64(status));
    let rows: Vec<(&str, Fields)> = vec![
        ("escapes of a megabyte", vec![("grpc-message", b"%41".repeat(350_000))]),
        ("escapes of escapes", vec![("grpc-message", b"%25".repeat(350_000))]),
        ("escapes of half a character", vec![("grpc-message", b"%f0%9f".repeat(150_000))]),
        ("percent signs", vec![("grpc-message", b"%".repeat(1 << 20))]),
        ("details of a megabyte", vec![("grpc-status-details-bin", b"A".repeat(1 << 20))]),
        ("many details", (0..1000).map(|_| ("grpc-status-details-bin", b"!,".repeat(100))).collect()),
        ("commas", vec![("grpc-status-details-bin", b",".repeat(60_000))]),
        ("structs in structs", vec![details(&field(3, &any(&nested)))]),
        ("many skills", vec![details(&field(3, &any(&flat)))]),
        ("many messages", vec![details(&many)]),
        ("a length without end", vec![details(&endless)]),
    ];
    for (what, mut fields) in rows {
        fields.insert(0, ("grpc-status", b"9".to_vec()));
        let began = Spent::from_now();
        let ended = call(TerminalStateLayer::builder(), request(), grpc_refusal(&fields)).await;
        in_time(what, began);
        assert_eq!(ended.word(), "refused/peer_error", "{what}");
        bounded(what, ended.error());
    }
}

/// The URL of an interface is compared on the way of a call: one with all the pairs in its query that there is room
/// for.
#[tokio::test(start_paused = true)]
async fn queries_of_a_card() {
    let distinct =
        |prefix: &str| (0..12_000 / (1 + prefix.len())).map(|n| format!("{prefix}{n:x}&")).collect::<String>();
    for (pair, query) in [
        ("one many times", "a&".repeat(30_000)),
        ("one escaped", "%61&".repeat(15_000)),
        ("versions", "A2A-Version=1&".repeat(4_000)),
        ("each another", distinct("")),
        ("each another, and long", distinct("abcdefghijkl=")),
    ] {
        let url = format!("https://agent.example.com/a2a?{query}");
        let card = Card::default().at(&url);
        let cards = Cards::default().put(ROOT, card.clone()).put(crate::support::AGENT, card);
        let route = Route::new(cards.store(), "https://agent.example.com".parse().unwrap());
        let began = Spent::from_now();
        let mut service = guard(layer(&cards).resolver(route), &willing(1));
        let ended = support::call(&mut service, V1.send()).await;
        in_time(pair, began);
        assert_eq!(ended.word(), "success/success", "{pair}: {:?}", ended.error);
        // The same where only the order differs, or nothing fits.
        let mut request = V1.send();
        *request.uri_mut() = format!("https://agent.example.com/a2a?{query}b").parse().unwrap();
        let began = Spent::from_now();
        let _ = support::call(&mut guard(layer(&cards), &willing(1)), request).await;
        in_time(pair, began);
    }
}

/// Cards of 256 KiB that are all interfaces, extensions or skills: the first call pays for reading one, and none pays
/// much.
#[tokio::test(start_paused = true)]
async fn lists_of_a_card() {
    let interfaces = (0..2000).fold(Card::default(), |card, n| card.at(&format!("https://agent.example.com/{n}/a2a")));
    let tenants = (0..1800)
        .fold(Card::default(), |card, n| card.at("https://agent.example.com/a2a").tenant(["a", "b", "c"][n % 3]));
    let foreign =
        (0..2000).fold(Card::default(), |card, n| card.interface("https://agent.example.com/a2a", "X", &n.to_string()));
    let extensions = (0..7000).fold(Card::plain(), |card, n| card.offers(&format!("urn:x:{n}")));
    for (what, card) in [
        ("interfaces", interfaces.at("https://agent.example.com/a2a")),
        ("tenants", tenants),
        ("bindings", foreign.at("https://agent.example.com/a2a")),
        ("extensions", extensions),
    ] {
        assert!(card.json().len() < 256 << 10, "{what}: {}", card.json().len());
        let cards = Cards::of(Page::from(card).max_age(300));
        let mut service = guard(layer(&cards).urls(UrlPolicy::strict()), &willing(200));
        let began = Spent::from_now();
        for _ in 0..200 {
            let _ =
                support::call(&mut service, V1.rpc("SendMessage", r#""message":{"messageId":"m"},"tenant":"a""#)).await;
        }
        in_time(what, began);
        assert_eq!(cards.count(), 1, "{what}");
    }
}

/// Whether a refusal contradicts a card's media types is looked up in the card, by the parts of the request: both may
/// be long.
#[tokio::test(start_paused = true)]
async fn modes_of_a_card() {
    let modes: String = (0..10_000).map(|n| format!(r#""a/{n}","#)).collect();
    let skills: String =
        (0..2_000).map(|n| format!(r#"{{"id":"{n}","name":"n","description":"d","tags":[]}},"#)).collect();
    let card = Card::plain().json();
    let card = card.replace(r#"["text/plain"]"#, &format!(r#"[{modes}"text/plain"]"#));
    let card = card.replace(r#""skills":["#, &format!(r#""skills":[{skills}"#));
    assert!(card.len() > 250 << 10);
    let cards = Cards::of(Page::text(card, "application/json").max_age(300));
    let store = cards.builder().max_card_bytes(512 << 10).build().unwrap();
    let plain = r#"{"text":"x"}"#.to_owned();
    let own = |n: usize| format!(r#"{{"text":"x","mediaType":"a/{}"}}"#, 9_999 - n);
    let (few, same) = ([plain.clone(), own(0)].join(","), vec![plain; 10_000].join(","));
    let many = (0..5_000).map(own).collect::<Vec<_>>().join(",");
    for (what, parts) in [("few parts", few), ("many parts of one kind", same), ("each of another kind", many)] {
        let agent = support::agent([Answer::json(V1.error(-32005))]);
        let mut service = guard(a2a_guard::card_consistency::CardConsistencyLayer::new(store.clone()), &agent);
        let params = format!(r#""message":{{"messageId":"m","role":"ROLE_USER","parts":[{parts}]}}"#);
        let began = Spent::from_now();
        let ended = support::call(&mut service, V1.rpc("SendMessage", &params)).await;
        in_time(what, began);
        assert_eq!(ended.word(), "refused/peer_error", "{what}");
    }
}

/// Below a layer that decompresses, a body is as large as its peer likes: the caps count what comes out of it.
#[tokio::test(start_paused = true)]
async fn bodies_that_inflate() {
    let limits = || Limits::default().max_unary_body(1 << 20).max_event(1 << 20).max_refusal(64 << 10);
    let zeros = || Bytes::from(vec![b'0'; 64 << 10]);
    let body = |start: &'static str| MockBody::new().data(start).forever(zeros(), Duration::ZERO);
    for (what, request, answer, word) in [
        ("a document", V1.send(), Answer::new(200, "application/json", body("{\"a\":\"")), "broken/too_large"),
        ("an event", V1.stream(), Answer::sse(body("data: {\"a\":\"")), "broken/too_large"),
        ("a comment", V1.stream(), Answer::sse(body(":")), "broken/too_large"),
        ("a refusal", Rest.send(), Answer::new(503, "text/plain", body("no")), "refused/unavailable"),
        ("a page", V1.send(), Answer::new(200, "text/html", body("<")), "broken/wrong_media_type"),
    ] {
        let ended = call(TerminalStateLayer::builder().limits(limits()), request, answer).await;
        assert_eq!(ended.word(), word, "{what}");
        let kept = ended.error().response().map_or(0, |response| response.body.len());
        assert!(kept <= 64 << 10, "{what}: {kept}");
    }
}
