//! The agents, who do what they are asked and count it, and the host of their cards.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use serde_json::json;
use tokio::{sync::mpsc, time::sleep};

use crate::{
    answers,
    dialect::{self, Asked, Dialect, Kind},
    network::{self, Answer},
    world::World,
};

/// So long the host of cards and an agent think about a card or a probe: long enough for a fault to fall into it.
const THINKING: Duration = Duration::from_millis(200);
/// Between two events.
const PACE: Duration = Duration::from_millis(100);

/// The card of a host that speaks every dialect.
fn card(host: &str) -> String {
    let interfaces = Dialect::ALL.map(|dialect| {
        let (path, binding, version) = dialect.interface();
        json!({"url": format!("http://{host}{path}"), "protocolBinding": binding, "protocolVersion": version})
    });
    json!({
        "name": "Agent", "description": "d", "version": "1",
        "supportedInterfaces": interfaces,
        "capabilities": {"streaming": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "s", "tags": ["t"]}],
    })
    .to_string()
}

/// A whole answer of JSON.
fn json_answer(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()).map_err(|never: Infallible| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// `/{host}/agent-card.json`, good for two seconds.
pub(crate) async fn serve_cards(world: World) -> turmoil::Result {
    network::serve(world, "cards", async |request: Request<Incoming>| {
        sleep(THINKING).await;
        let host = request.uri().path().trim_start_matches('/').split('/').next().unwrap_or_default();
        let mut answer = json_answer(StatusCode::OK, card(host));
        answer.headers_mut().insert("cache-control", HeaderValue::from_static("max-age=2"));
        answer
    })
    .await
}

pub(crate) async fn serve(name: &'static str, world: World) -> turmoil::Result {
    network::serve(world.clone(), name, move |request| answer(request, world.clone())).await
}

async fn answer(request: Request<Incoming>, world: World) -> Answer {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else { return json_answer(StatusCode::BAD_REQUEST, "{}") };
    let Some(asked) = dialect::read(&head.method, &head.uri, &head.headers, &body.to_bytes()) else {
        world.wrong(format!("nobody understands {} {}", head.method, head.uri));
        return json_answer(StatusCode::NOT_FOUND, "{}");
    };
    let Asked { dialect, kind, id, .. } = &asked;
    match kind {
        Kind::Get if !id.starts_with("get-") => {
            sleep(THINKING).await;
            return no_such_task(&asked);
        }
        Kind::Get => sleep(Duration::from_millis(world.chance(id, 300))).await,
        Kind::Send => {
            world.works_on(id);
            sleep(Duration::from_millis(world.chance(id, 400))).await;
        }
        Kind::Stream => {
            world.works_on(id);
            return stream(world, *dialect, id.clone()).await;
        }
    }
    world.completes(id);
    let whole = answers::unary(&world, *dialect, *kind, id);
    if dialect.is_grpc() { grpc([Ok(Frame::data(whole)), Ok(trailers())]) } else { json_answer(StatusCode::OK, whole) }
}

/// As each dialect says it, for the task of a probe.
fn no_such_task(asked: &Asked) -> Answer {
    let error = json!({"code": -32001, "message": "no such task"});
    match asked.dialect {
        Dialect::Rpc | Dialect::RpcV03 => {
            let answer = json!({"jsonrpc": "2.0", "id": asked.rpc_id, "error": error});
            json_answer(StatusCode::OK, answer.to_string())
        }
        Dialect::Rest => {
            let details = json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org",
            }]);
            let error = json!({"code": 404, "status": "NOT_FOUND", "message": "no such task", "details": details});
            json_answer(StatusCode::NOT_FOUND, json!({"error": error}).to_string())
        }
        Dialect::RestV03 => json_answer(StatusCode::NOT_FOUND, error.to_string()),
        Dialect::Grpc | Dialect::GrpcV03 => {
            let mut answer = grpc([]);
            answer.headers_mut().insert("grpc-status", HeaderValue::from_static("5"));
            answer
        }
    }
}

type Frames = Result<Frame<Bytes>, a2a_guard::BoxError>;

fn trailers() -> Frame<Bytes> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    Frame::trailers(trailers)
}

fn grpc<const N: usize>(frames: [Frames; N]) -> Answer {
    let mut answer = Response::new(StreamBody::new(tokio_stream::iter(frames)).boxed_unsync());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    answer
}

/// Some streams have their head at once, others only with their first event; and events come in pieces.
async fn stream(world: World, dialect: Dialect, id: String) -> Answer {
    let before = Duration::from_millis(world.chance(&format!("{id}/before"), 800));
    let head_first = world.chance(&format!("{id}/head"), 2) == 0;
    if !head_first {
        sleep(before).await;
    }
    let (feed, fed) = mpsc::channel::<Frames>(1);
    tokio::spawn(async move {
        if head_first {
            sleep(before).await;
        }
        let events = answers::events(&world, dialect, &id);
        let last = events.len() - 1;
        for (nth, mut event) in events.into_iter().enumerate() {
            let cut =
                usize::try_from(world.chance(&format!("{id}/cut/{nth}"), 2 * event.len() as u64)).expect("it fits");
            if cut < event.len() {
                if feed.send(Ok(Frame::data(event.split_to(cut)))).await.is_err() {
                    return;
                }
                sleep(PACE / 4).await;
            }
            if nth == last {
                world.completes(&id);
            }
            if feed.send(Ok(Frame::data(event))).await.is_err() {
                return;
            }
            sleep(PACE).await;
        }
        if dialect.is_grpc() {
            // Whoever is gone does not miss them.
            let _ = feed.send(Ok(trailers())).await;
        }
    });
    let mut response = Response::new(StreamBody::new(tokio_stream::wrappers::ReceiverStream::new(fed)).boxed_unsync());
    let media = if dialect.is_grpc() { "application/grpc" } else { "text/event-stream" };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}
