//! The library keeps this to itself. It is a page that needs nothing of the rest, and is taken in as it is.
#[allow(dead_code, reason = "what a head that does not say is good for is asked elsewhere")]
#[path = "../../../src/card_consistency/store/freshness.rs"]
mod reading;

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use http_cache_semantics::{CacheOptions, CachePolicy};

use self::reading::{Freshness, kept, updated, varies_by};
use crate::times::retry_after;

/// A time after every date that is likely to be tried.
const NOW: Duration = Duration::from_secs(1_800_000_000);
const MAX: Duration = Duration::from_secs(1 << 31);

const NAMES: [HeaderName; 6] =
    [header::CACHE_CONTROL, header::EXPIRES, header::DATE, header::AGE, header::VARY, header::RETRY_AFTER];

/// Heads that say how long to keep an answer, against `http-cache-semantics`. The bytes are lines: a digit for the
/// header's name, and its value.
pub fn freshness(bytes: &[u8]) {
    let now = SystemTime::UNIX_EPOCH + NOW;
    let mut headers = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n').take(16) {
        let Some((name, value)) = line.split_first() else { continue };
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.append(NAMES[usize::from(*name) % NAMES.len()].clone(), value);
        }
    }
    let read = Freshness::of(&headers, now);
    let _ = retry_after(&headers, now);
    let varies = varies_by(&headers, [header::AUTHORIZATION].iter());

    // A 304 that says nothing changes nothing, but that the answer is of no age; one that says all, all.
    let without_age = |mut headers: HeaderMap| {
        headers.remove(header::AGE);
        headers
    };
    let silent = updated(&kept(&headers), &HeaderMap::new());
    assert_eq!(Freshness::of(&silent, now), Freshness::of(&without_age(headers.clone()), now));
    let same = updated(&kept(&headers), &headers);
    let first_age = headers.get_all(header::AGE).iter().next() == headers.get_all(header::AGE).iter().next_back();
    assert!(!first_age || Freshness::of(&same, now) == read);
    assert_eq!(varies_by(&silent, [header::AUTHORIZATION].iter()), varies);
    assert!(!read.no_store || read.lifetime.is_none_or(|lifetime| lifetime <= Duration::from_secs(u64::MAX)));

    if let Some(headers) = plain(&headers) {
        assert_as_the_library(&headers, read, varies, now);
    }
}

/// The same head, if the library reads it by the standard: it takes names of directives by their case, splits quoted
/// values at their commas, and knows one of the three forms of dates; of fields and directives that are there twice it
/// makes something of its own.
fn plain(headers: &HeaderMap) -> Option<HeaderMap> {
    let mut plain = HeaderMap::new();
    for name in NAMES {
        let mut values = headers.get_all(&name).iter();
        let Some(value) = values.next() else { continue };
        if values.next().is_some() {
            return None;
        }
        plain.insert(name, HeaderValue::from_str(value.to_str().ok()?).ok()?);
    }
    let text = |name| plain.get(name).map(|value| value.to_str().expect("text"));
    let control = text(header::CACHE_CONTROL).unwrap_or_default();
    let mut names: Vec<_> = control.split(',').filter_map(|part| part.split('=').next()).map(str::trim).collect();
    names.retain(|name| !name.is_empty());
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    if count != names.len() || control.contains(['"', '\\', '\t']) || control.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    // It has a minimum of its own for what never changes, and takes a number without a sign or not.
    if control.contains("immutable")
        || control.contains('+')
        || names.contains(&"max-age") && !control.contains("max-age=")
    {
        return None;
    }
    let is_imf = |date: &str| {
        date.ends_with(" GMT")
            && httpdate::parse_http_date(date).is_ok_and(|time| httpdate::fmt_http_date(time) == date)
    };
    if [header::EXPIRES, header::DATE].into_iter().filter_map(text).any(|date| !is_imf(date)) {
        return None;
    }
    if text(header::AGE).is_some_and(|age| age.is_empty() || age.len() > 9 || !age.bytes().all(|b| b.is_ascii_digit()))
    {
        return None;
    }
    Some(plain)
}

fn assert_as_the_library(headers: &HeaderMap, read: Freshness, varies: Option<bool>, now: SystemTime) {
    let mut response = Response::new(());
    *response.headers_mut() = headers.clone();
    let options = CacheOptions { shared: false, cache_heuristic: 0.0, ..CacheOptions::default() };
    let policy = CachePolicy::new_options(&Request::new(()), &response, now, options);
    assert_eq!(policy.is_storable(), !read.no_store);
    // What varies by everything is stored with no use here.
    if read.no_store || varies.is_none() {
        return;
    }
    let ours = read.lifetime.unwrap_or_default();
    let theirs = policy.time_to_live(now);
    // A number that is none, or none that it can hold, is no time to it; and for ever here.
    assert!(ours == theirs || (ours > MAX && theirs.is_zero()), "{ours:?} {theirs:?} {headers:?}");
}
