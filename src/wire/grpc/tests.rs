//! Answers and requests, in any cut.

mod agreement;
mod answers;
mod bytes;
mod reference;
mod requests;
mod streams;

use super::encode::Message;
use super::frame::{PREFIX, Prefix};
use super::*;
use crate::wire::judge::{Facts, Flaw};
use crate::wire::stream::StepKind;
use GrpcDialect::V1;
use GrpcPayload::StreamEvent;

const MAX: usize = 1 << 20;

fn expected(payload: GrpcPayload, dialect: GrpcDialect) -> GrpcExpected {
    GrpcExpected { payload, dialect }
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut bytes = Prefix { compressed: false, len: message.len() as u32 }.to_bytes().to_vec();
    bytes.extend_from_slice(message);
    bytes
}

/// What a unary judge says of bytes in pieces of one size.
fn unary(expected: GrpcExpected, bytes: &[u8], cut: usize) -> (GrpcEnd, Facts) {
    let mut judge = GrpcJudge::new(expected, MAX);
    for piece in bytes.chunks(cut.max(1)) {
        if judge.feed(piece).is_some() {
            break;
        }
    }
    (judge.finish(), judge.facts().clone())
}

/// The same of one message, the verdict being that of every cut.
fn judged(payload: GrpcPayload, dialect: GrpcDialect, message: &Message) -> (GrpcEnd, Facts) {
    let bytes = framed(message.as_bytes());
    let whole = unary(expected(payload, dialect), &bytes, usize::MAX);
    for cut in 1..bytes.len().min(40) {
        assert_eq!(unary(expected(payload, dialect), &bytes, cut), whole, "{cut}");
    }
    whole
}

fn task(state: u64) -> Message {
    Message::new().text(1, "task-1").text(2, "ctx-1").message(3, Message::new().number(1, state))
}

fn update(state: u64) -> Message {
    task(state)
}

fn violation(text: &'static str) -> GrpcEnd {
    GrpcEnd::Flawed(Flaw::Violation(text))
}

fn malformed(text: &'static str) -> GrpcEnd {
    GrpcEnd::Flawed(Flaw::Malformed(text))
}

/// Each step of a stream: what was found, and where in all of it.
fn steps(bytes: &[u8], cut: usize) -> (Vec<(usize, StepKind)>, GrpcStreamJudge) {
    let mut judge = GrpcStreamJudge::new(expected(StreamEvent, V1), MAX, true);
    let (mut found, mut at) = (Vec::new(), 0);
    'all: for piece in bytes.chunks(cut.max(1)) {
        let mut rest = piece;
        while !rest.is_empty() {
            let step = judge.step(rest);
            rest = &rest[step.consumed..];
            at += step.consumed;
            match step.kind {
                StepKind::Held => assert!(rest.is_empty()),
                StepKind::Flawed(_) => {
                    found.push((0, step.kind));
                    break 'all;
                }
                kind => found.push((at, kind)),
            }
        }
    }
    (found, judge)
}
