//! What this process learnt and has not told the server yet: one word for each key, the last.

use std::{
    collections::{HashMap, HashSet, hash_map},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    card::Origin,
    probe_cache::{Change, SkillKey},
};

/// So many keys and hosts wait at most.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// Told first, then hosts, then keys: who tells that a host is dropped takes back what waits of its keys, so that
    /// any that wait after it are newer.
    all: bool,
    hosts: HashSet<Origin>,
    keys: HashMap<SkillKey, Waiting>,
    /// What the server was told and has not confirmed.
    in_flight: Vec<Change>,
    /// Of that, what is available again and was not told to be gone.
    again: Vec<SkillKey>,
}

#[derive(Debug)]
struct Waiting {
    word: Word,
    since: Instant,
    /// It went well after it was gone, and that was not told either.
    was_gone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Available(Duration),
    Unavailable(Duration),
    Dropped,
}

impl Outgoing {
    /// Takes in what was learnt just now. `false` if there is no room for it; invalidations always find some.
    pub(super) fn add(&mut self, change: Change, now: Instant) -> bool {
        match change {
            Change::Available { key, lasts } => self.put(key, Word::Available(lasts), now),
            Change::Unavailable { key, lasts } => self.put(key, Word::Unavailable(lasts), now),
            Change::Dropped { key } => self.put(key, Word::Dropped, now),
            Change::DroppedHost { origin } => {
                self.keys.retain(|key, _| *key.origin() != origin);
                if self.is_full() {
                    self.drop_all();
                } else {
                    self.hosts.insert(origin);
                }
                true
            }
            Change::DroppedAll => {
                self.drop_all();
                true
            }
        }
    }

    fn put(&mut self, key: SkillKey, word: Word, now: Instant) -> bool {
        if self.is_full() && !self.keys.contains_key(&key) {
            if let Word::Available(_) = word {
                return false;
            }
            // More is gone than can be listed. Taking everything for unknown costs the others real calls, and nothing
            // else; missing one would have them believe what is not so.
            self.drop_all();
        } else {
            let was_gone = self.keys.get(&key).is_some_and(Waiting::is_invalidation);
            self.keys.insert(key, Waiting { word, since: now, was_gone });
        }
        true
    }

    fn is_full(&self) -> bool {
        self.keys.len() + self.hosts.len() >= MOST
    }

    fn drop_all(&mut self) {
        self.all = true;
        self.hosts.clear();
        self.keys.clear();
    }

    /// What is to be told next, counting from now; at most so much. It is in flight until [`landed`](Self::landed).
    pub(super) fn take(&mut self, most: usize, now: Instant) -> &[Change] {
        let mut batch = Vec::new();
        if std::mem::take(&mut self.all) {
            batch.push(Change::DroppedAll);
        }
        let room = most.saturating_sub(batch.len());
        batch.extend(self.hosts.extract_if(|_| true).take(room).map(|origin| Change::DroppedHost { origin }));
        // Hosts before all of their keys.
        if self.hosts.is_empty() {
            let room = most.saturating_sub(batch.len());
            let (keys, again) = (self.keys.extract_if(|_, _| true).take(room), &mut self.again);
            batch.extend(keys.filter_map(|(key, waiting)| {
                if waiting.is_available() && waiting.was_gone {
                    again.push(key.clone());
                }
                waiting.told(key, now)
            }));
        }
        self.in_flight = batch;
        &self.in_flight
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.all && self.hosts.is_empty() && self.keys.is_empty()
    }

    /// The server answered. Says how many changes it answered to.
    pub(super) fn landed(&mut self) -> usize {
        self.again.clear();
        std::mem::take(&mut self.in_flight).len()
    }

    /// Connected anew. What went well before that may be over: only invalidations are still told, and those that were
    /// in flight once more.
    pub(super) fn reconnected(&mut self, now: Instant) {
        // First, for what is in flight is told again, though it may have gone well since.
        self.keys.retain(|_, waiting| waiting.is_invalidation());
        let again = std::mem::take(&mut self.again).into_iter().map(|key| Change::Dropped { key });
        for change in std::mem::take(&mut self.in_flight).into_iter().chain(again) {
            match change {
                Change::Available { .. } => {}
                Change::Unavailable { key, .. } | Change::Dropped { key } => {
                    if let hash_map::Entry::Vacant(entry) = self.keys.entry(key) {
                        entry.insert(Waiting::dropped(now));
                    }
                }
                Change::DroppedHost { origin } => {
                    self.hosts.insert(origin);
                }
                Change::DroppedAll => self.all = true,
            }
        }
        for waiting in self.keys.values_mut() {
            // Nor is it known any longer that it is still missing.
            waiting.word = Word::Dropped;
        }
    }

