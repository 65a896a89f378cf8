//! Frames that wait, in the order in which they came.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// Frames below this size are small.
const SMALL: usize = 1024;
/// So many are kept before small ones are put together.
const KEPT: usize = 1024;

/// A queue of frames. Who sends byte by byte must not make us keep more than was sent: behind the first thousand, small
/// frames are put together.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    kept: VecDeque<Bytes>,
    /// Small ones, behind the others.
    tail: BytesMut,
}

impl Frames {
    pub(crate) fn push(&mut self, frame: Bytes) {
        if frame.len() < SMALL && self.kept.len() >= KEPT {
            return self.tail.extend_from_slice(&frame);
        }
        self.end_tail();
        self.kept.push_back(frame);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Moves all of them behind those in `queue`.
    pub(crate) fn append_to(&mut self, queue: &mut VecDeque<Bytes>) {
        self.end_tail();
        queue.append(&mut self.kept);
    }

    pub(crate) fn into_queue(mut self) -> VecDeque<Bytes> {
        self.end_tail();
        self.kept
    }

    fn end_tail(&mut self) {
        if !self.tail.is_empty() {
            self.kept.push_back(std::mem::take(&mut self.tail).freeze());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_ones_are_put_together_in_order_and_large_ones_stay() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|n| (n % 251) as u8).collect();
        let large = Bytes::from(vec![7; SMALL]);
        let mut frames = Frames::default();
        for byte in bytes.chunks(1) {
            frames.push(Bytes::copy_from_slice(byte));
        }
        frames.push(large.clone());
        frames.push(Bytes::from_static(b"end"));
        let queue = frames.into_queue();
        assert_eq!(queue.len(), KEPT + 3);
        assert_eq!(queue[KEPT + 1].as_ptr(), large.as_ptr());
        assert_eq!(queue.iter().flatten().copied().collect::<Vec<_>>(), [&bytes[..], &large, b"end"].concat());
    }

    #[test]
    fn they_go_behind_those_that_are_out() {
        let (mut frames, mut queue) = (Frames::default(), VecDeque::from([Bytes::from_static(b"a")]));
        for _ in 0..2 {
            (0..KEPT + 2).for_each(|_| frames.push(Bytes::from_static(b"b")));
            frames.append_to(&mut queue);
            assert!(frames.is_empty());
        }
        assert_eq!((queue.len(), queue.iter().flatten().count()), (1 + 2 * (KEPT + 1), 1 + 2 * (KEPT + 2)));
    }
}
