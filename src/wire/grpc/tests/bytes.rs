//! Bytes that no encoder writes: all of them are passed over or refused, wherever they are cut.

use super::*;
use GrpcPayload::SendResult;

/// What a unary judge says of a message, in any cut.
fn of_bytes(bytes: &[u8]) -> GrpcEnd {
    let framed = framed(bytes);
    let whole = unary(expected(SendResult, V1), &framed, usize::MAX).0;
    for cut in 1..framed.len() {
        assert_eq!(unary(expected(SendResult, V1), &framed, cut).0, whole, "{cut}");
    }
    whole
}

/// Every reader passes over a group that it does not know, as over any other field.
#[test]
fn groups_are_passed_over() {
    let nested = |levels: usize| [vec![0x7b; levels], vec![0x7c; levels]].concat();
    let about_a_field = |levels: usize| [vec![0x7b; levels], vec![0x08, 1], vec![0x7c; levels]].concat();
    let of_all_types = b"\x7b\x08\xff\x01\x0a\x03abc\x0d1234\x0912345678\xa3\x06\xa4\x06\x7c";
    let (closed, cut) = ("the end of a group that did not begin", "a message that ends within a field");
    let deep = "messages nested too deep";
    // In the answer, in its task, and in the task's status.
    type Place = (usize, fn(&[u8]) -> Vec<u8>);
    let places: [Place; 3] = [
        (0, |group| Message::new().message(1, task(3)).as_bytes().iter().chain(group).copied().collect()),
        (1, |group| {
            let task: Vec<u8> = group.iter().chain(task(3).as_bytes()).copied().collect();
            Message::new().bytes(1, &task).as_bytes().to_vec()
        }),
        (2, |group| {
            let status: Vec<u8> = group.iter().chain(&[0x08, 3]).copied().collect();
            let task = Message::new().text(1, "task-1").bytes(3, &status);
            Message::new().message(1, task).as_bytes().to_vec()
        }),
    ];
    for (depth, place) in places {
        for group in [&b"\x7b\x7c"[..], of_all_types, &nested(100 - depth), &about_a_field(99 - depth)] {
            assert_eq!(of_bytes(&place(group)), GrpcEnd::Message, "{depth}: {group:?}");
        }
        for (group, why) in [
            (&b"\x7c"[..], closed),
            (b"\x7b\x84\x01", closed),
            (b"\x7b\xa3\x06\x7c", closed),
            (b"\x7b\x7e\x7c", "a wire type that there is not"),
            (b"\x7b\x03\x7c", "a field number out of range"),
            (&nested(101 - depth), deep),
            (&about_a_field(100 - depth), deep),
            (&[0x7b; 1_000_000], deep),
        ] {
            assert_eq!(of_some(&place(group)), malformed(why), "{depth}: {:?}", &group[..group.len().min(10)]);
        }
    }
    for open in [&b"\x7b"[..], b"\x7b\x08", b"\x7b\x08\x01", b"\x7b\xa3\x06\xa4\x06"] {
        assert_eq!(of_bytes(&places[0].1(open)), malformed(cut), "{open:?}");
    }
    // What looks like its end stands behind the end of the message that it is in.
    assert_eq!(of_bytes(b"\x0a\x02\x7b\x08\x01\x7c"), malformed(cut));
    // A message that is known to be none of a group.
    assert_eq!(of_bytes(b"\x0a\x03\x1b\x1c\x00"), malformed("a field of another type than its own"));
}

/// The same in a few cuts, for what is long.
fn of_some(bytes: &[u8]) -> GrpcEnd {
    let framed = framed(bytes);
    let whole = unary(expected(SendResult, V1), &framed, usize::MAX).0;
    for cut in [1, 2, 7, 1000] {
        assert_eq!(unary(expected(SendResult, V1), &framed, cut).0, whole, "{cut}");
    }
    whole
}

