//! The official Rust client.

use std::sync::Arc;

use a2a::event::StreamResponse;
use a2a::{A2AError, Message, Part, Role, SendMessageRequest, SendMessageResponse};
use a2a_client::{A2AClientFactory, agent_card::AgentCardResolver};
use a2a_grpc::GrpcTransportFactory;
use futures::StreamExt;
use serde_json::{Value, json};

use crate::cases::Call;
use crate::client::Ended;

pub(crate) async fn call(base: &str, calls: &[Call]) -> Vec<Ended> {
    let mut ends = Vec::new();
    for call in calls {
        let mut events = Vec::new();
        let error = one(base, call, &mut events).await.err();
        ends.push(ended(events, error));
    }
    ends
}

async fn one(base: &str, call: &Call, events: &mut Vec<String>) -> Result<(), A2AError> {
    let card = AgentCardResolver::new(None).resolve(base).await?;
    let factory = A2AClientFactory::builder()
        .register(Arc::new(GrpcTransportFactory::new()))
        .preferred_bindings(vec![call.binding.to_owned()])
        .build();
    let client = factory.create_from_card(&card).await?;
    let message = Message::new(Role::User, vec![Part::text(call.case.text)]);
    let request = SendMessageRequest { message, configuration: None, metadata: None, tenant: None };
    if call.case.mode == "unary" {
        events.push(match client.send_message(&request).await? {
            SendMessageResponse::Task(task) => words(json!({ "task": task })),
            SendMessageResponse::Message(message) => words(json!({ "message": message })),
        });
        return Ok(());
    }
    let mut stream = client.send_streaming_message(&request).await?;
    while let Some(event) = stream.next().await {
        let event: StreamResponse = event?;
        events.push(words(serde_json::to_value(event).expect("an event")));
    }
    Ok(())
}

/// What one event says, without what differs from call to call.
fn words(event: Value) -> String {
    let texts = |parts: &Value| -> String {
        parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
    };
    let Some((kind, it)) = event.as_object().and_then(|event| event.iter().next()) else { return String::new() };
    let artifacts: String = it["artifacts"].as_array().into_iter().flatten().map(|one| texts(&one["parts"])).collect();
    let said = [&it["parts"], &it["artifact"]["parts"], &it["status"]["message"]["parts"]].map(texts).concat();
    format!("{kind} {} {said}{artifacts}", it["status"]["state"].as_str().unwrap_or_default())
}

fn ended(events: Vec<String>, error: Option<A2AError>) -> Ended {
    let Some(error) = error else {
        return Ended { events, error: None, message: None, outcome: None, class: None };
    };
    let told = |name: &str| {
        let details = error.details.iter().flatten();
        details.filter_map(|detail| Some(detail.value.get("metadata")?.get(name)?.as_str()?.to_owned())).next()
    };
    Ended {
        events,
        outcome: told("outcome"),
        class: told("class"),
        error: Some(error.code.to_string()),
        message: Some(error.message.clone()),
    }
}
