//! A fuzzer's bytes, taken apart.

/// Choices in front, and what is behind them.
#[derive(Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next byte; zero when there is none.
    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((byte, rest)) => {
                self.rest = rest;
                *byte
            }
            None => 0,
        }
    }

    pub fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// One of some.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }

    /// True for a chosen one in `of`.
    pub fn one_in(&mut self, of: u8) -> bool {
        self.byte() % of == of - 1
    }

    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}
