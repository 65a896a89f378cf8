use a2a_guard::wire::{
    Envelope, Expected, Finish, JsonRpcId, Payload, Progress, StepKind, StreamJudge, TaskState, Wrapping,
    sse::{Frame, Framing},
};
use serde_json::value::RawValue;

use crate::{
    cut::cuts,
    input::Input,
    oracle::{
        course::{Course, End},
        events::{Events, by_library, by_the_standard},
    },
    targets::answer::request_id,
};

/// Events of no size are too large.
const NEVER_REACHED: usize = 1 << 20;

/// A stream of events: its framing against the HTML standard's algorithm and another library, its course against the
/// rules for single answers.
pub fn sse(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let expected = Expected {
        envelope: input.pick(&[Envelope::JsonRpc, Envelope::Bare]),
        wrapping: input.pick(&[Wrapping::Member, Wrapping::Kind, Wrapping::Legacy]),
        payload: Payload::StreamEvent,
    };
    let (id, raw) = request_id(input.byte());
    let raw = raw.map(|json| serde_json::from_str::<&RawValue>(json).expect("an id"));
    let choices = input.byte();
    let change = (input.word(), input.byte());
    let seed = input.word();
    let body = Repeats::of(choices).of_body(input.rest(), change);
    let max_event = if choices >> 6 == 3 { 60 + 4 * usize::from(change.1) } else { NEVER_REACHED };

    let events = by_the_standard(&body);
    let course = Course::of_events(&events, expected, raw, &body);
    let mut whole = None;
    for pieces in cuts(&body, seed) {
        assert_framed(&events, &pieces);
        let seen = Seen::of(expected, &id, &pieces, &body, max_event);
        if max_event == NEVER_REACHED {
            seen.assert_is(&course);
        }
        let whole = whole.get_or_insert_with(|| seen.clone());
        assert_eq!(*whole, seen, "judged otherwise in another cut");
    }
}

/// What stands in a stream's events where others of their kind say something else. Some of it ends the text that it
/// stands in, or its line.
const TEXTS: [&[u8]; 12] = [
    b"",
    b"a",
    b"\xc3\xa9",
    b"\xc3",
    b"\\\"",
    b"\\u00e9",
    b"\\ud800",
    b"\\",
    b"\"",
    b"\",\"id\":\"",
    b"\r\n",
    b"a text that is longer than those which are kept of an event",
];

/// How a stream goes on before it is what the fuzzer wrote: with its first event, or its first two in turn, again, so
/// that what is remembered of them is used.
#[derive(Clone, Copy)]
struct Repeats {
    times: u8,
    in_turn: bool,
    /// A text takes the place of another, instead of a byte that of another.
    texts: bool,
}

impl Repeats {
    fn of(byte: u8) -> Self {
        Self { times: (byte & 3) + 3 * (byte >> 4 & 3), in_turn: byte & 4 != 0, texts: byte & 8 != 0 }
    }

    /// The body with them. A little of them may differ each time.
    fn of_body(self, body: &[u8], (place, byte): (u16, u8)) -> Vec<u8> {
        let events = by_the_standard(body).events;
        let end = events.get(usize::from(self.in_turn)).or(events.first()).map_or(0, |event| event.end);
        let mut again = body[..end].to_vec();
        let mut stream = again.clone();
        for nth in 0..self.times {
            if !again.is_empty() && place > 0 {
                let at = usize::from(place) % again.len();
                let byte = byte.wrapping_add(nth);
                if self.texts {
                    let until = (at + usize::from(byte >> 4)).min(again.len());
                    again.splice(at..until, TEXTS[usize::from(byte) % TEXTS.len()].iter().copied());
                } else {
                    again[at] = byte;
                }
            }
            stream.extend_from_slice(&again);
        }
        stream.extend_from_slice(&body[end..]);
        stream
    }
}

