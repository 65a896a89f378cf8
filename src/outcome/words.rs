//! The vocabulary.

use std::fmt;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OutcomeKind {
    /// The peer did what was asked. A task that failed is a successful call.
    Success,
    /// The peer said no in a defined way.
    Refused,
    /// The peer failed in a way that no protocol types; typed here.
    Broken,
    /// A bound was reached.
    Timeout,
    /// Refused before it was sent, because of what the agent's card says or lacks.
    Card,
    /// A routing signal: the card or availability entry is stale; re-fetch and re-route.
    Stale,
    /// The connection failed.
    Transport,
    /// The caller dropped the call before it ended.
    Abandoned,
}

impl OutcomeKind {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Refused => "refused",
            Self::Broken => "broken",
            Self::Timeout => "timeout",
            Self::Card => "card",
            Self::Stale => "stale",
            Self::Transport => "transport",
            Self::Abandoned => "abandoned",
        }
    }

    /// Every outcome there is.
    pub const ALL: &'static [Self] = &[
        Self::Success,
        Self::Refused,
        Self::Broken,
        Self::Timeout,
        Self::Card,
        Self::Stale,
        Self::Transport,
        Self::Abandoned,
    ];
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The class of an outcome: what exactly happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Class {
            $($(#[$doc])* $name,)*
        }

        impl Class {
            /// The stable word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// Every class there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

classes! {
    /// Success.
    Success = "success",
    /// Refused: a JSON-RPC error, a `google.rpc.Status`, problem details, a `grpc-status`.
    PeerError = "peer_error",
    /// Refused: 401, 403, 407; gRPC `UNAUTHENTICATED` and `PERMISSION_DENIED`.
    Auth = "auth",
    /// Refused: 429; gRPC `RESOURCE_EXHAUSTED` with a `RetryInfo`.
    RateLimited = "rate_limited",
    /// Refused: 503; gRPC `UNAVAILABLE`.
    Unavailable = "unavailable",
    /// Refused: 404, 405 or 410 without a body that says more: a missing route, not a missing task.
    EndpointNotFound = "endpoint_not_found",
    /// Refused: 3xx. Redirects are not followed.
    Redirected = "redirected",
    /// Refused: 415.
    UnsupportedMedia = "unsupported_media",
    /// Refused: 413. Broken: a body or an event over its cap. Card: a card over its cap.
    TooLarge = "too_large",
    /// Broken: any other status without a typed error. Card: the card's.
    HttpStatus = "http_status",
    /// Broken: a success of a media type that cannot be one.
    WrongMediaType = "wrong_media_type",
    /// Broken: not JSON, JSON cut short, or garbage after it; not a gRPC message.
    Malformed = "malformed",
    /// Broken: JSON that is no valid envelope or result, or the answer to another call.
    ProtocolViolation = "protocol_violation",
    /// Broken: a clean end with nothing in it.
    Empty = "empty",
    /// Broken: ended before the task came to rest, or without a `grpc-status`.
    Truncated = "truncated",
    /// Broken: one result where a stream was asked for.
    SilentDowngrade = "silent_downgrade",
    /// Broken: a content coding that nobody decoded.
    ContentEncoding = "content_encoding",
    /// Timeout: the client below did not become ready.
    Ready = "ready",
    /// Timeout: no response head.
    Head = "head",
    /// Timeout: a head, but no event.
    FirstEvent = "first_event",
    /// Timeout: no bytes.
    Idle = "idle",
    /// Timeout: bytes, but no event.
    EventGap = "event_gap",
    /// Timeout: the whole call.
    Total = "total",
    /// Card: none at any location.
    NotFound = "not_found",
    /// Card: 401 or 403.
    Unauthorized = "unauthorized",
    /// Card: not JSON.
    NotJson = "not_json",
    /// Card: not fetched in time.
    FetchTimeout = "fetch_timeout",
    /// Card: a required field is missing.
    MissingField = "missing_field",
    /// Card: a URL that cannot be called.
    UnusableUrl = "unusable_url",
    /// Card: no interface of the card is the target.
    UrlMismatch = "url_mismatch",
    /// Card: the request carries another tenant.
    TenantMismatch = "tenant_mismatch",
    /// Card: no interface that the client speaks.
    NoCompatibleInterface = "no_compatible_interface",
    /// Card: a binding that the client speaks, but in none of the client's versions.
    UnsupportedVersion = "unsupported_version",
    /// Card: the capability that the operation needs is not declared.
    CapabilityMissing = "capability_missing",
    /// Card: a required extension is missing.
    ExtensionMissing = "extension_missing",
    /// Card: a shape that the capability does not admit.
    ShapeNotAdmitted = "shape_not_admitted",
    /// Card: no valid signature.
    Signature = "signature",
    /// Stale: the skill is not available here.
    SkillUnavailable = "skill_unavailable",
    /// Stale: a probe found something other than A2A at the endpoint.
    EndpointNotConforming = "endpoint_not_conforming",
    /// Transport: no connection.
    Connect = "connect",
    /// Transport: the connection was lost before a response head came.
    ConnectionLost = "connection_lost",
    /// Transport: no secure connection.
    Tls = "tls",
    /// Abandoned by the caller.
    Abandoned = "abandoned",
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_stable_and_distinct() {
        let words: std::collections::BTreeSet<_> = Class::ALL.iter().map(|class| class.as_str()).collect();
        assert_eq!(words.len(), Class::ALL.len());
        assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
        assert_eq!(OutcomeKind::Abandoned.to_string(), "abandoned");
    }
}
