//! Every class in every form, judged by the readers of this crate, and by one of gRPC's details that is written for it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header::CONTENT_TYPE};
use http_body_util::BodyExt;

use super::{RefusalResponseBody, foreign::Failed, own, problem::Problem, reply::Asked};
use crate::{
    call::{Binding, Call, Capability, Operation, ProtocolVersion},
    card::Party,
    error::{CallError, CardFailure, Failure, PeerResponse},
    outcome::{Class, OutcomeKind},
    wire::{
        A2aError, Envelope, ErrorForm, Expected, JsonRpcId, Judge, MediaType, Payload, PeerError, StepKind,
        StreamJudge, Verdict, Wrapping,
    },
};

mod details;

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];
const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V0_2, ProtocolVersion::V0_3, ProtocolVersion::V1_0];

/// The outcomes that a class stands under.
fn outcomes(class: Class) -> &'static [OutcomeKind] {
    use OutcomeKind::{Abandoned, Broken, Card, Refused, Stale, Success, Timeout, Transport};
    match class {
        Class::Success => &[Success],
        Class::PeerError
        | Class::Auth
        | Class::RateLimited
        | Class::Unavailable
        | Class::EndpointNotFound
        | Class::Redirected
        | Class::UnsupportedMedia => &[Refused],
        Class::TooLarge => &[Refused, Broken, Card],
        Class::HttpStatus => &[Broken, Card],
        Class::WrongMediaType
        | Class::Malformed
        | Class::ProtocolViolation
        | Class::Empty
        | Class::Truncated
        | Class::SilentDowngrade
        | Class::ContentEncoding => &[Broken],
        Class::Ready | Class::Head | Class::FirstEvent | Class::Idle | Class::EventGap | Class::Total => &[Timeout],
        Class::NotFound
        | Class::Unauthorized
        | Class::NotJson
        | Class::FetchTimeout
        | Class::MissingField
        | Class::UnusableUrl
        | Class::UrlMismatch
        | Class::TenantMismatch
        | Class::NoCompatibleInterface
        | Class::UnsupportedVersion
        | Class::CapabilityMissing
        | Class::ExtensionMissing
        | Class::ShapeNotAdmitted
        | Class::Signature => &[Card],
        Class::SkillUnavailable | Class::EndpointNotConforming => &[Stale],
        Class::Connect | Class::ConnectionLost | Class::Tls => &[Transport],
        Class::Abandoned => &[Abandoned],
    }
}

/// JSON-RPC code, HTTP status, gRPC code and reason, as they are documented.
fn expected(outcome: OutcomeKind, class: Class) -> (i64, u16, u8, &'static str) {
    match (outcome, class) {
        (OutcomeKind::Broken, _) => (-32006, 500, 13, "INVALID_AGENT_RESPONSE"),
        (OutcomeKind::Timeout, _) => (-32603, 504, 4, "CAPABILITY_TIMEOUT"),
        (OutcomeKind::Transport, _) => (-32603, 502, 14, "AGENT_UNREACHABLE"),
        (OutcomeKind::Card, Class::CapabilityMissing) => (-32004, 400, 9, "UNSUPPORTED_OPERATION"),
        (OutcomeKind::Card, Class::ExtensionMissing) => (-32008, 400, 9, "EXTENSION_SUPPORT_REQUIRED"),
        (OutcomeKind::Card, Class::UnsupportedVersion) => (-32009, 400, 9, "VERSION_NOT_SUPPORTED"),
        (OutcomeKind::Card, _) => (-32603, 502, 9, "AGENT_CARD_RESOLUTION"),
        (OutcomeKind::Stale, Class::SkillUnavailable) => (-32004, 400, 9, "UNSUPPORTED_OPERATION"),
        (OutcomeKind::Stale, _) => (-32603, 502, 9, "ENDPOINT_NOT_CONFORMING"),
        (OutcomeKind::Refused, Class::Auth) => (-32603, 401, 16, "UNAUTHENTICATED"),
        (OutcomeKind::Refused, Class::RateLimited) => (-32603, 429, 8, "RATE_LIMITED"),
        (OutcomeKind::Refused, Class::Unavailable) => (-32603, 503, 14, "UNAVAILABLE"),
        (OutcomeKind::Refused, Class::EndpointNotFound) => (-32601, 404, 12, "ENDPOINT_NOT_FOUND"),
        (OutcomeKind::Refused, Class::Redirected) => (-32603, 502, 9, "REDIRECTED"),
        (OutcomeKind::Refused, Class::UnsupportedMedia) => (-32005, 415, 3, "UNSUPPORTED_MEDIA"),
        (OutcomeKind::Refused, Class::TooLarge) => (-32600, 413, 3, "REQUEST_TOO_LARGE"),
        (OutcomeKind::Refused, _) => (-32603, 500, 2, "PEER_ERROR"),
        _ => (-32603, 500, 13, "INTERNAL_ERROR"),
    }
}

