//! The messages of an answer, as prost decodes them: no more of them than is read. The field numbers are those of
//! `specification/a2a.proto`.

use prost::{
    Message as _, Oneof,
    encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field},
};

#[derive(Clone, PartialEq, prost::Message)]
pub struct Status {
    #[prost(int32, tag = "1")]
    pub state: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Task {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, tag = "2")]
    pub context_id: String,
    #[prost(message, optional, tag = "3")]
    pub status: Option<Status>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    #[prost(string, tag = "2")]
    pub context_id: String,
    #[prost(string, tag = "3")]
    pub task_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct StatusUpdate {
    #[prost(string, tag = "1")]
    pub task_id: String,
    #[prost(string, tag = "2")]
    pub context_id: String,
    #[prost(message, optional, tag = "3")]
    pub status: Option<Status>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct StatusUpdateV03 {
    #[prost(string, tag = "1")]
    pub task_id: String,
    #[prost(string, tag = "2")]
    pub context_id: String,
    #[prost(message, optional, tag = "3")]
    pub status: Option<Status>,
    #[prost(bool, tag = "4")]
    pub is_final: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ArtifactUpdate {
    #[prost(string, tag = "1")]
    pub task_id: String,
    #[prost(string, tag = "2")]
    pub context_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SendResult {
    #[prost(oneof = "SendPayload", tags = "1, 2")]
    pub payload: Option<SendPayload>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum SendPayload {
    #[prost(message, tag = "1")]
    Task(Task),
    #[prost(message, tag = "2")]
    Message(Message),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct StreamEvent {
    #[prost(oneof = "StreamPayload", tags = "1, 2, 3, 4")]
    pub payload: Option<StreamPayload>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum StreamPayload {
    #[prost(message, tag = "1")]
    Task(Task),
    #[prost(message, tag = "2")]
    Message(Message),
    #[prost(message, tag = "3")]
    StatusUpdate(StatusUpdate),
    #[prost(message, tag = "4")]
    ArtifactUpdate(ArtifactUpdate),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct StreamEventV03 {
    #[prost(oneof = "StreamPayloadV03", tags = "1, 2, 3, 4")]
    pub payload: Option<StreamPayloadV03>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum StreamPayloadV03 {
    #[prost(message, tag = "1")]
    Task(Task),
    #[prost(message, tag = "2")]
    Message(Message),
    #[prost(message, tag = "3")]
    StatusUpdate(StatusUpdateV03),
    #[prost(message, tag = "4")]
    ArtifactUpdate(ArtifactUpdate),
}

/// What an answer is, whatever it is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    Nothing,
    Task(Task),
    Message(Message),
    StatusUpdate(StatusUpdateV03),
    ArtifactUpdate(ArtifactUpdate),
}

/// Decodes the answer to a send.
///
/// # Errors
/// It is no message.
pub fn send_result(bytes: &[u8]) -> Result<Payload, prost::DecodeError> {
    Ok(match SendResult::decode(bytes)?.payload {
        None => Payload::Nothing,
        Some(SendPayload::Task(task)) => Payload::Task(task),
        Some(SendPayload::Message(message)) => Payload::Message(message),
    })
}

/// Decodes an event of a stream.
///
/// # Errors
/// It is no message.
pub fn stream_event(bytes: &[u8], is_v03: bool) -> Result<Payload, prost::DecodeError> {
    if is_v03 {
        return Ok(match StreamEventV03::decode(bytes)?.payload {
            None => Payload::Nothing,
            Some(StreamPayloadV03::Task(task)) => Payload::Task(task),
            Some(StreamPayloadV03::Message(message)) => Payload::Message(message),
            Some(StreamPayloadV03::StatusUpdate(update)) => Payload::StatusUpdate(update),
            Some(StreamPayloadV03::ArtifactUpdate(update)) => Payload::ArtifactUpdate(update),
        });
    }
    Ok(match StreamEvent::decode(bytes)?.payload {
        None => Payload::Nothing,
        Some(StreamPayload::Task(task)) => Payload::Task(task),
        Some(StreamPayload::Message(message)) => Payload::Message(message),
        Some(StreamPayload::StatusUpdate(StatusUpdate { task_id, context_id, status })) => {
            Payload::StatusUpdate(StatusUpdateV03 { task_id, context_id, status, is_final: false })
        }
        Some(StreamPayload::ArtifactUpdate(update)) => Payload::ArtifactUpdate(update),
    })
}

/// Decodes a task.
///
/// # Errors
/// It is no message.
pub fn task(bytes: &[u8]) -> Result<Payload, prost::DecodeError> {
    Task::decode(bytes).map(Payload::Task)
}

/// Decodes anything.
///
/// # Errors
/// It is no message.
pub fn anything(bytes: &[u8]) -> Result<(), prost::DecodeError> {
    <()>::decode(bytes)
}

/// Does the message of an answer that is one hold anything: an id, a role, or parts?
#[must_use]
pub fn has_content(bytes: &[u8], is_event: bool) -> bool {
    let members = if is_event { 1..=4 } else { 1..=2 };
    let (mut member, mut has_content) = (0, false);
    for (number, wire, value) in fields(bytes) {
        if wire != WireType::LengthDelimited || !members.contains(&number) {
            continue;
        }
        // Another one takes the place of what was there, the same one is merged with it.
        if member != number {
            (member, has_content) = (number, false);
        }
        has_content |= number == 2 && fields(value).any(|(number, ..)| matches!(number, 1 | 4 | 5));
    }
    has_content
}

/// Number, type and value of each field, up to the first that is none.
fn fields(bytes: &[u8]) -> impl Iterator<Item = (u32, WireType, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (number, wire) = decode_key(&mut rest).ok()?;
        let length = match wire {
            WireType::EndGroup => return None,
            WireType::StartGroup => {
                skip_field(wire, number, &mut rest, DecodeContext::default()).ok()?;
                0
            }
            WireType::Varint => {
                decode_varint(&mut rest).ok()?;
                0
            }
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::LengthDelimited => usize::try_from(decode_varint(&mut rest).ok()?).ok()?,
        };
        let (value, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some((number, wire, value))
    })
}
