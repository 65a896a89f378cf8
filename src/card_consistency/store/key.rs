//! What a card is kept under, and how that is looked up without an allocation.

use std::{
    fmt,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    io,
};

use http::{
    HeaderMap, HeaderName, HeaderValue, Uri,
    uri::{Authority, Scheme},
};
use quick_cache::Equivalent;

use crate::{call::ProtocolVersion, error::without_secrets, words};

/// Where the card of a call is kept: the target, and what else of the call decides which card it gets.
///
/// Borrowed from the call, so that looking a card up costs no allocation.
#[derive(Clone, Copy)]
pub struct CardKeyRef<'a> {
    pub(super) target: &'a Uri,
    pub(super) path: &'a str,
    pub(super) headers: &'a HeaderMap,
    pub(super) version: Option<ProtocolVersion>,
    pub(super) tenant: Option<&'a str>,
    /// Of a JSON-RPC URL, where agents of one path may be told apart by it.
    pub(super) query: Option<&'a str>,
    /// By whose rules a card counts for the call: see [`CardKeyRef::judged_by`].
    pub(super) judge: Option<Judge>,
}

impl<'a> CardKeyRef<'a> {
    /// Of a target that `target` names in full: scheme, authority, and the base path of the agent. `headers` are the
    /// call's: the store reads its tenant headers and, where the card is not public, its credentials from them.
    #[must_use]
    pub fn new(target: &'a Uri, headers: &'a HeaderMap) -> Self {
        Self { target, path: target.path(), headers, version: None, tenant: None, query: None, judge: None }
    }

    /// Another base path than the URI's: what stands before `/message:send`, say.
    #[must_use]
    pub fn with_path(mut self, path: &'a str) -> Self {
        self.path = path;
        self
    }

    /// The version that the call is written in.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<Option<ProtocolVersion>>) -> Self {
        self.version = version.into();
        self
    }

    /// The tenant that the call is for. It only counts where a card's location depends on it.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<Option<&'a str>>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// The query of the call's URL, where it is a part of the agent's address. It only counts for an extended card.
    pub(in crate::card_consistency) fn with_query(mut self, query: Option<&'a str>) -> Self {
        self.query = query;
        self
    }

    /// By whose rules a card counts for the call. That a card does not count is one judge's word, and stands beside the
    /// cards.
    pub(in crate::card_consistency) fn judged_by(mut self, judge: Option<Judge>) -> Self {
        self.judge = judge;
        self
    }
}

/// Without the call's headers, which hold its credentials.
impl fmt::Debug for CardKeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardKeyRef")
            .field("target", &without_secrets(self.target))
            .field("path", &self.path)
            .field("version", &self.version)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}

/// The rules by which a card counts as the target's: a hash, keyed anew by each store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::card_consistency) struct Judge(u64);

/// What an entry is to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Beside(u64);

impl Beside {
    /// Its card.
    const CARD: Self = Self(0);
    /// Its extended card.
    const EXTENDED: Self = Self(1);

    /// The word of a judge that its card is none.
    fn of(judge: Judge) -> Self {
        Self(judge.0.max(2))
    }
}

/// Which facts of a call, other than target and tenant, decide which card it gets. The card's own answers tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// `Vary` names `A2A-Version`.
    pub(super) version: bool,
    /// It is `private`, `Vary` names a credential, or it came after a 401.
    pub(super) credential: bool,
    /// It is the extended card, which stands beside the public one.
    pub(super) extended: bool,
}

impl Scope {
    pub(super) const FULL: Self = Self { version: true, credential: true, extended: false };

    /// An extended card is asked for in a call's dialect, with its credentials, for its tenant.
    pub(super) const EXTENDED: Self = Self { version: true, credential: true, extended: true };

    pub(super) fn is_narrow(self) -> bool {
        self.version || self.credential
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            version: self.version || other.version,
            credential: self.credential || other.credential,
            extended: self.extended || other.extended,
        }
    }
}

/// Whose credentials a card was shown to. The credentials themselves are not kept: a hash, keyed anew by each store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Credential(u64);

