//! Answers and requests, in any cut, beside a reader that is written another way.

use proptest::prelude::*;

use super::encode::{Message, about_task, send_text};
use super::frame::Prefix;
use super::*;
use crate::wire::judge::{Facts, Flaw, PayloadKind};
use crate::wire::stream::{Progress, StepKind};
use crate::wire::tolerated::Tolerated;
use GrpcDialect::{V1, V03};
use GrpcPayload::{Other, SendResult, StreamEvent, Task};

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
    assert_eq!(of(Other, Message::new()), GrpcEnd::Message);
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

/// What a unary judge says of a message, in any cut.
fn of_bytes(bytes: &[u8]) -> GrpcEnd {
    let framed = framed(bytes);
    let whole = unary(expected(SendResult, V1), &framed, usize::MAX).0;
    for cut in 1..framed.len() {
        assert_eq!(unary(expected(SendResult, V1), &framed, cut).0, whole, "{cut}");
    }
    whole
}

/// Every reader passes over a group that it does not know, as over any other field.
#[test]
fn groups_are_passed_over() {
    let nested = |levels: usize| [vec![0x7b; levels], vec![0x7c; levels]].concat();
    let about_a_field = |levels: usize| [vec![0x7b; levels], vec![0x08, 1], vec![0x7c; levels]].concat();
    let of_all_types = b"\x7b\x08\xff\x01\x0a\x03abc\x0d1234\x0912345678\xa3\x06\xa4\x06\x7c";
    let (closed, cut) = ("the end of a group that did not begin", "a message that ends within a field");
    let deep = "messages nested too deep";
    // In the answer, in its task, and in the task's status.
    type Place = (usize, fn(&[u8]) -> Vec<u8>);
    let places: [Place; 3] = [
        (0, |group| Message::new().message(1, task(3)).as_bytes().iter().chain(group).copied().collect()),
        (1, |group| {
            let task: Vec<u8> = group.iter().chain(task(3).as_bytes()).copied().collect();
            Message::new().bytes(1, &task).as_bytes().to_vec()
        }),
        (2, |group| {
            let status: Vec<u8> = group.iter().chain(&[0x08, 3]).copied().collect();
            let task = Message::new().text(1, "task-1").bytes(3, &status);
            Message::new().message(1, task).as_bytes().to_vec()
        }),
    ];
    for (depth, place) in places {
        for group in [&b"\x7b\x7c"[..], of_all_types, &nested(100 - depth), &about_a_field(99 - depth)] {
            assert_eq!(of_bytes(&place(group)), GrpcEnd::Message, "{depth}: {group:?}");
        }
        for (group, why) in [
            (&b"\x7c"[..], closed),
            (b"\x7b\x84\x01", closed),
            (b"\x7b\xa3\x06\x7c", closed),
            (b"\x7b\x7e\x7c", "a wire type that there is not"),
            (b"\x7b\x03\x7c", "a field number out of range"),
            (&nested(101 - depth), deep),
            (&about_a_field(100 - depth), deep),
            (&[0x7b; 1_000_000], deep),
        ] {
            assert_eq!(of_some(&place(group)), malformed(why), "{depth}: {:?}", &group[..group.len().min(10)]);
        }
    }
    for open in [&b"\x7b"[..], b"\x7b\x08", b"\x7b\x08\x01", b"\x7b\xa3\x06\xa4\x06"] {
        assert_eq!(of_bytes(&places[0].1(open)), malformed(cut), "{open:?}");
    }
    // What looks like its end stands behind the end of the message that it is in.
    assert_eq!(of_bytes(b"\x0a\x02\x7b\x08\x01\x7c"), malformed(cut));
    // A message that is known to be none of a group.
    assert_eq!(of_bytes(b"\x0a\x03\x1b\x1c\x00"), malformed("a field of another type than its own"));
}

