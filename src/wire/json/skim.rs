//! Passing over what nobody wants.
//!
//! Most of a document lies in members that no visitor asks about: history, artifacts, the parts of messages. They are
//! checked all the same, but nothing has to be remembered of them, so that the loop over them is a tight one: its
//! nesting is one word, and it tells nobody anything. Where something is odd, or the bytes end, it stops, and the
//! scanner goes on from there.

use super::blocks::Blocks;
use super::space::{next_byte, word_at};
use super::{State, number, string};

/// How many containers are opened at most.
pub(super) const DEPTH: usize = 62;

/// Where skimming stopped.
pub(super) struct Skim {
    /// The place of what has not been read.
    pub(super) at: usize,
    /// What is due there.
    pub(super) state: State,
    /// The containers that are open, as bits behind a leading one: set for an object. The innermost is the lowest.
    pub(super) open: u64,
}

/// The lower three bytes of a word.
const THREE: u32 = 0x00ff_ffff;
const KEY_THEN_STRING: u32 = u32::from_le_bytes(*b"\":\"\0");
const STRING_THEN_KEY: u32 = u32::from_le_bytes(*b"\",\"\0");

/// Skims the object or array at `at`, or from the value at `at` on what lies around it: `open`, as in [`Skim`].
#[inline(never)]
pub(super) fn skim(bytes: &[u8], mut at: usize, mut open: u64, shared: &mut Blocks<'_>) -> Skim {
    // A copy of its own can stay in registers.
    let mut blocks = *shared;
    let state = 'stop: loop {
        // A value begins at `at`. Of a string, key or not, `end` is the first special byte behind its opening quote:
        // its end, if it is a plain one.
        let mut end = 0;
        let mut in_text = false;
        let mut in_key = false;
        match next_byte(bytes, &mut at) {
            b'"' => {
                end = blocks.next_special(at + 1);
                in_text = true;
            }
            b'{' if open >> DEPTH == 0 => {
                open = open << 1 | 1;
                at += 1;
                match next_byte(bytes, &mut at) {
                    b'"' => {
                        end = blocks.next_special(at + 1);
                        in_key = true;
                    }
                    b'}' => {
                        open >>= 1;
                        at += 1;
                    }
                    _ => break State::FirstKey,
                }
            }
            b'[' if open >> DEPTH == 0 => {
                open <<= 1;
                at += 1;
                match next_byte(bytes, &mut at) {
                    b']' => {
                        open >>= 1;
                        at += 1;
                    }
                    _ if at < bytes.len() => continue,
                    _ => break State::FirstElement,
                }
            }
            b'-' | b'0'..=b'9' => match number::plain(bytes, at) {
                0 => break State::Value,
                length => at += length,
            },
            b'n' if word_at(bytes, at) == u32::from_le_bytes(*b"null") => at += 4,
            b't' if word_at(bytes, at) == u32::from_le_bytes(*b"true") => at += 4,
            b'f' if word_at(bytes, at + 1) == u32::from_le_bytes(*b"alse") => at += 5,
            _ => break State::Value,
        }

        // Members follow one another, as long as their values are strings.
        loop {
            if in_text {
                let word = word_at(bytes, end);
                if word & THREE == STRING_THEN_KEY && open & 1 != 0 {
                    at = end + 2;
                    end = behind_next_quote(&mut blocks);
                    in_key = true;
                } else {
                    if word as u8 != b'"' {
                        end = skip_odd(bytes, end, &mut blocks);
                        if end == bytes.len() {
                            // A cut goes through it. What is read of it is not read again: it may be long.
                            at = end;
                            break 'stop State::InString;
                        }
                        if bytes.get(end) != Some(&b'"') {
                            break 'stop State::Value;
                        }
                    }
                    at = end + 1;
                }
            }

            while !in_key {
                if open == 1 {
                    *shared = blocks;
                    break 'stop State::Comma;
                }
                let in_object = open & 1 != 0;
                match next_byte(bytes, &mut at) {
                    b',' => {
                        at += 1;
                        if !in_object {
                            continue 'stop;
                        }
                        if next_byte(bytes, &mut at) != b'"' {
                            break 'stop State::Key;
                        }
                        end = blocks.next_special(at + 1);
                        in_key = true;
                    }
                    b'}' if in_object => {
                        open >>= 1;
                        at += 1;
                    }
                    b']' if !in_object => {
                        open >>= 1;
                        at += 1;
                    }
                    _ => break 'stop State::Comma,
                }
            }

            let word = word_at(bytes, end);
            if word & THREE == KEY_THEN_STRING {
                at = end + 2;
                end = behind_next_quote(&mut blocks);
                in_text = true;
                in_key = false;
                continue;
            }
            if word as u8 != b'"' {
                end = skip_odd(bytes, end, &mut blocks);
                if bytes.get(end) != Some(&b'"') {
                    break 'stop State::Key;
                }
            }
            at = end + 1;
            if next_byte(bytes, &mut at) != b':' {
                break 'stop State::Colon;
            }
            at += 1;
            break;
        }
    };
    Skim { at, state, open }
}

/// Takes the quote that is known to come next, and what is behind it.
#[inline(always)]
fn behind_next_quote(blocks: &mut Blocks<'_>) -> usize {
    blocks.take();
    blocks.take()
}

/// The blocks are lent out as a copy, so that the loop's own can stay in registers.
#[inline(always)]
fn skip_odd(bytes: &[u8], at: usize, blocks: &mut Blocks<'_>) -> usize {
    let mut lent = *blocks;
    let end = string::skip(bytes, at, &mut lent);
    *blocks = lent;
    end
}
