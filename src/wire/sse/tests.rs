use proptest::prelude::*;

use super::*;

#[derive(Debug, Default, PartialEq, Clone)]
struct Event {
    data: String,
    is_error: bool,
}

/// Every event with data, as the standard's own algorithm dispatches them.
fn reference(stream: &str) -> Vec<Event> {
    let stream = stream.strip_prefix('\u{feff}').unwrap_or(stream);
    let stream = stream.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = stream.split('\n').collect();
    lines.pop();
    let mut events = Vec::new();
    let (mut data, mut name) = (String::new(), "");
    for line in lines {
        if line.is_empty() {
            if data.strip_suffix('\n').is_some_and(|data| data.contains(|c| c != '\n')) {
                data.pop();
                events.push(Event { data: std::mem::take(&mut data), is_error: name == "error" });
            }
            data.clear();
            name = "";
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "event" => name = value,
            _ => {}
        }
    }
    events
}

fn frames<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, Framing) {
    let mut framing = Framing::new();
    let mut events = Vec::new();
    let mut data = Vec::new();
    for piece in pieces {
        let mut at = 0;
        while at < piece.len() {
            let (used, frame) = framing.next(&piece[at..]);
            assert!(used > 0);
            at += used;
            match frame {
                Frame::Data(piece) => data.extend_from_slice(piece),
                Frame::End => {
                    if framing.has_data() {
                        events.push(Event {
                            data: String::from_utf8_lossy(&data).into_owned(),
                            is_error: framing.is_error(),
                        });
                    }
                    data.clear();
                }
                Frame::Between => assert!(data.is_empty()),
                Frame::More => assert_eq!(at, piece.len()),
            }
        }
    }
    framing.finish();
    (events, framing)
}

fn check(stream: &str) -> Vec<Event> {
    let expected = reference(stream);
    assert_eq!(frames([stream.as_bytes()]).0, expected, "{stream:?}");
    assert_eq!(frames(stream.as_bytes().chunks(1)).0, expected, "{stream:?}");
    for place in 0..=stream.len() {
        let (one, two) = stream.as_bytes().split_at(place);
        assert_eq!(frames([one, two]).0, expected, "{stream:?} cut at {place}");
    }
    expected
}

#[test]
fn fields_and_line_ends() {
    let one = |stream: &str| {
        let events = check(stream);
        assert_eq!(events.len(), 1, "{stream:?}");
        events[0].data.clone()
    };
    assert_eq!(one("data: a\n\n"), "a");
    assert_eq!(one("data:a\r\n\r\n"), "a");
    assert_eq!(one("data:  a\r\r"), " a");
    assert_eq!(one("\u{feff}data: a\n\n"), "a");
    assert_eq!(one("data: a\ndata\ndata:b\n\n"), "a\n\nb");
    assert_eq!(one("data\ndata:b\n\n"), "\nb");
    assert_eq!(one(": c\n\nid: 1\nretry: 2\nfoo: bar\nbaz\ndata: a\n\n"), "a");
    assert_eq!(one("data: a\r\n: c\r\ndata: b\r\n\r\n"), "a\nb");
    assert_eq!(one("data: é\u{2028}x\n\n"), "é\u{2028}x");
    assert_eq!(one("dat: x\ndatax: y\n data: z\ndata: a\n\n"), "a");
    assert_eq!(one("a-field-with-a-long-name: x\ndata: a\n\n"), "a");
    for nothing in
        ["", "\n", "data: a", "data: a\n", "data:\n\n", "data\n\n", ": c\n\n", "id: 1\n\n", "event: error\n\n"]
    {
        assert_eq!(check(nothing), [], "{nothing:?}");
    }
}

