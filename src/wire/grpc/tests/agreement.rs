//! Any message, in any cut, is read as the reference reads it.

use proptest::prelude::*;

use super::*;
use GrpcPayload::SendResult;

/// Any field of a message, known or not, with a value of any type.
fn any_field(inner: BoxedStrategy<Vec<u8>>) -> BoxedStrategy<Vec<u8>> {
    let number = prop_oneof![5 => 1_u32..7, 1 => 7_u32..2000];
    let group = inner.clone();
    let value = prop_oneof![
        3 => inner.prop_map(|bytes| (2, bytes)),
        2 => "[a-zé]{0,12}".prop_map(|text| (2, text.into_bytes())),
        2 => prop_oneof![0_u64..10, any::<u64>()].prop_map(|number| (0, Message::new().number(1, number).as_bytes()[1..].to_vec())),
        1 => any::<[u8; 8]>().prop_map(|bytes| (1, bytes.to_vec())),
        1 => any::<[u8; 4]>().prop_map(|bytes| (5, bytes.to_vec())),
        1 => group.prop_map(|bytes| (3, bytes)),
    ];
    (number, value)
        .prop_map(|(number, (wire, value))| {
            let mut bytes = Vec::new();
            varint::put(&mut bytes, u64::from(number << 3 | wire));
            if wire == 2 {
                varint::put(&mut bytes, value.len() as u64);
            }
            bytes.extend(value);
            if wire == 3 {
                varint::put(&mut bytes, u64::from(number << 3 | 4));
            }
            bytes
        })
        .boxed()
}

fn any_message() -> BoxedStrategy<Vec<u8>> {
    let leaf = Just(Vec::new()).boxed();
    (0..3).fold(leaf, |inner, _| {
        proptest::collection::vec(any_field(inner), 0..5).prop_map(|fields| fields.concat()).boxed()
    })
}

/// One that is valid, its fields in any order and some of them twice.
fn good_message() -> BoxedStrategy<Vec<u8>> {
    let field = prop_oneof![
        "[a-z]{1,40}".prop_map(|id| Message::new().text(1, &id)),
        "[a-z]{1,60}".prop_map(|id| Message::new().text(2, &id)),
        (0_u64..12).prop_map(|state| Message::new().message(3, Message::new().number(1, state).text(3, "now"))),
        Just(Message::new().message(3, Message::new())),
        "[a-z]{0,300}".prop_map(|text| Message::new().text(6, &text)),
    ];
    let payload = proptest::collection::vec(field, 0..6)
        .prop_map(|fields| fields.iter().fold(Vec::new(), |all, field| [&all[..], field.as_bytes()].concat()));
    proptest::collection::vec((1_u32..6, payload), 0..4)
        .prop_map(|members| {
            members
                .iter()
                .fold(Message::new(), |all, (number, payload)| all.bytes(*number, payload))
                .as_bytes()
                .to_vec()
        })
        .boxed()
}

/// The reference's view of what the judge noted.
fn seen(facts: &Facts) -> reference::Read {
    reference::Read {
        kind: facts.kind,
        task_id: facts.task_id.as_str().into(),
        context_id: facts.context_id.as_str().into(),
        state: None,
    }
}

fn agree(message: &[u8], cuts: &[usize]) -> Result<(), TestCaseError> {
    let bytes = framed(message);
    let whole = unary(expected(StreamEvent, V1), &bytes, usize::MAX);
    let mut judge = GrpcJudge::new(expected(StreamEvent, V1), MAX);
    let mut rest = &bytes[..];
    for cut in cuts {
        let (piece, behind) = rest.split_at(cut % (rest.len() + 1));
        judge.feed(piece);
        rest = behind;
    }
    judge.feed(rest);
    prop_assert_eq!((judge.finish(), judge.facts().clone()), whole.clone());

    match (reference::stream_response(message), whole) {
        (None, (GrpcEnd::Flawed(Flaw::Malformed(_)), _)) => {}
        (Some(read), (GrpcEnd::Message | GrpcEnd::Flawed(Flaw::Violation(_)), facts)) => {
            if let (Some(number), GrpcEnd::Message) = (read.state, unary(expected(StreamEvent, V1), &bytes, 1).0) {
                prop_assert_eq!(facts.state, crate::wire::TaskState::from_number(number));
            }
            prop_assert_eq!(seen(&facts), reference::Read { state: None, ..read });
        }
        (read, judged) => prop_assert!(false, "{:?} is {:?}", read, judged),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn good_messages_are_read_as_the_reference_does(message in good_message(), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        agree(&message, &cuts)?;
    }

    #[test]
    fn so_are_messages_of_any_fields(message in any_message(), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        agree(&message, &cuts)?;
    }

    #[test]
    fn and_mutated_ones(
        message in good_message(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        len in any::<prop::sample::Index>(),
        cuts in proptest::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut message = message;
        if !message.is_empty() {
            let at = at.index(message.len());
            message[at] = byte;
            agree(&message, &cuts)?;
            message.truncate(len.index(message.len() + 1));
        }
        agree(&message, &cuts)?;
    }

    #[test]
    fn any_bytes_at_all_are_judged_alike_in_any_cut(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 1_usize..20) {
        prop_assert_eq!(unary(expected(SendResult, V1), &bytes, usize::MAX), unary(expected(SendResult, V1), &bytes, cut));
        prop_assert_eq!(steps(&bytes, usize::MAX).0, steps(&bytes, cut).0);
        for layout in [RequestLayout::V1_SEND, RequestLayout::V03_SEND, RequestLayout::V03_NAME] {
            let mut scan = GrpcRequestScan::new(layout, Some("a"), Some("b"));
            scan.feed(&framed(&bytes));
        }
    }
}
