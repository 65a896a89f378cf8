//! What goes wrong with a stream of messages, and what only looks as if it did.

use super::{AUTH_WAIT, EVENT_GAP, FIRST_EVENT, Fault, IDLE, LINGER, MARGIN, MAX_EVENT, SHORT, ms, short};
use crate::{
    calling::Ask,
    h2_peer::{End, Reason, Script, framed},
    messages::{
        AUTH_REQUIRED, CANCELED, COMPLETED, FAILED, INPUT_REQUIRED, REJECTED, WORKING, artifact, message, task, update,
    },
    peer::Chunk,
};

pub(super) fn faults() -> Vec<Fault> {
    [silence(), for_ever(), endings(), latched(), contents(), sizes(), framing()].into_iter().flatten().collect()
}

fn row(name: &'static str, script: Script, expected: &'static str) -> Fault {
    Fault::new(name, Ask::Stream, script, expected)
}

/// A stream whose task is at work.
fn begun() -> Script {
    Script::grpc().message(task(WORKING))
}

fn silence() -> Vec<Fault> {
    let later = Chunk::new(framed(update(COMPLETED))).after(ms(IDLE - MARGIN));
    let half = framed(update(COMPLETED))[..9].to_vec();
    vec![
        row("silence while working", begun().end(End::Hang), "timeout/idle").due(IDLE).events(1).task_known(),
        row("silence within a message", begun().chunk(half).end(End::Hang), "timeout/idle").due(IDLE).events(1),
        row("silence within a prefix", begun().chunk(vec![0, 0]).end(End::Hang), "timeout/idle").due(IDLE).events(1),
        Fault::new("silence of a subscription", Ask::Subscribe, begun().end(End::Hang), "timeout/idle")
            .due(IDLE)
            .task_known(),
        row("silence, but not too long", begun().chunk(later).status(0, ""), "success/success").due(IDLE - MARGIN),
        row(
            "a first message that drips",
            Script::grpc()
                .chunk(framed(artifact(&"x".repeat(2_000)))[..60].to_vec())
                .chunk(Chunk::new("x").forever().every(ms(20))),
            "timeout/first_event",
        )
        .due(FIRST_EVENT),
        row(
            "a message that drips behind a task",
            begun()
                .chunk(framed(artifact(&"x".repeat(2_000)))[..60].to_vec())
                .chunk(Chunk::new("x").forever().every(ms(20))),
            "timeout/event_gap",
        )
        .due(EVENT_GAP)
        .events(1)
        .task_known(),
    ]
}

fn for_ever() -> Vec<Fault> {
    let drip = |bytes: Vec<u8>| Chunk::new(framed(bytes)).forever().every(ms(20));
    vec![
        row("messages for ever", begun().chunk(drip(update(WORKING))), "timeout/total")
            .limits(short)
            .due(SHORT)
            .task_known(),
        row("artifacts for ever", begun().chunk(drip(artifact("x"))), "timeout/total").limits(short).due(SHORT),
        row(
            "messages as fast as they go",
            begun().chunk(Chunk::new(framed(update(WORKING))).forever()),
            "timeout/total",
        )
        .limits(short)
        .due(SHORT),
        Fault::new("a subscription for ever", Ask::Subscribe, begun().chunk(drip(update(WORKING))), "timeout/total")
            .limits(short)
            .due(SHORT),
    ]
}

fn endings() -> Vec<Fault> {
    let bad = "broken/truncated";
    let half = || begun().chunk(framed(update(COMPLETED))[..9].to_vec());
    vec![
        row("a good end while working", begun().status(0, ""), bad).events(1).task_known(),
        row("no trailers while working", begun(), bad).events(1).task_known(),
        row("trailers without a status while working", begun().trailer("x-cost", "3"), bad).events(1),
        row("reset while working", begun().end(End::Reset(Reason::INTERNAL_ERROR)), bad).events(1).task_known(),
        row("cancelled while working", begun().end(End::Reset(Reason::CANCEL)), bad).events(1).task_known(),
        row("reset while working, no error", begun().end(End::Reset(Reason::NO_ERROR)), bad).events(1).task_known(),
        row("refused while working", begun().end(End::Reset(Reason::REFUSED_STREAM)), bad).events(1).task_known(),
        row("going away while working", begun().end(End::GoAway(Reason::NO_ERROR)), bad).events(1).task_known(),
        row("going away while working, in error", begun().end(End::GoAway(Reason::INTERNAL_ERROR)), bad).events(1),
        row("the connection ends while working", begun().end(End::Cut), bad).events(1).task_known(),
        row("the connection ends within a message", half().end(End::Cut), bad).events(1),
        row("no trailers within a message", half(), bad).events(1),
        row("a good end within a message", half().status(0, ""), bad).events(1),
        row("reset before a message", Script::grpc().end(End::Reset(Reason::INTERNAL_ERROR)), bad).events(0),
        row("no trailers before a message", Script::grpc(), bad).events(0),
        row("a refusal while working", begun().status(13, "boom"), "refused/peer_error").events(1).task_known(),
        row("deadline exceeded while working", begun().status(4, ""), "refused/peer_error").events(1),
    ]
}

