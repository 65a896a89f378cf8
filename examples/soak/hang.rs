//! 12,000 streams at once: 10,000 that hang, in every way, and 2,000 good ones between them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use a2a_guard::{CallBody, Outcome};
use http_body_util::BodyExt;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use crate::{
    BoxError, Faults,
    calls::{self, Caller, Ended},
    process::{self, PeerProcess},
    traffic::KINDS,
    ways::{self, Bounds, From, GOOD, HANGING, Way, Wire},
};

/// One HTTP/2 connection each.
const HOSTS: usize = 10;
const LATE: Duration = Duration::from_secs(1);
/// The caller's task notes a moment a little later than the layer: only who comes much too early is early.
const EARLY: Duration = Duration::from_millis(500);
/// Until everything is open.
const OPENING: Duration = Duration::from_secs(60);

/// More are not opened before these have arrived: a head then comes within milliseconds, and bounds count from when it
/// does.
const OPENED_AT_ONCE: usize = 200;
/// Until what the peer sent has come.
const SETTLING: Duration = Duration::from_millis(500);

/// How many of each.
struct Size {
    hanging: usize,
    good: usize,
    /// How many of the hanging ones go over HTTP/1.1, a connection each.
    http1: usize,
    /// For how long the CPU is watched while all are idle.
    watched: Duration,
    /// How many calls there were before.
    warm_up: usize,
}

impl Size {
    fn new(quick: bool) -> Self {
        match quick {
            true => Self { hanging: 1000, good: 200, http1: 100, watched: Duration::from_secs(2), warm_up: 0 },
            false => Self { hanging: 10_000, good: 2000, http1: 400, watched: Duration::from_secs(5), warm_up: 0 },
        }
    }

    fn all(&self) -> usize {
        self.hanging + self.good
    }
}

/// A stream to be opened.
#[derive(Clone, Copy)]
struct Plan {
    way: &'static Way,
    wire: Wire,
    http2: bool,
    host: usize,
}

fn plans(size: &Size) -> Vec<Plan> {
    let every = |ways: &'static [Way]| {
        let pairs: Vec<_> = ways.iter().flat_map(|way| way.wires.iter().map(move |wire| (way, *wire))).collect();
        pairs.into_iter().cycle()
    };
    let good = every(std::slice::from_ref(&GOOD)).take(size.good);
    let hanging = every(HANGING).take(size.hanging);
    let mut http1 = size.http1;
    let mut all: Vec<_> = hanging
        .chain(good)
        .enumerate()
        .map(|(index, (way, wire))| {
            let over_1 = wire != Wire::Grpc && way.name != GOOD.name && http1 > 0;
            http1 -= usize::from(over_1);
            Plan { way, wire, http2: !over_1, host: index % HOSTS }
        })
        .collect();
    // The good ones stand between the others.
    let stride = all.len() / size.good;
    for (nth, index) in (size.hanging..all.len()).enumerate() {
        all.swap(nth * stride, index);
    }
    all
}

