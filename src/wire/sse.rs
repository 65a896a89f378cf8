//! The framing of an event stream: lines, fields and events (HTML standard §9.2.6, `text/event-stream`).
//!
//! A [`Framing`] turns bytes, in any cut, into [`Frame`]s: pieces of data where they lie, and the ends of events. It
//! keeps a few bytes of state and copies nothing.

#[cfg(test)]
mod tests;

use std::ops::Range;

/// How a stream ends its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnd {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`
    Cr,
}

impl LineEnd {
    pub(crate) const fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::Cr => b"\r",
        }
    }
}

/// A whole event of which nothing but its data is of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainEvent {
    /// With the blank line behind it.
    pub(crate) length: usize,
    /// Where its data lies, which is not empty.
    pub(crate) data: Range<usize>,
    /// Where the value of its `id` lies, if it has one.
    pub(crate) id: Option<Range<usize>>,
    pub(crate) line_end: LineEnd,
}

/// What [`Framing::next`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A piece of the event's data. Lines come joined by a line feed, which is a piece of its own.
    Data(&'a [u8]),
    /// The blank line behind an event.
    End,
    /// The end of a line that belongs to no event: a blank line or a comment.
    Between,
    /// Nothing more can be said before more bytes come.
    More,
}

/// Where in a line the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the very start, so many bytes into a byte order mark.
    Mark(u8),
    /// At the start of a line.
    Line,
    /// In a field's name, or in a value that is short enough to matter.
    Head,
    /// Behind the colon of a `data` field, where one space does not count.
    Space,
    /// In a `data` field's value.
    Data,
    /// In a line of no interest.
    Rest,
    /// In a comment.
    Comment,
}

/// How much of a line is kept to tell its field: `event: error`, say.
const HEAD: usize = 16;

const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The framing state of a stream.
#[derive(Clone, Debug)]
pub struct Framing {
    place: Place,
    /// The last byte was a carriage return: a line feed right behind it belongs to it.
    after_cr: bool,
    line_end: Option<LineEnd>,
    head: [u8; HEAD],
    head_len: u8,
    in_event: bool,
    data_lines: bool,
    has_data: bool,
    is_error: bool,
    junk: bool,
}

impl Default for Framing {
    fn default() -> Self {
        Self {
            place: Place::Mark(0),
            after_cr: false,
            line_end: None,
            head: [0; HEAD],
            head_len: 0,
            in_event: false,
            data_lines: false,
            has_data: false,
            is_error: false,
            junk: false,
        }
    }
}

impl Framing {
    /// Framing before the first byte of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A whole event at the start of `bytes`, as servers usually write them: one line of data, between line ends of one
    /// style. `None` where [`next`](Self::next) has to take a closer look.
    pub(crate) fn plain_event(&self, bytes: &[u8]) -> Option<PlainEvent> {
        if !self.is_between_events() {
            return None;
        }
        let (mut at, mut id, mut style) = (0, None, None);
        loop {
            let line = bytes.get(at..)?;
            let (text, behind) = line.split_at_checked(memchr::memchr2(b'\n', b'\r', line)?)?;
            let line_end = if behind.starts_with(b"\n") { LineEnd::Lf } else { LineEnd::CrLf };
            if *style.get_or_insert(line_end) != line_end || !behind.starts_with(line_end.as_bytes()) {
                return None;
            }
            let end = at + text.len() + line_end.as_bytes().len();
            if let Some(data) = text.strip_prefix(b"data: ") {
                let data = at + text.len() - data.len()..at + text.len();
                let is_last = bytes.get(end..)?.starts_with(line_end.as_bytes());
                let length = end + line_end.as_bytes().len();
                return (is_last && !data.is_empty()).then_some(PlainEvent { length, data, id, line_end });
            }
            match text.strip_prefix(b"id:") {
                // The last one counts.
                Some(value) => id = Some(at + text.len() - value.len()..at + text.len()),
                None if text == b"event: message" => {}
                _ => return None,
            }
            at = end;
        }
    }

