use proptest::prelude::*;

use super::super::judge::{Envelope, Payload, Wrapping};
use super::*;

const RPC: Expected =
    Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload: Payload::StreamEvent };
const REST: Expected = Expected { envelope: Envelope::Bare, ..RPC };
const MAX: usize = 1 << 20;
const ID: JsonRpcId = JsonRpcId::Number(1);

/// What a caller of the judge can see in the end, and the bytes it would have handed on.
#[derive(Debug, PartialEq)]
struct Seen {
    steps: Vec<StepKind>,
    handed_on: usize,
    finish: Finish,
    events: u64,
    progress: Progress,
    state: Option<&'static str>,
    task_id: Option<String>,
    tolerated: Vec<&'static str>,
}

fn watch_pieces<'a>(mut judge: StreamJudge, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut steps = Vec::new();
    let (mut taken, mut handed_on) = (0, 0);
    'pieces: for piece in pieces {
        let mut at = 0;
        while at < piece.len() {
            let step = judge.step(&piece[at..], &ID);
            at += step.consumed;
            taken += step.consumed;
            match step.kind {
                StepKind::Held => assert_eq!(at, piece.len()),
                // How many boundaries there are depends on the cuts, where they lie does not.
                StepKind::Boundary => handed_on = taken,
                StepKind::Event => {
                    handed_on = taken;
                    steps.push(step.kind);
                }
                StepKind::Error | StepKind::Flawed(_) => {
                    steps.push(step.kind);
                    break 'pieces;
                }
            }
            let is_flawed = matches!(step.kind, StepKind::Flawed(_));
            let is_over = is_flawed || step.kind == StepKind::Error;
            assert!(is_over || judge.held() == taken - handed_on);
        }
    }
    Seen {
        finish: judge.finish(&ID),
        steps,
        handed_on,
        events: judge.events(),
        progress: judge.progress(),
        state: judge.state().map(TaskState::as_str),
        task_id: judge.task_id().map(str::to_owned),
        tolerated: judge.tolerated().iter().collect(),
    }
}

fn watch(expected: Expected, stream: &str) -> Seen {
    let judge = || StreamJudge::new(expected, MAX, true);
    let stream = stream.as_bytes();
    let whole = watch_pieces(judge(), [stream]);
    assert_eq!(whole, watch_pieces(judge(), stream.chunks(1)));
    for place in 0..=stream.len() {
        let (one, two) = stream.split_at(place);
        assert_eq!(whole, watch_pieces(judge(), [one, two]), "cut at {place}");
    }
    whole
}

fn task(id: &str, state: &str) -> String {
    format!("data: {{\"task\":{{\"id\":\"{id}\",\"status\":{{\"state\":\"TASK_STATE_{state}\"}}}}}}\n\n")
}

fn status(id: &str, state: &str) -> String {
    format!("data: {{\"statusUpdate\":{{\"taskId\":\"{id}\",\"status\":{{\"state\":\"TASK_STATE_{state}\"}}}}}}\n\n")
}

fn artifact(id: &str) -> String {
    format!("data: {{\"artifactUpdate\":{{\"taskId\":\"{id}\",\"artifact\":{{\"parts\":[]}}}}}}\n\n")
}

/// One that differs from others of its kind in nothing that is told.
fn text_event(text: &str) -> String {
    artifact("310647ae-d68f-47e7-9482-e38f651890fe").replace("[]", &format!("[{{\"text\":\"{text}\"}}]"))
}

/// So many of these as it takes until another one is known without being read.
fn known() -> String {
    ["1", "2", "3", "4"].map(text_event).concat()
}

const MESSAGE: &str = "data: {\"message\":{\"messageId\":\"m\",\"parts\":[]}}\n\n";

#[test]
fn a_task_from_beginning_to_end() {
    let stream = [task("t", "WORKING"), artifact("t"), ": ping\n\n".into(), status("t", "COMPLETED")].concat();
    let seen = watch(REST, &stream);
    assert_eq!(seen.steps, [StepKind::Event; 3]);
    assert_eq!(seen.handed_on, stream.len());
    assert_eq!(seen.finish, Finish::Clean);
    assert_eq!(seen.progress, Progress::Done);
    assert_eq!(seen.state, Some("TASK_STATE_COMPLETED"));
    assert_eq!(seen.task_id.as_deref(), Some("t"));
    assert!(seen.tolerated.is_empty());
}

