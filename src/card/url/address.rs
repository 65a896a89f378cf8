//! Addresses in a host: every notation that some client dials, and how far each address reaches.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How far an address reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Public,
    /// `0.0.0.0/8`, `::`. Many systems connect to themselves there.
    Unspecified,
    Loopback,
    LinkLocal,
    /// Private, shared, unique local, or set aside for use within one network.
    Private,
    /// Multicast, broadcast, reserved: no single peer.
    NotUnicast,
}

impl Reach {
    pub(super) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(v4) => of_v4(v4),
            IpAddr::V6(v6) => of_v6(v6),
        }
    }
}

/// The special-purpose registry of IPv4 (RFC 6890), as far as it matters to whom a call reaches. The ranges for
/// documentation are public here: nobody is there.
fn of_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        [0, ..] => Reach::Unspecified,
        [127, ..] => Reach::Loopback,
        [169, 254, ..] => Reach::LinkLocal,
        // RFC 1918, RFC 6598, RFC 6890 §2.2.2, RFC 2544.
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] | [192, 0, 0, _] | [198, 18..=19, ..] => {
            Reach::Private
        }
        [224..=255, ..] => Reach::NotUnicast,
        _ => Reach::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> Reach {
    if address.is_unspecified() {
        return Reach::Unspecified;
    }
    if address.is_loopback() {
        return Reach::Loopback;
    }
    if let Some(inner) = embedded_v4(address) {
        return of_v4(inner);
    }
    match address.segments() {
        [0xfe80..=0xfebf, ..] => Reach::LinkLocal,
        // RFC 4193; site-local addresses of old; the local prefix of NAT64 (RFC 8215); the discard prefix (RFC 6666).
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] | [0x100, 0, 0, 0, ..] => Reach::Private,
        [0xff00..=0xffff, ..] => Reach::NotUnicast,
        _ => Reach::Public,
    }
}

/// The IPv4 address that an IPv6 one stands for, where a gateway or the system itself translates it.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let pair = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        // IPv4-compatible, IPv4-mapped (RFC 4291 §2.5.5), IPv4-translated (RFC 2765).
        [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        // NAT64 (RFC 6052).
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        // 6to4 (RFC 3056).
        | [0x2002, high, low, ..] => Some(pair(high, low)),
        // Teredo hides the client's address by inverting it (RFC 4380 §4).
        [0x2001, 0, .., high, low] => Some(pair(!high, !low)),
        _ => None,
    }
}

/// Reads a host as an IPv4 address the way `inet_aton` and browsers do: one to four numbers, decimal, octal or
/// hexadecimal, the last of which fills what is left.
///
/// `None`: it is a name. `Some(None)`: its last label is a number, so it can be no name, but it is no address either.
pub(super) fn loose_v4(host: &str) -> Option<Option<Ipv4Addr>> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    let decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let hex = hex_digits(last).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    (decimal || hex).then(|| numbers(host))
}

fn numbers(host: &str) -> Option<Ipv4Addr> {
    let mut parts = [0_u32; 4];
    let mut count = 0;
    for text in host.split('.') {
        *parts.get_mut(count)? = number(text)?;
        count += 1;
    }
    let (last, heads) = parts.get(..count)?.split_last()?;
    let room = 32 - 8 * u32::try_from(heads.len()).ok()?;
    if u64::from(*last) >= 1 << room {
        return None;
    }
    let mut address = 0_u32;
    for (index, head) in heads.iter().enumerate() {
        address |= u32::from(u8::try_from(*head).ok()?) << (24 - 8 * index);
    }
    Some(Ipv4Addr::from(address | last))
}

fn number(text: &str) -> Option<u32> {
    let (digits, radix) = if let Some(hex) = hex_digits(text) {
        (hex, 16)
    } else if text.len() > 1 && text.starts_with('0') {
        (text, 8)
    } else {
        (text, 10)
    };
    if radix == 16 && digits.is_empty() {
        return Some(0);
    }
    // `from_str_radix` takes a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok()
}

