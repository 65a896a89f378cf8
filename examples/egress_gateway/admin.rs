//! What the gateway saw and holds, for its operator.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use a2a_guard::{
    Class, Observe, Outcome, OutcomeKind, ProbeCacheLayer, card_consistency::CardStore, probe_cache::SkillAvailability,
};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use serde_json::{Value, json};

/// What there is to look at.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) outcomes: Outcomes,
    pub(crate) cards: Option<CardStore>,
    pub(crate) skills: Option<SkillAvailability>,
    pub(crate) endpoints: Option<ProbeCacheLayer<Outcomes>>,
}

impl Seen {
    pub(crate) fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let found = match (request.method(), request.uri().path()) {
            (&Method::GET, "/outcomes") => self.outcomes.to_json(),
            (&Method::GET, "/availability") => self.availability(),
            (&Method::GET, "/cards") => self.cards(),
            _ => {
                let mut response = Response::new(Full::from("/outcomes, /availability, /cards\n"));
                *response.status_mut() = StatusCode::NOT_FOUND;
                return response;
            }
        };
        let mut response = Response::new(Full::from(found.to_string()));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    fn availability(&self) -> Value {
        let skills = self.skills.as_ref().map(SkillAvailability::snapshot).unwrap_or_default();
        let endpoints = self.endpoints.as_ref().map(ProbeCacheLayer::endpoints).unwrap_or_default();
        json!({
            "skills": skills.iter().map(|entry| json!({
                "host": entry.key.origin().to_string(),
                "skill": entry.key.skill(),
                "region": entry.key.region(),
                "state": format!("{:?}", entry.availability),
            })).collect::<Vec<_>>(),
            "endpoints": endpoints.iter().map(|entry| json!({
                "url": entry.url,
                "tenant": entry.tenant,
                "state": format!("{:?}", entry.state),
            })).collect::<Vec<_>>(),
        })
    }

    fn cards(&self) -> Value {
        let entries = self.cards.as_ref().map(CardStore::snapshot).unwrap_or_default();
        json!(entries.iter().map(|entry| json!({
            "target": entry.target,
            "by_credential": entry.by_credential,
            "location": entry.location.as_ref().map(ToString::to_string),
            "failure": entry.failure.as_ref().map(ToString::to_string),
            "expires_in_s": entry.expires_in.as_secs_f64(),
            "distrusted": entry.distrusted,
        })).collect::<Vec<_>>())
    }
}

/// How calls ended, counted by outcome and class: a closed set, so that it cannot grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes(Arc<Counts>);

#[derive(Debug)]
struct Counts(Vec<AtomicU64>);

impl Default for Counts {
    fn default() -> Self {
        Self((0..KINDS.len() * Class::ALL.len()).map(|_| AtomicU64::new(0)).collect())
    }
}

const KINDS: [OutcomeKind; 8] = [
    OutcomeKind::Success,
    OutcomeKind::Refused,
    OutcomeKind::Broken,
    OutcomeKind::Timeout,
    OutcomeKind::Card,
    OutcomeKind::Stale,
    OutcomeKind::Transport,
    OutcomeKind::Abandoned,
];

impl Observe for Outcomes {
    fn observe(&self, outcome: &Outcome<'_>) {
        let kind = KINDS.iter().position(|kind| *kind == outcome.kind());
        let class = Class::ALL.iter().position(|class| *class == outcome.class());
        if let (Some(kind), Some(class)) = (kind, class)
            && let Some(count) = self.0.0.get(kind * Class::ALL.len() + class)
        {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Outcomes {
    /// `{"success": {"success": 3}, "timeout": {"head": 1}}`: what happened, and nothing that did not.
    fn to_json(&self) -> Value {
        let mut by_kind: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (kind, counts) in KINDS.iter().zip(self.0.0.chunks(Class::ALL.len())) {
            for (class, count) in Class::ALL.iter().zip(counts) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    by_kind.entry(kind.as_str()).or_default().insert(class.as_str(), count);
                }
            }
        }
        json!(by_kind)
    }
}
