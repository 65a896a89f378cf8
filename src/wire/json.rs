//! A resumable, validating JSON scanner (RFC 8259).
//!
//! The scanner builds no tree. It checks the whole grammar, UTF-8 included, and tells a [`JsonVisitor`] about the few
//! members that somebody cares for: the visitor gives each interesting object a [`Scope`], and each interesting member
//! of it a [`Slot`]. All that lies in other members is checked and otherwise passed over.
//!
//! Bytes may come in any cut. A token that a cut goes through is collected in a small buffer, any other is looked at
//! where it lies.

mod blocks;
mod nesting;
mod number;
mod run;
mod scan;
mod skim;
mod space;
mod string;
mod token;

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
    fn beginning_with(byte: u8) -> Self {
        match byte {
            b'n' => Self::Null,
            b't' => Self::True,
            _ => Self::False,
        }
    }

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
    /// The innermost container is interesting.
    told: bool,
    string: StringPart,
    number: NumberPart,
    /// What is known of a token that a cut or an escape went through.
    token: SmallText,
    flaw: Option<JsonFlaw>,
}

impl Default for JsonScanner {
    #[inline]
    fn default() -> Self {
        Self {
            state: State::Value,
            slot: Slot::ROOT,
            nesting: Nesting::default(),
            scopes: [Scope::SKIPPED; INTEREST],
            interest: 0,
            told: false,
            string: StringPart::default(),
            number: NumberPart::default(),
            token: SmallText::default(),
            flaw: None,
        }
    }
}

/// Where a string ends whose content begins at `at`: the place behind its closing quote, if that is there and nothing
/// before it is wrong.
#[inline(always)]
pub(crate) fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    string::end(bytes, at).map(|quote| quote + 1)
}

/// Where the number ends that begins at `at`, if it is one, and something behind it shows its end.
pub(crate) fn end_of_number(bytes: &[u8], at: usize) -> Option<usize> {
    Some(number::plain(bytes, at)).filter(|length| *length > 0).map(|length| at + length)
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
        self.told = false;
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
            // The document's value, and nothing behind it that would have shown its end.
            State::Comma if self.nesting.is_empty() => Ok(()),
            State::Value if self.nesting.is_empty() => Err(JsonFlaw::Empty),
            // Only the end can tell where a number at the top ends.
            State::InNumber if self.nesting.is_empty() => self.end_number(visitor),
            _ => Err(JsonFlaw::Unfinished),
        };
        self.flaw = result.err();
        result
    }

    /// The slot of the value whose text begins with the next byte: a string, behind its opening quote, or what else is
    /// due.
    pub(crate) fn slot_here(&self) -> Option<Slot> {
        let is_here = match self.state {
            State::InString => self.string.is_between_characters(),
            state => state == State::Value,
        };
        (is_here && self.flaw.is_none()).then_some(self.slot)
    }

    /// True between the first byte of a document and its last, with nothing wrong so far.
    pub(crate) fn is_unfinished(&self) -> bool {
        let is_started = self.state != State::Value || !self.nesting.is_empty();
        self.flaw.is_none() && is_started && self.state != State::End
    }
}
