//! Strings that are longer than what is kept of them: read to their end, as prost reads them, in any cut.

use a2a_guard_fuzz::targets;
use proptest::prelude::*;
use prost::encoding::encode_varint;

/// Letters, and bytes that are some or nearly.
fn odd() -> impl Strategy<Value = Vec<u8>> {
    let letter = || any::<char>().prop_map(|letter| letter.to_string().into_bytes());
    let cut = (letter(), 1_usize..4).prop_map(|(mut bytes, length)| {
        bytes.truncate(length);
        bytes
    });
    prop_oneof![letter(), cut, prop::collection::vec(any::<u8>(), 0..5)]
}

fn string(number: u8, text: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    encode_varint(text.len() as u64, &mut field);
    field.extend_from_slice(text);
    field
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_strings_are_read_as_prost_reads_them(
        number in 1_u8..3,
        before in prop_oneof![0_usize..60, 1015_usize..1030, 1030_usize..1100],
        odd in odd(),
        behind in prop_oneof![Just(0_usize), 0_usize..60, 1000_usize..1100],
        dialect in 0_u8..2,
        seed in any::<[u8; 2]>(),
    ) {
        let text = [&vec![b'x'; before][..], &odd, &vec![b'y'; behind]].concat();
        let other = string(3 - number, b"task-1");
        let task = [other, string(number, &text), string(3, b"\x08\x03")].concat();
        targets::grpc(&[&[2, dialect, 1, 0], &seed[..], &task].concat());
    }
}
