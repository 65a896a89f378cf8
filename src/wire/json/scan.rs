//! The scanner's loop over what lies whole in the bytes at hand.
//!
//! The parts of a document follow one another in a fixed order, and the loop is written in that order: a value, what is
//! behind it, and in objects the next key and its colon. Only where the bytes end, or a token is no plain one, does it
//! leave the path.

use super::blocks::Blocks;
use super::skim::{self, skim};
use super::space::next_byte;
use super::{INTEREST, JsonFlaw, JsonKind, JsonScanner, JsonVisitor, KEY_MAX, Literal, Scope, Slot, State};
use super::{nesting, number};
use crate::wire::text::SmallText;

/// So many bytes, about, have the tokens for which skimming begins to pay.
pub(super) const WORTH_SKIMMING: usize = 64;

impl JsonScanner {
    pub(super) fn scan<V: JsonVisitor>(&mut self, bytes: &[u8], visitor: &mut V) -> Result<(), JsonFlaw> {
        let mut blocks = Blocks::new(bytes);
        let mut at = 0;
        // Where a cut went through what is skimmed, and enough came since to be worth the change. Once: where things are
        // odd, it is not to be left and entered again for each of them.
        let mut skims_on = bytes.len() >= WORTH_SKIMMING && self.may_skim_on();
        'resume: loop {
            match self.resume(bytes, at, &mut blocks, visitor)? {
                Some(next) => at = next,
                None => return Ok(()),
            }
            let mut value_is_due = self.state == State::Value;
            loop {
                let mut key_is_due = false;
                if value_is_due {
                    match next_byte(bytes, &mut at) {
                        // What had to be read first may have closed it all.
                        _ if skims_on && self.may_skim_on() => {
                            skims_on = false;
                            let open = self.hand_over();
                            let skimmed = skim(bytes, at, open, &mut blocks);
                            at = skimmed.at;
                            if skimmed.open != 1 {
                                self.take_over(skimmed.state, skimmed.open);
                                continue 'resume;
                            }
                        }
                        b'"' => {
                            let end = blocks.next_special(at + 1);
                            if bytes.get(end) == Some(&b'"') {
                                if self.slot != Slot::IGNORED {
                                    self.tell(JsonKind::String, bytes, at + 1, end, visitor);
                                }
                                at = end + 1;
                            } else {
                                match self.odd_string(bytes, at + 1, &mut blocks, visitor)? {
                                    Some(next) => at = next,
                                    None => return Ok(()),
                                }
                            }
                        }
                        b'{' | b'[' if self.may_skim() => {
                            let skimmed = skim(bytes, at, 1, &mut blocks);
                            at = skimmed.at;
                            if skimmed.open != 1 {
                                self.take_over(skimmed.state, skimmed.open);
                                continue 'resume;
                            }
                            if skimmed.state != State::Comma {
                                return self.stop(bytes, at, State::Value);
                            }
                        }
                        b'{' => {
                            self.open(JsonKind::Object, visitor)?;
                            at += 1;
                            match next_byte(bytes, &mut at) {
                                b'}' => at = self.close(at),
                                b'"' => key_is_due = true,
                                _ => return self.stop(bytes, at, State::FirstKey),
                            }
                        }
                        b'[' => {
                            self.open(JsonKind::Array, visitor)?;
                            at += 1;
                            match next_byte(bytes, &mut at) {
                                b']' => at = self.close(at),
                                _ if at < bytes.len() => continue,
                                _ => return self.stop(bytes, at, State::FirstElement),
                            }
                        }
                        b'-' | b'0'..=b'9' => match number::plain(bytes, at) {
                            0 => match self.number(bytes, at, visitor)? {
                                Some(next) => at = next,
                                None => return Ok(()),
                            },
                            length => {
                                if self.slot != Slot::IGNORED {
                                    self.tell(JsonKind::Number, bytes, at, at + length, visitor);
                                }
                                at += length;
                            }
                        },
                        byte @ (b'n' | b't' | b'f') => {
                            let literal = Literal::beginning_with(byte);
                            match self.literal(bytes, at, literal, visitor)? {
                                Some(next) => at = next,
                                None => return Ok(()),
                            }
                        }
                        _ => return self.stop(bytes, at, State::Value),
                    }
                }
                value_is_due = true;

                while !key_is_due {
                    if self.nesting.is_empty() {
                        return self.end(bytes, at);
                    }
                    let in_object = self.nesting.in_object();
                    match next_byte(bytes, &mut at) {
                        b',' => {
                            at += 1;
                            if !in_object {
                                break;
                            }
                            if next_byte(bytes, &mut at) != b'"' {
                                return self.stop(bytes, at, State::Key);
                            }
                            key_is_due = true;
                        }
                        b'}' if in_object => at = self.close(at),
                        b']' if !in_object => at = self.close(at),
                        _ => return self.stop(bytes, at, State::Comma),
                    }
                }

                if key_is_due {
                    let end = blocks.next_special(at + 1);
                    if bytes.get(end) == Some(&b'"') {
                        if self.told {
                            self.tell_key(bytes, at + 1, end, visitor);
                        }
                        at = end + 1;
                    } else {
                        match self.odd_key(bytes, at + 1, &mut blocks, visitor)? {
                            Some(next) => at = next,
                            None => return Ok(()),
                        }
                    }
                    if next_byte(bytes, &mut at) != b':' {
                        return self.stop(bytes, at, State::Colon);
                    }
                    at += 1;
                }
            }
        }
    }

    /// What is at `at` does not fit: it is wrong, or the bytes are at their end and `state` tells what is due next.
    #[cold]
    pub(super) fn stop(&mut self, bytes: &[u8], at: usize, state: State) -> Result<(), JsonFlaw> {
        if at < bytes.len() {
            return Err(JsonFlaw::Syntax);
        }
        self.state = state;
        Ok(())
    }

    /// Behind the document only white space may follow.
    fn end(&mut self, bytes: &[u8], mut at: usize) -> Result<(), JsonFlaw> {
        self.state = State::End;
        next_byte(bytes, &mut at);
        if at < bytes.len() {
            return Err(JsonFlaw::Trailing);
        }
        Ok(())
    }

    /// Is the value that is due of no interest, and its nesting sure to be allowed?
    fn may_skim(&self) -> bool {
        self.slot == Slot::IGNORED && self.nesting.depth() + skim::DEPTH <= nesting::MAX_DEPTH
    }

    /// Is it inside of what is of no interest, and could that have been skimmed from its beginning?
    fn may_skim_on(&self) -> bool {
        const { assert!(INTEREST + skim::DEPTH <= nesting::MAX_DEPTH, "all that is skimmed is allowed") }
        let ignored = self.nesting.depth() - self.interest;
        (1..=skim::DEPTH).contains(&ignored)
    }

    /// Gives up the containers that are of no interest to who skims them, as bits behind a leading one.
    fn hand_over(&mut self) -> u64 {
        let ignored = self.nesting.depth() - self.interest;
        let mut open = 1 << ignored;
        for place in 0..ignored {
            open |= u64::from(self.nesting.in_object()) << place;
            self.nesting.pop();
        }
        self.told = !self.nesting.is_empty();
        open
    }

    /// Goes on inside of what skimming left open.
    #[cold]
    fn take_over(&mut self, state: State, open: u64) {
        self.begin_text(state);
        self.told = false;
        for bit in (0..open.ilog2()).rev() {
            self.nesting.push(open >> bit & 1 != 0);
        }
    }

    fn open<V: JsonVisitor>(&mut self, kind: JsonKind, visitor: &mut V) -> Result<(), JsonFlaw> {
        let depth = self.nesting.depth();
        if !self.nesting.push(kind == JsonKind::Object) {
            return Err(JsonFlaw::Depth);
        }
        self.told = false;
        let slot = std::mem::replace(&mut self.slot, Slot::IGNORED);
        if slot != Slot::IGNORED {
            let scope = visitor.begin(slot, kind);
            if let Some(place) = self.scopes.get_mut(depth) {
                // A slot is only given inside of what is interesting, so that interest has no gaps.
                self.told = kind == JsonKind::Object && scope != Scope::SKIPPED;
                *place = scope;
                self.interest += usize::from(self.told);
            }
        }
        Ok(())
    }

    /// Closes a container at `at`, and gives the place behind it.
    pub(super) fn close(&mut self, at: usize) -> usize {
        self.nesting.pop();
        let depth = self.nesting.depth();
        if depth <= self.interest {
            self.interest = depth;
            self.told = depth > 0;
        }
        at + 1
    }

    /// The scope of the innermost container, which is interesting.
    pub(super) fn scope(&self) -> Scope {
        let innermost = self.interest.wrapping_sub(1);
        self.scopes.get(innermost).copied().unwrap_or(Scope::SKIPPED)
    }

    fn tell_key<V: JsonVisitor>(&mut self, bytes: &[u8], from: usize, to: usize, visitor: &mut V) {
        let key = bytes.get(from..to).unwrap_or_default();
        self.slot = if key.len() > KEY_MAX { Slot::IGNORED } else { visitor.key(self.scope(), key) };
    }

    /// Tells of a value that lies whole in the bytes at hand.
    fn tell<V: JsonVisitor>(&mut self, kind: JsonKind, bytes: &[u8], from: usize, to: usize, visitor: &mut V) {
        let text = bytes.get(from..to).unwrap_or_default();
        match text.get(..SmallText::MAX) {
            Some(start) => visitor.scalar(self.slot, kind, start, start.len() < text.len()),
            None => visitor.scalar(self.slot, kind, text, false),
        }
    }
}
