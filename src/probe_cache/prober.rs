//! Sends probes: one at a time for each endpoint, whoever asks, and whoever stops asking.

use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, Request};
use http_body_util::BodyExt;
use tokio::time::Instant;

use super::{
    SkillAvailability,
    endpoint::{Endpoint, Standing},
    key::EndpointKey,
    probe::Probe,
    verdict::{self, Disproof, Verdict},
};
use crate::{
    call::Call,
    card_consistency::CardStore,
    client::Client,
    clock::{Clock, Millis},
    error::{BoxError, CallError, lost},
    flights::{Flights, Joined, Landing, Lost, join},
    turns::Turns,
};

pub(super) struct Prober {
    pub(super) client: Box<dyn Client>,
    pub(super) clock: Clock,
    pub(super) timeout: Duration,
    pub(super) sends_message: bool,
    pub(super) turns: Turns,
    pub(super) flights: Arc<Flights<EndpointKey, Verdict>>,
    pub(super) availability: SkillAvailability,
    pub(super) cards: Option<CardStore>,
    pub(super) random: RandomState,
    /// Headers that hold credentials, and those by which a tenant is told.
    pub(super) carried: Box<[HeaderName]>,
}

/// An endpoint that a call wants to know about.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) key: EndpointKey,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) probe: Arc<Probe>,
}

impl Prober {
    /// What is to be done about a call once its endpoint was asked. Cancelling this cancels no probe.
    pub(super) async fn ask(self: Arc<Self>, question: Question) -> Result<(), Disproof> {
        let credential = question.probe.credential();
        // Once for somebody else, and once for ourselves.
        for _ in 0..2 {
            match question.endpoint.standing(credential, self.now()) {
                Standing::Go => return Ok(()),
                Standing::Refuse(disproof) => return Err(disproof),
                Standing::Probe => {}
            }
            let Ok(verdict) = self.fly(&question).await else { return Ok(()) };
            match verdict {
                Verdict::Disproved(disproof) if disproof.is_for_all() || disproof.credential() == credential => {
                    return Err(disproof);
                }
                // What another caller was shown. Ours may be shown A2A.
                Verdict::Disproved(_) => {}
                Verdict::Proved | Verdict::Unknown { .. } => return Ok(()),
            }
        }
        match question.endpoint.standing(credential, self.now()) {
            Standing::Refuse(disproof) => Err(disproof),
            Standing::Go | Standing::Probe => Ok(()),
        }
    }

    /// Joins the probe that is under way, or starts one.
    async fn fly(self: &Arc<Self>, question: &Question) -> Result<Verdict, Lost> {
        if let Some(waiting) = self.flights.find(&question.key) {
            return waiting.await;
        }
        // So many probes at once, and no more. Whoever waits here has not begun one.
        let Some(turn) = self.turns.take(question.probe.uri()).await else { return Err(Lost::Cancelled) };
        let waiting = match join(&self.flights, question.key.clone()) {
            // Another one began it while both waited for a turn: the turn is for whoever has a probe to send.
            Joined::Later(waiting) => {
                drop(turn);
                waiting
            }
            Joined::First(landing, waiting) => {
                let (this, question) = (Arc::clone(self), question.clone());
                tokio::spawn(async move {
                    this.lead(landing, question, false).await;
                    drop(turn);
                });
                waiting
            }
        };
        waiting.await
    }

    /// Probes an endpoint before its trust expires, if nobody does already.
    pub(super) async fn renew(self: &Arc<Self>, question: Question) {
        let Some(_turn) = self.turns.try_take(question.probe.uri()) else { return };
        if let Joined::First(landing, _) = join(&self.flights, question.key.clone()) {
            self.lead(landing, question, true).await;
        }
    }

    /// Probes the endpoint and tells all who wait. `anyway`: also one that is trusted.
    async fn lead(&self, landing: Landing<EndpointKey, Verdict>, question: Question, anyway: bool) {
        let Question { endpoint, probe, .. } = &question;
        // Another flight may have landed between the look and the joining.
        if !anyway {
            match endpoint.standing(probe.credential(), self.now()) {
                Standing::Go => return landing.land(Verdict::Unknown { wait: None }),
                Standing::Refuse(disproof) => return landing.land(Verdict::Disproved(disproof)),
                Standing::Probe => {}
            }
        }
        self.availability.count_probe();
        let sent = if self.sends_message { self.send_message(probe).await } else { self.send_question(probe).await };
        let Sent { verdict, card_is_stale, task } = sent;
        endpoint.note(&verdict, probe, chance(), self.now());
        self.tell_card(probe, &verdict);
        if card_is_stale || matches!(verdict, Verdict::Disproved(_)) {
            self.distrust_card(probe);
        }
        landing.land(verdict);
        if let Some(request) = task.as_deref().and_then(|task| probe.cancel_request(task)) {
            // Whatever comes of it: there is nobody left to tell.
            let _ = self.exchange(request).await;
        }
    }

    async fn send_question(&self, probe: &Probe) -> Sent {
        let Some(request) = probe.task_request() else { return Sent::nothing() };
        let verdict = match self.exchange(request).await {
            Some(ended) => verdict::of_task_probe(ended.as_ref().map(drop), probe.credential()),
            None => Verdict::Unknown { wait: None },
        };
        Sent { verdict, card_is_stale: false, task: None }
    }

    async fn send_message(&self, probe: &Probe) -> Sent {
        let Some(request) = probe.message_request() else { return Sent::nothing() };
        let Some(ended) = self.exchange(request).await else { return Sent::nothing() };
        let (verdict, card_is_stale) = verdict::of_message_probe(ended.as_ref().map(drop), probe.credential());
        let task = match &ended {
            Ok(body) => probe.unfinished_task(body),
            Err(error) => error.task_id().map(Into::into),
        };
        Sent { verdict, card_is_stale, task }
    }

    /// One request, and its whole answer as it is judged; `None` if that took too long.
    async fn exchange(&self, request: Request<Bytes>) -> Option<Result<Bytes, CallError>> {
        let call = request.extensions().get::<Call>().cloned().unwrap_or_default();
        let answer = self.client.send(request);
        let whole = async {
            let body = answer.await?.into_body();
            Ok::<_, BoxError>(body.collect().await?.to_bytes())
        };
        let ended = tokio::time::timeout(self.timeout, whole).await.ok()?;
        Some(ended.map_err(|error| lost(error, &call, false)))
    }

    /// That a probe passed is a condition of the card's authority.
    fn tell_card(&self, probe: &Probe, verdict: &Verdict) {
        let passed = match verdict {
            Verdict::Proved => true,
            Verdict::Disproved(_) => false,
            Verdict::Unknown { .. } => return,
        };
        if let Some(cards) = probe.noted().or(self.cards.as_ref()) {
            cards.note_probe(&probe.card().key(), passed);
        }
    }

    /// The card in the user's hands says that A2A, or this region, is where it is not.
    fn distrust_card(&self, probe: &Probe) {
        let Some(cards) = &self.cards else { return };
        if let Some(card) = cards.peek(&probe.card().key()) {
            cards.distrust(&card);
        }
    }

    fn now(&self) -> Millis {
        self.clock.millis(Instant::now())
    }
}

/// Between 0 and 1.
fn chance() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

/// What a probe came to.
struct Sent {
    verdict: Verdict,
    card_is_stale: bool,
    /// A task that it left behind.
    task: Option<Box<str>>,
}

impl Sent {
    fn nothing() -> Self {
        Self { verdict: Verdict::Unknown { wait: None }, card_is_stale: false, task: None }
    }
}

impl fmt::Debug for Prober {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prober").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
