//! The event of a stream that has not ended yet.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::{
    frames::Frames,
    wire::sse::{Frame, Framing},
};

/// So many bytes of an unfinished event are held back at most.
const HELD: usize = 256 << 10;

/// Holds back the bytes of an unfinished event, so that it can be dropped if the stream fails before its end: nobody
/// can make sense of half an event, and what was handed on cannot be taken back.
///
/// Frames that end where an event does, as they come out of [`TerminalStateLayer`](crate::TerminalStateLayer), are
/// looked at by their last bytes alone and pass as they are. An event of more than 256 KiB that comes in pieces passes
/// in pieces; should the stream fail inside of it, it is ended, so that the error event can be read.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    framing: Framing,
    held: Frames,
    len: usize,
    /// The beginning of the unfinished event was handed on.
    leaked: bool,
}

impl Unfinished {
    /// Takes a frame in. Gives it back if it passes as it is; else what may go on now is put into `out`.
    pub(super) fn take_in(&mut self, data: Bytes, out: &mut VecDeque<Bytes>) -> Option<Bytes> {
        if self.held.is_empty() && ends_with_blank_line(&data) {
            self.leaked = false;
            self.framing = Framing::new();
            return Some(data);
        }
        let good = self.last_boundary(&data);
        if good > 0 {
            self.leaked = false;
            if good == data.len() && self.held.is_empty() {
                return Some(data);
            }
            self.flush(out);
            out.push_back(data.slice(..good));
        }
        if self.leaked {
            return Some(data);
        }
        let rest = data.slice(good..);
        if !rest.is_empty() {
            self.len += rest.len();
            self.held.push(rest);
        }
        if self.len > HELD {
            self.leaked = true;
            self.flush(out);
        }
        None
    }

    /// The stream ended: all of it is the caller's.
    pub(super) fn flush(&mut self, out: &mut VecDeque<Bytes>) {
        self.held.append_to(out);
        self.len = 0;
    }

    /// The stream failed: what is held is dropped. Gives what has to stand before an error event.
    pub(super) fn drop_held(&mut self) -> &'static [u8] {
        self.held.clear();
        self.len = 0;
        if self.leaked { self.framing.missing() } else { &[] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(super) fn has_leaked(&self) -> bool {
        self.leaked
    }

    /// The place behind the last event or comment that ends in `data`; its length if nothing is unfinished behind it.
    fn last_boundary(&mut self, data: &[u8]) -> usize {
        let (mut at, mut good) = (0, 0);
        loop {
            let (used, frame) = self.framing.next(data.get(at..).unwrap_or_default());
            at += used;
            match frame {
                Frame::End | Frame::Between => good = at,
                Frame::Data(_) => {}
                Frame::More => return good,
            }
        }
    }
}

/// A blank line ends whatever stood before it.
pub(super) fn ends_with_blank_line(data: &[u8]) -> bool {
    matches!(data, [.., b'\n', b'\n'] | [.., b'\r', b'\r'] | [.., b'\n', b'\r', b'\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_tiny_frames_are_put_together() {
        let (mut unfinished, mut out) = (Unfinished::default(), VecDeque::new());
        let event = [b"data: ", &[b'x'; 10_000][..], b"\n\n"].concat();
        for byte in event.chunks(1) {
            assert_eq!(unfinished.take_in(Bytes::copy_from_slice(byte), &mut out), None);
        }
        assert!(unfinished.is_empty() && out.len() < 1100, "{}", out.len());
        assert_eq!(out.iter().flatten().copied().collect::<Vec<_>>(), event);
    }
}
