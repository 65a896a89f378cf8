//! How a gRPC call ended, in trailers or in a head that is also the end (gRPC over HTTP/2, "Responses").

use http::{HeaderMap, HeaderValue};
use percent_encoding::percent_decode;

use super::{
    base64,
    code::{UNKNOWN, name_of_code},
    details,
};
use crate::wire::peer_error::{ErrorForm, PeerError};

/// So much of `grpc-status-details-bin` is read, in bytes of base64. Longer ones are as if they were not there.
pub const MAX_DETAILS: usize = 64 << 10;

const STATUS: &str = "grpc-status";
const MESSAGE: &str = "grpc-message";
const DETAILS: &str = "grpc-status-details-bin";

/// `grpc-status`, and what stands beside it.
#[derive(Clone, Copy, Debug)]
pub struct GrpcStatus<'a> {
    code: u8,
    fields: &'a HeaderMap,
}

impl<'a> GrpcStatus<'a> {
    /// Reads it off trailers, or off a head; `None` if there is no `grpc-status`.
    ///
    /// A value that is none of the codes 0 to 16 stands for `UNKNOWN`. Of several values the first that says no counts:
    /// readers differ about which does, and none of them may take for a success what another one takes for a failure.
    #[must_use]
    pub fn of(fields: &'a HeaderMap) -> Option<Self> {
        let mut ok = None;
        // In the few that there are it is found sooner by looking at each than by its hash.
        for (_, value) in fields.iter().filter(|(name, _)| name.as_str() == STATUS) {
            let status = Self::with_value(value, fields);
            if !status.is_ok() {
                return Some(status);
            }
            ok = Some(status);
        }
        ok
    }

    /// The same, with the value of `grpc-status` at hand.
    pub(crate) fn with_value(value: &HeaderValue, fields: &'a HeaderMap) -> Self {
        let code = match value.as_bytes() {
            [digit @ b'0'..=b'9'] => digit - b'0',
            [b'1', digit @ b'0'..=b'6'] => 10 + digit - b'0',
            _ => UNKNOWN,
        };
        Self { code, fields }
    }

    /// The code, 0 to 16.
    #[must_use]
    pub fn code(&self) -> u8 {
        self.code
    }

    /// True if the call succeeded.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// What it says as an error: the name of the code, the message, and the details (A2A 1.0 §10.6).
    #[must_use]
    pub fn to_error(&self) -> PeerError {
        let mut error = PeerError::new(ErrorForm::Grpc);
        error.status = Some(name_of_code(self.code).to_owned());
        let message = self.fields.get(MESSAGE).map(|value| value.as_bytes()).unwrap_or_default();
        if !message.is_empty() {
            // Some servers send it as it is; a percent sign that begins no escape stays one.
            error.set_message(&String::from_utf8_lossy(&percent_decode(message).collect::<Vec<_>>()));
        }
        if let Some(status) = self.details() {
            details::read(&status, &mut error);
        }
        error
    }

    /// `google.rpc.Status`, as bytes. Of several values the first that can be read counts.
    fn details(&self) -> Option<Vec<u8>> {
        let values = self.fields.get_all(DETAILS).into_iter();
        let short = values.map(|value| value.as_bytes()).filter(|value| value.len() <= MAX_DETAILS);
        short.flat_map(|value| value.split(|byte| *byte == b',')).find_map(|text| base64::decode(text.trim_ascii()))
    }
}

/// Drops what an answer that succeeded says of an error, and no client can read: details that are no base64, a message
/// that is no text. Clients read both before they look whether there is an error, and fail at them; tonic panics.
#[cold]
pub(crate) fn drop_unreadable(fields: &mut HeaderMap) {
    let is_text = |value: &HeaderValue| percent_decode(value.as_bytes()).decode_utf8().is_ok();
    let is_base64 = |value: &HeaderValue| base64::is_canonical(value.as_bytes());
    if !fields.get_all(MESSAGE).iter().all(is_text) {
        fields.remove(MESSAGE);
    }
    if !fields.get_all(DETAILS).iter().all(is_base64) {
        fields.remove(DETAILS);
    }
}

/// Drops the status, and all that belongs to it.
pub(crate) fn drop_status(fields: &mut HeaderMap) {
    for name in [STATUS, MESSAGE, DETAILS] {
        fields.remove(name);
    }
}

