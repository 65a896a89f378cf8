//! A resumable, validating JSON scanner (RFC 8259).
//!
//! The scanner builds no tree. It checks the whole grammar, UTF-8 included, and tells a [`JsonVisitor`] about the few members that
//! somebody cares for: the visitor gives each interesting object a [`Scope`], and each interesting member of it a [`Slot`]. All that lies
//! in other members is checked and otherwise passed over.
//!
//! Bytes may come in any cut. A token that a cut goes through is collected in a small buffer, any other is looked at where it lies.

mod nesting;
mod number;
mod run;
mod string;

#[cfg(test)]
mod tests;

use super::text::SmallText;
use nesting::Nesting;
use number::NumberPart;
use string::StringPart;

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number of any size and spelling.
    Number,
    /// A string.
    String,
    /// An object.
    Object,
    /// An array.
    Array,
}

/// A visitor's name for an object whose members it wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope(pub u8);

impl Scope {
    /// Of no interest: the object is checked, and nothing told.
    pub const SKIPPED: Self = Self(0);
}

/// A visitor's name for a value that it wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u8);

impl Slot {
    /// Of no interest: the value is checked, and nothing told.
    pub const IGNORED: Self = Self(0);
    /// The document itself.
    pub const ROOT: Self = Self(u8::MAX);
}

/// What is told about a document.
pub trait JsonVisitor {
    /// A member of an object in `scope`. `key` is unescaped. Says where its value belongs.
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot;

    /// An object or array begins in a slot that is not ignored. An object's scope says whether its members are told.
    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope;

    /// Any other value in a slot that is not ignored. `text` is a string's content, unescaped, or the JSON text of any
    /// other value, `cut` to [`SmallText::MAX`] bytes.
    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], cut: bool);
}

/// Why bytes are no JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonFlaw {
    /// Nothing but white space.
    Empty,
    /// The end came too early.
    Unfinished,
    /// A byte that the grammar does not allow at its place.
    Syntax,
    /// A control character in a string.
    Control,
    /// An escape that JSON does not know.
    Escape,
    /// A string that is not UTF-8.
    Utf8,
    /// A number that JSON does not know: `01`, `1.`, `+1`.
    Number,
    /// More than [`JsonScanner::MAX_DEPTH`] arrays and objects around each other.
    Depth,
    /// Something behind the document's end.
    Trailing,
}

impl JsonFlaw {
    /// The flaw in words, for messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "no JSON at all",
            Self::Unfinished => "JSON that ends too early",
            Self::Syntax => "JSON with a syntax error",
            Self::Control => "JSON with a raw control character in a string",
            Self::Escape => "JSON with an unknown escape in a string",
            Self::Utf8 => "JSON that is not UTF-8",
            Self::Number => "JSON with a malformed number",
            Self::Depth => "JSON that is nested too deep",
            Self::Trailing => "something behind the end of the JSON",
        }
    }
}

/// What the next byte continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A value is due: the document, a member's, or an array's behind a comma.
    Value,
    /// Behind `[`: a value, or `]`.
    FirstElement,
    /// Behind `{`: a key, or `}`.
    FirstKey,
    /// Behind a comma in an object.
    Key,
    /// Behind a key.
    Colon,
    /// Behind a value in an object or array.
    Comma,
    /// Behind the document.
    End,
    /// Inside a key.
    InKey,
    /// Inside a string that is a value.
    InString,
    /// Inside a number.
    InNumber,
    /// Inside `null`, `true` or `false`, so many bytes in.
    InLiteral(Literal, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Literal {
    Null,
    True,
    False,
}

impl Literal {
    fn text(self) -> &'static [u8] {
        match self {
            Self::Null => b"null",
            Self::True => b"true",
            Self::False => b"false",
        }
    }
}

/// Interest reaches at most so deep into a document; what lies deeper is skipped.
const INTEREST: usize = 8;

/// The longest key that a visitor is asked about.
const KEY_MAX: usize = 128;

