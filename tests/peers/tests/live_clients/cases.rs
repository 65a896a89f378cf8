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
    bad("stream", "do-cut", 1, Kind::Invalid("truncated")),
    bad("stream", "do-quiet", 1, Kind::Timeout("idle")),
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

impl Case {
    /// The error that a client must have, in its SDK's words, and what it hands on of the gateway's.
    pub(crate) fn error(&self, client: Client, binding: &str) -> String {
        let _ = (client, binding, self.kind);
        String::new()
    }
}
