//! The command line.

use std::{collections::BTreeMap, net::SocketAddr, num::NonZeroUsize, str::FromStr, time::Duration};

use a2a_guard::Limits;
use http::{HeaderName, Uri};

pub(crate) const USAGE: &str = "\
egress_gateway --listen ADDR --upstream http://HOST:PORT [options]

  --head-ms, --first-event-ms, --idle-ms, --event-gap-ms, --total-ms, --linger-ms, --auth-wait-ms N
                        bounds, in milliseconds
  --max-unary-body, --max-event N
                        caps, in bytes
  --no-cards            do not hold calls against the agent's card
  --no-probe            do not probe endpoints; skills are known from the calls alone
  --skill-header NAME   the request header that names the skill of a call
  --region R            the region that calls are for
  --tenant-header NAME  serve each tenant under /tenants/{tenant}, and name it to the agent in this header
  --max-in-flight N     turn calls away above so many at once
  --drain-ms N          once told to end, let calls in flight go on for so long at most (30000)
  --admin ADDR          serve /outcomes, /availability and /cards there";

const OPTIONS: [&str; 17] = [
    "--listen",
    "--upstream",
    "--head-ms",
    "--first-event-ms",
    "--idle-ms",
    "--event-gap-ms",
    "--total-ms",
    "--linger-ms",
    "--auth-wait-ms",
    "--max-unary-body",
    "--max-event",
    "--region",
    "--skill-header",
    "--tenant-header",
    "--max-in-flight",
    "--drain-ms",
    "--admin",
];

/// The longest total of a call by default: a stream's.
const TOTAL: Duration = Duration::from_secs(3_600);

/// What the gateway is to do.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) listen: SocketAddr,
    pub(crate) upstream: Uri,
    pub(crate) limits: Limits,
    /// The longest total of them.
    pub(crate) total: Duration,
    pub(crate) cards: bool,
    pub(crate) probe: bool,
    pub(crate) region: Option<String>,
    pub(crate) skill_header: Option<HeaderName>,
    pub(crate) tenant_header: Option<HeaderName>,
    pub(crate) max_in_flight: Option<usize>,
    /// How long calls in flight may go on once the gateway is to end.
    pub(crate) drain: Duration,
    pub(crate) admin: Option<SocketAddr>,
}

impl Args {
    /// Reads the words behind the program's name. The error is for the user.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut given = BTreeMap::new();
        let mut words = words.into_iter();
        while let Some(option) = words.next() {
            let value = match option.as_str() {
                "--no-cards" | "--no-probe" => String::new(),
                known if OPTIONS.contains(&known) => words.next().ok_or(format!("{option} needs a value"))?,
                _ => return Err(format!("{option} is none of the options")),
            };
            if given.insert(option.clone(), value).is_some() {
                return Err(format!("{option} is there twice"));
            }
        }
        let given = Given(given);
        Ok(Self {
            listen: given.read("--listen")?.ok_or("--listen is missing")?,
            upstream: given.read("--upstream")?.map(origin).ok_or("--upstream is missing")??,
            limits: limits(&given)?,
            total: given.millis("--total-ms")?.unwrap_or(TOTAL),
            cards: !given.0.contains_key("--no-cards"),
            probe: !given.0.contains_key("--no-probe"),
            region: given.read("--region")?,
            skill_header: given.read("--skill-header")?,
            tenant_header: given.read("--tenant-header")?.map(of_tenant).transpose()?,
            max_in_flight: given.read("--max-in-flight")?.map(NonZeroUsize::get),
            drain: given.millis("--drain-ms")?.unwrap_or(Duration::from_secs(30)),
            admin: given.read("--admin")?,
        })
    }
}

/// The options that were given, each with its value.
struct Given(BTreeMap<String, String>);

impl Given {
    fn read<T: FromStr>(&self, option: &str) -> Result<Option<T>, String> {
        let read = |value: &String| value.parse().map_err(|_| format!("{option} cannot be {value:?}"));
        self.0.get(option).map(read).transpose()
    }

    fn millis(&self, option: &str) -> Result<Option<Duration>, String> {
        Ok(self.read(option)?.map(Duration::from_millis))
    }
}

/// The defaults, cut to the total if one was given, and then what else was given. What contradicts itself is found when
/// the layer is built.
fn limits(given: &Given) -> Result<Limits, String> {
    let mut limits = match given.millis("--total-ms")? {
        Some(total) => Limits::within(total).total(total),
        None => Limits::default(),
    };
    if let Some(bound) = given.millis("--head-ms")? {
        limits = limits.head(bound).blocking_head(bound);
    }
    if let Some(bound) = given.millis("--first-event-ms")? {
        limits = limits.first_event(bound);
    }
    if let Some(bound) = given.millis("--idle-ms")? {
        limits = limits.idle(bound);
    }
    if let Some(bound) = given.millis("--event-gap-ms")? {
        limits = limits.event_gap(bound);
    }
    if let Some(bound) = given.millis("--linger-ms")? {
        limits = limits.linger(bound);
    }
    if let Some(bound) = given.millis("--auth-wait-ms")? {
        limits = limits.auth_wait(bound);
    }
    if let Some(cap) = given.read("--max-unary-body")? {
        limits = limits.max_unary_body(cap);
    }
    if let Some(cap) = given.read("--max-event")? {
        limits = limits.max_event(cap);
    }
    Ok(limits)
}

/// Scheme and authority, and nothing behind them: the paths are the callers'.
fn origin(uri: Uri) -> Result<Uri, String> {
    let names_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let is_origin = uri.scheme_str() == Some("http") && uri.authority().is_some() && !names_user;
    if !is_origin || uri.path() != "/" || uri.query().is_some() {
        return Err(format!("--upstream cannot be {uri}: it is http://HOST:PORT, without a path"));
    }
    Ok(uri)
}

/// A header that nothing else is said by.
fn of_tenant(name: HeaderName) -> Result<HeaderName, String> {
    let taken = [
        "a2a-version",
        "a2a-extensions",
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "grpc-timeout",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    ];
    match taken.contains(&name.as_str()) {
        true => Err(format!("--tenant-header cannot be {name}: it says something else already")),
        false => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Args, String> {
        let words = format!("--listen 127.0.0.1:0 --upstream http://127.0.0.1:9000 {words}");
        Args::parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (words, error) in [
            ("--idle-ms", "--idle-ms needs a value"),
            ("--idle-ms soon", "--idle-ms cannot be \"soon\""),
            ("--idle-ms 1 --idle-ms 2", "--idle-ms is there twice"),
            ("--max-in-flight 0", "--max-in-flight cannot be \"0\""),
            ("--fast", "--fast is none of the options"),
            ("--tenant-header Host", "--tenant-header cannot be host: it says something else already"),
        ] {
            assert_eq!(parse(words).map(drop), Err(error.to_owned()), "{words}");
        }
        for upstream in ["127.0.0.1:9000", "https://a.test", "http://a.test/x", "http://a.test/?x", "http://u@a.test"] {
            let words = ["--listen", "127.0.0.1:0", "--upstream", upstream].map(str::to_owned);
            let error = Args::parse(words).map(drop).unwrap_err();
            assert!(error.starts_with("--upstream cannot be "), "{error}");
        }
    }

    #[test]
    fn a_total_above_the_defaults_counts_too() {
        let day = Duration::from_secs(86_400);
        assert_eq!(parse("--total-ms 86400000").unwrap().limits, Limits::default().total(day));
        assert_eq!(parse("--total-ms 1000").unwrap().limits, Limits::within(Duration::from_secs(1)));
    }
}
