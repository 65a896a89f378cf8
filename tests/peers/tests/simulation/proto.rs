//! gRPC's messages. Those of 0.3 have the same field numbers, but for requests.

use a2a_pb::proto::Message;
use bytes::{BufMut, Bytes, BytesMut};

/// `a2a.v1.SendMessageRequest`
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SendMessageV03 {
    #[prost(message, optional, tag = "1")]
    pub(crate) request: Option<Message>,
}

/// `a2a.v1.GetTaskRequest`
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetTaskV03 {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
}

/// The message behind its prefix: not compressed, and so long.
pub(crate) fn framed(message: &impl prost::Message) -> Bytes {
    let length = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(5 + length);
    bytes.put_u8(0);
    bytes.put_u32(length.try_into().expect("it fits"));
    message.encode(&mut bytes).expect("room for it");
    bytes.freeze()
}

/// The one message of a request.
pub(crate) fn unframed<M: prost::Message + Default>(body: &[u8]) -> Option<M> {
    let (length, message) = body.strip_prefix(&[0])?.split_first_chunk()?;
    (u32::from_be_bytes(*length) as usize == message.len()).then(|| M::decode(message).ok())?
}