/// The same in a few cuts, for what is long.
fn of_some(bytes: &[u8]) -> GrpcEnd {
    let framed = framed(bytes);
    let whole = unary(expected(SendResult, V1), &framed, usize::MAX).0;
    for cut in [1, 2, 7, 1000] {
        assert_eq!(unary(expected(SendResult, V1), &framed, cut).0, whole, "{cut}");
    }
    whole
}

#[test]
fn hostile_bytes_are_refused() {
    let of = of_bytes;
    let past = malformed("a field that goes on behind the end of its message");
    let cut = malformed("a message that ends within a field");
    assert_eq!(of(b"\x0a\xff\xff\xff\xff\x0f"), past); // 4 GiB are announced
    assert_eq!(of(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), past); // 16 EiB
    assert_eq!(of(b"\x0a\x04\x0a\x05task1"), past); // longer than the message around it
    assert_eq!(of(b"\x0a\x02\x0d\x01\x02\x03\x04"), malformed("a field of another type than its own"));
    assert_eq!(of(b"\x0a\x02\x3d\x01\x02\x03\x04"), past); // four bytes where one is left
    assert_eq!(of(b"\x0a\x03\x3a\x7f"), past);
    assert_eq!(of(b"\x0a"), cut);
    assert_eq!(of(b"\x80\x80"), cut);
    assert_eq!(of(b"\x39\x01\x02"), past);
    assert_eq!(of(b"\x0a\x01\x80\x80"), cut); // the varint would end in the message around
    assert_eq!(of(&[0xff; 20]), malformed("a varint of more than 64 bits"));
    assert_eq!(of(b"\x0b\x0c"), malformed("a field of another type than its own"));
    assert_eq!(of(b"\x0e\x00"), malformed("a wire type that there is not"));
    assert_eq!(of(b"\x7e\x00"), malformed("a wire type that there is not"));
    assert_eq!(of(b"\x02\x00"), malformed("a field number out of range"));
    assert_eq!(of(b"\x82\x80\x80\x80\x80\x01\x00"), malformed("a field number out of range"));
    assert_eq!(of(b"\x08\x01"), malformed("a field of another type than its own"));
    assert_eq!(of(b"\x0a\x04\x0a\x02\xff\xfe"), malformed("a string that is no UTF-8"));
    // A task in a task in a task: nobody walks into what nobody asks about.
    let deep = (0..10_000).fold(Message::new(), |inner, _| Message::new().message(6, inner));
    assert_eq!(
        of(Message::new().message(1, Message::new().message(6, deep)).as_bytes()),
        violation("a task without its id")
    );
}

/// Readers of proto3 decode the whole of a string, however little of it is kept here.
#[test]
fn of_a_long_string_all_is_utf8() {
    const LENGTH: usize = 1500;
    let not = malformed("a string that is no UTF-8");
    let letters = [&b"\xc3\xa9"[..], b"\xe2\x82\xac", b"\xf0\x9f\xa6\x80"];
    let wrong = [
        &b"\xff"[..],
        b"\x80",             // goes on with what did not begin
        b"\xc0\x80",         // longer than need be
        b"\xed\xa0\x80",     // a surrogate
        b"\xf4\x90\x80\x80", // beyond Unicode
        b"\xe2\x82",
        b"\xf0\x9f\xa6",
    ];
    for (letter, is_letter) in letters.into_iter().map(|it| (it, true)).chain(wrong.into_iter().map(|it| (it, false))) {
        // At the beginning, through the place where what is kept ends, behind it, and at the end.
        for at in [0, 92, 1021, 1022, 1023, 1024, 1300, LENGTH - letter.len()] {
            let mut id = vec![b'x'; LENGTH];
            id[at..at + letter.len()].copy_from_slice(letter);
            let task = Message::new().bytes(1, &id).message(3, Message::new().number(1, 3));
            let end = of_some(Message::new().message(1, task).as_bytes());
            assert_eq!(end, if is_letter { GrpcEnd::Message } else { not }, "{letter:x?} at {at}");
        }
    }
    // One that goes on behind the end of the string.
    let task = Message::new().bytes(1, &[&[b'x'; LENGTH][..], b"\xe2\x82"].concat()).bytes(2, b"\xac");
    assert_eq!(of_some(Message::new().message(1, task).as_bytes()), not);
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
}

