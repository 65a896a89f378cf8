//! How a caller is to be answered.

use std::sync::Arc;

use http::{HeaderMap, Method, Request, header::ACCEPT};

use crate::{
    call::{self, Binding, Call, Order, ProtocolVersion, Rank},
    error::CallError,
    wire::JsonRpcId,
};

/// What is known of a request, kept until its answer is over.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    call: Call,
    /// A POST whose body nobody read: HTTP+JSON shows in the path, and gRPC in the media type, so it is most likely
    /// JSON-RPC.
    unread_post: bool,
    /// A stream, by a caller that may be one of 0.3 and names no JSON as what it accepts.
    prefers_events: bool,
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// Where `as_event`, an answer that is not begun is an event stream too, with the error alone in it.
    JsonRpc {
        id: JsonRpcId,
        version: Version,
        as_event: bool,
    },
    HttpJson {
        version: Version,
    },
    Grpc {
        version: Version,
    },
}

/// The dialect of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 0.3 and older.
    Old,
    /// 1.0 and what follows, and all that is no A2A.
    Current(Option<ProtocolVersion>),
}

impl Asked {
    pub(super) fn of<B>(request: &mut Request<B>, order: &Arc<Order>) -> Self {
        let call = call::come_past(request, Rank::Refusal, order);
        let unread_post = call.began().is_none() && request.method() == Method::POST;
        // Callers of 1.0 get JSON whatever they accept, so that theirs need not be read.
        let may_be_old = call.version().is_none_or(|version| version < ProtocolVersion::V1_0);
        let prefers_events = call.is_streaming() && may_be_old && prefers_events(request.headers());
        Self { call, unread_post, prefers_events }
    }

    pub(super) fn call(&self) -> &Call {
        &self.call
    }

    /// The form of an answer that tells of `error`, whose own call may be known better than ours: by its card, say.
    pub(super) fn form(&self, error: &CallError) -> Form {
        let theirs = error.call();
        let version = theirs.version().or_else(|| self.call.version());
        let dialect = match version {
            Some(version) if version < ProtocolVersion::V1_0 => Version::Old,
            known => Version::Current(known),
        };
        match self.binding().or_else(|| theirs.binding()) {
            Some(Binding::JsonRpc) => {
                let id = self.call.id().or_else(|| theirs.id()).cloned().unwrap_or_default();
                // Servers of 0.3 begin their streams at once, and its clients read no other answer to one. Those of 1.0
                // answer a call that fails before its stream with JSON.
                Form::JsonRpc { id, version: dialect, as_event: self.prefers_events && dialect == Version::Old }
            }
            Some(Binding::Grpc) => Form::Grpc { version: dialect },
            Some(Binding::HttpJson) if version.is_none() => Form::HttpJson { version: Version::Old },
            _ => Form::HttpJson { version: dialect },
        }
    }

    /// The binding, if it shows or can be guessed.
    pub(super) fn binding(&self) -> Option<Binding> {
        self.call.binding().or_else(|| self.unread_post.then_some(Binding::JsonRpc))
    }
}

/// `Accept` names event streams, and no JSON (RFC 9110 §12.5.1). One that takes anything besides, as libraries have it
/// by default, prefers the one that it names.
fn prefers_events(headers: &HeaderMap) -> bool {
    let ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges =
        ranges.flat_map(|value| value.split(',')).map(|range| range.split(';').next().unwrap_or_default().trim());
    let mut names_events = false;
    for range in ranges {
        let of_application = range.get(..12).is_some_and(|begin| begin.eq_ignore_ascii_case("application/"));
        if of_application {
            return false;
        }
        names_events |= range.eq_ignore_ascii_case("text/event-stream");
    }
    names_events
}
