use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// A peer's answer, as far as it was kept: enough to replay a refusal unchanged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PeerResponse {
    /// The status of its head.
    pub status: StatusCode,
    /// The headers of its head.
    pub headers: HeaderMap,
    /// Its body, or the event that refused, up to the cap for refusals (64 KiB by default).
    pub body: Bytes,
    /// Its trailers, if it had any.
    pub trailers: Option<HeaderMap>,
    /// The body went on beyond what was kept: the rest was dropped, not waited for.
    pub truncated: bool,
}
