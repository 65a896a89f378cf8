//! One interface of an agent: where it is, over which binding, in which version, for which tenant.

use std::fmt;

use super::url::{CardUrl, Scheme, UrlFault};
use crate::{
    call::{Binding, ProtocolVersion},
    wire::text::escape,
};

/// At most so many characters of a name in a message, which may hold several.
const NAME_SHOWN: usize = 40;

/// A binding as a card names it: an open list (A2A 1.0 §4.4.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CardBinding {
    /// `JSONRPC`.
    JsonRpc,
    /// `HTTP+JSON`.
    HttpJson,
    /// `GRPC`.
    Grpc,
    /// One that this crate does not speak.
    Other(Box<str>),
}

impl CardBinding {
    /// Reads a name. The case makes no difference: there is nothing else that `jsonrpc` could mean.
    pub(super) fn of(name: &str) -> Self {
        [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc]
            .into_iter()
            .find(|known| name.eq_ignore_ascii_case(known.as_str()))
            .map_or_else(|| Self::Other(name.into()), Self::from)
    }

    /// The binding, if this crate speaks it.
    #[must_use]
    pub fn known(&self) -> Option<Binding> {
        match self {
            Self::JsonRpc => Some(Binding::JsonRpc),
            Self::HttpJson => Some(Binding::HttpJson),
            Self::Grpc => Some(Binding::Grpc),
            Self::Other(_) => None,
        }
    }

    /// Its name. It comes out of a card, if this crate does not speak it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::JsonRpc => Binding::JsonRpc.as_str(),
            Self::HttpJson => Binding::HttpJson.as_str(),
            Self::Grpc => Binding::Grpc.as_str(),
            Self::Other(name) => name,
        }
    }
}

impl From<Binding> for CardBinding {
    fn from(binding: Binding) -> Self {
        match binding {
            Binding::JsonRpc => Self::JsonRpc,
            Binding::HttpJson => Self::HttpJson,
            Binding::Grpc => Self::Grpc,
        }
    }
}

impl fmt::Display for CardBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escape(self.as_str(), NAME_SHOWN))
    }
}

/// A protocol version as a card states it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CardVersion {
    /// `Major.Minor`, the patch ignored (A2A 1.0 §3.6).
    Known(ProtocolVersion),
    /// Anything else, as it stands there. It equals no version of a client.
    Other(Box<str>),
}

impl CardVersion {
    pub(super) fn of(text: &str) -> Self {
        ProtocolVersion::parse(text).map_or_else(|| Self::Other(text.into()), Self::Known)
    }

    /// The version, if it can be compared.
    #[must_use]
    pub fn known(&self) -> Option<ProtocolVersion> {
        match self {
            Self::Known(version) => Some(*version),
            Self::Other(_) => None,
        }
    }
}

impl From<ProtocolVersion> for CardVersion {
    fn from(version: ProtocolVersion) -> Self {
        Self::Known(version)
    }
}

impl fmt::Display for CardVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(version) => write!(f, "{version}"),
            Self::Other(text) => write!(f, "\"{}\"", escape(text, NAME_SHOWN)),
        }
    }
}

/// How calls to an interface are written: one spelling serves several versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `SendMessage`; `/message:send`; gRPC package `lf.a2a.v1`.
    V1,
    /// `message/send`; `/v1/message:send`; gRPC package `a2a.v1`.
    V0_3,
    /// `tasks/send` or `message/send`: the method was renamed within 0.2, and a card of it need not say where it
    /// stands.
    V0_2,
}

impl Dialect {
    /// The dialect of a version; `None` for one that this crate does not know how to write.
    #[must_use]
    pub const fn of(version: ProtocolVersion) -> Option<Self> {
        match (version.major(), version.minor()) {
            (1, _) => Some(Self::V1),
            (0, 3) => Some(Self::V0_3),
            (0, 0..=2) => Some(Self::V0_2),
            _ => None,
        }
    }

    /// What stands between an interface's URL and an operation of HTTP+JSON.
    #[must_use]
    pub const fn http_json_prefix(self) -> &'static str {
        match self {
            Self::V1 => "",
            Self::V0_3 | Self::V0_2 => "/v1",
        }
    }
}

/// Where in its card an interface stands. It displays as a path: `supportedInterfaces[0]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// An entry of `supportedInterfaces` (1.0).
    Supported(usize),
    /// The `url` of the card itself (0.3 and older).
    Url,
    /// An entry of `additionalInterfaces` (0.3).
    Additional(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Supported(index) => write!(f, "supportedInterfaces[{index}]"),
            Self::Url => f.write_str("url"),
            Self::Additional(index) => write!(f, "additionalInterfaces[{index}]"),
        }
    }
}

/// One interface of an agent (A2A 1.0 §4.4.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentInterface {
    pub(super) url: Box<str>,
    pub(super) parsed: Result<CardUrl, UrlFault>,
    pub(super) binding: CardBinding,
    pub(super) version: CardVersion,
    pub(super) tenant: Option<Box<str>>,
    pub(super) place: Place,
}

impl AgentInterface {
    pub(super) fn new(url: &str, binding: CardBinding, version: CardVersion, place: Place) -> Self {
        let parsed = match binding {
            CardBinding::Grpc => CardUrl::parse_grpc(url),
            _ => CardUrl::parse(url),
        };
        Self { url: url.into(), parsed, binding, version, tenant: None, place }
    }

    /// The URL as the card states it. It is a stranger's text: see [`UrlPolicy`](super::UrlPolicy).
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL taken apart.
    ///
    /// # Errors
    ///
    /// What makes it no URL.
    pub fn parsed_url(&self) -> Result<&CardUrl, UrlFault> {
        self.parsed.as_ref().map_err(|fault| *fault)
    }

