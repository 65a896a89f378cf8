//! What endpoints and places are kept under, and how those are looked up without an allocation.

use std::hash::{Hash, Hasher};

use http::{HeaderMap, HeaderName, HeaderValue, Uri, uri::Authority};
use quick_cache::Equivalent;

use crate::{
    call::{Binding, Call, ProtocolVersion},
    words,
};

/// One endpoint: where a call really goes, for whom, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EndpointKey {
    scheme: Box<str>,
    host: Box<str>,
    port: u16,
    path: Box<str>,
    tenant: Box<str>,
    /// The values of tenant headers, each with its header's place among those configured.
    headers: Box<[(usize, HeaderValue)]>,
    dialect: u32,
}

/// An endpoint, and what a call wants of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlaceKey {
    pub(super) endpoint: EndpointKey,
    pub(super) skill: Box<str>,
    pub(super) region: Box<str>,
}

/// The same, borrowed from a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceRef<'a> {
    pub(super) call: CallRef<'a>,
    scheme: &'a str,
    host: &'a str,
    port: u16,
}

/// What of a call tells where it goes and what it wants there, as it stands in the call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRef<'a> {
    pub(super) uri: &'a Uri,
    /// What stands in front of the operation over HTTP+JSON, path and query over JSON-RPC.
    pub(super) path: &'a str,
    names: &'a [HeaderName],
    headers: &'a HeaderMap,
    tenant: &'a str,
    dialect: u32,
    pub(super) skill: &'a str,
    pub(super) region: &'a str,
}

/// A place without the query that is a part of it over JSON-RPC.
pub(super) fn without_query(place: &str) -> &str {
    place.split_once('?').map_or(place, |(path, _)| path)
}

impl<'a> CallRef<'a> {
    #[inline]
    pub(super) fn new(
        uri: &'a Uri,
        path: &'a str,
        headers: &'a HeaderMap,
        names: &'a [HeaderName],
        call: &'a Call,
    ) -> Self {
        // Calls about a task that is there already say nothing of skills.
        let (skill, region) = match call.skill() {
            Some(skill) if !skill.is_empty() && call.begins_task() => (skill, call.region().unwrap_or_default()),
            _ => ("", ""),
        };
        let dialect = dialect(call.binding(), call.version());
        Self { uri, path, names, headers, tenant: call.tenant().unwrap_or_default(), dialect, skill, region }
    }

    /// Where it goes; `None` for a URI that is not absolute.
    pub(super) fn place(self) -> Option<PlaceRef<'a>> {
        let scheme = self.uri.scheme_str()?;
        let (host, port) = words::host_and_port(self.uri.authority().map(Authority::as_str)?);
        let port = port.unwrap_or(default_port(scheme));
        Some(PlaceRef { call: self, scheme, host, port })
    }

    /// Whether the call is like the one that a key was made of: `uri` is that one's.
    #[inline]
    pub(super) fn is_like(&self, uri: &Uri, key: &PlaceKey) -> bool {
        self.rest_equals(key) && words::same_origin(self.uri, uri)
    }

    /// Everything but the origin.
    #[inline]
    fn rest_equals(&self, PlaceKey { endpoint: key, skill, region }: &PlaceKey) -> bool {
        self.dialect == key.dialect
            && words::equal(self.path.as_bytes(), key.path.as_bytes())
            && words::equal(self.skill.as_bytes(), skill.as_bytes())
            && words::equal(self.region.as_bytes(), region.as_bytes())
            && words::equal(self.tenant.as_bytes(), key.tenant.as_bytes())
            && (self.names.is_empty() || self.values().eq(key.headers.iter().map(|(index, value)| (*index, value))))
    }

    fn values(&self) -> impl Iterator<Item = (usize, &'a HeaderValue)> + use<'a> {
        let headers = self.headers;
        let each = move |(index, name)| headers.get_all(name).iter().map(move |value| (index, value));
        self.names.iter().enumerate().flat_map(each)
    }
}

impl<'a> PlaceRef<'a> {
    /// Its origin, as a URL.
    pub(super) fn origin(&self) -> String {
        format!("{}://{}:{}", self.scheme, self.host, self.port)
    }

    pub(super) fn to_key(self) -> PlaceKey {
        PlaceKey {
            endpoint: EndpointKey {
                scheme: self.scheme.to_ascii_lowercase().into(),
                host: self.host.to_ascii_lowercase().into(),
                port: self.port,
                path: self.call.path.into(),
                tenant: self.call.tenant.into(),
                headers: self.call.values().map(|(index, value)| (index, value.clone())).collect(),
                dialect: self.call.dialect,
            },
            skill: self.call.skill.into(),
            region: self.call.region.into(),
        }
    }
}

/// Of the two schemes there are, by their length.
#[inline]
fn default_port(scheme: &str) -> u16 {
    if scheme.len() == "http".len() { 80 } else { 443 }
}

