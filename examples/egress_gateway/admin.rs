//! What the gateway saw and holds, for its operator.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use a2a_guard::{
    Class, Observe, Outcome, OutcomeKind, ProbeCacheLayer,
    card_consistency::CardStore,
    probe_cache::{Availability, EndpointState, SkillAvailability},
};
use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE},
};
use http_body_util::Full;
use serde_json::{Value, json};

/// What there is to look at.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) outcomes: Outcomes,
    /// `None` if calls are not held against cards.
    pub(crate) cards: Option<CardStore>,
    pub(crate) skills: SkillAvailability,
    pub(crate) endpoints: ProbeCacheLayer,
}

impl Seen {
    pub(crate) fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let found = match request.uri().path() {
            "/outcomes" => self.outcomes.to_json(),
            "/availability" => self.availability(),
            "/cards" => self.cards(),
            _ => return said(StatusCode::NOT_FOUND, "there are /outcomes, /availability and /cards\n"),
        };
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = said(StatusCode::METHOD_NOT_ALLOWED, "there is nothing to change here\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let mut response = Response::new(Full::from(found.to_string()));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    fn availability(&self) -> Value {
        let skill = |availability: Availability| match availability {
            Availability::Available { lasts } => ("available", seconds(lasts)),
            Availability::Unavailable { lasts } => ("unavailable", seconds(lasts)),
            _ => ("unknown", Value::Null),
        };
        let endpoint = |state: EndpointState| match state {
            EndpointState::Trusted { lasts } => ("trusted", seconds(lasts)),
            EndpointState::Distrusted { lasts } => ("distrusted", seconds(lasts)),
            _ => ("unknown", Value::Null),
        };
        let skills = self.skills.snapshot().into_iter().map(|entry| {
            let (state, lasts) = skill(entry.availability);
            json!({
                "origin": entry.key.origin().to_string(),
                "skill": entry.key.skill(),
                "region": entry.key.region(),
                "state": state,
                "lasts_s": lasts,
            })
        });
        let endpoints = self.endpoints.endpoints().into_iter().map(|entry| {
            let (state, lasts) = endpoint(entry.state);
            json!({ "url": entry.url, "tenant": entry.tenant, "state": state, "lasts_s": lasts })
        });
        json!({ "skills": skills.collect::<Vec<_>>(), "endpoints": endpoints.collect::<Vec<_>>() })
    }

    fn cards(&self) -> Value {
        let entries = self.cards.as_ref().map(CardStore::snapshot).unwrap_or_default();
        let entries = entries.iter().map(|entry| {
            json!({
                "target": entry.target,
                "by_credential": entry.by_credential,
                "extended": entry.extended,
                "location": entry.location.as_ref().map(ToString::to_string),
                "failure": entry.failure.as_ref().map(ToString::to_string),
                "expires_in_s": seconds(entry.expires_in),
                "distrusted": entry.distrusted,
            })
        });
        json!(entries.collect::<Vec<_>>())
    }
}

fn seconds(time: Duration) -> Value {
    json!(time.as_secs_f64())
}

fn said(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response
}

/// How calls ended, counted by outcome and class: a closed set, so that it cannot grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes(Arc<Counts>);

#[derive(Debug)]
struct Counts(Vec<AtomicU64>);

impl Default for Counts {
    fn default() -> Self {
        Self((0..OutcomeKind::ALL.len() * Class::ALL.len()).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Observe for Outcomes {
    fn observe(&self, outcome: &Outcome<'_>) {
        let kind = OutcomeKind::ALL.iter().position(|one| *one == outcome.kind());
        let class = Class::ALL.iter().position(|one| *one == outcome.class());
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
        for (kind, counts) in OutcomeKind::ALL.iter().zip(self.0.0.chunks(Class::ALL.len())) {
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