    /// Whether another replica's word is older than what this one is about to tell: it believes a skill to be available
    /// that was found to be gone.
    pub(super) fn outdates(&self, change: &Change) -> bool {
        let Change::Available { key, .. } = change else { return false };
        self.all
            || self.hosts.contains(key.origin())
            || self.keys.get(key).is_some_and(|waiting| !waiting.is_available())
            || self.in_flight.iter().any(|told| drops(told, key))
    }

    /// Another replica says that something is gone. What went well here was before that, as far as anybody knows: it is
    /// not told, and taken back where it is being told.
    pub(super) fn withdraw(&mut self, gone: &Change, now: Instant) {
        self.keys.retain(|key, waiting| !(waiting.is_available() && drops(gone, key)));
        for told in &self.in_flight {
            if let Change::Available { key, .. } = told
                && drops(gone, key)
                && let hash_map::Entry::Vacant(entry) = self.keys.entry(key.clone())
            {
                entry.insert(Waiting::dropped(now));
            }
        }
    }
}

impl Waiting {
    fn dropped(now: Instant) -> Self {
        Self { word: Word::Dropped, since: now, was_gone: false }
    }

    /// Whether others are to be told that it is gone, or was.
    fn is_invalidation(&self) -> bool {
        !self.is_available() || self.was_gone
    }

    fn is_available(&self) -> bool {
        matches!(self.word, Word::Available(_))
    }

    /// As a change that counts from now on.
    fn told(&self, key: SkillKey, now: Instant) -> Option<Change> {
        let waited = now.saturating_duration_since(self.since);
        let left = |lasts: Duration| lasts.checked_sub(waited).filter(|left| left.as_millis() > 0);
        match self.word {
            Word::Available(lasts) => match left(lasts) {
                Some(lasts) => Some(Change::Available { key, lasts }),
                None => self.was_gone.then_some(Change::Dropped { key }),
            },
            Word::Unavailable(lasts) => Some(match left(lasts) {
                Some(lasts) => Change::Unavailable { key, lasts },
                None => Change::Dropped { key },
            }),
            Word::Dropped => Some(Change::Dropped { key }),
        }
    }
}

