//! A failure that is remembered for a while, so that a target without a card is not asked for one by each call.

use std::time::Duration;

use crate::{
    clock::{Millis, span},
    error::CardFailure,
    outcome::Class,
};

/// How long failures are remembered, by cause.
///
/// ```
/// use std::time::Duration;
/// use a2a_guard::card_consistency::NegativeTtl;
///
/// let ttl = NegativeTtl::default().not_found(Duration::from_secs(300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NegativeTtl {
    pub(super) not_found: Duration,
    pub(super) unauthorized: Duration,
    pub(super) malformed: Duration,
    pub(super) failed: Duration,
    pub(super) failed_max: Duration,
    pub(super) retry_after_max: Duration,
}

impl Default for NegativeTtl {
    fn default() -> Self {
        Self {
            not_found: Duration::from_secs(60),
            unauthorized: Duration::from_secs(30),
            malformed: Duration::from_secs(30),
            failed: Duration::from_secs(5),
            failed_max: Duration::from_secs(60),
            retry_after_max: Duration::from_secs(300),
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, ttl: Duration) -> Self {
            self.$name = ttl;
            self
        }
    )*};
}

impl NegativeTtl {
    setters! {
        /// No card at any location. Default: 60 s.
        not_found;
        /// 401 or 403, for the credentials that got it. Default: 30 s.
        unauthorized;
        /// A card that is none, is too large, or is not vouched for. Default: 30 s.
        malformed;
        /// Any other status, a connection that failed, a timeout; and a card that is another target's, or has a URL that
        /// must not be called. Doubles with each one in a row. Default: 5 s.
        ///
        /// That a card does not count is the word of one layer's [`UrlPolicy`](crate::card::UrlPolicy), and holds for calls
        /// to the same URL under an equal one: another layer over the same store may allow it.
        failed;
        /// The longest that this doubles to. Default: 60 s.
        failed_max;
        /// The longest `Retry-After` that is respected. It makes the other times longer, never shorter. Default: 300 s.
        retry_after_max;
    }
}

/// Whether the same question may well be answered otherwise in a moment.
pub(super) fn is_passing(failure: &CardFailure) -> bool {
    match failure {
        CardFailure::HttpStatus { .. } | CardFailure::FetchTimeout { .. } | CardFailure::Connection { .. } => true,
        _ => matches!(failure.class(), Class::Connect | Class::ConnectionLost | Class::Tls),
    }
}

/// Whether it is the asker's word on a card that is good as such.
pub(super) fn is_word(failure: &CardFailure) -> bool {
    matches!(failure.class(), Class::UrlMismatch | Class::UnusableUrl)
}

/// Whether a card that was good may stand in for the answer (RFC 5861 §4).
pub(super) fn is_outage(failure: &CardFailure) -> bool {
    match failure {
        CardFailure::HttpStatus { status, .. } => status.is_server_error() || status.as_u16() == 429,
        failure => is_passing(failure),
    }
}

/// A failure, until when it is remembered, and how many there were in a row.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) failure: CardFailure,
    pub(super) asked: Millis,
    pub(super) until: Millis,
    streak: u32,
}

impl Refused {
    pub(super) fn new(
        failure: CardFailure,
        ttl: &NegativeTtl,
        before: Option<&Self>,
        asked: Millis,
        now: Millis,
    ) -> Self {
        // One that is long over says nothing about this one.
        let before = before.filter(|before| now < before.until.saturating_add(span(ttl.failed_max)));
        let streak = before.map_or(0, |before| before.streak.saturating_add(1));
        let by_cause = match failure.class() {
            Class::NotFound => ttl.not_found,
            Class::Unauthorized => ttl.unauthorized,
            _ if is_passing(&failure) || is_word(&failure) => {
                let doubled = ttl.failed.saturating_mul(1_u32.checked_shl(streak).unwrap_or(u32::MAX));
                doubled.min(ttl.failed_max).max(ttl.failed)
            }
            _ => ttl.malformed,
        };
        let wished = failure.retry_after().unwrap_or_default().min(ttl.retry_after_max);
        Self { failure, asked, until: now.saturating_add(span(by_cause.max(wished))), streak }
    }

    pub(super) fn holds(&self, now: Millis) -> bool {
        now < self.until
    }
}

#[cfg(test)]
mod tests {
    use http::{StatusCode, Uri};

    use super::*;

    fn status(status: u16, retry_after: Option<u64>) -> CardFailure {
        CardFailure::HttpStatus {
            status: StatusCode::from_u16(status).unwrap(),
            location: Box::new(Uri::from_static("https://a.example/")),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    #[test]
    fn failures_in_a_row_back_off_and_start_over_after_a_while() {
        let ttl = NegativeTtl::default();
        let mut now = 0;
        let mut before: Option<Refused> = None;
        for expected in [5, 10, 20, 40, 60, 60, 60] {
            let refused = Refused::new(status(500, None), &ttl, before.as_ref(), now, now);
            assert_eq!(refused.until - now, expected * 1000);
            now = refused.until;
            before = Some(refused);
        }
        now += 60_000;
        assert_eq!(Refused::new(status(500, None), &ttl, before.as_ref(), now, now).until, now + 5000);
    }

    #[test]
    fn retry_after_is_respected_within_its_bound() {
        let until = |after| Refused::new(status(503, Some(after)), &NegativeTtl::default(), None, 0, 0).until;
        assert_eq!(until(1), 5000);
        assert_eq!(until(17), 17_000);
        assert_eq!(until(1_000_000), 300_000);
    }

    #[test]
    fn each_cause_has_its_time() {
        let until = |failure| Refused::new(failure, &NegativeTtl::default(), None, 0, 0).until;
        let location = Box::new(Uri::from_static("https://a.example/"));
        assert_eq!(until(CardFailure::NotFound { tried: Vec::new() }), 60_000);
        let unauthorized = StatusCode::UNAUTHORIZED;
        assert_eq!(
            until(CardFailure::Unauthorized {
                status: unauthorized,
                location: location.clone(),
                www_authenticate: None
            }),
            30_000
        );
        assert_eq!(until(CardFailure::TooLarge { limit: 1, location }), 30_000);
        assert_eq!(until(CardFailure::FetchTimeout { bound: Duration::from_secs(10) }), 5000);
    }
}
