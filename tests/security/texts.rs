//! Texts that do harm where people read them, and how to tell that they do none.

/// Line breaks, terminal escapes, other reading orders, invisible letters, and what ends quotes.
pub(crate) const HARMFUL: [(&str, char); 22] = [
    ("a line feed", '\n'),
    ("a carriage return", '\r'),
    ("a terminal's escape", '\u{1b}'),
    ("the same in one character", '\u{9b}'),
    ("a next line", '\u{85}'),
    ("a delete", '\u{7f}'),
    ("a null", '\0'),
    ("a line separator", '\u{2028}'),
    ("a paragraph separator", '\u{2029}'),
    ("an override of the direction", '\u{202e}'),
    ("an isolate of the direction", '\u{2067}'),
    ("an Arabic letter mark", '\u{61c}'),
    ("a zero-width space", '\u{200b}'),
    ("a byte order mark", '\u{feff}'),
    ("an annotation", '\u{fff9}'),
    ("a soft hyphen", '\u{ad}'),
    ("a grapheme joiner", '\u{34f}'),
    ("a filler", '\u{3164}'),
    ("a Mongolian vowel separator", '\u{180e}'),
    ("a letter of tags, which only machines read", '\u{e0041}'),
    ("a selector of variants, in which bytes can hide", '\u{e0101}'),
    ("a musical control", '\u{1d173}'),
];

/// One text with all of them, the beginning of a forged line, and a long tail.
pub(crate) fn hostile() -> String {
    let harm: String = HARMFUL.iter().map(|(_, character)| *character).collect();
    format!("x{harm}ERROR forged\"'\\{}", "y".repeat(5000))
}

/// The same in JSON, with its quotes.
pub(crate) fn hostile_json() -> String {
    serde_json::Value::from(hostile()).to_string()
}

/// One line, in the order in which it is written, of a length that a log can bear.
#[track_caller]
pub(crate) fn assert_harmless(what: &str, text: &str, longest: usize) {
    for (name, character) in HARMFUL {
        assert!(!text.contains(character), "{what}: {name} in {text:?}");
    }
    assert!(text.len() <= longest, "{what}: {} bytes: {}…", text.len(), text.chars().take(200).collect::<String>());
}
