//! One process of several: a stack of its own, an agent to call, and its own connection.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use a2a_guard::probe_cache::{
    Availability, RedisStore, RedisStoreBuilder, SkillAvailability, SkillAvailabilityBuilder,
};

use crate::{
    mock::{Dialect, Ended, ms},
    server::until_true,
    support::{Agent, Guarded, builder, call, does, for_skill, guard, key, not_here},
};

/// A store waits 5 s for its server; who waited for a store took longer than this.
const WAITS: Duration = Duration::from_secs(4);

pub(crate) struct Replica {
    pub(crate) store: Arc<RedisStore>,
    pub(crate) skills: SkillAvailability,
    pub(crate) agent: Agent,
    service: Guarded,
}

impl Replica {
    /// Connected already.
    pub(crate) async fn at(url: &str) -> Self {
        Self::of(RedisStore::builder(url), SkillAvailability::builder()).await
    }

    pub(crate) async fn of(store: RedisStoreBuilder, skills: SkillAvailabilityBuilder) -> Self {
        let replica = Self::lonely(store, skills);
        replica.is_connected().await;
        replica
    }

    /// Not connected yet, or never.
    pub(crate) fn lonely(store: RedisStoreBuilder, skills: SkillAvailabilityBuilder) -> Self {
        let store = Arc::new(store.max_back_off(ms(200)).build().unwrap());
        let skills = skills.store(store.clone()).build().unwrap();
        let agent = Agent::willing();
        let layer = builder(&agent).availability(skills.clone()).build().unwrap();
        Self { store, service: guard(&layer, &agent), skills, agent }
    }

    pub(crate) async fn is_connected(&self) {
        until_true("the replica is connected", || self.store.connected()).await;
    }

    pub(crate) async fn is_away(&self) {
        until_true("the replica notices", || !self.store.connected()).await;
    }

    /// A call for a skill. It never takes as long as anything that is waited for in a store.
    pub(crate) async fn call(&mut self, skill: &str) -> Ended {
        let begun = Instant::now();
        let ended = call(&mut self.service, for_skill(Dialect::V1.send(), skill, "eu")).await;
        assert!(begun.elapsed() < WAITS, "it took {:?}", begun.elapsed());
        ended
    }

    pub(crate) async fn succeeds(&mut self, skill: &str) {
        self.agent.change(|asked| if asked.is_probe() { crate::support::no_task(asked) } else { does(asked) });
        assert_eq!(self.call(skill).await.word(), "success/success");
        assert!(self.knows(skill));
    }

    /// The agent says that the skill is not there.
    pub(crate) async fn is_refused(&mut self, skill: &str) {
        self.agent.change(|asked| if asked.is_probe() { crate::support::no_task(asked) } else { not_here() });
        assert_eq!(self.call(skill).await.word(), "stale/skill_unavailable");
        assert!(!self.knows(skill));
    }

    /// The server took so many changes.
    pub(crate) async fn has_told(&self, changes: u64) {
        until_true(&format!("{changes} changes are told"), || self.store.stats().told == changes).await;
    }

    pub(crate) fn state(&self, skill: &str) -> Availability {
        self.skills.get(&key(skill, "eu"))
    }

    pub(crate) fn lasts(&self, skill: &str) -> Option<Duration> {
        match self.state(skill) {
            Availability::Available { lasts } => Some(lasts),
            _ => None,
        }
    }

    pub(crate) fn knows(&self, skill: &str) -> bool {
        self.lasts(skill).is_some()
    }

    pub(crate) async fn learns(&self, skill: &str) {
        until_true(&format!("{skill} becomes known"), || self.knows(skill)).await;
    }

    pub(crate) async fn forgets(&self, skill: &str) {
        until_true(&format!("{skill} is forgotten"), || !self.knows(skill)).await;
    }
}
