//! What is asked, in every binding.

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_body_util::Full;

use crate::{agent::framed, messages};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    Rpc,
    Rest,
    Grpc,
}

pub(crate) use Binding::{Grpc, Rest, Rpc};

pub(crate) const ALL: [Binding; 3] = [Rpc, Rest, Grpc];

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask<'a> {
    /// A send with this text.
    Send(&'a str),
    /// The same, as a stream.
    Stream(&'a str),
    /// A task that the agent does not have.
    Task,
    /// The extended card.
    Card,
}

impl Binding {
    /// The request, with a path alone: whose it is, the client says.
    pub(crate) fn ask(self, ask: Ask<'_>) -> Request<Full<Bytes>> {
        let message =
            |text: &str| format!(r#""message":{{"messageId":"m-1","role":"ROLE_USER","parts":[{{"text":"{text}"}}]}}"#);
        match self {
            Self::Rpc => {
                let (method, params) = match ask {
                    Ask::Send(text) => ("SendMessage", message(text)),
                    Ask::Stream(text) => ("SendStreamingMessage", message(text)),
                    Ask::Task => ("GetTask", r#""id":"task-9""#.to_owned()),
                    Ask::Card => ("GetExtendedAgentCard", String::new()),
                };
                let body = format!(r#"{{"jsonrpc":"2.0","id":"r-7","method":"{method}","params":{{{params}}}}}"#);
                json("POST", "/a2a", body)
            }
            Self::Rest => match ask {
                Ask::Send(text) => json("POST", "/rest/message:send", format!("{{{}}}", message(text))),
                Ask::Stream(text) => json("POST", "/rest/message:stream", format!("{{{}}}", message(text))),
                Ask::Task => json("GET", "/rest/tasks/task-9", String::new()),
                Ask::Card => json("GET", "/rest/extendedAgentCard", String::new()),
            },
            Self::Grpc => {
                let (method, body) = match ask {
                    Ask::Send(text) => ("SendMessage", messages::send(text)),
                    Ask::Stream(text) => ("SendStreamingMessage", messages::send(text)),
                    Ask::Task => ("GetTask", messages::of_task()),
                    Ask::Card => ("GetExtendedAgentCard", Vec::new()),
                };
                let request = Request::post(format!("/lf.a2a.v1.A2AService/{method}"));
                let request = request.header("content-type", "application/grpc").header("te", "trailers");
                request.header("a2a-version", "1.0").body(Full::from(framed(&body))).unwrap()
            }
        }
    }

    /// A send with this text, in 0.3; `streams` if as a stream.
    pub(crate) fn old(self, text: &str, streams: bool) -> Request<Full<Bytes>> {
        let message = |part: String| format!(r#"{{"kind":"message","messageId":"m-1",{part}}}"#);
        match self {
            Self::Rpc => {
                let method = if streams { "message/stream" } else { "message/send" };
                let message = message(format!(r#""role":"user","parts":[{{"kind":"text","text":"{text}"}}]"#));
                let body =
                    format!(r#"{{"jsonrpc":"2.0","id":"r-7","method":"{method}","params":{{"message":{message}}}}}"#);
                post("/a2a", "application/json", body.into())
            }
            Self::Rest => {
                let path = if streams { "/rest/v1/message:stream" } else { "/rest/v1/message:send" };
                let message = message(format!(r#""role":"ROLE_USER","content":[{{"text":"{text}"}}]"#));
                post(path, "application/json", format!(r#"{{"message":{message}}}"#).into())
            }
            Self::Grpc => {
                let method = if streams { "SendStreamingMessage" } else { "SendMessage" };
                let body = framed(&messages::old_send(text)).into();
                let mut request = post(&format!("/a2a.v1.A2AService/{method}"), "application/grpc", body);
                request.headers_mut().insert("te", HeaderValue::from_static("trailers"));
                request
            }
        }
    }
}

fn json(method: &str, path: &str, body: String) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method).uri(path).header("a2a-version", "1.0");
    request.header("content-type", "application/json").body(Full::from(body)).unwrap()
}

fn post(path: &str, media: &str, body: Bytes) -> Request<Full<Bytes>> {
    Request::post(path).header("content-type", media).body(Full::from(body)).unwrap()
}

/// A GET of this path.
pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).body(Full::default()).unwrap()
}
