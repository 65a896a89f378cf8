//! A JSON text as a tree, for those texts that have one meaning only (I-JSON, RFC 7493; RFC 8785 §3.1).
//!
//! Not `serde_json::Value`: what that does with numbers and with the order of names depends on features which any
//! other crate of the program may switch on, and it forgets that a name stood there twice.

use std::{borrow::Cow, cmp::Ordering};

use serde_json::value::RawValue;

/// Arrays and objects around each other.
const MAX_DEPTH: usize = 128;
/// Values in one document. A card with a thousand skills has some ten thousand.
const MAX_VALUES: usize = 1 << 16;

/// One value.
#[derive(Debug)]
pub(super) enum Node<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Object(Object<'a>),
}

/// Members in the order of RFC 8785 §3.2.3, each name once.
#[derive(Debug)]
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, Node<'a>)>);

/// Why a text has no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TreeFlaw {
    /// It is no JSON.
    Syntax,
    /// A name stands twice in one object.
    Repeated(String),
    /// A string that stands for no Unicode text.
    Surrogate,
    /// A number that no double comes near.
    Number,
    /// Too deep.
    Depth,
    /// Too many values.
    Size,
}

impl<'a> Node<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, TreeFlaw> {
        // The grammar is the library's to judge. What follows is right for valid texts alone, and safe for all.
        serde_json::from_str::<&RawValue>(text).map_err(|_| TreeFlaw::Syntax)?;
        Reader { text, at: 0, values: 0 }.value(0)
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}

impl<'a> Object<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&Node<'a>> {
        let found = self.0.binary_search_by(|(known, _)| order(known, name)).ok()?;
        self.0.get(found).map(|(_, value)| value)
    }

    pub(super) fn members(&self) -> impl ExactSizeIterator<Item = (&str, &Node<'a>)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }
}

/// By UTF-16 code units, which is not the order of code points (RFC 8785 §3.2.3).
pub(super) fn order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    values: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Node<'a>, TreeFlaw> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(TreeFlaw::Size);
        }
        if depth > MAX_DEPTH {
            return Err(TreeFlaw::Depth);
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(Node::Text),
            b't' => self.word("true", Node::Bool(true)),
            b'f' => self.word("false", Node::Bool(false)),
            b'n' => self.word("null", Node::Null),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Node<'a>, TreeFlaw> {
        let mut members = Vec::new();
        self.at += 1;
        while !self.ends(b'}')? {
            let name = self.string()?;
            self.expect(b':')?;
            members.push((name, self.value(depth + 1)?));
        }
        members.shrink_to_fit();
        members.sort_by(|(a, _), (b, _)| order(a, b));
        for (this, next) in members.iter().zip(members.iter().skip(1)) {
            if this.0 == next.0 {
                return Err(TreeFlaw::Repeated(this.0.chars().take(64).collect()));
            }
        }
        Ok(Node::Object(Object(members)))
    }

    fn list(&mut self, depth: usize) -> Result<Node<'a>, TreeFlaw> {
        let mut items = Vec::new();
        self.at += 1;
        while !self.ends(b']')? {
            items.push(self.value(depth + 1)?);
        }
        items.shrink_to_fit();
        Ok(Node::List(items))
    }

    /// Whether an array or object ends here; if not, the next item begins.
    fn ends(&mut self, close: u8) -> Result<bool, TreeFlaw> {
        let mut byte = self.peek()?;
        if byte == b',' {
            self.at += 1;
            byte = self.peek()?;
        }
        if byte == close {
            self.at += 1;
        }
        Ok(byte == close)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, TreeFlaw> {
        self.expect(b'"')?;
        let begin = self.at;
        let mut escaped = false;
        loop {
            let found = memchr::memchr2(b'"', b'\\', self.rest()).ok_or(TreeFlaw::Syntax)?;
            self.at += found;
            if self.rest().first() == Some(&b'"') {
                break;
            }
            escaped = true;
            self.at += 2;
        }
        let end = self.at;
        self.at += 1;
        if escaped {
            let quoted = self.text.get(begin - 1..end + 1).ok_or(TreeFlaw::Syntax)?;
            return serde_json::from_str(quoted).map(Cow::Owned).map_err(|_| TreeFlaw::Surrogate);
        }
        self.text.get(begin..end).map(Cow::Borrowed).ok_or(TreeFlaw::Syntax)
    }

    /// The nearest double, as ECMAScript reads it. `serde_json` is not always that exact.
    fn number(&mut self) -> Result<Node<'a>, TreeFlaw> {
        let part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let begin = self.at;
        self.at += self.rest().iter().take_while(part).count();
        let number = self.text.get(begin..self.at).and_then(|number| number.parse::<f64>().ok());
        match number {
            Some(number) if number.is_finite() => Ok(Node::Number(number)),
            Some(_) => Err(TreeFlaw::Number),
            None => Err(TreeFlaw::Syntax),
        }
    }

    fn word(&mut self, word: &str, node: Node<'a>) -> Result<Node<'a>, TreeFlaw> {
        match self.rest().starts_with(word.as_bytes()) {
            true => {
                self.at += word.len();
                Ok(node)
            }
            false => Err(TreeFlaw::Syntax),
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), TreeFlaw> {
        match self.peek()? == byte {
            true => {
                self.at += 1;
                Ok(())
            }
            false => Err(TreeFlaw::Syntax),
        }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Result<u8, TreeFlaw> {
        let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.rest().iter().take_while(space).count();
        self.rest().first().copied().ok_or(TreeFlaw::Syntax)
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}