fn hex_digits(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_up_to_its_edges() {
        use Reach::{LinkLocal, Loopback, NotUnicast, Private, Public, Unspecified};
        for (text, reach) in [
            ("0.0.0.0", Unspecified),
            ("0.255.255.255", Unspecified),
            ("1.0.0.0", Public),
            ("9.255.255.255", Public),
            ("10.0.0.0", Private),
            ("10.255.255.255", Private),
            ("11.0.0.0", Public),
            ("100.63.255.255", Public),
            ("100.64.0.0", Private),
            ("100.127.255.255", Private),
            ("100.128.0.0", Public),
            ("126.255.255.255", Public),
            ("127.0.0.0", Loopback),
            ("127.255.255.255", Loopback),
            ("128.0.0.0", Public),
            ("169.253.255.255", Public),
            ("169.254.169.254", LinkLocal),
            ("169.255.0.0", Public),
            ("172.15.255.255", Public),
            ("172.16.0.0", Private),
            ("172.31.255.255", Private),
            ("172.32.0.0", Public),
            ("192.0.0.8", Private),
            ("192.0.1.0", Public),
            ("192.0.2.1", Public),
            ("192.167.255.255", Public),
            ("192.168.0.0", Private),
            ("192.169.0.0", Public),
            ("198.17.255.255", Public),
            ("198.18.0.1", Private),
            ("198.19.255.255", Private),
            ("198.20.0.0", Public),
            ("223.255.255.255", Public),
            ("224.0.0.1", NotUnicast),
            ("255.255.255.255", NotUnicast),
            ("::", Unspecified),
            ("::1", Loopback),
            ("::2", Unspecified),
            ("::7f00:1", Loopback),
            ("::ffff:127.0.0.1", Loopback),
            ("::ffff:10.1.2.3", Private),
            ("::ffff:8.8.8.8", Public),
            ("::ffff:0:192.168.0.1", Private),
            ("64:ff9b::169.254.169.254", LinkLocal),
            ("64:ff9b::8.8.8.8", Public),
            ("64:ff9b:1::1", Private),
            ("2002:7f00:1::", Loopback),
            ("2002:808:808::1", Public),
            ("2001:0:4136:e378:8000:63bf:80ff:fffe", Loopback),
            ("fe80::1", LinkLocal),
            ("febf::1", LinkLocal),
            ("fec0::1", Private),
            ("fbff::1", Public),
            ("fc00::1", Private),
            ("fdff::1", Private),
            ("fe00::1", Public),
            ("ff02::1", NotUnicast),
            ("100::1", Private),
            ("2606:4700::1111", Public),
        ] {
            assert_eq!(Reach::of(text.parse().unwrap()), reach, "{text}");
        }
    }

    #[test]
    fn every_notation_of_an_address() {
        for (text, address) in [
            ("127.0.0.1", [127, 0, 0, 1]),
            ("127.0.0.1.", [127, 0, 0, 1]),
            ("2130706433", [127, 0, 0, 1]),
            ("017700000001", [127, 0, 0, 1]),
            ("0x7f000001", [127, 0, 0, 1]),
            ("0X7F.1", [127, 0, 0, 1]),
            ("127.1", [127, 0, 0, 1]),
            ("127.0.1", [127, 0, 0, 1]),
            ("0177.0.0.1", [127, 0, 0, 1]),
            ("0x7f.0.0.0x1", [127, 0, 0, 1]),
            ("0", [0, 0, 0, 0]),
            ("0x", [0, 0, 0, 0]),
            ("10.65535", [10, 0, 255, 255]),
            ("4294967295", [255, 255, 255, 255]),
        ] {
            assert_eq!(loose_v4(text), Some(Some(address.into())), "{text}");
        }
        for broken in [
            "256.0.0.1",
            "1.2.3.256",
            "1.2.3.4.5",
            "4294967296",
            "1.2.65536",
            "09",
            "1..2",
            "foo.0x4",
            "a.1",
            "0x123456789",
        ] {
            assert_eq!(loose_v4(broken), Some(None), "{broken}");
        }
        for name in ["example.com", "1.example", "0xg", "127.0.0.1.nip.io", "", ".", "a", "0x7f.example"] {
            assert_eq!(loose_v4(name), None, "{name}");
        }
    }
}
