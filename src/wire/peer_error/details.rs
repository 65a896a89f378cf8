//! The typed details of an error: `ErrorInfo`, `RetryInfo`, and what vendors put beside them.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{PeerError, WORD_MAX, bounded, text_of};

/// The domain of A2A's own reasons (A2A 1.0 §9.5).
const DOMAIN: &str = "a2a-protocol.org";
/// How many details are looked at.
const DETAILS_MAX: usize = 64;
const SKILLS_MAX: usize = 64;
const METADATA_MAX: usize = 32;

impl PeerError {
    /// Reads `data` or `details`: a list of typed objects, one of them, or an object of a vendor's own.
    pub(super) fn read_details(&mut self, details: Option<&Value>) {
        match details {
            Some(Value::Array(list)) => {
                for detail in list.iter().take(DETAILS_MAX) {
                    if let Value::Object(detail) = detail {
                        self.read_detail(detail);
                    }
                }
            }
            Some(Value::Object(detail)) => {
                self.read_detail(detail);
                // Some servers put the list one level deeper.
                if let Some(list @ Value::Array(_)) = detail.get("details") {
                    self.read_details(Some(list));
                }
            }
            _ => {}
        }
    }

    /// Reads one typed object, or one of a vendor's own.
    pub(in crate::wire) fn read_detail(&mut self, detail: &Map<String, Value>) {
        match detail.get("@type").and_then(Value::as_str) {
            Some(name) if name.ends_with("google.rpc.ErrorInfo") => self.read_error_info(detail),
            Some(name) if name.ends_with("google.rpc.RetryInfo") => {
                self.retry_after = self.retry_after.or_else(|| detail.get("retryDelay").and_then(duration));
            }
            Some(name) if name.ends_with("google.rpc.BadRequest") => self.read_bad_request(detail),
            Some(_) => {}
            None => self.read_availability(detail),
        }
    }

    fn read_error_info(&mut self, info: &Map<String, Value>) {
        let reason = text_of(info, "reason", WORD_MAX);
        match text_of(info, "domain", WORD_MAX).filter(|domain| !domain.is_empty()) {
            Some(domain) if domain != DOMAIN => {
                self.push_metadata("domain", domain);
                if let Some(reason) = reason {
                    self.push_metadata("reason", reason);
                }
            }
            _ if self.reason.is_none() => self.reason = reason,
            _ => {}
        }
        let Some(Value::Object(metadata)) = info.get("metadata") else {
            return;
        };
        self.read_availability(metadata);
        for (name, value) in metadata {
            let value = match value {
                Value::String(text) => bounded(text, WORD_MAX),
                // Metadata are strings by their definition; what is not is kept as JSON.
                other => bounded(&other.to_string(), WORD_MAX),
            };
            self.push_metadata(name, value);
        }
    }

    fn read_bad_request(&mut self, bad: &Map<String, Value>) {
        let Some(Value::Array(violations)) = bad.get("fieldViolations") else {
            return;
        };
        for violation in violations.iter().filter_map(Value::as_object) {
            if self.field_violations.len() == METADATA_MAX {
                return;
            }
            let text = |name| text_of(violation, name, WORD_MAX).unwrap_or_default();
            self.field_violations.push((text("field"), text("description")));
        }
    }

    /// `region` and `availableSkills`: seen in `data` itself, and proposed as metadata.
    pub(super) fn read_availability(&mut self, object: &Map<String, Value>) {
        if self.region.is_none() {
            self.region = text_of(object, "region", WORD_MAX);
        }
        if self.available_skills.is_none() {
            self.available_skills =
                object.get("availableSkills").or_else(|| object.get("available_skills")).and_then(skills);
        }
    }

    fn push_metadata(&mut self, name: &str, value: String) {
        if self.metadata.len() < METADATA_MAX {
            self.metadata.push((bounded(name, WORD_MAX), value));
        }
    }
}

/// A list of skills: an array of strings, JSON text of one, or names between commas.
fn skills(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(list) => {
            Some(list.iter().filter_map(Value::as_str).take(SKILLS_MAX).map(|skill| bounded(skill, WORD_MAX)).collect())
        }
        Value::String(text) => match serde_json::from_str(text) {
            Ok(list @ Value::Array(_)) => skills(&list),
            _ => Some(
                text.split(',')
                    .map(str::trim)
                    .filter(|skill| !skill.is_empty())
                    .take(SKILLS_MAX)
                    .map(|skill| bounded(skill, WORD_MAX))
                    .collect(),
            ),
        },
        _ => None,
    }
}

/// A `google.protobuf.Duration`: `"1.5s"`, or `{seconds, nanos}` as some writers have it.
fn duration(value: &Value) -> Option<Duration> {
    match value {
        Value::String(text) => {
            let text = text.strip_suffix('s')?;
            let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
            // Neither sign nor exponent: a delay is not negative.
            if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
                return None;
            }
            let nanos = if fraction.is_empty() {
                0
            } else {
                let digits = u32::try_from(fraction.len()).ok().filter(|digits| *digits <= 9)?;
                fraction.parse::<u32>().ok()? * 10u32.pow(9 - digits)
            };
            Some(Duration::new(seconds.parse().ok()?, nanos))
        }
        Value::Object(parts) => {
            let seconds = parts.get("seconds").map_or(Some(0), number)?;
            let nanos = parts.get("nanos").map_or(Some(0), number)?;
            let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
            Some(Duration::new(seconds, nanos))
        }
        _ => None,
    }
}

/// ProtoJSON writes 64-bit integers as strings.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
