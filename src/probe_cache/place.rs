//! What one call goes by: its endpoint, and the skill that it wants there. Found in one look-up.

use std::{convert::Infallible, fmt, sync::Arc};

use http::Uri;
use quick_cache::{DefaultHashBuilder, Lifecycle, UnitWeighter, sync::Cache};
use tokio::time::Instant;

use super::{
    SkillAvailability, SkillKey,
    availability::Entry,
    endpoint::{Endpoint, Terms},
    key::{CallRef, EndpointKey, PlaceKey, PlaceRef},
    lease::Seen,
};
use crate::{
    call::{Call, Operation},
    card::Origin,
    clock::{Clock, Millis},
};

/// What was renewed less than this ago is not renewed again by a call that takes no time to speak of.
const STEP: Millis = 1_000;

pub(super) struct Place {
    key: PlaceKey,
    /// That of the call which it was made for.
    uri: Uri,
    pub(super) endpoint: Arc<Endpoint>,
    /// Of a call that names a skill and begins a task.
    pub(super) entry: Option<Arc<Entry>>,
    pub(super) clock: Clock,
    availability: SkillAvailability,
}

/// A place as it stood when a call looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) endpoint: Seen,
    pub(super) entry: Seen,
}

/// A place as it stood when a call went there with nothing to ask and nothing to renew: until then, the calls that find
/// it so are spared the reckoning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    look: Look,
    until: Instant,
}

impl Settled {
    #[inline]
    pub(super) fn holds(&self, look: Look, now: Instant) -> bool {
        self.look == look && now < self.until
    }
}

/// Bounded maps. Looking up takes a shared lock; they are only written for places that no call went to before.
pub(super) struct Places {
    places: Cache<PlaceKey, Arc<Place>, UnitWeighter>,
    endpoints: Cache<EndpointKey, Arc<Endpoint>, UnitWeighter, DefaultHashBuilder, MarkEvicted>,
    availability: SkillAvailability,
    terms: Terms,
}

#[derive(Clone, Copy, Debug, Default)]
struct MarkEvicted;

impl Lifecycle<EndpointKey, Arc<Endpoint>> for MarkEvicted {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: EndpointKey, endpoint: Arc<Endpoint>) {
        endpoint.evict();
    }
}

impl Places {
    pub(super) fn new(capacity: usize, availability: SkillAvailability, terms: Terms) -> Self {
        // Each endpoint with a few skills and regions.
        let places = capacity.saturating_mul(8);
        let hasher = DefaultHashBuilder::default();
        Self {
            places: Cache::with_weighter(places, places as u64, UnitWeighter),
            endpoints: Cache::with(capacity, capacity as u64, UnitWeighter, hasher, MarkEvicted),
            availability,
            terms,
        }
    }

    /// The place of a call, if its URI is absolute.
    #[inline(never)]
    pub(super) fn find(&self, call: &CallRef<'_>) -> Option<Arc<Place>> {
        let at = call.place()?;
        Some(match self.places.get(&at) {
            Some(place) if !place.is_gone() => place,
            _ => self.make(&at),
        })
    }

    #[cold]
    fn make(&self, at: &PlaceRef<'_>) -> Arc<Place> {
        let key = at.to_key();
        let made = || Ok::<_, Infallible>(Arc::new(Endpoint::new(self.terms)));
        let endpoint = match self.endpoints.get_or_insert_with(&key.endpoint, made) {
            Ok(endpoint) => endpoint,
            Err(never) => match never {},
        };
        let entry = Origin::parse(&at.origin())
            .ok()
            .filter(|_| !at.call.skill.is_empty())
            .map(|origin| self.availability.entry(SkillKey::new(origin, at.call.skill).in_region(at.call.region)));
        let place = Arc::new(Place {
            key: key.clone(),
            uri: at.call.uri.clone(),
            endpoint,
            entry,
            clock: self.availability.clock(),
            availability: self.availability.clone(),
        });
        self.places.insert(key, Arc::clone(&place));
        place
    }

    pub(super) fn endpoints(&self) -> Vec<(EndpointKey, Arc<Endpoint>)> {
        self.endpoints.iter().collect()
    }

    /// Forgets what is known of the endpoints of an origin, and says of how many.
    pub(super) fn forget(&self, origin: &Uri) -> usize {
        let of_origin = self.endpoints().into_iter().filter(|(key, _)| key.is_at(origin));
        let forgotten = of_origin.filter_map(|(key, _)| self.endpoints.remove(&key));
        forgotten.map(|(_, endpoint)| endpoint.evict()).count()
    }
}

/// When what holds until `until` is next worth renewing: a while ([`STEP`], or an eighth of its span if that is less)
/// after it was last renewed.
fn due(until: Millis, span: Millis) -> Millis {
    (until.saturating_add(STEP.min(span / 8)) + 1).saturating_sub(span)
}

/// Neither keys nor URIs: they may hold what is secret.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

impl Place {
    pub(super) fn endpoint_key(&self) -> EndpointKey {
        self.key.endpoint.clone()
    }

    /// What is known of the skill that a refused call named. A message to a task that is there already goes by no
    /// skill, but what it is told of one holds for all. Other operations on tasks tell nothing of skills.
    #[cold]
    pub(super) fn entry_of(&self, call: &Call) -> Option<Arc<Entry>> {
        self.entry.clone().or_else(|| {
            let skill = call.skill().filter(|skill| !skill.is_empty())?;
            let key =
                SkillKey::of(&self.uri, skill).ok().filter(|_| call.operation().is_some_and(Operation::is_send))?;
            Some(self.availability.entry(key.in_region(call.region().unwrap_or_default())))
        })
    }

    /// Whether a call is like the one which it was made for, and would find it.
    #[inline]
    pub(super) fn is_of(&self, call: &CallRef<'_>) -> bool {
        call.is_like(&self.uri, &self.key) && !self.is_gone()
    }

    #[inline]
    pub(super) fn look(&self) -> Look {
        let entry = self.entry.as_ref().map(|entry| entry.look()).unwrap_or_default();
        Look { endpoint: self.endpoint.look(), entry }
    }

    /// From when on a success has something to renew. That costs a reading of the clock.
    pub(super) fn due(&self, look: Look) -> Millis {
        let endpoint = due(look.endpoint.until(), self.endpoint.trust());
        self.entry.as_ref().map_or(endpoint, |entry| endpoint.min(due(look.entry.until(), entry.ttl())))
    }

    /// How it stands until `until`.
    pub(super) fn settled(&self, look: Look, until: Millis) -> Settled {
        Settled { look, until: self.clock.instant(until) }
    }

    /// What it is made of was thrown out of its map: others look elsewhere by now.
    #[inline]
    fn is_gone(&self) -> bool {
        self.endpoint.is_evicted() || self.entry.as_ref().is_some_and(|entry| entry.is_evicted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewal_is_due_a_second_after_the_last() {
        // Held for 60 s, since 10 s.
        assert_eq!(due(70_000, 60_000), 11_001);
        // Of a short time, a part.
        assert_eq!(due(800, 800), 101);
        assert_eq!(due(0, 60_000), 0, "nothing is held");
    }
}