/// The scanner. See the [module](self).
#[derive(Clone, Debug)]
pub struct JsonScanner {
    state: State,
    /// The slot of the value that is due or being read.
    slot: Slot,
    nesting: Nesting,
    /// The outermost containers that are interesting, each with its scope.
    scopes: [Scope; INTEREST],
    interest: usize,
    string: StringPart,
    number: NumberPart,
    /// What is known of a token that a cut or an escape went through.
    token: SmallText,
    flaw: Option<JsonFlaw>,
}

impl Default for JsonScanner {
    fn default() -> Self {
        Self {
            state: State::Value,
            slot: Slot::ROOT,
            nesting: Nesting::default(),
            scopes: [Scope::SKIPPED; INTEREST],
            interest: 0,
            string: StringPart::default(),
            number: NumberPart::default(),
            token: SmallText::default(),
            flaw: None,
        }
    }
}

impl JsonScanner {
    /// How many arrays and objects may lie around each other.
    pub const MAX_DEPTH: usize = nesting::MAX_DEPTH;

    /// A scanner before the first byte of a document.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes it a new scanner, keeping its memory.
    pub fn reset(&mut self) {
        self.state = State::Value;
        self.slot = Slot::ROOT;
        self.nesting.clear();
        self.interest = 0;
        self.string = StringPart::default();
        self.token.clear();
        self.flaw = None;
    }

    /// Reads on. A flaw once found stays.
    ///
    /// # Errors
    /// The first flaw of the document.
    pub fn feed<V: JsonVisitor>(&mut self, bytes: &[u8], visitor: &mut V) -> Result<(), JsonFlaw> {
        if let Some(flaw) = self.flaw {
            return Err(flaw);
        }
        let result = self.scan(bytes, visitor);
        self.flaw = result.err();
        result
    }

    /// The bytes are at their end: is it a whole document?
    ///
    /// # Errors
    /// The first flaw of the document; [`JsonFlaw::Unfinished`] if more was to come.
    pub fn finish<V: JsonVisitor>(&mut self, visitor: &mut V) -> Result<(), JsonFlaw> {
        if let Some(flaw) = self.flaw {
            return Err(flaw);
        }
        let result = match self.state {
            State::End => Ok(()),
            State::Value if self.nesting.is_empty() => Err(JsonFlaw::Empty),
            // Only the end can tell where a number at the top ends.
            State::InNumber if self.nesting.is_empty() => self.end_number(&[], visitor),
            _ => Err(JsonFlaw::Unfinished),
        };
        self.flaw = result.err();
        result
    }

    /// True between the first byte of a document and its last, with nothing wrong so far.
    pub(crate) fn is_unfinished(&self) -> bool {
        let is_started = self.state != State::Value || !self.nesting.is_empty();
        self.flaw.is_none() && is_started && self.state != State::End
    }