    /// An event that [`plain_event`](Self::plain_event) finds was passed over.
    #[inline]
    pub(crate) fn pass_plain_event(&mut self, line_end: LineEnd) {
        self.begin_field();
        self.begin_data();
        self.place = Place::Line;
        self.line_end = Some(line_end);
        self.has_data = true;
        self.in_event = false;
    }

    /// How the last line ended.
    pub(crate) fn line_end(&self) -> LineEnd {
        self.line_end.unwrap_or(LineEnd::Lf)
    }

    /// At the start of a line, and in no event?
    pub(crate) fn is_between_events(&self) -> bool {
        self.place == Place::Line && !self.in_event && !self.after_cr
    }

    /// Reads on from the start of `bytes`: what was found, and how many bytes that took.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> (usize, Frame<'a>) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.place {
                Place::Mark(seen) => {
                    if MARK.get(usize::from(seen)) == Some(&byte) {
                        at += 1;
                        self.place = match seen {
                            2 => Place::Line,
                            _ => Place::Mark(seen + 1),
                        };
                    } else {
                        self.leave_mark(seen);
                    }
                }
                Place::Line => {
                    if self.after_cr {
                        self.after_cr = false;
                        let is_pair = byte == b'\n';
                        self.line_end = Some(if is_pair { LineEnd::CrLf } else { LineEnd::Cr });
                        if is_pair {
                            at += 1;
                            if !self.in_event {
                                return (at, Frame::Between);
                            }
                            continue;
                        }
                    }
                    match byte {
                        b'\n' | b'\r' => {
                            at = self.end_line(bytes, at);
                            let frame = if self.in_event { Frame::End } else { Frame::Between };
                            self.in_event = false;
                            return (at, frame);
                        }
                        b':' => {
                            self.place = Place::Comment;
                            at += 1;
                        }
                        _ => {
                            self.begin_field();
                            let rest = bytes.get(at..).unwrap_or_default();
                            if rest.starts_with(b"data:") {
                                at += 5;
                                if self.begin_data() {
                                    return (at, Frame::Data(b"\n"));
                                }
                            }
                        }
                    }
                }
                Place::Head => match byte {
                    b'\n' | b'\r' => {
                        let joins = self.end_head();
                        at = self.end_line(bytes, at);
                        if joins {
                            return (at, Frame::Data(b"\n"));
                        }
                    }
                    _ => {
                        at += 1;
                        if self.push_head(byte) {
                            return (at, Frame::Data(b"\n"));
                        }
                    }
                },
                Place::Space => {
                    if byte == b' ' {
                        at += 1;
                    }
                    self.place = Place::Data;
                }
                Place::Data => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    if length > 0 {
                        self.has_data = true;
                        let piece = rest.get(..length).unwrap_or_default();
                        return (at + length, Frame::Data(piece));
                    }
                    at = self.end_line(bytes, at);
                }
                Place::Rest | Place::Comment => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
                        return (bytes.len(), Frame::More);
                    };
                    let was_comment = self.place == Place::Comment;
                    at = self.end_line(bytes, at + length);
                    if was_comment && !self.in_event {
                        return (at, Frame::Between);
                    }
                }
            }
        }
        (at, Frame::More)
    }

    /// Is the event that ended, or is going on, named `error`?
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Does the event that ended, or is going on, have any data?
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.has_data
    }

    /// Has an event begun that has not ended?
    #[must_use]
    pub fn in_event(&self) -> bool {
        self.in_event
    }

    /// Was there a line that no event stream has? Readers ignore such lines; a body of nothing else is no event stream.
    #[must_use]
    pub fn has_junk(&self) -> bool {
        self.junk
    }

    /// The stream is at its end: a line without its end is read as if it had one.
    pub fn finish(&mut self) {
        if let Place::Mark(seen @ 1..) = self.place {
            self.leave_mark(seen);
        }
        if self.place == Place::Head {
            self.end_head();
        }
    }

    /// What has to follow for the event that is going on to end, in the stream's own style.
    #[must_use]
    pub fn missing(&self) -> &'static [u8] {
        let in_line = !matches!(self.place, Place::Line | Place::Mark(_));
        match (self.line_end, in_line) {
            (None | Some(LineEnd::Lf), true) => b"\n\n",
            (Some(LineEnd::CrLf), true) => b"\r\n\r\n",
            (Some(LineEnd::Cr), true) => b"\r\r",
            (Some(LineEnd::CrLf), false) if self.after_cr => b"\n\r\n",
            (Some(LineEnd::CrLf), false) => b"\r\n",
            (_, false) if self.after_cr => b"\r",
            (Some(LineEnd::Cr), false) => b"\r",
            (None | Some(LineEnd::Lf), false) => b"\n",
        }
    }

    /// Bytes that looked like a mark and are none begin a line.
    fn leave_mark(&mut self, seen: u8) {
        self.place = Place::Line;
        if seen > 0 {
            self.begin_field();
            for byte in MARK.into_iter().take(usize::from(seen)) {
                self.push_head(byte);
            }
        }
    }

    /// The end of a line at `at`; gives the place behind it.
    fn end_line(&mut self, bytes: &[u8], at: usize) -> usize {
        self.place = Place::Line;
        if bytes.get(at) == Some(&b'\n') {
            self.line_end = Some(LineEnd::Lf);
            return at + 1;
        }
        match bytes.get(at + 1) {
            Some(b'\n') => {
                self.line_end = Some(LineEnd::CrLf);
                at + 2
            }
            Some(_) => {
                self.line_end = Some(LineEnd::Cr);
                at + 1
            }
            None => {
                self.after_cr = true;
                at + 1
            }
        }
    }

    fn begin_field(&mut self) {
        if !self.in_event {
            self.in_event = true;
            self.data_lines = false;
            self.has_data = false;
            self.is_error = false;
        }
        self.head_len = 0;
        self.place = Place::Head;
    }

    /// Begins a `data` field; true if another one came before it in the event.
    fn begin_data(&mut self) -> bool {
        self.place = Place::Space;
        std::mem::replace(&mut self.data_lines, true)
    }

    /// One more byte of a field's name or short value; true if a further `data` field begins with it.
    fn push_head(&mut self, byte: u8) -> bool {
        let Some(place) = self.head.get_mut(usize::from(self.head_len)) else {
            // Too long to be `event: error`.
            self.end_head();
            self.place = Place::Rest;
            return false;
        };
        *place = byte;
        self.head_len += 1;
        byte == b':' && self.head_bytes() == b"data:" && self.begin_data()
    }

    fn head_bytes(&self) -> &[u8] {
        self.head.get(..usize::from(self.head_len)).unwrap_or_default()
    }

    /// The head of a line is known; true if the line is a further `data` field, without a colon.
    fn end_head(&mut self) -> bool {
        let head = self.head_bytes();
        let (name, value) = match memchr::memchr(b':', head) {
            Some(colon) => (head.get(..colon).unwrap_or_default(), head.get(colon + 1..).unwrap_or_default()),
            None => (head, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => return std::mem::replace(&mut self.data_lines, true),
            b"event" => self.is_error = value == b"error",
            b"id" | b"retry" => {}
            _ => self.junk = true,
        }
        false
    }
}

/// The data of one raw event, its lines joined: for reading an error event once more.
#[must_use]
pub fn event_data(raw: &[u8]) -> Vec<u8> {
    let mut framing = Framing::new();
    let mut data = Vec::new();
    let mut at = 0;
    loop {
        let (used, frame) = framing.next(raw.get(at..).unwrap_or_default());
        at += used;
        match frame {
            Frame::Data(piece) => data.extend_from_slice(piece),
            Frame::Between => {}
            Frame::End if !framing.has_data() => {}
            Frame::End | Frame::More => return data,
        }
    }
}
