//! gRPC calls are held to cards like all others: version by package, interface by authority, tenant in the message.

use a2a_guard::{
    CallBody, CallLayer, CardFailure,
    card::{Origin, UrlPolicy},
    card_consistency::{CardConsistencyLayer, Resolve, Route},
    wire::grpc::encode::Message,
};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tower::Layer;

use crate::{
    mock::{Answer, Ended, MockBody},
    support::{Agent, Card, Cards, Page, ROOT, agent, call, failure, guard},
};

const HOST: &str = "https://agent.example.com";
const V1: &str = "lf.a2a.v1.A2AService";
const V03: &str = "a2a.v1.A2AService";

/// Each operation of 1.0, and the field of its request that is the tenant.
const OPERATIONS: [(&str, u32); 11] = [
    ("SendMessage", 1),
    ("SendStreamingMessage", 1),
    ("GetTask", 1),
    ("ListTasks", 1),
    ("CancelTask", 1),
    ("SubscribeToTask", 1),
    ("CreateTaskPushNotificationConfig", 1),
    ("GetTaskPushNotificationConfig", 1),
    ("ListTaskPushNotificationConfigs", 4),
    ("DeleteTaskPushNotificationConfig", 1),
    ("GetExtendedAgentCard", 1),
];

fn all(card: Card) -> Card {
    card.with("streaming").with("pushNotifications").with("extendedAgentCard")
}

fn grpc(url: &str, version: &str) -> Card {
    all(Card::default().interface(url, "GRPC", version))
}

fn cards(card: Card) -> Cards {
    Cards::default().put(ROOT, Page::from(card).max_age(300))
}

/// A message that is none of any operation's in particular: all of them skip field 15.
fn message() -> Message {
    Message::new().text(15, "kept as it is")
}

