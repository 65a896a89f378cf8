//! Passing over what nobody wants.
//!
//! Most of a document lies in members that no visitor asks about: history, artifacts, the parts of messages. They are checked all
//! the same, but nothing has to be remembered of them, so that the loop over them is a tight one: its nesting is one word, and it
//! tells nobody anything. Where something is odd, or the bytes end, it stops, and the scanner goes on from there.

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
    /// The containers that were opened and not closed, as bits behind a leading one: set for an object. The innermost is the lowest.
    pub(super) open: u64,
}

/// The lower three bytes of a word.
const THREE: u32 = 0x00ff_ffff;
const KEY_THEN_STRING: u32 = u32::from_le_bytes(*b"\":\"\0");
const STRING_THEN_KEY: u32 = u32::from_le_bytes(*b"\",\"\0");

/// Skims the object or array at `at`.
#[inline(never)]
pub(super) fn skim(bytes: &[u8], mut at: usize, blocks: &mut Blocks<'_>) -> Skim {
    let mut open = 1_u64;
    let state = 'stop: loop {
        let mut key_is_due = false;
        match next_byte(bytes, &mut at) {
            b'"' => {
                let mut end = blocks.next_special(at + 1);
                let word = word_at(bytes, end);
                if word & THREE == STRING_THEN_KEY && open & 1 != 0 {
                    at = end + 2;
                    key_is_due = true;
                } else {
                    if word as u8 != b'"' {
                        end = string::skip(bytes, end, blocks);
                        if bytes.get(end) != Some(&b'"') {
                            break State::Value;
                        }
                    }
                    at = end + 1;
                }
            }
            b'{' if open >> DEPTH == 0 => {
                open = open << 1 | 1;
                at += 1;
                match next_byte(bytes, &mut at) {
                    b'"' => key_is_due = true,
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

        while !key_is_due {
            if open == 1 {
                break 'stop State::Comma;
            }
            let in_object = open & 1 != 0;
            match next_byte(bytes, &mut at) {
                b',' => {
                    at += 1;
                    if !in_object {
                        break;
                    }
                    if next_byte(bytes, &mut at) != b'"' {
                        break 'stop State::Key;
                    }
                    key_is_due = true;
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

        if key_is_due {
            let mut end = blocks.next_special(at + 1);
            let word = word_at(bytes, end);
            if word & THREE == KEY_THEN_STRING {
                at = end + 2;
                continue;
            }
            if word as u8 != b'"' {
                end = string::skip(bytes, end, blocks);
                if bytes.get(end) != Some(&b'"') {
                    break State::Key;
                }
            }
            at = end + 1;
            if next_byte(bytes, &mut at) != b':' {
                break State::Colon;
            }
            at += 1;
        }
    };
    Skim { at, state, open }
}
