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
