//! What a failed call tells: an operator in one line, a retry policy in a word, a program in facts.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

#[cfg(feature = "hyper")]
mod by_hyper;
#[cfg(feature = "reqwest")]
mod by_reqwest;
#[cfg(feature = "tower")]
mod by_tower;
mod facts;
mod lines;
mod retrying;
mod sources;

use a2a_guard::{CallError, Limits, TerminalStateBuilder, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use mock::{Answer, call};

fn with(limits: Limits) -> TerminalStateBuilder {
    TerminalStateLayer::builder().limits(limits)
}

/// How a call under the default bounds fails.
async fn failed(request: Request<Full<Bytes>>, answer: Answer) -> CallError {
    failed_under(TerminalStateLayer::builder(), request, answer).await
}

async fn failed_under(layer: TerminalStateBuilder, request: Request<Full<Bytes>>, answer: Answer) -> CallError {
    let ended = call(layer, request, answer).await;
    let word = ended.word();
    ended.error.unwrap_or_else(|| panic!("a call that fails, not {word}"))
}
