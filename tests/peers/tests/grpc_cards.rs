//! Agent Cards as gRPC messages: read without generated code, and by the code that was generated.

use a2a_guard::{
    CallBody, CallLayer, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
    wire::{
        A2aError,
        grpc::{
            GrpcDialect,
            card::{CardMessageError, to_json},
            encode::Message,
        },
    },
};
use a2a_guard_peers::{GrpcServer, Profile, Server};
use a2a_pb::protojson::AgentCard;
use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, Error, connect::HttpConnector},
    rt::TokioExecutor,
};
use prost::Message as _;
use serde_json::{Value, json};
use tower::{ServiceBuilder, ServiceExt};

/// All that a card of 1.0 can have.
fn everything() -> Value {
    let oauth2 = |flow: Value| json!({"oauth2SecurityScheme": {"description": "o", "flows": flow, "oauth2MetadataUrl": "https://a/m"}});
    json!({
        "name": "A", "description": "d", "version": "1.2.3",
        "supportedInterfaces": [
            {"url": "https://a.example", "protocolBinding": "GRPC", "protocolVersion": "1.0", "tenant": "acme"},
            {"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        ],
        "provider": {"url": "https://p.example", "organization": "P"},
        "documentationUrl": "https://a.example/docs", "iconUrl": "https://a.example/i.png",
        "capabilities": {
            "streaming": true, "pushNotifications": false, "extendedAgentCard": true,
            "extensions": [
                {"uri": "https://e.example/1", "description": "e", "required": true,
                 "params": {"whole": 30, "half": 0.5, "less": -2, "text": "ü\u{1}", "yes": true, "none": null,
                            "list": [1, "x", [], {}], "object": {"a": {"b": [null]}}}},
                {"uri": "https://e.example/2"},
            ],
        },
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"description": "k", "location": "header", "name": "X-Key"}},
            "http": {"httpAuthSecurityScheme": {"description": "h", "scheme": "Bearer", "bearerFormat": "JWT"}},
            "oidc": {"openIdConnectSecurityScheme": {"description": "i", "openIdConnectUrl": "https://a/o"}},
            "mtls": {"mtlsSecurityScheme": {"description": "m"}},
            "code": oauth2(json!({"authorizationCode": {"authorizationUrl": "https://a/1", "tokenUrl": "https://a/2", "refreshUrl": "https://a/3", "scopes": {"r": "read", "w": "write"}, "pkceRequired": true}})),
            "client": oauth2(json!({"clientCredentials": {"tokenUrl": "https://a/2", "refreshUrl": "https://a/3", "scopes": {"r": "read"}}})),
            "implicit": oauth2(json!({"implicit": {"authorizationUrl": "https://a/1", "refreshUrl": "https://a/3", "scopes": {"r": "read"}}})),
            "password": oauth2(json!({"password": {"tokenUrl": "https://a/2", "refreshUrl": "https://a/3", "scopes": {"r": "read"}}})),
            "device": oauth2(json!({"deviceCode": {"deviceAuthorizationUrl": "https://a/1", "tokenUrl": "https://a/2", "refreshUrl": "https://a/3", "scopes": {"r": "read"}}})),
        },
        "securityRequirements": [{"schemes": {"key": {}, "code": {"list": ["r", "w"]}}}],
        "defaultInputModes": ["text/plain", "image/png"], "defaultOutputModes": ["text/plain"],
        "skills": [{
            "id": "s", "name": "S", "description": "d", "tags": ["t", "u"], "examples": ["e"], "inputModes": ["text/html"],
            "outputModes": ["image/png"], "securityRequirements": [{"schemes": {"key": {"list": ["x"]}}}],
        }],
        "signatures": [{"protected": "cA", "signature": "cw", "header": {"kid": "k", "n": 1}}],
    })
}

fn framed(card: &AgentCard) -> Bytes {
    let message = card.encode_to_vec();
    [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat().into()
}

/// What generated code makes of a message, in JSON.
fn by_generated_code(message: &[u8]) -> Option<Value> {
    AgentCard::decode(message).ok().and_then(|card| serde_json::to_value(card).ok())
}

/// Generated code leaves out what has its default: text, lists, maps, and flags that are no `optional`.
fn without_defaults(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let fields = object.into_iter().map(|(name, value)| (name, without_defaults(value)));
            let is_default = |name: &str, value: &Value| match value {
                Value::String(text) => text.is_empty(),
                Value::Array(list) => list.is_empty(),
                Value::Bool(flag) => !flag && (name == "required" || name == "pkceRequired"),
                Value::Object(object) => object.is_empty(),
                Value::Null => true,
                Value::Number(_) => false,
            };
            Value::Object(fields.filter(|(name, value)| !is_default(name, value)).collect())
        }
        Value::Array(list) => list.into_iter().map(without_defaults).collect(),
        Value::Number(number) => json!(number.as_f64()),
        value => value,
    }
}

#[test]
fn a_card_is_read_as_generated_code_reads_it() {
    let card: AgentCard = serde_json::from_value(everything()).unwrap();
    let read: Value = serde_json::from_slice(&to_json(&framed(&card), GrpcDialect::V1, 1 << 20).unwrap()).unwrap();
    assert_eq!(read, everything());
    assert_eq!(without_defaults(read), without_defaults(by_generated_code(&card.encode_to_vec()).unwrap()));
    // Nothing in it is of no account: without any of it, another card is read.
    assert_eq!(everything().as_object().unwrap().len(), 14);
}