/// A failure of this kind, as the layers make them.
fn failure(outcome: OutcomeKind, class: Class, call: &Call) -> CallError {
    let elapsed = Duration::from_millis(1234);
    let mut failure = match outcome {
        OutcomeKind::Card => Failure::of_card(card(class), call.clone(), elapsed),
        _ => Failure::new(outcome, class, "as it happened", call.clone(), elapsed),
    };
    assert_eq!((failure.kind, failure.class), (outcome, class));
    if outcome == OutcomeKind::Timeout {
        failure.bound = Some(Duration::from_secs(30));
    }
    failure.seen.task_id = Some("t-\"1\"".into());
    failure.seen.retry_after = Some(Duration::from_millis(1500));
    CallError::new(failure)
}

fn card(class: Class) -> CardFailure {
    let place = || Box::new("https://agent.example.com/card".parse().unwrap());
    let text = || "te\"xt\n".to_owned();
    match class {
        Class::NotFound => CardFailure::NotFound { tried: vec![*place()] },
        Class::Unauthorized => CardFailure::Unauthorized {
            status: StatusCode::UNAUTHORIZED,
            location: place(),
            www_authenticate: Some("Bearer realm=\"agents\"".into()),
        },
        Class::HttpStatus => {
            CardFailure::HttpStatus { status: StatusCode::BAD_GATEWAY, location: place(), retry_after: None }
        }
        Class::NotJson => {
            CardFailure::NotJson { status: StatusCode::OK, content_type: None, location: place(), why: text() }
        }
        Class::TooLarge => CardFailure::TooLarge { limit: 9, location: place() },
        Class::FetchTimeout => CardFailure::FetchTimeout { bound: Duration::from_secs(10) },
        Class::MissingField => CardFailure::MissingField { field: "name".into(), why: text(), location: None },
        Class::UnusableUrl => CardFailure::UnusableUrl { url: text(), why: text() },
        Class::UrlMismatch => CardFailure::UrlMismatch {
            field: "path",
            card: text(),
            target: text(),
            card_url: text(),
            target_url: text(),
            location: None,
        },
        Class::TenantMismatch => CardFailure::TenantMismatch { card: None, request: text() },
        Class::NoCompatibleInterface => CardFailure::NoCompatibleInterface { offered: vec![], wanted: vec![] },
        Class::UnsupportedVersion => CardFailure::UnsupportedVersion { offered: vec![], wanted: vec![] },
        Class::CapabilityMissing => CardFailure::CapabilityMissing { capability: Capability::Streaming },
        Class::ExtensionMissing => CardFailure::ExtensionMissing { uri: text(), by: Party::Agent },
        Class::ShapeNotAdmitted => CardFailure::ShapeNotAdmitted { shape: Call::new().shape(), admitted: vec![] },
        Class::Signature => CardFailure::Signature { why: text() },
        other => panic!("{other} is no class of cards"),
    }
}

fn call(binding: Binding, version: ProtocolVersion, operation: Operation) -> Call {
    Call::new()
        .with_binding(binding)
        .with_version(version)
        .with_operation(operation)
        .with_id(JsonRpcId::Text("a\"b".into()))
}

fn asked(call: &Call) -> Asked {
    let mut request = Request::post("https://agent.example.com/a2a").body(()).unwrap();
    request.extensions_mut().insert(call.clone());
    Asked::of(&mut request, &Default::default())
}