/// Binding and version, told apart from none.
#[inline]
fn dialect(binding: Option<Binding>, version: Option<ProtocolVersion>) -> u32 {
    let binding = match binding {
        None => 0,
        Some(Binding::JsonRpc) => 1,
        Some(Binding::HttpJson) => 2,
        Some(Binding::Grpc) => 3,
    };
    let version = version.map_or(0, |version| 1 << 16 | u32::from(version.major()) << 8 | u32::from(version.minor()));
    binding << 24 | version
}

impl EndpointKey {
    /// Whether it is at this origin.
    pub(super) fn is_at(&self, uri: &Uri) -> bool {
        let scheme = uri.scheme_str().unwrap_or_default();
        let (host, port) = words::host_and_port(uri.authority().map_or("", Authority::as_str));
        self.scheme.eq_ignore_ascii_case(scheme)
            && self.host.eq_ignore_ascii_case(host)
            && self.port == port.unwrap_or(default_port(scheme))
    }

    /// For people to read, and so without what may be secret in it.
    pub(super) fn url(&self) -> String {
        format!("{}://{}:{}{}", self.scheme, self.host, self.port, without_query(&self.path))
    }

    pub(super) fn tenant(&self) -> Option<&str> {
        Some(&*self.tenant).filter(|tenant| !tenant.is_empty())
    }
}

impl Hash for EndpointKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let headers = self.headers.iter().map(|(index, value)| (*index, value));
        hash_endpoint(state, (&self.host, self.port, self.dialect), (&self.path, &self.tenant), headers);
    }
}

impl Hash for PlaceKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.endpoint.hash(state);
        hash_wish(state, &self.skill, &self.region);
    }
}

impl Hash for PlaceRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let call = &self.call;
        hash_endpoint(state, (self.host, self.port, call.dialect), (call.path, call.tenant), call.values());
        hash_wish(state, call.skill, call.region);
    }
}

impl Equivalent<PlaceKey> for PlaceRef<'_> {
    fn equivalent(&self, key: &PlaceKey) -> bool {
        self.port == key.endpoint.port
            && self.call.rest_equals(key)
            && words::equal_in_any_case(self.host.as_bytes(), key.endpoint.host.as_bytes())
            && words::equal_in_any_case(self.scheme.as_bytes(), key.endpoint.scheme.as_bytes())
    }
}

/// The scheme is left to the comparison: the port nearly always tells.
fn hash_endpoint<'a, H: Hasher>(
    state: &mut H,
    (host, port, dialect): (&str, u16, u32),
    (path, tenant): (&str, &str),
    headers: impl Iterator<Item = (usize, &'a HeaderValue)>,
) {
    words::hash_in_any_case(host.as_bytes(), state);
    words::hash(path.as_bytes(), state);
    state.write_u64(u64::from(port) << 32 | u64::from(dialect));
    if !tenant.is_empty() {
        words::hash(tenant.as_bytes(), state);
    }
    for (index, value) in headers {
        state.write_usize(index);
        words::hash(value.as_bytes(), state);
    }
}

