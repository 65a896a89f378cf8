//! What is said of a card that cannot be had, or that does not cover a call.

use std::fmt;

use http::Uri;

use super::CardFailure;
use crate::{card::Party, error::place::place, wire::text::escape};

/// At most so many characters of one text of a peer's.
const PEER_TEXT: usize = 120;

/// At most so many members of a peer's list.
const LISTED: usize = 8;

/// To whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    /// Who runs this side, and may know where its agents are.
    Operator,
    /// Whoever calls. Where this side goes to is not said, nor what its own resolver or verifier found.
    Caller,
}

impl fmt::Display for CardFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tell(To::Operator, f)
    }
}

impl CardFailure {
    /// The same without what callers are not told.
    pub(crate) fn for_callers(&self) -> impl fmt::Display + '_ {
        struct ForCallers<'a>(&'a CardFailure);

        impl fmt::Display for ForCallers<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.tell(To::Caller, f)
            }
        }

        ForCallers(self)
    }

    fn tell(&self, to: To, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_inside = to == To::Operator;
        let at = |location| At(Some(location).filter(|_| is_inside));
        match self {
            Self::NotFound { tried } if is_inside => {
                write!(f, "no card at {}", listed(tried, |uri| place(uri).to_string()))
            }
            Self::NotFound { .. } => f.write_str("no card"),
            Self::Unauthorized { status, location, www_authenticate } => {
                write!(f, "the card{} wants other credentials, HTTP {}", at(location), status.as_u16())?;
                match www_authenticate {
                    Some(challenge) => write!(f, " ({})", escape(challenge, PEER_TEXT)),
                    None => Ok(()),
                }
            }
            Self::HttpStatus { status, location, retry_after } => {
                write!(f, "HTTP {} for the card{}", status.as_u16(), at(location))?;
                match retry_after {
                    Some(after) => write!(f, ", to be asked again after {} s", after.as_secs()),
                    None => Ok(()),
                }
            }
            Self::NotJson { content_type, location, why, .. } => {
                write!(f, "no card in JSON{}: {}", at(location), escape(why, PEER_TEXT))?;
                match content_type {
                    Some(got) => write!(f, " ({})", escape(got, PEER_TEXT)),
                    None => Ok(()),
                }
            }
            Self::TooLarge { limit, location } => {
                write!(f, "the card{} is larger than {limit} bytes", at(location))
            }
            Self::FetchTimeout { bound } => write!(f, "no card within {} ms", bound.as_millis()),
            Self::MissingField { field, why, location } => {
                write!(f, "the card's {} {}", escape(field, PEER_TEXT), escape(why, PEER_TEXT))?;
                found(location.as_deref().filter(|_| is_inside), f)
            }
            Self::UnusableUrl { url, why } if is_inside => {
                write!(f, "the URL \"{}\" cannot be called: {}", escape(url, PEER_TEXT), escape(why, PEER_TEXT))
            }
            Self::UnusableUrl { .. } => f.write_str("the call leads to a URL that cannot be called"),
            Self::UrlMismatch { field, card, target, card_url, target_url, location } if is_inside => {
                write!(
                    f,
                    "the card is another agent's: its {field} is \"{}\", the target's \"{}\" (card {}, target {})",
                    escape(card, PEER_TEXT),
                    escape(target, PEER_TEXT),
                    escape(card_url, PEER_TEXT),
                    escape(target_url, PEER_TEXT)
                )?;
                found(location.as_deref(), f)
            }
            Self::UrlMismatch { field, .. } => {
                write!(f, "the card is another agent's: its {field} is not the target's")
            }
            Self::TenantMismatch { card, request } => {
                write!(f, "the request is for tenant \"{}\", the card's interface ", escape(request, PEER_TEXT))?;
                match card {
                    Some(card) => write!(f, "for \"{}\"", escape(card, PEER_TEXT)),
                    None => f.write_str("for none"),
                }
            }
            Self::NoCompatibleInterface { offered, wanted } => {
                write!(f, "the card offers {}, and none is {}", listed(offered, pair), listed(wanted, pair))
            }
            Self::UnsupportedVersion { offered, wanted } => {
                write!(f, "the card offers {}, no version of which is {}", listed(offered, pair), listed(wanted, pair))
            }
            Self::CapabilityMissing { capability } => {
                write!(f, "the card does not declare {capability}")
            }
            Self::ExtensionMissing { uri, by: Party::Agent } => {
                write!(f, "the agent requires extension \"{}\", which the call does not use", escape(uri, PEER_TEXT))
            }
            Self::ExtensionMissing { uri, by: Party::Client } => {
                write!(f, "the call requires extension \"{}\", which the card does not declare", escape(uri, PEER_TEXT))
            }
            Self::ShapeNotAdmitted { shape, admitted } => write!(
                f,
                "{shape} is not admitted, only {}",
                listed(admitted, |shape| escape(shape, PEER_TEXT).to_string())
            ),
            Self::Signature { why } if is_inside => {
                write!(f, "the card is not vouched for: {}", escape(why, PEER_TEXT))
            }
            Self::Signature { .. } => f.write_str("the card is not vouched for"),
            Self::Connection { source, .. } if is_inside => {
                write!(f, "no connection to the card: {}", escape(&source.to_string(), PEER_TEXT))
            }
            Self::Connection { .. } => f.write_str("no connection to the agent's card"),
        }
    }
}

