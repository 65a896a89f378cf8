use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::scan::WORTH_SKIMMING;
use super::*;

/// Is interested in everything, and notes it all.
#[derive(Debug, Default, PartialEq)]
struct Recorder(Vec<String>);

impl JsonVisitor for Recorder {
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot {
        self.0.push(format!("{} {}", scope.0, String::from_utf8_lossy(key)));
        Slot(2)
    }

    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope {
        self.0.push(format!("{} {kind:?}", slot.0));
        Scope(1)
    }

    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], cut: bool) {
        let text = String::from_utf8_lossy(text);
        self.0.push(format!("{} {kind:?} {text} {cut}", slot.0));
    }
}

type Reading = (Recorder, Result<(), JsonFlaw>);

/// Is interested in nothing, so that nearly all is skimmed.
struct Deaf;

impl JsonVisitor for Deaf {
    fn key(&mut self, _: Scope, _: &[u8]) -> Slot {
        unreachable!("no scope was given")
    }

    fn begin(&mut self, slot: Slot, _: JsonKind) -> Scope {
        assert_eq!(slot, Slot::ROOT);
        Scope::SKIPPED
    }

    fn scalar(&mut self, slot: Slot, _: JsonKind, _: &[u8], _: bool) {
        assert_eq!(slot, Slot::ROOT);
    }
}

/// Is interested in members whose names begin with `x`, and notes those.
#[derive(Debug, Default, PartialEq)]
struct Choosy(Recorder);

impl JsonVisitor for Choosy {
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot {
        if key.starts_with(b"x") { self.0.key(scope, key) } else { Slot::IGNORED }
    }

    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope {
        self.0.begin(slot, kind)
    }

    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], cut: bool) {
        self.0.scalar(slot, kind, text, cut);
    }
}

fn chosen<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Choosy, Result<(), JsonFlaw>) {
    let mut scanner = JsonScanner::new();
    let mut choosy = Choosy::default();
    for piece in pieces {
        let _ = scanner.feed(piece, &mut choosy);
    }
    let result = scanner.finish(&mut choosy);
    (choosy, result)
}

