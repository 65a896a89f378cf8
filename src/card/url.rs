//! URLs out of cards: data from a stranger, taken apart without believing any of it.
//!
//! No general URL library is used. One made for browsers repairs what it reads (`https:\\host`, tabs, other digits), so
//! that two programs can read two hosts out of one text; here such a text is refused. It would also bring the tables of
//! international names, which nothing here needs: a name that is not ASCII is compared as it stands.

mod address;
mod host;
mod origin;
mod paths;
mod policy;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, fmt};

use http::Uri;

use self::host::Host;
pub(super) use self::policy::Leaves;
pub use self::{origin::Origin, policy::UrlPolicy};

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plaintext.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// As it stands in a URL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What makes a URL out of a card one that is not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UrlFault {
    /// No scheme and host: a relative reference.
    Relative,
    /// Another scheme than `http` and `https`.
    NotHttp,
    /// White space, a control character, a quote, an angle bracket or a backslash: clients repair those, each in its
    /// own way.
    BadCharacter,
    /// No host, or one that is neither a name nor an address.
    BadHost,
    /// No port number.
    BadPort,
    /// A user name before the host. It is credentials at best, and a disguised host at worst.
    UserInfo,
    /// An address in a notation that clients read differently: octal, hexadecimal, shortened, other digits.
    OddAddress,
    /// `0.0.0.0`, `[::]`: an address to listen on, not to call.
    Unspecified,
    /// The caller's own machine.
    Loopback,
    /// An address of the caller's own link; cloud metadata lives there.
    LinkLocal,
    /// An address of the caller's own network.
    Private,
    /// Multicast, broadcast or reserved.
    NotUnicast,
    /// The path of one operation.
    OperationPath,
    /// The path of the card itself.
    CardPath,
}

impl UrlFault {
    /// What is wrong, to be read behind the URL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Relative => "has no scheme and host",
            Self::NotHttp => "is neither http nor https",
            Self::BadCharacter => "holds white space, a quote, a backslash or the like",
            Self::BadHost => "has no valid host",
            Self::BadPort => "has no valid port",
            Self::UserInfo => "has a user name before its host",
            Self::OddAddress => "has an address in an ambiguous notation",
            Self::Unspecified => "names the unspecified address",
            Self::Loopback => "names a loopback address",
            Self::LinkLocal => "names a link-local address",
            Self::Private => "names a private address",
            Self::NotUnicast => "names a multicast or reserved address",
            Self::OperationPath => "is the path of one operation, not of the agent",
            Self::CardPath => "is the path of a card, not of the agent",
        }
    }
}

impl std::error::Error for UrlFault {}

impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A URL taken apart and normalised for comparison (RFC 3986 §6.2.2.1, §6.2.2.2, §6.2.3): scheme and host lower case,
/// the default port left out, an empty path as `/`, escapes in upper case and only where they are needed. The fragment
/// is dropped, since it is never sent.
///
/// A slash at the end and dot segments stay: whether they matter is the server's to say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CardUrl {
    /// `None`: a gRPC target, `host:port`.
    scheme: Option<Scheme>,
    host: Host,
    port: Option<u16>,
    path: Box<str>,
    query: Option<Box<str>>,
    user_info: bool,
}

impl CardUrl {
    /// Reads an absolute `http` or `https` URL.
    ///
    /// # Errors
    ///
    /// What makes it none. Whether it may be called is not said yet: see [`UrlPolicy`].
    pub fn parse(text: &str) -> Result<Self, UrlFault> {
        check_characters(text)?;
        let (scheme, rest) = text.split_once("://").ok_or(UrlFault::Relative)?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme {
            return Err(UrlFault::Relative);
        }
        if scheme.eq_ignore_ascii_case("https") {
            Self::behind_scheme(Some(Scheme::Https), rest)
        } else if scheme.eq_ignore_ascii_case("http") {
            Self::behind_scheme(Some(Scheme::Http), rest)
        } else {
            Err(UrlFault::NotHttp)
        }
    }

