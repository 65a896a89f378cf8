//! What happens to the network, and to the hosts, in a run.

use std::time::Duration;

use crate::world::chance;

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Partition(&'static str, &'static str),
    Repair(&'static str, &'static str),
    Hold(&'static str, &'static str),
    Release(&'static str, &'static str),
    Crash(&'static str),
    Bounce(&'static str),
    /// So many of a hundred thousand messages take their link down with them.
    Lose(u32),
    /// The longest that a message takes from now on.
    Slow(Duration),
}

use Action::{Bounce, Crash, Hold, Lose, Partition, Release, Repair, Slow};

impl Action {
    pub(crate) fn apply(self, sim: &mut turmoil::Sim<'_>) {
        match self {
            Partition(a, b) => sim.partition(a, b),
            Repair(a, b) => sim.repair(a, b),
            Hold(a, b) => sim.hold(a, b),
            Release(a, b) => sim.release(a, b),
            Crash(host) => sim.crash(host),
            Bounce(host) => sim.bounce(host),
            Lose(share) => sim.set_fail_rate(f64::from(share) / 100_000.0),
            Slow(latency) => sim.set_max_message_latency(latency),
        }
    }

    /// Whether calls may fail for it.
    fn harms(self) -> bool {
        !matches!(self, Slow(_) | Repair(..) | Release(..) | Bounce(_))
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

/// In these nothing fails.
pub(crate) const PEACEFUL: [&str; 2] = ["calm", "slow at times"];

/// What a network may make of a call. No class among them says that an agent broke the protocol.
const OF_A_NETWORK: [&str; 10] = [
    "timeout/ready",
    "timeout/head",
    "timeout/first_event",
    "timeout/idle",
    "timeout/event_gap",
    "timeout/total",
    "transport/connect",
    "transport/connection_lost",
    "broken/truncated",
    "card/fetch_timeout",
];

impl Scenario {
    /// Twelve kinds in turn; times within each, and which agent is hit, by chance.
    pub(crate) fn of(seed: u64) -> Self {
        let ms = Duration::from_millis;
        let any = |name: &str, from: u64, to: u64| ms(from + chance(seed, name, to - from));
        let agents = ["agent-a", "agent-b", "gateway"];
        let agent = agents[usize::try_from(chance(seed, "which", 3)).unwrap_or_default()];
        let lasts = any("lasts", 300, 2500);
        let between = |a, b, at: Duration| vec![(at, Partition(a, b)), (at + lasts, Repair(a, b))];
        let (name, events) = match seed % 12 {
            0 => ("calm", vec![]),
            1 => ("slow at times", vec![(any("slow", 0, 500), Slow(ms(60))), (ms(2500), Slow(ms(10)))]),
            2 => ("cut off before the card", between("caller", "cards", ms(0))),
            3 => ("cut off while the card is made", between("caller", "cards", any("at", 20, 200))),
            4 => ("cut off while it is probed", between("caller", agent, any("at", 220, 420))),
            5 => ("cut off in the middle of calls", between("caller", agent, any("at", 500, 2500))),
            6 => {
                let at = any("at", 0, 2500);
                ("held up, and let go", vec![(at, Hold("caller", agent)), (at + lasts, Release("caller", agent))])
            }
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
                let share = u32::try_from(10 + chance(seed, "share", 400)).unwrap_or_default();
                ("messages are lost", vec![(any("at", 0, 500), Lose(share)), (ms(3000), Lose(0))])
            }
            _ => {
                let mut all = between("caller", agent, any("first", 0, 2000));
                all.extend(between("caller", "cards", any("second", 0, 2000)));
                let at = any("third", 0, 2000);
                all.extend([(at, Crash("gateway")), (at + lasts, Bounce("gateway"))]);
                all.push((any("fourth", 0, 2000), Slow(ms(80))));
                all.sort_by_key(|(at, _)| *at);
                ("everything at once", all)
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
    pub(crate) fn admits(&self, word: &str, id: &str) -> bool {
        // The gateway says in its own words what befell it.
        let by_gateway = word == "refused/peer_error" && id.contains("gateway");
        !PEACEFUL.contains(&self.name) && (OF_A_NETWORK.contains(&word) || by_gateway)
    }
}
