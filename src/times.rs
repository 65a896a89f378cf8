//! Fields of HTTP that say a time.

use std::time::{Duration, SystemTime};

use http::{
    HeaderMap,
    header::{DATE, RETRY_AFTER},
};

/// `Retry-After` (RFC 9110 §10.2.3), in seconds or as a date. A date counts from the answer's own `Date`, so that the
/// peer's clock need not agree with ours; an answer without is dated when it comes (§6.6.1), which is `now`.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.as_bytes().trim_ascii();
    match seconds(value) {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => Some(date(value)?.duration_since(date_of(headers, now)).unwrap_or_default()),
    }
}

/// When an answer was made: by its `Date`, if it has one.
pub(crate) fn date_of(headers: &HeaderMap, now: SystemTime) -> SystemTime {
    headers.get(DATE).and_then(|value| date(value.as_bytes())).unwrap_or(now)
}

/// A date in any of its three forms (RFC 9110 §5.6.7).
pub(crate) fn date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?.trim()).ok()
}

/// Delta-seconds (RFC 9111 §1.2.2): a number too large to be held is as good as for ever.
pub(crate) fn seconds(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(value.iter().fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it is said to somebody for whom time has just begun.
    fn said(pairs: &[(&'static str, &'static str)]) -> Option<Duration> {
        let headers = pairs.iter().map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        retry_after(&headers, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_by_the_peers_own_clock() {
        assert_eq!(said(&[("retry-after", " 7 ")]), Some(Duration::from_secs(7)));
        let date = ("date", "Sun, 29 Nov 2026 20:00:00 GMT");
        let until = ("retry-after", "Sun, 29 Nov 2026 20:01:30 GMT");
        assert_eq!(said(&[date, until]), Some(Duration::from_secs(90)));
        for none in ["soon", "", "+7", "-1", "1.5"] {
            assert_eq!(said(&[("retry-after", none)]), None, "{none}");
        }
    }

    #[test]
    fn a_date_counts_from_the_answers_own_and_without_it_from_now() {
        let until = ("retry-after", "Thu, 01 Jan 1970 00:01:00 GMT");
        assert_eq!(said(&[until]), Some(Duration::from_secs(60)));
        let date = ("date", "Thu, 01 Jan 1970 00:00:50 GMT");
        assert_eq!(said(&[until, date]), Some(Duration::from_secs(10)));
        assert_eq!(said(&[]), None);
    }

    #[test]
    fn seconds_beyond_all_counting_are_as_many_as_can_be_counted() {
        assert_eq!(said(&[("retry-after", "99999999999999999999999")]), Some(Duration::from_secs(u64::MAX)));
    }
}