/// What a client reads out of an error.
#[derive(Debug, PartialEq)]
struct Read {
    code: Option<i64>,
    domain: String,
    reason: String,
    message: String,
    metadata: Vec<(String, String)>,
    retry_after: Option<Duration>,
}

impl Read {
    fn of(error: PeerError) -> Self {
        let own = |name: &str| error.metadata.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let (domain, reason) = match error.reason.clone() {
            Some(reason) => ("a2a-protocol.org".to_owned(), reason),
            None => (own("domain").unwrap(), own("reason").unwrap()),
        };
        let metadata = error.metadata.into_iter().filter(|(name, _)| name != "domain" && name != "reason").collect();
        Self {
            code: error.code,
            domain,
            reason,
            message: error.message.unwrap(),
            metadata,
            retry_after: error.retry_after,
        }
    }

    fn get(&self, name: &str) -> &str {
        self.metadata.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }
}

fn judged(binding: Binding) -> Expected {
    let envelope = if binding == Binding::JsonRpc { Envelope::JsonRpc } else { Envelope::Bare };
    Expected { envelope, wrapping: Wrapping::Member, payload: Payload::StreamEvent }
}

/// An error document, as our own judge and reader have it.
fn read_document(document: &[u8], binding: Binding, version: ProtocolVersion, call: &Call) -> Read {
    let mut judge = Judge::new(judged(binding));
    judge.feed(document);
    assert_eq!(judge.finish(call.id().unwrap()), Verdict::Error, "{}", String::from_utf8_lossy(document));
    let error = PeerError::parse(document, MediaType::Json).unwrap();
    let form = match (binding, version < ProtocolVersion::V1_0) {
        (Binding::JsonRpc, _) => ErrorForm::JsonRpc,
        (_, true) => ErrorForm::CodeMessage,
        (_, false) => ErrorForm::RpcStatus,
    };
    assert_eq!(error.form, form);
    Read::of(error)
}

/// A stream that ends with an error, as our own judge and reader have it.
fn read_stream(stream: &[u8], binding: Binding, version: ProtocolVersion, call: &Call) -> Read {
    let mut judge = StreamJudge::new(judged(binding), 1 << 20, false);
    let step = judge.step(stream, call.id().unwrap());
    assert_eq!((step.kind, step.consumed), (StepKind::Error, stream.len()), "{}", String::from_utf8_lossy(stream));
    read_document(&crate::wire::sse::event_data(stream), binding, version, call)
}

fn collect(body: RefusalResponseBody<http_body_util::Empty<Bytes>>) -> Bytes {
    let mut body = std::pin::pin!(body.collect());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match body.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(collected) => collected.unwrap().to_bytes(),
        std::task::Poll::Pending => panic!("it is here as a whole"),
    }
}

/// Holds what was read against what the table says, and gives it back for more.
fn check(read: &Read, error: &CallError) {
    let (_, _, _, reason) = expected(error.outcome(), error.class());
    assert_eq!(read.reason, reason, "{error}");
    let specified = A2aError::from_reason(reason).is_some_and(|error| error != A2aError::Internal);
    assert_eq!(read.domain, if specified { "a2a-protocol.org" } else { "a2a-guard" }, "{error}");
    assert_eq!(read.get("outcome"), error.outcome().as_str());
    assert_eq!(read.get("class"), error.class().as_str());
    let needs = error.call().operation().and_then(Operation::needs).map_or("none", Capability::as_str);
    assert_eq!(read.get("capability"), needs);
    assert_eq!(read.get("shape"), error.shape().to_string());
    assert_eq!(read.get("retry"), error.retry().as_str());
    assert_eq!(read.get("retry_after"), "1.5");
    assert_eq!(read.get("task_id"), "t-\\\"1\\\"");
    assert_eq!(read.retry_after, Some(Duration::from_millis(1500)));
    assert!(!read.message.is_empty() && !read.message.contains(['\n', '\r']), "{:?}", read.message);
}

#[test]
fn every_class_in_every_form() {
    for &class in Class::ALL {
        for &outcome in outcomes(class) {
            for binding in BINDINGS {
                for version in VERSIONS {
                    for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
                        let call = call(binding, version, operation);
                        in_one_form(&failure(outcome, class, &call), binding, version, &call);
                    }
                }
            }
        }
    }
}