    fn scan<V: JsonVisitor>(&mut self, bytes: &[u8], visitor: &mut V) -> Result<(), JsonFlaw> {
        let mut at = 0;
        loop {
            let next = match self.state {
                State::InKey => self.continue_key(bytes, at, visitor)?,
                State::InString => self.continue_string(bytes, at, visitor)?,
                State::InNumber => self.continue_number(bytes, at, visitor)?,
                State::InLiteral(literal, matched) => self.continue_literal(bytes, at, literal, matched, visitor)?,
                _ => match skip_space(bytes, at) {
                    Some((at, byte)) => Some(self.structure(bytes, at, byte, visitor)?),
                    None => None,
                },
            };
            match next {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
    }

    /// One byte between tokens, and the token that begins with it.
    fn structure<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        byte: u8,
        visitor: &mut V,
    ) -> Result<usize, JsonFlaw> {
        match (self.state, byte) {
            (State::Comma, b',') => {
                if self.nesting.in_object() {
                    self.state = State::Key;
                } else {
                    self.state = State::Value;
                    self.slot = Slot::IGNORED;
                }
                Ok(at + 1)
            }
            (State::Comma, b'}') if self.nesting.in_object() => self.close(at),
            (State::Comma, b']') if !self.nesting.in_object() => self.close(at),
            (State::FirstKey, b'}') => self.close(at),
            (State::FirstElement, b']') => self.close(at),
            (State::FirstKey | State::Key, b'"') => self.begin_key(bytes, at + 1, visitor),
            (State::Colon, b':') => {
                self.state = State::Value;
                Ok(at + 1)
            }
            (State::Value | State::FirstElement, _) => self.value(bytes, at, byte, visitor),
            (State::End, _) => Err(JsonFlaw::Trailing),
            _ => Err(JsonFlaw::Syntax),
        }
    }

    fn value<V: JsonVisitor>(&mut self, bytes: &[u8], at: usize, byte: u8, visitor: &mut V) -> Result<usize, JsonFlaw> {
        match byte {
            b'"' => self.begin_string(bytes, at + 1, visitor),
            b'{' => self.open(at, JsonKind::Object, visitor),
            b'[' => self.open(at, JsonKind::Array, visitor),
            b'-' | b'0'..=b'9' => self.begin_number(at),
            b'n' => self.begin_literal(at, Literal::Null),
            b't' => self.begin_literal(at, Literal::True),
            b'f' => self.begin_literal(at, Literal::False),
            _ => Err(JsonFlaw::Syntax),
        }
    }

    fn open<V: JsonVisitor>(&mut self, at: usize, kind: JsonKind, visitor: &mut V) -> Result<usize, JsonFlaw> {
        let is_object = kind == JsonKind::Object;
        let depth = self.nesting.depth();
        if !self.nesting.push(is_object) {
            return Err(JsonFlaw::Depth);
        }
        if self.slot != Slot::IGNORED {
            let scope = visitor.begin(self.slot, kind);
            if is_object && scope != Scope::SKIPPED && depth == self.interest {
                if let Some(place) = self.scopes.get_mut(depth) {
                    *place = scope;
                    self.interest += 1;
                }
            }
        }
        if is_object {
            self.state = State::FirstKey;
        } else {
            self.state = State::FirstElement;
            self.slot = Slot::IGNORED;
        }
        Ok(at + 1)
    }

    fn close(&mut self, at: usize) -> Result<usize, JsonFlaw> {
        self.nesting.pop();
        self.interest = self.interest.min(self.nesting.depth());
        self.value_ended();
        Ok(at + 1)
    }

    fn value_ended(&mut self) {
        self.state = if self.nesting.is_empty() { State::End } else { State::Comma };
    }

    /// The scope of the innermost container.
    fn scope(&self) -> Scope {
        if self.nesting.depth() == self.interest {
            match self.interest.checked_sub(1) {
                Some(index) => self.scopes.get(index).copied().unwrap_or(Scope::SKIPPED),
                None => Scope::SKIPPED,
            }
        } else {
            Scope::SKIPPED
        }
    }

    // Keys

    fn begin_key<V: JsonVisitor>(&mut self, bytes: &[u8], at: usize, visitor: &mut V) -> Result<usize, JsonFlaw> {
        let rest = bytes.get(at..).unwrap_or_default();
        let plain = run::plain(rest);
        if let (Some(key), Some(b'"')) = (rest.get(..plain), rest.get(plain)) {
            let scope = self.scope();
            self.slot =
                if scope == Scope::SKIPPED || key.len() > KEY_MAX { Slot::IGNORED } else { visitor.key(scope, key) };
            self.state = State::Colon;
            return Ok(at + plain + 1);
        }
        self.string = StringPart::default();
        self.token.clear();
        self.state = State::InKey;
        Ok(at)
    }

    fn continue_key<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        let scope = self.scope();
        let kept = (scope != Scope::SKIPPED).then_some(&mut self.token);
        let Some(next) = self.string.read(bytes, at, kept)? else {
            return Ok(None);
        };
        let key = self.token.as_bytes();
        self.slot =
            if scope == Scope::SKIPPED || key.len() > KEY_MAX { Slot::IGNORED } else { visitor.key(scope, key) };
        self.state = State::Colon;
        Ok(Some(next))
    }