impl Credential {
    /// Everybody's.
    const ANY: Self = Self(0);
    /// Shown to a call without credentials, and for nobody else.
    pub(super) const NONE: Self = Self(1);
}

/// A version as a part of a key: one that makes no difference is not one that was not stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct VersionPart(u32);

impl VersionPart {
    const ANY: Self = Self(0);

    fn of(version: Option<ProtocolVersion>) -> Self {
        match version {
            None => Self(1),
            Some(version) => Self(1 << 16 | u32::from(version.major()) << 8 | u32::from(version.minor())),
        }
    }
}

/// Which parts of a call are parts of its keys.
#[derive(Debug)]
pub(super) struct Keying {
    pub(super) tenant_headers: Box<[HeaderName]>,
    pub(super) credential_headers: Box<[HeaderName]>,
    /// A configured location depends on the tenant.
    pub(super) by_tenant: bool,
    pub(super) random: RandomState,
}

impl Keying {
    pub(super) fn has_credentials(&self, headers: &HeaderMap) -> bool {
        self.credential_headers.iter().any(|name| headers.contains_key(name))
    }

    pub(super) fn judge(&self, rules: impl Hash) -> Judge {
        Judge(self.random.hash_one(rules))
    }

    pub(super) fn credential(&self, headers: &HeaderMap) -> Credential {
        let mut hasher = self.random.build_hasher();
        let mut some = false;
        for name in &self.credential_headers {
            for value in headers.get_all(name) {
                some = true;
                name.hash(&mut hasher);
                value.hash(&mut hasher);
            }
        }
        if some { Credential(hasher.finish().max(2)) } else { Credential::NONE }
    }

    #[inline]
    pub(super) fn borrow<'a>(&'a self, at: &CardKeyRef<'a>, scope: Scope) -> Borrowed<'a> {
        Borrowed {
            scheme: SchemePart::of(at.target),
            authority: at.target.authority().map_or("", Authority::as_str),
            path: trimmed(at.path),
            tenant: at.tenant.filter(|_| self.by_tenant || scope.extended).unwrap_or_default(),
            beside: match at.judge {
                _ if scope.extended => Beside::EXTENDED,
                Some(judge) => Beside::of(judge),
                None => Beside::CARD,
            },
            headers: Values { names: &self.tenant_headers, of: at.headers },
            version: if scope.version { VersionPart::of(at.version) } else { VersionPart::ANY },
            credential: match (scope.credential, at.query) {
                (false, _) => Credential::ANY,
                // It may hold a secret as well, and is not kept either.
                (true, Some(query)) if scope.extended => {
                    Credential(self.random.hash_one((self.credential(at.headers), query)).max(2))
                }
                (true, _) => self.credential(at.headers),
            },
        }
    }
}

/// A scheme as a part of a key: one of the two that there are, or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemePart<'a> {
    Http,
    Https,
    Other(&'a str),
}

impl<'a> SchemePart<'a> {
    #[inline]
    fn of(uri: &'a Uri) -> Self {
        match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => Self::Https,
            Some(scheme) if *scheme == Scheme::HTTP => Self::Http,
            Some(scheme) => Self::Other(scheme.as_str()),
            None => Self::Other(""),
        }
    }

    fn as_str(self) -> &'a str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Other(text) => text,
        }
    }

    fn default_port(self) -> u16 {
        if self == Self::Http { 80 } else { 443 }
    }
}

/// An authority as keys have it: the host in lower case, the port where it is not the default one, no user information.
///
/// Most are written so already. What a call has is looked up as it is, and spelled anew only if that finds nothing.
struct Canonical {
    short: [u8; 272],
    len: usize,
    long: String,
}