/// Whether nothing is available under this key after such a change.
fn drops(change: &Change, key: &SkillKey) -> bool {
    match change {
        Change::Available { .. } => false,
        Change::Unavailable { key: gone, .. } | Change::Dropped { key: gone } => gone == key,
        Change::DroppedHost { origin } => origin == key.origin(),
        Change::DroppedAll => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(host: &str, skill: &str) -> SkillKey {
        SkillKey::new(Origin::parse(&format!("https://{host}.example.com")).unwrap(), skill)
    }

    fn available(skill: &str) -> Change {
        Change::Available { key: key("a", skill), lasts: Duration::from_secs(60) }
    }

    fn unavailable(skill: &str) -> Change {
        Change::Unavailable { key: key("a", skill), lasts: Duration::from_secs(10) }
    }

    fn dropped(skill: &str) -> Change {
        Change::Dropped { key: key("a", skill) }
    }

    fn host() -> Change {
        Change::DroppedHost { origin: key("a", "").origin().clone() }
    }

    struct Test {
        outgoing: Outgoing,
        now: Instant,
    }

    impl Test {
        fn of(changes: impl IntoIterator<Item = Change>) -> Self {
            let mut test = Self { outgoing: Outgoing::default(), now: Instant::now() };
            test.add(changes);
            test
        }

        fn add(&mut self, changes: impl IntoIterator<Item = Change>) {
            for change in changes {
                assert!(self.outgoing.add(change, self.now));
            }
        }

        fn wait(&mut self, seconds: u64) {
            self.now += Duration::from_secs(seconds);
        }

        fn take(&mut self) -> Vec<Change> {
            self.outgoing.take(64, self.now).to_vec()
        }
    }

    #[test]
    fn the_last_word_on_a_key_is_told() {
        assert_eq!(Test::of([available("s"), dropped("s")]).take(), [dropped("s")]);
        assert_eq!(Test::of([dropped("s"), available("s")]).take(), [available("s")]);
        assert_eq!(Test::of([available("s"), host()]).take(), [host()]);
        assert_eq!(Test::of([host(), available("s")]).take(), [host(), available("s")]);
        assert_eq!(Test::of([host(), dropped("s"), Change::DroppedAll]).take(), [Change::DroppedAll]);
        let mut test = Test::of([Change::DroppedAll, host(), available("s")]);
        assert_eq!(test.take(), [Change::DroppedAll, host(), available("s")]);
        assert_eq!((test.outgoing.is_empty(), test.outgoing.landed()), (true, 3));
        assert!(test.take().is_empty());
    }

    #[test]
    fn nothing_counts_for_longer_for_having_waited() {
        let mut test = Test::of([available("s"), unavailable("t"), available("u")]);
        test.wait(4);
        test.add([available("u")]);
        let mut told = test.take();
        told.sort_by_key(|change| format!("{change:?}"));
        let (fresh, rest) = (Duration::from_secs(60), Duration::from_secs(56));
        assert_eq!(told[0], Change::Available { key: key("a", "s"), lasts: rest });
        assert_eq!(told[1], Change::Available { key: key("a", "u"), lasts: fresh });
        assert_eq!(told[2], Change::Unavailable { key: key("a", "t"), lasts: Duration::from_secs(6) });
        let mut test = Test::of([available("s"), unavailable("t")]);
        test.wait(60);
        assert_eq!(test.take(), [dropped("t")]);
        // That it was gone is told, though it went well since.
        let mut test = Test::of([dropped("s"), available("s")]);
        test.wait(60);
        assert_eq!(test.take(), [dropped("s")]);
    }

    #[test]
    fn what_is_gone_finds_room_and_what_went_well_does_not() {
        let mut test = Test::of((0..MOST).map(|n| available(&n.to_string())));
        assert!(!test.outgoing.add(available("more"), test.now));
        assert!(test.outgoing.add(available("7"), test.now), "it waits already");
        test.add([dropped("more")]);
        assert_eq!(test.take(), [Change::DroppedAll]);

        let mut test = Test::of((0..MOST).map(|n| dropped(&n.to_string())));
        let mut told = Vec::new();
        while !test.outgoing.is_empty() {
            let batch = test.take();
            assert!((1..=64).contains(&batch.len()));
            told.extend(batch);
        }
        assert_eq!(told.len(), MOST);
        let hosts = (0..=MOST).map(|n| Change::DroppedHost { origin: key(&format!("h{n}"), "").origin().clone() });
        assert_eq!(Test::of(hosts).take(), [Change::DroppedAll]);
    }

    #[test]
    fn hosts_are_told_before_their_keys() {
        let hosts = (0..100).map(|n| Change::DroppedHost { origin: key(&format!("h{n}"), "").origin().clone() });
        let mut test = Test::of(hosts);
        test.add([available("s")]);
        let (first, second) = (test.take(), test.take());
        assert_eq!((first.len(), second.len()), (64, 37));
        assert_eq!(second.last(), Some(&available("s")));
    }

    #[test]
    fn after_an_outage_invalidations_alone_are_told() {
        let mut test = Test::of([available("s"), unavailable("t"), dropped("u")]);
        assert_eq!(test.take().len(), 3);
        test.add([available("u"), available("v"), unavailable("w"), Change::DroppedAll, dropped("x")]);
        test.outgoing.reconnected(test.now);
        let mut told = test.take();
        told.sort_by_key(|change| format!("{change:?}"));
        let expected = [dropped("t"), dropped("u"), dropped("x"), Change::DroppedAll];
        assert_eq!(told, expected);
        // And once more, if that is lost too.
        test.outgoing.reconnected(test.now);
        assert_eq!(test.take().len(), 4);
        assert_eq!(test.outgoing.landed(), 4);
        test.outgoing.reconnected(test.now);
        assert!(test.outgoing.is_empty());
    }

    #[test]
    fn what_others_believe_does_not_undo_what_is_gone_here() {
        for gone in [dropped("s"), unavailable("s"), host(), Change::DroppedAll] {
            let mut test = Test::of([gone.clone()]);
            assert!(test.outgoing.outdates(&available("s")), "{gone:?} waits");
            assert!(!test.outgoing.outdates(&dropped("s")));
            test.take();
            assert!(test.outgoing.outdates(&available("s")), "{gone:?} is in flight");
            test.outgoing.landed();
            assert!(!test.outgoing.outdates(&available("s")), "{gone:?} was told");
        }
        assert!(!Test::of([dropped("s"), available("t")]).outgoing.outdates(&available("t")));
    }

    #[test]
    fn what_went_well_here_does_not_undo_what_is_gone_elsewhere() {
        for gone in [dropped("s"), unavailable("s"), host(), Change::DroppedAll] {
            let mut test = Test::of([available("s"), Change::Available { key: key("b", "s"), lasts: Duration::MAX }]);
            test.outgoing.withdraw(&gone, test.now);
            assert!(!test.take().contains(&available("s")), "{gone:?}");
            let mut test = Test::of([available("s")]);
            test.take();
            test.outgoing.withdraw(&gone, test.now);
            test.outgoing.landed();
            assert_eq!(test.take(), [dropped("s")], "taken back after {gone:?}");
        }
        let mut test = Test::of([available("s")]);
        test.outgoing.withdraw(&dropped("t"), test.now);
        test.outgoing.withdraw(&available("s"), test.now);
        assert_eq!(test.take(), [available("s")]);
    }
}
