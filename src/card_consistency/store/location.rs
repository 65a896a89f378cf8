//! Where an agent's card may be, in the order in which to ask (A2A 1.0 §8.2).

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
        let (scheme, rest) = text.split_once("://").ok_or("has no scheme")?;
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

/// Whether servers would take a segment out of the path, and what stands before it, however it is encoded (RFC 3986 §5.2.4).
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(target: &'static str, template: Option<&str>, tenant: Option<&str>) -> Vec<(String, bool, bool)> {
        let template = template.map(|text| Template::Pattern(Pattern::parse(text).unwrap()));
        let target = Uri::from_static(target);
        locations(CardTarget { uri: &target, tenant }, template.as_ref(), true)
            .unwrap()
            .into_iter()
            .map(|location| (location.uri.to_string(), location.legacy, location.own))
            .collect()
    }

    fn uris(target: &'static str, template: Option<&str>, tenant: Option<&str>) -> Vec<String> {
        at(target, template, tenant).into_iter().map(|(uri, ..)| uri).collect()
    }

    #[test]
    fn the_current_name_everywhere_before_the_legacy_one() {
        assert_eq!(
            at("https://u:p@agents.example.com:8443/agents/foo/?x=1", None, None),
            [
                ("https://agents.example.com:8443/agents/foo/.well-known/agent-card.json".to_owned(), false, true),
                ("https://agents.example.com:8443/.well-known/agent-card.json".to_owned(), false, true),
                ("https://agents.example.com:8443/agents/foo/.well-known/agent.json".to_owned(), true, true),
                ("https://agents.example.com:8443/.well-known/agent.json".to_owned(), true, true),
            ]
        );
        assert_eq!(
            uris("http://[::1]:80", None, None),
            ["http://[::1]:80/.well-known/agent-card.json", "http://[::1]:80/.well-known/agent.json"]
        );
    }

    #[test]
    fn a_configured_location_comes_first_and_is_not_the_targets_own_unless_it_is() {
        let found =
            at("https://a.example/x", Some("https://cards.example/{host}{path}.json?tenant={tenant}"), Some("a b&/é"));
        assert_eq!(
            found[0],
            ("https://cards.example/a.example/x.json?tenant=a%20b%26%2F%C3%A9".to_owned(), false, false)
        );
        assert_eq!(found.len(), 5);
        let found = at("https://a.example/x", Some("{scheme}://{authority}:443/cards"), None);
        assert_eq!(found[0], ("https://a.example:443/cards".to_owned(), false, true));
        let found = at("https://a.example/x", Some("http://{host}/cards"), None);
        assert_eq!(found[0], ("http://a.example/cards".to_owned(), false, false));
        for (target, port) in
            [("https://a.example/x", 443), ("http://a.example/x", 80), ("https://a.example:8443/x", 8443)]
        {
            let found = uris(target, Some("https://cards.example/{host}/{port}"), None);
            assert_eq!(found[0], format!("https://cards.example/a.example/{port}"));
        }
    }

    #[test]
    fn without_a_tenant_a_location_by_tenant_is_left_out() {
        assert_eq!(uris("https://a.example", Some("https://cards.example/{tenant}"), None).len(), 2);
        assert_eq!(uris("https://a.example", Some("https://cards.example/{tenant}"), Some("")).len(), 2);
    }

    #[test]
    fn a_tenant_cannot_step_out_of_its_place() {
        let template = Template::Pattern(Pattern::parse("https://cards.example/tenants/{tenant}/card").unwrap());
        let uri = Uri::from_static("https://a.example");
        for tenant in [".", ".."] {
            let target = CardTarget { uri: &uri, tenant: Some(tenant) };
            assert!(matches!(locations(target, Some(&template), true), Err(CardFailure::UnusableUrl { .. })));
        }
        let target = CardTarget { uri: &uri, tenant: Some("../x") };
        assert_eq!(
            locations(target, Some(&template), true).unwrap()[0].uri,
            "https://cards.example/tenants/..%2Fx/card"
        );
    }

    #[test]
    fn nor_can_a_path() {
        let located = |pattern, path: &str| {
            let template = Template::Pattern(Pattern::parse(pattern).unwrap());
            let uri = format!("https://a.example{path}").parse().unwrap();
            locations(CardTarget { uri: &uri, tenant: None }, Some(&template), true)
                .map(|found| found[0].uri.to_string())
        };
        let (inside, behind) = ("https://cards.example/a{path}/card", "https://cards.example/card?of={path}");
        for steps in ["/../x", "/x/..", "/./x", "/x/%2e%2E/y", "/%2e", "/.%2e/x"] {
            assert!(matches!(located(inside, steps), Err(CardFailure::UnusableUrl { .. })), "{steps}");
            assert!(located(behind, steps).is_ok(), "{steps} in a query");
        }
        for none in ["/x", "/...", "/..x/y", "/x./.y", "/.well-known"] {
            assert_eq!(located(inside, none).unwrap(), format!("https://cards.example/a{none}/card"));
        }
    }

    #[test]
    fn patterns_that_cannot_be_are_refused() {
        for (text, why) in [
            ("cards.example/{host}", "has no scheme"),
            ("ftp://cards.example/", "must begin with"),
            ("https://{tenant}.example/", "may only have"),
            ("https://{path}/", "may only have"),
            ("https://me@cards.example/", "must not have user information"),
            ("https://cards.example/{skill}", "unknown placeholder {skill}"),
            ("https://cards.example/{host", "brace"),
            ("https://cards.example/host}", "brace"),
            ("https://cards.example/#x", "is no URL"),
            ("https:///x", "is no URL"),
            ("https://cards.example/a b", "is no URL"),
        ] {
            let error = Pattern::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn targets_must_be_absolute() {
        for target in ["/a2a", "agent.example.com:443", "ftp://agent.example.com/"] {
            let uri = target.parse().unwrap();
            let failure = locations(CardTarget { uri: &uri, tenant: None }, None, true).unwrap_err();
            assert!(matches!(failure, CardFailure::UnusableUrl { .. }), "{target}");
        }
    }
}