/// Waits until the peer has so many of them.
async fn arrived(peer: &mut PeerProcess, count: usize) -> Result<(), BoxError> {
    timeout(OPENING, async {
        while peer.count().await? < count {
            sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    })
    .await
    .map_err(|_| format!("not open within {} s", OPENING.as_secs()))?
}

/// The same streams without a guard, as far as memory goes.
pub(crate) async fn bare(quick: bool) -> Result<(), BoxError> {
    let size = Size::new(quick);
    let mut peer = PeerProcess::start().await?;
    let clients = [false, true].map(|http2| calls::client(peer.addr, http2));
    let before = process::rss()?;
    let mut open = JoinSet::new();
    for (opened, plan) in plans(&size).into_iter().enumerate() {
        if opened % OPENED_AT_ONCE == 0 {
            arrived(&mut peer, opened).await?;
        }
        let client = clients[usize::from(plan.http2)].clone();
        let request = calls::streaming(plan.wire, plan.host, plan.way.name).map(CallBody::unread);
        open.spawn(async move {
            if let Ok(mut response) = client.request(request).await {
                while response.body_mut().frame().await.is_some() {}
            }
        });
    }
    arrived(&mut peer, size.all()).await?;
    sleep(SETTLING).await;
    let bytes = process::rss()?.saturating_sub(before) / size.all() as u64;
    println!("| a bare hyper client, the same {} streams open | {bytes} B a stream |", size.all());
    Ok(())
}

pub(crate) async fn guarded(quick: bool) -> Result<Faults, BoxError> {
    let (size, bounds) = (Size::new(quick), Bounds::new(quick));
    let mut peer = PeerProcess::start().await?;
    let outcomes = Arc::new(AtomicUsize::new(0));
    let stack = |http2| {
        let outcomes = Arc::clone(&outcomes);
        let count = move |_: &Outcome<'_>| {
            outcomes.fetch_add(1, Relaxed);
        };
        calls::guard(calls::client(peer.addr, http2), bounds.limits(), count)
    };
    let stacks = (stack(false)?, stack(true)?);
    let warm_up = warm_up(&stacks.0, &stacks.1).await?;
    let (before, size) = (process::rss()?, Size { warm_up, ..size });

    let began = Instant::now();
    let mut open = JoinSet::new();
    for (opened, plan) in plans(&size).into_iter().enumerate() {
        if opened % OPENED_AT_ONCE == 0 {
            arrived(&mut peer, opened + size.warm_up).await?;
        }
        let request = calls::streaming(plan.wire, plan.host, plan.way.name);
        let good = plan.way.name == GOOD.name;
        match plan.http2 {
            false => open.spawn(ended(stacks.0.clone(), plan, request, good)),
            true => open.spawn(ended(stacks.1.clone(), plan, request, good)),
        };
    }
    arrived(&mut peer, size.all() + size.warm_up).await?;
    let opened = began.elapsed();
    sleep(SETTLING).await;
    let bytes = process::rss()?.saturating_sub(before) / size.all() as u64;

    let (cpu, watched) = (process::cpu()?, Instant::now());
    sleep(size.watched).await;
    let idle = (process::cpu()?.saturating_sub(cpu)).as_secs_f64() / watched.elapsed().as_secs_f64();
    let mut all = Vec::with_capacity(size.all());
    while let Some(ended) = open.try_join_next() {
        all.push(ended?);
    }
    let early = all.len();
    peer.go().await?;

    let cpu = process::cpu()?;
    while let Some(ended) = open.join_next().await {
        all.push(ended?);
    }
    let ending = process::cpu()?.saturating_sub(cpu);

    let mut faults = judge(&all, &bounds);
    if early > 0 {
        faults.push(format!("{early} streams ended while all should have been idle"));
    }
    let counted = outcomes.load(Relaxed);
    if counted != size.all() + size.warm_up {
        faults.push(format!("{counted} outcomes of {} calls were told", size.all() + size.warm_up));
    }
    let last = all.iter().map(|(_, ended)| ended.end).max().unwrap_or(began);
    println!("| guarded, {} streams open, {} of them hanging | {bytes} B a stream |", size.all(), size.hanging);
    println!("| peak RSS of the caller | {:.1} MiB |", process::peak_rss()? as f64 / f64::from(1 << 20));
    println!("| opened | {:.2} s |", opened.as_secs_f64());
    println!("| CPU while all are idle, {} s of it | {:.2} % of one core |", size.watched.as_secs(), idle * 100.0);
    println!(
        "| all ended | {:.2} s after the first was opened, for {:.2} s of CPU |",
        (last - began).as_secs_f64(),
        ending.as_secs_f64()
    );
    Ok(faults)
}

/// One call to each host in each binding, so that connections, cards and probes are there. Says how many it took.
async fn warm_up(http1: &impl Caller, http2: &impl Caller) -> Result<usize, BoxError> {
    let task = &KINDS[0];
    let mut calls = 0;
    for host in 0..HOSTS {
        for wire in [Wire::JsonRpc, Wire::HttpJson, Wire::Grpc] {
            let mut ends = vec![http2.clone().make(task.request(wire, host), false).await];
            if wire != Wire::Grpc {
                ends.push(http1.clone().make(task.request(wire, host), false).await);
            }
            calls += ends.len();
            if let Some(error) = ends.into_iter().find_map(|ended| ended.error) {
                return Err(error.into());
            }
        }
    }
    Ok(calls)
}

async fn ended(
    stack: impl Caller,
    plan: Plan,
    request: http::Request<http_body_util::Full<bytes::Bytes>>,
    keep: bool,
) -> (Plan, Ended) {
    (plan, stack.make(request, keep).await)
}

/// Says of each way how its streams ended, and which did not as they should.
fn judge(all: &[(Plan, Ended)], bounds: &Bounds) -> Faults {
    let mut faults = Vec::new();
    let mut rows: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for (plan, ended) in all {
        let Plan { way, wire, http2, .. } = plan;
        let what = || format!("{}, {wire:?}, HTTP/{}", way.name, if *http2 { 2 } else { 1 });
        let from = match way.from {
            From::Start => Some(ended.start),
            // Of an answer whose first bytes decide, nobody is told of the head before they come.
            From::Head => Some(ended.head.unwrap_or(ended.start)),
            From::FirstFrame => ended.first_frame,
        };
        let due = from.unwrap_or(ended.start) + (way.bound)(bounds);
        let late = ended.end.saturating_duration_since(due);
        let row = rows.entry(way.name).or_default();
        row.0 += 1;
        row.1 = row.1.max(late.as_secs_f64());
        if ended.word != way.word {
            faults.push(format!("{}: {} ({:?})", what(), ended.word, ended.error));
        }
        if late > LATE {
            faults.push(format!("{}: {} ms late", what(), late.as_millis()));
        }
        if way.name == GOOD.name {
            if ended.body != ways::good_bytes(*wire) {
                faults.push(format!("{}: {} bytes, and not those that were sent", what(), ended.body.len()));
            }
        } else if due.saturating_duration_since(ended.end) > EARLY {
            faults.push(format!("{}: {} ms early", what(), (due - ended.end).as_millis()));
        }
    }
    println!("\n| streams | of this kind | come to | the last behind its bound |\n| --- | --- | --- | --- |");
    for way in HANGING.iter().chain([&GOOD]) {
        let (count, late) = rows.get(way.name).copied().unwrap_or_default();
        println!("| {count} | {} | {} | {:.0} ms |", way.name, way.word, late * 1000.0);
    }
    println!("\n| | |\n| --- | --- |");
    faults
}
