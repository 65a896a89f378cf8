//! Groups: fields between two tags. proto3 has none, and its readers pass them over as they do all that they do not
//! know (Protocol Buffers, "Encoding", "Groups").

use super::varint::Malformed;
use super::walk::DEEP;

/// So deep do messages and groups go, one in the other, in readers of Protocol Buffers.
const MOST: usize = 100;

pub(super) const CLOSED: Malformed = "the end of a group that did not begin";

/// The numbers of the groups that are open, one in the other. Until one comes there is nothing to keep.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    open: Vec<u32>,
}

impl Groups {
    pub(super) const fn new() -> Self {
        Self { open: Vec::new() }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// A field that is no end of a group, `depth` messages deep.
    pub(super) fn field(&self, depth: usize) -> Result<(), Malformed> {
        if self.open.len() + depth < MOST { Ok(()) } else { Err(DEEP) }
    }

    #[cold]
    pub(super) fn begin(&mut self, number: u32, depth: usize) -> Result<(), Malformed> {
        self.field(depth)?;
        self.open.push(number);
        Ok(())
    }

    #[cold]
    pub(super) fn end(&mut self, number: u32) -> Result<(), Malformed> {
        if self.open.pop() == Some(number) { Ok(()) } else { Err(CLOSED) }
    }
}
