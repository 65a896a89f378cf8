//! What each answer to a probe says: proved, disproved, or unknown.

use std::io;

use a2a_guard::{
    CallLayer, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
};
use bytes::Bytes;
use http_body_util::Full;
use tower::Layer;

use crate::{
    mock::{Answer, Dialect, MockBody},
    support::{Agent, Asked, builder, call, does, html, refused_probe, usual},
};

use Dialect::{Rest, V1, V02, V03};

const PROVED: (&str, bool) = ("success/success", true);
const DISPROVED: (&str, bool) = ("stale/endpoint_not_conforming", false);
const UNKNOWN: (&str, bool) = ("success/success", false);

/// How a call ends whose endpoint answers a probe so, and whether that alone makes the endpoint trusted.
async fn verdict(dialect: Dialect, answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> (String, bool) {
    let agent = Agent::new(move |asked| if asked.is_probe() { answer(asked) } else { does(asked) });
    let (mut service, layer) = usual(&agent);
    let word = call(&mut service, dialect.send()).await.word();
    // What a call proves is not what is asked here: the next one finds the endpoint as the probe left it.
    drop(service);
    let (mut service, unproved) = usual(&agent);
    let before = agent.probes();
    agent.change_calls();
    call(&mut service, dialect.send()).await;
    assert_eq!(agent.probes(), before + 1);
    let trusted = matches!(unproved.endpoints()[0].state, a2a_guard::probe_cache::EndpointState::Trusted { .. });
    drop(layer);
    (word, trusted)
}

impl Agent {
    /// Calls are refused from now on, and prove nothing.
    fn change_calls(&self) {
        let before = self.mind();
        self.change(
            move |asked| {
                if asked.is_probe() { before(asked) } else { Answer::new(500, "text/plain", MockBody::new()) }
            },
        );
    }
}

async fn check<F>(dialect: Dialect, rows: Vec<(&'static str, F, (&'static str, bool))>)
where
    F: Fn(&Asked) -> Answer + Send + Sync + 'static,
{
    for (what, answer, (word, trusted)) in rows {
        assert_eq!(verdict(dialect, answer).await, (word.to_owned(), trusted), "{dialect:?}: {what}");
    }
}

type Mind = Box<dyn Fn(&Asked) -> Answer + Send + Sync>;

