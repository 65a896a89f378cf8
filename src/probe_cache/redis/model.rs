//! What is told of what was learnt, however answers of the server are lost: nobody is led to believe what is not so.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant as StdInstant},
};

use proptest::prelude::*;
use tokio::time::Instant;

use super::outgoing::Outgoing;
use crate::{
    card::Origin,
    probe_cache::{Change, SkillKey},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Available,
    Unavailable,
}

/// By host and skill. What is not there is unknown.
type Known = BTreeMap<(u8, u8), State>;

#[derive(Clone, Debug)]
enum Step {
    Learn(Learnt),
    /// So many of what waits are sent.
    Send(usize),
    /// The server has them, and answers.
    Land,
    /// The connection is lost: it had them, or not.
    Lose(bool),
}

#[derive(Clone, Copy, Debug)]
enum Learnt {
    Available(u8, u8),
    Unavailable(u8, u8),
    Dropped(u8, u8),
    Host(u8),
    All,
}

fn origin(host: u8) -> Origin {
    Origin::parse(&format!("https://h{host}.example.com")).unwrap()
}

fn key(host: u8, skill: u8) -> SkillKey {
    SkillKey::new(origin(host), skill.to_string())
}

fn change(learnt: Learnt) -> Change {
    let lasts = Duration::from_secs(60);
    match learnt {
        Learnt::Available(host, skill) => Change::Available { key: key(host, skill), lasts },
        Learnt::Unavailable(host, skill) => Change::Unavailable { key: key(host, skill), lasts },
        Learnt::Dropped(host, skill) => Change::Dropped { key: key(host, skill) },
        Learnt::Host(host) => Change::DroppedHost { origin: origin(host) },
        Learnt::All => Change::DroppedAll,
    }
}

fn apply(known: &mut Known, change: &Change) {
    let at = |key: &SkillKey| {
        let host = key.origin().to_string();
        (host.as_bytes()["https://h".len()] - b'0', key.skill().parse().unwrap())
    };
    match change {
        Change::Available { key, .. } => _ = known.insert(at(key), State::Available),
        Change::Unavailable { key, .. } => _ = known.insert(at(key), State::Unavailable),
        Change::Dropped { key } => _ = known.remove(&at(key)),
        Change::DroppedHost { origin: gone } => known.retain(|(host, _), _| origin(*host) != *gone),
        Change::DroppedAll => known.clear(),
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = || (0..2_u8, 0..2_u8);
    let learnt = prop_oneof![
        4 => at().prop_map(|(host, skill)| Learnt::Available(host, skill)),
        3 => at().prop_map(|(host, skill)| Learnt::Unavailable(host, skill)),
        3 => at().prop_map(|(host, skill)| Learnt::Dropped(host, skill)),
        1 => (0..2_u8).prop_map(Learnt::Host),
        1 => Just(Learnt::All),
    ];
    let step = prop_oneof![
        6 => learnt.prop_map(Step::Learn),
        3 => (1..4_usize).prop_map(Step::Send),
        2 => Just(Step::Land),
        1 => any::<bool>().prop_map(Step::Lose),
    ];
    proptest::collection::vec(step, 0..40)
}

proptest! {
    #[test]
    fn what_the_server_holds_in_the_end_is_so_or_was_taken_back(steps in steps()) {
        let now = Instant::from_std(StdInstant::now());
        let mut outgoing = Outgoing::default();
        let (mut here, mut server, mut in_flight) = (Known::new(), Known::new(), Vec::new());
        // What was told to be missing, and confirmed: that stands for its short time, also if what went well since is not
        // told after an outage.
        let mut confirmed = Known::new();
        for step in steps {
            match step {
                Step::Learn(learnt) => {
                    let change = change(learnt);
                    apply(&mut here, &change);
                    prop_assert!(outgoing.add(change, now));
                }
                // One step at a time, as a session does it.
                Step::Send(most) if in_flight.is_empty() => in_flight = outgoing.take(most, now).to_vec(),
                Step::Send(_) => {}
                Step::Land => {
                    in_flight.drain(..).for_each(|change| apply(&mut server, &change));
                    outgoing.landed();
                    confirmed = server.clone();
                }
                Step::Lose(had_come) => {
                    in_flight.drain(..).filter(|_| had_come).for_each(|change| apply(&mut server, &change));
                    outgoing.reconnected(now);
                }
            }
        }
        in_flight.drain(..).for_each(|change| apply(&mut server, &change));
        outgoing.landed();
        while !outgoing.is_empty() {
            for change in outgoing.take(2, now) {
                apply(&mut server, change);
            }
            outgoing.landed();
        }
        for (at, state) in server {
            let stands = state == State::Unavailable && confirmed.get(&at) == Some(&state);
            prop_assert!(stands || here.get(&at) == Some(&state), "{at:?} is {state:?} at the server, and here {here:?}");
        }
    }
}
