//! The extended card over gRPC (§3.1.11, §10): one message, asked for in the call's own package.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use a2a_guard::{
    Call, CallBody, CallLayer, Operation, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
    wire::grpc::encode::Message,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Request, Response, Version};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use tower::{Layer, Service};

use crate::{
    mock::{Answer, MockBody, ms, s},
    support::{Agent, Card, agent, call},
};

const HOST: &str = "https://agent.example.com";
const V1: &str = "lf.a2a.v1.A2AService";
const V03: &str = "a2a.v1.A2AService";
const REFUSED: &str = "card/capability_missing";
const SUCCESS: &str = "success/success";

/// What everybody sees: it does not stream.
fn public() -> String {
    Card::default().interface(HOST, "GRPC", "1.0").with("extendedAgentCard").json()
}

fn public_of(tenant: &str) -> String {
    Card::default().interface(HOST, "GRPC", "1.0").tenant(tenant).with("extendedAgentCard").json()
}

/// What those see who are known: it does.
fn fuller_at(url: &str) -> Message {
    Message::new()
        .text(1, "A")
        .text(2, "d")
        .message(3, Message::new().text(1, url).text(2, "GRPC").text(4, "1.0"))
        .text(5, "1")
        .message(7, Message::new().number(1, 1).number(4, 1))
        .text(10, "text/plain")
        .text(11, "text/plain")
        .message(12, Message::new().text(1, "s").text(2, "S").text(3, "d").text(4, "t"))
}

fn fuller() -> Message {
    fuller_at(HOST)
}