fn hash_wish<H: Hasher>(state: &mut H, skill: &str, region: &str) {
    if !skill.is_empty() {
        words::hash(skill.as_bytes(), state);
        words::hash(region.as_bytes(), state);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use super::*;
    use crate::call::Operation;

    fn hash_of(value: &impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }

    static TENANT: [HeaderName; 1] = [HeaderName::from_static("x-tenant")];

    fn send() -> Call {
        Call::new().with_operation(Operation::SendMessage).with_binding(Binding::JsonRpc)
    }

    /// Whether a call to the second finds what is kept for the first.
    fn same(first: (&str, &Call, &HeaderMap), second: (&str, &Call, &HeaderMap)) -> bool {
        let uris = (first.0.parse::<Uri>().unwrap(), second.0.parse::<Uri>().unwrap());
        let first = CallRef::new(&uris.0, uris.0.path(), first.2, &TENANT, first.1).place().unwrap();
        let second = CallRef::new(&uris.1, uris.1.path(), second.2, &TENANT, second.1).place().unwrap();
        let key = first.to_key();
        let same = second.equivalent(&key);
        assert_eq!(same, second.to_key() == key);
        // Spelled alike, that shows at once; spelled otherwise, it need not.
        assert!(same || !second.call.is_like(&uris.0, &key));
        let spelled_alike = uris.0.authority().unwrap().as_str() == uris.1.authority().unwrap().as_str();
        assert!(!same || !spelled_alike || second.call.is_like(&uris.0, &key));
        if same {
            assert_eq!((hash_of(&second), hash_of(&second.to_key())), (hash_of(&key), hash_of(&key)));
        }
        same
    }

    #[test]
    fn one_endpoint_however_its_origin_is_spelled() {
        let (call, none) = (send(), HeaderMap::new());
        for (other, expected) in [
            ("https://agent.example.com:443/a2a", true),
            ("HTTPS://AGENT.example.COM/a2a", true),
            ("https://user@agent.example.com/a2a?x=1", true),
            ("https://agent.example.com/A2A", false),
            ("https://agent.example.com/a2a/", false),
            ("https://agent.example.com:444/a2a", false),
            ("http://agent.example.com:443/a2a", false),
            ("https://other.example.com/a2a", false),
        ] {
            let is = same(("https://Agent.Example.com/a2a", &call, &none), (other, &call, &none));
            assert_eq!(is, expected, "{other}");
        }
    }

    #[test]
    fn what_else_tells_places_apart() {
        let url = "https://agent.example.com/a2a";
        let none = HeaderMap::new();
        let skilled = || send().with_skill("translate").with_region("eu");
        for (one, other, expected) in [
            (send(), send(), true),
            (send(), send().with_tenant("t"), false),
            (send(), send().with_binding(Binding::HttpJson), false),
            (send().with_version(ProtocolVersion::V1_0), send().with_version(ProtocolVersion::V0_3), false),
            (send().with_version(ProtocolVersion::V1_0), send(), false),
            (send(), skilled(), false),
            (skilled(), skilled(), true),
            (skilled(), skilled().with_region("us"), false),
            (skilled(), skilled().with_skill("summarize"), false),
            (send().with_skill("translate"), skilled(), false),
            // A follow-up addresses its task, and no skill.
            (send(), skilled().with_task_id("t"), true),
            (send(), skilled().with_operation(Operation::GetTask), true),
            (send(), send().with_region("eu"), true),
        ] {
            assert_eq!(same((url, &one, &none), (url, &other, &none)), expected, "{one:?} {other:?}");
        }
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("x-tenant", HeaderValue::from_static(value));
            }
            headers
        };
        for (one, other, expected) in
            [(of(&["a"]), of(&["a"]), true), (of(&["a"]), of(&["b"]), false), (of(&["a"]), of(&["a", "b"]), false)]
        {
            assert_eq!(same((url, &send(), &one), (url, &send(), &other)), expected);
        }
    }

    #[test]
    fn bindings_and_versions_are_told_apart() {
        let bindings = [None, Some(Binding::JsonRpc), Some(Binding::HttpJson), Some(Binding::Grpc)];
        let versions = [None, Some((0, 0)), Some((0, 1)), Some((0, 3)), Some((1, 0)), Some((1, 3)), Some((2, 0))];
        let versions = versions.map(|version| version.map(|(major, minor)| ProtocolVersion::new(major, minor)));
        let all = || bindings.into_iter().flat_map(|binding| versions.map(|version| (binding, version)));
        for (one, other) in all().flat_map(|one| all().map(move |other| (one, other))) {
            assert_eq!(dialect(one.0, one.1) == dialect(other.0, other.1), one == other, "{one:?} {other:?}");
        }
    }

    /// Else all calls to one agent would be looked up one by one.
    #[test]
    fn what_tells_places_apart_tells_their_hashes_apart() {
        let header = HeaderMap::from_iter([(TENANT[0].clone(), HeaderValue::from_static("t"))]);
        let (none, one) = (HeaderMap::new(), "https://a.example/x");
        let skilled = |skill: &str, region: &str| send().with_skill(skill).with_region(region);
        let all = [
            (one, send(), &none),
            ("https://b.example/x", send(), &none),
            ("https://a.example:444/x", send(), &none),
            ("https://a.example/y", send(), &none),
            (one, send(), &header),
            (one, send().with_tenant("t"), &none),
            (one, send().with_tenant("u"), &none),
            (one, send().with_version(ProtocolVersion::V1_0), &none),
            (one, send().with_binding(Binding::HttpJson), &none),
            (one, skilled("a", ""), &none),
            (one, skilled("b", ""), &none),
            (one, skilled("a", "eu"), &none),
        ];
        let mut hashes = all.map(|(uri, call, headers)| {
            let uri = uri.parse::<Uri>().unwrap();
            hash_of(&CallRef::new(&uri, uri.path(), headers, &TENANT, &call).place().unwrap())
        });
        hashes.sort_unstable();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]), "{hashes:?}");
    }

    #[test]
    fn a_relative_uri_is_no_place() {
        let uri = Uri::from_static("/a2a");
        assert!(CallRef::new(&uri, "/a2a", &HeaderMap::new(), &[], &send()).place().is_none());
    }

    #[test]
    fn what_people_read_has_no_query() {
        let (call, none) = (send(), HeaderMap::new());
        for (path, shown) in [("/a2a?key=secret&x=?", "/a2a"), ("/a2a", "/a2a"), ("/?", "/"), ("", "")] {
            let uri = Uri::from_static("https://Agent.example.com");
            let place = CallRef::new(&uri, path, &none, &TENANT, &call).place().unwrap();
            assert_eq!(place.origin(), "https://Agent.example.com:443");
            let key = place.to_key().endpoint;
            assert_eq!(key.url(), format!("https://agent.example.com:443{shown}"));
        }
    }
}
