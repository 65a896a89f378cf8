//! Short texts, compared and hashed eight bytes at a time.
//!
//! Each call looks its card up. Hosts and paths are so short that calling the C library's `memcmp` and `memmove` for
//! them takes longer than what it does.

use std::hash::Hasher;

use http::Uri;

const LOWER: u64 = 0x2020_2020_2020_2020;

/// Each eight bytes; the last eight once more, in part, where the length is no multiple.
#[inline]
fn words(bytes: &[u8], mut each: impl FnMut(u64)) {
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        each(u64::from_le_bytes(*word));
        rest = after;
    }
    if !rest.is_empty() {
        each(last(bytes, rest));
    }
}

#[inline]
fn last(bytes: &[u8], rest: &[u8]) -> u64 {
    match bytes.last_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

#[inline]
pub(crate) fn hash<H: Hasher>(bytes: &[u8], state: &mut H) {
    state.write_usize(bytes.len());
    words(bytes, |word| state.write_u64(word));
}

/// The same for any case. A few other characters fall together as well, which costs a comparison.
#[inline]
pub(crate) fn hash_in_any_case<H: Hasher>(bytes: &[u8], state: &mut H) {
    state.write_usize(bytes.len());
    words(bytes, |word| state.write_u64(word | LOWER));
}

/// Texts that were cloned from one are the same bytes, which shows at once. Others of up to sixteen bytes are two
/// words, which may overlap: to compare those takes no loop, whose end would have to be guessed.
#[inline]
pub(crate) fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if std::ptr::eq(a, b) {
        return true;
    }
    match (ends::<8>(a), ends::<8>(b)) {
        (Some((a_first, a_last)), Some((b_first, b_last))) => {
            let differ = (u64::from_ne_bytes(a_first) ^ u64::from_ne_bytes(b_first))
                | (u64::from_ne_bytes(a_last) ^ u64::from_ne_bytes(b_last));
            differ == 0 && (a.len() <= 16 || equal_between(a, b))
        }
        _ => match (ends::<4>(a), ends::<4>(b)) {
            (Some((a_first, a_last)), Some((b_first, b_last))) => {
                let differ = (u32::from_ne_bytes(a_first) ^ u32::from_ne_bytes(b_first))
                    | (u32::from_ne_bytes(a_last) ^ u32::from_ne_bytes(b_last));
                differ == 0
            }
            _ => a.iter().eq(b),
        },
    }
}

#[inline]
fn ends<const N: usize>(bytes: &[u8]) -> Option<([u8; N], [u8; N])> {
    Some((*bytes.first_chunk()?, *bytes.last_chunk()?))
}

/// Whether what lies between the first eight bytes and the last is equal, as well.
#[inline]
fn equal_between(a: &[u8], b: &[u8]) -> bool {
    let words = |bytes| <[u8]>::get(bytes, 8..).unwrap_or_default().chunks_exact(8);
    words(a).eq(words(b))
}

#[inline]
pub(crate) fn equal_in_any_case(a: &[u8], b: &[u8]) -> bool {
    equal(a, b) || a.eq_ignore_ascii_case(b)
}

/// Whether two URIs spell scheme and authority alike. An origin can be spelled in more ways than one; what is spelled
/// alike need not be taken apart.
#[inline]
pub(crate) fn same_origin(a: &Uri, b: &Uri) -> bool {
    // Not `Scheme`'s own comparison, which is a call into another crate.
    let scheme = |uri| Uri::scheme_str(uri).unwrap_or_default();
    equal(scheme(a).as_bytes(), scheme(b).as_bytes())
        && match (a.authority(), b.authority()) {
            (Some(a), Some(b)) => equal(a.as_str().as_bytes(), b.as_str().as_bytes()),
            _ => false,
        }
}

/// Host and port of an authority, without user information.
#[inline]
pub(crate) fn host_and_port(authority: &str) -> (&str, Option<u16>) {
    let authority =
        if has_at_sign(authority.as_bytes()) { authority.rsplit('@').next().unwrap_or_default() } else { authority };
    // The port from its last digit on. One that is too large for a port is none.
    let (mut port, mut unit, mut digits) = (0_u32, 1_u32, 0_usize);
    for byte in authority.bytes().rev() {
        match byte {
            b'0'..=b'9' => {
                port = port.saturating_add(u32::from(byte - b'0').saturating_mul(unit));
                unit = unit.saturating_mul(10);
                digits += 1;
            }
            b':' => {
                let host = authority.get(..authority.len() - digits - 1).unwrap_or_default();
                return (host, u16::try_from(port).ok().filter(|_| digits > 0));
            }
            _ => break,
        }
    }
    (authority, None)
}

/// Whether an `@` is among the bytes, eight of which are looked at in one go.
#[inline]
fn has_at_sign(bytes: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut found = 0;
    words(bytes, |word| {
        // A byte that is the sign is zero here, and only then does its highest bit come up.
        let differs = word ^ (ONES * b'@' as u64);
        found |= differs.wrapping_sub(ONES) & !differs & (ONES << 7);
    });
    found != 0
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn authorities() {
        for (authority, expected) in [
            ("agent.example.com", ("agent.example.com", None)),
            ("agent.example.com:8443", ("agent.example.com", Some(8443))),
            ("user:80@agent.example.com", ("agent.example.com", None)),
            ("a@b@agent.example.com:1", ("agent.example.com", Some(1))),
            ("10.0.0.1", ("10.0.0.1", None)),
            ("[::1]", ("[::1]", None)),
            ("[::1]:80", ("[::1]", Some(80))),
            ("host:", ("host", None)),
            ("host:99999", ("host", None)),
            ("", ("", None)),
        ] {
            assert_eq!(host_and_port(authority), expected, "{authority}");
        }
    }

    fn hashed(text: &[u8], hash: impl Fn(&[u8], &mut DefaultHasher)) -> u64 {
        let mut state = DefaultHasher::new();
        hash(text, &mut state);
        state.finish()
    }

    proptest! {
        #[test]
        fn equal_is_equal(a in "[ab]{0,20}", b in "[ab]{0,20}", at in 0_usize..20) {
            prop_assert_eq!(equal(a.as_bytes(), b.as_bytes()), a == b);
            prop_assert!(equal(a.as_bytes(), a.clone().as_bytes()));
            let mut other = a.clone().into_bytes();
            if let Some(byte) = other.get_mut(at) {
                *byte ^= 1;
                prop_assert!(!equal(a.as_bytes(), &other));
                prop_assert_ne!(hashed(a.as_bytes(), hash), hashed(&other, hash));
            }
        }

        #[test]
        fn case_makes_no_difference_to_hosts(a in "[a-zA-Z.]{0,20}") {
            let (lower, upper) = (a.to_lowercase(), a.to_uppercase());
            prop_assert!(equal_in_any_case(lower.as_bytes(), upper.as_bytes()));
            prop_assert_eq!(
                hashed(lower.as_bytes(), hash_in_any_case),
                hashed(upper.as_bytes(), hash_in_any_case)
            );
        }

        #[test]
        fn an_authority_is_read_as_the_http_crate_reads_it(
            host in r"([a-zA-Z0-9.-]{1,20}|\[[0-9a-f:]{2,10}\])",
            port in proptest::option::of(any::<u16>()),
            user in proptest::option::of("[a-z:]{0,5}"),
        ) {
            let user = user.map(|user| format!("{user}@")).unwrap_or_default();
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            let text = format!("{user}{host}{port}");
            if let Ok(authority) = text.parse::<http::uri::Authority>() {
                prop_assert_eq!(host_and_port(&text), (authority.host(), authority.port_u16()));
            }
        }
    }
}
