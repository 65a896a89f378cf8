use super::*;

/// Wants a text, a message with one in it, and a number.
#[derive(Debug, Default, PartialEq)]
struct Notes(Vec<u8>);

impl Reader for Notes {
    fn field(&mut self, scope: Scope, number: u32) -> Take {
        match number {
            1 => Take::Text(scope),
            2 => Take::Into(scope + 1),
            3 => Take::Number(0),
            _ => Take::Skip,
        }
    }

    fn number(&mut self, _: Slot, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, slot: Slot, piece: &[u8], _: bool, last: bool) -> Result<(), Malformed> {
        self.0.extend_from_slice(piece);
        self.0.extend(last.then_some(slot));
        Ok(())
    }

    fn leave(&mut self, scope: Scope) {
        self.0.push(scope);
    }
}

#[test]
fn a_walk_that_was_given_up_begins_anew() {
    let message = b"\x0a\x02ab\x12\x04\x0a\x02cd\x18\x05";
    let mut whole = Notes::default();
    walk_whole(message, &mut whole).unwrap();
    // Within a group, a message, a text, a number, a tag.
    for begun in [&b"\x7b\x08"[..], b"\x12\x20\x0a", b"\x12\x20\x0a\x10abc", b"\x18\x80", b"\x80"] {
        let mut walk = Walk::new(100);
        walk.feed(begun, &mut Notes::default()).unwrap();
        let mut again = Notes::default();
        walk.begin(message.len() as u32);
        assert_eq!(walk.feed(message, &mut again).and_then(|()| walk.finish(&mut again)), Ok(()), "{begun:?}");
        assert_eq!(again, whole, "{begun:?}");
    }
}

#[test]
fn a_message_is_over_when_all_of_it_came() {
    let message = b"\x0a\x03abc\x12\x07\x0a\x01d\x12\x02\x0a\x00\x18\x96\x01\x22\x00\x25\x01\x02\x03\x04\x12\x00";
    let mut whole = Notes::default();
    walk_whole(message, &mut whole).unwrap();
    for cut in 0..=message.len() {
        let (one, two) = message.split_at(cut);
        let mut notes = Notes::default();
        let mut walk = Walk::new(message.len() as u32);
        walk.feed(one, &mut notes).unwrap();
        if !two.is_empty() {
            assert_eq!(walk.clone().finish(&mut Notes::default()), Err(CUT), "{cut}");
        }
        walk.feed(two, &mut notes).unwrap();
        assert_eq!((walk.finish(&mut notes), &notes), (Ok(()), &whole), "{cut}");
    }
}