impl Canonical {
    fn of(authority: &str, scheme: SchemePart<'_>) -> Self {
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

    fn as_str(&self) -> &str {
        let short = self.short.get(..self.len).and_then(|short| std::str::from_utf8(short).ok());
        short.filter(|short| !short.is_empty()).unwrap_or(&self.long)
    }
}

/// The base path of an agent: one with a slash at its end is the same one.
pub(super) fn trimmed(mut path: &str) -> &str {
    while let Some(shorter) = path.strip_suffix('/') {
        path = shorter;
    }
    path
}

pub(super) fn port(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or_else(|| SchemePart::of(uri).default_port())
}

/// The key of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardKey {
    scheme: Box<str>,
    authority: Box<str>,
    path: Box<str>,
    tenant: Box<str>,
    beside: Beside,
    /// Each with its header's place among those configured.
    headers: Box<[(usize, HeaderValue)]>,
    version: VersionPart,
    credential: Credential,
}

impl CardKey {
    fn scheme(&self) -> SchemePart<'_> {
        match &*self.scheme {
            "http" => SchemePart::Http,
            "https" => SchemePart::Https,
            other => SchemePart::Other(other),
        }
    }

    /// Whether it is one of the target's, whatever else it depends on.
    pub(super) fn is_of(&self, target: &Uri) -> bool {
        let scheme = SchemePart::of(target);
        let authority = Canonical::of(target.authority().map_or("", Authority::as_str), scheme);
        self.scheme() == scheme && *self.authority == *authority.as_str() && *self.path == *trimmed(target.path())
    }

    pub(super) fn target(&self) -> String {
        let (host, port) = words::host_and_port(&self.authority);
        let port = port.unwrap_or_else(|| self.scheme().default_port());
        format!("{}://{host}:{port}{}", self.scheme, self.path)
    }

    pub(super) fn is_by_credential(&self) -> bool {
        self.credential != Credential::ANY
    }

    pub(super) fn is_extended(&self) -> bool {
        self.beside == Beside::EXTENDED
    }
}

impl Hash for CardKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let headers = self.headers.iter().map(|(index, value)| (*index, value));
        let parts = (self.version, self.credential, self.beside);
        hash(state, &self.authority, (&self.path, &self.tenant), headers, parts);
    }
}

/// The values of tenant headers, each with its header's place. Read where they stand: most stores know no such header.
#[derive(Clone, Copy, Debug)]
struct Values<'a> {
    names: &'a [HeaderName],
    of: &'a HeaderMap,
}

impl<'a> Values<'a> {
    #[inline]
    fn iter(self) -> impl Iterator<Item = (usize, &'a HeaderValue)> {
        let Self { names, of } = self;
        let values = move |(index, name)| of.get_all(name).iter().map(move |value| (index, value));
        names.iter().enumerate().flat_map(values)
    }
}

/// A key put together from a call.
#[derive(Debug)]
pub(super) struct Borrowed<'a> {
    scheme: SchemePart<'a>,
    authority: &'a str,
    path: &'a str,
    tenant: &'a str,
    beside: Beside,
    headers: Values<'a>,
    version: VersionPart,
    credential: Credential,
}

impl Borrowed<'_> {
    fn headers_equal(&self, kept: &[(usize, HeaderValue)]) -> bool {
        if self.headers.names.is_empty() {
            return kept.is_empty();
        }
        let mut kept = kept.iter();
        let same = self.headers.iter().all(|(index, value)| {
            kept.next().is_some_and(|kept| kept.0 == index && words::equal(kept.1.as_bytes(), value.as_bytes()))
        });
        same && kept.next().is_none()
    }

    /// Looks it up as it is, then as keys have it.
    #[inline]
    pub(super) fn find<T>(&self, find: impl Fn(&Borrowed<'_>) -> Option<T>) -> Option<T> {
        find(self).or_else(|| {
            let authority = Canonical::of(self.authority, self.scheme);
            if authority.as_str() == self.authority {
                return None;
            }
            let Self { scheme, path, tenant, beside, headers, version, credential, .. } = *self;
            let authority = authority.as_str();
            find(&Borrowed { scheme, authority, path, tenant, beside, headers, version, credential })
        })
    }

    pub(super) fn to_key(&self) -> CardKey {
        CardKey {
            scheme: self.scheme.as_str().to_ascii_lowercase().into(),
            authority: Canonical::of(self.authority, self.scheme).as_str().into(),
            path: self.path.into(),
            tenant: self.tenant.into(),
            beside: self.beside,
            headers: self.headers.iter().map(|(index, value)| (index, value.clone())).collect(),
            version: self.version,
            credential: self.credential,
        }
    }
}

