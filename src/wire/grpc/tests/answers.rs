//! One message: what it says of a task, and how an answer of it ends.

use super::*;
use crate::wire::{judge::PayloadKind, tolerated::Tolerated};
use GrpcDialect::V03;
use GrpcPayload::{Other, SendResult, Task};

#[test]
fn a_task_tells_its_id_and_state() {
    let (end, facts) = judged(SendResult, V1, &Message::new().message(1, task(3)));
    assert_eq!(end, GrpcEnd::Message);
    assert_eq!((facts.kind, facts.task_id.as_str(), facts.context_id.as_str()), (PayloadKind::Task, "task-1", "ctx-1"));
    assert_eq!(facts.state.unwrap().as_str(), "TASK_STATE_COMPLETED");
    let (end, bare) = judged(Task, V1, &task(5));
    assert_eq!(
        (end, bare.kind, bare.state.unwrap().as_str()),
        (GrpcEnd::Message, PayloadKind::Task, "TASK_STATE_CANCELED")
    );
    assert_eq!(judged(Task, V03, &task(5)).1.state.unwrap().as_str(), "TASK_STATE_CANCELLED");
}

#[test]
fn a_message_may_name_a_task() {
    let message = Message::new().text(1, "m-1").text(3, "task-1").number(4, 2);
    let (end, facts) = judged(SendResult, V1, &Message::new().message(2, message));
    assert_eq!((end, facts.kind, facts.task_id.as_str()), (GrpcEnd::Message, PayloadKind::Message, "task-1"));
}

#[test]
fn what_is_missing_is_a_violation() {
    let of = |payload, message: Message| judged(payload, V1, &message).0;
    assert_eq!(of(SendResult, Message::new()), violation("neither a task nor a message"));
    assert_eq!(of(SendResult, Message::new().message(3, update(2))), violation("neither a task nor a message"));
    assert_eq!(of(StreamEvent, Message::new()), violation("none of task, message, status update and artifact update"));
    assert_eq!(of(Task, Message::new()), violation("a task without its id"));
    assert_eq!(of(Task, Message::new().text(1, "t")), violation("a task without its state"));
    assert_eq!(of(SendResult, Message::new().message(2, Message::new())), violation("a message with nothing in it"));
    assert_eq!(
        of(StreamEvent, Message::new().message(3, Message::new().message(3, Message::new()))),
        violation("an update without its task's id")
    );
    assert_eq!(
        of(StreamEvent, Message::new().message(3, Message::new().text(1, "task-1"))),
        violation("a status update without a state")
    );
    assert_eq!(of(Other, Message::new()), GrpcEnd::Message);
    // Whatever it is made of.
    let fields = Message::new().number(1, 1).text(2, "\u{1}").bytes(3, b"\xff").number(4, 5);
    assert_eq!(of(Other, fields), GrpcEnd::Message);
}

/// proto3 leaves out what has its default.
#[test]
fn a_status_without_a_state_is_unspecified() {
    let (end, facts) = judged(Task, V1, &Message::new().text(1, "t").message(3, Message::new()));
    assert_eq!((end, facts.state.unwrap().as_str()), (GrpcEnd::Message, "TASK_STATE_UNSPECIFIED"));
}

#[test]
fn enums_are_open() {
    for number in [9, 255, u64::from(u32::MAX), u64::MAX] {
        let (end, facts) = judged(Task, V1, &task(number));
        assert_eq!((end, facts.state, facts.tolerated), (GrpcEnd::Message, None, Tolerated::UNKNOWN_STATE), "{number}");
    }
}

#[test]
fn the_last_of_a_kind_counts_and_messages_merge() {
    let status = |state| Message::new().number(1, state);
    let twice = Message::new().message(3, status(2)).text(1, "a").text(1, "task-1").message(3, status(3));
    assert_eq!(judged(Task, V1, &twice).1.state.unwrap().as_str(), "TASK_STATE_COMPLETED");
    // The second half of a task says what the first left open.
    let halves =
        Message::new().message(1, Message::new().text(1, "task-1")).message(1, Message::new().message(3, status(4)));
    let (end, facts) = judged(SendResult, V1, &halves);
    assert_eq!(
        (end, facts.task_id.as_str(), facts.state.unwrap().as_str()),
        (GrpcEnd::Message, "task-1", "TASK_STATE_FAILED")
    );
    // Another member of the oneof takes its place.
    let replaced = Message::new().message(1, task(3)).message(2, Message::new().text(1, "m"));
    let (end, facts) = judged(SendResult, V1, &replaced);
    assert_eq!(
        (end, facts.kind, facts.state, facts.task_id.is_empty()),
        (GrpcEnd::Message, PayloadKind::Message, None, true)
    );
}

#[test]
fn unknown_fields_are_passed_over() {
    let message =
        Message::new().number(99, u64::MAX).text(1000, "x").message(1, task(3).number(15, 1).text(4, "artifact"));
    let mut bytes = message.as_bytes().to_vec();
    bytes.extend([0x09 | 0x78, 1, 2, 3, 4, 5, 6, 7, 8, 0x7d, 1, 2, 3, 4]); // field 15, of 64 and of 32 bits
    let (end, facts) = unary(expected(SendResult, V1), &framed(&bytes), usize::MAX);
    assert_eq!((end, facts.task_id.as_str()), (GrpcEnd::Message, "task-1"));
}