/// The first value of a field. In the few that there are it is found sooner by looking at each than by its hash.
#[inline]
pub(crate) fn field<'a>(fields: &'a HeaderMap, wanted: &'static str) -> Option<&'a HeaderValue> {
    fields.iter().find(|(name, _)| name.as_str() == wanted).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::wire::peer_error::A2aError;

    fn error(pairs: &[(&'static str, &str)]) -> PeerError {
        let fields: HeaderMap = pairs.iter().map(|&(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect();
        GrpcStatus::of(&fields).unwrap().to_error()
    }

    fn code(value: &str) -> Option<u8> {
        let fields: HeaderMap = [("grpc-status".parse().unwrap(), value.parse().unwrap())].into_iter().collect();
        GrpcStatus::of(&fields).map(|status| status.code())
    }

    #[test]
    fn codes() {
        assert_eq!(["0", "9", "10", "16"].map(code), [Some(0), Some(9), Some(10), Some(16)]);
        assert_eq!(["", "17", "-1", "00", "99", "abc"].map(code), [Some(2); 6]);
        assert!(GrpcStatus::of(&HeaderMap::new()).is_none());
    }

    #[test]
    fn of_several_the_first_that_says_no_counts() {
        for (values, code) in [(&["0", "0"][..], 0), (&["0", "13"], 13), (&["13", "0"], 13), (&["0", "5", "13"], 5)] {
            let name: http::HeaderName = "grpc-status".parse().unwrap();
            let fields = values.iter().fold(HeaderMap::new(), |mut fields, value| {
                fields.append(&name, value.parse().unwrap());
                fields
            });
            assert_eq!(GrpcStatus::of(&fields).map(|status| status.code()), Some(code), "{values:?}");
        }
    }

    fn fields(pairs: &[(&'static str, &[u8])]) -> HeaderMap {
        pairs.iter().fold(HeaderMap::new(), |mut fields, (name, value)| {
            fields.append(*name, HeaderValue::from_bytes(value).unwrap());
            fields
        })
    }

    #[test]
    fn only_what_no_client_can_read_is_dropped() {
        let left = |message: &[&'static [u8]], details: &[&'static [u8]]| {
            let named =
                |name, values: &[&'static [u8]]| values.iter().map(move |value| (name, *value)).collect::<Vec<_>>();
            let status: &[u8] = b"0";
            let all = [named(MESSAGE, message), named(DETAILS, details), vec![(STATUS, status), ("x-own", b"\xff")]];
            let mut fields = fields(&all.concat());
            drop_unreadable(&mut fields);
            assert_eq!([STATUS, "x-own"].map(|name| fields.get(name).unwrap().as_bytes()), [&b"0"[..], b"\xff"]);
            (fields.get_all(MESSAGE).iter().count(), fields.get_all(DETAILS).iter().count())
        };
        assert_eq!(left(&[b"%C3%A9 100% sure"], &[b"CAk"]), (1, 1));
        assert_eq!(left(&[], &[]), (0, 0));
        assert_eq!(left(&[b"%ff"], &[b"CAk="]), (0, 1));
        assert_eq!(left(&[b"a", b"\xff"], &[b"CAk"]), (0, 1));
        assert_eq!(left(&[b"a", b"b"], &[b"CAk", b"!"]), (2, 0));
    }

    #[test]
    fn a_status_is_dropped_with_all_that_belongs_to_it() {
        let mut fields =
            fields(&[(STATUS, b"5"), ("x-own", b"1"), (MESSAGE, b"a"), (MESSAGE, b"b"), (DETAILS, b"CAk")]);
        assert_eq!(field(&fields, MESSAGE).unwrap(), "a");
        assert_eq!(field(&fields, "x-own").unwrap(), "1");
        assert_eq!(field(&fields, "x-other"), None);
        drop_status(&mut fields);
        assert_eq!(fields.into_iter().map(|(name, _)| name.unwrap()).collect::<Vec<_>>(), ["x-own"]);
    }

    #[test]
    fn messages_are_percent_encoded_or_not() {
        let message = |text: &str| error(&[("grpc-status", "5"), ("grpc-message", text)]).message;
        assert_eq!(message("Task%20not%20found:%20%C3%A9").as_deref(), Some("Task not found: é"));
        assert_eq!(message("Task not found").as_deref(), Some("Task not found"));
        assert_eq!(message("100% sure, %zz").as_deref(), Some("100% sure, %zz"));
        assert_eq!(message("%ff").as_deref(), Some("\u{fffd}"));
        assert_eq!(message(""), None);
        assert_eq!(message(&"x".repeat(5000)).unwrap().len(), 1024);
    }

    #[test]
    fn the_reason_tells_which_of_those_that_share_a_code() {
        let details = "CAkSB25vIHB1c2gaXwoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW5mbxIzCh9QVVNIX05PVElGSUNBVElPTl9OT1RfU1VQUE9SVEVEEhBhMmEtcHJvdG9jb2wub3Jn";
        let read = error(&[("grpc-status", "9"), ("grpc-status-details-bin", details)]);
        assert_eq!(read.reason.as_deref(), Some("PUSH_NOTIFICATION_NOT_SUPPORTED"));
        assert_eq!(read.kind(None), Some(A2aError::PushNotificationNotSupported));
        assert_eq!((read.status.as_deref(), read.message.as_deref()), (Some("FAILED_PRECONDITION"), Some("no push")));
        let bare = error(&[("grpc-status", "9")]);
        assert_eq!((bare.kind(None), bare.reason), (None, None));
        assert_eq!(error(&[("grpc-status", "5")]).kind(None), Some(A2aError::TaskNotFound));
        // Four different errors of 0.3 have this code.
        assert_eq!(error(&[("grpc-status", "12")]).kind(None), None);
        let unsupported = "CAkaVQoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW5mbxIpChVVTlNVUFBPUlRFRF9PUEVSQVRJT04SEGEyYS1wcm90b2NvbC5vcmc=";
        let read = error(&[("grpc-status", "12"), ("grpc-status-details-bin", unsupported)]);
        assert_eq!(read.kind(None), Some(A2aError::UnsupportedOperation));
    }

    #[test]
    fn what_cannot_be_read_is_not_there() {
        for details in ["", "!!!", "////", "CAk", &"A".repeat(MAX_DETAILS + 1)] {
            let read = error(&[("grpc-status", "9"), ("grpc-message", "no"), ("grpc-status-details-bin", details)]);
            assert_eq!((read.message.as_deref(), read.reason, read.retry_after), (Some("no"), None, None));
        }
    }

    #[test]
    fn of_several_values_the_first_readable_one_counts() {
        let retry = "CAgaMAoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIECgIIAg";
        let read = error(&[("grpc-status", "8"), ("grpc-status-details-bin", &format!("!!, {retry}"))]);
        assert_eq!(read.retry_after, Some(Duration::from_secs(2)));
    }
}
