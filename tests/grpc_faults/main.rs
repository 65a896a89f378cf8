//! What a peer can do wrong over gRPC, on real HTTP/2 sockets: every fault ends when it should and as it should.
//!
//! Each is a row: what is asked, what the peer does, how the call has to end and when that is due. The rows stand in
//! the modules, by what goes wrong.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};

use a2a_guard::{Class, Limits, OutcomeKind, Retry};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

#[path = "../faults/bounds.rs"]
mod bounds;
#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "../../examples/support/h2_peer.rs"]
mod h2_peer;
#[path = "../../examples/support/loopback.rs"]
mod loopback;
#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "../../examples/support/messages.rs"]
mod messages;
#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "../../examples/support/peer.rs"]
mod peer;
#[path = "../../examples/support/stalls.rs"]
mod stalls;

mod calling;
mod connections;
mod raw;
mod statuses;
mod streams;
mod unary;

use bounds::{
    AT_ONCE, AUTH_WAIT, EVENT_GAP, FIRST_EVENT, HEAD, IDLE, LINGER, MARGIN, MAX_EVENT, MAX_UNARY_BODY, PATIENCE, SHORT,
    SLACK, TOTAL,
};
use calling::{Ask, Ended, call};
use h2_peer::{End, Peer, Script, framed};
use raw::{Raw, RawPeer};

/// What the peer is.
enum Serve {
    Script(Script),
    Raw(Raw),
}

/// One row.
struct Fault {
    name: &'static str,
    ask: Ask,
    limits: Limits,
    serve: Serve,
    /// `outcome/class`
    expected: &'static str,
    /// When the call has to end, counted from its start.
    due: Duration,
    events: Option<u64>,
    task: Option<&'static str>,
    retry: Option<Retry>,
    /// It keeps the processor busy for so long that others would be late beside it.
    busy: bool,
}

impl Fault {
    /// A fault that is seen, and ends the call, at once.
    fn new(name: &'static str, ask: Ask, serve: impl Into<Serve>, expected: &'static str) -> Self {
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
            ask,
            limits,
            serve: serve.into(),
            expected,
            due: Duration::ZERO,
            events: None,
            task: None,
            retry: None,
            busy: false,
        }
    }

    /// The call ends this many milliseconds after its start, not before.
    fn due(self, due: u64) -> Self {
        Self { due: ms(due), ..self }
    }

    /// So many messages were good.
    fn events(self, events: u64) -> Self {
        Self { events: Some(events), ..self }
    }

    /// The caller is told of `task-1`, the task that may still be at work.
    fn task_known(self) -> Self {
        Self { task: Some("task-1"), ..self }
    }

    fn retry(self, retry: Retry) -> Self {
        Self { retry: Some(retry), ..self }
    }

    fn limits(self, change: impl FnOnce(Limits) -> Limits) -> Self {
        Self { limits: change(self.limits), ..self }
    }

    fn busy(self) -> Self {
        Self { busy: true, ..self }
    }

    fn is_busy(&self) -> bool {
        self.busy || matches!(&self.serve, Serve::Script(script) if script.floods())
    }

    /// Whether the peer comes to the end of what it does.
    fn ends(&self) -> bool {
        matches!(&self.serve, Serve::Script(script) if script.end != End::Hang && !script.goes_on())
    }

    /// Makes the call; says what is wrong with its end.
    async fn run(&self) -> Vec<String> {
        let peer = match &self.serve {
            Serve::Script(script) => Serving::Script(Peer::serve([script.clone()]).await.unwrap()),
            Serve::Raw(script) => Serving::Raw(RawPeer::serve(script.clone()).await.unwrap()),
        };
        let called = call(self.ask, self.limits.clone(), peer.addr());
        let Ok(ended) = timeout(self.due + PATIENCE, called).await else {
            return vec!["did not end".to_owned()];
        };
        // What no bound ends, the peer does: a call that waited for it is due when the peer was done.
        let finished = match &peer {
            Serving::Script(peer) if !self.expected.starts_with("timeout") && self.ends() => {
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
        if matches!(&peer, Serving::Script(peer) if peer.requests().len() > 1) {
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
        claim(got == self.expected, format!("ended as {got}: {:?}", ended.error));
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
        if let Serve::Script(script) = &self.serve {
            claim(unchanged(script, ended), format!("other bytes were handed on, {} of them", ended.body.len()));
        }
        match &ended.error {
            Some(error) => {
                let text = error.to_string();
                claim(error.elapsed() <= elapsed, format!("took {:?}, it says", error.elapsed()));
                claim(
                    text.len() < 2_048 && !text.contains(|c: char| c.is_control()),
                    format!("not one line an operator can read: {text:?}"),
                );
                claim(
                    self.task.is_none() || error.task_id() == self.task,
                    format!("the task is {:?}", error.task_id()),
                );
                let retry = error.retry();
                claim(self.retry.is_none_or(|wanted| wanted == retry), format!("retry is {retry}"));
            }
            // What tonic takes for a good end.
            None => claim(ended.grpc_status() == Some("0"), format!("the trailers are {:?}", ended.trailers)),
        }
        complaints
    }
}

enum Serving {
    Script(Peer),
    Raw(RawPeer),
}

impl Serving {
    fn addr(&self) -> SocketAddr {
        match self {
            Self::Script(peer) => peer.addr(),
            Self::Raw(peer) => peer.addr,
        }
    }
}

impl From<Script> for Serve {
    fn from(script: Script) -> Self {
        Self::Script(script)
    }
}

impl From<Raw> for Serve {
    fn from(script: Raw) -> Self {
        Self::Raw(script)
    }
}

/// What was handed on is what was sent: by a success all of it, by a failure the beginning.
fn unchanged(script: &Script, ended: &Ended) -> bool {
    if script.goes_on() || ended.status.is_none() {
        return true;
    }
    let sent = script.body();
    if ended.body == sent {
        return true;
    }
    // Or the layer ended the stream, and did not wait for what the peer had yet to say, or did not hand on half a
    // message.
    let Some(kept_back) = sent.strip_prefix(&ended.body[..]) else { return false };
    ended.error.is_some() || script.end == End::Hang || kept_back.len() < framed([]).len()
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
    let faults: Vec<_> =
        [connections::faults(), statuses::faults(), unary::faults(), streams::faults()].into_iter().flatten().collect();
    let count = faults.len();
    let mut names = BTreeSet::new();
    for fault in &faults {
        assert!(names.insert(fault.name), "two faults are called {:?}", fault.name);
    }
    assert!(count >= 80, "only {count} faults");

    // A peer that sends as fast as it can takes the machine from the others, whose time is measured.
    let (busy, waiting) = faults.into_iter().partition(Fault::is_busy);
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