fn skimmed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<(), JsonFlaw> {
    let mut scanner = JsonScanner::new();
    for piece in pieces {
        let _ = scanner.feed(piece, &mut Deaf);
    }
    scanner.finish(&mut Deaf)
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Reading {
    let mut scanner = JsonScanner::new();
    let mut recorder = Recorder::default();
    for piece in pieces {
        let _ = scanner.feed(piece, &mut recorder);
    }
    let result = scanner.finish(&mut recorder);
    let told = recorder.0.len();
    assert_eq!((scanner.finish(&mut recorder), recorder.0.len()), (result, told), "asked again");
    (recorder, result)
}

fn verdict(text: &[u8]) -> Result<(), JsonFlaw> {
    read([text]).1
}

/// Reads whole, byte by byte, and in two pieces at every place: all must agree.
fn read_in_every_cut(text: &[u8]) -> Reading {
    let whole = read([text]);
    assert_eq!(whole, read(text.chunks(1)));
    assert_eq!(whole.1, skimmed([text]));
    for place in 0..=text.len() {
        let (one, two) = text.split_at(place);
        assert_eq!(whole, read([one, two]), "cut at {place}");
        assert_eq!(whole.1, skimmed([one, two]), "cut at {place}");
    }
    whole
}

#[test]
fn documents_and_flaws() {
    use JsonFlaw::{Control, Depth, Empty, Escape, Number, Syntax, Trailing, Unfinished, Utf8};
    let cases: &[(&[u8], Result<(), JsonFlaw>)] = &[
        (b"{}", Ok(())),
        (b" [ ] \r\n\t", Ok(())),
        (b"0", Ok(())),
        (b"-0.0e-0", Ok(())),
        (b"1E400", Ok(())),
        (b"\"\"", Ok(())),
        (b"null", Ok(())),
        (b"[true,false,null,1,\"x\",{},[]]", Ok(())),
        (b"[\"a\",\"b\",\"c\" ,\"d\"]", Ok(())),
        (b"{\"a\":\"b\",\"c\":\"d\" ,\"e\": \"f\",\"g\" :[\"h\",\"i\"],\"j\":{\"k\":\"l\"}}", Ok(())),
        ("{\"é\":\"\u{2028}\u{10ffff}\"}".as_bytes(), Ok(())),
        (br#""\ud800 \udc00 \uD83D\uDE00 \" \\ \/ \b\f\n\r\t""#, Ok(())),
        // Where a quote, a colon and a comma would be if all of their bits were turned.
        (b"[\"a\xdd\xd3\xdd", Err(Utf8)),
        (b"[{\"a\":\"b\xdd\xd3\xdd", Err(Utf8)),
        (b"[{\"a\xdd\xc5\xdd", Err(Utf8)),
        (b"", Err(Empty)),
        (b" \n", Err(Empty)),
        (b"{", Err(Unfinished)),
        (b"{\"a\"", Err(Unfinished)),
        (b"[1,", Err(Unfinished)),
        (b"\"ab", Err(Unfinished)),
        (b"\"\xc3", Err(Unfinished)),
        (b"nul", Err(Unfinished)),
        (b"[1", Err(Unfinished)),
        (b"-", Err(Number)),
        (b"1.", Err(Number)),
        (b"1e", Err(Number)),
        (b"01", Err(Number)),
        (b"1.2.3", Err(Number)),
        (b"1-2", Err(Number)),
        (b"[-]", Err(Number)),
        (b"[-,1]", Err(Number)),
        (b"[1.]", Err(Number)),
        (b"[1.,2]", Err(Number)),
        (b"{\"a\":0.}", Err(Number)),
        (b"[1.e1]", Err(Number)),
        (b"[1e+]", Err(Number)),
        (b"[01,2]", Err(Number)),
        (b"[-01]", Err(Number)),
        (b"[1.5,-0.5,0,10.25,1e1,-1E-1]", Ok(())),
        (b"[1,]", Err(Syntax)),
        (b"[,1]", Err(Syntax)),
        (b"{,}", Err(Syntax)),
        (b"{\"a\":1,}", Err(Syntax)),
        (b"{\"a\" 1}", Err(Syntax)),
        (b"{a:1}", Err(Syntax)),
        (b"{1:1}", Err(Syntax)),
        (b"[1}", Err(Syntax)),
        (b"[}", Err(Syntax)),
        (b"{]", Err(Syntax)),
        (b"[:1]", Err(Syntax)),
        (b"{:1}", Err(Syntax)),
        (b"{\"a\":1,:2}", Err(Syntax)),
        (b"{\"a\":1,}", Err(Syntax)),
        (b"{\"a\"}", Err(Syntax)),
        (b"{\"a\",1}", Err(Syntax)),
        (b"[\"a\":\"b\"]", Err(Syntax)),
        (b"[\"a\",\"b\":1]", Err(Syntax)),
        (b"{\"a\":\"b\",\"c\"}", Err(Syntax)),
        (b"{\"a\",\"b\"}", Err(Syntax)),
        (b"{\"a\":1]", Err(Syntax)),
        (b"[1 2]", Err(Syntax)),
        (b"]", Err(Syntax)),
        (b"+1", Err(Syntax)),
        (b"nulL", Err(Syntax)),
        (b"NaN", Err(Syntax)),
        (b"'a'", Err(Syntax)),
        (b"\xef\xbb\xbf{}", Err(Syntax)),
        (b"\"a\nb\"", Err(Control)),
        (b"\"\\x\"", Err(Escape)),
        (b"\"\\u12g4\"", Err(Escape)),
        (b"\"\xff\"", Err(Utf8)),
        (b"\"\xc0\x80\"", Err(Utf8)),
        (b"\"\xed\xa0\x80\"", Err(Utf8)),
        (b"\"\xe2\x82\"", Err(Utf8)),
        (b"\"\xe2\x82\\n\"", Err(Utf8)),
        (b"{}{}", Err(Trailing)),
        (b"{} x", Err(Trailing)),
        (b"1 2", Err(Trailing)),
        (&[b'['; 257], Err(Depth)),
    ];
    for (text, expected) in cases {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(read_in_every_cut(text).1, *expected, "{shown}");
        // And as a part of others, told and not.
        for (before, behind) in [("[", "]"), ("[[0,", "]]"), ("[{\"a\":", "}]"), ("{\"a\":{\"b\":\"\",\"c\":", "}}")] {
            let text = [before.as_bytes(), text, behind.as_bytes()].concat();
            let shown = String::from_utf8_lossy(&text);
            assert_eq!(read_in_every_cut(&text).1.is_ok(), is_json(&text), "{shown}");
        }
    }
}

#[test]
fn what_is_skimmed_goes_on_behind_a_cut() {
    let records = r#"{"id": 1204, "at":[-0.5e3,[],{}, {"t":"no\u00e9","n":[true,[null,{"k":"v"}]]}],"name":"a b c"}"#;
    let all = [records; 4].join(",");
    let text = format!(r#"{{"x1":{{"records":[{all}],"x2":"two","x3":[{records}]}},"z":[[{all}]],"x4":5}}"#);
    let whole = chosen([text.as_bytes()]);
    assert_eq!(whole.1, Ok(()));
    assert_eq!(whole.0.0.0.last().unwrap(), "2 Number 5 false");
    for place in 0..=text.len() {
        let (one, two) = text.as_bytes().split_at(place);
        assert_eq!(whole, chosen([one, two]), "cut at {place}");
        assert_eq!(Ok(()), skimmed([one, two]), "cut at {place}");
    }
    for size in 1..=text.len() {
        assert_eq!(whole, chosen(text.as_bytes().chunks(size)), "in pieces of {size}");
    }

    let mut damaged = text.into_bytes();
    for place in 0..damaged.len() {
        let was = damaged[place];
        for byte in *b"\"\\{}[],:0- " {
            damaged[place] = byte;
            let whole = chosen([&damaged[..]]);
            assert_eq!(whole.1.is_ok(), is_json(&damaged), "{byte} at {place}");
            for size in [WORTH_SKIMMING, 97, 331] {
                assert_eq!(whole, chosen(damaged.chunks(size)), "{byte} at {place}, in pieces of {size}");
            }
        }
        damaged[place] = was;
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let mut text = b"{\"a\":".repeat(depth);
        text.extend_from_slice(b"0");
        text.extend_from_slice(&b"}".repeat(depth));
        text
    };
    assert_eq!(verdict(&nested(JsonScanner::MAX_DEPTH)), Ok(()));
    assert_eq!(verdict(&nested(JsonScanner::MAX_DEPTH + 1)), Err(JsonFlaw::Depth));
    assert_eq!(verdict(&b"[".repeat(100_000)), Err(JsonFlaw::Depth));
    for depth in [1, 62, 63, 64, 125, 193, 194, 195, 255, 256, 257] {
        let pairs = depth / 2;
        let mixed = ["[0,{\"a\":".repeat(pairs), "1".into(), "}]".repeat(pairs)].concat();
        let expected = if pairs > 128 { Err(JsonFlaw::Depth) } else { Ok(()) };
        assert_eq!(skimmed([mixed.as_bytes()]), expected, "{depth}");
        for size in [11, 100, 257] {
            assert_eq!(skimmed(mixed.as_bytes().chunks(size)), expected, "{depth}, {size}");
        }
        let whole = nested(depth);
        let expected = if depth > 256 { Err(JsonFlaw::Depth) } else { Ok(()) };
        assert_eq!(skimmed([&whole[..]]), expected, "{depth}");
        for size in [7, 64, 150, 321] {
            assert_eq!(skimmed(whole.chunks(size)), expected, "{depth}, {size}");
        }
        let cut = &whole[..whole.len() - 1];
        assert!(skimmed([cut]).is_err(), "{depth}");
    }
}

#[test]
fn keys_and_strings_come_unescaped() {
    let (told, result) = read_in_every_cut(
        br#"{"\u0074ask":"a\u00e9\ud83d\ude00\ud83d-\udc00\ud83d\ud83d\ude00","n":-1.50e+3,"t":true}"#,
    );
    assert_eq!(result, Ok(()));
    assert_eq!(
        told.0,
        [
            "255 Object",
            "1 task",
            "2 String aé😀\u{fffd}-\u{fffd}\u{fffd}😀 false",
            "1 n",
            "2 Number -1.50e+3 false",
            "1 t",
            "2 Bool true false",
        ]
    );
}

#[test]
fn long_text_is_cut_the_same_way_in_every_cut() {
    for text in [
        "x".repeat(SmallText::MAX + 5),
        "é".repeat(SmallText::MAX),
        "x".repeat(SmallText::MAX),
        format!("{}\\n{}", "x".repeat(700), "y".repeat(700)),
    ] {
        let json = format!("{{\"k\":\"{text}\"}}");
        let whole = read([json.as_bytes()]);
        assert_eq!(whole.1, Ok(()));
        assert_eq!(whole, read(json.as_bytes().chunks(1)));
        assert_eq!(whole, read(json.as_bytes().chunks(100)));
        let is_cut = text.len() > SmallText::MAX;
        assert!(whole.0.0[2].ends_with(&format!(" {is_cut}")));
    }
    // A key that nobody can be waiting for is not asked about.
    let json = format!("{{\"{}\":1,\"a\":2}}", "k".repeat(KEY_MAX + 1));
    let (told, _) = read_in_every_cut(json.as_bytes());
    assert_eq!(told.0, ["255 Object", "1 a", "2 Number 2 false"]);
    let key = "k".repeat(KEY_MAX);
    let (told, _) = read_in_every_cut(format!("{{\"{key}\":1}}").as_bytes());
    assert_eq!(told.0, ["255 Object", &format!("1 {key}"), "2 Number 1 false"]);
}

#[test]
fn nothing_is_told_of_what_is_skipped() {
    struct Picky(Vec<String>);
    impl JsonVisitor for Picky {
        fn key(&mut self, _: Scope, key: &[u8]) -> Slot {
            self.0.push(String::from_utf8_lossy(key).into_owned());
            Slot(u8::from(key == b"in"))
        }
        fn begin(&mut self, _: Slot, _: JsonKind) -> Scope {
            Scope(1)
        }
        fn scalar(&mut self, _: Slot, _: JsonKind, text: &[u8], _: bool) {
            self.0.push(String::from_utf8_lossy(text).into_owned());
        }
    }
    let json = br#"{"out":{"in":1,"x":[{"in":2}]},"in":{"y":3,"in":4},"in":[{"in":5}],"z":[]}"#;
    for size in 1..json.len() {
        let mut picky = Picky(Vec::new());
        let mut scanner = JsonScanner::new();
        for piece in json.chunks(size) {
            scanner.feed(piece, &mut picky).unwrap();
        }
        scanner.finish(&mut picky).unwrap();
        assert_eq!(picky.0, ["out", "in", "y", "in", "4", "in", "z"]);
    }
}

#[test]
fn each_flaw_has_words_of_its_own() {
    use JsonFlaw::{Control, Depth, Empty, Escape, Number, Syntax, Trailing, Unfinished, Utf8};
    let all = [Control, Depth, Empty, Escape, Number, Syntax, Trailing, Unfinished, Utf8];
    let words: std::collections::BTreeSet<_> = all.iter().map(|flaw| flaw.as_str()).collect();
    assert_eq!(words.len(), all.len());
    assert!(words.iter().all(|words| words.contains("JSON")));
}

#[test]
fn the_beginning_of_a_document_is_unfinished_until_its_end_or_a_flaw() {
    for (text, expected) in [
        ("", false),
        (" \n", false),
        ("[", true),
        ("{", true),
        ("[1", true),
        ("[1,", true),
        ("{\"a\"", true),
        ("{\"a\":", true),
        ("\"a", true),
        ("nul", true),
        ("{}", false),
        ("\"a\"", false),
        ("]", false),
        ("[}", false),
    ] {
        let mut scanner = JsonScanner::new();
        let _ = scanner.feed(text.as_bytes(), &mut Deaf);
        assert_eq!(scanner.is_unfinished(), expected, "{text}");
    }
}

#[test]
fn only_a_string_that_nobody_wants_is_ignored() {
    fn ignores(begun: &str, visitor: &mut impl JsonVisitor) -> bool {
        let mut scanner = JsonScanner::new();
        let _ = scanner.feed(begun.as_bytes(), visitor);
        scanner.slot_here() == Some(Slot::IGNORED)
    }
    for begun in ["[\"", "[\"te", "{\"k\":\"", "{\"k\":[{\"te\":[0,\""] {
        assert!(ignores(begun, &mut Deaf), "{begun}");
    }
    for begun in ["", "[", "[\"te\\", "[\"te\\u00", "[1", "[\"text\"", "]\"te", "{\"te", "{\"", "[\"a\u{1}\",\""] {
        assert!(!ignores(begun, &mut Deaf), "{begun}");
    }
    assert!(!ignores("{\"k\":\"te", &mut Recorder::default()));
}

#[test]
fn a_string_ends_where_its_quote_is() {
    for (text, end) in
        [("xt\"]", Some(3)), ("\\\" \u{e9}\",", Some(6)), ("xt", None), ("", None), ("x\nt\"", None), ("\\x\"", None)]
    {
        assert_eq!(end_of_string(text.as_bytes(), 0), end, "{text}");
    }
    assert_eq!(end_of_string(b"\xff\"", 0), None);
}

#[test]
fn a_flaw_stays_until_the_reset() {
    let mut scanner = JsonScanner::new();
    let mut recorder = Recorder::default();
    assert_eq!(scanner.feed(b"]", &mut recorder), Err(JsonFlaw::Syntax));
    assert_eq!(scanner.feed(b"{}", &mut recorder), Err(JsonFlaw::Syntax));
    assert_eq!(scanner.finish(&mut recorder), Err(JsonFlaw::Syntax));
    scanner.reset();
    assert_eq!(scanner.feed(b"{}", &mut recorder), Ok(()));
    assert_eq!(scanner.finish(&mut recorder), Ok(()));
}

/// What is JSON by another reader. It takes any depth, lone surrogates and numbers out of range as this one does, but
/// does not look at UTF-8 in strings.
fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok() && std::str::from_utf8(text).is_ok()
}

fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| serde_json::Value::from(number).to_string()),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
        "[a-zé\u{2028}😀]{0,40}".prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        let member = ("[a-z]{0,20}|\\PC{0,9}", inner.clone())
            .prop_map(|(key, value)| format!("{}: {value}", serde_json::Value::from(key)));
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec(member, 0..6).prop_map(|list| format!("{{{}}}", list.join(" ,\n"))),
        ]
    })
}

