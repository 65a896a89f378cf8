//! Text that came from a peer: kept bounded, printed escaped.

use std::fmt::{self, Display, Write as _};

/// Bytes that a [`SmallText`] keeps without a heap allocation. A UUID has 36; with this many a text takes 64 bytes in all.
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

    /// A part of a text that comes in several. Until its `last` one the text is one that was cut: who reads it meanwhile must
    /// not take the beginning of an id for the whole. Behind the first part none is empty.
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

/// Prints a peer's text so that it can neither break a log line nor reorder it: control characters, quotes, backslashes,
/// line separators, bidirectional controls and letters that nobody sees (tags and selectors of variants, in which machines
/// read what people do not) come out escaped, and behind `max` characters stands an ellipsis.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_inline_and_long_text_spills() {
        let mut text = SmallText::default();
        text.push(b"0123456789");
        assert_eq!(text.as_str(), "0123456789");
        assert!(text.spilled.is_none());
        text.push(&[b'x'; 60]);
        assert_eq!(text.as_str().len(), 70);
        assert!(text.as_str().starts_with("0123456789xx"));
        text.clear();
        assert!(text.is_empty());
        text.push("é".as_bytes());
        assert_eq!(text.as_str(), "é");
    }

    #[test]
    fn text_is_cut_at_its_maximum_and_never_inside_a_character() {
        let mut text = SmallText::default();
        text.push(b"a");
        text.push("é".repeat(600).as_bytes());
        assert!(text.is_truncated());
        assert_eq!(text.as_str().len(), 1023);
        text.push(b"b");
        assert_eq!(text.as_bytes().len(), SmallText::MAX);
    }

    #[test]
    fn a_text_in_parts_is_whole_with_its_last() {
        for (first, last, is_truncated) in [(1, 1, false), (1000, 24, false), (1000, 25, true), (24, 1001, true)] {
            let mut text = SmallText::default();
            text.push_part(&[b'x'; SmallText::MAX][..first], false);
            assert!(text.is_truncated(), "one that is to go on");
            text.push_part(&[b'x'; SmallText::MAX][..last], true);
            assert_eq!(text.is_truncated(), is_truncated, "{first}, {last}");
            assert_eq!(text.as_bytes().len(), (first + last).min(SmallText::MAX));
        }
        let mut text = SmallText::default();
        text.push_part(b"ab", true);
        assert!(!text.is_truncated());
    }

    #[test]
    fn a_short_text_is_compared_and_replaced_where_it_lies() {
        let mut text = SmallText::default();
        assert!(text.is(b"") && !text.is(b"a"));
        text.set(b"abc", true);
        assert!(!text.is(b"abc"), "it is the beginning of another");
        assert!(text.set_short(b"abcd"));
        assert!(!text.is_truncated() && text.is(b"abcd"));
        for other in [&b"abc"[..], b"abcde", b"abce", b""] {
            assert!(!text.is(other));
        }
        let long = [b'x'; INLINE + 1];
        assert!(!text.set_short(&long));
        assert_eq!(text.as_str(), "abcd");
        assert!(text.set_short(&long[1..]) && text.is(&long[1..]));
        text.set(&long, false);
        assert!(!text.is(&long[1..]) && !text.is(b"abcd"));
    }

    #[test]
    fn a_copy_is_the_same_text() {
        for length in [0, 1, INLINE - 1, INLINE, INLINE + 1, SmallText::MAX, SmallText::MAX + 1] {
            let bytes: Vec<u8> = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
            let mut text = SmallText::default();
            text.set(&bytes, false);
            let copy = text.clone();
            assert_eq!(copy.as_bytes(), &bytes[..length.min(SmallText::MAX)]);
            assert_eq!(copy.is_truncated(), length > SmallText::MAX);
        }
    }

    #[test]
    fn a_text_is_printed_without_what_harms() {
        let mut text = SmallText::default();
        text.set("a\nb\u{202e}".as_bytes(), false);
        assert_eq!(text.to_string(), "a\\nb\\u{202e}");
        assert_eq!(format!("{text:?}"), "\"a\\nb\\u{202e}\"");
    }

    #[test]
    fn equality_is_of_the_text() {
        let (mut one, mut two) = (SmallText::default(), SmallText::default());
        one.set(&[b'y'; 80], false);
        one.set(b"id", false);
        two.set(b"id", false);
        assert_eq!(one, two);
        two.set(b"id", true);
        assert_ne!(one, two);
    }

    #[test]
    fn escaping_keeps_one_line_in_reading_order() {
        assert_eq!(escape("a\nb\"c\\", 99).to_string(), "a\\nb\\\"c\\\\");
        assert_eq!(escape("x\u{202e}y\u{2028}", 99).to_string(), "x\\u{202e}y\\u{2028}");
        assert_eq!(escape("höflich", 3).to_string(), "höf…");
        assert_eq!(escape("abc", 3).to_string(), "abc");
        assert_eq!(escape("a\u{e0041}b\u{ad}", 99).to_string(), "a\\u{e0041}b\\u{ad}");
        assert_eq!(escape("日本語 ❤\u{fe0f} é ไทย", 99).to_string(), "日本語 ❤\u{fe0f} é ไทย");
    }
}
