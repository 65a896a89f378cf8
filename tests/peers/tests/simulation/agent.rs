//! The agents, who do what they are asked and count it, and the host of their cards.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::sleep};

use crate::{
    network::{self, Answer},
    world::World,
};

/// So long the host of cards and an agent think about a card or a probe: long enough for a fault to fall into it.
const THINKING: Duration = Duration::from_millis(200);
/// Between two events.
const PACE: Duration = Duration::from_millis(100);

pub(crate) fn card(url: &str) -> String {
    json!({
        "name": "Agent", "description": "d", "version": "1",
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "s", "tags": ["t"]}],
    })
    .to_string()
}

pub(crate) fn json_answer(status: u16, body: String) -> Answer {
    let mut response = Response::new(Full::from(body).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    response
}

/// `/{host}/agent-card.json`, good for two seconds.
pub(crate) async fn serve_cards() -> turmoil::Result {
    network::serve(async |request: Request<Incoming>| {
        sleep(THINKING).await;
        let host = request.uri().path().trim_start_matches('/').split('/').next().unwrap_or_default();
        let mut answer = json_answer(200, card(&format!("http://{host}/a2a")));
        answer.headers_mut().insert("cache-control", http::HeaderValue::from_static("max-age=2"));
        answer
    })
    .await
}

pub(crate) async fn serve(world: World) -> turmoil::Result {
    network::serve(move |request| answer(request, world.clone())).await
}

async fn answer(request: Request<Incoming>, world: World) -> Answer {
    let Ok(body) = request.into_body().collect().await else { return json_answer(400, "{}".into()) };
    let call: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    match text("/method").as_str() {
        "GetTask" => {
            let id = text("/params/id");
            if !id.starts_with("get-") {
                sleep(THINKING).await;
                let error = json!({"code": -32001, "message": "no such task"});
                return json_answer(200, json!({"jsonrpc": "2.0", "id": call["id"], "error": error}).to_string());
            }
            sleep(Duration::from_millis(world.chance(&id, 300))).await;
            json_answer(200, unary(&world, &id))
        }
        "SendMessage" => {
            let id = text("/params/message/messageId");
            world.works_on(&id);
            sleep(Duration::from_millis(world.chance(&id, 400))).await;
            json_answer(200, unary(&world, &id))
        }
        "SendStreamingMessage" => {
            let id = text("/params/message/messageId");
            world.works_on(&id);
            stream(events(&world, &id))
        }
        _ => json_answer(404, "{}".into()),
    }
}

fn stream(events: Vec<String>) -> Answer {
    let (feed, fed) = mpsc::channel::<Bytes>(1);
    tokio::spawn(async move {
        for event in events {
            if feed.send(event.into()).await.is_err() {
                return;
            }
            sleep(PACE).await;
        }
    });
    let frames = tokio_stream::wrappers::ReceiverStream::new(fed);
    let frames = tokio_stream::StreamExt::map(frames, |data| Ok(http_body::Frame::data(data)));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("text/event-stream"));
    response
}

fn result(result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string()
}

fn task(id: &str, state: &str) -> Value {
    json!({"id": format!("task-{id}"), "contextId": "c", "status": {"state": state}})
}

/// The answer to a call that is no stream: up to 100 kB of it.
pub(crate) fn unary(world: &World, id: &str) -> String {
    let mut task = task(id, "TASK_STATE_COMPLETED");
    let size = usize::try_from(world.chance(id, 100_000)).expect("it fits");
    task["metadata"] = json!({"text": "t".repeat(size)});
    if id.starts_with("get-") { result(&task) } else { result(&json!({"task": task})) }
}

/// The events of a stream: a task, some artifacts, the end.
pub(crate) fn events(world: &World, id: &str) -> Vec<String> {
    let event = |value: &Value| format!("data: {}\n\n", result(value));
    let mut events = vec![event(&json!({"task": task(id, "TASK_STATE_WORKING")}))];
    for part in 0..3 + world.chance(id, 8) {
        let size = usize::try_from(world.chance(&format!("{id}/{part}"), 20_000)).expect("it fits");
        let artifact = json!({"artifactId": format!("a-{part}"), "parts": [{"text": "p".repeat(size)}]});
        events.push(event(
            &json!({"artifactUpdate": {"taskId": format!("task-{id}"), "contextId": "c", "artifact": artifact}}),
        ));
    }
    let status = json!({"state": "TASK_STATE_COMPLETED"});
    events.push(event(&json!({"statusUpdate": {"taskId": format!("task-{id}"), "contextId": "c", "status": status}})));
    events
}