fn in_one_form(error: &CallError, binding: Binding, version: ProtocolVersion, call: &Call) {
    let (code, http, grpc, _) = expected(error.outcome(), error.class());
    let asked = asked(call);
    let form = asked.form(error);
    let problem = Problem::of(&Failed::from(error.clone()));
    let response = problem.clone().response(&form);
    assert!(response.extensions().get::<CallError>().is_some());
    let (head, body) = response.map(RefusalResponseBody::whole).into_parts();
    let body = collect(body);
    let media = head.headers[CONTENT_TYPE].to_str().unwrap().to_owned();
    if binding == Binding::Grpc {
        assert_eq!((head.status.as_u16(), &*media, body.len()), (200, "application/grpc", 0));
        for trailers in [head.headers, problem.trailers(&form)] {
            let (status, read) = details::read(&trailers);
            let old = version < ProtocolVersion::V1_0 && error.a2a_error() == Some(A2aError::UnsupportedOperation);
            let skill = version < ProtocolVersion::V1_0 && error.class() == Class::SkillUnavailable;
            assert_eq!(status, if old || skill { 12 } else { grpc }, "{error}");
            check(&read, error);
        }
        assert!(problem.event(&form).is_none());
        return;
    }
    assert_eq!(head.status.as_u16(), if binding == Binding::JsonRpc { 200 } else { http }, "{error}");
    assert_eq!(media, "application/json");
    assert_eq!(head.headers["retry-after"], "2");
    let current = version >= ProtocolVersion::V1_0;
    assert_eq!(head.headers.get("a2a-version").map(|value| value.to_str().unwrap()), current.then_some("1.0"));
    if error.class() == Class::Unauthorized {
        assert_eq!(head.headers["www-authenticate"], "Bearer realm=\"agents\"");
    }
    let event = problem.event(&form).unwrap();
    let unary = read_document(&body, binding, version, call);
    let streamed = read_stream(&event, binding, version, call);
    assert_eq!(unary, streamed);
    let has_code = binding == Binding::JsonRpc || !current;
    assert_eq!(unary.code, has_code.then_some(code), "{error}");
    check(&unary, error);
}

#[test]
fn a_head_is_written_out() {
    let call = call(Binding::JsonRpc, ProtocolVersion::V1_0, Operation::SendStreamingMessage);
    let error = failure(OutcomeKind::Timeout, Class::Head, &call);
    let body = collect(
        Problem::of(&error.clone().into())
            .response(&asked(&call).form(&error))
            .map(RefusalResponseBody::whole)
            .into_body(),
    );
    assert_eq!(
        std::str::from_utf8(&body).unwrap(),
        concat!(
            r#"{"jsonrpc":"2.0","id":"a\"b","error":{"code":-32603,"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","#,
            r#""domain":"a2a-guard","metadata":{"bound_ms":"30000","capability":"streaming","class":"head","elapsed_ms":"1234","#,
            r#""next":"GetTask,SubscribeToTask,CancelTask","outcome":"timeout","retry":"unsafe","retry_after":"1.5","#,
            r#""shape":"SendStreamingMessage over JSONRPC 1.0","task_id":"t-\\\"1\\\""},"reason":"CAPABILITY_TIMEOUT"},"#,
            r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.500s"}],"#,
            r#""message":"as it happened within 30000 ms"}}"#,
        )
    );
}

