//! One message after another.

use super::*;
use crate::wire::{judge::PayloadKind, stream::Progress, tolerated::Tolerated};
use GrpcDialect::V03;

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
