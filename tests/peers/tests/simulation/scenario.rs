//! What happens to the network, and to the hosts, in a run.

use std::time::Duration;

use crate::world::{Tried, World, chance};

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Partition(&'static str, &'static str),
    Repair(&'static str, &'static str),
    /// What the one says does not reach the other.
    Mute(&'static str, &'static str),
    Unmute(&'static str, &'static str),
    Hold(&'static str, &'static str),
    Release(&'static str, &'static str),
    Crash(&'static str),
    Bounce(&'static str),
    /// All connections to a host end, whatever they carry.
    Reset(&'static str),
    /// So many of a hundred thousand messages take their link down with them.
    Lose(u32),
    /// The longest that a message takes from now on.
    Slow(Duration),
}

use Action::{Bounce, Crash, Hold, Lose, Mute, Partition, Release, Repair, Reset, Slow, Unmute};

impl Action {
    pub(crate) fn apply(self, sim: &mut turmoil::Sim<'_>, world: &World) {
        match self {
            Partition(a, b) => sim.partition(a, b),
            Repair(a, b) => sim.repair(a, b),
            Mute(from, to) => sim.partition_oneway(from, to),
            Unmute(from, to) => sim.repair_oneway(from, to),
            Hold(a, b) => sim.hold(a, b),
            Release(a, b) => sim.release(a, b),
            Crash(host) => sim.crash(host),
            Bounce(host) => sim.bounce(host),
            Reset(host) => world.reset(host).notify_waiters(),
            Lose(share) => sim.set_fail_rate(f64::from(share) / 100_000.0),
            Slow(latency) => sim.set_max_message_latency(latency),
        }
    }

    /// Whether calls may fail for it.
    pub(crate) fn harms(self) -> bool {
        !matches!(self, Slow(_) | Repair(..) | Unmute(..) | Release(..) | Bounce(_))
    }
}

/// A run's script.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) latency: Duration,
    /// In order.
    pub(crate) events: Vec<(Duration, Action)>,
}

/// So many kinds there are.
pub(crate) const KINDS: u64 = 16;

/// In these nothing fails.
pub(crate) const PEACEFUL: [&str; 2] = ["calm", "slow at times"];

/// What a network may make of a call. No class among them says that an agent broke the protocol.
pub(crate) const OF_A_NETWORK: [&str; 7] = [
    "timeout/head",
    "timeout/first_event",
    "timeout/idle",
    "transport/connect",
    "transport/connection_lost",
    "broken/truncated",
    "card/fetch_timeout",
];

impl Scenario {
    /// The kinds in turn; times within each, and which host is hit, by chance.
    pub(crate) fn of(seed: u64) -> Self {
        let ms = Duration::from_millis;
        let any = |name: &str, from: u64, to: u64| ms(from + chance(seed, name, to - from));
        let one_of = |name: &str, hosts: &[&'static str]| {
            hosts[usize::try_from(chance(seed, name, hosts.len() as u64)).unwrap_or_default()]
        };
        let agent = one_of("which", &["agent-a", "agent-b", "gateway"]);
        // Who asks for cards.
        let asker = one_of("asker", &["caller", "gateway"]);
        let lasts = any("lasts", 300, 2500);
        let between = |a, b, at: Duration| vec![(at, Partition(a, b)), (at + lasts, Repair(a, b))];
        let held = |a, b, at: Duration| vec![(at, Hold(a, b)), (at + lasts, Release(a, b))];
        let (name, events) = match seed % KINDS {
            0 => ("calm", vec![]),
            1 => ("slow at times", vec![(any("slow", 0, 500), Slow(ms(60))), (ms(2500), Slow(ms(10)))]),
            2 => ("cut off before the card", between(asker, "cards", ms(0))),
            3 => ("cut off while the card is made", between(asker, "cards", any("at", 20, 200))),
            4 => ("cut off while it is probed", between("caller", agent, any("at", 220, 420))),
            5 => ("cut off in the middle of calls", between("caller", agent, any("at", 500, 2500))),
            6 => ("held up, and let go", held("caller", agent, any("at", 0, 2500))),
            7 => {
                let (at, host) = (any("at", 0, 2500), if agent == "gateway" { "agent-c" } else { agent });
                ("an agent crashes and comes back", vec![(at, Crash(host)), (at + lasts, Bounce(host))])
            }
            8 => {
                let at = any("at", 0, 1500);
                ("the host of cards crashes and comes back", vec![(at, Crash("cards")), (at + lasts, Bounce("cards"))])
            }
            9 => ("the gateway is cut off behind", between("gateway", "agent-c", any("at", 0, 2500))),
            10 => {
                let share = u32::try_from(100 + chance(seed, "share", 900)).unwrap_or_default();
                ("messages are lost", vec![(any("at", 0, 500), Lose(share)), (ms(3000), Lose(0))])
            }
            11 => ("cards are held up, and let go", held(asker, "cards", any("at", 0, 1500))),
            12 => ("the gateway is held up behind", held("gateway", "agent-c", any("at", 0, 2500))),
            13 => {
                let hosts = ["agent-a", "agent-b", "agent-c", "gateway", "cards"];
                let reset = |nth: u64| {
                    let host = one_of(&format!("host {nth}"), &hosts);
                    (any(&format!("at {nth}"), 0, 2700), Reset(host))
                };
                ("connections are reset", in_order((0..12).map(reset).collect()))
            }
            14 => {
                let (from, to) = [(agent, "caller"), ("agent-c", "gateway"), ("cards", asker)]
                    [usize::try_from(chance(seed, "who", 3)).unwrap_or_default()];
                let at = any("at", 0, 2000);
                ("asked, and not heard", vec![(at, Mute(from, to)), (at + lasts, Unmute(from, to))])
            }
            _ => {
                let mut all = between("caller", agent, any("first", 0, 2000));
                all.extend(between("caller", "cards", any("second", 0, 2000)));
                let at = any("third", 0, 2000);
                all.extend([(at, Crash("gateway")), (at + lasts, Bounce("gateway"))]);
                all.push((any("fourth", 0, 2000), Slow(ms(80))));
                ("everything at once", in_order(all))
            }
        };
        Self { name, latency: ms(10), events }
    }

    /// When the first thing happens for which a call may fail.
    pub(crate) fn first_fault(&self) -> Option<Duration> {
        let harmful = self.events.iter().find(|(_, action)| action.harms());
        // Nothing harmful ever: later than any run.
        harmful.map(|(at, _)| *at).or(Some(Duration::MAX))
    }

    /// Whether a call may end so, that did not succeed.
    pub(crate) fn admits(&self, tried: &Tried) -> bool {
        // A gateway says what befell it, and that may be no more than that.
        let befell = match &tried.told {
            Some(told) => tried.plan.target == "gateway" && tried.word.starts_with("refused/") && is_of_a_network(told),
            None => is_of_a_network(&tried.word),
        };
        !PEACEFUL.contains(&self.name) && befell
    }
}

fn is_of_a_network(word: &str) -> bool {
    OF_A_NETWORK.contains(&word)
}

fn in_order(mut events: Vec<(Duration, Action)>) -> Vec<(Duration, Action)> {
    events.sort_by_key(|(at, _)| *at);
    events
}