/// What is handed on up to there must be that event and no more, be it read, or known from one before.
#[test]
fn each_event_ends_with_its_blank_line() {
    let mut parts = vec![task("t", "WORKING")];
    for round in 0..6 {
        parts.push(text_event(&"x".repeat(round)));
        parts.push(status("t", "WORKING"));
        parts.push(text_event("y").replace('\n', ["\n", "\r", "\r\n"][round % 3]));
    }
    for end in 1..parts.len() {
        let stream = parts[..=end].concat();
        let mut judge = StreamJudge::new(REST, MAX, true);
        let mut at = 0;
        for part in &parts[..=end] {
            let step = judge.step(&stream.as_bytes()[at..], &ID);
            assert_eq!(step, Step { consumed: part.len(), kind: StepKind::Event }, "{part:?}");
            assert_eq!(judge.held(), 0);
            at += step.consumed;
        }
        assert_eq!((judge.events(), judge.finish(&ID)), (end as u64 + 1, Finish::Clean));
    }
}

/// Even where a cut lets a piece begin with it.
#[test]
fn an_event_within_a_line_is_none() {
    let known = known();
    for line in [": ", "id: 1 ", "retry: ", "event: "] {
        for event in [status("t", "COMPLETED"), text_event("y")] {
            let seen = watch(REST, &[&known, line, &event].concat());
            assert_eq!((seen.events, seen.progress, seen.finish), (4, Progress::Open, Finish::Clean), "{line:?}");
        }
    }
}

#[test]
fn one_message_is_a_whole_stream() {
    let seen = watch(REST, MESSAGE);
    assert_eq!((seen.events, seen.progress, seen.task_id), (1, Progress::Done, None));
    let seen = watch(REST, &[task("t", "WORKING"), MESSAGE.into()].concat());
    assert_eq!((seen.events, seen.progress), (2, Progress::Open));
    assert_eq!(seen.tolerated, ["message_in_task_stream"]);
}

#[test]
fn nothing_after_the_end_counts() {
    let stream = [task("t", "FAILED"), "data: {\"error\":{}}\n\ndata: <\n\n".into(), "x".repeat(99)].concat();
    let mut judge = StreamJudge::new(REST, 99, true);
    let mut at = 0;
    while at < stream.len() {
        let step = judge.step(&stream.as_bytes()[at..], &ID);
        assert!(matches!(step.kind, StepKind::Event | StepKind::Boundary));
        at += step.consumed;
    }
    assert_eq!(judge.finish(&ID), Finish::Clean);
    assert_eq!((judge.events(), judge.held()), (1, 0));
}

#[test]
fn interrupted_states_do_not_latch() {
    let progress = |states: &[&str]| {
        let stream: String = states.iter().map(|state| status("t", state)).collect();
        watch(REST, &stream).progress
    };
    assert_eq!(progress(&["INPUT_REQUIRED"]), Progress::InputRequired);
    assert_eq!(progress(&["AUTH_REQUIRED"]), Progress::AuthRequired);
    assert_eq!(progress(&["AUTH_REQUIRED", "WORKING"]), Progress::Open);
    assert_eq!(progress(&["INPUT_REQUIRED", "AUTH_REQUIRED"]), Progress::AuthRequired);
    assert_eq!(progress(&["AUTH_REQUIRED", "REJECTED"]), Progress::Done);
    assert_eq!(progress(&["INPUT_REQUIRED", "NEW"]), Progress::Open);
    let stream = [status("t", "INPUT_REQUIRED"), artifact("t")].concat();
    assert_eq!(watch(REST, &stream).progress, Progress::InputRequired);
}

#[test]
fn events_of_another_task_change_nothing() {
    let seen = watch(REST, &[task("t", "WORKING"), status("u", "COMPLETED"), task("u", "FAILED")].concat());
    assert_eq!((seen.progress, seen.events), (Progress::Open, 3));
    assert_eq!(seen.state, Some("TASK_STATE_WORKING"));
    assert_eq!(seen.task_id.as_deref(), Some("t"));
    assert_eq!(seen.tolerated, ["other_task_id"]);
}