    // Strings

    fn begin_string<V: JsonVisitor>(&mut self, bytes: &[u8], at: usize, visitor: &mut V) -> Result<usize, JsonFlaw> {
        let rest = bytes.get(at..).unwrap_or_default();
        let plain = run::plain(rest);
        if let (Some(text), Some(b'"')) = (rest.get(..plain), rest.get(plain)) {
            if self.slot != Slot::IGNORED {
                tell(visitor, self.slot, JsonKind::String, text);
            }
            self.value_ended();
            return Ok(at + plain + 1);
        }
        self.string = StringPart::default();
        self.token.clear();
        self.state = State::InString;
        Ok(at)
    }

    fn continue_string<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        let kept = (self.slot != Slot::IGNORED).then_some(&mut self.token);
        let Some(next) = self.string.read(bytes, at, kept)? else {
            return Ok(None);
        };
        if self.slot != Slot::IGNORED {
            let cut = self.token.is_truncated();
            visitor.scalar(self.slot, JsonKind::String, self.token.as_bytes(), cut);
        }
        self.value_ended();
        Ok(Some(next))
    }

    // Numbers

    fn begin_number(&mut self, at: usize) -> Result<usize, JsonFlaw> {
        self.number = NumberPart::default();
        self.token.clear();
        self.state = State::InNumber;
        Ok(at)
    }

    fn continue_number<V: JsonVisitor>(
        &mut self,
        bytes: &[u8],
        at: usize,
        visitor: &mut V,
    ) -> Result<Option<usize>, JsonFlaw> {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = self.number.read(rest)?;
        let piece = rest.get(..length).unwrap_or_default();
        if length == rest.len() {
            if self.slot != Slot::IGNORED {
                self.token.push(piece);
            }
            return Ok(None);
        }
        self.end_number(piece, visitor)?;
        Ok(Some(at + length))
    }

    fn end_number<V: JsonVisitor>(&mut self, piece: &[u8], visitor: &mut V) -> Result<(), JsonFlaw> {
        if !self.number.is_whole() {
            return Err(JsonFlaw::Number);
        }
        if self.slot != Slot::IGNORED {
            if self.token.is_empty() {
                tell(visitor, self.slot, JsonKind::Number, piece);
            } else {
                self.token.push(piece);
                let cut = self.token.is_truncated();
                visitor.scalar(self.slot, JsonKind::Number, self.token.as_bytes(), cut);
            }
        }
        self.value_ended();
        Ok(())
    }

    // null, true, false

    fn begin_literal(&mut self, at: usize, literal: Literal) -> Result<usize, JsonFlaw> {
        self.state = State::InLiteral(literal, 0);
        Ok(at)
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
        let length = due.len().min(rest.len());
        if rest.get(..length) != due.get(..length) {
            return Err(JsonFlaw::Syntax);
        }
        if length < due.len() {
            self.state = State::InLiteral(literal, matched + length as u8);
            return Ok(None);
        }
        if self.slot != Slot::IGNORED {
            let kind = match literal {
                Literal::Null => JsonKind::Null,
                Literal::True | Literal::False => JsonKind::Bool,
            };
            visitor.scalar(self.slot, kind, literal.text(), false);
        }
        self.value_ended();
        Ok(Some(at + length))
    }
}

/// Tells of a value that lies whole in the bytes at hand.
fn tell<V: JsonVisitor>(visitor: &mut V, slot: Slot, kind: JsonKind, text: &[u8]) {
    match text.get(..SmallText::MAX) {
        Some(start) => visitor.scalar(slot, kind, start, start.len() < text.len()),
        None => visitor.scalar(slot, kind, text, false),
    }
}

/// The first byte that is no white space, and its place.
#[inline]
fn skip_space(bytes: &[u8], mut at: usize) -> Option<(usize, u8)> {
    loop {
        let byte = *bytes.get(at)?;
        if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            return Some((at, byte));
        }
        at += 1;
    }
}
