//! The content of a string: runs, escapes, and characters that a cut went through (RFC 8259 §7 and §8.1).

use super::blocks::Blocks;
use super::{JsonFlaw, run};
use crate::wire::text::SmallText;

/// Does a backslash make an escape of it? All but `u`, that is.
#[inline(always)]
fn is_simple(byte: u8) -> bool {
    SIMPLE.get(usize::from(byte)) == Some(&true)
}

/// A table, since which one comes next nobody can predict.
static SIMPLE: [bool; 256] = {
    let mut table = [false; 256];
    let mut rest: &[u8] = b"\"\\/bfnrt";
    while let [first, others @ ..] = rest {
        table[*first as usize] = true;
        rest = others;
    }
    table
};

/// Passes over content that nobody wants, from a special byte of it at `at` on. Gives the place of the closing quote,
/// or of anything that needs a closer look: something wrong, or a character or escape that a cut goes through.
pub(super) fn skip(bytes: &[u8], mut at: usize, blocks: &mut Blocks<'_>) -> usize {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let next = match rest {
            [b'\\', escaped, ..] if is_simple(*escaped) => at + 2,
            [b'\\', b'u', one, two, three, four, ..]
                if [one, two, three, four].iter().all(|digit| digit.is_ascii_hexdigit()) =>
            {
                at + 6
            }
            [0x80..=0xff, ..] => {
                let length = run::content(rest);
                if !run::is_utf8(rest.get(..length).unwrap_or_default()) {
                    return at;
                }
                at = blocks.seek(at + length);
                continue;
            }
            _ => return at,
        };
        at = blocks.next_special_in_place(next);
    }
}

/// Where the content ends that begins at `at`: the place of the closing quote, if it is there and nothing before it is
/// wrong.
#[inline(always)]
pub(super) fn end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut blocks = Blocks::from(bytes, at);
    loop {
        let special = blocks.take_in_place();
        if special < at {
            // It was escaped.
            continue;
        }
        match bytes.get(special)? {
            b'"' => return Some(special),
            b'\\' if bytes.get(special + 1).is_some_and(|escaped| is_simple(*escaped)) => at = special + 2,
            _ => {
                // A copy, so that this loop's own needs no place in memory.
                let mut from_here = blocks;
                let end = skip(bytes, special, &mut from_here);
                return (bytes.get(end) == Some(&b'"')).then_some(end);
            }
        }
    }
}

/// Where in a string's content the last byte stood.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StringPart {
    escape: Escape,
    /// A `\uD83D` that waits for its second half.
    high_surrogate: Option<u16>,
    /// The first bytes of a character that a cut went through.
    carry: [u8; 4],
    carried: u8,
}

#[derive(Clone, Copy, Debug, Default)]
enum Escape {
    #[default]
    None,
    /// Behind the backslash.
    Backslash,
    /// Behind `\u` and so many digits of this value.
    Unicode { digits: u8, value: u16 },
}

