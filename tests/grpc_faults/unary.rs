//! What goes wrong with the one message of a unary answer.

use super::{Fault, MARGIN, MAX_UNARY_BODY, ms};
use crate::{
    calling::Ask,
    h2_peer::{End, Reason, Script, framed},
    messages::{COMPLETED, WORKING, artifact, message, task},
    peer::Chunk,
};

pub(super) fn faults() -> Vec<Fault> {
    [cuts(), contents(), sizes(), framing()].into_iter().flatten().collect()
}

fn row(name: &'static str, script: Script, expected: &'static str) -> Fault {
    Fault::new(name, Ask::Send, script, expected)
}

fn answer() -> Script {
    Script::grpc().message(task(COMPLETED))
}

fn cuts() -> Vec<Fault> {
    let cut = "broken/truncated";
    let half = || Script::grpc().chunk(framed(task(COMPLETED))[..12].to_vec());
    vec![
        row("reset behind the head", Script::grpc().end(End::Reset(Reason::INTERNAL_ERROR)), cut),
        row("cancelled behind the head", Script::grpc().end(End::Reset(Reason::CANCEL)), cut),
        row("reset behind the head, no error", Script::grpc().end(End::Reset(Reason::NO_ERROR)), cut),
        row("reset within the message", half().end(End::Reset(Reason::INTERNAL_ERROR)), cut),
        row("reset within the message, no error", half().end(End::Reset(Reason::NO_ERROR)), cut),
        row("reset behind the message", answer().end(End::Reset(Reason::INTERNAL_ERROR)), cut),
        row("reset behind the message, no error", answer().end(End::Reset(Reason::NO_ERROR)), cut),
        row("going away within the message", half().end(End::GoAway(Reason::NO_ERROR)), cut),
        row("the connection ends within the message", half().end(End::Cut), cut),
        row("the connection ends behind the message", answer().end(End::Cut), cut),
        row("the end within the message", half(), cut),
        row("the end within the prefix", Script::grpc().chunk(vec![0, 0]), cut),
        row("half a message that is said to be good", half().status(0, ""), cut),
        row("half a prefix that is said to be good", Script::grpc().chunk(vec![0, 0]).status(0, ""), cut),
        row("silence within the message", half().end(End::Hang), "timeout/idle").due(super::IDLE),
        row("silence behind the message", answer().end(End::Hang), "timeout/idle").due(super::IDLE),
    ]
}

fn contents() -> Vec<Fault> {
    let (malformed, violation) = ("broken/malformed", "broken/protocol_violation");
    let good = |name, bytes: Vec<u8>, expected| row(name, Script::grpc().message(bytes).status(0, ""), expected);
    vec![
        good("an empty message", Vec::new(), violation),
        good("a message with nothing known in it", vec![15 << 3, 1], violation),
        good("a task without a state", b"\x0a\x08\x0a\x06task-1".to_vec(), violation),
        good("a message that is cut in a field", b"\x0a\x7f\x0a\x06task-1".to_vec(), malformed),
        good("a number without end", vec![0xff; 12], malformed),
        good("a group in place of a task", vec![1 << 3 | 3, 1 << 3 | 4], malformed),
        good("a group that has no end", [task(COMPLETED), vec![15 << 3 | 3]].concat(), malformed),
        good("a group that nobody knows", [task(COMPLETED), b"\x7b\x08\x01\x7c".to_vec()].concat(), "success/success"),
        good("JSON in a message", b"{\"task\":{\"id\":\"1\"}}".to_vec(), malformed),
        row("a page that calls itself gRPC", Script::grpc().chunk("<html>").status(0, ""), malformed),
        row("JSON that calls itself gRPC", Script::grpc().chunk("{\"jsonrpc\"").status(0, ""), malformed),
        row("two messages", answer().message(task(WORKING)).status(0, ""), violation),
        row("two messages, and no end", answer().message(task(WORKING)).end(End::Hang), "timeout/idle")
            .due(super::IDLE),
        row("half a second message", answer().chunk(vec![0, 0, 0]).status(0, ""), "broken/truncated"),
        row(
            "compressed, and no word of how",
            Script::grpc().chunk([&[1][..], &framed(task(COMPLETED))[1..]].concat()).status(0, ""),
            violation,
        ),
        row(
            "compressed",
            Script::grpc()
                .header("grpc-encoding", "gzip")
                .chunk([&[1][..], &framed("what this is nobody looks at")[1..]].concat())
                .status(0, ""),
            "success/success",
        ),
    ]
}

fn sizes() -> Vec<Fault> {
    let bad = "broken/too_large";
    let short = |limits: a2a_guard::Limits| super::short(limits).total(ms(2 * MARGIN)).idle(ms(MARGIN));
    let long = |bytes: usize| Script::grpc().message(message(&"x".repeat(bytes)));
    vec![
        row(
            "a message that is said to be 4 GiB",
            Script::grpc().chunk(vec![0, 0xff, 0xff, 0xff, 0xff]).end(End::Hang),
            bad,
        ),
        row("a message above the cap", long(MAX_UNARY_BODY).status(0, ""), bad),
        row("a message below the cap", long(MAX_UNARY_BODY - 100).status(0, ""), "success/success"),
        row("empty messages as fast as they go", Script::grpc().chunk(Chunk::new(framed(b"")).forever()), bad),
        row(
            "a message that drips",
            Script::grpc()
                .chunk(framed(message(&"x".repeat(1_000)))[..40].to_vec())
                .chunk(Chunk::new("x").forever().every(ms(20))),
            "timeout/total",
        )
        .limits(short)
        .due(2 * MARGIN),
        row(
            "an artifact for an answer",
            Script::grpc().message(artifact("x")).status(0, ""),
            "broken/protocol_violation",
        ),
    ]
}

fn framing() -> Vec<Fault> {
    let good = "success/success";
    let bytes = framed(task(COMPLETED));
    let bytewise = bytes.iter().fold(Script::grpc(), |script, byte| script.chunk(vec![*byte]));
    let gaps = bytes.chunks(1).fold(Script::grpc(), |script, byte| script.chunk(byte.to_vec()).chunk(""));
    vec![
        row("a good answer", answer().status(0, ""), good),
        row("a byte a frame", bytewise.status(0, "OK"), good),
        row("empty frames in between", gaps.status(0, ""), good),
        row(
            "a media type with a suffix",
            Script::new(200).header("content-type", "application/grpc+proto").message(task(COMPLETED)).status(0, ""),
            good,
        ),
    ]
}