/// What is found to be a plain event, read as anything else.
fn check_plain(stream: &[u8]) -> Option<PlainEvent> {
    let mut framing = Framing::new();
    framing.pass_plain_event(LineEnd::Lf);
    let event = framing.plain_event(stream)?;
    let (mut at, mut data) = (0, Vec::new());
    let frame = loop {
        let (used, frame) = framing.next(&stream[at..event.length]);
        at += used;
        match frame {
            Frame::Data(piece) => data.extend_from_slice(piece),
            _ => break frame,
        }
    };
    assert_eq!((frame, at), (Frame::End, event.length), "{stream:?}");
    assert_eq!((framing.is_error(), framing.line_end()), (false, event.line_end));
    assert_eq!((framing.has_data(), &data[..]), (true, &stream[event.data.clone()]), "{stream:?}");
    Some(event)
}

#[test]
fn a_plain_event_has_one_line_of_data() {
    let found = |stream: &str| check_plain(stream.as_bytes());
    for rest in ["", "\r\n", "data: a\n\n"] {
        let event = |length, data, id, line_end| Some(PlainEvent { length, data, id, line_end });
        assert_eq!(found(&format!("data: a\n\n{rest}")), event(9, 6..7, None, LineEnd::Lf));
        assert_eq!(found(&format!("id: 1\r\ndata: a\r\n\r\n{rest}")), event(18, 13..14, Some(3..5), LineEnd::CrLf));
        assert_eq!(found(&format!("event: message\ndata:  \n\n{rest}")), event(24, 21..22, None, LineEnd::Lf));
        assert_eq!(found(&format!("id:\nid:2\ndata: a\n\n{rest}")), event(18, 15..16, Some(7..8), LineEnd::Lf));
    }
    for none in [
        "data: a\r\r",
        "data: a\rX\r\n\r\n",
        "id: 1\rX\r\ndata: a\r\n\r\n",
        "data: a\r\n\n",
        "data: a\n\r\n",
        "id: 1\r\ndata: a\n\n",
        "id: 1\ndata: a\r\n\r\n",
        "data: a\ndata: b\n\n",
        "data: a\nevent: error\n\n",
        "event: error\ndata: a\n\n",
        "event: message \ndata: a\n\n",
        "data: \n\n",
        "\ndata: a\n\n",
        ": c\ndata: a\n\n",
    ] {
        assert_eq!(found(none), None, "{none:?}");
    }
}

#[test]
fn event_names() {
    let is_error = |stream: &str| check(stream)[0].is_error;
    assert!(is_error("event: error\ndata: a\n\n"));
    assert!(is_error("data: a\nevent:error\r\n\r\n"));
    assert!(is_error("event: message\nevent: error\ndata: a\n\n"));
    assert!(!is_error("event: error\nevent: message\ndata: a\n\n"));
    assert!(!is_error("event: error message\ndata: a\n\n"));
    assert!(!is_error("event:  error\ndata: a\n\n"));
    assert!(!is_error("events: error\ndata: a\n\n"));
    let events = check("event: error\n\ndata: a\n\n");
    assert!(!events[0].is_error, "the name is forgotten with its event");
}

#[test]
fn what_an_unfinished_event_lacks() {
    let missing = |stream: &str| {
        let (_, framing) = frames([stream.as_bytes()]);
        assert!(framing.in_event());
        let whole = [stream.as_bytes(), framing.missing()].concat();
        assert_eq!(frames([&whole[..]]).0.len(), frames([stream.as_bytes()]).0.len() + 1);
        framing.missing()
    };
    assert_eq!(missing("data: a"), b"\n\n");
    assert_eq!(missing("data: a\n"), b"\n");
    assert_eq!(missing("data: a\r\n"), b"\r\n");
    assert_eq!(missing("data: a\r"), b"\r");
    assert_eq!(missing(": c\r\n\r\ndata: a"), b"\r\n\r\n");
    assert_eq!(missing(": c\r\n\r\ndata: a\r"), b"\n\r\n");
    assert_eq!(missing(": c\r\rdata: a"), b"\r\r");
    assert_eq!(missing(": c\r\rdata: a\r"), b"\r");
    assert_eq!(missing("data: a\nid: 5"), b"\n\n");
}