    /// Reads the URL of a gRPC interface: an absolute URL, or `host:port` as `a2a.proto` has it now.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_grpc(text: &str) -> Result<Self, UrlFault> {
        if text.contains("://") {
            return Self::parse(text);
        }
        check_characters(text)?;
        if text.is_empty() || text.starts_with('/') {
            return Err(UrlFault::Relative);
        }
        Self::behind_scheme(None, text)
    }

    /// Takes apart the URI of a request, which must be absolute.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn of(uri: &Uri) -> Result<Self, UrlFault> {
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(UrlFault::Relative);
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Self::parse(&format!("{scheme}://{authority}{path}"))
    }

    fn behind_scheme(scheme: Option<Scheme>, rest: &str) -> Result<Self, UrlFault> {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (user, host_port) = match authority.rsplit_once('@') {
            Some((user, host_port)) => (Some(user), host_port),
            None => (None, authority),
        };
        let (host, port) = split_port(host_port);
        let port = match port {
            None => None,
            // Behind a scheme an empty port is the default one (RFC 3986 §6.2.3).
            Some("") if scheme.is_some() => None,
            Some(digits) => Some(port_number(digits)?).filter(|port| scheme.map(Scheme::default_port) != Some(*port)),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        Ok(Self {
            scheme,
            host: Host::parse(host)?,
            port,
            path: if path.is_empty() { "/".into() } else { normal_escapes(path) },
            query: query.map(normal_escapes),
            user_info: user.is_some(),
        })
    }

    /// The scheme; `None` for a gRPC target that states none.
    #[must_use]
    pub fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    /// The host, normalised. An IPv6 address stands in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.as_str()
    }

    /// The port, unless it is the scheme's default one.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The path, which begins with a slash.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The query.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    #[cfg(feature = "directory")]
    pub(crate) fn has_user_info(&self) -> bool {
        self.user_info
    }

    /// `host`, or `host:port` where the port is not the default one.
    #[must_use]
    pub fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().into(),
        }
    }

    /// Host and port are the same. The default ports of two schemes count as one, so that the scheme alone makes the
    /// difference between `http://a` and `https://a`; a target without a scheme has the other's default.
    pub(super) fn same_authority(&self, other: &Self) -> bool {
        let scheme = |one: &Self, two: &Self| one.scheme.or(two.scheme).unwrap_or(Scheme::Https);
        let port = |url: &Self, scheme: Scheme| url.port.filter(|port| *port != scheme.default_port());
        self.host == other.host && port(self, scheme(self, other)) == port(other, scheme(other, self))
    }

    /// The pairs of the query. `A2A-Version` may travel among them (A2A 1.0 §3.6.1) and is no part of the address.
    fn query_pairs(&self) -> impl Iterator<Item = &str> {
        self.query()
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.split('=').next().unwrap_or_default().eq_ignore_ascii_case("a2a-version"))
            .filter(|pair| !pair.is_empty())
    }

    /// Whether all that stands in this URL's query stands in the other's, in whatever order.
    ///
    /// A stranger wrote it, and may have written it to be compared for long: of more than a few pairs, each is looked
    /// up.
    pub(crate) fn query_is_in(&self, other: &Self) -> bool {
        const FEW: usize = 8;
        if self.query == other.query {
            return true;
        }
        if self.query_pairs().nth(FEW).is_none() {
            return self.query_pairs().all(|pair| other.query_pairs().any(|other| other == pair));
        }
        let others: HashSet<_> = other.query_pairs().collect();
        self.query_pairs().all(|pair| others.contains(pair))
    }

    /// Path and query as they are shown.
    pub(super) fn path_and_query(&self) -> String {
        let kept: Vec<_> = self.query_pairs().collect();
        if kept.is_empty() { self.path().into() } else { format!("{}?{}", self.path(), kept.join("&")) }
    }
}

impl fmt::Display for CardUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = self.scheme {
            write!(f, "{scheme}://")?;
        }
        f.write_str(&self.authority())?;
        f.write_str(&self.path)?;
        match &self.query {
            Some(query) => write!(f, "?{query}"),
            None => Ok(()),
        }
    }
}

fn check_characters(text: &str) -> Result<(), UrlFault> {
    let bad = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '\\' | '"' | '<' | '>');
    if text.chars().any(bad) { Err(UrlFault::BadCharacter) } else { Ok(()) }
}

/// Host and port. A colon inside the brackets of an IPv6 address separates nothing.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn port_number(digits: &str) -> Result<u16, UrlFault> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(UrlFault::BadPort);
    }
    digits.parse().ok().filter(|port| *port != 0).ok_or(UrlFault::BadPort)
}

/// Escapes in upper case, unreserved characters unescaped (RFC 3986 §6.2.2), others than ASCII escaped (RFC 3987 §3.1).
fn normal_escapes(text: &str) -> Box<str> {
    let bytes = text.as_bytes();
    let mut normal = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = match bytes.get(at..at + 3) {
            Some([b'%', high, low]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        match escaped {
            Some(byte) if is_unreserved(byte) && !ends_an_escape(&normal, byte) => normal.push(char::from(byte)),
            Some(byte) => push_escape(&mut normal, byte),
            None if byte.is_ascii() => normal.push(char::from(byte)),
            None => push_escape(&mut normal, byte),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    normal.into()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Behind a percent sign that escapes nothing, a digit would make an escape that was not there: it may stand for
/// anything.
fn ends_an_escape(before: &str, byte: u8) -> bool {
    let is_begun = match before.as_bytes() {
        [.., b'%'] => true,
        [.., b'%', digit] => hex(*digit).is_some(),
        _ => false,
    };
    is_begun && hex(byte).is_some()
}

fn push_escape(text: &mut String, byte: u8) {
    text.push('%');
    for nibble in [byte >> 4, byte & 15] {
        text.extend(char::from_digit(nibble.into(), 16).map(|digit| digit.to_ascii_uppercase()));
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
