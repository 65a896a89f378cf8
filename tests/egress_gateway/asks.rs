//! What is asked, in every binding.

use bytes::Bytes;
use http::Request;
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
}

fn json(method: &str, path: &str, body: String) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method).uri(path).header("a2a-version", "1.0");
    request.header("content-type", "application/json").body(Full::from(body)).unwrap()
}

/// A GET of this path.
pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).body(Full::default()).unwrap()
}