#[test]
fn hostile_bytes_are_refused() {
    let of = of_bytes;
    let past = malformed("a field that goes on behind the end of its message");
    let cut = malformed("a message that ends within a field");
    assert_eq!(of(b"\x0a\xff\xff\xff\xff\x0f"), past); // 4 GiB are announced
    assert_eq!(of(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), past); // 16 EiB
    assert_eq!(of(b"\x0a\x04\x0a\x05task1"), past); // longer than the message around it
    assert_eq!(of(b"\x0a\x02\x0d\x01\x02\x03\x04"), malformed("a field of another type than its own"));
    assert_eq!(of(b"\x0a\x02\x3d\x01\x02\x03\x04"), past); // four bytes where one is left
    assert_eq!(of(b"\x0a\x03\x3a\x7f"), past);
    assert_eq!(of(b"\x0a"), cut);
    assert_eq!(of(b"\x80\x80"), cut);
    assert_eq!(of(b"\x39\x01\x02"), past);
    assert_eq!(of(b"\x0a\x01\x80\x80"), cut); // the varint would end in the message around
    assert_eq!(of(&[0xff; 20]), malformed("a varint of more than 64 bits"));
    assert_eq!(of(b"\x0b\x0c"), malformed("a field of another type than its own"));
    assert_eq!(of(b"\x0e\x00"), malformed("a wire type that there is not"));
    assert_eq!(of(b"\x7e\x00"), malformed("a wire type that there is not"));
    assert_eq!(of(b"\x02\x00"), malformed("a field number out of range"));
    assert_eq!(of(b"\x82\x80\x80\x80\x80\x01\x00"), malformed("a field number out of range"));
    assert_eq!(of(b"\x08\x01"), malformed("a field of another type than its own"));
    assert_eq!(of(b"\x0a\x04\x0a\x02\xff\xfe"), malformed("a string that is no UTF-8"));
    // A task in a task in a task: nobody walks into what nobody asks about.
    let deep = (0..10_000).fold(Message::new(), |inner, _| Message::new().message(6, inner));
    assert_eq!(
        of(Message::new().message(1, Message::new().message(6, deep)).as_bytes()),
        violation("a task without its id")
    );
}

/// Readers of proto3 decode the whole of a string, however little of it is kept here.
#[test]
fn of_a_long_string_all_is_utf8() {
    const LENGTH: usize = 1500;
    let not = malformed("a string that is no UTF-8");
    let letters = [&b"\xc3\xa9"[..], b"\xe2\x82\xac", b"\xf0\x9f\xa6\x80"];
    let wrong = [
        &b"\xff"[..],
        b"\x80",             // goes on with what did not begin
        b"\xc0\x80",         // longer than need be
        b"\xed\xa0\x80",     // a surrogate
        b"\xf4\x90\x80\x80", // beyond Unicode
        b"\xe2\x82",
        b"\xf0\x9f\xa6",
    ];
    for (letter, is_letter) in letters.into_iter().map(|it| (it, true)).chain(wrong.into_iter().map(|it| (it, false))) {
        // At the beginning, through the place where what is kept ends, behind it, and at the end.
        for at in [0, 92, 1021, 1022, 1023, 1024, 1300, LENGTH - letter.len()] {
            let mut id = vec![b'x'; LENGTH];
            id[at..at + letter.len()].copy_from_slice(letter);
            let task = Message::new().bytes(1, &id).message(3, Message::new().number(1, 3));
            let end = of_some(Message::new().message(1, task).as_bytes());
            assert_eq!(end, if is_letter { GrpcEnd::Message } else { not }, "{letter:x?} at {at}");
        }
    }
    // One that goes on behind the end of the string.
    let task = Message::new().bytes(1, &[&[b'x'; LENGTH][..], b"\xe2\x82"].concat()).bytes(2, b"\xac");
    assert_eq!(of_some(Message::new().message(1, task).as_bytes()), not);
}
