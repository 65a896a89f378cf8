//! Base 128 varints (Protocol Buffers, "Encoding").

/// What is wrong with a message, in the library's own words.
pub(super) type Malformed = &'static str;

pub(super) const TOO_LONG: Malformed = "a varint of more than 64 bits";

/// A varint on its way in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Varint {
    pub(super) value: u64,
    pub(super) shift: u8,
}

impl Varint {
    /// Reads on; `None` if more bytes are needed. What it took is gone from `bytes`.
    #[inline(always)]
    pub(super) fn read(&mut self, bytes: &mut &[u8]) -> Result<Option<u64>, Malformed> {
        if self.shift == 0
            && let Some((&byte, rest)) = bytes.split_first()
            && byte < 0x80
        {
            *bytes = rest;
            return Ok(Some(u64::from(byte)));
        }
        self.read_slowly(bytes)
    }

    fn read_slowly(&mut self, bytes: &mut &[u8]) -> Result<Option<u64>, Malformed> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            // Of the tenth byte only one bit fits in.
            if self.shift == 63 && byte > 1 {
                return Err(TOO_LONG);
            }
            self.value |= u64::from(byte & 0x7f) << self.shift;
            if byte < 0x80 {
                return Ok(Some(std::mem::take(self).value));
            }
            self.shift += 7;
        }
        Ok(None)
    }
}

/// Writes a varint.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        // Seven bits at a time.
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Result<Option<u64>, Malformed> {
        Varint::default().read(&mut bytes)
    }

    #[test]
    fn what_is_written_reads_back_in_any_cut() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(read(&bytes), Ok(Some(value)));
            let mut varint = Varint::default();
            for (at, byte) in bytes.iter().enumerate() {
                let last = at + 1 == bytes.len();
                assert_eq!(varint.read(&mut &[*byte][..]), Ok(last.then_some(value)));
            }
        }
    }

    #[test]
    fn ten_bytes_are_the_most() {
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Ok(Some(u64::MAX)));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), Err(TOO_LONG));
        assert_eq!(read(&[0x80; 11]), Err(TOO_LONG));
        assert_eq!(read(&[0x80; 9]), Ok(None));
        // Longer than need be, and valid all the same.
        assert_eq!(read(&[0x81, 0x80, 0x00]), Ok(Some(1)));
    }
}