fn json_like() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\n", "d8", "00", "\"a\"", "\"b\":", "1", "0", "-", ".", "e",
        "+", "true", "null", "fals", " ", "\n", "é", "\u{1}", "{\"k\":", "[1,",
    ]);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat().into_bytes())
}

fn cut(text: &[u8], places: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<_> = places.iter().map(|place| place.index(text.len() + 1)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| text[pair[0]..pair[1]].to_vec()).collect()
}

proptest! {
    #[test]
    fn valid_documents_are_valid_in_any_cut(text in document(), places: [prop::sample::Index; 4]) {
        let whole = read([text.as_bytes()]);
        prop_assert_eq!(&whole.1, &Ok(()));
        let pieces = cut(text.as_bytes(), &places);
        prop_assert_eq!(whole.1, skimmed(pieces.iter().map(Vec::as_slice)));
        prop_assert_eq!(whole, read(pieces.iter().map(Vec::as_slice)));
    }

    #[test]
    fn damaged_documents_are_judged_as_by_another_reader(
        text in document(), at: prop::sample::Index, byte: u8, places: [prop::sample::Index; 3],
    ) {
        let mut text = text.into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        let whole = read([&text[..]]);
        prop_assert_eq!(whole.1.is_ok(), is_json(&text), "{:?}", whole.1);
        prop_assert_eq!(whole.1, skimmed([&text[..]]));
        let pieces = cut(&text, &places);
        prop_assert_eq!(chosen([&text[..]]), chosen(pieces.iter().map(Vec::as_slice)));
        prop_assert_eq!(whole.1, skimmed(pieces.iter().map(Vec::as_slice)));
        prop_assert_eq!(whole, read(pieces.iter().map(Vec::as_slice)));
    }

    #[test]
    fn heaps_of_tokens_are_judged_as_by_another_reader(text in json_like()) {
        let whole = read([&text[..]]);
        prop_assert_eq!(whole.1.is_ok(), is_json(&text), "{:?}", whole.1);
        prop_assert_eq!(whole.1, skimmed([&text[..]]));
        prop_assert_eq!(whole, read(text.chunks(1)));
    }

    #[test]
    fn any_bytes_are_judged_as_by_another_reader(text: Vec<u8>) {
        let whole = read([&text[..]]);
        prop_assert_eq!(whole.1.is_ok(), is_json(&text));
        prop_assert_eq!(whole, read(text.chunks(3)));
    }

    #[test]
    fn members_are_told_with_their_values(members: std::collections::BTreeMap<String, String>) {
        let json = serde_json::to_string(&members).unwrap();
        let (told, result) = read([json.as_bytes()]);
        prop_assert_eq!(result, Ok(()));
        let expected = members
            .iter()
            .filter(|(key, _)| key.len() <= KEY_MAX)
            .flat_map(|(key, value)| [format!("1 {key}"), format!("2 String {value} false")]);
        prop_assert_eq!(told.0[1..].to_vec(), expected.collect::<Vec<_>>());
    }
}
