//! Numbers, as a state machine that may stop at any byte (RFC 8259 §6).

use super::JsonFlaw;

/// The length of the number at `at`, if it ends inside `bytes`; 0 if it does not, or is none.
#[inline(always)]
pub(super) fn plain(bytes: &[u8], at: usize) -> usize {
    let first = bytes.get(at).copied().unwrap_or(0);
    let mut end = behind_digits(bytes, at + 1);
    // Nearly every number has neither a sign nor an exponent, and no zero in front.
    let is_integer = matches!(first, b'1'..=b'9') || (first == b'0' && end == at + 1);
    if is_integer && bytes.get(end) == Some(&b'.') {
        let fraction = end + 1;
        end = behind_digits(bytes, fraction);
        if end == fraction {
            return 0;
        }
    }
    match bytes.get(end) {
        Some(b',' | b'}' | b']') if is_integer => end - at,
        _ => other(bytes, at),
    }
}

#[inline(always)]
fn behind_digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

#[inline(never)]
fn other(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let mut part = NumberPart::default();
    match part.read(rest) {
        Ok(length) if length < rest.len() && part.is_whole() => length,
        _ => 0,
    }
}

/// What of a number was last read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NumberPart {
    #[default]
    Nothing,
    Minus,
    /// A leading zero, behind which no digit may stand.
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl NumberPart {
    /// Reads on, and says how many bytes belong to the number.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<usize, JsonFlaw> {
        use NumberPart::{Exponent, ExponentDigits, ExponentSign, Fraction, Integer, Minus, Nothing, Point, Zero};
        let mut part = *self;
        let mut length = 0;
        for &byte in bytes {
            part = match (part, byte) {
                (Integer | Nothing | Minus, b'1'..=b'9') | (Integer, b'0') => Integer,
                (Fraction | Point, b'0'..=b'9') => Fraction,
                (ExponentDigits | Exponent | ExponentSign, b'0'..=b'9') => ExponentDigits,
                (Nothing, b'-') => Minus,
                (Nothing | Minus, b'0') => Zero,
                (Integer | Zero, b'.') => Point,
                (Integer | Zero | Fraction, b'e' | b'E') => Exponent,
                (Exponent, b'+' | b'-') => ExponentSign,
                // No byte that could go on a number may stand behind one.
                (_, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => {
                    return Err(JsonFlaw::Number);
                }
                _ => break,
            };
            length += 1;
        }
        *self = part;
        Ok(length)
    }

    /// May the number end here?
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::ExponentDigits)
    }
}
