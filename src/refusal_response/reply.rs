//! How a caller is to be answered.

use std::sync::Arc;

use http::{Method, Request};

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
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    JsonRpc { id: JsonRpcId, version: Version },
    HttpJson { version: Version },
    Grpc { version: Version },
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
        Self { call, unread_post }
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
                Form::JsonRpc { id, version: dialect }
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
