//! The first-event bound that an agent states in its card.

use std::time::Duration;

use http::Request;

use super::CardStoreError;
use crate::{card::AgentCard, limits::LimitOverrides};

/// An extension of cards by which an agent says how long the first event of its streams may take.
///
/// The specification has no field for it, so that agents state it as a parameter of an extension
/// (`capabilities.extensions`, A2A 1.0 §4.6) whose URI both sides agree on:
///
/// ```json
/// {"uri": "https://example.com/ext/first-event/v1", "params": {"firstEventTimeout": 90}}
/// ```
///
/// ```
/// use std::time::Duration;
/// use a2a_guard::card_consistency::FirstEventExtension;
///
/// let extension = FirstEventExtension::new("https://example.com/ext/first-event/v1")
///     .param("firstEventTimeoutMs")
///     .unit(Duration::from_millis(1))
///     .cap(Duration::from_secs(120));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct FirstEventExtension {
    uri: Box<str>,
    param: Box<str>,
    unit: Duration,
    cap: Duration,
}

impl FirstEventExtension {
    /// The extension of this URI: its parameter `firstEventTimeout`, in seconds, and at most 300 s of what it says.
    pub fn new(uri: impl Into<Box<str>>) -> Self {
        let (unit, cap) = (Duration::from_secs(1), Duration::from_secs(300));
        Self { uri: uri.into(), param: "firstEventTimeout".into(), unit, cap }
    }

    /// The parameter that holds the number. Default: `firstEventTimeout`.
    pub fn param(mut self, name: impl Into<Box<str>>) -> Self {
        self.param = name.into();
        self
    }

    /// The unit that the parameter counts in. Default: 1 s.
    pub fn unit(mut self, unit: Duration) -> Self {
        self.unit = unit;
        self
    }

    /// No bound is longer than this, whatever the card says. Default: 300 s.
    pub fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    pub(super) fn check(&self) -> Result<(), CardStoreError> {
        let wrong = |why: &str| Err(CardStoreError::new("first_event", why));
        if self.uri.is_empty() {
            wrong("has an empty URI, which no card's extension has")
        } else if self.param.is_empty() {
            wrong("has a parameter without a name")
        } else if self.unit.is_zero() {
            wrong("has a unit of zero: no bound could be told in it")
        } else if self.cap.is_zero() {
            wrong("has a cap of zero: no stream could ever begin")
        } else {
            Ok(())
        }
    }

    /// What the card says. A number that is no duration, zero among them, says nothing.
    pub(super) fn read(&self, card: &AgentCard) -> Option<Duration> {
        let stated = card.extension(&self.uri)?.params()?.get(&*self.param)?.as_f64()?;
        if !stated.is_normal() || stated.is_sign_negative() {
            return None;
        }
        let seconds = (stated * self.unit.as_secs_f64()).min(self.cap.as_secs_f64());
        Duration::try_from_secs_f64(seconds).ok().map(|bound| bound.min(self.cap)).filter(|bound| !bound.is_zero())
    }
}

/// Sets the bound of one call, unless its caller has set it.
pub(super) fn set<B>(request: &mut Request<B>, bound: Duration) {
    match request.extensions_mut().get_mut::<LimitOverrides>() {
        Some(overrides) => overrides.or_first_event(bound),
        None => {
            request.extensions_mut().insert(LimitOverrides::default().first_event(bound));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(extension: &FirstEventExtension, params: &str) -> Option<Duration> {
        let card = format!(
            r#"{{"url":"https://a.example/","protocolVersion":"0.3.0","capabilities":{{"extensions":[{{"uri":"urn:x"{params}}}]}}}}"#
        );
        extension.read(&AgentCard::read(card.as_bytes()).unwrap())
    }

    #[test]
    fn the_number_is_read_in_its_unit_and_within_the_cap() {
        let seconds = FirstEventExtension::new("urn:x");
        let of = |value: &str| read(&seconds, &format!(r#","params":{{"firstEventTimeout":{value}}}"#));
        assert_eq!(of("90"), Some(Duration::from_secs(90)));
        assert_eq!(of("0.25"), Some(Duration::from_millis(250)));
        assert_eq!(of("300"), Some(Duration::from_secs(300)));
        for above in ["301", "1e300", "18446744073709551616"] {
            assert_eq!(of(above), Some(Duration::from_secs(300)), "{above}");
        }
        for nothing in ["0", "-0.0", "-5", "\"90\"", "null", "[90]", "{}", "1e-300"] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
        let ms = seconds.clone().param("ms").unit(Duration::from_millis(1)).cap(Duration::from_secs(2));
        assert_eq!(read(&ms, r#","params":{"ms":1500,"firstEventTimeout":9}"#), Some(Duration::from_millis(1500)));
        assert_eq!(read(&ms, r#","params":{"ms":2500}"#), Some(Duration::from_secs(2)));
        assert_eq!(read(&ms, r#","params":{"firstEventTimeout":9}"#), None);
        assert_eq!(read(&ms, ""), None);
        assert_eq!(read(&FirstEventExtension::new("urn:y"), r#","params":{"firstEventTimeout":9}"#), None);
    }

    #[test]
    fn settings_that_cannot_be_are_named() {
        let good = FirstEventExtension::new("urn:x");
        assert_eq!(good.check(), Ok(()));
        for (bad, why) in [
            (FirstEventExtension::new(""), "empty URI"),
            (good.clone().param(""), "without a name"),
            (good.clone().unit(Duration::ZERO), "unit of zero"),
            (good.clone().cap(Duration::ZERO), "cap of zero"),
        ] {
            let error = bad.check().unwrap_err();
            assert_eq!(error.setting(), "first_event");
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
