//! Words of a text, so that two texts can be compared: whatever the script, the case, the accents.
//!
//! Letters and digits that follow each other are a word. Scripts that are written without spaces have no words that
//! could be told without a dictionary: there each two neighbours are one. Latin letters lose their accents, wide forms
//! their width; words that say nothing (English function words) are left out.

use std::{borrow::Cow, collections::HashSet};

/// At most so many bytes of one text are looked at.
const TEXT: usize = 16 << 10;
/// At most so many characters of one word.
const WORD: usize = 64;

const FUNCTION_WORDS: [&str; 36] = [
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "in", "into", "is", "it",
    "its", "me", "my", "of", "on", "or", "please", "that", "the", "their", "these", "this", "to", "us", "we", "with",
    "you", "your", "i",
];

/// The different words of a text, in the order in which they stand there: the first `max`.
pub(super) fn words(text: &str, max: usize) -> Vec<String> {
    let mut words =
        Words { found: Vec::new(), seen: HashSet::new(), word: String::new(), length: 0, before: None, max };
    for c in cut(text, TEXT).chars() {
        if words.found.len() >= max {
            return words.found;
        }
        words.read(c);
    }
    words.end();
    words.found
}

/// The same word is the same number, on each replica. It need not resist anybody: who wants to match a word can say it.
pub(super) fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The first bytes of a text, without a character that the cut would go through.
pub(super) fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Lower case and without accents, width and what is not seen, for tags. Most are written so already.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'!'..=b'~') && !byte.is_ascii_uppercase() && byte != b'\'') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    text.chars().map(narrow).filter(|c| !joins(*c) && !is_unseen(*c)).for_each(|c| fold(c, |c| out.push(c)));
    // Now, and not before: what is left out may have stood around a space.
    Cow::Owned(out.trim().to_owned())
}

struct Words {
    found: Vec<String>,
    seen: HashSet<u64>,
    word: String,
    length: usize,
    /// The last character, in a script without spaces.
    before: Option<char>,
    max: usize,
}

impl Words {
    fn read(&mut self, c: char) {
        let c = narrow(c);
        if has_no_spaces(c) {
            if self.before.is_none() {
                self.end();
            }
            if let Some(before) = self.before {
                self.word.clear();
                self.word.extend([before, c]);
                self.end_word();
                // Of a run of one alone, that one is the word.
                self.length = 2;
            } else {
                self.length = 1;
            }
            self.before = Some(c);
        } else if c.is_alphanumeric() {
            if self.before.is_some() {
                self.end();
            }
            if self.length < WORD {
                self.length += 1;
                fold(c, |c| self.word.push(c));
            }
        } else if !joins(c) {
            self.end();
        }
    }

    fn end(&mut self) {
        if let Some(alone) = self.before.take() {
            if self.length == 1 {
                self.word.push(alone);
                self.end_word();
            }
            self.length = 0;
            return;
        }
        self.length = 0;
        self.end_word();
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        if self.found.len() < self.max && !FUNCTION_WORDS.contains(&&*word) && self.seen.insert(hash(&word)) {
            self.found.push(word);
        }
    }
}

/// What stands in a word without being a letter: combining marks, joiners, apostrophes, viramas.
fn joins(c: char) -> bool {
    matches!(c, '\'' | '’' | '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{ad}')
        || (matches!(c, '\u{900}'..='\u{dff}') && !c.is_alphanumeric() && !matches!(c, '\u{964}' | '\u{965}'))
}

/// What takes no place where it is shown (Unicode's `Default_Ignorable_Code_Point`, and annotations), so that a text
/// with it looks like the one without.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Han, kana, Thai, Lao, Myanmar, Khmer.
fn has_no_spaces(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'
        | '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e80}'..='\u{ecd}'
        | '\u{1000}'..='\u{103f}' | '\u{1780}'..='\u{17d3}')
}

/// ASCII in place of its wide forms. First of all, for what a character is, its width does not tell.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    }
}

