use a2a_guard::wire::{
    Facts, Flaw, GrpcDialect, GrpcEnd, GrpcExpected, GrpcJudge, GrpcPayload, GrpcStreamJudge, PayloadKind, Progress,
    SmallText, StepKind, TaskState,
    grpc::frame::{Framing, Part},
};

use crate::{
    cut::cuts,
    input::Input,
    oracle::messages::{Messages, Reading, Rest, Said, read},
};

/// Messages above this are too large.
const MAX_MESSAGE: usize = 1 << 20;

/// Messages over gRPC, against prost.
pub fn grpc(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let expected = GrpcExpected {
        payload: input.pick(&[
            GrpcPayload::SendResult,
            GrpcPayload::StreamEvent,
            GrpcPayload::Task,
            GrpcPayload::Other,
        ]),
        dialect: input.pick(&[GrpcDialect::V1, GrpcDialect::V03]),
    };
    let (is_framed, has_coding) = (input.byte(), input.one_in(4));
    let seed = input.word();
    // Half of the time the fuzzer need not find the length.
    let mut body = input.rest().to_vec();
    if is_framed & 1 == 1 {
        let length = u32::try_from(body.len()).expect("a short input").to_be_bytes();
        body.splice(..0, [0, length[0], length[1], length[2], length[3]]);
    }

    let messages = Messages::of(&body);
    let mut whole = None;
    for pieces in cuts(&body, seed) {
        assert_framed(&messages, &pieces);
        let seen = (unary(expected, has_coding, &pieces), stream(expected, has_coding, &pieces));
        assert_unary(expected, has_coding, &messages, &seen.0);
        assert_stream(expected, has_coding, &messages, &seen.1);
        let whole = whole.get_or_insert_with(|| seen.clone());
        assert_eq!(*whole, seen, "judged otherwise in another cut");
    }
}

fn assert_framed(messages: &Messages<'_>, pieces: &[&[u8]]) {
    let mut framing = Framing::new();
    let mut found: Vec<(bool, Vec<u8>, bool)> = Vec::new();
    let mut is_bad = false;
    'pieces: for piece in pieces {
        let mut rest = *piece;
        loop {
            let (used, part) = framing.next(rest);
            rest = &rest[used..];
            match part {
                Part::Begin(prefix) => found.push((prefix.compressed, Vec::new(), false)),
                Part::Data(data) => found.last_mut().expect("a message").1.extend_from_slice(data),
                Part::End => found.last_mut().expect("a message").2 = true,
                Part::More => break assert!(rest.is_empty()),
                Part::Bad => {
                    is_bad = true;
                    break 'pieces;
                }
            }
        }
    }
    // The end of an empty message is told with the next look.
    if !is_bad && matches!(framing.next(&[]).1, Part::End) {
        found.last_mut().expect("a message").2 = true;
    }
    let whole: Vec<_> = found.iter().filter(|(.., ended)| *ended).map(|(flag, data, _)| (*flag, &data[..])).collect();
    assert_eq!(whole, messages.whole);
    assert_eq!(is_bad, messages.rest == Rest::Bad);
    match messages.rest {
        Rest::Nothing => assert!(framing.is_between()),
        Rest::Cut(flag, length, data) => {
            let (found, got, _) = found.last().expect("a message");
            assert_eq!((*found, &got[..]), (flag, data));
            assert_eq!(framing.missing(), Some(length - u32::try_from(data.len()).expect("less")));
        }
        Rest::Bad | Rest::Prefix => {}
    }
}

type Unary = (Option<Flaw>, GrpcEnd, Option<Facts>);

fn unary(expected: GrpcExpected, has_coding: bool, pieces: &[&[u8]]) -> Unary {
    let mut judge = GrpcJudge::new(expected, MAX_MESSAGE);
    if has_coding {
        judge.allow_compressed();
    }
    let stop = pieces.iter().find_map(|piece| judge.feed(piece));
    let end = judge.finish();
    // Of what is wrong more or less is known when it shows.
    (stop, end, (end == GrpcEnd::Message).then(|| judge.facts().clone()))
}

