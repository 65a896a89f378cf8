//! The host of a URL: normalised for comparison, and read suspiciously for safety.

use std::net::{IpAddr, Ipv6Addr};

use super::{UrlFault, address, address::Reach};

/// A host, lower case, an IPv6 address in its shortest form.
///
/// International names stay as they are: a look-alike is another host, and nothing is gained by making the two look
/// less alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Host {
    text: Box<str>,
    meaning: Meaning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Meaning {
    Name,
    /// `localhost` or below it (RFC 6761 §6.3).
    Localhost,
    /// `odd`: in a notation that clients read differently, or not at all.
    Address {
        address: IpAddr,
        odd: bool,
    },
}

impl Host {
    pub(super) fn parse(text: &str) -> Result<Self, UrlFault> {
        if let Some(inner) = text.strip_prefix('[') {
            // A zone (`%25eth0`) does not parse, and has no meaning away from the machine that wrote it.
            let inner = inner.strip_suffix(']').ok_or(UrlFault::BadHost)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| UrlFault::BadHost)?;
            let meaning = Meaning::Address { address: address.into(), odd: false };
            return Ok(Self { text: format!("[{address}]").into(), meaning });
        }
        // What a name may hold, and no more: `%` and `+` and their like are read differently by every client.
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~') || !c.is_ascii();
        if !text.chars().all(allowed) {
            return Err(UrlFault::BadHost);
        }
        let plain: String = text.chars().filter_map(plain).collect();
        let labels = plain.strip_suffix('.').unwrap_or(&plain);
        if labels.split('.').any(str::is_empty) {
            return Err(UrlFault::BadHost);
        }
        let meaning = match address::loose_v4(&plain) {
            Some(None) => return Err(UrlFault::BadHost),
            Some(Some(address)) => Meaning::Address { address: address.into(), odd: text.parse() != Ok(address) },
            None if labels == "localhost" || labels.ends_with(".localhost") => Meaning::Localhost,
            None => Meaning::Name,
        };
        Ok(Self { text: text.to_ascii_lowercase().into(), meaning })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    /// How far the host reaches, as far as that shows without asking a resolver.
    pub(super) fn reach(&self) -> Reach {
        match self.meaning {
            Meaning::Name => Reach::Public,
            Meaning::Localhost => Reach::Loopback,
            Meaning::Address { address, .. } => Reach::of(address),
        }
    }

    pub(super) fn is_odd_address(&self) -> bool {
        matches!(self.meaning, Meaning::Address { odd: true, .. })
    }
}

/// The ASCII character that a compatible one stands for where names are prepared for look-up (UTS #46), lower case;
/// `None` for characters that are dropped there.
///
/// Not the whole table: the forms of digits, Latin letters and dots, which is what an address or `localhost` is written
/// with. A host that is not ASCII is another origin in any case, and never allowed without being named.
fn plain(character: char) -> Option<char> {
    let code = u32::from(character);
    let from = |base: u8, offset: u32| u8::try_from(offset).ok().map(|offset| char::from(base + offset));
    match code {
        0..0x80 => Some(character.to_ascii_lowercase()),
        // Soft hyphen, joiners, fillers, zero-width and format characters, variation selectors, byte order mark.
        0xad | 0x34f | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200d | 0x2060..=0x206f => None,
        0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xe0100..=0xe01ef => None,
        // Ideographic and half-width full stops.
        0x3002 | 0xff61 => Some('.'),
        // Full-width forms.
        0xff01..=0xff5e => from(b'!', code - 0xff01).map(|c| c.to_ascii_lowercase()),
        // Superscripts and subscripts.
        0xb2 | 0xb3 => from(b'2', code - 0xb2),
        0xb9 => Some('1'),
        0x2070 => Some('0'),
        0x2074..=0x2079 => from(b'4', code - 0x2074),
        0x2080..=0x2089 => from(b'0', code - 0x2080),
        // Circled digits and letters.
        0x2460..=0x2468 => from(b'1', code - 0x2460),
        0x24ea => Some('0'),
        0x24b6..=0x24e9 => from(b'a', (code - 0x24b6) % 26),
        // Mathematical letters, thirteen alphabets of two cases, and digits, five alphabets.
        0x1d400..=0x1d6a3 => from(b'a', (code - 0x1d400) % 26),
        0x1d7ce..=0x1d7ff => from(b'0', (code - 0x1d7ce) % 10),
        // Digits of old computers.
        0x1ccf0..=0x1ccf9 => from(b'0', code - 0x1ccf0),
        0x1fbf0..=0x1fbf9 => from(b'0', code - 0x1fbf0),
        // The letters that stand elsewhere, leaving gaps in those alphabets; long s.
        0x2113 => Some('l'),
        0x2134 => Some('o'),
        0x210e => Some('h'),
        0x212f => Some('e'),
        0x17f => Some('s'),
        _ => Some(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        Host::parse(text).unwrap()
    }

    #[test]
    fn hosts_are_lower_case_and_ipv6_is_shortest() {
        assert_eq!(host("Agent.Example.COM").as_str(), "agent.example.com");
        assert_eq!(host("[2001:DB8:0:0::1]").as_str(), "[2001:db8::1]");
        assert_eq!(host("[::ffff:7f00:1]").as_str(), "[::ffff:127.0.0.1]");
        // Another host than agent.example.com, whatever it looks like.
        assert_eq!(host("\u{430}gent.example.com").as_str(), "\u{430}gent.example.com");
        assert_ne!(host("\u{430}gent.example.com"), host("agent.example.com"));
    }

    #[test]
    fn loopback_in_disguise() {
        for text in [
            "localhost",
            "LOCALHOST.",
            "a.b.localhost",
            "loc\u{ad}alhost",
            "ｌｏｃａｌｈｏｓｔ",
            "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
            "𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭",
            "localhoſt",
            "127.1",
            "１２７.０.０.１",
            "127。0。0。1",
            "①②⑦.0.0.1",
            "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
            "0x7F.1",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:7f00:1]",
        ] {
            assert_eq!(host(text).reach(), Reach::Loopback, "{text}");
        }
        for text in ["localhost.example.com", "notlocalhost", "127.0.0.1.example.com", "xn--127-abc.example"] {
            assert_eq!(host(text).reach(), Reach::Public, "{text}");
        }
    }

    #[test]
    fn an_address_is_odd_unless_it_is_four_plain_decimals() {
        assert!(!host("8.8.8.8").is_odd_address());
        assert!(!host("[::1]").is_odd_address());
        assert!(!host("example.com").is_odd_address());
        for text in ["134744072", "8.8.2056", "010.8.8.8", "0x8.8.8.8", "8.8.8.8.", "８.8.8.8"] {
            assert!(host(text).is_odd_address(), "{text}");
        }
    }

    #[test]
    fn what_is_no_host() {
        for text in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "a b",
            "a%2eb",
            "%31",
            "a+b",
            "a,b",
            "a!b",
            "[::1",
            "::1",
            "[fe80::1%25eth0]",
            "[v1.x]",
            "[127.0.0.1]",
            "1.2.3.4.5",
            "256.1.1.1",
            "[]",
            "\u{ad}",
        ] {
            assert_eq!(Host::parse(text), Err(UrlFault::BadHost), "{text}");
        }
    }
}