impl Hash for Borrowed<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parts = (self.version, self.credential, self.beside);
        hash(state, self.authority, (self.path, self.tenant), self.headers.iter(), parts);
    }
}

impl Equivalent<CardKey> for Borrowed<'_> {
    fn equivalent(&self, key: &CardKey) -> bool {
        self.version == key.version
            && self.credential == key.credential
            && self.beside == key.beside
            && words::equal(self.authority.as_bytes(), key.authority.as_bytes())
            && words::equal(self.path.as_bytes(), key.path.as_bytes())
            && self.scheme == key.scheme()
            && words::equal(self.tenant.as_bytes(), key.tenant.as_bytes())
            && self.headers_equal(&key.headers)
    }
}

/// The same for both kinds of keys. The scheme is left to the comparison: hardly an agent has both.
fn hash<'a, H: Hasher>(
    state: &mut H,
    authority: &str,
    (path, tenant): (&str, &str),
    headers: impl Iterator<Item = (usize, &'a HeaderValue)>,
    (version, credential, beside): (VersionPart, Credential, Beside),
) {
    // Without what would tell `a` and `bc` from `ab` and `c`: to hash alike costs a comparison.
    state.write(authority.as_bytes());
    state.write(path.as_bytes());
    if version != VersionPart::ANY || credential != Credential::ANY || beside != Beside::CARD {
        state.write_u64(beside.0.rotate_left(32) ^ u64::from(version.0));
        state.write_u64(credential.0);
    }
    if !tenant.is_empty() {
        state.write(tenant.as_bytes());
    }
    for (index, value) in headers {
        state.write_usize(index);
        state.write(value.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keying() -> Keying {
        Keying {
            tenant_headers: [HeaderName::from_static("x-tenant")].into(),
            credential_headers: [http::header::AUTHORIZATION].into(),
            by_tenant: true,
            random: RandomState::new(),
        }
    }

    fn hash_of(value: &impl Hash) -> u64 {
        use std::hash::DefaultHasher;
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    /// Whether a call to the second finds what is kept for the first.
    fn same(first: CardKeyRef<'_>, second: CardKeyRef<'_>, scope: Scope) -> bool {
        let keying = keying();
        let key = keying.borrow(&first, scope).to_key();
        let borrowed = keying.borrow(&second, scope);
        let found = |borrowed: &Borrowed<'_>| {
            let equivalent = borrowed.equivalent(&key);
            if equivalent {
                assert_eq!(hash_of(borrowed), hash_of(&key));
            }
            equivalent.then_some(())
        };
        let equivalent = borrowed.find(found).is_some();
        assert_eq!(equivalent, borrowed.to_key() == key);
        equivalent
    }

    #[test]
    fn one_target_however_it_is_spelled() {
        let none = HeaderMap::new();
        let first = Uri::from_static("https://Agent.Example.com/a2a/");
        for (other, expected) in [
            ("https://agent.example.com:443/a2a", true),
            ("HTTPS://AGENT.example.COM/a2a", true),
            ("https://user@agent.example.com/a2a?x=1", true),
            ("https://agent.example.com/A2A", false),
            ("https://agent.example.com:444/a2a", false),
            ("http://agent.example.com:443/a2a", false),
            ("https://agent.example.com./a2a", false),
            ("https://agent.example.con/a2a", false),
        ] {
            let other = other.parse().unwrap();
            let is = same(CardKeyRef::new(&first, &none), CardKeyRef::new(&other, &none), Scope::FULL);
            assert_eq!(is, expected, "{other}");
        }
    }

    #[test]
    fn tenant_and_tenant_headers_always_count() {
        let target = Uri::from_static("https://agent.example.com");
        let (a, b) = (headers(&[("x-tenant", "a")]), headers(&[("x-tenant", "b"), ("x-other", "1")]));
        let bare = HeaderMap::new();
        let key = |headers| CardKeyRef::new(&target, headers);
        let none = Scope::default();
        assert!(same(key(&a), key(&a), none));
        assert!(!same(key(&a), key(&b), none));
        assert!(!same(key(&a), key(&bare), none));
        assert!(!same(key(&a).with_tenant("t"), key(&a), none));
    }

    #[test]
    fn every_value_of_a_tenant_header_counts() {
        let target = Uri::from_static("https://agent.example.com");
        let of = |count: usize| -> HeaderMap {
            let mut headers = HeaderMap::new();
            (0..count).for_each(|n| assert_eq!(headers.append("x-tenant", HeaderValue::from(n)), n > 0));
            headers
        };
        for (first, second) in (0..8).flat_map(|first| (0..8).map(move |second| (first, second))) {
            let (a, b) = (of(first), of(second));
            let is = same(CardKeyRef::new(&target, &a), CardKeyRef::new(&target, &b), Scope::default());
            assert_eq!(is, first == second, "{first} {second}");
        }
    }

    #[test]
    fn version_and_credential_count_within_their_scope() {
        let target = Uri::from_static("https://agent.example.com");
        let (a, b) = (headers(&[("authorization", "Bearer a")]), headers(&[("authorization", "Bearer b")]));
        let bare = HeaderMap::new();
        let key = |headers| CardKeyRef::new(&target, headers);
        let credential = Scope { credential: true, ..Scope::default() };
        let version = Scope { version: true, ..Scope::default() };
        assert!(same(key(&a), key(&b), version));
        assert!(same(key(&a), key(&a), credential));
        assert!(!same(key(&a), key(&b), credential));
        assert!(!same(key(&a), key(&bare), credential));
        assert!(same(key(&a).with_version(ProtocolVersion::V1_0), key(&a), credential));
        assert!(!same(key(&a).with_version(ProtocolVersion::V1_0), key(&a), version));
        assert!(!same(
            key(&a).with_version(ProtocolVersion::V1_0),
            key(&a).with_version(ProtocolVersion::V0_3),
            version
        ));
        let every = [None, Some((0, 0)), Some((0, 1)), Some((0, 3)), Some((1, 0)), Some((1, 3)), Some((2, 0))];
        let every = every.map(|version| version.map(|(major, minor)| ProtocolVersion::new(major, minor)));
        for (one, other) in every.iter().flat_map(|one| every.map(|other| (*one, other))) {
            let is = same(key(&a).with_version(one), key(&a).with_version(other), version);
            assert_eq!(is, one == other, "{one:?} {other:?}");
        }
        // "Makes no difference" is a key of its own.
        let keying = keying();
        let any = keying.borrow(&key(&a), Scope::default()).to_key();
        assert_ne!(any, keying.borrow(&key(&a), version).to_key());
        assert_ne!(any, keying.borrow(&key(&bare), credential).to_key());
    }

    #[test]
    fn an_authority_is_found_however_it_is_spelled() {
        let none = HeaderMap::new();
        let long = "a".repeat(300);
        for (kept, asked) in [
            ("https://agent.example.com", "https://AGENT.example.com:443"),
            ("https://agent.example.com:443", "https://u:p@agent.example.com"),
            ("http://agent.example.com:80", "http://agent.example.com"),
            ("http://Agent.example.com:443", "http://agent.example.com:443"),
            ("https://[::1]:8443", "https://[::1]:8443"),
            (&*format!("https://{long}.example.com:8443"), &*format!("https://{long}.EXAMPLE.com:8443")),
        ] {
            let (kept, asked) = (kept.parse::<Uri>().unwrap(), asked.parse::<Uri>().unwrap());
            let found = same(CardKeyRef::new(&kept, &none), CardKeyRef::new(&asked, &none), Scope::default());
            assert!(found, "{kept} {asked}");
            assert!(keying().borrow(&CardKeyRef::new(&kept, &none), Scope::default()).to_key().is_of(&asked));
        }
        for (kept, asked) in [
            ("https://agent.example.com", "http://agent.example.com:443"),
            ("https://agent.example.com:80", "https://agent.example.com"),
            ("https://agent.example.com:8443", "https://agent.example.com:443"),
            ("http://agent.example.com:80", "ws://agent.example.com:80"),
            ("https://agent.example.com/a", "https://agent.example.com/b"),
        ] {
            let (kept, asked) = (Uri::from_static(kept), Uri::from_static(asked));
            assert!(!same(CardKeyRef::new(&kept, &none), CardKeyRef::new(&asked, &none), Scope::default()));
            assert!(!keying().borrow(&CardKeyRef::new(&kept, &none), Scope::default()).to_key().is_of(&asked));
        }
    }

    #[test]
    fn an_extended_card_stands_beside_the_public_one_for_each_tenant() {
        let target = Uri::from_static("https://agent.example.com");
        let none = HeaderMap::new();
        let keying = Keying { by_tenant: false, ..keying() };
        let key = |tenant, scope| keying.borrow(&CardKeyRef::new(&target, &none).with_tenant(tenant), scope).to_key();
        assert_ne!(key(None, Scope::EXTENDED), key(None, Scope::FULL));
        assert_ne!(key(None, Scope::EXTENDED), key(Some("acme"), Scope::EXTENDED));
        assert_eq!(key(None, Scope::FULL), key(Some("acme"), Scope::FULL));
        assert!(key(None, Scope::EXTENDED).is_of(&target));
    }

    #[test]
    fn a_query_tells_extended_cards_apart_and_no_others() {
        let target = Uri::from_static("https://agent.example.com");
        let secret = headers(&[("authorization", "Bearer secret")]);
        let at = |query| CardKeyRef::new(&target, &secret).with_query(query);
        let (one, other) = (at(Some("agent=1")), at(Some("agent=2")));
        for scope in [Scope::default(), Scope::FULL] {
            assert!(same(one, other, scope) && same(one, at(None), scope), "{scope:?}");
        }
        assert!(same(one, one, Scope::EXTENDED));
        assert!(!same(one, other, Scope::EXTENDED) && !same(one, at(None), Scope::EXTENDED));
    }

    /// Else all calls to one agent would be looked up one by one.
    #[test]
    fn what_tells_keys_apart_tells_their_hashes_apart() {
        let [a, b, other] = ["https://a.example/x", "https://b.example/x", "https://a.example/y"].map(Uri::from_static);
        let [one, two] = ["1", "2"].map(|token| headers(&[("authorization", token)]));
        let tenant = headers(&[("authorization", "1"), ("x-tenant", "t")]);
        let keying = keying();
        let at = CardKeyRef::new(&a, &one);
        let strict = at.judged_by(Some(keying.judge("strict")));
        let credential = Scope { credential: true, ..Scope::default() };
        let version = Scope { version: true, ..Scope::default() };
        let all = [
            (at, Scope::default()),
            (CardKeyRef::new(&b, &one), Scope::default()),
            (CardKeyRef::new(&other, &one), Scope::default()),
            (CardKeyRef::new(&a, &tenant), Scope::default()),
            (at.with_tenant("t"), Scope::default()),
            (at.with_tenant("u"), Scope::default()),
            (strict, Scope::default()),
            (at.judged_by(Some(keying.judge("lenient"))), Scope::default()),
            (at, credential),
            (CardKeyRef::new(&a, &two), credential),
            (at, version),
            (at.with_version(ProtocolVersion::V1_0), version),
            (at, Scope::EXTENDED),
            (at.with_version(ProtocolVersion::V1_0), Scope::EXTENDED),
        ];
        let mut hashes = all.map(|(at, scope)| hash_of(&keying.borrow(&at, scope)));
        hashes.sort_unstable();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]), "{hashes:?}");
    }

    #[test]
    fn credentials_are_not_kept() {
        let target = Uri::from_static("https://agent.example.com");
        let secret = headers(&[("authorization", "Bearer secret")]);
        let key = keying().borrow(&CardKeyRef::new(&target, &secret), Scope::FULL).to_key();
        assert!(key.is_by_credential());
        assert!(!format!("{key:?}").contains("secret"));
    }
}
