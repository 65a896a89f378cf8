//! Points that are no public keys.

use ring::{
    agreement::{self, ECDH_P256, EphemeralPrivateKey},
    rand::SystemRandom,
};

/// The points of small order on edwards25519, in every encoding, without the sign of x. By such a "key" anybody can
/// sign; one of them is what 32 zeros mean.
const SMALL_ORDER: [[u8; 32]; 7] = [
    repeated(0x00, 0x00, 0x00),
    repeated(0x01, 0x00, 0x00),
    repeated(0xec, 0xff, 0x7f),
    repeated(0xed, 0xff, 0x7f),
    repeated(0xee, 0xff, 0x7f),
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
        0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
        0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
];

const fn repeated(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut bytes = [middle; 32];
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

pub(super) fn is_of_small_order(key: &[u8; 32]) -> bool {
    let mut y = *key;
    y[31] &= 0x7f;
    SMALL_ORDER.contains(&y)
}

/// Whether an uncompressed point lies on P-256; `None` if the system has no randomness.
///
/// The cryptography library looks at a key only when it verifies, and then says no more than "invalid". A key agreement
/// with the point succeeds for those on the curve, and for no other.
pub(super) fn is_on_p256(point: &[u8]) -> Option<bool> {
    let ours = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).ok()?;
    let theirs = agreement::UnparsedPublicKey::new(&ECDH_P256, point);
    Some(agreement::agree_ephemeral(ours, &theirs, |_| ()).is_ok())
}