#[test]
fn junk_is_noticed() {
    let junk = |stream: &str| frames([stream.as_bytes()]).1.has_junk();
    assert!(junk("Internal Server Error"));
    assert!(junk("Internal Server Error\n"));
    assert!(junk("oops\n"));
    assert!(junk("\u{feff}\u{feff}data: a\n\n"));
    assert!(!junk("data: x\nid: 1\nretry: 2\nevent: y\n: comment\n\n"));
    assert!(!junk(""));
}

#[test]
fn half_a_byte_order_mark_is_none() {
    for stream in [&b"\xef"[..], b"\xef\xbb", b"\xefdata: a\n\n", b"\xef\xbbdata: a\n\n", b"\xef\xbb\n\n"] {
        for size in [1, stream.len()] {
            let (events, framing) = frames(stream.chunks(size));
            assert_eq!((events, framing.has_junk()), (vec![], true), "{stream:?}");
        }
    }
    for cut in 1..4 {
        let (events, framing) = frames(b"\xef\xbb\xbfdata: a\n\n".chunks(cut));
        assert_eq!((events.len(), framing.has_junk()), (1, false), "{cut}");
    }
}

/// So that a keep-alive is handed on as soon as it came.
#[test]
fn a_line_between_events_is_told_of_and_one_within_is_not() {
    let told = |stream: &'static str| {
        let mut framing = Framing::new();
        let mut at = 0;
        let mut told = Vec::new();
        while at < stream.len() {
            let (used, frame) = framing.next(&stream.as_bytes()[at..]);
            at += used;
            if matches!(frame, Frame::Between | Frame::End) {
                told.push((at, frame));
            }
        }
        told
    };
    let (between, end) = (|at| (at, Frame::Between), |at| (at, Frame::End));
    assert_eq!(told(": c\n"), [between(4)]);
    assert_eq!(told(":\r\n\n"), [between(3), between(4)]);
    assert_eq!(told(": c\n: d\r: e\n"), [between(4), between(8), between(12)]);
    assert_eq!(told("a-field-with-a-long-name: x\n"), []);
    assert_eq!(told("id: 1\n: c\na-field-with-a-long-name\n\n"), [end(36)]);
    assert_eq!(told("data: a\n: c\n\n: d\n"), [end(13), between(17)]);
}

#[test]
fn the_data_of_a_raw_event() {
    assert_eq!(event_data(b"event: error\ndata: {\ndata: }\n\n"), b"{\n}");
    assert_eq!(event_data(b"\n: c\r\n\r\ndata: a\r\n\r\n"), b"a");
    assert_eq!(event_data(b"id: 1\n\nevent: error\ndata: a\n\n"), b"a");
    assert_eq!(event_data(b"data: a"), b"a");
    assert_eq!(event_data(b"\ndata: a\n\ndata: b\n\n"), b"a");
    assert_eq!(event_data(b""), b"");
}

proptest! {
    #[test]
    fn framing_is_the_standards(tokens in prop::collection::vec(prop::sample::select(vec![
        "data", "data:", "data: ", ":", " ", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "event: error", "event:", "error", "id: 1", "retry", "x",
        "é", "\u{feff}", "{\"a\":1}", "a-long-stretch-of-text",
    ]), 0..20), size in 1usize..9) {
        let stream = tokens.concat();
        let expected = reference(&stream);
        prop_assert_eq!(&frames([stream.as_bytes()]).0, &expected);
        prop_assert_eq!(&frames(stream.as_bytes().chunks(size)).0, &expected);
    }
    #[test]
    fn a_plain_event_is_read_as_any_other(tokens in prop::collection::vec(prop::sample::select(vec![
        "data: ", "data: a", "data:", "a", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "id: 1", "id:", "event: message", "event: error", ":",
    ]), 0..10)) {
        check_plain(tokens.concat().as_bytes());
    }
}
