//! The whole stack, with its agent's card held and its endpoint trusted once the first calls went well.

use std::{
    convert::Infallible,
    future::{Ready, ready},
};

use a2a_guard::{
    Guard, ProbeCacheLayer,
    card_consistency::CardStore,
    guard::{GuardCards, GuardProbes},
};
use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;

use crate::agent::AT;

pub(crate) type Whole = Guard<(), GuardCards, GuardProbes>;

type Answered = Ready<Result<Response<Full<Bytes>>, Infallible>>;

pub(crate) fn whole() -> Whole {
    let host = tower::service_fn(card_of as fn(Request<Full<Bytes>>) -> Answered);
    let store = CardStore::builder(host).build().expect("a store");
    let probes = ProbeCacheLayer::without_probes().build().expect("a layer");
    Guard::builder().card_store(store).availability(probes).build().expect("a guard")
}

fn card_of(_: Request<Full<Bytes>>) -> Answered {
    let response = Response::builder().header(header::CONTENT_TYPE, "application/json").body(Full::from(card()));
    ready(Ok(response.expect("a response of constants")))
}

/// The agent's card: each binding of it, and streams.
pub(crate) fn card() -> String {
    let interface = |binding: &str, path: &str| {
        format!(r#"{{"url":"{AT}{path}","protocolBinding":"{binding}","protocolVersion":"1.0"}}"#)
    };
    format!(
        r#"{{"name":"A","description":"d","version":"1","supportedInterfaces":[{},{},{}],"capabilities":{{"streaming":true}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{{"id":"s","name":"S","description":"s","tags":["t"]}}]}}"#,
        interface("JSONRPC", "/rpc"),
        interface("HTTP+JSON", ""),
        interface("GRPC", ""),
    )
}
