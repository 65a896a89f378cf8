//! How long an answer is fresh (RFC 9111), read off its head.
//!
//! No library: the one there is for this takes `No-Store` for another directive than `no-store`, splits quoted values
//! at their commas, and reads one of the three forms of dates (RFC 9110 §5.6.7). To put that right before it is asked
//! is to do what it does. What a client's cache needs of the RFC is this page.

use std::time::{Duration, SystemTime};

use http::{
    HeaderMap, HeaderName,
    header::{AGE, CACHE_CONTROL, DATE, EXPIRES, VARY},
};

use crate::times::{date, date_of, seconds};

/// The fields that decide, and that a 304 replaces one by one (RFC 9111 §3.2).
const KEPT: [HeaderName; 4] = [CACHE_CONTROL, DATE, EXPIRES, VARY];

/// What an answer's head says about keeping it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Freshness {
    /// It must not be kept (§5.2.2.5).
    pub(super) no_store: bool,
    /// How long it is fresh from when it was asked for; `None` if it does not say. Its age is taken off already.
    pub(super) lifetime: Option<Duration>,
    /// How old it was when it came (§4.2.3).
    age: Duration,
    /// It may be used for a while after that, where an option allows it (§4.2.4).
    pub(super) may_be_stale: bool,
    /// For one user only (§5.2.2.7).
    pub(super) private: bool,
}

impl Freshness {
    /// Reads a head. `now` stands in for a missing `Date`.
    ///
    /// The age is the `Age` field alone, counted from when the request was sent. The other estimate of §4.2.3, our
    /// clock less the peer's `Date`, would make every card of an agent stale whose clock is slow.
    pub(super) fn of(headers: &HeaderMap, now: SystemTime) -> Self {
        let mut read = Self { may_be_stale: true, age: age(headers), ..Self::default() };
        let mut max_age: Option<u64> = None;
        let mut no_cache = false;
        for value in headers.get_all(CACHE_CONTROL) {
            directives(value.as_bytes(), |name, argument| match name {
                b"no-store" => read.no_store = true,
                b"no-cache" => no_cache = true,
                b"private" => read.private = true,
                b"must-revalidate" => read.may_be_stale = false,
                // Of two, the shorter one (§4.2.1); what is no number is no time.
                b"max-age" => max_age = Some(seconds(argument).unwrap_or(0).min(max_age.unwrap_or(u64::MAX))),
                // `s-maxage` and `proxy-revalidate` speak to shared caches. This one keeps what is private by
                // credential.
                _ => {}
            });
        }
        let lifetime = max_age.map(Duration::from_secs).or_else(|| expires(headers, now));
        read.lifetime = if no_cache {
            read.may_be_stale = false;
            Some(Duration::ZERO)
        } else {
            lifetime.map(|lifetime| lifetime.saturating_sub(read.age))
        };
        read
    }

    /// The same, and a lifetime for an answer that does not say: of that its age is taken off too (§4.2.2).
    pub(super) fn lifetime_or(&self, otherwise: Duration) -> Duration {
        self.lifetime.unwrap_or_else(|| otherwise.saturating_sub(self.age))
    }
}

/// Whether `Vary` names a header; `None` if it names everything, so that no other request is known to match (§4.1).
pub(super) fn varies_by<'a>(headers: &HeaderMap, mut names: impl Iterator<Item = &'a HeaderName>) -> Option<bool> {
    let named: Vec<&[u8]> = headers
        .get_all(VARY)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&b| b == b','))
        .map(<[u8]>::trim_ascii)
        .collect();
    if named.contains(&&b"*"[..]) {
        return None;
    }
    Some(names.any(|name| named.iter().any(|named| named.eq_ignore_ascii_case(name.as_str().as_bytes()))))
}

/// The fields that a later 304 builds on.
pub(super) fn kept(headers: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for name in KEPT {
        for value in headers.get_all(&name) {
            kept.append(name.clone(), value.clone());
        }
    }
    kept
}

/// The stored fields as a 304 updates them. Its age is its own.
pub(super) fn updated(stored: &HeaderMap, not_modified: &HeaderMap) -> HeaderMap {
    let mut updated = kept(not_modified);
    for name in KEPT {
        if !not_modified.contains_key(&name) {
            for value in stored.get_all(&name) {
                updated.append(name.clone(), value.clone());
            }
        }
    }
    if let Some(age) = not_modified.get(AGE) {
        updated.insert(AGE, age.clone());
    }
    updated
}

/// `Expires` less `Date`. What is no date has passed (§5.3).
fn expires(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let mut values = headers.get_all(EXPIRES).iter();
    let first = values.next()?;
    let expires = if values.next().is_some() { None } else { date(first.as_bytes()) };
    Some(expires.and_then(|expires| expires.duration_since(date_of(headers, now)).ok()).unwrap_or_default())
}

/// Of several the first, whether they stand in a line each or in one (§5.1).
fn age(headers: &HeaderMap) -> Duration {
    let first = headers.get(AGE).and_then(|value| value.as_bytes().split(|&b| b == b',').next());
    Duration::from_secs(first.and_then(|value| seconds(value.trim_ascii())).unwrap_or(0))
}