impl StringPart {
    /// Reads string content from `at` on. `kept` takes the content, unescaped.
    ///
    /// Gives the place behind the closing quote, or `None` if the string goes on behind `bytes`.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        blocks: &mut Blocks<'_>,
        mut kept: Option<&mut SmallText>,
    ) -> Result<Option<usize>, JsonFlaw> {
        if kept.is_none() && self.is_between_characters() {
            let special = blocks.seek(at);
            at = skip(bytes, special, blocks);
            if bytes.get(at) == Some(&b'"') {
                return Ok(Some(at + 1));
            }
        }
        while let Some(&byte) = bytes.get(at) {
            match self.escape {
                Escape::None if self.carried > 0 => {
                    self.complete_character(byte, kept.as_deref_mut())?;
                    at += 1;
                }
                Escape::None => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    let length = run::content(rest);
                    let piece = rest.get(..length).unwrap_or_default();
                    if length > 0 {
                        self.flush_surrogate(kept.as_deref_mut());
                        let ends_here = length == rest.len();
                        let valid = if piece.is_ascii() { length } else { self.check_utf8(piece, ends_here)? };
                        if let (Some(kept), Some(valid)) = (kept.as_deref_mut(), piece.get(..valid)) {
                            kept.push(valid);
                        }
                    }
                    at += length + 1;
                    match rest.get(length) {
                        None => return Ok(None),
                        Some(b'"') => {
                            self.flush_surrogate(kept);
                            return Ok(Some(at));
                        }
                        Some(b'\\') => self.escape = Escape::Backslash,
                        Some(_) => return Err(JsonFlaw::Control),
                    }
                }
                Escape::Backslash => {
                    self.simple_escape(byte, kept.as_deref_mut())?;
                    at += 1;
                }
                Escape::Unicode { digits, value } => {
                    self.unicode_digit(byte, digits, value, kept.as_deref_mut())?;
                    at += 1;
                }
            }
        }
        Ok(None)
    }

    pub(super) fn is_between_characters(&self) -> bool {
        matches!(self.escape, Escape::None) && self.carried == 0
    }

    /// Checks a run. At the end of the bytes its last character may be unfinished: it is carried over.
    /// Gives the length of what is whole.
    fn check_utf8(&mut self, piece: &[u8], ends_here: bool) -> Result<usize, JsonFlaw> {
        match std::str::from_utf8(piece) {
            Ok(_) => Ok(piece.len()),
            Err(error) if ends_here && error.error_len().is_none() => {
                let rest = piece.get(error.valid_up_to()..).unwrap_or_default();
                for (place, byte) in self.carry.iter_mut().zip(rest) {
                    *place = *byte;
                }
                self.carried = rest.len() as u8;
                Ok(error.valid_up_to())
            }
            Err(_) => Err(JsonFlaw::Utf8),
        }
    }

    /// One more byte of a character that a cut went through.
    fn complete_character(&mut self, byte: u8, kept: Option<&mut SmallText>) -> Result<(), JsonFlaw> {
        if let Some(place) = self.carry.get_mut(usize::from(self.carried)) {
            *place = byte;
        }
        self.carried += 1;
        let held = self.carry.get(..usize::from(self.carried)).unwrap_or_default();
        match std::str::from_utf8(held) {
            Ok(_) => {
                if let Some(kept) = kept {
                    kept.push(held);
                }
                self.carried = 0;
                Ok(())
            }
            Err(error) if error.error_len().is_none() => Ok(()),
            Err(_) => Err(JsonFlaw::Utf8),
        }
    }

    fn simple_escape(&mut self, byte: u8, kept: Option<&mut SmallText>) -> Result<(), JsonFlaw> {
        let character = match byte {
            b'u' => {
                self.escape = Escape::Unicode { digits: 0, value: 0 };
                return Ok(());
            }
            b'"' | b'\\' | b'/' => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return Err(JsonFlaw::Escape),
        };
        self.escape = Escape::None;
        if let Some(kept) = kept {
            self.flush_surrogate(Some(&mut *kept));
            kept.push(&[character]);
        }
        Ok(())
    }

    fn unicode_digit(
        &mut self,
        byte: u8,
        digits: u8,
        value: u16,
        kept: Option<&mut SmallText>,
    ) -> Result<(), JsonFlaw> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(JsonFlaw::Escape);
        };
        let value = value << 4 | digit as u16;
        if digits < 3 {
            self.escape = Escape::Unicode { digits: digits + 1, value };
            return Ok(());
        }
        self.escape = Escape::None;
        if let Some(kept) = kept {
            self.push_utf16(value, kept);
        }
        Ok(())
    }

    /// Takes one UTF-16 unit. Halves of a pair that stand alone become U+FFFD.
    fn push_utf16(&mut self, unit: u16, kept: &mut SmallText) {
        if let Some(high) = self.high_surrogate.take() {
            if let Some(Ok(character)) = char::decode_utf16([high, unit]).next() {
                push_char(kept, character);
                return;
            }
            push_char(kept, char::REPLACEMENT_CHARACTER);
        }
        match char::from_u32(u32::from(unit)) {
            Some(character) => push_char(kept, character),
            None if unit < 0xdc00 => self.high_surrogate = Some(unit),
            None => push_char(kept, char::REPLACEMENT_CHARACTER),
        }
    }

    fn flush_surrogate(&mut self, kept: Option<&mut SmallText>) {
        if let (Some(_), Some(kept)) = (self.high_surrogate.take(), kept) {
            push_char(kept, char::REPLACEMENT_CHARACTER);
        }
    }
}

fn push_char(kept: &mut SmallText, character: char) {
    kept.push(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Wherever the end is found at a glance, the slow way finds it as well; and where that finds none, neither does the glance.
        #[test]
        fn the_end_is_where_reading_ends(
            before in "[a-z\"]{0,70}",
            content in r#"([a-z]{0,40}|é|\\["\\/bfnrtux]|\\u00e9|\n|"){0,6}"#,
            after in "[a-z\"]{0,70}",
        ) {
            let bytes = format!("{before}{content}\"{after}").into_bytes();
            let mut part = StringPart::default();
            let read = part.read(&bytes, before.len(), &mut Blocks::new(&bytes), Some(&mut SmallText::default()));
            prop_assert_eq!(end(&bytes, before.len()).map(|quote| quote + 1), read.unwrap_or(None));
        }
    }
}
