//! Messages that are half right, with groups in all places: read as prost reads them, in any cut.

use a2a_guard_fuzz::targets;
use proptest::prelude::*;

/// A message: its fields.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let number = || prop::sample::select(&[1_u8, 2, 3, 4, 5, 6, 15][..]);
    let value = |wire: u8, value: &'static [u8]| number().prop_map(move |n| [&[n << 3 | wire][..], value].concat());
    let leaf = prop_oneof![
        3 => (number(), 0_u8..9).prop_map(|(n, value)| vec![n << 3, value]),
        3 => number().prop_map(|n| [&[n << 3 | 2][..], b"\x06task-1"].concat()),
        1 => value(1, &[7; 8]),
        1 => value(5, &[7; 4]),
        1 => value(4, &[]),
        1 => value(6, &[]),
    ];
    let fields = |field: BoxedStrategy<Vec<u8>>| prop::collection::vec(field, 0..4).prop_map(|fields| fields.concat());
    let field = leaf.prop_recursive(4, 24, 4, move |field| {
        prop_oneof![
            2 => field.clone(),
            4 => (number(), fields(field.clone())).prop_map(|(n, inner)| {
                let length = u8::try_from(inner.len()).ok().filter(|length| *length < 128).unwrap_or_default();
                [&[n << 3 | 2, length][..], &inner[..length.into()]].concat()
            }),
            3 => (number(), fields(field.clone())).prop_map(|(n, inner)| group(n, &inner, n)),
            1 => (number(), fields(field), number()).prop_map(|(n, inner, end)| group(n, &inner, end)),
        ]
    });
    // A task that is one stands first, most of the time.
    let task = prop_oneof![
        4 => Just(&b"\x0a\x0c\x0a\x06task-1\x1a\x02\x08\x03"[..]),
        2 => Just(&b"\x0a\x06task-1\x1a\x02\x08\x02"[..]),
        1 => Just(&b""[..]),
    ];
    (task, fields(field.boxed())).prop_map(|(task, more)| [task, &more].concat())
}

fn group(number: u8, inner: &[u8], end: u8) -> Vec<u8> {
    [&[number << 3 | 3][..], inner, &[end << 3 | 4]].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groups_are_read_as_prost_reads_them(payload in 0_u8..4, dialect in 0_u8..2, seed in any::<[u8; 2]>(), message in message()) {
        targets::grpc(&[&[payload, dialect, 1, 0], &seed[..], &message].concat());
    }
}

/// How deep they may go, in the answer and in what stands in it.
#[test]
fn groups_go_as_deep_as_in_prost() {
    let nested = |levels: usize, inner: &[u8]| [&vec![0x7b; levels][..], inner, &vec![0x7c; levels]].concat();
    let within = |tag: u8, inner: &[u8]| {
        let mut length = Vec::new();
        prost::encoding::encode_varint(inner.len() as u64, &mut length);
        [&[tag][..], &length, inner].concat()
    };
    for levels in 95..=103 {
        for inner in [&b""[..], b"\x08\x01", b"\x0a\x01x"] {
            let group = nested(levels, inner);
            let status = within(0x1a, &[&group[..], b"\x08\x03"].concat());
            let task = within(0x0a, &[&b"\x0a\x06task-1"[..], &status].concat());
            let beside = [&b"\x0a\x0c\x0a\x06task-1\x1a\x02\x08\x03"[..], &group].concat();
            for message in [task, beside] {
                for payload in 0..4 {
                    targets::grpc(&[&[payload, 0, 1, 0, 0, 7], &message[..]].concat());
                }
            }
        }
    }
}