fn assert_unary(expected: GrpcExpected, has_coding: bool, messages: &Messages<'_>, (stop, end, facts): &Unary) {
    if let Some(flaw) = stop {
        assert_eq!(*end, GrpcEnd::Flawed(*flaw));
    }
    let (message, is_compressed) = match (&messages.whole[..], &messages.rest) {
        ([], Rest::Nothing) => return assert_eq!(*end, GrpcEnd::Empty),
        ([(flag, message)], Rest::Nothing) => (*message, *flag),
        ([], Rest::Prefix) => return assert_eq!(*end, GrpcEnd::Cut),
        // It may be found wrong before its end is missed.
        ([], Rest::Cut(..)) => return assert!(matches!(end, GrpcEnd::Cut | GrpcEnd::Flawed(_))),
        ([_], Rest::Prefix) => return assert!(matches!(end, GrpcEnd::Cut | GrpcEnd::Flawed(_))),
        _ => return assert!(matches!(end, GrpcEnd::Flawed(_)), "{end:?}"),
    };
    if is_compressed {
        let allowed = if *end == GrpcEnd::Message { has_coding } else { !has_coding };
        return assert!(allowed, "{end:?}");
    }
    match (read(expected, message), end) {
        (Reading::Malformed, GrpcEnd::Flawed(Flaw::Malformed(_))) => {}
        (Reading::Violation, GrpcEnd::Flawed(Flaw::Violation(_))) => {}
        (Reading::Valid(said), GrpcEnd::Message) => assert_is(&said, facts.as_ref().expect("facts")),
        (reading, end) => panic!("{reading:?} by prost, {end:?} here"),
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Streamed {
    kinds: Vec<StepKind>,
    events: u64,
    task_id: Option<String>,
    state: Option<TaskState>,
    progress: Progress,
    is_between: bool,
    is_opaque: bool,
    tolerated: Vec<&'static str>,
}

fn stream(expected: GrpcExpected, has_coding: bool, pieces: &[&[u8]]) -> Streamed {
    let mut judge = GrpcStreamJudge::new(expected, MAX_MESSAGE, true);
    if has_coding {
        judge.allow_compressed();
    }
    let mut kinds = Vec::new();
    'pieces: for piece in pieces {
        let mut at = 0;
        loop {
            let step = judge.step(&piece[at..]);
            at += step.consumed;
            match step.kind {
                StepKind::Held => break assert_eq!(at, piece.len()),
                StepKind::Flawed(_) => {
                    kinds.push(step.kind);
                    break 'pieces;
                }
                StepKind::Error => panic!("no message is an error"),
                kind => kinds.push(kind),
            }
        }
    }
    // Behind a flaw nothing counts but what came before it.
    let is_flawed = matches!(kinds.last(), Some(StepKind::Flawed(_)));
    Streamed {
        events: judge.events(),
        task_id: judge.task_id().map(Into::into),
        state: judge.state(),
        progress: judge.progress(),
        is_between: !is_flawed && judge.is_between(),
        is_opaque: !is_flawed && judge.is_opaque(),
        tolerated: judge.tolerated().iter().collect(),
        kinds,
    }
}

fn assert_stream(expected: GrpcExpected, has_coding: bool, messages: &Messages<'_>, seen: &Streamed) {
    let mut kinds = seen.kinds.iter();
    let mut task_id = String::new();
    let (mut events, mut is_done) = (0, false);
    for (is_compressed, message) in &messages.whole {
        let kind = kinds.next().expect("a message that was not told");
        if is_done {
            assert_eq!(*kind, StepKind::Boundary);
            continue;
        }
        if *is_compressed {
            if !has_coding {
                return assert!(matches!(kind, StepKind::Flawed(_)));
            }
            assert_eq!(*kind, StepKind::Event);
            events += 1;
            continue;
        }
        let said = match (read(expected, message), kind) {
            (Reading::Malformed, StepKind::Flawed(Flaw::Malformed(_))) => return,
            (Reading::Violation, StepKind::Flawed(Flaw::Violation(_))) => return,
            (Reading::Valid(said), StepKind::Event) => said,
            (reading, kind) => panic!("{reading:?} by prost, {kind:?} here"),
        };
        events += 1;
        if said.task_id.len() > SmallText::MAX {
            return;
        }
        if said.kind == PayloadKind::Message {
            is_done = task_id.is_empty();
            continue;
        }
        if task_id.is_empty() {
            task_id.clone_from(&said.task_id);
        }
        if task_id == said.task_id && matches!(said.kind, PayloadKind::Task | PayloadKind::StatusUpdate) {
            is_done = said.state.is_some_and(TaskState::is_terminal);
        }
    }
    assert_eq!(
        (seen.events, seen.task_id.clone().unwrap_or_default(), seen.progress == Progress::Done),
        (events, task_id, is_done)
    );
    match messages.rest {
        Rest::Nothing => assert!(seen.is_between && kinds.next().is_none()),
        Rest::Bad => assert!(matches!(kinds.next(), Some(StepKind::Flawed(_)))),
        Rest::Prefix => assert!(!seen.is_between && kinds.next().is_none()),
        Rest::Cut(..) => assert!(!seen.is_between && kinds.all(|kind| matches!(kind, StepKind::Flawed(_)))),
    }
}

fn assert_is(said: &Said, facts: &Facts) {
    assert_eq!((facts.kind, facts.is_final), (said.kind, said.is_final));
    if matches!(said.kind, PayloadKind::Task | PayloadKind::StatusUpdate) {
        assert_eq!(facts.state, said.state);
    }
    let is = |kept: &SmallText, text: &str| match text.as_bytes().get(..SmallText::MAX) {
        Some(start) if text.len() > SmallText::MAX => kept.is_truncated() && kept.as_bytes() == start,
        _ => !kept.is_truncated() && kept.as_str() == text,
    };
    assert!(is(&facts.task_id, &said.task_id) && is(&facts.context_id, &said.context_id), "{facts:?} {said:?}");
}
