//! The few messages that the layers write themselves, and the tenant set in a caller's: pure functions over bytes.

use bytes::Bytes;

use super::answer::GrpcDialect;
use super::frame::{PREFIX, Prefix};
use super::request::{GrpcRequestScan, RequestLayout};
use super::varint::put;

/// A message on its way out: fields in the order in which they are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<u8>);

impl Message {
    /// A message without fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// A message of these bytes, whatever they are.
    #[cfg(test)]
    pub(super) const fn of_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Adds a string.
    #[must_use]
    pub fn text(self, number: u32, text: &str) -> Self {
        self.bytes(number, text.as_bytes())
    }

    /// Adds a string, unless it is empty.
    #[must_use]
    pub fn text_unless_empty(self, number: u32, text: &str) -> Self {
        if text.is_empty() { self } else { self.text(number, text) }
    }

    /// Adds bytes.
    #[must_use]
    pub fn bytes(mut self, number: u32, bytes: &[u8]) -> Self {
        put(&mut self.0, u64::from(number << 3 | 2));
        put(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn message(self, number: u32, message: Self) -> Self {
        self.bytes(number, &message.0)
    }

    /// Adds a number, a boolean or an enum.
    #[must_use]
    pub fn number(mut self, number: u32, value: u64) -> Self {
        put(&mut self.0, u64::from(number << 3));
        put(&mut self.0, value);
        self
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its bytes behind their prefix. `None` if their length has more than 32 bits.
    #[must_use]
    pub fn framed(&self) -> Option<Bytes> {
        framed([&self.0[..]])
    }
}

/// The pieces of one message behind their prefix.
fn framed<'a>(pieces: impl IntoIterator<Item = &'a [u8]> + Clone) -> Option<Bytes> {
    let len = pieces.clone().into_iter().map(<[u8]>::len).sum::<usize>();
    let prefix = Prefix { compressed: false, len: u32::try_from(len).ok()? };
    let mut bytes = Vec::with_capacity(PREFIX + len);
    bytes.extend(prefix.to_bytes());
    pieces.into_iter().for_each(|piece| bytes.extend_from_slice(piece));
    Some(bytes.into())
}

/// A request about one task, `GetTaskRequest` or `CancelTaskRequest`, which look alike. In 0.3 there are no tenants.
#[must_use]
pub fn about_task(dialect: GrpcDialect, task_id: &str, tenant: Option<&str>) -> Message {
    match dialect {
        GrpcDialect::V1 => Message::new().text_unless_empty(1, tenant.unwrap_or_default()).text(2, task_id),
        GrpcDialect::V03 => Message::new().text(1, &format!("tasks/{task_id}")),
    }
}

/// A `SendMessageRequest` with one text, sent as the user's; `flags` are booleans of its metadata.
#[must_use]
pub fn send_text(
    dialect: GrpcDialect,
    message_id: &str,
    text: &str,
    flags: &[(&str, bool)],
    tenant: Option<&str>,
) -> Message {
    const USER: u64 = 1;
    let part = Message::new().text(1, text);
    let message = Message::new().text(1, message_id).number(4, USER).message(5, part);
    // `google.protobuf.Struct`: a map of `google.protobuf.Value`, whose bool_value is 4.
    let metadata = flags.iter().fold(Message::new(), |metadata, &(name, on)| {
        let value = Message::new().number(4, u64::from(on));
        metadata.message(1, Message::new().text(1, name).message(2, value))
    });
    let with_metadata = |request: Message, number| match flags {
        [] => request,
        _ => request.message(number, metadata),
    };
    match dialect {
        GrpcDialect::V1 => {
            let request = Message::new().text_unless_empty(1, tenant.unwrap_or_default()).message(2, message);
            with_metadata(request, 4)
        }
        GrpcDialect::V03 => with_metadata(Message::new().message(1, message), 3),
    }
}

/// A `SendMessageResponse` or a `StreamResponse`, in which field 1 is the task, around the bytes of one.
#[must_use]
pub fn with_task(task: &[u8]) -> Message {
    Message::new().bytes(1, task)
}

/// Why a request's tenant can be neither read nor set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum TenantError {
    /// The request is compressed.
    #[error("the request message is compressed")]
    Compressed,
    /// It is not exactly one whole message.
    #[error("the request is not one whole message")]
    NotOneMessage,
    /// Requests of this kind have no tenant: those of A2A 0.3.
    #[error("requests of this version have no tenant")]
    NoField,
    /// With a tenant it would be longer than a message may be.
    #[error("the request message is too long")]
    TooLong,
}

/// The tenant of a framed request; empty if it has none.
///
/// # Errors
/// If it cannot be read.
pub fn tenant_of(framed: &[u8], layout: RequestLayout) -> Result<String, TenantError> {
    let message = message_of(framed)?;
    if !layout.has_tenant() {
        return Err(TenantError::NoField);
    }
    let mut scan = GrpcRequestScan::new(layout, None, None);
    scan.feed(framed);
    let tenant = &scan.facts().tenant;
    if !scan.is_valid() || tenant.is_truncated() || message.len() + PREFIX != framed.len() {
        return Err(TenantError::NotOneMessage);
    }
    Ok(tenant.as_str().to_owned())
}

/// A framed request with its tenant set. Nothing else of it changes: the field is added behind all others, where the
/// last of a kind counts.
///
/// # Errors
/// If it cannot be set.
pub fn with_tenant(framed_request: &[u8], layout: RequestLayout, tenant: &str) -> Result<Bytes, TenantError> {
    let message = message_of(framed_request)?;
    let number = layout.tenant_field().ok_or(TenantError::NoField)?;
    let field = Message::new().text(number, tenant);
    framed([message, field.as_bytes()]).ok_or(TenantError::TooLong)
}

/// The one message of a request that is whole.
fn message_of(framed: &[u8]) -> Result<&[u8], TenantError> {
    let (prefix, message) = framed.split_first_chunk::<PREFIX>().ok_or(TenantError::NotOneMessage)?;
    let [flag, len @ ..] = *prefix;
    match flag {
        0 if u32::from_be_bytes(len) as usize == message.len() => Ok(message),
        1 => Err(TenantError::Compressed),
        _ => Err(TenantError::NotOneMessage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_about_a_task() {
        let request = about_task(GrpcDialect::V1, "t-1", Some("acme"));
        assert_eq!(request.as_bytes(), b"\x0a\x04acme\x12\x03t-1");
        assert_eq!(about_task(GrpcDialect::V1, "t-1", None).as_bytes(), b"\x12\x03t-1");
        assert_eq!(about_task(GrpcDialect::V03, "t-1", Some("acme")).as_bytes(), b"\x0a\x09tasks/t-1");
        assert_eq!(&request.framed().unwrap()[..6], b"\0\0\0\0\x0b\x0a");
    }

    #[test]
    fn a_text_to_send() {
        let send = |dialect, flags: &[(&str, bool)], tenant| send_text(dialect, "m", "hi", flags, tenant);
        let message = b"\x0a\x01m\x20\x01\x2a\x04\x0a\x02hi";
        assert_eq!(send(GrpcDialect::V1, &[], None).as_bytes(), [&b"\x12\x0b"[..], message].concat());
        assert_eq!(send(GrpcDialect::V03, &[], Some("no field")).as_bytes(), [&b"\x0a\x0b"[..], message].concat());
        let flagged = [&b"\x0a\x01t\x12\x0b"[..], message, b"\x22\x09\x0a\x07\x0a\x01f\x12\x02\x20\x01"].concat();
        assert_eq!(send(GrpcDialect::V1, &[("f", true)], Some("t")).as_bytes(), flagged);
        assert_eq!(with_task(b"ab").as_bytes(), b"\x0a\x02ab");
    }

    #[test]
    fn a_tenant_is_set_and_read() {
        let about = || about_task(GrpcDialect::V1, "t-1", None);
        for (layout, request) in [
            (RequestLayout::V1_SEND, send_text(GrpcDialect::V1, "m", "hi", &[("probe", true)], None)),
            (RequestLayout::V1_TASK, about()),
            (RequestLayout::V1_LIST_PUSH, Message::new().text(1, "t-1")),
        ] {
            let framed = request.framed().unwrap();
            assert_eq!(tenant_of(&framed, layout).as_deref(), Ok(""));
            let set = with_tenant(&framed, layout, "acme").unwrap();
            assert_eq!(tenant_of(&set, layout).as_deref(), Ok("acme"));
            // The rest stands in front of it as it was.
            assert_eq!(set[PREFIX..framed.len()], framed[PREFIX..]);
            // And it is set anew.
            assert_eq!(tenant_of(&with_tenant(&set, layout, "other").unwrap(), layout).as_deref(), Ok("other"));
        }
        let empty = Message::new().framed().unwrap();
        assert_eq!(&with_tenant(&empty, RequestLayout::V1_LIST_PUSH, "a").unwrap()[..], b"\0\0\0\0\x03\x22\x01a");
    }

    #[test]
    fn what_is_not_one_plain_message_is_left_alone() {
        let of = |framed: &[u8]| with_tenant(framed, RequestLayout::V1_TASK, "a");
        assert_eq!(of(b"\x01\0\0\0\0"), Err(TenantError::Compressed));
        assert_eq!(of(b"\0\0\0\0\x01"), Err(TenantError::NotOneMessage));
        assert_eq!(of(b"\0\0\0\0\0\0\0\0\0\0"), Err(TenantError::NotOneMessage));
        assert_eq!(of(b"\0\0"), Err(TenantError::NotOneMessage));
        assert_eq!(of(b"\x02\0\0\0\0"), Err(TenantError::NotOneMessage));
        assert_eq!(with_tenant(b"\0\0\0\0\0", RequestLayout::V03_NAME, "a"), Err(TenantError::NoField));
        assert_eq!(tenant_of(b"\0\0\0\0\x01\xff", RequestLayout::V1_TASK), Err(TenantError::NotOneMessage));
    }
}
