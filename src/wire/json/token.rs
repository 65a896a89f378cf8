//! Tokens off the plain path: with escapes, in other alphabets, or with a cut through them.

use super::blocks::Blocks;
use super::number::NumberPart;
use super::space::next_byte;
use super::string::StringPart;
use super::{JsonFlaw, JsonKind, JsonScanner, JsonVisitor, KEY_MAX, Literal, Slot, State};

impl JsonScanner {
    /// Goes on at `at`, where the last bytes ended or skimming stopped, up to the next value, or behind one. Gives the
    /// place, or `None` if these bytes do not reach so far.
    pub(super) fn resume<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        blocks: &mut Blocks<'_>,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        loop {
            let next = match self.state {
                State::Value | State::Comma | State::End => return Ok(Some(at)),
                State::InKey => self.continue_key(bytes, at, blocks, visitor)?,
                State::InString => self.continue_string(bytes, at, blocks, visitor)?,
                State::InNumber => self.continue_number(bytes, at, visitor)?,
                State::InLiteral(literal, matched) => self.continue_literal(bytes, at, literal, matched, visitor)?,
                State::FirstKey | State::Key | State::Colon | State::FirstElement => match next_byte(bytes, &mut at) {
                    b'}' if self.state == State::FirstKey => {
                        self.state = State::Comma;
                        Some(self.close(at))
                    }
                    b']' if self.state == State::FirstElement => {
                        self.state = State::Comma;
                        Some(self.close(at))
                    }
                    b':' if self.state == State::Colon => {
                        self.state = State::Value;
                        Some(at + 1)
                    }
                    b'"' if matches!(self.state, State::FirstKey | State::Key) => {
                        self.odd_key(bytes, at + 1, blocks, visitor)?
                    }
                    _ if self.state == State::FirstElement && at < bytes.len() => {
                        self.state = State::Value;
                        Some(at)
                    }
                    _ => return self.stop(bytes, at, self.state).map(|()| None),
                },
            };
            match next {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
    }

    /// A key that is not plain, from behind its quote.
    #[inline(never)]
    pub(super) fn odd_key<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        blocks: &mut Blocks<'_>,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        self.begin_text(State::InKey);
        self.continue_key(bytes, at, blocks, visitor)
    }

    /// A string that is not plain, from behind its quote.
    #[inline(never)]
    pub(super) fn odd_string<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        blocks: &mut Blocks<'_>,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        self.begin_text(State::InString);
        self.continue_string(bytes, at, blocks, visitor)
    }

    pub(super) fn begin_text(&mut self, state: State) {
        self.state = state;
        self.string = StringPart::default();
        self.token.clear();
    }

    fn continue_key<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        blocks: &mut Blocks<'_>,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        let kept = self.told.then_some(&mut self.token);
        let Some(next) = self.string.read(bytes, at, blocks, kept)? else {
            return Ok(None);
        };
        if self.told {
            let key = self.token.as_bytes();
            self.slot = if key.len() > KEY_MAX { Slot::IGNORED } else { visitor.key(self.scope(), key) };
        }
        self.state = State::Colon;
        Ok(Some(next))
    }

    fn continue_string<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        blocks: &mut Blocks<'_>,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        let is_kept = self.slot != Slot::IGNORED;
        let kept = is_kept.then_some(&mut self.token);
        let Some(next) = self.string.read(bytes, at, blocks, kept)? else {
            return Ok(None);
        };
        if is_kept {
            self.tell_token(JsonKind::String, visitor);
        }
        self.state = State::Comma;
        Ok(Some(next))
    }

    /// Tells of a value that was collected piece by piece.
    fn tell_token<V: JsonVisitor>(&mut self, kind: JsonKind, visitor: &mut V) {
        let cut = self.token.is_truncated();
        visitor.scalar(self.slot, kind, self.token.as_bytes(), cut);
    }

    /// A number, from its first byte.
    pub(super) fn number<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        self.state = State::InNumber;
        self.number = NumberPart::default();
        self.token.clear();
        self.continue_number(bytes, at, visitor)
    }

    fn continue_number<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = self.number.read(rest)?;
        if self.slot != Slot::IGNORED {
            self.token.push(rest.get(..length).unwrap_or_default());
        }
        if length == rest.len() {
            return Ok(None);
        }
        self.end_number(visitor)?;
        Ok(Some(at + length))
    }

    pub(super) fn end_number<V: JsonVisitor>(&mut self, visitor: &mut V) -> Result<(), JsonFlaw> {
        if !self.number.is_whole() {
            return Err(JsonFlaw::Number);
        }
        if self.slot != Slot::IGNORED {
            self.tell_token(JsonKind::Number, visitor);
        }
        self.state = State::Comma;
        Ok(())
    }

    /// `null`, `true` or `false`, from its first byte.
    pub(super) fn literal<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        literal: Literal,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        self.continue_literal(bytes, at, literal, 0, visitor)
    }

    fn continue_literal<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        literal: Literal,
        matched: u8,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        let due = literal.text().get(usize::from(matched)..).unwrap_or_default();
        let rest = bytes.get(at..).unwrap_or_default();
        if !rest.starts_with(due) {
            if !due.starts_with(rest) {
                return Err(JsonFlaw::Syntax);
            }
            self.state = State::InLiteral(literal, matched + rest.len() as u8);
            return Ok(None);
        }
        if self.slot != Slot::IGNORED {
            let kind = match literal {
                Literal::Null => JsonKind::Null,
                Literal::True | Literal::False => JsonKind::Bool,
            };
            visitor.scalar(self.slot, kind, literal.text(), false);
        }
        self.state = State::Comma;
        Ok(Some(at + due.len()))
    }
}
