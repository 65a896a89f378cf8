//! Mixed traffic over a minute, to three peers that are killed and started again in turn.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use a2a_guard::{Limits, Outcome};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use crate::{
    BoxError, Faults,
    calls::{self, Caller},
    process::{self, PeerProcess},
    traffic::{KINDS, Kind, PATIENCE},
    ways::Wire,
};

const PEERS: usize = 3;
const WORKERS: usize = 48;
/// Between two calls of a worker.
const PAUSE: Duration = Duration::from_millis(10);
/// So long a peer is away.
const AWAY: Duration = Duration::from_millis(700);
/// What a death may do to a call that is under way, or begins while its peer is away.
const DEATHS: [&str; 3] = ["transport/connect", "transport/connection_lost", "broken/truncated"];
/// How far a death reaches: connections are found to be dead when they are used, and cards are asked for again.
const REACH: Duration = Duration::from_millis(1500);
/// Memory may grow by so much after the warm-up, at most.
const GROWTH: f64 = 0.10;
/// In a quick run, whose warm-up is short, it may be by so many bytes: what a few pools still fill by is more than a
/// tenth of the little there is.
const QUICK_GROWTH: f64 = (4 << 20) as f64;

/// When a peer was away.
#[derive(Clone, Copy)]
struct Death {
    peer: usize,
    to: Option<Instant>,
}

/// What everybody writes down.
#[derive(Default)]
struct Notes {
    stop: AtomicBool,
    calls: AtomicUsize,
    outcomes: AtomicUsize,
    deaths: Mutex<Vec<Death>>,
    ends: Mutex<BTreeMap<(&'static str, String), usize>>,
    faults: Mutex<Faults>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) async fn run(quick: bool) -> Result<Faults, BoxError> {
    let s = Duration::from_secs;
    let (warm_up, lasts, every) = if quick { (s(6), s(10), s(4)) } else { (s(20), s(60), s(6)) };
    // An allocator's memory comes and goes: it is looked at for so long.
    let window = if quick { s(4) } else { s(10) };
    let notes = Arc::new(Notes::default());
    let mut peers = Vec::new();
    for _ in 0..PEERS {
        peers.push(PeerProcess::start().await?);
    }
    let mut workers = JoinSet::new();
    for (peer, process) in peers.iter().enumerate() {
        for http2 in [false, true] {
            let counted = Arc::clone(&notes);
            let observer = move |_: &Outcome<'_>| {
                counted.outcomes.fetch_add(1, Relaxed);
            };
            let limits = Limits::within(s(10)).idle(s(8)).event_gap(s(8)).head(s(8)).first_event(s(8));
            let limits = limits.blocking_head(s(8)).linger(s(1));
            let stack = calls::guard(calls::client(process.addr, http2), limits, observer)?;
            for seed in 0..WORKERS / PEERS / 2 {
                let seed = (peer * 2 + usize::from(http2)) * 100 + seed;
                workers.spawn(work(stack.clone(), peer, http2, seed, Arc::clone(&notes)));
            }
        }
    }

    let began = Instant::now();
    let (mut warm, mut last, mut killed) = (Vec::new(), Vec::new(), 0);
    let mut due = began + every;
    while began.elapsed() < warm_up + lasts {
        sleep(Duration::from_millis(200)).await;
        let now = began.elapsed();
        if now + window > warm_up && now < warm_up {
            warm.push(process::rss()?);
        }
        if now + window > warm_up + lasts {
            last.push(process::rss()?);
        }
        if Instant::now() > due {
            let peer = killed % PEERS;
            let addr = peers[peer].addr;
            lock(&notes.deaths).push(Death { peer, to: None });
            let dead = peers.remove(peer);
            dead.kill().await?;
            sleep(AWAY).await;
            peers.insert(peer, PeerProcess::start_at(addr).await?);
            if let Some(death) = lock(&notes.deaths).last_mut() {
                death.to = Some(Instant::now());
            }
            killed += 1;
            due += every;
        }
    }
    notes.stop.store(true, Relaxed);
    let stopped = timeout(s(15), async { while workers.join_next().await.is_some() {} }).await;

    let mut faults = std::mem::take(&mut *lock(&notes.faults));
    if stopped.is_err() {
        faults.push("calls were under way 15 s after the last was begun".to_owned());
    }
    sleep(Duration::from_millis(200)).await;
    let (calls, outcomes) = (notes.calls.load(Relaxed), notes.outcomes.load(Relaxed));
    if calls != outcomes {
        faults.push(format!("{calls} calls, and {outcomes} outcomes were told"));
    }
    let mean = |samples: &[u64]| samples.iter().sum::<u64>() as f64 / samples.len().max(1) as f64;
    let (warm, last) = (mean(&warm), mean(&last));
    let growth = last / warm - 1.0;
    let grows = growth > GROWTH && !(quick && last - warm < QUICK_GROWTH);
    if grows {
        faults.push(format!("memory grew by {:.1} %", growth * 100.0));
    }
    println!("\n| mixed calls | come to | so often |\n| --- | --- | --- |");
    for ((kind, word), count) in lock(&notes.ends).iter() {
        println!("| {kind} | {word} | {count} |");
    }
    println!("\n| | |\n| --- | --- |");
    println!(
        "| mixed traffic, {} s, peers killed {killed} times | {calls} calls, {outcomes} outcomes |",
        lasts.as_secs()
    );
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    println!(
        "| RSS after {} s, and at the end | {:.1} MiB, {:.1} MiB ({:+.1} %) |",
        warm_up.as_secs(),
        mib(warm),
        mib(last),
        growth * 100.0
    );
    Ok(faults)
}

impl Notes {
    /// Whether a peer's death accounts for the failure of a call that ends now.
    fn died(&self, peer: usize, start: Instant) -> bool {
        let near = |death: &Death| death.peer == peer && death.to.is_none_or(|to| start <= to + REACH);
        lock(&self.deaths).iter().any(near)
    }
}

/// Chance enough, and the same each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }
}

async fn work(stack: impl Caller, peer: usize, http2: bool, seed: usize, notes: Arc<Notes>) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ ((seed as u64 + 1) << 20));
    while !notes.stop.load(Relaxed) {
        let kind = &KINDS[dice.next() % KINDS.len()];
        let wire = kind.wire(dice.next());
        // gRPC is HTTP/2's.
        if http2 || wire != Wire::Grpc {
            one(stack.clone(), peer, kind, wire, &notes).await;
        }
        sleep(PAUSE).await;
    }
}

async fn one(stack: impl Caller, peer: usize, kind: &'static Kind, wire: Wire, notes: &Notes) {
    notes.calls.fetch_add(1, Relaxed);
    let start = Instant::now();
    let call = stack.make(kind.request(wire, peer), true);
    let ended = match kind.is_dropped() {
        true => timeout(PATIENCE, call).await.ok(),
        false => Some(call.await),
    };
    let word = ended.as_ref().map_or("abandoned/abandoned", |ended| &ended.word).to_owned();
    *lock(&notes.ends).entry((kind.name, word.clone())).or_default() += 1;
    let what = |what: &str| format!("{}, {wire:?}: {what}", kind.name);
    if word != kind.word {
        let error = ended.as_ref().and_then(|ended| ended.error.as_ref());
        if !DEATHS.contains(&&*word) || !notes.died(peer, start) {
            lock(&notes.faults).push(what(&format!("{word} ({error:?})")));
        }
    } else if let (Some(ended), Some(bytes)) = (&ended, kind.bytes(wire))
        && ended.body != bytes
    {
        lock(&notes.faults).push(what(&format!("{} bytes, and not those that were sent", ended.body.len())));
    }
}
