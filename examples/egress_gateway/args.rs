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
  --no-probe            do not probe endpoints, do not learn availability
  --skill-header NAME   the request header that names the skill of a call
  --region R            the region that calls are for
  --tenant-header NAME  serve each tenant under /tenants/{tenant}, and name it to the agent in this header
  --max-in-flight N     turn calls away above so many at once
  --admin ADDR          serve /outcomes, /availability and /cards there";

const OPTIONS: [&str; 16] = [
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
    "--admin",
];

/// What the gateway is to do.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) listen: SocketAddr,
    pub(crate) upstream: Uri,
    pub(crate) limits: Limits,
    /// The total that was given, for the reading of requests too.
    pub(crate) total: Option<Duration>,
    pub(crate) cards: bool,
    pub(crate) probe: bool,
    pub(crate) region: Option<String>,
    pub(crate) skill_header: Option<HeaderName>,
    pub(crate) tenant_header: Option<HeaderName>,
    pub(crate) max_in_flight: Option<usize>,
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
            total: given.millis("--total-ms")?,
            cards: given.0.get("--no-cards").is_none(),
            probe: given.0.get("--no-probe").is_none(),
            region: given.read("--region")?,
            skill_header: given.read("--skill-header")?,
            tenant_header: given.read("--tenant-header")?,
            max_in_flight: given.read("--max-in-flight")?.map(NonZeroUsize::get),
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

/// The defaults, cut to the total that was given, and then what else was given. What contradicts itself is found when
/// the layer is built.
fn limits(given: &Given) -> Result<Limits, String> {
    let mut limits = given.millis("--total-ms")?.map(Limits::within).unwrap_or_default();
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
    let is_origin = uri.scheme_str() == Some("http") && uri.authority().is_some();
    if !is_origin || uri.path() != "/" || uri.query().is_some() {
        return Err(format!("--upstream cannot be {uri}: it is http://HOST:PORT, without a path"));
    }
    Ok(uri)
}