#[test]
fn a_message_too_long_is_known_by_its_prefix() {
    let mut judge = GrpcJudge::new(expected(SendResult, V1), 100);
    assert_eq!(judge.feed(&[0, 0, 0, 0, 101]), Some(Flaw::TooLarge));
    let mut judge = GrpcJudge::new(expected(SendResult, V1), 100);
    assert_eq!(judge.feed(&[0, 0, 0, 0, 100]), None);
    let mut judge = GrpcStreamJudge::new(expected(StreamEvent, V1), 100, true);
    assert_eq!(judge.step(&[0, 0xff, 0xff, 0xff, 0xff]).kind, StepKind::Flawed(Flaw::TooLarge));
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

#[test]
fn a_stream_is_followed_to_its_end_and_behind() {
    let messages = [
        Message::new().message(1, task(1)),
        Message::new().message(3, update(2)),
        Message::new().message(4, Message::new().text(1, "task-1").message(3, Message::new().text(1, "a"))),
        Message::new().message(3, update(3)),
        // Behind the end, and no valid one.
        Message::new(),
    ];
    let bytes: Vec<u8> = messages.iter().flat_map(|message| framed(message.as_bytes())).collect();
    let (whole, judge) = steps(&bytes, usize::MAX);
    assert_eq!((judge.events(), judge.progress(), judge.task_id()), (4, Progress::Done, Some("task-1")));
    assert_eq!(whole.last(), Some(&(bytes.len(), StepKind::Boundary)));
    for cut in 1..bytes.len() {
        assert_eq!(steps(&bytes, cut).0, whole, "{cut}");
    }
}

#[test]
fn a_first_event_that_is_no_task_is_noted() {
    let (_, judge) = steps(&framed(Message::new().message(3, update(2)).as_bytes()), usize::MAX);
    assert!(judge.tolerated().contains(Tolerated::FIRST_EVENT_NOT_TASK));
    let (_, judge) = steps(&framed(Message::new().message(2, Message::new().text(1, "m")).as_bytes()), usize::MAX);
    assert_eq!((judge.progress(), judge.tolerated()), (Progress::Done, Tolerated::default()));
}

#[test]
fn only_03_says_that_an_update_is_the_last() {
    let last = |dialect, update: Message| judged(StreamEvent, dialect, &Message::new().message(3, update));
    for (on, is_final) in [(0, false), (1, true)] {
        let (end, facts) = last(V03, update(2).number(4, on));
        assert_eq!((end, facts.is_final), (GrpcEnd::Message, is_final));
    }
    assert!(!last(V03, update(2)).1.is_final);
    // In 1.0 metadata stand there.
    let (end, facts) = last(V1, update(2).message(4, Message::new().text(1, "x")));
    assert_eq!((end, facts.is_final), (GrpcEnd::Message, false));
}

#[test]
fn what_the_last_message_says_is_its_own_as_far_as_it_came() {
    let next = framed(Message::new().message(3, Message::new().text(1, "task-2").text(2, "ctx-2")).as_bytes());
    let place = |text: &[u8]| next.windows(text.len()).position(|window| window == text).unwrap() + text.len();
    for (end, task_id, context_id) in
        [(5, "", ""), (place(b"task-2"), "task-2", ""), (place(b"ctx-2") - 1, "task-2", "ctx-")]
    {
        let mut judge = GrpcStreamJudge::new(expected(StreamEvent, V1), MAX, true);
        judge.step(&framed(Message::new().message(1, task(2)).as_bytes()));
        let facts = judge.last().clone();
        assert_eq!(
            (facts.kind, facts.task_id.as_str(), facts.context_id.as_str()),
            (PayloadKind::Task, "task-1", "ctx-1")
        );
        assert_eq!(facts.state.unwrap().as_str(), "TASK_STATE_WORKING");
        assert_eq!(judge.step(&next[..end]).kind, StepKind::Held);
        let facts = judge.last();
        assert_eq!(
            (facts.task_id.as_str(), facts.context_id.as_str(), facts.state),
            (task_id, context_id, None),
            "{end}"
        );
        assert!(!facts.context_id.is_truncated() || context_id == "ctx-");
    }
}

/// What is known of a request, whatever its cut.
fn request(layout: RequestLayout, message: &Message) -> crate::wire::request::RequestFacts {
    let bytes = framed(message.as_bytes());
    let scan = |cut: usize| {
        let mut scan = GrpcRequestScan::new(layout, Some("skillId"), Some("region"));
        for piece in bytes.chunks(cut) {
            assert!(!scan.is_over());
            scan.feed(piece);
        }
        assert!(scan.is_over() && scan.is_valid());
        scan.facts().clone()
    };
    let whole = scan(bytes.len());
    (1..bytes.len()).for_each(|cut| assert_eq!(scan(cut), whole));
    whole
}

#[test]
fn requests_of_both_versions() {
    let facts = request(RequestLayout::V1_TASK, &about_task(V1, "t-1", Some("acme")));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", "acme"));
    let facts = request(RequestLayout::V03_NAME, &about_task(V03, "t-1", None));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", ""));
    let facts = request(RequestLayout::V03_NAME, &Message::new().text(1, "tasks/t-1/pushNotificationConfigs/c"));
    assert_eq!(facts.task_id.as_str(), "t-1");
    assert!(request(RequestLayout::V03_NAME, &Message::new().text(1, "t-1")).task_id.is_empty());
    let facts = request(RequestLayout::V1_LIST_PUSH, &Message::new().text(4, "acme").text(1, "t-1"));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", "acme"));
    let facts = request(RequestLayout::V1_CREATE_PUSH, &Message::new().text(1, "acme").text(2, "c").text(3, "t-1"));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", "acme"));
}

/// As the table in the module's documentation has it: tenant, task, context.
#[test]
fn fields_of_each_request() {
    let of = |layout| {
        // The third field of a cancellation is a message: its metadata.
        let numbers = (1..6).filter(|number| layout != RequestLayout::V1_CANCEL || *number != 3);
        let all = numbers.fold(Message::new(), |message, number| message.text(number, &format!("tasks/{number}")));
        let facts = request(layout, &all);
        [facts.tenant, facts.task_id, facts.context_id].map(|text| text.as_str().to_owned())
    };
    for (layout, expected) in [
        (RequestLayout::V1_TASK, ["tasks/1", "tasks/2", ""]),
        (RequestLayout::V1_CANCEL, ["tasks/1", "tasks/2", ""]),
        (RequestLayout::V1_LIST_TASKS, ["tasks/1", "", "tasks/2"]),
        (RequestLayout::V1_CREATE_PUSH, ["tasks/1", "tasks/3", ""]),
        (RequestLayout::V1_PUSH, ["tasks/1", "tasks/2", ""]),
        (RequestLayout::V1_LIST_PUSH, ["tasks/4", "tasks/1", ""]),
        (RequestLayout::V1_CARD, ["tasks/1", "", ""]),
        (RequestLayout::V03_NAME, ["", "1", ""]),
        (RequestLayout::V03_CARD, ["", "", ""]),
    ] {
        assert_eq!(of(layout), expected, "{layout:?}");
        assert_eq!(layout.has_tenant(), !expected[0].is_empty(), "{layout:?}");
    }
}

#[test]
fn sends_of_both_versions() {
    let message = || Message::new().text(1, "m").text(2, "ctx").text(3, "t-1");
    let configuration = |on| Message::new().number(4, on);
    let facts = request(RequestLayout::V1_SEND, &Message::new().message(2, message()).message(3, configuration(1)));
    assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), ("t-1", "ctx"));
    assert_eq!((facts.return_immediately, facts.blocking), (Some(true), None));
    let facts = request(RequestLayout::V03_SEND, &Message::new().message(1, message()).message(2, configuration(1)));
    assert_eq!((facts.task_id.as_str(), facts.return_immediately, facts.blocking), ("t-1", None, Some(true)));
    // Without a configuration nobody says; with one, a boolean that is not there is false.
    assert_eq!(request(RequestLayout::V03_SEND, &Message::new().message(1, message())).blocking, None);
    let quick = Message::new().message(2, Message::new().text(1, "text/plain"));
    assert_eq!(request(RequestLayout::V03_SEND, &quick).blocking, Some(false));
}

