//! What a peer can do wrong, over real sockets: every fault ends when it should and as it should.
//!
//! Each is a row: what is asked, what the peer does, how the call has to end and when that is due.
//! The rows stand in the modules, by the part of the answer that goes wrong.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use a2a_guard::{Class, Limits, OutcomeKind};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

#[path = "../../examples/support/loopback.rs"]
mod loopback;
#[path = "../../examples/support/nobody.rs"]
mod nobody;
#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "../../examples/support/peer.rs"]
mod peer;
#[path = "../../examples/support/stalls.rs"]
mod stalls;
#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "../support/mod.rs"]
mod support;

mod bodies;
mod bounds;
mod heads;
mod json;
mod statuses;
mod streams;

use bounds::{
    AT_ONCE, AUTH_WAIT, EVENT_GAP, FIRST_EVENT, HEAD, IDLE, LINGER, MARGIN, MAX_EVENT, MAX_UNARY_BODY, PATIENCE, SHORT,
    SLACK, TOTAL,
};
use nobody::Nobody;
use peer::{End, Framing, Peer, Script};
use support::{Ask, Calling, Ended};

/// One row.
struct Fault {
    name: &'static str,
    calling: Calling,
    /// What the peer does; `None` if there is no peer.
    script: Option<Script>,
    /// `outcome/class`
    expected: &'static str,
    /// What it may be as well, where it is open which of two things is seen first.
    or: Option<&'static str>,
    /// When the call has to end, counted from its start.
    due: Duration,
    events: Option<u64>,
    task: Option<&'static str>,
}

impl Fault {
    /// A fault that is seen, and ends the call, at once.
    fn new(name: &'static str, ask: Ask, script: Script, expected: &'static str) -> Self {
        let limits = Limits::within(ms(TOTAL))
            .ready(ms(HEAD))
            .head(ms(HEAD))
            .blocking_head(ms(HEAD))
            .first_event(ms(FIRST_EVENT))
            .idle(ms(IDLE))
            .event_gap(ms(EVENT_GAP))
            .linger(ms(LINGER))
            .auth_wait(ms(AUTH_WAIT))
            .max_unary_body(MAX_UNARY_BODY)
            .max_event(MAX_EVENT);
        Self {
            name,
            calling: Calling { ask, limits, strict: false, keep: true },
            script: Some(script),
            expected,
            or: None,
            due: Duration::ZERO,
            events: None,
            task: None,
        }
    }

    /// The call ends this many milliseconds after its start, not before.
    fn due(self, due: u64) -> Self {
        Self { due: ms(due), ..self }
    }

    fn or(self, expected: &'static str) -> Self {
        Self { or: Some(expected), ..self }
    }

    /// So many events were good.
    fn events(self, events: u64) -> Self {
        Self { events: Some(events), ..self }
    }

    /// The caller is told of `task-1`, the task that may still be at work.
    fn task_known(self) -> Self {
        Self { task: Some("task-1"), ..self }
    }

    fn limits(mut self, change: impl FnOnce(Limits) -> Limits) -> Self {
        self.calling.limits = change(self.calling.limits);
        self
    }

    fn strict(mut self) -> Self {
        self.calling.strict = true;
        self
    }

    fn without_peer(self) -> Self {
        Self { script: None, ..self }
    }

    /// Makes the call; says what is wrong with its end.
    async fn run(&self) -> Vec<String> {
        let nobody = Nobody::new().unwrap();
        let peer = match &self.script {
            Some(script) => Some(Peer::serve([script.clone()]).await.unwrap()),
            None => None,
        };
        let addr = peer.as_ref().map_or(nobody.addr(), Peer::addr);
        let Ok(ended) = timeout(self.due + PATIENCE, self.calling.clone().to(addr)).await else {
            return vec!["did not end".to_owned()];
        };
        // What no bound ends, the peer does: a call that waited for it is due when the peer was done.
        let ends = |script: &Script| script.end != End::Hang && !script.goes_on();
        let finished = match &peer {
            Some(peer) if !self.expected.starts_with("timeout") && self.script.as_ref().is_some_and(ends) => {
                // It may be noted a moment after the caller had the last of it; never, if the caller went away before.
                for _ in 0..50 {
                    if ended.elapsed <= self.due + SLACK || peer.finished().is_some() {
                        break;
                    }
                    sleep(ms(20)).await;
                }
                peer.finished()
            }
            _ => None,
        };
        let done = finished.map_or(self.due, |at| self.due.max(at.saturating_duration_since(ended.started)));
        let mut complaints = self.complaints(&ended, done + SLACK);
        if peer.is_some_and(|peer| peer.requests().len() > 1) {
            complaints.push("the request was sent twice".to_owned());
        }
        complaints
    }

