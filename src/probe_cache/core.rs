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
    availability::Entry,
    endpoint::Standing,
    key::{CallRef, without_query},
    place::{Look, Place, Places, Settled},
    probe::Probe,
    prober::{Prober, Question},
    schedule::Schedule,
    verdict::Disproof,
    watch::{Card, Watch},
};
use crate::{
    call::{Binding, Call, operation_prefix, split_grpc_path},
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

/// Why a call does not just go.
pub(super) enum Instead {
    /// The endpoint is to be asked first.
    Ask(Asking),
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

/// Where the last call through a handle went, and how it stood there.
#[derive(Clone)]
pub(super) struct Last {
    place: Arc<Place>,
    settled: Option<Settled>,
}

impl Core {
    /// What a call goes by that may go. `last` is where the last one through the same handle went; `noted` is told of a
    /// probe for this one.
    // In one piece with its caller, so that what it returns is not put together twice.
    #[inline(always)]
    pub(super) fn look(
        &self,
        head: (&Method, &Uri, &HeaderMap),
        call: &Call,
        now: Instant,
        last: &mut Option<Last>,
        noted: Option<&CardStore>,
    ) -> Result<Watch, Box<Instead>> {
        let (method, uri, headers) = head;
        let path = address(method, uri, call);
        // Made twice, so that the first need never lie in memory.
        let at = || CallRef::new(uri, path, headers, &self.tenant_headers, call);
        let Last { place, settled } = match last {
            Some(known) if known.place.is_of(&at()) => known,
            _ => match self.places.find(&at()) {
                Some(place) => last.insert(Last { place, settled: None }),
                None => return Err(relative()),
            },
        };
        let look = place.look();
        let is_due = match settled {
            Some(settled) if settled.holds(look, now) => {
                if let Some(entry) = &place.entry {
                    entry.count(true);
                }
                false
            }
            _ => {
                *settled = self.reckon((place, look), path, head, call, place.clock.millis(now), noted)?;
                settled.is_none()
            }
        };
        if self.schedule.is_some() {
            place.endpoint.note_use();
        }
        let card = self.cards.as_ref().and_then(|cards| card_of(cards, uri, path, headers, call));
        Ok(Watch::at(Arc::clone(place), look, is_due, call, card))
    }

    /// Whether the call may go, and whether the next ones may as well; if not, this one has something to renew.
    #[inline(never)]
    fn reckon(
        &self,
        (place, look): (&Arc<Place>, Look),
        path: &str,
        head: (&Method, &Uri, &HeaderMap),
        call: &Call,
        now: Millis,
        noted: Option<&CardStore>,
    ) -> Result<Option<Settled>, Box<Instead>> {
        let mut until = place.due(look);
        if let Some(entry) = &place.entry {
            let available = look.entry.until() > now;
            entry.count(available);
            if !available && let Some(instead) = unavailable(entry, now) {
                return Err(instead);
            }
            until = until.min(look.entry.until());
        }
        if self.prober.is_some() {
            if look.endpoint.until() <= now {
                self.ask(place, path, head, call, now, noted)?;
            }
            until = until.min(look.endpoint.until());
        }
        Ok((now < until).then(|| place.settled(look, until)))
    }

    /// Whether the call may go though its endpoint is not trusted.
    #[cold]
    fn ask(
        &self,
        place: &Arc<Place>,
        path: &str,
        (method, uri, headers): (&Method, &Uri, &HeaderMap),
        call: &Call,
        now: Millis,
        noted: Option<&CardStore>,
    ) -> Result<(), Box<Instead>> {
        let Some(prober) = &self.prober else { return Ok(()) };
        if let Some(schedule) = &self.schedule {
            schedule.start(prober);
            place.endpoint.note_use();
        }
        match place.endpoint.standing(prober.credential(headers), now) {
            Standing::Go => Ok(()),
            Standing::Refuse(disproof) => Err(Box::new(Instead::Distrusted(disproof))),
            Standing::Probe => {
                // Where no probe can be written, the call's own outcome tells.
                let Some(probe) = prober.probe(call, method, uri, headers) else { return Ok(()) };
                let (endpoint, probe) = (Arc::clone(&place.endpoint), Arc::new(probe.noted_by(noted)));
                let question = Question { key: place.endpoint_key(), endpoint, probe };
                let card = self.cards.as_ref().and_then(|cards| card_of(cards, uri, path, headers, call));
                let (prober, place) = (Arc::clone(prober), Arc::clone(place));
                Err(Box::new(Instead::Ask(Asking { question, prober, place, card })))
            }
        }
    }
}

/// What stands in front of the operation. Over JSON-RPC the query is a part of the address; over HTTP+JSON it is the
/// operation's.
#[inline]
fn address<'a>(method: &Method, uri: &'a Uri, call: &Call) -> &'a str {
    match (call.binding(), uri.path_and_query()) {
        (Some(Binding::HttpJson | Binding::Grpc), _) | (_, None) => path_before_operation(method, uri, call),
        (_, Some(all)) => all.as_str(),
    }
}

#[inline(never)]
fn path_before_operation<'a>(method: &Method, uri: &'a Uri, call: &Call) -> &'a str {
    let path = uri.path();
    match call.binding() {
        Some(Binding::HttpJson) => operation_prefix(method, path).unwrap_or(path),
        // The service: its methods are one endpoint's.
        Some(Binding::Grpc) => path.rsplit_once('/').map_or("", |(service, _)| service),
        _ => path,
    }
}

#[cold]
fn relative() -> Box<Instead> {
    Box::new(Instead::Relative)
}

#[cold]
fn unavailable(entry: &Entry, now: Millis) -> Option<Box<Instead>> {
    let (lasts, said) = entry.unavailable(now)?;
    Some(Box::new(Instead::Unavailable { lasts, said }))
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
#[inline(never)]
fn card_of(store: &CardStore, uri: &Uri, path: &str, headers: &HeaderMap, call: &Call) -> Option<Box<Card>> {
    let path = match call.binding() {
        Some(Binding::Grpc) => split_grpc_path(uri.path()).0,
        _ => without_query(path),
    };
    let at = CardKeyRef::new(uri, headers).with_path(path).with_version(call.version()).with_tenant(call.tenant());
    let card = store.peek(&at)?;
    Some(Box::new(Card { store: store.clone(), card }))
}
