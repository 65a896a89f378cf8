//! How a target is spelled in a key, however a call spells it.

use std::{fmt, io};

use http::{Uri, uri::Scheme};

use crate::words;

/// A scheme as a part of a key: one of the two that there are, or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemePart<'a> {
    Http,
    Https,
    Other(&'a str),
}

impl<'a> SchemePart<'a> {
    #[inline]
    pub(super) fn of(uri: &'a Uri) -> Self {
        match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => Self::Https,
            Some(scheme) if *scheme == Scheme::HTTP => Self::Http,
            Some(scheme) => Self::Other(scheme.as_str()),
            None => Self::Other(""),
        }
    }

    pub(super) fn as_str(self) -> &'a str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Other(text) => text,
        }
    }

    pub(super) fn default_port(self) -> u16 {
        if self == Self::Http { 80 } else { 443 }
    }
}

/// An authority as keys have it: the host in lower case, the port where it is not the default one, no user information.
///
/// Most are written so already. What a call has is looked up as it is, and spelled anew only if that finds nothing.
pub(super) struct Canonical {
    short: [u8; 272],
    len: usize,
    long: String,
}

impl Canonical {
    pub(super) fn of(authority: &str, scheme: SchemePart<'_>) -> Self {
        let (host, port) = words::host_and_port(authority);
        let mut spelled = Self { short: [0; 272], len: 0, long: String::new() };
        match port.filter(|port| *port != scheme.default_port()) {
            Some(port) => spelled.write(format_args!("{host}:{port}")),
            None => spelled.write(format_args!("{host}")),
        }
        spelled
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a text does not fail; to the buffer, it does where the text is longer than a host may be.
        let size = self.short.len();
        let mut rest = &mut self.short[..];
        match io::Write::write_fmt(&mut rest, text) {
            Ok(()) => self.len = size - rest.len(),
            Err(_) => self.long = text.to_string(),
        }
        self.short.make_ascii_lowercase();
        self.long.make_ascii_lowercase();
    }

    pub(super) fn as_str(&self) -> &str {
        let short = self.short.get(..self.len).and_then(|short| std::str::from_utf8(short).ok());
        short.filter(|short| !short.is_empty()).unwrap_or(&self.long)
    }
}

/// The base path of an agent: one with a slash at its end is the same one.
pub(in crate::card_consistency::store) fn trimmed(mut path: &str) -> &str {
    while let Some(shorter) = path.strip_suffix('/') {
        path = shorter;
    }
    path
}

pub(in crate::card_consistency::store) fn port(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or_else(|| SchemePart::of(uri).default_port())
}