#[test]
fn the_first_event_is_flagged_where_it_matters() {
    let stream = status("t", "WORKING");
    assert_eq!(watch(REST, &stream).tolerated, ["first_event_not_task"]);
    let unflagged = StreamJudge::new(REST, MAX, false);
    assert_eq!(watch_pieces(unflagged, [stream.as_bytes()]).tolerated, [""; 0]);
}

#[test]
fn errors_in_whatever_shape() {
    let rpc_error = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"x\"}}";
    for (expected, stream) in [
        (RPC, format!("data: {rpc_error}\n\n")),
        (RPC, format!("event: error\r\ndata: {rpc_error}\r\n\r\n")),
        (RPC, "event: error\ndata: {\"message\":\"x\"}\n\n".into()),
        (REST, "data: {\"code\":-32603,\"message\":\"x\",\"data\":null}\n\n".into()),
        (REST, "event: error\ndata: {\"error\":{\"code\":500}}\n\n".into()),
        (REST, "data: {}\nevent: error\n\n".into()),
    ] {
        let seen = watch(expected, &stream);
        assert_eq!(seen.steps, [StepKind::Error], "{stream:?}");
        assert_eq!((seen.handed_on, seen.events), (0, 0));
        // The same without its blank line.
        let seen = watch(expected, stream.trim_end());
        assert_eq!((seen.steps, seen.finish), (vec![], Finish::Error), "{stream:?}");
    }
    let seen = watch(REST, &format!("event: error\n{MESSAGE}"));
    assert_eq!(seen.steps, [StepKind::Event], "a result is one, whatever the event is called");
}

#[test]
fn flawed_events() {
    let flaw = |expected, stream: &str| match watch(expected, stream).steps[..] {
        [StepKind::Flawed(flaw)] => flaw,
        ref other => panic!("{stream:?} {other:?}"),
    };
    assert_eq!(flaw(REST, "data: {\"error\":true}\n\n"), Flaw::Violation("an error that is no object"));
    assert_eq!(flaw(RPC, MESSAGE), Flaw::Violation("neither a result nor an error"));
    assert!(matches!(flaw(REST, "data: {\n\n"), Flaw::Malformed(_)));
    assert!(matches!(flaw(REST, "data: [DONE]\n\n"), Flaw::Malformed(_)));
    assert!(matches!(flaw(REST, "event: error\ndata: boom\n\n"), Flaw::Malformed(_)));
    let other = r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32603,"message":"no"}}"#;
    assert_eq!(flaw(RPC, &format!("event: error\ndata: {other}\n\n")), Flaw::OTHER_CALL);
    assert!(matches!(flaw(REST, "data:  \n\n"), Flaw::Malformed(_)));
    assert!(matches!(flaw(REST, "event: error\ndata: \"boom\"\n\n"), Flaw::Violation(_)));
    // A line break inside a JSON string is not JSON, in one line or two.
    assert!(matches!(flaw(REST, "data: {\"a\":\"b\ndata: c\"}\n\n"), Flaw::Malformed(_)));
}

#[test]
fn bodies_that_are_no_event_stream() {
    let html = Flaw::Malformed("HTML where events are due");
    assert_eq!(watch(REST, "<!doctype html>").steps, [StepKind::Flawed(html)]);
    assert_eq!(watch(REST, "\n\n  <html>").steps, [StepKind::Flawed(html)]);
    let junk = Finish::Flawed(Flaw::Malformed("no event stream"));
    assert_eq!(watch(REST, "Internal Server Error").finish, junk);
    assert_eq!(watch(REST, ": c\n\nupstream timed out\n\n").finish, junk);
    assert_eq!(watch(REST, "").finish, Finish::Clean);
    assert_eq!(watch(REST, ": ping\n\n: pi").finish, Finish::Clean);
    for json in ["{\"task\":{}}", " \n[1]", "\u{feff}{\"a\":\n\n1}"] {
        let seen = watch(REST, json);
        assert_eq!((seen.steps, seen.finish), (vec![], Finish::Unframed));
    }
}