#[test]
fn before_1_0_the_data_is_an_object() {
    let call = call(Binding::HttpJson, ProtocolVersion::V0_3, Operation::GetTask);
    let mut failure =
        Failure::new(OutcomeKind::Stale, Class::SkillUnavailable, "not here", call.clone(), Duration::ZERO);
    let refusal = br#"{"code":-32004,"message":"no","data":{"region":"eu","availableSkills":["a","b"]}}"#;
    failure.peer = PeerError::parse(refusal, MediaType::Json).map(Box::new);
    let error = CallError::new(failure);
    let response = Problem::of(&error.clone().into()).response(&asked(&call).form(&error));
    assert_eq!(response.status(), 400);
    let body: serde_json::Value =
        serde_json::from_slice(&collect(response.map(RefusalResponseBody::whole).into_body())).unwrap();
    assert_eq!((&body["code"], &body["message"]), (&(-32004).into(), &"no".into()));
    assert_eq!(body["data"]["region"], "eu");
    assert_eq!(body["data"]["availableSkills"], serde_json::json!(["a", "b"]));
    assert_eq!(body["data"]["details"][0]["metadata"]["availableSkills"], r#"["a","b"]"#);
    let read = PeerError::parse(body.to_string().as_bytes(), MediaType::Json).unwrap();
    assert_eq!((read.region.as_deref(), read.available_skills.unwrap().len()), (Some("eu"), 2));
}

/// A refusal of which only the beginning was kept.
fn cut(status: u16, headers: &[(&'static str, &'static str)], body: &str, class: Class, call: &Call) -> CallError {
    let headers: HeaderMap = headers.iter().map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).collect();
    let mut failure = Failure::new(OutcomeKind::Refused, class, "the peer refused", call.clone(), Duration::ZERO);
    failure.peer = PeerError::parse(body.as_bytes(), MediaType::Json).map(Box::new);
    failure.seen.status = Some(StatusCode::from_u16(status).unwrap());
    failure.response = Some(PeerResponse {
        status: StatusCode::from_u16(status).unwrap(),
        headers,
        body: Bytes::copy_from_slice(body.as_bytes()),
        trailers: None,
        truncated: true,
    });
    CallError::new(failure)
}

#[test]
fn a_refusal_that_was_cut_is_said_again_as_it_was_understood() {
    let call = call(Binding::JsonRpc, ProtocolVersion::V1_0, Operation::GetTask);
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no\nsuch task","data":["#;
    let error = cut(200, &[("content-type", "application/json")], body, Class::PeerError, &call);
    assert!(own::response(&error).is_none());
    let response = Problem::of(&error.clone().into()).response(&asked(&call).form(&error));
    assert_eq!(response.status(), 200);
    let body = collect(response.map(RefusalResponseBody::whole).into_body());
    let read = read_document(&body, Binding::JsonRpc, ProtocolVersion::V1_0, &call);
    assert_eq!((read.code, &*read.reason, &*read.domain), (Some(-32001), "TASK_NOT_FOUND", "a2a-protocol.org"));
    assert_eq!(read.message, "no\\nsuch task");
}

/// Also over gRPC, where nothing but the status of HTTP was understood.
#[test]
fn a_refusal_over_grpc_keeps_its_code_or_gets_one() {
    let call = call(Binding::Grpc, ProtocolVersion::V1_0, Operation::GetTask);
    let grpc_status = |error: CallError| {
        let (head, _) = Problem::of(&error.clone().into()).response(&asked(&call).form(&error)).into_parts();
        head.headers["grpc-status"].to_str().unwrap().to_owned()
    };
    for (status, code) in [(401, "16"), (403, "7")] {
        assert_eq!(grpc_status(cut(status, &[], "<html>", Class::Auth, &call)), code);
    }
    for (said, told) in [("5", "5"), ("11", "11"), ("0", "2")] {
        let headers = HeaderMap::from_iter([("grpc-status".parse().unwrap(), said.parse().unwrap())]);
        let mut failure =
            Failure::new(OutcomeKind::Refused, Class::PeerError, "the peer refused", call.clone(), Duration::ZERO);
        failure.peer = crate::wire::grpc::GrpcStatus::of(&headers).map(|status| Box::new(status.to_error()));
        assert_eq!(grpc_status(CallError::new(failure)), told, "{said}");
    }
}

/// What stood in a stream and is no event does not come out as one.
#[test]
fn only_an_event_is_handed_on_as_one() {
    let call = call(Binding::JsonRpc, ProtocolVersion::V1_0, Operation::SendStreamingMessage);
    let said = |body: &str| {
        let mut failure = cut(200, &[], body, Class::PeerError, &call).failure().clone();
        failure.response.as_mut().unwrap().truncated = false;
        own::event(&CallError::new(failure))
    };
    for none in ["", r#"{"jsonrpc":"2.0"}"#, "\u{feff} [1]"] {
        assert_eq!(said(none), None, "{none:?}");
    }
    for (event, whole) in
        [("data: {}\n\n", "data: {}\n\n"), ("data: {}\n", "data: {}\n\n"), ("data: {}", "data: {}\n\n")]
    {
        assert_eq!(said(event).unwrap(), whole);
    }
}

