//! Requests over gRPC, written by hand: a few fields each, in the protocol buffers of 1.0 and of 0.3.

use a2a_guard::ProtocolVersion;
use bytes::{BufMut, Bytes, BytesMut};

use crate::ask::{Ask, CONFIG, WEBHOOK, fresh_id};

/// `ROLE_USER`, in both versions.
const USER: u64 = 1;

/// A protocol buffer, field by field. What is empty is left out, as proto3 does.
#[derive(Default)]
struct Message(BytesMut);

impl Message {
    fn number(mut self, field: u8, value: u64) -> Self {
        self.0.put_u8(field << 3);
        self.varint(value);
        self
    }

    fn text(self, field: u8, value: &str) -> Self {
        if value.is_empty() { self } else { self.bytes(field, value.as_bytes()) }
    }

    fn message(self, field: u8, value: Self) -> Self {
        self.bytes(field, &value.0)
    }

    fn bytes(mut self, field: u8, value: &[u8]) -> Self {
        self.0.put_u8(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.put_slice(value);
        self
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.put_u8(value as u8);
    }

    /// Behind the five bytes that say that it is not compressed, and how long it is.
    fn framed(self) -> Bytes {
        let mut framed = BytesMut::new();
        framed.put_u8(0);
        framed.put_u32(self.0.len() as u32);
        framed.put(self.0);
        framed.freeze()
    }
}

/// The method's path and its request.
pub(crate) fn request(ask: &Ask, version: ProtocolVersion) -> (&'static str, Bytes) {
    let (path, message) = if version == ProtocolVersion::V0_3 { old(ask) } else { new(ask) };
    (path, message.framed())
}

/// `lf.a2a.v1`.
fn new(ask: &Ask) -> (&'static str, Message) {
    let message = Message::default;
    let send = |text, task: &Option<String>| message().message(2, new_message(text, task.as_deref()));
    let id = |task: &str| message().text(2, task);
    match ask {
        Ask::Send { text, task } => ("/lf.a2a.v1.A2AService/SendMessage", send(text, task)),
        Ask::Stream { text, task } => ("/lf.a2a.v1.A2AService/SendStreamingMessage", send(text, task)),
        Ask::Get { task } => ("/lf.a2a.v1.A2AService/GetTask", id(task)),
        Ask::Cancel { task } => ("/lf.a2a.v1.A2AService/CancelTask", id(task)),
        Ask::Subscribe { task } => ("/lf.a2a.v1.A2AService/SubscribeToTask", id(task)),
        Ask::CreatePush { task } => (
            "/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig",
            message().text(2, CONFIG).text(3, task).text(4, WEBHOOK),
        ),
        Ask::DeletePush { task } => {
            ("/lf.a2a.v1.A2AService/DeleteTaskPushNotificationConfig", message().text(2, task).text(3, CONFIG))
        }
        Ask::ExtendedCard => ("/lf.a2a.v1.A2AService/GetExtendedAgentCard", message()),
    }
}

fn new_message(text: &str, task: Option<&str>) -> Message {
    let part = Message::default().text(1, text);
    Message::default().text(1, &fresh_id()).text(3, task.unwrap_or_default()).number(4, USER).message(5, part)
}

/// `a2a.v1`: ids are the last parts of resource names.
fn old(ask: &Ask) -> (&'static str, Message) {
    let message = Message::default;
    // A send blocks only where that is asked for.
    let blocking = || message().number(4, 1);
    let send = |text, task: &Option<String>| {
        // Its message has the numbers of the one of 1.0.
        message().message(1, new_message(text, task.as_deref())).message(2, blocking())
    };
    let name = |task: &str| message().text(1, &format!("tasks/{task}"));
    let config = |task: &str| format!("tasks/{task}/pushNotificationConfigs/{CONFIG}");
    match ask {
        Ask::Send { text, task } => ("/a2a.v1.A2AService/SendMessage", send(text, task)),
        Ask::Stream { text, task } => ("/a2a.v1.A2AService/SendStreamingMessage", send(text, task)),
        Ask::Get { task } => ("/a2a.v1.A2AService/GetTask", name(task)),
        Ask::Cancel { task } => ("/a2a.v1.A2AService/CancelTask", name(task)),
        Ask::Subscribe { task } => ("/a2a.v1.A2AService/TaskSubscription", name(task)),
        Ask::CreatePush { task } => {
            let webhook = message().text(1, CONFIG).text(2, WEBHOOK);
            let entry = message().text(1, &config(task)).message(2, webhook);
            let request = message().text(1, &format!("tasks/{task}")).text(2, CONFIG).message(3, entry);
            ("/a2a.v1.A2AService/CreateTaskPushNotificationConfig", request)
        }
        Ask::DeletePush { task } => {
            ("/a2a.v1.A2AService/DeleteTaskPushNotificationConfig", message().text(1, &config(task)))
        }
        Ask::ExtendedCard => ("/a2a.v1.A2AService/GetAgentCard", message()),
    }
}
