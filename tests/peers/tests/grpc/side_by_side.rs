//! Whatever the peer typed, a caller sees it through the layers as it would have seen it without: code, message,
//! details and metadata. One scripted peer answers each row twice, and its two answers are held against each other.

use a2a_pb::proto::a2a_service_client::A2aServiceClient;
use a2a_pb::proto::stream_response::Payload;
use a2a_pb::proto::{SendMessageResponse, StreamResponse, Task, TaskState, TaskStatus, send_message_response};
use bytes::Bytes;
use http::HeaderMap;
use prost::Message as _;
use tonic::client::GrpcService;
use tonic::codegen::{Body as HttpBody, StdError};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::h2_peer::{End, Peer, Script, append, framed};
use crate::{bare, guarded, send};

/// How a call is made, and where in its answer the status stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Unary,
    /// A unary answer with a message in front of the status.
    UnaryBehindMessage,
    Stream,
    /// Behind the first message of a stream.
    StreamBehindMessage,
}

const TRAILERS: [Way; 4] = [Way::Unary, Way::UnaryBehindMessage, Way::Stream, Way::StreamBehindMessage];
const HEADS: [Way; 2] = [Way::Unary, Way::Stream];

/// The details of a status, as its header has them.
#[derive(Clone, Debug)]
struct Details {
    name: String,
    encoded: Option<String>,
}

/// What a peer says, and what a caller sees of it.
struct Row {
    name: String,
    way: Way,
    script: Script,
}

/// What a caller sees of a refusal.
#[derive(Debug, PartialEq)]
struct Seen {
    code: Code,
    message: String,
    details: Bytes,
    metadata: HeaderMap,
}

impl From<Status> for Seen {
    fn from(status: Status) -> Self {
        Self {
            code: status.code(),
            message: status.message().to_owned(),
            details: Bytes::copy_from_slice(status.details()),
            metadata: status.metadata().clone().into_headers(),
        }
    }
}

fn working() -> Task {
    let status = TaskStatus { state: TaskState::Working.into(), ..TaskStatus::default() };
    Task { id: "task-1".to_owned(), context_id: "ctx-1".to_owned(), status: Some(status), ..Task::default() }
}

fn encoded(message: &impl prost::Message) -> Vec<u8> {
    framed(message.encode_to_vec())
}

fn all_details() -> Vec<Details> {
    let reasons = [
        ("TASK_NOT_FOUND", "a2a-protocol.org"),
        ("TASK_NOT_CANCELABLE", "a2a-protocol.org"),
        ("PUSH_NOTIFICATION_NOT_SUPPORTED", "a2a-protocol.org"),
        ("UNSUPPORTED_OPERATION", "a2a-protocol.org"),
        ("CONTENT_TYPE_NOT_SUPPORTED", "a2a-protocol.org"),
        ("INVALID_AGENT_RESPONSE", "a2a-protocol.org"),
        ("EXTENDED_AGENT_CARD_NOT_CONFIGURED", "a2a-protocol.org"),
        ("EXTENSION_SUPPORT_REQUIRED", "a2a-protocol.org"),
        ("VERSION_NOT_SUPPORTED", "a2a-protocol.org"),
        ("SOMETHING_ELSE", "a2a-protocol.org"),
        ("UNSUPPORTED_OPERATION", "example.com"),
    ];
    let of = |name: &str, bytes: &[u8]| {
        let name = name.to_owned();
        [true, false].map(|padded| Details {
            name: format!("{name}, {}", if padded { "padded" } else { "unpadded" }),
            encoded: Some(base64(bytes, padded)),
        })
    };
    let infos = reasons.iter().flat_map(|(reason, domain)| {
        let mut info = tonic_types::ErrorDetails::new();
        info.set_error_info(*reason, *domain, [("region".to_owned(), "eu".to_owned())]);
        of(reason, Status::with_error_details(Code::Unknown, "no", info).details())
    });
    let mut others = tonic_types::ErrorDetails::new();
    others.set_retry_info(Some(std::time::Duration::from_secs(7)));
    others.add_bad_request_violation("message.parts", "is empty");
    let others = Status::with_error_details(Code::Unknown, "no", others);
    infos
        .chain(of("bad request and retry info", others.details()))
        .chain(of("no protobuf", b"\xff\xff\xff\xff"))
        .chain([Details { name: "empty".to_owned(), encoded: Some(String::new()) }])
        .collect()
}

fn base64(bytes: &[u8], padded: bool) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let digits = (0..=group.len()).map(|n| char::from(DIGITS[(bits >> (18 - 6 * n) & 63) as usize]));
        text.extend(digits);
        if padded {
            text.extend((group.len()..3).map(|_| '='));
        }
    }
    text
}