/// Reads `name`, `name=token` and `name="quoted"`, separated by commas (§5.2); names in lower case.
fn directives(value: &[u8], mut each: impl FnMut(&[u8], &[u8])) {
    let mut rest = value;
    while !rest.is_empty() {
        let mut quoted = false;
        let mut escaped = false;
        let end = rest.iter().position(|&byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b',' => return !quoted,
                _ => {}
            }
            false
        });
        let (directive, after) = match end {
            Some(end) => (rest.get(..end).unwrap_or_default(), rest.get(end + 1..).unwrap_or_default()),
            None => (rest, &[][..]),
        };
        rest = after;
        let mut halves = directive.splitn(2, |&byte| byte == b'=');
        let name = halves.next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let argument = halves.next().unwrap_or_default().trim_ascii();
        let bare = argument.strip_prefix(b"\"").and_then(|bare| bare.strip_suffix(b"\"")).unwrap_or(argument);
        if !name.is_empty() {
            each(&name, bare);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    fn lifetime(pairs: &[(&str, &str)]) -> Option<u64> {
        Freshness::of(&headers(pairs), NOW).lifetime.map(|lifetime| lifetime.as_secs())
    }

    #[test]
    fn lifetimes() {
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<u64>);
        let cases: &[Case<'_>] = &[
            (&[], None),
            (&[("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")], None),
            (&[("cache-control", "public")], None),
            (&[("cache-control", "max-age=60")], Some(60)),
            (&[("cache-control", "Public, MAX-AGE=\"60\"")], Some(60)),
            (&[("cache-control", "max-age=60, max-age=30")], Some(30)),
            (&[("cache-control", "max-age=60"), ("cache-control", "max-age=90")], Some(60)),
            (&[("cache-control", "max-age=x")], Some(0)),
            (&[("cache-control", "max-age=-1")], Some(0)),
            (&[("cache-control", "max-age")], Some(0)),
            (&[("cache-control", "max-age=99999999999999999999999")], Some(u64::MAX)),
            (&[("cache-control", "s-maxage=600, max-age=60")], Some(60)),
            (&[("cache-control", "s-maxage=600")], None),
            (&[("cache-control", "max-age=60, no-cache")], Some(0)),
            (&[("cache-control", "x=\"no-cache, no-store\", max-age=5")], Some(5)),
            (&[("cache-control", "x=\"\\\", no-cache\", max-age=5")], Some(5)),
            (&[("cache-control", "x=\"unclosed, max-age=5")], None),
            (&[("cache-control", "x=\\, max-age=5")], Some(5)),
            (&[("cache-control", ",, ,=, max-age=5")], Some(5)),
            (&[("cache-control", "max-age=60"), ("age", "20")], Some(40)),
            (&[("cache-control", "max-age=60"), ("age", "18446744073709551615")], Some(0)),
            (&[("cache-control", "max-age=60"), ("age", "old")], Some(60)),
            (&[("expires", "0")], Some(0)),
            (&[("expires", "Thu, 01 Jan 1970 00:01:00 GMT")], Some(60)),
            (&[("expires", "Thursday, 01-Jan-70 00:01:00 GMT")], Some(60)),
            (&[("expires", "Thu Jan  1 00:01:00 1970")], Some(60)),
            (&[("expires", "Sun, 06 Nov 1994 08:49:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:07 GMT")], Some(30)),
            (&[("expires", "Sun, 06 Nov 1994 08:49:07 GMT"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(0)),
            (&[("expires", "Sun, 06 Nov 1994 08:49:37 GMT"), ("cache-control", "max-age=7")], Some(7)),
            (&[("expires", "((((((((((((((((((((((((((((((((")], Some(0)),
        ];
        for (pairs, expected) in cases {
            assert_eq!(lifetime(pairs), *expected, "{pairs:?}");
        }
    }

    #[test]
    fn what_must_not_be_kept_shared_or_used_stale() {
        let of = |value| Freshness::of(&headers(&[("cache-control", value)]), NOW);
        assert!(of("No-Store").no_store);
        assert!(!of("max-age=1").no_store);
        assert!(of("private=\"x-user, x-team\"").private);
        assert!(!of("public").private);
        assert!(of("max-age=1").may_be_stale);
        assert!(!of("max-age=1, must-revalidate").may_be_stale);
        assert!(!of("no-cache").may_be_stale);
    }

    #[test]
    fn vary_names_headers_in_any_case() {
        let of = |value: &str, name: HeaderName| varies_by(&headers(&[("vary", value)]), [&name].into_iter());
        assert_eq!(of("Accept-Encoding, AUTHORIZATION", http::header::AUTHORIZATION), Some(true));
        assert_eq!(of("Accept-Encoding", http::header::AUTHORIZATION), Some(false));
        assert_eq!(of("accept, *", http::header::AUTHORIZATION), None);
        assert_eq!(varies_by(&HeaderMap::new(), [&VARY].into_iter()), Some(false));
    }

    #[test]
    fn a_304_replaces_what_it_names_and_has_an_age_of_its_own() {
        let stored = kept(&headers(&[("cache-control", "max-age=60"), ("vary", "accept"), ("etag", "\"1\"")]));
        let silent = updated(&stored, &headers(&[("age", "5")]));
        assert_eq!(Freshness::of(&silent, NOW).lifetime, Some(Duration::from_secs(55)));
        let telling = updated(&stored, &headers(&[("cache-control", "no-store")]));
        assert!(Freshness::of(&telling, NOW).no_store);
        assert_eq!(telling.get(VARY).unwrap(), "accept");
        assert!(!telling.contains_key("etag"));
    }
}