#[test]
fn its_status_and_challenges_stay() {
    for binding in [Binding::JsonRpc, Binding::HttpJson] {
        let call = call(binding, ProtocolVersion::V1_0, Operation::GetTask);
        let headers =
            [("www-authenticate", "Bearer"), ("content-length", "99999"), ("retry-after", "7"), ("etag", "\"x\"")];
        let error = cut(401, &headers, "<html>", Class::Auth, &call);
        let (head, body) = Problem::of(&error.clone().into()).response(&asked(&call).form(&error)).into_parts();
        assert_eq!(head.status, 401);
        assert_eq!(head.headers["www-authenticate"], "Bearer");
        assert!(!head.headers.contains_key("etag") && !head.headers.contains_key("content-length"));
        let read = read_document(&collect(RefusalResponseBody::whole(body)), binding, ProtocolVersion::V1_0, &call);
        assert_eq!((&*read.reason, read.get("http_status")), ("UNAUTHENTICATED", "401"));
    }
}

#[test]
fn texts_of_peers_are_bounded_and_escaped() {
    let call = call(Binding::Grpc, ProtocolVersion::V1_0, Operation::GetTask).with_task_id("\u{202e}\n".repeat(5_000));
    let skills: Vec<_> = (0..100).map(|n| format!("\"{n}{}\"", "s".repeat(1000))).collect();
    let body = format!(
        r#"{{"code":-32004,"message":"{}","data":{{"region":"{}","availableSkills":[{}]}}}}"#,
        "\u{1F600}".repeat(9_000),
        "r".repeat(9_000),
        skills.join(",")
    );
    let error = cut(400, &[], &body, Class::PeerError, &call);
    let (head, _) = Problem::of(&error.clone().into()).response(&asked(&call).form(&error)).into_parts();
    let size: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    assert!(size < 12 << 10, "{size}");
    let (_, read) = details::read(&head.headers);
    assert!(read.get("task_id").starts_with("\\u{202e}\\n"), "{}", read.get("task_id"));
    assert!(read.message.chars().count() < 300, "{}", read.message.len());
}

#[test]
fn an_unknown_failure_of_a_layer_in_between_says_nothing_of_it() {
    let call = call(Binding::JsonRpc, ProtocolVersion::V1_0, Operation::GetTask);
    let failed = super::foreign::before_head("password=hunter2".into(), Some(&call));
    assert!(failed.unknown);
    assert_eq!(std::error::Error::source(&failed.error).unwrap().to_string(), "password=hunter2");
    let form = asked(&call).form(&failed.error);
    let body = collect(RefusalResponseBody::whole(Problem::of(&failed).response(&form).into_body()));
    assert!(!String::from_utf8_lossy(&body).contains("hunter2"));
    let read = read_document(&body, Binding::JsonRpc, ProtocolVersion::V1_0, &call);
    assert_eq!((read.code, &*read.reason, &*read.domain), (Some(-32603), "INTERNAL_ERROR", "a2a-guard"));
    assert_eq!((read.get("outcome"), read.get("retry")), ("transport", "safe"));
    assert_eq!(read.message, "a layer between the caller and the agent failed");
}

#[test]
fn a_connection_that_failed_is_told_from_it() {
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let failed = super::foreign::before_head(Box::new(refused), Some(&Call::new()));
    assert!(!failed.unknown);
    assert_eq!(failed.error.class(), Class::Connect);
    let row = super::row::Row::of(&failed.error);
    assert_eq!((row.http.as_u16(), &*row.reason), (502, "AGENT_UNREACHABLE"));
    let card = CardFailure::Connection { fault: Class::Tls, source: Arc::new("secret".into()) };
    let error = CallError::new(Failure::of_card(card, Call::new(), Duration::ZERO));
    assert_eq!(super::message::of(&error), "no connection to the agent's card");
}
