//! Which of the open containers are objects: one bit each.

/// How many containers may be open.
pub(super) const MAX_DEPTH: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Nesting {
    /// Bit `n` is set if the container at depth `n` is an object.
    objects: [u64; MAX_DEPTH / 64],
    depth: usize,
}

impl Nesting {
    /// Opens a container, unless there are too many.
    pub(super) fn push(&mut self, is_object: bool) -> bool {
        let Some(word) = self.objects.get_mut(self.depth / 64) else {
            return false;
        };
        let bit = 1 << (self.depth % 64);
        if is_object {
            *word |= bit;
        } else {
            *word &= !bit;
        }
        self.depth += 1;
        true
    }

    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn clear(&mut self) {
        self.depth = 0;
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Is the innermost container an object?
    pub(super) fn in_object(&self) -> bool {
        let index = self.depth.wrapping_sub(1);
        match self.objects.get(index / 64) {
            Some(word) => word & (1 << (index % 64)) != 0,
            None => false,
        }
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
