//! The events of a stream: once as the HTML standard has it (§9.2.6), over whole bytes, and once by a library.

use std::convert::Infallible;

use bytes::Bytes;
use eventsource_stream::Eventsource;
use futures_util::{FutureExt, StreamExt, stream};

/// An event with data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// The data, its lines joined.
    pub data: Vec<u8>,
    /// It is named `error`.
    pub is_error: bool,
    /// The place behind its end, or the end of the bytes if it lacks one.
    pub end: usize,
    /// It has its blank line.
    pub terminated: bool,
}

/// What a body holds.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// The last may lack its end.
    pub events: Vec<Event>,
    /// Something without data begins behind the last, and lacks its end.
    pub unfinished: bool,
    /// A field that no stream has.
    pub junk: bool,
}

/// The lines of a body, without their ends, each with the place behind it; and whether the last has an end.
fn lines(body: &[u8]) -> Vec<(&[u8], usize, bool)> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < body.len() {
        let ends = match body[at] {
            b'\r' if body.get(at + 1) == Some(&b'\n') => 2,
            b'\r' | b'\n' => 1,
            _ => {
                at += 1;
                continue;
            }
        };
        lines.push((&body[start..at], at + ends, true));
        at += ends;
        start = at;
    }
    if start < at {
        lines.push((&body[start..], at, false));
    }
    lines
}

/// Events by the standard. One that its body leaves without its blank line is one here, too.
#[must_use]
pub fn by_the_standard(body: &[u8]) -> Events {
    let marked = body.strip_prefix(b"\xef\xbb\xbf");
    let offset = body.len() - marked.unwrap_or(body).len();
    let mut read = Events::default();
    let mut event = Event::default();
    let mut data_lines = 0;
    let mut begun = false;
    for (line, end, _) in lines(marked.unwrap_or(body)) {
        event.end = end + offset;
        if line.is_empty() {
            event.terminated = true;
            let event = std::mem::take(&mut event);
            // What holds nothing is nothing that was said.
            if has_data(&event) {
                read.events.push(event);
            }
            (data_lines, begun) = (0, false);
            continue;
        }
        if line[0] == b':' {
            continue;
        }
        begun = true;
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                if data_lines > 0 {
                    event.data.push(b'\n');
                }
                data_lines += 1;
                event.data.extend_from_slice(value);
            }
            b"event" => event.is_error = value == b"error",
            b"id" | b"retry" => {}
            _ => read.junk = true,
        }
    }
    if has_data(&event) {
        read.events.push(event);
    } else {
        read.unfinished = begun;
    }
    read
}

fn has_data(event: &Event) -> bool {
    event.data.iter().any(|byte| *byte != b'\n')
}

/// Data and name of each terminated event, by `eventsource-stream`; `None` of a body that is no text, which it does not
/// read.
#[must_use]
pub fn by_library(pieces: &[&[u8]]) -> Option<Vec<(String, String)>> {
    let text = pieces.concat();
    std::str::from_utf8(&text).ok()?;
    // It panics over a byte order mark, of which it takes off one byte.
    if text.starts_with(b"\xef\xbb\xbf") {
        return None;
    }
    let mut pieces: Vec<Bytes> = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
    // It waits for what is behind a carriage return, as if that were not the end of a line already.
    if text.ends_with(b"\r") {
        pieces.push(Bytes::from_static(b":\n"));
    }
    let events = stream::iter(pieces.into_iter().map(Ok::<_, Infallible>)).eventsource();
    let events = events.map(|event| event.expect("text, and any text is a stream")).collect::<Vec<_>>();
    let events = events.now_or_never().expect("nothing to wait for").into_iter();
    Some(events.map(|event| (event.data, event.event)).filter(|(data, _)| data.contains(|c| c != '\n')).collect())
}