#[test]
fn ends_of_a_unary_answer() {
    let one = framed(Message::new().message(1, task(3)).as_bytes());
    let end = |bytes: &[u8]| {
        let whole = unary(expected(SendResult, V1), bytes, usize::MAX).0;
        assert_eq!(unary(expected(SendResult, V1), bytes, 1).0, whole);
        whole
    };
    assert_eq!(end(b""), GrpcEnd::Empty);
    for len in 1..one.len() {
        assert_eq!(end(&one[..len]), GrpcEnd::Cut, "{len}");
    }
    assert_eq!(end(&one), GrpcEnd::Message);
    assert_eq!(end(&[&one[..], &one[..]].concat()), violation("more than one message answers a unary call"));
    assert_eq!(end(&[&one[..], &one[..7]].concat()), violation("more than one message answers a unary call"));
    assert_eq!(end(b"<html>"), malformed("no gRPC message: its flag byte is none"));
    assert_eq!(end(&[&one[..], b"x"].concat()), malformed("no gRPC message: its flag byte is none"));
    // Each of them in a piece of its own.
    let pieces = unary(expected(SendResult, V1), &[&one[..], &one[..]].concat(), one.len()).0;
    assert_eq!(pieces, violation("more than one message answers a unary call"));
}

/// Wherever a piece begins.
#[test]
fn what_looks_like_a_message_within_one_is_none() {
    let inner = framed(Message::new().message(1, task(3)).as_bytes());
    let text = [&inner[..], &inner[..], &[0; 40]].concat();
    let outer = Message::new().message(1, task(2).bytes(6, &text));
    let (end, facts) = judged(SendResult, V1, &outer);
    assert_eq!((end, facts.state.unwrap().as_str()), (GrpcEnd::Message, "TASK_STATE_WORKING"));
    let bytes = framed(outer.as_bytes());
    for cut in 1..bytes.len() {
        let mut judge = GrpcJudge::new(expected(SendResult, V1), MAX);
        let mut stream = GrpcStreamJudge::new(expected(StreamEvent, V1), MAX, true);
        let (one, two) = bytes.split_at(cut);
        assert_eq!((judge.feed(one), judge.feed(two), judge.finish()), (None, None, GrpcEnd::Message), "{cut}");
        assert_eq!((stream.step(one).kind, stream.is_between()), (StepKind::Held, false), "{cut}");
        let step = stream.step(two);
        assert_eq!((step.consumed, step.kind, stream.is_between()), (two.len(), StepKind::Event, true), "{cut}");
        assert_eq!((stream.events(), stream.state().unwrap().as_str()), (1, "TASK_STATE_WORKING"));
    }
}

#[test]
fn a_message_too_long_is_known_by_its_prefix() {
    let mut judge = GrpcJudge::new(expected(SendResult, V1), 100);
    assert_eq!(judge.feed(&[0, 0, 0, 0, 101]), Some(Flaw::TooLarge));
    let mut judge = GrpcJudge::new(expected(SendResult, V1), 100);
    assert_eq!(judge.feed(&[0, 0, 0, 0, 100]), None);
    let mut judge = GrpcStreamJudge::new(expected(StreamEvent, V1), 100, true);
    assert_eq!(judge.step(&[0, 0xff, 0xff, 0xff, 0xff]).kind, StepKind::Flawed(Flaw::TooLarge));
    // Also where all of it is there at once.
    let message = Message::new().message(1, task(2).text(6, &"x".repeat(70)));
    let bytes = framed(message.as_bytes());
    for cut in [bytes.len(), 1, PREFIX] {
        for spare in [0, 1] {
            let max = message.as_bytes().len() - 1 + spare;
            let mut judge = GrpcJudge::new(expected(SendResult, V1), max);
            let flaw = bytes.chunks(cut).find_map(|piece| judge.feed(piece));
            assert_eq!(flaw, (spare == 0).then_some(Flaw::TooLarge), "{cut}");
            let mut judge = GrpcStreamJudge::new(expected(StreamEvent, V1), max, true);
            let kind = bytes.chunks(cut).map(|piece| judge.step(piece).kind).last().unwrap();
            assert_eq!(kind, if spare == 0 { StepKind::Flawed(Flaw::TooLarge) } else { StepKind::Event }, "{cut}");
        }
    }
}

#[test]
fn compressed_messages_are_not_inspected_but_need_a_coding() {
    let bytes = [1, 0, 0, 0, 3, 0x1f, 0x8b, 0x08];
    let mut judge = GrpcJudge::new(expected(SendResult, V1), MAX);
    judge.feed(&bytes);
    assert_eq!(judge.finish(), violation("a compressed message, and no grpc-encoding"));
    let mut judge = GrpcJudge::new(expected(SendResult, V1), MAX);
    judge.allow_compressed();
    judge.feed(&bytes);
    assert_eq!((judge.finish(), judge.facts().tolerated), (GrpcEnd::Message, Tolerated::COMPRESSED_MESSAGE));

    let mut stream = GrpcStreamJudge::new(expected(StreamEvent, V1), MAX, true);
    stream.allow_compressed();
    assert_eq!(stream.step(&bytes).kind, StepKind::Event);
    assert!(stream.is_opaque());
    assert_eq!((stream.events(), stream.tolerated()), (1, Tolerated::COMPRESSED_MESSAGE));
    stream.step(&framed(Message::new().message(3, update(2)).as_bytes()));
    assert!(!stream.is_opaque());
}