fn metadata(pairs: &[(&str, &str)]) -> Message {
    pairs.iter().fold(Message::new(), |metadata, (key, value)| {
        // The value first: a map's entry is a message like any other.
        metadata.message(1, Message::new().message(2, Message::new().text(3, value)).text(1, key))
    })
}

#[test]
fn skill_and_region_stand_in_metadata() {
    let own = metadata(&[("other", "x"), ("skillId", "translate"), ("region", "eu")]);
    let of_message = Message::new().message(6, metadata(&[("skillId", "no"), ("region", "us")]));
    for request_ in [
        Message::new().message(2, of_message.clone()).message(4, own.clone()),
        Message::new().message(4, own.clone()).message(2, of_message),
    ] {
        let facts = request(RequestLayout::V1_SEND, &request_);
        assert_eq!((facts.skill.as_str(), facts.region.as_str()), ("translate", "eu"));
    }
    let facts = request(RequestLayout::V03_SEND, &Message::new().message(3, own));
    assert_eq!((facts.skill.as_str(), facts.region.as_str()), ("translate", "eu"));
    let probe = send_text(V1, "m", "__probe__", &[("a2a_probe", true)], Some("acme"));
    assert_eq!(request(RequestLayout::V1_SEND, &probe).tenant.as_str(), "acme");
}

