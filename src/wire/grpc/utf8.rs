//! Is a string UTF-8, whatever the cut and however little of it is kept?

/// A string on its way in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Utf8 {
    /// Of a character that a cut went through, what came of it.
    held: [u8; 3],
    len: u8,
}

impl Utf8 {
    /// Reads on. False if what came is the beginning of no UTF-8, or `last` and within a character.
    #[inline]
    pub(super) fn read(&mut self, piece: &[u8], last: bool) -> bool {
        (self.len == 0 && piece.is_ascii()) || (self.read_slowly(piece) && !(last && self.len > 0))
    }

    fn read_slowly(&mut self, piece: &[u8]) -> bool {
        let mut rest = piece;
        while self.len > 0 {
            let Some((&byte, behind)) = rest.split_first() else { return true };
            rest = behind;
            let [first, second, third] = self.held;
            let mut character = [first, second, third, 0];
            let held = usize::from(self.len);
            if let Some(place) = character.get_mut(held) {
                *place = byte;
            }
            if !self.take(character.get(..=held).unwrap_or_default()) {
                return false;
            }
        }
        self.take(rest)
    }

    /// Bytes that begin with a character.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let rest = match std::str::from_utf8(bytes) {
            Ok(_) => &[],
            Err(error) if error.error_len().is_none() => bytes.get(error.valid_up_to()..).unwrap_or_default(),
            Err(_) => return false,
        };
        for (place, byte) in self.held.iter_mut().zip(rest) {
            *place = *byte;
        }
        // Three at most: with four a character is whole.
        self.len = rest.len() as u8;
        true
    }
}
