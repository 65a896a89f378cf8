//! Text that came from a peer: kept bounded, printed escaped.

#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Write as _};

/// Bytes that a [`SmallText`] keeps without a heap allocation. A UUID has 36; with this many a text takes 64 bytes in
/// all.
const INLINE: usize = 53;

/// Text out of a peer's bytes, cut to [`SmallText::MAX`] bytes.
///
/// Ids and names of ordinary length live inline, so that judging an event allocates nothing.
pub struct SmallText {
    inline: [u8; INLINE],
    truncated: bool,
    len: u16,
    /// Holds the whole text where it is longer than `inline`. Kept for the next one.
    spilled: Option<Box<[u8; SmallText::MAX]>>,
}

impl SmallText {
    /// The most bytes that are kept of one text.
    pub const MAX: usize = 1024;

    /// The text, without a character that the cut went through.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.as_bytes();
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default()
            }
        }
    }

    /// The bytes kept. They may end inside a character if [`is_truncated`](Self::is_truncated).
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let len = usize::from(self.len);
        let place = match &self.spilled {
            Some(spilled) if len > INLINE => &spilled[..],
            _ => &self.inline[..],
        };
        place.get(..len).unwrap_or_default()
    }

    /// True if there is no text, or an empty one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if the peer's text is longer than what is kept, or did not come whole.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.truncated = false;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let held = usize::from(self.len);
        let kept = match bytes.get(..Self::MAX - held) {
            Some(kept) => {
                self.truncated |= kept.len() < bytes.len();
                kept
            }
            None => bytes,
        };
        let end = held + kept.len();
        let place = if end <= INLINE { &mut self.inline[..] } else { self.spill() };
        if let Some(free) = place.get_mut(held..end) {
            free.copy_from_slice(kept);
        }
        self.len = end as u16;
    }

    /// A part of a text that comes in several. Until its `last` one the text is one that was cut: who reads it
    /// meanwhile must not take the beginning of an id for the whole. Behind the first part none is empty.
    pub(crate) fn push_part(&mut self, bytes: &[u8], last: bool) {
        let held = usize::from(self.len);
        self.push(bytes);
        self.truncated = !last || held + bytes.len() > Self::MAX;
    }

    /// The place for a long text, with what is held so far in it.
    #[cold]
    fn spill(&mut self) -> &mut [u8] {
        let Self { inline, len, spilled, .. } = self;
        let spilled = spilled.get_or_insert_with(|| Box::new([0; Self::MAX]));
        if usize::from(*len) <= INLINE
            && let Some(start) = spilled.first_chunk_mut()
        {
            *start = *inline;
        }
        &mut spilled[..]
    }

    /// True if this is the whole text, and it is short.
    #[inline(always)]
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        usize::from(self.len) == bytes.len() && !self.truncated && self.inline.get(..bytes.len()) == Some(bytes)
    }

    /// Replaces the text, if the new one is short. False if it is not.
    #[inline(always)]
    pub(crate) fn set_short(&mut self, bytes: &[u8]) -> bool {
        let Some(place) = self.inline.get_mut(..bytes.len()) else { return false };
        place.copy_from_slice(bytes);
        self.truncated = false;
        // No longer than the place.
        self.len = bytes.len() as u16;
        true
    }

    /// Replaces the text. `cut` says that the caller already shortened it.
    pub(crate) fn set(&mut self, bytes: &[u8], cut: bool) {
        self.clear();
        self.push(bytes);
        self.truncated |= cut;
    }
}

impl Default for SmallText {
    #[inline]
    fn default() -> Self {
        Self { inline: [0; INLINE], truncated: false, len: 0, spilled: None }
    }
}

impl Clone for SmallText {
    fn clone(&self) -> Self {
        let mut text = Self::default();
        text.clone_from(self);
        text
    }

    /// Keeps the memory at hand.
    fn clone_from(&mut self, source: &Self) {
        self.inline = source.inline;
        self.truncated = source.truncated;
        self.len = source.len;
        if usize::from(source.len) > INLINE {
            self.len = 0;
            self.push(source.as_bytes());
        }
    }
}

impl PartialEq for SmallText {
    fn eq(&self, other: &Self) -> bool {
        self.truncated == other.truncated && self.as_bytes() == other.as_bytes()
    }
}

impl Eq for SmallText {}

impl fmt::Debug for SmallText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Display for SmallText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.as_str(), Self::MAX).fmt(f)
    }
}

/// Prints a peer's text so that it can neither break a log line nor reorder it: control characters, quotes,
/// backslashes, line separators, bidirectional controls and letters that nobody sees (tags and selectors of variants,
/// in which machines read what people do not) come out escaped, and behind `max` characters stands an ellipsis.
pub fn escape(text: &str, max: usize) -> impl Display {
    Escaped { text, max }
}

struct Escaped<'a> {
    text: &'a str,
    max: usize,
}

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, character) in self.text.chars().enumerate() {
            if count == self.max {
                return f.write_char('…');
            }
            if is_harmful(character) {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '"' | '\''
                | '\\'
                | '\u{00ad}'
                | '\u{034f}'
                | '\u{061c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                // Not U+FE0F, which makes an emoji of a character.
                | '\u{fe00}'..='\u{fe0e}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