fn mind(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Mind {
    Box::new(answer)
}

fn page(status: u16, media: &'static str, body: &'static str) -> Mind {
    mind(move |_| Answer::new(status, media, MockBody::new().data(body)))
}

fn result(dialect: Dialect, result: &str) -> Mind {
    let body = match dialect {
        Rest => result.to_owned(),
        _ => format!(r#"{{"jsonrpc":"2.0","id":"a2a-guard-probe","result":{result}}}"#),
    };
    mind(move |_| Answer::json(body.clone()))
}

#[tokio::test(start_paused = true)]
async fn over_json_rpc() {
    let code = |code: i64| mind(move |_| refused_probe(code));
    let under = |status: u16, code: i64| {
        mind(move |_| {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":"a2a-guard-probe","error":{{"code":{code},"message":"no"}}}}"#);
            Answer::new(status, "application/json", MockBody::new().data(body))
        })
    };
    let reason = mind(|_| {
        crate::support::rpc_error(
            &"a2a-guard-probe".into(),
            -32000,
            r#","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]"#,
        )
    });
    let rows = vec![
        ("-32001", code(-32001), PROVED),
        ("-32001 under 404", under(404, -32001), PROVED),
        ("-32001 under 400", under(400, -32001), PROVED),
        ("the reason, under another code", reason, PROVED),
        ("a task after all", result(V1, &V1.bare_task("COMPLETED")), PROVED),
        ("-32601", code(-32601), DISPROVED),
        ("-32602", code(-32602), DISPROVED),
        ("-32004", code(-32004), DISPROVED),
        ("HTML under 200", page(200, "text/html", "<html>"), DISPROVED),
        ("HTML under 400", page(400, "text/html", "<html>"), DISPROVED),
        ("HTML under 404", page(404, "text/html", "<html>"), DISPROVED),
        ("a bare 404", page(404, "text/plain", ""), DISPROVED),
        ("words of HTTP+JSON under 404", page(404, "application/json", r#"{"detail":"Task not found"}"#), DISPROVED),
        ("a bare 405", page(405, "text/plain", ""), DISPROVED),
        ("401", page(401, "text/html", "<html>"), UNKNOWN),
        ("403", page(403, "text/html", "<html>"), UNKNOWN),
        ("-32601 under 401", under(401, -32601), UNKNOWN),
        ("429", page(429, "text/plain", ""), UNKNOWN),
        ("500", page(500, "text/plain", "Internal Server Error"), UNKNOWN),
        ("HTML under 502", page(502, "text/html", "<html>"), UNKNOWN),
        ("503", page(503, "text/html", "<html>"), UNKNOWN),
        ("a redirect", page(307, "text/html", "<html>"), UNKNOWN),
        ("-32603", code(-32603), UNKNOWN),
        ("-32008", code(-32008), UNKNOWN),
        ("-32009", code(-32009), UNKNOWN),
        ("-32600", code(-32600), UNKNOWN),
        ("cut JSON", page(200, "application/json", r#"{"jsonrpc":"#), UNKNOWN),
        ("another call's answer", page(200, "application/json", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), UNKNOWN),
        ("a lost connection", mind(|_| Answer::lost(io::ErrorKind::ConnectionReset)), UNKNOWN),
        ("a refused connection", mind(|_| Answer::lost(io::ErrorKind::ConnectionRefused)), UNKNOWN),
        ("nothing", mind(|_| Answer::never()), UNKNOWN),
        ("half a body", mind(|_| Answer::new(200, "application/json", MockBody::new().data("{").hang())), UNKNOWN),
        (
            "an endless body",
            mind(|_| {
                Answer::new(
                    200,
                    "application/json",
                    MockBody::new().data("[").forever(vec![b'1'; 4096], crate::mock::ms(0)),
                )
            }),
            UNKNOWN,
        ),
    ];
    check(V1, rows).await;
    for dialect in [V03, V02] {
        let rows = vec![
            ("-32001", code(-32001), PROVED),
            ("a task after all", result(dialect, &dialect.bare_task("COMPLETED")), PROVED),
            ("-32601", code(-32601), DISPROVED),
            ("HTML", mind(|_| html(200)), DISPROVED),
            ("-32603", code(-32603), UNKNOWN),
        ];
        check(dialect, rows).await;
    }
}

#[tokio::test(start_paused = true)]
async fn over_http_json() {
    let status = |status: u16, name: &str, reason: &str| {
        let info = match reason {
            "" => String::new(),
            reason => format!(
                r#"{{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"{reason}","domain":"a2a-protocol.org"}}"#
            ),
        };
        let body = format!(r#"{{"error":{{"code":{status},"status":"{name}","message":"no","details":[{info}]}}}}"#);
        mind(move |_| Answer::new(status, "application/json", MockBody::new().data(body.clone())))
    };
    let problem = r#"{"type":"https://a2a-protocol.org/errors/task-not-found","title":"no"}"#;
    let rows = vec![
        ("the reason", status(404, "NOT_FOUND", "TASK_NOT_FOUND"), PROVED),
        ("NOT_FOUND alone", status(404, "NOT_FOUND", ""), PROVED),
        ("a bare code", page(404, "application/json", r#"{"code":-32001,"message":"Task not found"}"#), PROVED),
        ("a problem", page(404, "application/problem+json", problem), PROVED),
        ("words under 404", page(404, "application/json", r#"{"detail":"Task not found"}"#), PROVED),
        ("a task after all", result(Rest, &Rest.bare_task("COMPLETED")), PROVED),
        ("the status's own words", page(404, "application/json", r#"{"detail":"Not Found"}"#), DISPROVED),
        ("words under another status", page(400, "application/json", r#"{"detail":"Task not found"}"#), UNKNOWN),
        ("UNIMPLEMENTED", status(501, "UNIMPLEMENTED", ""), DISPROVED),
        ("-32004's reason", status(400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"), DISPROVED),
        ("a bare 404", page(404, "text/plain", ""), DISPROVED),
        ("a bare 405", page(405, "text/plain", ""), DISPROVED),
        ("HTML", page(200, "text/html", "<html>"), DISPROVED),
        ("XHTML", page(200, "application/xhtml+xml; charset=utf-8", "<html>"), DISPROVED),
        ("another document", page(200, "application/xml", "<html>"), UNKNOWN),
        ("HTML of a proxy", page(502, "text/html", "<html>"), UNKNOWN),
        ("FAILED_PRECONDITION alone", status(400, "FAILED_PRECONDITION", ""), UNKNOWN),
        ("-32008's reason", status(400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"), UNKNOWN),
        ("401", status(401, "UNAUTHENTICATED", ""), UNKNOWN),
        ("500", status(500, "INTERNAL", ""), UNKNOWN),
    ];
    check(Rest, rows).await;
}

/// A call that was shown it doubts the card that led there, also one of a store that this layer knows nothing of. Those
/// that are only told again say nothing new.
#[tokio::test(start_paused = true)]
async fn the_card_that_led_to_a_page_is_doubted_by_the_call_that_asked() {
    const CARD: &str = r#"{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;
    let agent = Agent::probed(|| html(200));
    let cards = CardStore::builder::<_, Full<Bytes>, _>(agent.clone()).build().unwrap();
    let probing = builder(&agent).build().unwrap().layer(TerminalStateLayer::new().layer(agent.clone()));
    let mut service = CallLayer::new().layer(CardConsistencyLayer::new(cards.clone()).layer(probing));
    for doubted in [true, false] {
        cards.put(&"https://agent.example.com/a2a".parse().unwrap(), CARD.into()).await.unwrap();
        assert_eq!(call(&mut service, V1.send()).await.word(), DISPROVED.0);
        assert_eq!(cards.snapshot()[0].distrusted, doubted);
    }
}

/// A sign-in page is shown to who is not signed in. Who is must not be refused for it.
#[tokio::test(start_paused = true)]
async fn a_page_is_held_against_the_caller_who_got_it_until_another_gets_it_too() {
    let signed_in = |token: &'static str| {
        let mut request = V1.send();
        request.headers_mut().insert("authorization", token.parse().unwrap());
        request
    };
    let agent = Agent::new(|asked| match asked.header("authorization") {
        Some("Bearer good") if asked.is_probe() => refused_probe(-32001),
        Some("Bearer good") => does(asked),
        _ => html(200),
    });
    let (mut service, _layer) = usual(&agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), DISPROVED.0);
    assert_eq!(call(&mut service, V1.send()).await.word(), DISPROVED.0);
    assert_eq!(agent.probes(), 1);
    assert_eq!(call(&mut service, signed_in("Bearer good")).await.word(), "success/success");
    assert_eq!(agent.probes(), 2);

    let (mut service, _layer) = usual(&agent);
    assert_eq!(call(&mut service, signed_in("Bearer bad")).await.word(), DISPROVED.0);
    assert_eq!(call(&mut service, V1.send()).await.word(), DISPROVED.0);
    assert_eq!(agent.probes(), 4);
    // Two witnesses: nobody else is asked before it is time again.
    assert_eq!(call(&mut service, signed_in("Bearer third")).await.word(), DISPROVED.0);
    assert_eq!(agent.probes(), 4);

    // Who waits for a probe of another's is told of its own.
    let slow = Agent::new(|asked| match asked.header("authorization") {
        Some(_) if asked.is_probe() => refused_probe(-32001).after(crate::mock::s(1)),
        Some(_) => does(asked),
        None => html(200).after(crate::mock::s(1)),
    });
    let (service, _layer) = usual(&slow);
    let calls = [V1.send(), V1.send(), signed_in("Bearer good")].map(|request| {
        let mut service = service.clone();
        tokio::spawn(async move {
            let ended = call(&mut service, request).await;
            (ended.word(), ended.elapsed)
        })
    });
    let mut ended = Vec::new();
    for call in calls {
        ended.push(call.await.unwrap());
    }
    let page = (DISPROVED.0.to_owned(), crate::mock::s(1));
    assert_eq!(ended, [page.clone(), page, ("success/success".to_owned(), crate::mock::s(2))]);
    assert_eq!(slow.probes(), 2);

    // A typed error is no page, and one witness is enough.
    let agent = Agent::probed(|| refused_probe(-32601));
    let (mut service, _layer) = usual(&agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), DISPROVED.0);
    assert_eq!(call(&mut service, signed_in("Bearer good")).await.word(), DISPROVED.0);
    assert_eq!(agent.probes(), 1);
}