/// Bytes turned over at random: what is refused by one is refused by the other, or else they read the same.
#[test]
fn so_is_one_that_was_damaged() {
    let card: AgentCard = serde_json::from_value(everything()).unwrap();
    let good = card.encode_to_vec();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let (mut both, mut neither) = (0, 0);
    for _ in 0..10_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + next() % 3 {
            let at = next() % bytes.len();
            bytes[at] = next() as u8;
        }
        let message = [&[0][..], &(bytes.len() as u32).to_be_bytes(), &bytes].concat();
        let ours = to_json(&message, GrpcDialect::V1, 1 << 20);
        match (ours, AgentCard::decode(&bytes[..])) {
            (Ok(ours), Ok(theirs)) => {
                both += 1;
                let ours: Value = serde_json::from_slice(&ours).unwrap();
                // As text and back, as ours came: that costs a number its last bit.
                let Ok(theirs) = serde_json::to_string(&theirs) else { continue };
                let theirs = serde_json::from_str(&theirs).unwrap();
                assert_eq!(without_defaults(ours), without_defaults(theirs), "{bytes:?}");
            }
            (Err(_), Err(_)) => neither += 1,
            // Infinity, which no JSON has.
            (Err(CardMessageError::Malformed("a number that JSON does not have")), Ok(_)) => {}
            (ours, theirs) => {
                let ours = ours.map(|json| String::from_utf8(json).unwrap());
                panic!("{ours:?} {theirs:?}: {bytes:?}");
            }
        }
    }
    assert!(both > 500 && neither > 500, "{both} {neither}");
}

type Web = Client<HttpConnector, CallBody<Full<Bytes>>>;

/// HTTP/2 without an upgrade for those who ask for it, and HTTP/1.1 for all others.
async fn either(request: Request<CallBody<Full<Bytes>>>, old: Web, new: Web) -> Result<Response<Incoming>, Error> {
    if request.version() == Version::HTTP_2 { new.request(request).await } else { old.request(request).await }
}

/// The official Rust server, through all layers.
#[tokio::test]
async fn the_official_server_shows_its_extended_card() {
    let agent = GrpcServer::start(Profile::Full).await.unwrap();
    let pages = Server::start_beside(Profile::Full, &agent).await.unwrap();
    let (old, new) = (
        Client::builder(TokioExecutor::new()).build_http(),
        Client::builder(TokioExecutor::new()).http2_only(true).build_http(),
    );
    let client = tower::service_fn(move |request| either(request, old.clone(), new.clone()));
    let judged = ServiceBuilder::new().layer(CallLayer::new()).layer(TerminalStateLayer::new()).service(client.clone());
    for store in [CardStore::builder(client.clone()), CardStore::builder::<_, Full<Bytes>, _>(judged)] {
        let at = format!("http://127.0.0.1:{}/.well-known/agent-card.json", pages.port());
        let store = store.location_template(at).build().unwrap();
        let service = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(CardConsistencyLayer::new(store.clone()).extended_card(true))
            .layer(TerminalStateLayer::new())
            .service(client.clone());
        for _ in 0..2 {
            // A task that nobody has: the call goes through, and is refused by the agent itself.
            let request = Request::post(format!("{}/lf.a2a.v1.A2AService/GetTask", agent.origin()))
                .version(Version::HTTP_2)
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .header("authorization", "Bearer one")
                .body(Full::from(Message::new().text(2, "t-1").framed().unwrap()))
                .unwrap();
            let answer = match service.clone().oneshot(request).await {
                Ok(response) => response.into_body().collect().await.map(drop),
                Err(error) => Err(error),
            };
            assert_eq!(answer.unwrap_err().a2a_error(), Some(A2aError::TaskNotFound));
        }
        let entries = store.snapshot();
        let extended = entries.iter().find(|entry| entry.extended).expect("it was asked for");
        assert!(extended.failure.is_none(), "{extended:?}");
        let stats = store.stats();
        assert_eq!((stats.searches, stats.failures), (2, 0), "each card once: {stats:?}");
    }
}

/// It declares one, and has none.
#[tokio::test]
async fn one_that_the_official_server_does_not_have_leaves_the_public_one() {
    let agent = GrpcServer::start(Profile::ExtendedCardMissing).await.unwrap();
    let pages = Server::start_beside(Profile::ExtendedCardMissing, &agent).await.unwrap();
    let (old, new) = (
        Client::builder(TokioExecutor::new()).build_http(),
        Client::builder(TokioExecutor::new()).http2_only(true).build_http(),
    );
    let client = tower::service_fn(move |request| either(request, old.clone(), new.clone()));
    let at = format!("http://127.0.0.1:{}/.well-known/agent-card.json", pages.port());
    let store = CardStore::builder(client.clone()).location_template(at).build().unwrap();
    let service = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(CardConsistencyLayer::new(store.clone()).extended_card(true))
        .layer(TerminalStateLayer::new())
        .service(client);
    let request = Request::post(format!("{}/lf.a2a.v1.A2AService/ListTasks", agent.origin()))
        .version(Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("authorization", "Bearer one")
        .body(Full::from(Message::new().framed().unwrap()))
        .unwrap();
    let response = service.oneshot(request).await.unwrap();
    assert!(response.into_body().collect().await.is_ok());
    let entries = store.snapshot();
    let failure = entries.iter().find(|entry| entry.extended).and_then(|entry| entry.failure.as_ref()).unwrap();
    assert_eq!(failure.class().as_str(), "not_found", "-32007: {failure}");
}
