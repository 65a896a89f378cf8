//! Refusals of gRPC servers, as the client that tonic generated has them: the whole status, to its details and
//! metadata.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use a2a_pb::proto::a2a_service_client::A2aServiceClient;
use a2a_pb::proto::{
    CancelTaskRequest, GetTaskRequest, Message, Part, Role, SendMessageRequest, TaskPushNotificationConfig, part,
};
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use crate::Judge;
use crate::sdk::Sdk;

#[derive(Clone, Copy, Debug)]
enum Ask {
    Send(&'static str),
    Stream(&'static str),
    GetTask,
    CancelTask,
    CreatePush,
}

/// What the agent with all capabilities refuses, and what the one without any does.
const ABLE: [Ask; 8] = [
    Ask::GetTask,
    Ask::CancelTask,
    Ask::Send("typed0"),
    Ask::Send("typed"),
    Ask::Stream("typed0"),
    Ask::Stream("typed"),
    Ask::Send("badfirst"),
    Ask::Stream("badfirst"),
];
/// Without end on the Rust server, whose panics leave calls open.
const CRASHES: [Ask; 2] = [Ask::Send("crash0"), Ask::Stream("crash")];
const MODEST: [Ask; 2] = [Ask::Stream("task"), Ask::CreatePush];

/// A status, without what differs from call to call.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Messages before it.
    events: usize,
    code: Code,
    message: String,
    details: usize,
    reason: Option<(String, String, HashMap<String, String>)>,
    metadata: BTreeMap<String, String>,
}

/// `able` and `modest` are each an agent's own address and that of the gateway in front of it.
pub(crate) async fn section(
    server: Sdk,
    [able, modest]: [(SocketAddr, SocketAddr); 2],
    judge: &mut Judge<'_>,
) -> Result<(), String> {
    let mut typed = 0;
    let crashes = if server == Sdk::Rust { &[][..] } else { &CRASHES };
    for (asks, (direct, through)) in [(&ABLE[..], able), (crashes, able), (&MODEST, modest)] {
        let (mut direct, mut through) = (client(direct)?, client(through)?);
        for ask in asks {
            let (direct, through) = tokio::join!(asked(&mut direct, *ask), asked(&mut through, *ask));
            let words = match &through {
                None => "no refusal, the same".to_owned(),
                Some(seen) => {
                    let reason = seen.reason.as_ref().map_or("without a reason", |(reason, ..)| reason);
                    format!("{} events, {:?} {reason}, the same status", seen.events, seen.code)
                }
            };
            typed += usize::from(through.as_ref().is_some_and(|seen| seen.reason.is_some()));
            let wrong =
                (direct != through).then(|| format!("without the gateway {direct:?}\n           with it {through:?}"));
            judge(format!("tonic       GRPC      {:<21} {words}", format!("{ask:?}").replace('"', "")), wrong);
        }
    }
    let wrong = (typed < 4).then(|| format!("{} refuses more than that", server.name()));
    judge(format!("tonic       GRPC      {typed} refusals with a reason"), wrong);
    Ok(())
}

fn client(at: SocketAddr) -> Result<A2aServiceClient<Channel>, String> {
    let endpoint = Endpoint::from_shared(format!("http://{at}")).map_err(|error| error.to_string())?;
    Ok(A2aServiceClient::new(endpoint.connect_lazy()))
}

/// The refusal, if it is one.
async fn asked(client: &mut A2aServiceClient<Channel>, ask: Ask) -> Option<Seen> {
    let id = || "no-such-task".to_owned();
    let (events, status) = match ask {
        Ask::Send(text) => (0, client.send_message(of_1_0(send(text))).await.err()),
        Ask::GetTask => (0, client.get_task(of_1_0(GetTaskRequest { id: id(), ..Default::default() })).await.err()),
        Ask::CancelTask => {
            (0, client.cancel_task(of_1_0(CancelTaskRequest { id: id(), ..Default::default() })).await.err())
        }
        Ask::CreatePush => {
            let url = "http://127.0.0.1:9/hook".to_owned();
            let config = TaskPushNotificationConfig { task_id: id(), url, ..Default::default() };
            (0, client.create_task_push_notification_config(of_1_0(config)).await.err())
        }
        Ask::Stream(text) => match client.send_streaming_message(of_1_0(send(text))).await {
            Err(status) => (0, Some(status)),
            Ok(response) => {
                let (mut messages, mut events) = (response.into_inner(), 0);
                loop {
                    match messages.message().await {
                        Ok(Some(_)) => events += 1,
                        Ok(None) => break (events, None),
                        Err(status) => break (events, Some(status)),
                    }
                }
            }
        },
    };
    status.map(|status| seen(events, &status))
}

/// Who names no version asks for 0.3 (A2A 1.0 §3.6).
fn of_1_0<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("a2a-version", MetadataValue::from_static("1.0"));
    request
}

fn send(text: &str) -> SendMessageRequest {
    let part = Part { content: Some(part::Content::Text(text.to_owned())), ..Default::default() };
    let message = Message {
        message_id: format!("m-{text}-{:?}", std::time::Instant::now()),
        role: Role::User.into(),
        parts: vec![part],
        ..Default::default()
    };
    SendMessageRequest { message: Some(message), ..Default::default() }
}

fn seen(events: usize, status: &Status) -> Seen {
    let reason = status.get_error_details().error_info().map(|info| {
        let mut metadata = info.metadata.clone();
        // When it was.
        metadata.remove("timestamp");
        (info.reason.clone(), info.domain.clone(), metadata)
    });
    let mut metadata = BTreeMap::new();
    for (name, value) in &status.metadata().clone().into_headers() {
        if name != "date" {
            metadata.insert(name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned());
        }
    }
    Seen {
        events,
        code: status.code(),
        message: status.message().to_owned(),
        details: status.details().len(),
        reason,
        metadata,
    }
}