/// A status in the head, nothing behind it.
fn in_head(code: &str, message: Option<&str>, details: &Details) -> Script {
    let mut script = Script::grpc().header("x-head", "h").header("x-both", "head").header("x-trace-bin", "AAEC/w");
    status(&mut script.headers, code, message, details);
    script
}

/// A status in the trailers, behind what the way asks for.
fn in_trailers(way: Way, code: &str, message: Option<&str>, details: &Details) -> Script {
    let mut script = Script::grpc().header("x-head", "h").header("x-both", "head").header("x-both", "again");
    match way {
        Way::Unary | Way::Stream => {}
        Way::UnaryBehindMessage => {
            let answer = SendMessageResponse { payload: Some(send_message_response::Payload::Task(working())) };
            script = script.chunk(encoded(&answer));
        }
        Way::StreamBehindMessage => {
            script = script.chunk(encoded(&StreamResponse { payload: Some(Payload::Task(working())) }));
        }
    }
    let mut trailers = HeaderMap::new();
    status(&mut trailers, code, message, details);
    append(&mut trailers, "x-trailer", "t");
    append(&mut trailers, "x-both", "trailer");
    append(&mut trailers, "x-trace-bin", "AAEC/w==");
    script.end(End::Trailers(trailers))
}

fn status(to: &mut HeaderMap, code: &str, message: Option<&str>, details: &Details) {
    append(to, "grpc-status", code);
    if let Some(message) = message {
        append(to, "grpc-message", message);
    }
    if let Some(encoded) = &details.encoded {
        append(to, "grpc-status-details-bin", encoded);
    }
}

fn rows() -> Vec<Row> {
    let none = Details { name: "no details".to_owned(), encoded: None };
    let messages = [
        None,
        Some(""),
        Some("no"),
        Some("no%20push%3a %E2%82%AC"),
        Some("cut in its escapes %2"),
        Some("%ff%fe"),
        Some("raw \u{20ac}"),
    ];
    let mut said = Vec::new();
    for code in (1..=16).map(|code| code.to_string()).chain(["99", "-1", "fine"].map(str::to_owned)) {
        said.push((code.clone(), Some("no"), none.clone()));
        said.push((code, None, all_details().swap_remove(0)));
    }
    for message in messages {
        said.push(("9".to_owned(), message, none.clone()));
    }
    for details in all_details() {
        said.push(("9".to_owned(), Some("no"), details));
    }
    let mut rows = Vec::new();
    for (code, message, details) in said {
        let name = |place: &str, way| format!("{code} {message:?}, {}, {place}, {way:?}", details.name);
        for way in HEADS {
            let script = in_head(&code, message, &details);
            rows.push(Row { name: name("head", way), way, script });
        }
        for way in TRAILERS {
            let script = in_trailers(way, &code, message, &details);
            rows.push(Row { name: name("trailers", way), way, script });
        }
    }
    rows.extend(odd_rows());
    rows
}

/// Refusals that stand where none should: behind half a message or several, beside another status, under another status
/// of HTTP, in a head that goes on.
fn odd_rows() -> Vec<Row> {
    let answer = encoded(&SendMessageResponse { payload: Some(send_message_response::Payload::Task(working())) });
    let no = |script: Script| script.status(9, "no").trailer("x-trailer", "t");
    let head = || Script::grpc().header("x-head", "h");
    let in_head = || head().header("grpc-status", "9").header("grpc-message", "no");
    let under = |status| Script::new(status).header("content-type", "application/grpc").header("x-head", "h");
    let half = answer[..answer.len() - 3].to_vec();
    let scripts = [
        ("behind half a prefix", no(head().chunk(vec![0, 0]))),
        ("behind half a message", no(head().chunk(half.clone()))),
        ("behind a message and half a prefix", no(head().chunk(answer.clone()).chunk(vec![0]))),
        ("behind a message and a half", no(head().chunk(answer.clone()).chunk(half))),
        ("behind two messages", no(head().chunk([&answer[..], &answer].concat()))),
        ("behind many frames", answer.iter().fold(head(), |script, byte| script.chunk(vec![*byte])).status(9, "no")),
        ("in a head that goes on", in_head().chunk(answer.clone())),
        ("in a head that goes on, and all is well", in_head().chunk(answer.clone()).status(0, "")),
        ("in a head that hangs", in_head().chunk(answer.clone()).end(End::Hang)),
        ("under 500", no(under(500))),
        ("under 503", no(under(503))),
        ("under 401, in the head", under(401).header("grpc-status", "9").header("grpc-message", "no")),
        ("in a page", Script::new(200).header("content-type", "text/html").header("grpc-status", "9").chunk("<html>")),
        ("before good news", no(head()).trailer("grpc-status", "0")),
        ("before another", no(head()).trailer("grpc-status", "5").trailer("grpc-message", "not this")),
        (
            "with two details",
            no(head()).trailer("grpc-status-details-bin", "CAk").trailer("grpc-status-details-bin", "CAU"),
        ),
    ];
    let rows = scripts.into_iter().flat_map(|(name, script)| {
        [Way::Unary, Way::Stream].map(|way| Row { name: format!("{name}, {way:?}"), way, script: script.clone() })
    });
    rows.collect()
}

