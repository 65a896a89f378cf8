//! Replicas that told each other everything agree, however often, late, or out of order they heard it.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use a2a_guard::directory::{
    Evidence, EvidenceChange, EvidenceLink, EvidenceStore, PeerEvidence, PeerId, Report, TrustPolicy,
};
use proptest::prelude::*;

const REPLICAS: usize = 3;
const PEERS: usize = 4;

/// Keeps its link for the test to carry by hand.
#[derive(Default)]
struct ByHand(Mutex<Option<EvidenceLink>>);

impl EvidenceStore for ByHand {
    fn serve(self: Arc<Self>, link: EvidenceLink) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        *self.0.lock().unwrap() = Some(link);
        Box::pin(std::future::pending())
    }
}

impl ByHand {
    fn known(&self) -> Vec<EvidenceChange> {
        self.0.lock().unwrap().as_ref().unwrap().known()
    }

    /// As it comes out of a message.
    fn hear(&self, change: &EvidenceChange) {
        let read = EvidenceChange::decode(change.encode().as_bytes()).expect("what was written is read");
        assert!(self.0.lock().unwrap().as_ref().unwrap().apply(read));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Call(usize, usize, u8, u64),
    /// From one to another: all that it knows, a part of it, or what it knew before.
    Tell(usize, usize, bool),
    TellOld(usize),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..REPLICAS, 0..PEERS, 0..8_u8, 0..90_000_u64).prop_map(|(at, peer, how, ms)| Step::Call(at, peer, how, ms)),
        3 => (0..REPLICAS, 0..REPLICAS, any::<bool>()).prop_map(|(from, to, all)| Step::Tell(from, to, all)),
        1 => (0..REPLICAS).prop_map(Step::TellOld),
        2 => (0..400_000_u64).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 1..120)
}

fn peer(number: usize) -> PeerId {
    PeerId::parse(&format!("https://p{number}.example")).unwrap()
}

fn report(how: u8, ms: u64) -> Report {
    let elapsed = Duration::from_millis(ms);
    match how {
        0..5 => Report::success(elapsed),
        5 => Report::failure(elapsed),
        6 => Report::overclaim(elapsed),
        _ => Report::neutral(),
    }
}

/// What of a peer's evidence replicas agree on.
fn agreed(of: &PeerEvidence) -> (PeerId, u64, u32, bool) {
    (of.peer.clone(), of.standing.calls, of.strikes, of.standing.latency.is_some())
}

async fn run(steps: Vec<Step>) {
    let stores: [Arc<ByHand>; REPLICAS] = std::array::from_fn(|_| Arc::default());
    let replicas: Vec<Evidence> = stores
        .iter()
        .map(|store| Evidence::builder().policy(TrustPolicy::default()).store(Arc::clone(store) as _).build().unwrap())
        .collect();
    tokio::task::yield_now().await;
    let mut old: Vec<EvidenceChange> = Vec::new();
    for step in steps {
        match step {
            Step::Call(at, number, how, ms) => replicas[at].record(&peer(number), Some("x"), report(how, ms)),
            Step::Tell(from, to, all) => {
                let known = stores[from].known();
                let told = if all { known.len() } else { known.len() / 2 };
                known.iter().take(told).for_each(|change| stores[to].hear(change));
                old = known;
            }
            // It waited so long that it is older than what was told since: whoever carries it says how old.
            Step::TellOld(to) => old.iter().for_each(|change| stores[to].hear(change)),
            Step::Pass(ms) => {
                let pause = Duration::from_millis(ms);
                tokio::time::advance(pause).await;
                old = old.into_iter().map(|change| change.aged(pause)).collect();
            }
        }
    }
    // A quarantine that is heard of makes what was counted before weigh less, which is told as well.
    for _ in 0..3 {
        for from in 0..REPLICAS {
            let known = stores[from].known();
            (0..REPLICAS).for_each(|to| known.iter().for_each(|change| stores[to].hear(change)));
        }
    }
    let first = replicas[0].snapshot();
    for (number, other) in replicas.iter().enumerate().skip(1) {
        let other = other.snapshot();
        let facts = |of: &[PeerEvidence]| of.iter().map(agreed).collect::<Vec<_>>();
        assert_eq!(facts(&first), facts(&other), "replica {number}");
        for (one, two) in first.iter().zip(&other) {
            let (one, two) = (one.standing, two.standing);
            assert!((one.trust - two.trust).abs() < 1e-9, "replica {number}: {one:?} {two:?}");
            let latency = |standing: a2a_guard::directory::Standing| standing.latency.unwrap_or_default().as_secs_f64();
            assert!((latency(one) - latency(two)).abs() < 1e-6, "replica {number}: {one:?} {two:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn those_who_told_each_other_everything_agree(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(run(steps));
    }
}
