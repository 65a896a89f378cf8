//! Looking at the bytes between tokens.

/// Skips white space, and gives the byte behind it: 0, which has no place between tokens, at the end.
#[inline(always)]
pub(super) fn next_byte(bytes: &[u8], at: &mut usize) -> u8 {
    let byte = bytes.get(*at).copied().unwrap_or(0);
    if byte > b' ' {
        return byte;
    }
    *at = behind_space(bytes, *at);
    bytes.get(*at).copied().unwrap_or(0)
}

#[inline(never)]
fn behind_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The four bytes at `at`, the first one lowest, with zeros for what lies behind the end.
#[inline(always)]
pub(super) fn word_at(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(word) => u32::from_le_bytes(*word),
        None => short_word(bytes, at),
    }
}

#[cold]
fn short_word(bytes: &[u8], at: usize) -> u32 {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}
