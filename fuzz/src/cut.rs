//! Where bytes are cut on their way.

/// Beyond this it is not worth it to come byte by byte.
const BYTEWISE_MAX: usize = 8 << 10;

/// The bytes in one piece, in pieces that `seed` decides, and one by one.
pub fn cuts(bytes: &[u8], seed: u16) -> impl Iterator<Item = Vec<&[u8]>> {
    let bytewise = (bytes.len() <= BYTEWISE_MAX).then(|| bytes.chunks(1).collect());
    [vec![bytes], pieces(bytes, seed)].into_iter().chain(bytewise)
}

/// The bytes in pieces that `seed` decides, an empty one among them now and then.
#[must_use]
pub fn pieces(bytes: &[u8], seed: u16) -> Vec<&[u8]> {
    // Weyl's sequence, mixed: neighbouring seeds have nothing in common.
    let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 27)
    };
    let most = [3, 9, 40, 200, 2000][usize::from(seed) % 5];
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = (next() % most) as usize;
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}
