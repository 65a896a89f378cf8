use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

/// Pieces of this size and more are kept as they came.
const KEPT_WHOLE: usize = 1024;
/// So many small pieces are kept as they came before they are put together.
const KEPT_SMALL: usize = 16;

/// Bytes in order, kept as the frames in which they came.
///
/// Many tiny frames (a peer that sends byte by byte) are put together instead: each would cost more to keep than it
/// holds.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    first: Option<Bytes>,
    /// Most answers are of one frame: what the others need stays out of the way, since pieces are moved around.
    more: Option<Box<More>>,
    len: usize,
}

/// All but the first.
#[derive(Debug, Default)]
struct More {
    kept: VecDeque<Bytes>,
    tail: BytesMut,
}

impl Pieces {
    pub(super) fn of(bytes: Bytes) -> Self {
        let mut pieces = Self::default();
        pieces.push(bytes);
        pieces
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(super) fn push(&mut self, bytes: Bytes) {
        if self.len == 0 {
            self.len = bytes.len();
            self.first = Some(bytes).filter(|bytes| !bytes.is_empty());
        } else if !bytes.is_empty() {
            self.len += bytes.len();
            self.more.get_or_insert_default().push(bytes);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Bytes> {
        // Asked before each frame of a stream, and most of the time there is nothing.
        if self.len == 0 {
            return None;
        }
        let bytes = self.first.take().or_else(|| self.more.as_mut()?.pop())?;
        self.len -= bytes.len();
        Some(bytes)
    }

    /// Moves all of it behind what `other` holds.
    pub(super) fn append_to(&mut self, other: &mut Self) {
        while let Some(bytes) = self.pop() {
            other.push(bytes);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The first `max` bytes in one piece, copied only if they are not so already.
    pub(super) fn prefix(&self, max: usize) -> Bytes {
        match &self.first {
            Some(first) if first.len() == self.len || first.len() >= max => first.slice(..first.len().min(max)),
            _ => {
                let mut whole = BytesMut::with_capacity(self.len.min(max));
                for piece in self.iter() {
                    let room = max - whole.len();
                    whole.extend_from_slice(&piece[..piece.len().min(room)]);
                    if piece.len() >= room {
                        break;
                    }
                }
                whole.freeze()
            }
        }
    }

    /// The first piece as it came.
    #[inline]
    pub(super) fn first(&self) -> Option<&[u8]> {
        self.first.as_deref()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.first.iter().map(|bytes| &bytes[..]).chain(self.more.iter().flat_map(|more| more.iter()))
    }
}

impl More {
    fn push(&mut self, bytes: Bytes) {
        if bytes.len() < KEPT_WHOLE && self.kept.len() >= KEPT_SMALL {
            return self.tail.extend_from_slice(&bytes);
        }
        if self.tail.has_remaining() {
            self.kept.push_back(self.tail.split().freeze());
        }
        self.kept.push_back(bytes);
    }

    fn pop(&mut self) -> Option<Bytes> {
        self.kept.pop_front().or_else(|| Some(self.tail.split().freeze()).filter(|tail| !tail.is_empty()))
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.kept.iter().map(|bytes| &bytes[..]).chain(std::iter::once(&self.tail[..]))
    }
}

/// The event of a stream that holds a JSON document.
pub(super) fn event_of(document: &Pieces) -> Bytes {
    let mut event = Vec::with_capacity(document.len() + 8);
    event.extend_from_slice(b"data: ");
    for &byte in document.iter().flatten() {
        // Line ends stand only between tokens of valid JSON, and would end the line of the event.
        event.push(if matches!(byte, b'\r' | b'\n') { b' ' } else { byte });
    }
    event.extend_from_slice(b"\n\n");
    event.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(pieces: &mut Pieces) -> Vec<Bytes> {
        std::iter::from_fn(|| pieces.pop()).collect()
    }

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut pieces = Pieces::default();
        let frames = [Bytes::from_static(b"one"), Bytes::from(vec![b'x'; 5000]), Bytes::from_static(b"three")];
        frames.iter().cloned().for_each(|frame| pieces.push(frame));
        assert_eq!(pieces.len(), 5008);
        let out = drain(&mut pieces);
        assert!(frames.iter().zip(&out).all(|(a, b)| a.as_ptr() == b.as_ptr() && a == b));
        assert!(pieces.is_empty());
    }

    #[test]
    fn many_tiny_frames_are_put_together_in_order() {
        let mut pieces = Pieces::default();
        let bytes: Vec<u8> = (0..10_000u32).map(|i| (i % 251) as u8).collect();
        bytes.iter().for_each(|b| pieces.push(Bytes::copy_from_slice(&[*b])));
        pieces.push(Bytes::from(vec![7; 2000]));
        pieces.push(Bytes::from_static(b"end"));
        assert_eq!(pieces.prefix(300)[..], bytes[..300]);
        let out = drain(&mut pieces);
        assert!(out.len() < 30, "{}", out.len());
        let all: Vec<u8> = out.concat();
        assert_eq!(all[..10_000], bytes[..]);
        assert!(all.ends_with(b"end"));
    }

    #[test]
    fn pieces_go_behind_others_and_are_gone() {
        let (mut from, mut to) = (Pieces::of(Bytes::from_static(b"two")), Pieces::of(Bytes::from_static(b"one")));
        assert!(!from.is_empty());
        from.push(Bytes::from_static(b"three"));
        assert_eq!((from.first(), to.first()), (Some(&b"two"[..]), Some(&b"one"[..])));
        from.append_to(&mut to);
        assert!(from.is_empty() && from.first().is_none() && from.pop().is_none());
        assert_eq!((to.len(), to.iter().collect::<Vec<_>>().concat()), (11, b"onetwothree".to_vec()));
        to.clear();
        assert!(to.is_empty() && to.iter().next().is_none());
        // Nothing is no piece.
        to.push(Bytes::new());
        assert!(to.is_empty() && to.first().is_none());
    }

    #[test]
    fn a_document_becomes_one_event_whatever_its_lines() {
        let mut document = Pieces::of(Bytes::from_static(b"{\r\n\"a\":"));
        document.push(Bytes::from_static(b"\n1\r}"));
        assert_eq!(&event_of(&document)[..], b"data: {  \"a\": 1 }\n\n");
    }

    #[test]
    fn a_prefix_of_one_frame_is_no_copy() {
        let mut pieces = Pieces::default();
        let frame = Bytes::from_static(b"0123456789");
        pieces.push(frame.clone());
        assert_eq!(pieces.prefix(100).as_ptr(), frame.as_ptr());
        assert_eq!(&pieces.prefix(4)[..], b"0123");
    }
}