#[test]
fn the_end_of_a_body_inside_an_event() {
    let event = status("t", "COMPLETED");
    let rest = &event[6..event.len() - 2];
    let seen = watch(REST, &event[..event.len() - 2]);
    assert_eq!(seen.finish, Finish::Event { missing: b"\n\n" });
    assert_eq!((seen.events, seen.progress), (1, Progress::Done));
    assert!(seen.tolerated.contains(&"unterminated_event"));
    let crlf = format!(": c\r\n\r\ndata: {rest}\r\n");
    assert_eq!(watch(REST, &crlf).finish, Finish::Event { missing: b"\r\n" });
    // In the style of the last line that ended, wherever the bytes were cut.
    let mixed = [": c\r", &artifact("t"), "data: ", rest].concat();
    assert_eq!(watch(REST, &mixed).finish, Finish::Event { missing: b"\n\n" });
    for cut in ["data: {\"sta", "data: ", "data:\ndata\n", "dat", "id: 7\n", "data: {\"a\":\"\\"] {
        assert_eq!(watch(REST, &[task("t", "WORKING"), cut.into()].concat()).finish, Finish::Cut, "{cut:?}");
    }
    assert!(matches!(watch(REST, "data: {]").finish, Finish::Flawed(Flaw::Malformed(_))));
    assert!(matches!(watch(REST, "data: {}").finish, Finish::Flawed(Flaw::Violation(_))));
}

#[test]
fn events_are_bounded() {
    let event = task("t", "WORKING");
    for (max, kind) in [(event.len(), StepKind::Event), (event.len() - 1, StepKind::Flawed(Flaw::TooLarge))] {
        for size in [1, 7, event.len()] {
            let judge = StreamJudge::new(REST, max, true);
            assert_eq!(watch_pieces(judge, event.as_bytes().chunks(size)).steps, [kind]);
        }
    }
    // One that is known from those before it is no shorter for that.
    let (known, longer) = (known(), text_event("xy"));
    let long = |max| watch_pieces(StreamJudge::new(REST, max, false), [[&known[..], &longer].concat().as_bytes()]);
    assert_eq!(long(longer.len()).steps, [StepKind::Event; 5]);
    assert_eq!(long(longer.len() - 1).steps[4..], [StepKind::Flawed(Flaw::TooLarge)]);
    // What comes is counted, not what is missing.
    let cut = event.trim_end();
    let unended = |max| watch_pieces(StreamJudge::new(REST, max, true), [cut.as_bytes()]).finish;
    assert_eq!(unended(cut.len()), Finish::Event { missing: b"\n\n" });
    assert_eq!(unended(cut.len() - 1), Finish::Flawed(Flaw::TooLarge));
    let large = ["{", &" ".repeat(200)].concat();
    for endless in [&*"x".repeat(200), &large, &"data: a\n".repeat(40), &": ".repeat(100)] {
        let judge = StreamJudge::new(REST, 99, true);
        let seen = watch_pieces(judge, endless.as_bytes().chunks(10));
        assert_eq!(seen.steps, [StepKind::Flawed(Flaw::TooLarge)]);
        assert_eq!(seen.finish, Finish::Flawed(Flaw::TooLarge));
    }
}

