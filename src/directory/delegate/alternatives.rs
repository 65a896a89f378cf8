use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Method, Uri};

use crate::{
    call::{Binding, ProtocolVersion},
    directory::Written,
};

/// The most of them.
const MOST: usize = 8;

/// The same request written in other bindings or versions, for peers that speak nothing else. Put into a request's
/// extensions.
///
/// Nothing here writes a request anew: who can write it in several ways says so. Which one is sent follows from the
/// highest version that both sides speak, and the peer's preference among its bindings.
///
/// ```
/// use a2a_guard::{Binding, ProtocolVersion, directory::{Alternatives, Need}};
///
/// let old = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message",
///     "messageId":"m-1","role":"user","parts":[{"kind":"text","text":"hello"}]}}}"#;
/// let request = http::Request::post("/")
///     .header("content-type", "application/json")
///     .header("a2a-version", "1.0")
///     .extension(Need::skill("translate"))
///     .extension(Alternatives::new().or(Binding::JsonRpc, ProtocolVersion::V0_3, "/", old))
///     .body(r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}"#)?;
/// # let _ = request;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Alternatives {
    pub(super) list: Vec<Alternative>,
}

#[derive(Clone)]
pub(super) struct Alternative {
    pub(super) written: Written,
    pub(super) uri: Uri,
    pub(super) content_type: HeaderValue,
    pub(super) body: Bytes,
}

impl Alternative {
    /// Sends are all that is delegated, and those are POSTs.
    pub(super) const METHOD: Method = Method::POST;
}

impl Alternatives {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more, up to eight. `path` is the operation's (`/message:send`, `/lf.a2a.v1.A2AService/SendMessage`), and
    /// says nothing over JSON-RPC; one that is none is not taken. Over gRPC the body is the framed message.
    #[must_use]
    pub fn or(mut self, binding: Binding, version: ProtocolVersion, path: &str, body: impl Into<Bytes>) -> Self {
        let content_type = match binding {
            Binding::Grpc => "application/grpc",
            _ => "application/json",
        };
        if let Ok(uri) = path.parse::<Uri>()
            && self.list.len() < MOST
        {
            let written = Written { binding, version };
            let content_type = HeaderValue::from_static(content_type);
            self.list.push(Alternative { written, uri, content_type, body: body.into() });
        }
        self
    }
}

impl fmt::Debug for Alternatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|one| one.written.to_string())).finish()
    }
}
