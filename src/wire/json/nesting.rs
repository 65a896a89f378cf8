//! Which of the open containers are objects: one bit each.

/// How many containers may be open.
pub(super) const MAX_DEPTH: usize = 256;

/// A stack of bits, the innermost container's lowest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    innermost: u64,
    /// Full words, taken off `innermost`.
    outer: [u64; MAX_DEPTH / 64 - 1],
    depth: usize,
}

impl Nesting {
    /// Opens a container, unless there are too many.
    #[inline]
    pub(super) fn push(&mut self, is_object: bool) -> bool {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            let Some(word) = self.outer.get_mut(self.depth / 64 - 1) else {
                return false;
            };
            *word = self.innermost;
        }
        self.innermost = self.innermost << 1 | u64::from(is_object);
        self.depth += 1;
        true
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.innermost >>= 1;
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.innermost = self.outer.get(self.depth / 64 - 1).copied().unwrap_or_default();
        }
    }

    pub(super) fn clear(&mut self) {
        self.depth = 0;
        self.innermost = 0;
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Is the innermost container an object?
    pub(super) fn in_object(&self) -> bool {
        self.innermost & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_each_level() {
        let mut nesting = Nesting::default();
        assert!(!nesting.in_object());
        for depth in 0..MAX_DEPTH {
            assert!(nesting.push(depth % 3 == 0));
        }
        assert!(!nesting.push(true));
        for depth in (0..MAX_DEPTH).rev() {
            assert_eq!(nesting.in_object(), depth % 3 == 0);
            nesting.pop();
        }
        nesting.pop();
        assert!(nesting.is_empty());
    }
}