#[test]
fn one_key_of_metadata_is_enough() {
    let own = metadata(&[("skillId", "translate"), ("region", "eu")]);
    let bytes = framed(Message::new().message(4, own).as_bytes());
    for (skill, region, expected) in
        [(Some("skillId"), None, ("translate", "")), (None, Some("region"), ("", "eu")), (None, None, ("", ""))]
    {
        let mut scan = GrpcRequestScan::new(RequestLayout::V1_SEND, skill, region);
        scan.feed(&bytes);
        assert_eq!((scan.facts().skill.as_str(), scan.facts().region.as_str()), expected);
    }
}

#[test]
fn a_request_that_is_no_plain_message_names_nothing() {
    for bytes in [&b"\x01\0\0\0\x03abc"[..], b"{\"a\":1}", b"\0\0\0\0\x02\xff\xff"] {
        let mut scan = GrpcRequestScan::new(RequestLayout::V1_TASK, None, None);
        scan.feed(bytes);
        assert!(scan.is_over() && !scan.is_valid());
        assert_eq!(*scan.facts(), crate::wire::request::RequestFacts::default());
    }
}

/// A reader of the same messages that goes about it recursively, on the whole of them.
mod reference {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    pub(super) struct Read {
        pub(super) kind: PayloadKind,
        pub(super) task_id: String,
        pub(super) context_id: String,
        pub(super) state: Option<u32>,
    }

    enum Value<'a> {
        Number(u64),
        Bytes(&'a [u8]),
        Other,
    }

