//! Where an agent's card may be, in the order in which to ask (A2A 1.0 §8.2).

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use http::Uri;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::key::{port, trimmed};
use crate::error::CardFailure;

const CURRENT: &str = "/.well-known/agent-card.json";
/// The name in versions before 0.3.
const LEGACY: &str = "/.well-known/agent.json";

/// All but what is unreserved (RFC 3986 §2.3).
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What would end a value in a query, or be read as something else there.
const IN_QUERY: &AsciiSet = &CONTROLS.add(b'&').add(b'=').add(b'+').add(b';');

/// One place to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) uri: Uri,
    pub(super) legacy: bool,
    /// Nobody said that the card is here: it stands below the agent's path, where a server may answer anything.
    pub(super) guessed: bool,
    /// It has the target's scheme, host and port, so that the call's credentials may go there.
    pub(super) own: bool,
}

/// The target of a call, for a location that depends on it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CardTarget<'a> {
    /// Scheme and authority, and the base path of the agent.
    pub uri: &'a Uri,
    /// The tenant that the call is for.
    pub tenant: Option<&'a str>,
}

/// A configured location, asked before all others.
#[derive(Clone)]
pub(super) enum Template {
    Pattern(Pattern),
    Function(Arc<dyn Fn(CardTarget<'_>) -> Option<Uri> + Send + Sync>),
}

impl Template {
    pub(super) fn by_tenant(&self) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.parts.contains(&Part::Tenant),
            Self::Function(_) => true,
        }
    }

    fn locate(&self, target: CardTarget<'_>) -> Result<Option<Uri>, CardFailure> {
        let uri = match self {
            Self::Function(function) => function(target),
            Self::Pattern(pattern) => pattern.expand(target)?,
        };
        if let Some(uri) = &uri {
            checked(uri)?;
        }
        Ok(uri)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(pattern) => write!(f, "{:?}", pattern.text),
            Self::Function(_) => f.write_str("a function"),
        }
    }
}

/// A URL with placeholders.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    text: Box<str>,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Scheme,
    Host,
    Port,
    Authority,
    Path,
    Tenant,
}

impl Pattern {
    /// Reads a pattern. The error says what is wrong, to follow its text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or("has no scheme: begin it with https:// or {scheme}://")?;
        if !matches!(scheme, "http" | "https" | "{scheme}") {
            return Err("must begin with http://, https:// or {scheme}://".to_owned());
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err("must not have user information".to_owned());
        }
        // Elsewhere a value is encoded. In the authority it would say who is asked.
        for part in parts(authority)? {
            if !matches!(part, Part::Text(_) | Part::Host | Part::Port | Part::Authority) {
                return Err("may only have {host}, {port} or {authority} where its host is".to_owned());
            }
        }
        let pattern = Self { text: text.into(), parts: parts(text)? };
        let sample = Uri::from_static("https://agent.example.com/base");
        match pattern.expand(CardTarget { uri: &sample, tenant: Some("t") }) {
            Ok(Some(uri)) if checked(&uri).is_ok() && !text.contains('#') => Ok(pattern),
            _ => Err("is no URL".to_owned()),
        }
    }

    /// `None` if the pattern wants a tenant and the call has none.
    fn expand(&self, target: CardTarget<'_>) -> Result<Option<Uri>, CardFailure> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Scheme => text.push_str(target.uri.scheme_str().unwrap_or_default()),
                Part::Host => text.push_str(target.uri.host().unwrap_or_default()),
                Part::Port => text.push_str(&port(target.uri).to_string()),
                Part::Authority => text.push_str(&authority(target.uri)),
                Part::Path => {
                    let path = trimmed(target.uri.path());
                    if text.contains('?') {
                        text.extend(utf8_percent_encode(path, IN_QUERY));
                    } else if has_steps(path) {
                        return Err(unusable(path, "a path with steps in it, which would lead out of its place"));
                    } else {
                        text.push_str(path);
                    }
                }
                Part::Tenant => match target.tenant {
                    None | Some("") => return Ok(None),
                    // Servers take them out of a path, and what stands before them, however they are encoded.
                    Some(tenant @ ("." | "..")) => {
                        return Err(unusable(tenant, "a tenant that is a step in a path"));
                    }
                    Some(tenant) => text.extend(utf8_percent_encode(tenant, VALUE)),
                },
            }
        }
        text.parse()
            .map(Some)
            .map_err(|_| unusable(&text, "no URL, with the values of this call in the card's location"))
    }
}

/// Whether servers would take a segment out of the path, and what stands before it, however it is encoded (RFC 3986
/// §5.2.4).
fn has_steps(path: &str) -> bool {
    path.split('/').any(|segment| {
        let mut decoded = percent_decode_str(segment);
        let (first, second, third) = (decoded.next(), decoded.next(), decoded.next());
        matches!((first, second, third), (Some(b'.'), None, _) | (Some(b'.'), Some(b'.'), None))
    })
}

fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once('{') {
        if literal.contains('}') {
            return Err("has a brace too many".to_owned());
        }
        let (name, after) = after.split_once('}').ok_or("has a brace too many")?;
        parts.push(Part::Text(literal.into()));
        parts.push(match name {
            "scheme" => Part::Scheme,
            "host" => Part::Host,
            "port" => Part::Port,
            "authority" => Part::Authority,
            "path" => Part::Path,
            "tenant" => Part::Tenant,
            _ => return Err(format!("has an unknown placeholder {{{name}}}")),
        });
        rest = after;
    }
    if rest.contains('}') {
        return Err("has a brace too many".to_owned());
    }
    parts.push(Part::Text(rest.into()));
    Ok(parts)
}

/// All locations of a target's card, in order, none twice.
pub(super) fn locations(
    target: CardTarget<'_>,
    template: Option<&Template>,
    legacy: bool,
) -> Result<Vec<Location>, CardFailure> {
    checked(target.uri)?;
    let scheme = target.uri.scheme_str().unwrap_or_default();
    let origin = format!("{scheme}://{}", authority(target.uri));
    let base = trimmed(target.uri.path());
    let mut found: Vec<Location> = Vec::with_capacity(5);
    let mut add = |uri: Uri, legacy, guessed| {
        if found.iter().all(|location| location.uri != uri) {
            let own = same_origin(&uri, target.uri);
            found.push(Location { uri, legacy, guessed, own });
        }
    };
    if let Some(uri) = template.map(|template| template.locate(target)).transpose()?.flatten() {
        add(uri, false, false);
    }
    for name in [Some(CURRENT), legacy.then_some(LEGACY)].into_iter().flatten() {
        for base in [base, ""] {
            let text = format!("{origin}{base}{name}");
            add(text.parse().map_err(|_| unusable(&text, "no URL"))?, name == LEGACY, !base.is_empty());
        }
    }
    Ok(found)
}

pub(super) fn same_origin(a: &Uri, b: &Uri) -> bool {
    let host = |uri: &Uri| uri.host().unwrap_or_default().to_ascii_lowercase();
    a.scheme() == b.scheme() && host(a) == host(b) && port(a) == port(b)
}

/// Without user information: that is none of the agent's business.
fn authority(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    match uri.port_u16() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn checked(uri: &Uri) -> Result<(), CardFailure> {
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.host().is_some_and(|host| !host.is_empty()) {
        return Ok(());
    }
    Err(CardFailure::unusable_uri(uri, "not an absolute http or https URL"))
}

fn unusable(url: &str, why: &str) -> CardFailure {
    CardFailure::UnusableUrl { url: url.chars().take(512).collect(), why: why.to_owned() }
}
