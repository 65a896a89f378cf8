//! The calls that are made, and what must come of those that go wrong.

use crate::client::Client;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// `unary` or `stream`.
    pub(crate) mode: &'static str,
    pub(crate) text: &'static str,
    /// How many events come before the error.
    pub(crate) events: usize,
    kind: Kind,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Nothing,
    /// The agent's answer is none: -32006 (A2A 1.0 §5.4).
    Invalid(&'static str),
    /// The agent does not answer: -32603.
    Timeout(&'static str),
}

const fn good(mode: &'static str, text: &'static str) -> Case {
    Case { mode, text, events: 0, kind: Kind::Nothing }
}

const fn bad(mode: &'static str, text: &'static str, events: usize, kind: Kind) -> Case {
    Case { mode, text, events, kind }
}

/// Of the agent that does as it is told.
pub(crate) const GOOD: &[Case] =
    &[good("unary", "do-well"), good("stream", "do-well"), good("stream", "do-count:0100")];

pub(crate) const BAD: &[Case] = &[
    bad("unary", "do-page", 0, Kind::Invalid("http_status")),
    bad("unary", "do-half", 0, Kind::Invalid("malformed")),
    bad("unary", "do-hang", 0, Kind::Timeout("head")),
    bad("stream", "do-page", 0, Kind::Invalid("http_status")),
    bad("stream", "do-hang", 0, Kind::Timeout("head")),
    bad("stream", "do-cut", 1, Kind::Invalid("truncated")),
    bad("stream", "do-quiet", 1, Kind::Timeout("idle")),
];

/// Of real servers over gRPC: agents that hang, that stop before their task does, and that say nothing.
pub(crate) const AILING: &[Case] = &[
    bad("unary", "hang0", 0, Kind::Timeout("head")),
    bad("stream", "hang0", 0, Kind::Timeout("first_event")),
    bad("stream", "hang", 2, Kind::Timeout("idle")),
    bad("stream", "unfinished", 2, Kind::Invalid("truncated")),
    bad("stream", "empty", 0, Kind::Invalid("empty")),
];

/// And of one whose agent's panics leave calls open.
pub(crate) const PANICS: &[Case] = &[
    bad("unary", "crash0", 0, Kind::Timeout("head")),
    bad("stream", "crash0", 0, Kind::Timeout("first_event")),
    bad("stream", "crash", 2, Kind::Timeout("idle")),
];

/// Of real servers: successes, and refusals of their own.
pub(crate) const VERBS: &[Case] = &[
    good("unary", "message"),
    good("unary", "task"),
    good("unary", "fail"),
    good("unary", "big:100000"),
    good("unary", "typed0"),
    good("stream", "message"),
    good("stream", "task"),
    good("stream", "reject"),
    good("stream", "input"),
    good("stream", "big:100000"),
    good("stream", "typed0"),
];

/// A case over a binding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) binding: &'static str,
    pub(crate) case: Case,
}

/// Each case over each binding.
pub(crate) fn calls(bindings: &[&'static str], cases: &[Case]) -> Vec<Call> {
    bindings.iter().flat_map(|&binding| cases.iter().map(move |&case| Call { binding, case })).collect()
}

impl Call {
    /// What it comes to if it goes wrong.
    pub(crate) fn outcome(&self) -> Option<(&'static str, &'static str)> {
        match self.case.kind {
            Kind::Nothing => None,
            Kind::Invalid(class) => Some(("broken", class)),
            Kind::Timeout(class) => Some(("timeout", class)),
        }
    }

    /// The error that a client must have, in its SDK's words, and what it hands on of the gateway's.
    pub(crate) fn error(&self, client: Client) -> String {
        let Some((outcome, class)) = self.outcome() else { return "no error".to_owned() };
        let invalid = outcome == "broken";
        // In a stream that has begun, some read errors otherwise than in place of one.
        let within = self.case.events > 0;
        // A message that ends within its frame shows that it was cut.
        let class = if self.binding == "GRPC" && class == "malformed" { "truncated" } else { class };
        let (error, tells) = match (client, self.binding) {
            // It reads no error in a stream over HTTP+JSON, not even its own server's.
            (Client::Rust, "HTTP+JSON") if within => ("-32603", false),
            (Client::Rust, binding) => (if invalid { "-32006" } else { "-32603" }, binding != "GRPC"),
            // Reasons that are not the protocol's it does not know.
            (Client::Python, "HTTP+JSON") if !invalid => ("A2AClientError", false),
            (Client::Python, "GRPC") if !invalid => ("A2AClientTimeoutError", false),
            (Client::Python, binding) => {
                (if invalid { "InvalidAgentResponseError" } else { "InternalError" }, binding != "GRPC")
            }
            // In a stream over JSON-RPC it makes a text of the error.
            (Client::Js, "JSONRPC") if within => (if invalid { "Error -32006" } else { "Error -32603" }, false),
            (Client::Js, "JSONRPC") => {
                (if invalid { "InvalidAgentResponseError" } else { "JsonRpcTransportError" }, false)
            }
            (Client::Python03, "JSONRPC") => {
                (if invalid { "A2AClientJSONRPCError -32006" } else { "A2AClientJSONRPCError -32603" }, true)
            }
            // It reads no error in a stream over HTTP+JSON, which its own server cuts instead.
            (Client::Python03, "HTTP+JSON") if within => ("ParseError", false),
            // Nor does it look behind the status.
            (Client::Python03, "HTTP+JSON") => {
                (if invalid { "A2AClientHTTPError 500" } else { "A2AClientHTTPError 504" }, false)
            }
            (Client::Python03, _) => {
                (if invalid { "AioRpcError INTERNAL" } else { "AioRpcError DEADLINE_EXCEEDED" }, false)
            }
            (Client::Js03, "JSONRPC") => (if invalid { "InvalidAgentResponseError" } else { "Error -32603" }, true),
            (Client::Js03, "HTTP+JSON") => (if invalid { "InvalidAgentResponseError" } else { "Error -32603" }, false),
            // It has types for a few statuses, and these are not among them.
            (Client::Js03, _) => (if invalid { "Error 13" } else { "Error 4" }, false),
            (Client::Js, _) => (if invalid { "InvalidAgentResponseError" } else { "A2AError" }, invalid),
        };
        if tells { format!("{error} {outcome}/{class}") } else { error.to_owned() }
    }
}