/// What a client sees in the end. A stream may fail when it is asked for or when it is read.
async fn asked<T>(client: &mut A2aServiceClient<T>, way: Way) -> (usize, Seen)
where
    T: GrpcService<tonic::body::Body>,
    T::Error: Into<StdError>,
    T::ResponseBody: HttpBody<Data = Bytes> + Send + 'static,
    <T::ResponseBody as HttpBody>::Error: Into<StdError> + Send,
{
    match way {
        Way::Unary | Way::UnaryBehindMessage => (0, client.send_message(send("hello")).await.unwrap_err().into()),
        Way::Stream | Way::StreamBehindMessage => {
            let mut messages = match client.send_streaming_message(send("hello")).await {
                Ok(response) => response.into_inner(),
                Err(status) => return (0, status.into()),
            };
            let mut events = 0;
            loop {
                match messages.message().await {
                    Ok(Some(_)) => events += 1,
                    Ok(None) => panic!("a refusal passed as a good end"),
                    Err(status) => return (events, status.into()),
                }
            }
        }
    }
}

#[tokio::test]
async fn every_refusal_is_seen_as_without_the_layers() {
    let rows = rows();
    assert!(rows.len() > 300, "{} rows", rows.len());
    let scripts = rows.iter().flat_map(|row| [row.script.clone(), row.script.clone()]);
    let peer = Peer::serve(scripts).await.unwrap();
    let origin = format!("http://{}", peer.addr());
    let (mut bare, mut guarded) = (bare(&origin), guarded(&origin));
    let mut differ = Vec::new();
    for row in &rows {
        let without = asked(&mut bare, row.way).await;
        let with = asked(&mut guarded, row.way).await;
        if with != without {
            differ.push(format!("{}:\n  without {without:?}\n  with    {with:?}", row.name));
        }
    }
    assert!(differ.is_empty(), "{} of {} differ:\n{}", differ.len(), rows.len(), differ.join("\n"));
}

#[tokio::test]
async fn a_success_is_seen_as_without_the_layers() {
    let done = {
        let status = TaskStatus { state: TaskState::Completed.into(), ..TaskStatus::default() };
        Task { status: Some(status), ..working() }
    };
    let unary = SendMessageResponse { payload: Some(send_message_response::Payload::Task(done.clone())) };
    let stream = [working(), done].map(|task| encoded(&StreamResponse { payload: Some(Payload::Task(task)) }));
    // What only a later version knows, a group for one.
    let unary = framed([&unary.encode_to_vec()[..], b"\x7b\x08\x01\x7c\x78\x01"].concat());
    let head = || Script::grpc().header("x-head", "h").header("x-both", "head");
    let ended = |script: Script| script.status(0, "").trailer("x-trailer", "t").trailer("x-both", "trailer");
    let unary = ended(head().chunk(unary));
    let stream = ended(head().chunk(stream.concat()));
    let peer = Peer::serve([unary.clone(), stream.clone(), unary, stream]).await.unwrap();
    let origin = format!("http://{}", peer.addr());

    async fn seen<T>(mut client: A2aServiceClient<T>) -> (SendMessageResponse, Vec<StreamResponse>, Vec<HeaderMap>)
    where
        T: GrpcService<tonic::body::Body>,
        T::Error: Into<StdError>,
        T::ResponseBody: HttpBody<Data = Bytes> + Send + 'static,
        <T::ResponseBody as HttpBody>::Error: Into<StdError> + Send,
    {
        let (metadata, answer, _) = client.send_message(send("hello")).await.unwrap().into_parts();
        let (head, mut messages, _) = client.send_streaming_message(send("hello")).await.unwrap().into_parts();
        let mut events = Vec::new();
        while let Some(event) = messages.message().await.unwrap() {
            events.push(event);
        }
        let trailers = messages.trailers().await.unwrap().unwrap();
        (answer, events, [metadata, head, trailers].map(|metadata| metadata.into_headers()).into())
    }
    let without = seen(bare(&origin)).await;
    assert_eq!(without.1.len(), 2);
    assert_eq!(seen(guarded(&origin)).await, without);
}