    /// The binding.
    #[must_use]
    pub fn binding(&self) -> &CardBinding {
        &self.binding
    }

    /// The protocol version.
    #[must_use]
    pub fn version(&self) -> &CardVersion {
        &self.version
    }

    /// The tenant, exactly as declared; the empty string is none (A2A 1.0 §8.3.2).
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Where in the card it stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether calls to it and to another one are alike, wherever in their cards they stand.
    #[cfg(feature = "directory")]
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        (&self.url, &self.binding, &self.version, &self.tenant)
            == (&other.url, &other.binding, &other.version, &other.tenant)
    }

    /// How calls to it are written.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        self.version.known().and_then(Dialect::of)
    }

    /// Whether a call written in `version` is one to this interface: the same `Major.Minor`; and 0.3's spelling also
    /// where the card says 0.2, which had it before.
    #[must_use]
    pub fn understands(&self, version: ProtocolVersion) -> bool {
        self.version.known() == Some(version)
            || (self.dialect() == Some(Dialect::V0_2)
                && matches!(version, ProtocolVersion::V0_2 | ProtocolVersion::V0_3))
    }

    /// Host and port to connect to, and whether the card says by TLS; a path is dropped.
    ///
    /// # Errors
    ///
    /// What makes the URL none.
    pub fn authority(&self) -> Result<Authority, UrlFault> {
        self.parsed_url().map(Authority::of)
    }
}

/// Where to connect, as gRPC wants it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    host_port: Box<str>,
    tls: Option<bool>,
}

impl Authority {
    pub(crate) fn of(url: &CardUrl) -> Self {
        let port = url.port().unwrap_or(match url.scheme() {
            Some(Scheme::Http) => 80,
            Some(Scheme::Https) | None => 443,
        });
        Self {
            host_port: format!("{}:{port}", url.host()).into(),
            tls: url.scheme().map(|scheme| scheme == Scheme::Https),
        }
    }

    /// `host:port`, the port always stated.
    #[must_use]
    pub fn host_port(&self) -> &str {
        &self.host_port
    }

    /// Whether TLS is due. `None`: the card states no scheme. Use what the agent's own origin uses, and TLS where there
    /// is none: production must (A2A 1.0 §7.1).
    #[must_use]
    pub fn tls(&self) -> Option<bool> {
        self.tls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(url: &str, binding: &str, version: &str) -> AgentInterface {
        AgentInterface::new(url, CardBinding::of(binding), CardVersion::of(version), Place::Supported(0))
    }

    #[test]
    fn bindings_are_an_open_list() {
        for (name, binding) in [
            ("JSONRPC", CardBinding::JsonRpc),
            ("jsonRpc", CardBinding::JsonRpc),
            ("HTTP+JSON", CardBinding::HttpJson),
            ("GRPC", CardBinding::Grpc),
            ("ACME-BUS", CardBinding::Other("ACME-BUS".into())),
            ("REST", CardBinding::Other("REST".into())),
            ("JSONRPC ", CardBinding::Other("JSONRPC ".into())),
        ] {
            assert_eq!(CardBinding::of(name), binding, "{name}");
        }
        assert_eq!(CardBinding::of("a\nb").to_string(), "a\\nb");
    }

    #[test]
    fn the_dialect_follows_from_the_version() {
        for (text, dialect) in [
            ("1.0", Some(Dialect::V1)),
            ("1.0.3", Some(Dialect::V1)),
            ("1.7", Some(Dialect::V1)),
            ("0.3.0", Some(Dialect::V0_3)),
            ("0.2.6", Some(Dialect::V0_2)),
            ("0.1", Some(Dialect::V0_2)),
            ("0.4", None),
            ("2.0", None),
            ("latest", None),
        ] {
            assert_eq!(interface("https://a", "JSONRPC", text).dialect(), dialect, "{text}");
        }
    }

    #[test]
    fn a_version_is_understood_where_it_is_the_same() {
        use ProtocolVersion as V;
        let versions = [V::V1_0, V::V0_3, V::V0_2, V::new(1, 1)];
        for (text, understood) in [
            ("1.0", [true, false, false, false]),
            ("1.0.9", [true, false, false, false]),
            ("1.1", [false, false, false, true]),
            ("0.3.0", [false, true, false, false]),
            ("0.2.5", [false, true, true, false]),
            ("1", [false; 4]),
            ("v1.0", [false; 4]),
        ] {
            let interface = interface("https://a", "JSONRPC", text);
            assert_eq!(versions.map(|version| interface.understands(version)), understood, "{text}");
        }
    }

    #[test]
    fn an_authority_always_has_a_port_and_never_a_path() {
        for (url, host_port, tls) in [
            ("https://grpc.example.com/a2a", "grpc.example.com:443", Some(true)),
            ("https://grpc.example.com:8443", "grpc.example.com:8443", Some(true)),
            ("http://grpc.example.com", "grpc.example.com:80", Some(false)),
            ("grpc.example.com:50051", "grpc.example.com:50051", None),
            ("grpc.example.com", "grpc.example.com:443", None),
            ("[2001:db8::1]:50051", "[2001:db8::1]:50051", None),
        ] {
            let authority = interface(url, "GRPC", "1.0").authority().unwrap();
            assert_eq!((authority.host_port(), authority.tls()), (host_port, tls), "{url}");
        }
        // Only gRPC knows URLs without a scheme.
        assert_eq!(interface("a:1", "JSONRPC", "1.0").authority(), Err(UrlFault::Relative));
        assert_eq!(interface("", "GRPC", "1.0").authority(), Err(UrlFault::Relative));
    }
}