fn latched() -> Vec<Fault> {
    let good = "success/success";
    let done = || begun().message(update(COMPLETED));
    let ends = |name, state, end| row(name, begun().message(update(state)).end(end), good).events(2);
    vec![
        row("done", done().status(0, ""), good).events(2),
        row("done, then silence", done().end(End::Hang), good).due(LINGER).events(2),
        row("done, then no trailers", done(), good).events(2),
        row("done, then reset", done().end(End::Reset(Reason::INTERNAL_ERROR)), good).events(2),
        row("done, then reset, no error", done().end(End::Reset(Reason::NO_ERROR)), good).events(2),
        row("done, then going away", done().end(End::GoAway(Reason::INTERNAL_ERROR)), good).events(2),
        row("done, then the connection ends", done().end(End::Cut), good).events(2),
        row("done, then half a message", done().chunk(vec![0, 0, 0]).end(End::Cut), good).events(2),
        row("done, then messages", done().message(update(WORKING)).message(artifact("x")).status(0, ""), good)
            .events(2),
        row(
            "done, then messages as fast as they go",
            done().chunk(Chunk::new(framed(update(WORKING))).forever()),
            good,
        )
        .due(LINGER)
        .events(2),
        ends("failed, then silence", FAILED, End::Hang).due(LINGER),
        ends("rejected, then reset", REJECTED, End::Reset(Reason::CANCEL)),
        ends("canceled, then the connection ends", CANCELED, End::Cut),
        row("a message, then silence", Script::grpc().message(message("hi")).end(End::Hang), good)
            .due(LINGER)
            .events(1),
        row("a message, then no trailers", Script::grpc().message(message("hi")), good).events(1),
        ends("input required, then silence", INPUT_REQUIRED, End::Hang).due(LINGER),
        row("input required, then a good end", begun().message(update(INPUT_REQUIRED)).status(0, ""), good).events(2),
        ends("auth required, then silence", AUTH_REQUIRED, End::Hang).due(AUTH_WAIT),
        row("done at once", Script::grpc().message(task(COMPLETED)).status(0, ""), good).events(1),
    ]
}

fn contents() -> Vec<Fault> {
    let (malformed, violation) = ("broken/malformed", "broken/protocol_violation");
    let then = |name, bytes: Vec<u8>, expected| row(name, begun().message(bytes), expected).events(1).task_known();
    let compressed = |bytes: &[u8]| [&[1][..], &framed(bytes)[1..]].concat();
    vec![
        then("nothing in a message of a stream", Vec::new(), violation),
        row("empty messages for ever", begun().chunk(Chunk::new(framed(b"")).forever().every(ms(20))), violation)
            .events(1),
        then("an update without its task", b"\x1a\x04\x1a\x02\x08\x02".to_vec(), violation),
        then("a message that is no protobuf", vec![0xff; 12], malformed),
        then("JSON in a stream's message", b"{\"statusUpdate\":{}}".to_vec(), malformed),
        then("an id that is no UTF-8", b"\x1a\x04\x0a\x02\xff\xfe".to_vec(), malformed),
        row("a flag of 2", begun().chunk(vec![2, 0, 0, 0, 1, 0]), malformed).events(1),
        row("a page in a stream", begun().chunk("<html>"), malformed).events(1),
        row("a page for a stream", Script::grpc().chunk("<html>").end(End::Hang), malformed).events(0),
        row("compressed in a stream, and no word of how", begun().chunk(compressed(b"x")), violation).events(1),
        row(
            "compressed in a stream",
            Script::grpc().header("grpc-encoding", "gzip").chunk(compressed(b"x")).status(0, ""),
            "success/success",
        ),
        row(
            "compressed in a stream, then the connection ends",
            Script::grpc().header("grpc-encoding", "gzip").chunk(compressed(b"x")).end(End::Cut),
            "broken/truncated",
        ),
    ]
}

fn sizes() -> Vec<Fault> {
    let bad = "broken/too_large";
    let sized = |bytes: usize| artifact(&"x".repeat(bytes));
    vec![
        row(
            "a message of a stream that is said to be 4 GiB",
            begun().chunk(vec![0, 0xff, 0xff, 0xff, 0xff]).end(End::Hang),
            bad,
        )
        .events(1)
        .task_known(),
        row("a first message above the cap", Script::grpc().message(sized(MAX_EVENT)).end(End::Hang), bad).events(0),
        row("a message of a stream above the cap", begun().message(sized(MAX_EVENT)).message(update(COMPLETED)), bad)
            .events(1),
        row(
            "many messages that add up",
            begun().chunk(Chunk::new(framed(sized(50_000))).times(8)).message(update(COMPLETED)).status(0, ""),
            "success/success",
        )
        .events(10),
    ]
}

fn framing() -> Vec<Fault> {
    let good = "success/success";
    let whole = [framed(task(WORKING)), framed(artifact("x")), framed(update(COMPLETED))].concat();
    let bytewise = whole.iter().fold(Script::grpc(), |script, byte| script.chunk(vec![*byte]));
    let cut = |size: usize| whole.chunks(size).fold(Script::grpc(), |script, piece| script.chunk(piece.to_vec()));
    let drip =
        whole.chunks(9).fold(Script::grpc(), |script, piece| script.chunk(Chunk::new(piece.to_vec()).after(ms(10))));
    vec![
        row("a byte a frame, as messages", bytewise.status(0, ""), good).events(3),
        row("messages in one frame", Script::grpc().chunk(whole.clone()).status(0, ""), good).events(3),
        row("messages cut anywhere", cut(7).status(0, ""), good).events(3),
        row("messages that drip and end", drip.status(0, ""), good).events(3).due(60),
    ]
}