/// Of one that is narrow.
fn fold(c: char, mut push: impl FnMut(char)) {
    for c in c.to_lowercase() {
        match c {
            'à'..='å' | 'ā' | 'ă' | 'ą' => push('a'),
            'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => push('c'),
            'ď' | 'đ' => push('d'),
            'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => push('e'),
            'ĝ' | 'ğ' | 'ġ' | 'ģ' => push('g'),
            'ĥ' | 'ħ' => push('h'),
            'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => push('i'),
            'ĵ' => push('j'),
            'ķ' => push('k'),
            'ĺ' | 'ļ' | 'ľ' | 'ł' => push('l'),
            'ñ' | 'ń' | 'ņ' | 'ň' => push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => push('o'),
            'ŕ' | 'ŗ' | 'ř' => push('r'),
            'ś' | 'ŝ' | 'ş' | 'š' => push('s'),
            'ţ' | 'ť' | 'ŧ' => push('t'),
            'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => push('u'),
            'ŵ' => push('w'),
            'ý' | 'ÿ' | 'ŷ' => push('y'),
            'ź' | 'ż' | 'ž' => push('z'),
            'ß' => ['s', 's'].into_iter().for_each(&mut push),
            'æ' => ['a', 'e'].into_iter().for_each(&mut push),
            'œ' => ['o', 'e'].into_iter().for_each(&mut push),
            // What the lower case of İ brings along.
            '\u{300}'..='\u{36f}' => {}
            c => push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_any_script() {
        for (text, expected) in [
            ("Translate this, to German!", vec!["translate", "german"]),
            ("translate TRANSLATE Translate", vec!["translate"]),
            ("Übersetze die Straße", vec!["ubersetze", "die", "strasse"]),
            // The same, its accents apart from their letters.
            ("U\u{308}bersetze", vec!["ubersetze"]),
            ("don't l’eau", vec!["dont", "leau"]),
            ("ＰＤＦ２txt", vec!["pdf2txt"]),
            ("don＇t", vec!["dont"]),
            ("snake_case-and.dots/x", vec!["snake", "case", "dots", "x"]),
            ("翻訳する", vec!["翻訳", "訳す", "する"]),
            ("字", vec!["字"]),
            ("翻訳 PDF", vec!["翻訳", "pdf"]),
            ("PDF翻訳", vec!["pdf", "翻訳"]),
            ("हिन्दी।", vec!["हिनदी"]),
            ("Перевод ТЕКСТА", vec!["перевод", "текста"]),
            ("ΟΔΟΣ", vec!["οδοσ"]),
            ("", vec![]),
            ("… — !", vec![]),
        ] {
            assert_eq!(words(text, 100), expected, "{text}");
        }
    }

    #[test]
    fn how_much_is_looked_at_is_bounded() {
        let many: String = (0..1000).map(|n| format!("w{n} ")).collect();
        assert_eq!(words(&many, 7), ["w0", "w1", "w2", "w3", "w4", "w5", "w6"]);
        let long = "x".repeat(1 << 20);
        assert_eq!(words(&long, 9), ["x".repeat(WORD)]);
        assert!(words(&"文".repeat(1 << 20), usize::MAX).len() == 1);
    }

    #[test]
    fn tags_are_alike_whatever_their_case() {
        assert_eq!(folded(" Étiquette "), "etiquette");
        assert_eq!(folded("C++"), "c++");
        assert!(matches!(folded("c++"), Cow::Borrowed("c++")));
        assert_eq!(folded("don't"), "dont");
        assert_eq!(folded("two words "), "two words");
        assert_eq!(folded("' 0 '"), "0");
        assert_eq!(folded("ＤＯＮ＇Ｔ"), "dont");
        assert_eq!(folded("p\u{200b}a\u{2060}y\u{fe0f}\u{e0041}"), "pay");
        assert_eq!(folded("\u{feff} two\u{ad} \u{202e}words"), "two words");
    }

    #[test]
    fn folding_any_character_twice_changes_nothing() {
        for c in char::MIN..=char::MAX {
            let once = folded(&String::from_iter(['x', c, 'y'])).into_owned();
            assert_eq!(folded(&once), once, "{c:?}");
        }
    }

    proptest! {
        /// What is folded already is left as it is, and nothing else.
        #[test]
        fn folding_twice_changes_nothing(text in any::<String>()) {
            let once = folded(&text).into_owned();
            prop_assert_eq!(&folded(&once), &once);
            let mut slowly = String::new();
            let seen = text.chars().map(narrow).filter(|c| !joins(*c) && !is_unseen(*c));
            seen.for_each(|c| fold(c, |c| slowly.push(c)));
            prop_assert_eq!(once, slowly.trim());
        }

        #[test]
        fn no_text_is_too_strange(text in any::<String>(), max in 0_usize..20) {
            let first = words(&text, max);
            prop_assert!(first.len() <= max);
            let again: HashSet<_> = first.iter().collect();
            prop_assert_eq!(again.len(), first.len());
            prop_assert!(cut(&text, max).len() <= max);
        }

        /// Words are words: cutting a text at its spaces changes nothing.
        #[test]
        fn words_do_not_depend_on_what_stands_around(texts in proptest::collection::vec("[a-zé翻訳]{1,6}", 1..6)) {
            let mut apart: Vec<String> = Vec::new();
            for word in texts.iter().flat_map(|text| words(text, 100)) {
                if !apart.contains(&word) {
                    apart.push(word);
                }
            }
            prop_assert_eq!(words(&texts.join(" "), 100), apart);
        }
    }
}