fn request(service: &str, method: &str, body: Bytes) -> Request<Full<Bytes>> {
    Request::post(format!("{HOST}/{service}/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::from(body))
        .unwrap()
}

fn framed(method: &str) -> Request<Full<Bytes>> {
    request(V1, method, message().framed().unwrap())
}

/// Without a `TerminalStateLayer`: what is answered is no matter here.
async fn through<R>(
    layer: CardConsistencyLayer<R>,
    request: Request<Full<Bytes>>,
) -> (Ended, Option<Request<CallBody<Full<Bytes>>>>)
where
    R: Resolve,
{
    let agent: Agent = agent([Answer::new(200, "application/grpc", MockBody::new().trailers("grpc-status", "0"))]);
    let ended = call(&mut CallLayer::new().layer(layer.layer(agent.clone())), request).await;
    (ended, agent.requests().pop())
}

fn layer(card: Card) -> CardConsistencyLayer {
    CardConsistencyLayer::new(cards(card).store())
}

async fn bytes(request: Request<CallBody<Full<Bytes>>>) -> Bytes {
    request.into_body().collect().await.unwrap().to_bytes()
}

#[tokio::test(start_paused = true)]
async fn the_tenant_is_appended_to_the_message_of_each_operation() {
    for (method, field) in OPERATIONS {
        let mut request = framed(method);
        let before = message().framed().unwrap();
        request.headers_mut().insert("content-length", before.len().into());
        let (ended, sent) = through(layer(grpc(HOST, "1.0").tenant("acme")), request).await;
        assert_eq!(ended.word(), "success/success", "{method}");
        let sent = sent.unwrap();
        assert_eq!(sent.headers()["a2a-version"], "1.0");
        assert_eq!(sent.extensions().get::<a2a_guard::Call>().unwrap().tenant(), Some("acme"));
        let length = sent.headers()["content-length"].to_str().unwrap().to_owned();
        let after = bytes(sent).await;
        assert_eq!(length, after.len().to_string());
        assert_eq!(after, message().text(field, "acme").framed().unwrap(), "{method}");
        assert_eq!(after[5..before.len()], before[5..], "all other bytes stay");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_is_there_stays_and_another_is_refused() {
    for (method, field) in OPERATIONS {
        let with = |tenant: &str| request(V1, method, message().text(field, tenant).framed().unwrap());
        let (ended, sent) = through(layer(grpc(HOST, "1.0").tenant("acme")), with("acme")).await;
        assert_eq!(ended.word(), "success/success", "{method}");
        assert_eq!(bytes(sent.unwrap()).await, message().text(field, "acme").framed().unwrap());
        let (ended, sent) = through(layer(grpc(HOST, "1.0").tenant("acme")), with("other")).await;
        assert_eq!(ended.word(), "card/tenant_mismatch", "{method}");
        assert!(sent.is_none());
        // The empty one is none, and the last of a kind counts.
        let (_, sent) = through(layer(grpc(HOST, "1.0").tenant("acme")), with("")).await;
        let expected = message().text(field, "").text(field, "acme").framed().unwrap();
        assert_eq!(bytes(sent.unwrap()).await, expected, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_tenant_in_the_card_not_a_byte_changes() {
    for (method, _) in OPERATIONS {
        let (ended, sent) = through(layer(grpc(HOST, "1.0")), framed(method)).await;
        assert_eq!(ended.word(), "success/success", "{method}");
        assert_eq!(bytes(sent.unwrap()).await, message().framed().unwrap());
    }
}

/// Requests of 0.3 have no tenant, and none is written into them.
#[tokio::test(start_paused = true)]
async fn the_older_package_is_another_version_and_knows_no_tenant() {
    for method in ["SendMessage", "GetTask", "TaskSubscription", "ListTaskPushNotificationConfig", "GetAgentCard"] {
        let old = || request(V03, method, message().framed().unwrap());
        let (ended, sent) = through(layer(grpc(HOST, "0.3").tenant("acme")), old()).await;
        assert_eq!(ended.word(), "success/success", "{method}");
        let sent = sent.unwrap();
        assert!(!sent.headers().contains_key("a2a-version"));
        assert_eq!(bytes(sent).await, message().framed().unwrap());
        let (ended, sent) = through(layer(grpc(HOST, "1.0")), old()).await;
        assert_eq!((ended.word().as_str(), sent.is_none()), ("card/unsupported_version", true));
    }
    let (ended, _) = through(layer(grpc(HOST, "0.3")), framed("GetTask")).await;
    assert_eq!(ended.word(), "card/unsupported_version");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_rewritten_is_refused() {
    let acme = || layer(grpc(HOST, "1.0").tenant("acme"));
    let compressed = Bytes::from_static(b"\x01\0\0\0\x01x");
    let two = [message().framed().unwrap(), message().framed().unwrap()].concat();
    for (body, why) in [
        (compressed, "the request message is compressed"),
        (two.into(), "the request is not one whole message"),
        (Bytes::from_static(b"\0\0\0\0\x09short"), "the request is not one whole message"),
        (Bytes::new(), "the message is not all at hand"),
    ] {
        let (ended, sent) = through(acme(), request(V1, "SendMessage", body)).await;
        assert_eq!(ended.word(), "card/tenant_mismatch", "{why}");
        assert!(ended.error().to_string().contains(why), "{}", ended.error());
        assert!(sent.is_none());
    }
    for seal in ["signature", "content-digest", "digest"] {
        let mut sealed = framed("SendMessage");
        sealed.headers_mut().insert(seal, "x".parse().unwrap());
        let (ended, sent) = through(acme(), sealed).await;
        assert_eq!((ended.word().as_str(), sent.is_none()), ("card/tenant_mismatch", true), "{seal}");
    }
}

/// A message may come in pieces, as a proxy has it.
#[tokio::test(start_paused = true)]
async fn a_message_in_pieces_is_put_together() {
    let whole = message().framed().unwrap();
    let pieces = whole.chunks(3).map(Bytes::copy_from_slice);
    let body = MockBody::of(pieces);
    let agent: crate::mock::Peer<CallBody<MockBody>> =
        crate::mock::Peer::new([Answer::new(200, "application/grpc", MockBody::new())]);
    let mut service = CallLayer::new().layer(layer(grpc(HOST, "1.0").tenant("acme")).layer(agent.clone()));
    let request = framed("GetTask").map(|_| body);
    tower::Service::call(tower::ServiceExt::ready(&mut service).await.unwrap(), request).await.unwrap();
    let sent = agent.requests().pop().unwrap().into_body().collect().await.unwrap().to_bytes();
    assert_eq!(sent, message().text(1, "acme").framed().unwrap());
}

#[tokio::test(start_paused = true)]
async fn the_interface_is_the_one_at_the_authority_with_or_without_a_scheme() {
    for (url, word) in [
        ("https://agent.example.com", "success/success"),
        ("https://agent.example.com:443/whatever", "success/success"),
        ("agent.example.com:443", "success/success"),
        ("agent.example.com", "success/success"),
        ("AGENT.example.com", "success/success"),
        ("agent.example.com:50051", "card/url_mismatch"),
        ("other.example.com:443", "card/url_mismatch"),
        ("http://agent.example.com", "card/url_mismatch"),
        ("0.0.0.0:443", "card/unusable_url"),
    ] {
        let (ended, sent) = through(layer(grpc(url, "1.0")), framed("GetTask")).await;
        assert_eq!(ended.word(), word, "{url}");
        assert_eq!(sent.is_some(), word.starts_with("success"), "{url}");
    }
    // Of other bindings there may be as many as there like.
    let (ended, _) = through(layer(all(Card::plain())), framed("GetTask")).await;
    assert_eq!(ended.word(), "card/no_compatible_interface");
    let (ended, _) = through(layer(all(Card::plain().interface(HOST, "GRPC", "1.0"))), framed("GetTask")).await;
    assert_eq!(ended.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn capabilities_count_over_grpc_too() {
    let bare = || Card::default().interface(HOST, "GRPC", "1.0");
    for (method, capability) in [
        ("SendStreamingMessage", Some("streaming")),
        ("SubscribeToTask", Some("streaming")),
        ("CreateTaskPushNotificationConfig", Some("pushNotifications")),
        ("ListTaskPushNotificationConfigs", Some("pushNotifications")),
        ("GetExtendedAgentCard", Some("extendedAgentCard")),
        ("SendMessage", None),
        ("ListTasks", None),
    ] {
        let (ended, sent) = through(layer(bare()), framed(method)).await;
        match capability {
            None => assert_eq!(ended.word(), "success/success", "{method}"),
            Some(missing) => {
                let CardFailure::CapabilityMissing { capability, .. } = failure(&ended) else { panic!("{ended:?}") };
                assert_eq!(capability.as_str(), missing, "{method}");
                assert!(sent.is_none());
            }
        }
    }
    let (ended, _) = through(layer(bare().requires("https://ext.example.com/one")), framed("GetTask")).await;
    assert_eq!(ended.word(), "card/extension_missing");
}

#[tokio::test(start_paused = true)]
async fn the_card_is_fetched_over_http_from_the_authority_or_from_a_configured_place() {
    let cards = Cards::default().put(ROOT, grpc(HOST, "1.0"));
    through(CardConsistencyLayer::new(cards.store()), framed("GetTask")).await;
    assert_eq!(cards.urls(), [ROOT]);
    assert_eq!(cards.asked()[0].method, http::Method::GET);

    let port = "https://agent.example.com:50051";
    let place = "https://cards.example.com/agent.example.com/card.json";
    let cards = Cards::default().put(place, grpc("agent.example.com:50051", "1.0"));
    let store = cards.builder().location_template("https://cards.example.com/{host}/card.json").build().unwrap();
    let mut elsewhere = framed("GetTask");
    *elsewhere.uri_mut() = format!("{port}/{V1}/GetTask").parse().unwrap();
    let (ended, _) = through(CardConsistencyLayer::new(store), elsewhere).await;
    assert_eq!((ended.word().as_str(), cards.urls()), ("success/success", vec![place.to_owned()]));

    // Behind a proxy's path, that is where the card is looked for first.
    let below = "https://agent.example.com/agents/one/.well-known/agent-card.json";
    let cards = Cards::default().put(below, grpc(HOST, "1.0"));
    let mut proxied = framed("GetTask");
    *proxied.uri_mut() = format!("{HOST}/agents/one/{V1}/GetTask").parse().unwrap();
    let (ended, _) = through(CardConsistencyLayer::new(cards.store()), proxied).await;
    assert_eq!((ended.word().as_str(), cards.urls()), ("success/success", vec![below.to_owned()]));
}

/// As tonic's generated clients have them.
#[tokio::test(start_paused = true)]
async fn a_relative_uri_is_completed_by_the_origin() {
    let relative = || {
        let mut request = framed("GetTask");
        *request.uri_mut() = format!("/{V1}/GetTask").parse().unwrap();
        request
    };
    let (ended, _) = through(layer(grpc(HOST, "1.0")), relative()).await;
    assert_eq!(ended.word(), "card/unusable_url");
    let (ended, sent) = through(layer(grpc(HOST, "1.0")).origin(HOST.parse().unwrap()), relative()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(sent.unwrap().uri().to_string(), format!("{HOST}/{V1}/GetTask"));
}

#[tokio::test(start_paused = true)]
async fn one_card_serves_calls_over_each_binding() {
    use crate::mock::Dialect;
    let card = grpc("agent.example.com:443", "1.0").interface(HOST, "HTTP+JSON", "1.0");
    let cards = cards(card);
    let store = cards.store();
    let layer = CardConsistencyLayer::new(store);
    for _ in 0..2 {
        let (ended, _) = through(layer.clone(), framed("GetTask")).await;
        assert_eq!(ended.word(), "success/success");
        let (ended, _) = crate::support::through(layer.clone(), Dialect::Rest.send()).await;
        assert_eq!(ended.word(), "success/success");
    }
    assert_eq!(cards.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_method_that_nobody_can_name_passes() {
    let cards = Cards::default();
    for path in [format!("{V1}/Frobnicate"), "grpc.health.v1.Health/Check".into()] {
        let mut other = framed("GetTask");
        *other.uri_mut() = format!("{HOST}/{path}").parse().unwrap();
        let (ended, sent) = through(CardConsistencyLayer::new(cards.store()), other).await;
        assert_eq!((ended.word().as_str(), sent.is_some()), ("success/success", true));
    }
    assert_eq!(cards.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_gateways_card_leads_to_the_interface() {
    let there = "https://grpc.example.net:50051/.well-known/agent-card.json";
    for (url, scheme) in [("grpc.example.net:50051", "https"), ("https://grpc.example.net:50051/x", "https")] {
        let cards = Cards::default().put(ROOT, grpc(url, "1.0")).put(there, grpc(url, "1.0"));
        let urls = UrlPolicy::strict().allow_other_origin(Origin::parse("https://grpc.example.net:50051").unwrap());
        let route = Route::new(cards.store(), HOST.parse().unwrap()).urls(urls);
        let (ended, sent) = through(CardConsistencyLayer::new(cards.store()).resolver(route), framed("GetTask")).await;
        assert_eq!(ended.word(), "success/success", "{url}");
        assert_eq!(sent.unwrap().uri().to_string(), format!("{scheme}://grpc.example.net:50051/{V1}/GetTask"));
        // What stands in front of the service is the gateway's.
        let mut behind = framed("GetTask");
        *behind.uri_mut() = format!("{HOST}/agents/7/{V1}/GetTask").parse().unwrap();
        let urls = UrlPolicy::strict().allow_other_origin(Origin::parse("https://grpc.example.net:50051").unwrap());
        let route = Route::new(cards.store(), format!("{HOST}/agents/7").parse().unwrap()).urls(urls);
        let (ended, sent) = through(CardConsistencyLayer::new(cards.store()).resolver(route), behind).await;
        assert_eq!(ended.word(), "success/success", "{url}");
        assert_eq!(sent.unwrap().uri().to_string(), format!("{scheme}://grpc.example.net:50051/{V1}/GetTask"));
    }
}

/// Judged by the layer below, the refusal comes as an error, and doubts the card.
#[tokio::test(start_paused = true)]
async fn a_refusal_over_grpc_contradicts_the_card() {
    let cards = cards(grpc(HOST, "1.0"));
    // google.rpc.Status { details: [Any { ErrorInfo { reason, domain } }] }
    let info = Message::new().text(1, "PUSH_NOTIFICATION_NOT_SUPPORTED").text(2, "a2a-protocol.org");
    let any = Message::new().text(1, "type.googleapis.com/google.rpc.ErrorInfo").message(2, info);
    let status = Message::new().number(1, 9).text(2, "no").message(3, any);
    let details: &'static str = Box::leak(base64(status.as_bytes()).into_boxed_str());
    let refused = || {
        Answer::new(200, "application/grpc", MockBody::new())
            .header("grpc-status", "9")
            .header("grpc-status-details-bin", details)
    };
    let agent = agent([refused(), refused()]);
    let mut service = guard(CardConsistencyLayer::new(cards.store()), &agent);
    for fetches in [1, 2] {
        let ended = call(&mut service, framed("CreateTaskPushNotificationConfig")).await;
        assert_eq!(ended.word(), "refused/peer_error", "{:?}", ended.error);
        assert_eq!(cards.count(), fetches);
    }
    assert_eq!(cards.asked()[1].header("cache-control"), Some("no-cache"));
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for digit in 0..=three.len() {
            text.push(char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    text
}

/// Middleware may have written the path anew. What tonic says beside it is held to the card all the same, in a stack
/// with `CallLayer` and without.
#[tokio::test(start_paused = true)]
async fn what_tonic_says_beside_the_path_counts_where_that_says_nothing() {
    let request = |path: &str, service: &'static str, method: &'static str| {
        let mut request = framed("GetTask");
        *request.uri_mut() = format!("{HOST}{path}").parse().unwrap();
        request.extensions_mut().insert(tonic::GrpcMethod::new(service, method));
        request
    };
    let (good, bad) = ("success/success", "card/capability_missing");
    let unnamed = |word| if cfg!(feature = "tonic") { word } else { good };
    for (path, service, method, word) in [
        ("/route-42", V1, "SendStreamingMessage", unnamed(bad)),
        ("/route-42", V1, "SendMessage", good),
        ("/route-42", V03, "SendMessage", unnamed("card/unsupported_version")),
        ("/lf.a2a.v1.A2AService/GetTask", V1, "SendStreamingMessage", good),
        ("/lf.a2a.v1.A2AService/SubscribeToTask", V1, "GetTask", bad),
    ] {
        let bare = || layer(Card::default().interface(HOST, "GRPC", "1.0"));
        let (ended, sent) = through(bare(), request(path, service, method)).await;
        assert_eq!((ended.word().as_str(), sent.is_some()), (word, word == good), "{path} {method}");

        let answer = Answer::new(200, "application/grpc", MockBody::new().trailers("grpc-status", "0"));
        let alone = request(path, service, method).map(CallBody::<Full<Bytes>>::unread);
        let ended = call_alone(bare().layer(agent([answer])), alone).await;
        assert_eq!(ended.word(), word, "{path} {method}, alone");
    }
}

async fn call_alone<S, B>(mut service: S, request: Request<CallBody<Full<Bytes>>>) -> Ended
where
    S: tower::Service<Request<CallBody<Full<Bytes>>>, Response = http::Response<B>, Error = a2a_guard::CallError>,
    B: http_body::Body<Data = Bytes, Error = a2a_guard::CallError> + Unpin,
{
    let started = tokio::time::Instant::now();
    let response = tower::ServiceExt::ready(&mut service).await.unwrap().call(request).await;
    crate::mock::read(started, response, crate::mock::Notes::default()).await
}
