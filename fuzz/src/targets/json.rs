use a2a_guard::wire::{
    SmallText,
    json::{JsonFlaw, JsonKind, JsonScanner, JsonVisitor, Scope, Slot},
};

use crate::{
    cut::cuts,
    input::Input,
    oracle::tree::{self, Kind, Members, Raw},
};

/// So deep can interest reach.
const INTEREST: usize = 8;
/// The longest key that is told.
const KEY_MAX: usize = 128;

/// The scanner, against serde_json: what is JSON, and what stands in it.
pub fn json(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let seed = input.word();
    let document = input.rest();
    let is_json = tree::is_json(document);
    let too_deep = is_json && tree::depth(document) > JsonScanner::MAX_DEPTH;

    let mut reused = JsonScanner::new();
    let mut whole = None;
    for pieces in cuts(document, seed) {
        let mut told = Told::default();
        let read = read(&mut JsonScanner::new(), &pieces, &mut told);
        match read {
            Ok(()) => assert!(is_json && !too_deep, "taken for JSON"),
            Err(JsonFlaw::Depth) => assert!(!is_json || too_deep, "taken for deep"),
            Err(flaw) => assert!(!is_json, "JSON that is {}", flaw.as_str()),
        }
        if read.is_ok() {
            let mut expected = Told::default();
            expected.value(Slot::ROOT, tree::root(document).expect("JSON"), 0);
            assert_eq!(told.0, expected.0);
        }
        let (first, first_told) = whole.get_or_insert_with(|| (read, told.0.clone()));
        assert_eq!((*first, &*first_told), (read, &told.0), "read otherwise in another cut");
        // One that was used before is as good as new.
        reused.reset();
        let mut again = Told::default();
        assert_eq!(self::read(&mut reused, &pieces, &mut again), read);
        assert_eq!(again.0, told.0);
    }
}

fn read(scanner: &mut JsonScanner, pieces: &[&[u8]], told: &mut Told) -> Result<(), JsonFlaw> {
    let mut flaw = None;
    for piece in pieces {
        let fed = scanner.feed(piece, told);
        match flaw {
            None => flaw = fed.err(),
            Some(flaw) => assert_eq!(fed, Err(flaw), "a flaw that went away"),
        }
    }
    let end = scanner.finish(told);
    if let Some(flaw) = flaw {
        assert_eq!(end, Err(flaw), "a flaw that went away");
    }
    end
}

/// Everything that was told, in order.
#[derive(Debug, Default, PartialEq)]
struct Told(Vec<String>);

/// Members of objects at this depth are asked about.
const fn scope(depth: usize) -> Scope {
    Scope(depth as u8 + 1)
}

impl JsonVisitor for Told {
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot {
        assert!(scope != Scope::SKIPPED && key.len() <= KEY_MAX);
        self.0.push(format!("{} {:?}", scope.0, String::from_utf8_lossy(key)));
        // Some are of no interest.
        if key.first() == Some(&b'_') { Slot::IGNORED } else { Slot(scope.0) }
    }

    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope {
        assert!(slot != Slot::IGNORED);
        self.0.push(format!("{} {kind:?}", slot.0));
        if slot == Slot::ROOT { scope(0) } else { Scope(slot.0 + 1) }
    }

    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], cut: bool) {
        assert!(slot != Slot::IGNORED && text.len() <= SmallText::MAX);
        assert!(!cut || text.len() == SmallText::MAX);
        self.0.push(format!("{} {kind:?} {:?} {cut}", slot.0, String::from_utf8_lossy(text)));
    }
}

impl Told {
    /// The same of a tree.
    fn value(&mut self, slot: Slot, value: Raw<'_>, depth: usize) {
        let kind = match tree::kind(value) {
            Kind::Object => JsonKind::Object,
            Kind::Array => JsonKind::Array,
            Kind::String => return self.text(slot, JsonKind::String, &tree::text(value).expect("a string")),
            Kind::Null => return self.text(slot, JsonKind::Null, value.get()),
            Kind::Bool => return self.text(slot, JsonKind::Bool, value.get()),
            Kind::Number => return self.text(slot, JsonKind::Number, value.get()),
        };
        let scope = self.begin(slot, kind);
        if kind == JsonKind::Array || depth == INTEREST {
            return;
        }
        for (key, value) in Members::of(value).0 {
            if key.len() > KEY_MAX {
                continue;
            }
            let slot = self.key(scope, key.as_bytes());
            if slot != Slot::IGNORED {
                self.value(slot, value, depth + 1);
            }
        }
    }

    fn text(&mut self, slot: Slot, kind: JsonKind, text: &str) {
        let bytes = text.as_bytes();
        let kept = bytes.get(..SmallText::MAX).unwrap_or(bytes);
        self.scalar(slot, kind, kept, kept.len() < bytes.len());
    }
}