    fn complaints(&self, ended: &Ended, at_most: Duration) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut claim = |holds: bool, complaint: String| {
            if !holds {
                complaints.push(complaint);
            }
        };
        let (got, elapsed) = (ended.word(), ended.elapsed);
        claim(got == self.expected || self.or == Some(got.as_str()), format!("ended as {got}: {:?}", ended.error));
        claim(elapsed <= at_most, format!("ended only after {elapsed:?}"));
        // Timers have the granularity of a millisecond.
        claim(elapsed + ms(2) >= self.due, format!("ended already after {elapsed:?}"));

        let events = self.events.unwrap_or_else(|| match ended.outcomes[..] {
            [(_, _, events)] => events,
            _ => 0,
        });
        let told = match &ended.error {
            Some(error) => (error.outcome(), error.class(), events),
            None => (OutcomeKind::Success, Class::Success, events),
        };
        claim(ended.outcomes == [told], format!("the observer was told {:?}, not {told:?}", ended.outcomes));
        if let Some(script) = &self.script {
            let handed_on = String::from_utf8_lossy(&ended.body[ended.body.len().saturating_sub(80)..]);
            claim(unchanged(script, ended), format!("other bytes were handed on: …{handed_on:?}"));
        }
        if let Some(error) = &ended.error {
            let text = error.to_string();
            claim(error.elapsed() <= elapsed, format!("took {:?}, it says", error.elapsed()));
            claim(
                text.len() < 2_048 && !text.contains(|c: char| c.is_control()),
                format!("not one line an operator can read: {text:?}"),
            );
            claim(self.task.is_none() || error.task_id() == self.task, format!("the task is {:?}", error.task_id()));
        }
        complaints
    }
}

/// What was handed on is what was sent: by a success all of it, by a failure the beginning. A last
/// event may have gained its line end.
fn unchanged(script: &Script, ended: &Ended) -> bool {
    if script.goes_on() || ended.status.is_none() {
        return true;
    }
    if script.framing == Framing::Raw {
        return true; // head and framing are in it, too
    }
    let sent = script.body();
    match ended.body.strip_prefix(&sent[..]) {
        Some(gained) => gained.iter().all(|byte| b"\r\n".contains(byte)),
        // Or the layer ended the stream, and did not wait for what the peer had yet to say.
        None => sent.starts_with(&ended.body) && (ended.error.is_some() || script.end == End::Hang),
    }
}

/// Of a call that its total ends.
fn short(_: Limits) -> Limits {
    Limits::within(ms(SHORT)).max_unary_body(MAX_UNARY_BODY).max_event(MAX_EVENT)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_ends_in_time_and_in_its_class() {
    let faults: Vec<_> = [heads::faults(), bodies::faults(), json::faults(), statuses::faults(), streams::faults()]
        .into_iter()
        .flatten()
        .collect();
    let count = faults.len();
    let mut names = BTreeSet::new();
    for fault in &faults {
        assert!(names.insert(fault.name), "two faults are called {:?}", fault.name);
    }
    assert!(count >= 60, "only {count} faults");

    // A peer that sends as fast as it can takes the machine from the others, whose time is measured.
    let (busy, waiting) = faults.into_iter().partition(|fault| fault.script.as_ref().is_some_and(Script::floods));
    let mut wrong = run(waiting, AT_ONCE).await;
    wrong.extend(run(busy, 1).await);
    assert!(wrong.is_empty(), "{} of {count} went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Runs faults side by side; what is wrong with each, if anything.
async fn run(faults: Vec<Fault>, at_once: usize) -> Vec<String> {
    let at_once = Arc::new(Semaphore::new(at_once));
    let mut running = Vec::new();
    for fault in faults {
        let at_once = Arc::clone(&at_once);
        running.push(tokio::spawn(async move {
            let _permit = at_once.acquire_owned().await;
            (fault.name, stalls::steadily(|| fault.run(), |wrong| !wrong.is_empty()).await)
        }));
    }
    let mut wrong = Vec::new();
    for fault in running {
        let (name, complaints) = fault.await.unwrap();
        if !complaints.is_empty() {
            wrong.push(format!("{name}: {}", complaints.join("; ")));
        }
    }
    wrong
}
