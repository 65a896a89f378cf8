//! The targets.

mod answer;
mod card;
mod details;
mod freshness;
mod grpc;
mod json;
mod known;
mod layer;
mod request;
mod sse;
mod url;

pub use self::{
    answer::answer, card::card, details::details, freshness::freshness, grpc::grpc, json::json, known::known,
    layer::layer, request::request, sse::sse, url::url,
};

/// Takes some bytes, and panics where something is wrong with what is made of them.
pub type Target = fn(&[u8]);

/// Each with its name, which is that of its corpus.
pub const ALL: &[(&str, Target)] = &[
    ("answer", answer),
    ("card", card),
    ("details", details),
    ("freshness", freshness),
    ("grpc", grpc),
    ("json", json),
    ("known", known),
    ("layer", layer),
    ("request", request),
    ("sse", sse),
    ("url", url),
];
