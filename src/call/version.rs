use std::fmt;

/// A version of the protocol as it is negotiated: `Major.Minor`, the patch ignored (A2A 1.0 §3.6).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion {
    major: u8,
    minor: u8,
}

impl ProtocolVersion {
    /// 0.2 and older: `tasks/send`, bare results without a `kind`.
    pub const V0_2: Self = Self { major: 0, minor: 2 };
    /// 0.3: `message/send`, results told apart by `kind`.
    pub const V0_3: Self = Self { major: 0, minor: 3 };
    /// 1.0: `SendMessage`, results wrapped in a member named after what they are.
    pub const V1_0: Self = Self { major: 1, minor: 0 };

    /// The version `major.minor`.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// Reads `Major.Minor` or `Major.Minor.Patch`; anything else is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let mut parts = text.trim().split('.');
        let major = parts.next().filter(digits)?.parse().ok()?;
        let minor = parts.next().filter(digits)?.parse().ok()?;
        match (parts.next(), parts.next()) {
            (None, _) => Some(Self { major, minor }),
            (Some(patch), None) if digits(&patch) => Some(Self { major, minor }),
            _ => None,
        }
    }

    /// The part before the point.
    #[must_use]
    pub const fn major(self) -> u8 {
        self.major
    }

    /// The part behind the point.
    #[must_use]
    pub const fn minor(self) -> u8 {
        self.minor
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patch_is_ignored_and_nonsense_is_none() {
        assert_eq!(ProtocolVersion::parse("1.0"), Some(ProtocolVersion::V1_0));
        assert_eq!(ProtocolVersion::parse(" 1.0.7 "), Some(ProtocolVersion::V1_0));
        assert_eq!(ProtocolVersion::parse("0.3"), Some(ProtocolVersion::V0_3));
        for bad in ["", "1", "1.", ".0", "1.x", "1.0.x", "1.0.", "1.0.0.0", "-1.0", "+1.0", "1.+0", "300.0"] {
            assert_eq!(ProtocolVersion::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn it_prints_as_it_is_sent() {
        assert_eq!(ProtocolVersion::V1_0.to_string(), "1.0");
    }
}
