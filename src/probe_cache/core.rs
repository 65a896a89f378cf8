//! What all services of a layer share: what is known of places, and who finds out.

use std::{
    hash::{BuildHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use http::{HeaderMap, HeaderName, Method, Uri};
use tokio::time::Instant;

use super::{
    SkillAvailability,
    endpoint::Standing,
    key::PlaceRef,
    place::{Place, Places},
    probe::Probe,
    prober::{Prober, Question},
    schedule::Schedule,
    verdict::Disproof,
    watch::{Card, Watch},
};
use crate::{
    call::{Binding, Call, operation_prefix},
    card_consistency::{CardKeyRef, CardStore},
    clock::Millis,
    wire::PeerError,
};

pub(super) struct Core {
    pub(super) places: Places,
    pub(super) availability: SkillAvailability,
    pub(super) tenant_headers: Box<[HeaderName]>,
    pub(super) prober: Option<Arc<Prober>>,
    pub(super) cards: Option<CardStore>,
    pub(super) schedule: Option<Schedule>,
}

/// What is to be done about a call.
pub(super) enum Look {
    Go(Watch),
    /// The endpoint is to be asked first.
    Ask(Box<Asking>),
    Distrusted(Disproof),
    Unavailable {
        lasts: Duration,
        said: Option<Box<PeerError>>,
    },
    /// Nobody knows where the call goes.
    Relative,
}

/// A call whose endpoint is asked first.
pub(super) struct Asking {
    pub(super) question: Question,
    pub(super) prober: Arc<Prober>,
    pub(super) place: Arc<Place>,
    pub(super) card: Option<Box<Card>>,
}

impl Core {
    #[inline]
    pub(super) fn look(
        &self,
        (method, uri, headers): (&Method, &Uri, &HeaderMap),
        call: &Call,
        now: Instant,
        last: &mut Option<Arc<Place>>,
    ) -> Look {
        let path = match call.binding() {
            Some(Binding::HttpJson) => operation_prefix(method, uri.path()).unwrap_or_else(|| uri.path()),
            _ => uri.path(),
        };
        let Some(at) = PlaceRef::new(uri, path, headers, &self.tenant_headers, call) else { return Look::Relative };
        let place = self.places.find(&at, last);
        let millis = place.clock.millis(now);
        if let Some(entry) = &place.entry {
            let available = entry.look().0 > millis;
            entry.count(available);
            if !available && let Some((lasts, said)) = entry.unavailable(millis) {
                return Look::Unavailable { lasts, said };
            }
        }
        let card = self.cards.as_ref().and_then(|cards| card_of(cards, uri, path, headers, call));
        if place.endpoint.look().0 <= millis
            && let Some(prober) = &self.prober
        {
            return self.ask(prober, (place, &at), (method, uri, headers), call, card, millis);
        }
        if self.schedule.is_some() {
            place.endpoint.note_use();
        }
        Look::Go(Watch::new(place, call, millis, card))
    }

    #[cold]
    fn ask(
        &self,
        prober: &Arc<Prober>,
        (place, at): (Arc<Place>, &PlaceRef<'_>),
        (method, uri, headers): (&Method, &Uri, &HeaderMap),
        call: &Call,
        card: Option<Box<Card>>,
        now: Millis,
    ) -> Look {
        if let Some(schedule) = &self.schedule {
            schedule.start(prober);
            place.endpoint.note_use();
        }
        match place.endpoint.standing(prober.credential(headers), now) {
            Standing::Go => Look::Go(Watch::new(place, call, now, card)),
            Standing::Refuse(disproof) => Look::Distrusted(disproof),
            Standing::Probe => match prober.probe(call, method, uri, headers) {
                Some(probe) => {
                    let endpoint = Arc::clone(&place.endpoint);
                    let question = Question { key: at.endpoint(), endpoint, probe: Arc::new(probe) };
                    Look::Ask(Box::new(Asking { question, prober: Arc::clone(prober), place, card }))
                }
                // Nothing here writes a probe in this binding: the call's own outcome tells.
                None => Look::Go(Watch::new(place, call, now, card)),
            },
        }
    }
}

impl Prober {
    /// Whose call it is: a hash, keyed anew by each layer.
    pub(super) fn credential(&self, headers: &HeaderMap) -> u64 {
        let mut hasher = self.random.build_hasher();
        for name in &self.carried {
            for value in headers.get_all(name) {
                (name, value).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    fn probe(&self, call: &Call, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Probe> {
        Probe::of(call, method, uri, headers, &self.carried, self.credential(headers))
    }
}

/// The card that is held for a call, if the user named a store.
fn card_of(store: &CardStore, uri: &Uri, path: &str, headers: &HeaderMap, call: &Call) -> Option<Box<Card>> {
    let at = CardKeyRef::new(uri, headers).with_path(path).with_version(call.version()).with_tenant(call.tenant());
    let card = store.peek(&at)?;
    Some(Box::new(Card { store: store.clone(), card }))
}
