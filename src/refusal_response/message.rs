//! What a rendered error says to people: one bounded line, no text of a peer's or a stranger's unescaped.

use std::fmt::Write as _;

use crate::{error::CallError, wire::text::escape};

/// At most so many bytes of a message.
const MAX: usize = 1000;
/// At most so many characters of a peer's text.
const PEER_TEXT: usize = 240;

/// What happened. Where it happened and to whom, and what a client or a resolver below said of it, is for the
/// operator's log alone: [`CallError`]'s own line has it.
pub(super) fn of(error: &CallError) -> String {
    let failure = error.failure();
    let mut text = String::new();
    if let Some(card) = failure.card.as_deref() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", card.for_callers());
        return bounded(text);
    }
    match error.peer_message().filter(|message| !message.is_empty()) {
        Some(message) => {
            let _ = write!(text, "{}", escape(message, PEER_TEXT));
        }
        None => text.push_str(failure.what),
    }
    if let Some(bound) = failure.bound {
        let _ = write!(text, " within {} ms", bound.as_millis());
    }
    if let Some(got) = failure.got.as_deref() {
        let _ = write!(text, " ({})", escape(got, PEER_TEXT));
    }
    if let Some(status) = failure.telling_status() {
        let _ = write!(text, ", HTTP {}", status.as_u16());
    }
    bounded(text)
}

fn bounded(mut text: String) -> String {
    if text.len() > MAX {
        let mut end = MAX;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_never_cut_within_a_character() {
        for before in 0..5 {
            for letters in [100, 249, 250, 251, 500] {
                let text = "x".repeat(before) + &"\u{1f980}".repeat(letters);
                let cut = bounded(text.clone());
                let whole = cut.strip_suffix('…').unwrap_or(&cut);
                assert!(text.starts_with(whole) && whole.len() <= MAX, "{text}");
                assert_eq!(whole.len() == text.len(), text.len() <= MAX, "{text}");
                assert_eq!(whole.len() == cut.len(), text.len() <= MAX, "{text}");
                assert!(whole.len() + 3 >= MAX.min(text.len()), "{text}");
            }
        }
    }
}