proptest! {
    #[test]
    fn what_is_seen_does_not_depend_on_cuts(
        parts in prop::collection::vec(prop::sample::select(vec![
            task("t", "WORKING"), status("t", "WORKING"), status("u", "WORKING"), artifact("t"), status("t", "INPUT_REQUIRED"),
            status("t", "WORKING").replace('\n', "\r\n"), artifact("t").replace('\n', "\r"), status("t", "COMPLETED"), MESSAGE.into(),
            ": ping\n\n".into(), "\u{feff}".into(), " ".into(), "\r".into(), "id: 1\r\n".into(), "data:\n\n".into(), "event: error\n".into(), "data: {\"error\":{}}\n\n".into(),
            "data: {\n".into(), "junk\n".into(), "\n".into(), "\r\n".into(), "{".into(), "<".into(),
        ]), 0..12),
        size in 1usize..60,
        max in prop::sample::select(vec![90usize, 150, MAX]),
    ) {
        let stream = parts.concat();
        let judge = || StreamJudge::new(REST, max, true);
        let whole = watch_pieces(judge(), [stream.as_bytes()]);
        prop_assert_eq!(whole, watch_pieces(judge(), stream.as_bytes().chunks(size)));
    }

    /// Events that are like others, in whatever form servers write them, with what is around and between them, in any cut: they are seen as if none
    /// was like another. That is so where lines end with a carriage return, which nothing is learnt of.
    #[test]
    fn an_event_like_another_is_seen_as_if_it_was_the_only_one(
        parts in prop::collection::vec((0usize..9, "[a-c\u{e9}]{0,4}|\\\\u00e9|\\\\\"|WORKING|\"|,|\\\\x|\u{1}|a\u{0}", 0u32..100), 0..16),
        line_end in prop::sample::select(vec!["\n", "\r\n"]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        max in prop::sample::select(vec![130usize, 180, MAX]),
    ) {
        let of = |line_end: &str| {
            let event = |(kind, text, number): &(usize, String, u32)| match kind {
                0 | 1 => text_event(text),
                2 | 3 => format!("id: {number}\n{}", text_event(text)),
                4 => format!("event: message\nid: {number}\n{}", text_event(text)),
                5 => status("310647ae-d68f-47e7-9482-e38f651890fe", text),
                6 => format!(": {number}\n\n"),
                7 => format!("event: {text}\n{}", text_event("a")),
                _ => text_event("a").replace("data: ", "data:").replace("}}}", "}}}\ndata: "),
            };
            parts.iter().map(event).collect::<String>().replace('\n', line_end)
        };
        let judge = || StreamJudge::new(REST, max, true);
        let text = of(line_end);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(text.len());
        let pieces = cuts.iter().scan(0, |from, to| {
            Some(&text.as_bytes()[std::mem::replace(from, *to)..*to])
        });
        let seen = watch_pieces(judge(), pieces);
        prop_assert_eq!(&seen, &watch_pieces(judge(), [text.as_bytes()]));
        // Line ends of two bytes take room.
        if max == MAX {
            let alone = watch_pieces(judge(), [of("\r").as_bytes()]);
            prop_assert_eq!(
                (seen.steps, seen.events, seen.progress, seen.state, seen.task_id, seen.tolerated),
                (alone.steps, alone.events, alone.progress, alone.state, alone.task_id, alone.tolerated)
            );
        }
    }

    #[test]
    fn no_bytes_harm(bytes: Vec<u8>, size in 1usize..9) {
        let judge = || StreamJudge::new(REST, 64, true);
        let whole = watch_pieces(judge(), [&bytes[..]]);
        prop_assert_eq!(whole, watch_pieces(judge(), bytes.chunks(size)));
    }
}

/// What follows an event that is an error is judged all the same by who asks, and tells nothing of that one.
#[test]
fn an_error_is_one_however_often_it_comes() {
    let error = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"no\"}}\n\n";
    let good = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"artifactUpdate\":{\"taskId\":\"t\",\"artifact\":{}}}}\n\n";
    for good in [format!("data:{good}"), format!(": so\n\ndata:{good}"), format!("data: {good}")] {
        let mut judge = StreamJudge::new(RPC, MAX, false);
        for _ in 0..12 {
            assert_eq!(judge.step(error.as_bytes(), &ID).kind, StepKind::Error);
            let mut at = 0;
            while at < good.len() {
                let step = judge.step(&good.as_bytes()[at..], &ID);
                assert!(matches!(step.kind, StepKind::Event | StepKind::Boundary), "{step:?} {good}");
                at += step.consumed;
            }
        }
    }
}

/// Also of an event that is like those before, as far as it came.
#[test]
fn what_was_too_large_stays_so() {
    let mut judge = StreamJudge::new(REST, text_event("x").len() + 40, false);
    let (known, long) = (known(), text_event(&"x".repeat(400)));
    let mut at = 0;
    while at < known.len() {
        at += judge.step(&known.as_bytes()[at..], &ID).consumed;
    }
    let mut kinds = long.as_bytes().chunks(60).map(|piece| judge.step(piece, &ID).kind);
    assert!(kinds.any(|kind| kind == StepKind::Flawed(Flaw::TooLarge)));
    drop(kinds);
    assert_eq!(judge.finish(&ID), Finish::Flawed(Flaw::TooLarge));
}