/// The framing finds the events that there are.
fn assert_framed(events: &Events, pieces: &[&[u8]]) {
    let mut framing = Framing::new();
    let mut found = Vec::new();
    let mut data = Vec::new();
    for piece in pieces {
        let mut at = 0;
        loop {
            let (used, frame) = framing.next(&piece[at..]);
            at += used;
            match frame {
                Frame::Data(piece) => data.extend_from_slice(piece),
                Frame::Between => assert!(!framing.in_event()),
                Frame::End => {
                    let ended = std::mem::take(&mut data);
                    if framing.has_data() {
                        found.push((ended, framing.is_error()));
                    }
                }
                Frame::More => break,
            }
            assert!(at <= piece.len());
        }
        assert_eq!(at, piece.len(), "bytes that were not looked at");
    }
    let terminated: Vec<_> = events.events.iter().filter(|event| event.terminated).collect();
    let expected: Vec<_> = terminated.iter().map(|event| (event.data.clone(), event.is_error)).collect();
    assert_eq!(found, expected, "framed otherwise than the standard has it");

    framing.finish();
    assert_eq!(framing.has_junk(), events.junk);
    let last = events.events.last().filter(|event| !event.terminated);
    assert_eq!(framing.in_event(), last.is_some() || events.unfinished);
    if let Some(last) = last {
        assert!(framing.has_data());
        // A last line `data` without a colon joins nothing to what was there, but a line end, which no JSON asks for.
        let ends_bare = pieces.concat().ends_with(b"data");
        let expected = last.data.strip_suffix(b"\n").filter(|_| ends_bare).unwrap_or(&last.data);
        assert_eq!((&data[..], framing.is_error()), (expected, last.is_error));
    }
    if framing.in_event() {
        // With what is missing, and no more, it is an event.
        let missing = framing.missing();
        let mut whole = pieces.concat();
        whole.extend_from_slice(missing);
        let whole = by_the_standard(&whole);
        assert_eq!(whole.events.len(), events.events.len());
        assert!(whole.events.iter().all(|event| event.terminated) && !whole.unfinished);
    }

    // It reads what it holds once more with each piece.
    let is_bytewise = pieces.len() > 200;
    if let Some(by_library) = (!is_bytewise).then(|| by_library(pieces)).flatten() {
        let ours: Vec<_> = terminated.iter().map(|event| (event.data.clone(), event.is_error)).collect();
        let theirs: Vec<_> = by_library.into_iter().map(|(data, name)| (data.into_bytes(), name == "error")).collect();
        assert_eq!(ours, theirs, "framed otherwise than by eventsource-stream");
    }
}

/// What the judge makes of it.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    steps: Vec<(usize, StepKind)>,
    finish: Option<Finish>,
    events: u64,
    task_id: Option<String>,
    state: Option<TaskState>,
    progress: Progress,
    tolerated: Vec<&'static str>,
}

impl Seen {
    fn of(expected: Expected, id: &JsonRpcId, pieces: &[&[u8]], body: &[u8], max_event: usize) -> Self {
        let mut judge = StreamJudge::new(expected, max_event, true);
        let mut steps = Vec::new();
        let mut before = 0;
        let mut is_over = false;
        'pieces: for piece in pieces {
            let mut at = 0;
            while at < piece.len() {
                let step = judge.step(&piece[at..], id);
                at += step.consumed;
                assert!(at <= piece.len());
                match step.kind {
                    // It is over with the carriage return; a cut may separate the line feed from it.
                    StepKind::Event => {
                        let end = before + at;
                        let is_between = body[..end].ends_with(b"\r") && body[end..].starts_with(b"\n");
                        steps.push((end + usize::from(is_between), step.kind));
                    }
                    StepKind::Boundary => {}
                    StepKind::Held => assert_eq!(at, piece.len(), "held, with bytes that were not looked at"),
                    StepKind::Error | StepKind::Flawed(_) => {
                        // Where the flaw shows, within its event, the cut may decide.
                        steps.push((0, step.kind));
                        is_over = true;
                        break 'pieces;
                    }
                }
                assert!(step.consumed > 0, "no way forward");
            }
            before += piece.len();
        }
        let finish = (!is_over).then(|| judge.finish(id));
        Self {
            steps,
            finish,
            events: judge.events(),
            task_id: judge.task_id().map(Into::into),
            state: judge.state(),
            progress: judge.progress(),
            tolerated: judge.tolerated().iter().collect(),
        }
    }

    fn assert_is(&self, course: &Course) {
        let end = match (self.finish, self.steps.last()) {
            (None, Some((_, StepKind::Error))) | (Some(Finish::Error), _) => End::Error,
            (None, _) | (Some(Finish::Cut | Finish::Flawed(_)), _) => End::Failed,
            (Some(Finish::Event { .. }), _) => End::Unterminated,
            (Some(Finish::Unframed), _) => End::Unframed,
            (Some(Finish::Clean), _) => End::Clean,
        };
        let is_either = course.end == End::ErrorOrFailed && matches!(end, End::Error | End::Failed);
        let expected_end = if is_either { end } else { course.end };
        let task_id = self.task_id.clone().unwrap_or_default();
        if course.task_id.len() <= a2a_guard::wire::SmallText::MAX {
            assert_eq!(task_id, course.task_id);
        }
        assert_eq!(
            (self.events, self.state, self.progress, end),
            (course.events, course.state, course.progress, expected_end),
            "{self:?} {course:?}"
        );
        let last = self.steps.iter().rev().find(|(_, kind)| *kind == StepKind::Event);
        if let Some((place, _)) = last
            && end != End::Unterminated
        {
            assert_eq!(*place, course.passed, "{course:?}");
        }
    }
}