/// Where something is, if that is said.
struct At<'a>(Option<&'a Uri>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => write!(f, " at {}", place(location)),
            None => Ok(()),
        }
    }
}

/// Where the card stands of which that is said.
fn found(location: Option<&Uri>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match location {
        Some(location) => write!(f, ", at {}", place(location)),
        None => Ok(()),
    }
}

/// Binding and version; where one makes no difference it is empty.
fn pair((binding, version): &(String, String)) -> String {
    format!("{} {}", escape(binding, 32), escape(version, 16)).trim().to_owned()
}

/// The first members of a list, and how many more there are.
fn listed<T>(members: &[T], print: impl Fn(&T) -> String) -> String {
    let mut text = members.iter().take(LISTED).map(print).collect::<Vec<_>>().join(", ");
    match members.len().saturating_sub(LISTED) {
        0 if members.is_empty() => text.push_str("nothing"),
        0 => {}
        more => text.push_str(&format!(" and {more} more")),
    }
    text
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, sync::Arc};

    use super::*;
    use crate::{error::BoxError, outcome::Class};

    fn uri(text: &'static str) -> Uri {
        Uri::from_static(text)
    }

    #[test]
    fn messages_are_one_line_without_secrets() {
        let tried = vec![
            uri("https://a.example/x/.well-known/agent-card.json?tenant=secret"),
            uri("https://user:pw@a.example/.well-known/agent-card.json"),
        ];
        let failure = CardFailure::NotFound { tried };
        assert_eq!(
            failure.to_string(),
            "no card at https://a.example/x/.well-known/agent-card.json, https://a.example/.well-known/agent-card.json"
        );
        let failure =
            CardFailure::MissingField { field: "skills[\"\n\"]".into(), why: "is absent".into(), location: None };
        assert_eq!(failure.to_string(), "the card's skills[\\\"\\n\\\"] is absent");
        let failure = failure.found_at(&uri("https://user:pw@a.example/card.json?key=secret"));
        assert!(failure.to_string().ends_with(" is absent, at https://a.example/card.json"), "{failure}");
        let failure = CardFailure::UnusableUrl { url: "x".repeat(10_000), why: "relative".into() };
        assert!(failure.to_string().len() < 200, "{failure}");
    }

    #[test]
    fn long_lists_are_cut() {
        let offered = vec![("JSONRPC".to_owned(), "0.3".to_owned()); 100];
        let wanted = vec![("JSONRPC".to_owned(), "1.0".to_owned())];
        let failure = CardFailure::UnsupportedVersion { offered, wanted };
        assert_eq!(failure.class(), Class::UnsupportedVersion);
        assert!(
            failure.to_string().ends_with("JSONRPC 0.3 and 92 more, no version of which is JSONRPC 1.0"),
            "{failure}"
        );
    }

    #[test]
    fn the_clients_error_is_the_source() {
        let source: BoxError = "no route".into();
        let failure = CardFailure::Connection { fault: Class::Connect, source: Arc::new(source) };
        assert_eq!(failure.class(), Class::Connect);
        assert_eq!(failure.source().unwrap().to_string(), "no route");
        assert_eq!(failure.to_string(), "no connection to the card: no route");
    }
}