    fn varint(bytes: &mut &[u8]) -> Option<u64> {
        let mut value = 0_u128;
        for (at, byte) in bytes.iter().enumerate().take(10) {
            value |= u128::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                *bytes = &bytes[at + 1..];
                return u64::try_from(value).ok();
            }
        }
        None
    }

    fn take<'a>(bytes: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
        let (taken, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
        *bytes = rest;
        Some(taken)
    }

    /// The next field; `Err` with the number of a group that ends.
    fn field<'a>(bytes: &mut &'a [u8]) -> Option<Result<(u32, Value<'a>), u32>> {
        let tag = u32::try_from(varint(bytes)?).ok()?;
        let number = Some(tag >> 3).filter(|number| *number > 0)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(bytes)?),
            1 => take(bytes, 8).map(|_| Value::Other)?,
            2 => {
                let len = varint(bytes)?;
                Value::Bytes(take(bytes, len)?)
            }
            3 => loop {
                match field(bytes)? {
                    Ok(_) => {}
                    Err(end) if end == number => break Value::Other,
                    Err(_) => return None,
                }
            },
            4 => return Some(Err(number)),
            5 => take(bytes, 4).map(|_| Value::Other)?,
            _ => return None,
        };
        Some(Ok((number, value)))
    }

    fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, Value<'_>)>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            all.push(field(&mut bytes)?.ok()?);
        }
        Some(all)
    }

    fn text(value: Value<'_>) -> Option<String> {
        match value {
            Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
            _ => None,
        }
    }

    fn bytes(value: Value<'_>) -> Option<&[u8]> {
        match value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn status(message: &[u8], read: &mut Read) -> Option<()> {
        read.state.get_or_insert(0);
        for (number, value) in fields(message)? {
            match (number, value) {
                (1, Value::Number(state)) => read.state = Some(state as u32),
                (1, _) => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn payload(message: &[u8], ids: (u32, u32), has_status: bool, read: &mut Read) -> Option<()> {
        for (number, value) in fields(message)? {
            match number {
                n if n == ids.0 => read.task_id = text(value)?,
                n if n == ids.1 => read.context_id = text(value)?,
                3 if has_status => status(bytes(value)?, read)?,
                _ => {}
            }
        }
        Some(())
    }

    /// `None` if the bytes are no `StreamResponse`.
    pub(super) fn stream_response(message: &[u8]) -> Option<Read> {
        let mut read = Read::default();
        for (number, value) in fields(message)? {
            let (kind, ids, has_status) = match number {
                1 => (PayloadKind::Task, (1, 2), true),
                2 => (PayloadKind::Message, (3, 2), false),
                3 => (PayloadKind::StatusUpdate, (1, 2), true),
                4 => (PayloadKind::ArtifactUpdate, (1, 2), false),
                _ => continue,
            };
            if read.kind != kind {
                read = Read { kind, ..Read::default() };
            }
            payload(bytes(value)?, ids, has_status, &mut read)?;
        }
        Some(read)
    }
}

/// Any field of a message, known or not, with a value of any type.
fn any_field(inner: BoxedStrategy<Vec<u8>>) -> BoxedStrategy<Vec<u8>> {
    let number = prop_oneof![5 => 1_u32..7, 1 => 7_u32..2000];
    let group = inner.clone();
    let value = prop_oneof![
        3 => inner.prop_map(|bytes| (2, bytes)),
        2 => "[a-zé]{0,12}".prop_map(|text| (2, text.into_bytes())),
        2 => prop_oneof![0_u64..10, any::<u64>()].prop_map(|number| (0, Message::new().number(1, number).as_bytes()[1..].to_vec())),
        1 => any::<[u8; 8]>().prop_map(|bytes| (1, bytes.to_vec())),
        1 => any::<[u8; 4]>().prop_map(|bytes| (5, bytes.to_vec())),
        1 => group.prop_map(|bytes| (3, bytes)),
    ];
    (number, value)
        .prop_map(|(number, (wire, value))| {
            let mut bytes = Vec::new();
            super::varint::put(&mut bytes, u64::from(number << 3 | wire));
            if wire == 2 {
                super::varint::put(&mut bytes, value.len() as u64);
            }
            bytes.extend(value);
            if wire == 3 {
                super::varint::put(&mut bytes, u64::from(number << 3 | 4));
            }
            bytes
        })
        .boxed()
}

fn any_message() -> BoxedStrategy<Vec<u8>> {
    let leaf = Just(Vec::new()).boxed();
    (0..3).fold(leaf, |inner, _| {
        proptest::collection::vec(any_field(inner), 0..5).prop_map(|fields| fields.concat()).boxed()
    })
}

/// One that is valid, its fields in any order and some of them twice.
fn good_message() -> BoxedStrategy<Vec<u8>> {
    let field = prop_oneof![
        "[a-z]{1,40}".prop_map(|id| Message::new().text(1, &id)),
        "[a-z]{1,60}".prop_map(|id| Message::new().text(2, &id)),
        (0_u64..12).prop_map(|state| Message::new().message(3, Message::new().number(1, state).text(3, "now"))),
        Just(Message::new().message(3, Message::new())),
        "[a-z]{0,300}".prop_map(|text| Message::new().text(6, &text)),
    ];
    let payload = proptest::collection::vec(field, 0..6)
        .prop_map(|fields| fields.iter().fold(Vec::new(), |all, field| [&all[..], field.as_bytes()].concat()));
    proptest::collection::vec((1_u32..6, payload), 0..4)
        .prop_map(|members| {
            members
                .iter()
                .fold(Message::new(), |all, (number, payload)| all.bytes(*number, payload))
                .as_bytes()
                .to_vec()
        })
        .boxed()
}

/// The reference's view of what the judge noted.
fn seen(facts: &Facts) -> reference::Read {
    reference::Read {
        kind: facts.kind,
        task_id: facts.task_id.as_str().into(),
        context_id: facts.context_id.as_str().into(),
        state: None,
    }
}

fn agree(message: &[u8], cuts: &[usize]) -> Result<(), TestCaseError> {
    let bytes = framed(message);
    let whole = unary(expected(StreamEvent, V1), &bytes, usize::MAX);
    let mut judge = GrpcJudge::new(expected(StreamEvent, V1), MAX);
    let mut rest = &bytes[..];
    for cut in cuts {
        let (piece, behind) = rest.split_at(cut % (rest.len() + 1));
        judge.feed(piece);
        rest = behind;
    }
    judge.feed(rest);
    prop_assert_eq!((judge.finish(), judge.facts().clone()), whole.clone());

    match (reference::stream_response(message), whole) {
        (None, (GrpcEnd::Flawed(Flaw::Malformed(_)), _)) => {}
        (Some(read), (GrpcEnd::Message | GrpcEnd::Flawed(Flaw::Violation(_)), facts)) => {
            if let (Some(number), GrpcEnd::Message) = (read.state, unary(expected(StreamEvent, V1), &bytes, 1).0) {
                prop_assert_eq!(facts.state, crate::wire::TaskState::from_number(number));
            }
            prop_assert_eq!(seen(&facts), reference::Read { state: None, ..read });
        }
        (read, judged) => prop_assert!(false, "{:?} is {:?}", read, judged),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn good_messages_are_read_as_the_reference_does(message in good_message(), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        agree(&message, &cuts)?;
    }

    #[test]
    fn so_are_messages_of_any_fields(message in any_message(), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        agree(&message, &cuts)?;
    }

    #[test]
    fn and_mutated_ones(
        message in good_message(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        len in any::<prop::sample::Index>(),
        cuts in proptest::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut message = message;
        if !message.is_empty() {
            let at = at.index(message.len());
            message[at] = byte;
            agree(&message, &cuts)?;
            message.truncate(len.index(message.len() + 1));
        }
        agree(&message, &cuts)?;
    }

    #[test]
    fn any_bytes_at_all_are_judged_alike_in_any_cut(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 1_usize..20) {
        prop_assert_eq!(unary(expected(SendResult, V1), &bytes, usize::MAX), unary(expected(SendResult, V1), &bytes, cut));
        prop_assert_eq!(steps(&bytes, usize::MAX).0, steps(&bytes, cut).0);
        for layout in [RequestLayout::V1_SEND, RequestLayout::V03_SEND, RequestLayout::V03_NAME] {
            let mut scan = GrpcRequestScan::new(layout, Some("a"), Some("b"));
            scan.feed(&framed(&bytes));
        }
    }
}