/// What an agent answers to `GetExtendedAgentCard`.
#[derive(Clone, Debug)]
struct Reply {
    status: u16,
    media: &'static str,
    head: Vec<(&'static str, String)>,
    body: Bytes,
    trailers: Option<Vec<(&'static str, String)>>,
    after: std::time::Duration,
}

impl Reply {
    fn card(card: &Message) -> Self {
        Self::bytes(card.framed().unwrap())
    }

    fn bytes(body: impl Into<Bytes>) -> Self {
        Self {
            status: 200,
            media: "application/grpc+proto",
            head: Vec::new(),
            body: body.into(),
            trailers: Some(vec![("grpc-status", "0".to_owned())]),
            after: s(0),
        }
    }

    /// A head that is also the end.
    fn refused(code: u8) -> Self {
        let head = vec![("grpc-status", code.to_string()), ("grpc-message", "no".to_owned())];
        Self { head, trailers: None, ..Self::bytes(Bytes::new()) }
    }

    fn refused_behind_its_head(code: u8) -> Self {
        Self { trailers: Some(vec![("grpc-status", code.to_string())]), ..Self::bytes(Bytes::new()) }
    }

    fn reason(mut self, code: u64, reason: &str) -> Self {
        let info = Message::new().text(1, reason).text(2, "a2a-protocol.org");
        self.head.push(("grpc-status-details-bin", details(code, "google.rpc.ErrorInfo", info)));
        self
    }

    fn retry_after(mut self, code: u64, seconds: u64) -> Self {
        let delay = Message::new().message(1, Message::new().number(1, seconds));
        self.head.push(("grpc-status-details-bin", details(code, "google.rpc.RetryInfo", delay)));
        self
    }
}

fn details(code: u64, name: &str, detail: Message) -> String {
    let any = Message::new().text(1, &format!("type.googleapis.com/{name}")).message(2, detail);
    let status = Message::new().number(1, code).text(2, "no").message(3, any);
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in status.as_bytes().chunks(3) {
        let bits = three.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        (0..=three.len()).for_each(|at| text.push(char::from(ALPHABET[(bits >> (18 - 6 * at) & 63) as usize])));
    }
    text
}

/// Where cards come from: the public one over HTTP, the extended one over gRPC, for the credential `Bearer one`.
#[derive(Clone)]
struct Source {
    public: String,
    reply: Reply,
    asked: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Source {
    fn new(public: String, reply: Reply) -> Self {
        Self { public, reply, asked: Arc::default() }
    }

    fn store(&self) -> CardStore {
        CardStore::builder(self.clone()).build().unwrap()
    }

    /// Through the client that is usually given: one whose answers are judged.
    fn judged(&self) -> CardStore {
        CardStore::builder(CallLayer::new().layer(TerminalStateLayer::new().layer(self.clone()))).build().unwrap()
    }

    fn questions(&self) -> Vec<Request<Bytes>> {
        self.asked.lock().unwrap().clone()
    }
}

impl Service<Request<CallBody<Full<Bytes>>>> for Source {
    type Response = Response<UnsyncBoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<CallBody<Full<Bytes>>>) -> Self::Future {
        let Self { public, reply, asked } = self.clone();
        Box::pin(async move {
            if request.method() == Method::GET {
                let response = Response::builder().header("content-type", "application/json");
                let page = response.header("cache-control", "max-age=300");
                return Ok(page.body(Full::from(public).boxed_unsync()).unwrap());
            }
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            asked.lock().unwrap().push(Request::from_parts(head, body));
            tokio::time::sleep(reply.after).await;
            let mut response = Response::builder().status(reply.status).header("content-type", reply.media);
            for (name, value) in reply.head {
                response = response.header(name, value);
            }
            let body = Full::from(reply.body);
            let body = match reply.trailers {
                Some(trailers) => {
                    let fields: HeaderMap = trailers
                        .into_iter()
                        .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
                        .collect();
                    body.with_trailers(async move { Some(Ok(fields)) }).boxed_unsync()
                }
                None => body.boxed_unsync(),
            };
            Ok(response.body(body).unwrap())
        })
    }
}

fn layer(store: CardStore) -> CardConsistencyLayer {
    CardConsistencyLayer::new(store).extended_card(true)
}

fn willing(times: usize) -> Agent {
    agent((0..times).map(|_| Answer::new(200, "application/grpc", MockBody::new().trailers("grpc-status", "0"))))
}

fn guard(layer: CardConsistencyLayer, agent: &Agent) -> impl Guarded {
    CallLayer::new().layer(layer.layer(agent.clone()))
}

trait Guarded:
    Service<
        Request<Full<Bytes>>,
        Response = Response<a2a_guard::card_consistency::CardConsistencyBody<MockBody>>,
        Error = a2a_guard::CallError,
        Future: Send,
    > + Clone
    + Send
    + 'static
{
}

impl<S> Guarded for S where
    S: Service<
            Request<Full<Bytes>>,
            Response = Response<a2a_guard::card_consistency::CardConsistencyBody<MockBody>>,
            Error = a2a_guard::CallError,
            Future: Send,
        > + Clone
        + Send
        + 'static
{
}

fn to(service: &str, method: &str, who: Option<&str>) -> Request<Full<Bytes>> {
    let mut request = Request::post(format!("{HOST}/{service}/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    if let Some(who) = who {
        request = request.header("authorization", format!("Bearer {who}"));
    }
    request.body(Full::from(Message::new().framed().unwrap())).unwrap()
}

fn stream(who: &str) -> Request<Full<Bytes>> {
    to(V1, "SendStreamingMessage", Some(who))
}

#[tokio::test(start_paused = true)]
async fn it_stands_in_for_the_public_one_for_its_credential() {
    for judged in [false, true] {
        let source = Source::new(public(), Reply::card(&fuller()));
        let store = if judged { source.judged() } else { source.store() };
        let agent = willing(2);
        let mut service = guard(layer(store.clone()), &agent);
        for (who, word) in [(None, REFUSED), (Some("one"), SUCCESS), (Some("one"), SUCCESS), (None, REFUSED)] {
            assert_eq!(call(&mut service, to(V1, "SendStreamingMessage", who)).await.word(), word, "{who:?}");
        }
        assert_eq!((source.questions().len(), agent.requests().len()), (1, 2), "once, judged: {judged}");
        let entries = store.snapshot();
        let extended = entries.iter().find(|entry| entry.extended).unwrap();
        let at = extended.location.as_ref().unwrap().to_string();
        assert_eq!(at, format!("{HOST}/{V1}/GetExtendedAgentCard"));
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_asked_for_as_a_grpc_client_would() {
    let source = Source::new(public(), Reply::card(&fuller()));
    let mut request = stream("one");
    request.headers_mut().insert("a2a-extensions", "https://ext.example.com/one".parse().unwrap());
    request.headers_mut().insert("x-request-id", "7".parse().unwrap());
    assert_eq!(call(&mut guard(layer(source.store()), &willing(1)), request).await.word(), SUCCESS);
    let asked = source.questions().pop().unwrap();
    assert_eq!((asked.method(), asked.version()), (&Method::POST, Version::HTTP_2));
    assert_eq!(asked.uri(), &*format!("{HOST}/{V1}/GetExtendedAgentCard"));
    assert_eq!(asked.body(), &Message::new().framed().unwrap());
    let header = |name: &str| asked.headers().get(name).map(|value| value.to_str().unwrap());
    assert_eq!((header("content-type"), header("te")), (Some("application/grpc"), Some("trailers")));
    assert_eq!((header("authorization"), header("a2a-version")), (Some("Bearer one"), Some("1.0")));
    assert_eq!(header("a2a-extensions"), Some("https://ext.example.com/one"));
    assert_eq!((header("x-request-id"), header("accept")), (None, None));
    let named = asked.extensions().get::<Call>().unwrap();
    assert_eq!(named.operation(), Some(Operation::GetExtendedAgentCard));
}

#[tokio::test(start_paused = true)]
async fn the_tenant_is_the_interfaces() {
    let card = |tenant: &str| {
        let interface = Message::new().text(1, HOST).text(2, "GRPC").text(3, tenant).text(4, "1.0");
        fuller().message(3, interface)
    };
    let source = Source::new(public_of("acme"), Reply::card(&card("acme")));
    assert_eq!(call(&mut guard(layer(source.store()), &willing(1)), stream("one")).await.word(), SUCCESS);
    assert_eq!(source.questions()[0].body(), &Message::new().text(1, "acme").framed().unwrap());
}

#[tokio::test(start_paused = true)]
async fn in_0_3_it_has_another_name_and_no_tenant() {
    let public = format!(
        r#"{{"name":"A","url":"{HOST}","preferredTransport":"GRPC","protocolVersion":"0.3.0","capabilities":{{}},"supportsAuthenticatedExtendedCard":true}}"#
    );
    let card = Message::new()
        .text(1, "A")
        .text(3, HOST)
        .text(14, "GRPC")
        .text(16, "0.3.0")
        .message(7, Message::new().number(1, 1))
        .number(13, 1);
    let source = Source::new(public, Reply::card(&card));
    let mut service = guard(layer(source.store()), &willing(1));
    assert_eq!(call(&mut service, to(V03, "SendStreamingMessage", Some("one"))).await.word(), SUCCESS);
    let asked = source.questions().pop().unwrap();
    assert_eq!(asked.uri(), &*format!("{HOST}/{V03}/GetAgentCard"));
    assert_eq!(asked.body(), &Message::new().framed().unwrap());
    assert!(!asked.headers().contains_key("a2a-version"));
}

/// Whatever is wrong leaves the public card, and is remembered for as long as its cause is.
#[tokio::test(start_paused = true)]
async fn what_fails_leaves_the_public_one() {
    let not_configured = "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
    let [cut, twice, packed] = {
        let card = fuller().framed().unwrap();
        [card.slice(..40), [&card[..], &card].concat().into(), [&[1], &card[1..]].concat().into()]
    };
    let with = |media, status| Reply { media, status, ..Reply::card(&fuller()) };
    let cases = [
        (Reply::refused(9).reason(9, not_configured), 60, "-32007"),
        (Reply::refused(9).reason(9, "UNSUPPORTED_OPERATION"), 60, "-32004"),
        (Reply::refused(12), 60, "no such method"),
        (Reply::refused_behind_its_head(12), 60, "no such method, told late"),
        (Reply::refused(9), 5, "one of six errors"),
        (Reply::refused(16), 30, "credentials"),
        (Reply::refused(7), 30, "no permission"),
        (Reply::refused(14), 5, "not there just now"),
        (Reply::refused(8).retry_after(8, 40), 40, "too often"),
        (Reply::refused(13), 5, "its own fault"),
        (Reply::bytes(Bytes::new()), 30, "no message"),
        (Reply::bytes(cut), 30, "half a message"),
        (Reply::bytes(twice), 30, "two messages"),
        (Reply::bytes(packed), 30, "a compressed message, and no coding"),
        (Reply::card(&Message::new()), 30, "an empty message"),
        (Reply::card(&fuller().bytes(1, b"\xff")), 30, "no UTF-8"),
        (Reply::card(&fuller().text(2, &"x".repeat(300_000))), 30, "too much"),
        (Reply { trailers: None, ..Reply::card(&fuller()) }, 30, "no status"),
        (with("application/json", 200), 30, "another media type"),
        (with("text/html", 404), 60, "a page"),
        (with("text/html", 502), 5, "a proxy's page"),
        (Reply::card(&fuller_at("https://other.example.com")), 5, "another agent's card"),
    ];
    for (reply, seconds, what) in cases {
        let source = Source::new(public(), reply);
        let mut service = guard(layer(source.store()), &willing(3));
        for (after, asked) in [(s(0), 1), (s(seconds) - ms(1), 1), (ms(1), 2)] {
            tokio::time::advance(after).await;
            assert_eq!(call(&mut service, to(V1, "SendMessage", Some("one"))).await.word(), SUCCESS, "{what}");
            assert_eq!(source.questions().len(), asked, "{what} after {after:?}");
        }
        assert_eq!(call(&mut service, stream("one")).await.word(), REFUSED, "{what}");
    }
}

/// Through a client that judges answers, each refusal is the error that it was.
#[tokio::test(start_paused = true)]
async fn so_it_does_through_a_client_that_judges() {
    let not_configured = "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
    for (reply, seconds, what) in [
        (Reply::refused(9).reason(9, not_configured), 60, "-32007"),
        (Reply::refused(12), 60, "no such method"),
        (Reply::refused(9), 5, "one of six errors"),
        (Reply::refused(16), 30, "credentials"),
        (Reply::refused(14), 5, "not there just now"),
        (Reply::refused(8).retry_after(8, 40), 40, "too often"),
    ] {
        let source = Source::new(public(), reply);
        let mut service = guard(layer(source.judged()), &willing(3));
        for (after, asked) in [(s(0), 1), (s(seconds) - ms(1), 1), (ms(1), 2)] {
            tokio::time::advance(after).await;
            assert_eq!(call(&mut service, to(V1, "SendMessage", Some("one"))).await.word(), SUCCESS, "{what}");
            assert_eq!(source.questions().len(), asked, "{what} after {after:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_ask_once() {
    let source = Source::new(public(), Reply { after: s(1), ..Reply::card(&fuller()) });
    let service = guard(layer(source.store()), &willing(1000));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..1000 {
        let mut service = service.clone();
        calls.spawn(async move { call(&mut service, stream("one")).await.word() });
    }
    assert!(calls.join_all().await.iter().all(|word| word == SUCCESS));
    assert_eq!(source.questions().len(), 1);
}

/// A verifier sees the card as the other bindings have it.
#[tokio::test(start_paused = true)]
async fn a_verifier_is_shown_json() {
    let source = Source::new(public(), Reply::card(&fuller()));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let verifier = {
        let seen = Arc::clone(&seen);
        move |evidence: &a2a_guard::card_consistency::CardEvidence<'_>| {
            let card: serde_json::Value = serde_json::from_slice(evidence.bytes).unwrap();
            seen.lock().unwrap().push(card["capabilities"]["streaming"].clone());
            Ok(())
        }
    };
    let store = CardStore::builder(source.clone()).verifier(Arc::new(verifier)).build().unwrap();
    assert_eq!(call(&mut guard(layer(store), &willing(1)), stream("one")).await.word(), SUCCESS);
    assert_eq!(*seen.lock().unwrap(), [serde_json::Value::Null, true.into()]);
}

/// What the call itself sends is left as it is.
#[tokio::test(start_paused = true)]
async fn the_call_is_not_changed_by_it() {
    let source = Source::new(public(), Reply::card(&fuller()));
    let agent = willing(1);
    assert_eq!(call(&mut guard(layer(source.store()), &agent), stream("one")).await.word(), SUCCESS);
    let sent: Request<CallBody<Full<Bytes>>> = agent.requests().pop().unwrap();
    assert_eq!(sent.uri().path(), format!("/{V1}/SendStreamingMessage"));
    assert_eq!(sent.into_body().collect().await.unwrap().to_bytes(), Message::new().framed().unwrap());
}
