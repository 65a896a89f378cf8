//! Cards that were made to do harm.

use super::*;

#[test]
fn a_name_that_stands_twice_makes_a_card_nobodys() {
    for (from, to) in [
        (r#""version": "1""#, r#""version": "1", "version": "1""#),
        (r#""version": "1""#, r#""version": "1", "\u0076ersion": "2""#),
        (r#""streaming": true"#, r#""streaming": true, "streaming": false"#),
        (r#""tags": ["t"]"#, r#""tags": ["t"], "x": {"y": [{"z": 1, "z": 2}]}"#),
    ] {
        let card = signed(CARD).replacen(from, to, 1);
        let why = refusal(&card);
        assert!(why.ends_with("stands twice in one object: what was signed is anybody's guess"), "{why}");
    }
    let twice = signed(CARD).replacen('{', r#"{"signatures": [],"#, 1);
    assert!(refusal(twice).starts_with("signatures stands twice"));
}

#[test]
fn what_has_no_canonical_form_is_refused() {
    for (value, why) in [
        (r#""\ud800""#, "a text in it is no Unicode, and has no canonical form"),
        (r#"{"\udc00\ud800": 1}"#, "a text in it is no Unicode, and has no canonical form"),
        ("1e400", "a number in it is too large for a canonical form"),
        ("-1e999999999", "a number in it is too large for a canonical form"),
        ("01", "it is no JSON"),
        ("NaN", "it is no JSON"),
    ] {
        assert_eq!(refusal(signed(CARD).replacen('{', &format!(r#"{{"x":{value},"#), 1)), why, "{value}");
    }
    assert_eq!(refusal([b'{', 0xff, b'}']), "it is not UTF-8");
    assert_eq!(refusal("[]"), "it is no object");
    assert_eq!(refusal(""), "it is no JSON");
}

#[test]
fn depth_is_bounded() {
    let deep = |levels: usize| {
        let card = CARD.replacen('{', &format!(r#"{{"x": {}{},"#, "[".repeat(levels), "]".repeat(levels)), 1);
        with(&card, &["1".into()])
    };
    assert_eq!(refusal(deep(128)), "its signature does not count: it is no object");
    assert_eq!(refusal(deep(129)), "it nests too deep");
    assert_eq!(refusal(deep(1_000_000)), "it nests too deep");
    let objects = format!(r#"{{"x":{}1{}}}"#, r#"{"a":"#.repeat(200_000), "}".repeat(200_000));
    assert_eq!(refusal(objects), "it nests too deep");
}

#[test]
fn the_number_of_values_is_bounded() {
    let many = |count: usize| format!(r#"{{"x":[{}]}}"#, vec!["0"; count].join(","));
    assert_eq!(refusal(many(65_000)), "it carries no signature");
    assert_eq!(refusal(many(66_000)), "it holds too many values");
}

#[test]
fn a_form_that_grows_out_of_bounds_is_none() {
    let skills = vec!["{}"; 10_000].join(",");
    let card = format!(r#"{{"skills":[{skills}]}}"#);
    let why = refusal(with(&card, &[entry(HEADER, payload(&card))]));
    assert_eq!(why, "its signature does not count: key ed did not sign this content");
}

#[test]
fn so_many_signatures_are_tried_and_no_more() {
    let good = entry(HEADER, payload(CARD));
    let wrong = entry(HEADER, "{}");
    let stranger = entry(&HEADER.replace("\"ed\"", "\"x\""), "{}");
    let after = |entry: &String, count: usize| {
        let mut entries = vec![entry.clone(); count];
        entries.push(good.clone());
        word(&verifier(), with(CARD, &entries))
    };
    assert_eq!(after(&wrong, 7), Ok(()));
    let why = "none of its 9 signatures counts: key ed did not sign this content";
    assert_eq!(after(&wrong, 8).unwrap_err(), why);
    assert_eq!(after(&stranger, 63), Ok(()), "those by strangers cost nothing");
    assert_eq!(after(&stranger, 64).unwrap_err(), "none of its 65 signatures counts: too many to try");
}

/// Every prefix, and every byte replaced: refused, and no panic.
#[test]
fn no_cut_and_no_byte_passes() {
    let card = signed(CARD);
    let begin = card.find("\"signatures\"").unwrap();
    let verifier = verifier();
    for end in 0..card.len() {
        assert!(verifier.judge(&card.as_bytes()[..end]).is_err(), "{end}");
    }
    for at in 0..begin {
        for byte in [b'"', b'\\', b'{', b'0', b',', 0x80] {
            let mut bytes = card.clone().into_bytes();
            if bytes[at] == byte {
                continue;
            }
            bytes[at] = byte;
            assert!(verifier.judge(&bytes).is_err(), "{at}: {byte:#x}");
        }
    }
}

#[test]
fn messages_are_short_and_escaped() {
    let kid = format!("\u{202e}\n\"{}", "k".repeat(1000));
    let header = serde_json::json!({"alg": "EdDSA", "kid": kid}).to_string();
    let why = refusal(with(CARD, &[entry(&header, "{}")]));
    assert!(why.len() < 150 && !why.contains(['\n', '\u{202e}']), "{why}");
}
