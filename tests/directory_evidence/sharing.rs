//! Replicas that share evidence agree, to the last bit where time does not stand between them.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use a2a_guard::directory::{Evidence, EvidenceChange, EvidenceLink, EvidenceStore};
use tokio::{
    sync::broadcast,
    time::{advance, sleep},
};

use crate::{
    close, failure, is_quarantined,
    mock::{HOUR, ms, s},
    overclaim, peer, record, standing, success,
};

/// Handles in one process.
struct Shared {
    changes: broadcast::Sender<EvidenceChange>,
    told: AtomicUsize,
    served: AtomicUsize,
    /// How long a change is under way.
    delay: Duration,
}

impl Shared {
    fn new() -> Arc<Self> {
        Self::with_delay(Duration::ZERO)
    }

    fn with_delay(delay: Duration) -> Arc<Self> {
        Arc::new(Self { changes: broadcast::Sender::new(1024), told: 0.into(), served: 0.into(), delay })
    }

    fn replica(self: &Arc<Self>) -> Evidence {
        let evidence = Evidence::builder().store(self.clone()).build().unwrap();
        evidence.set_registered(100);
        evidence
    }

    fn told(&self) -> usize {
        self.told.load(SeqCst)
    }
}

impl EvidenceStore for Shared {
    fn serve(self: Arc<Self>, mut link: EvidenceLink) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mut others = self.changes.subscribe();
        self.served.fetch_add(1, SeqCst);
        Box::pin(async move {
            loop {
                tokio::select! {
                    change = link.next() => {
                        let Some(change) = change else { break };
                        self.told.fetch_add(1, SeqCst);
                        // As it is over a wire.
                        let text = change.encode();
                        drop(self.changes.send(EvidenceChange::decode(text.as_bytes()).unwrap()));
                    }
                    change = others.recv() => {
                        if !self.delay.is_zero() {
                            sleep(self.delay).await;
                        }
                        link.apply(change.unwrap());
                    }
                }
            }
            self.served.fetch_sub(1, SeqCst);
        })
    }
}

/// Everything that is told has arrived.
async fn told() {
    sleep(ms(251)).await;
    sleep(ms(1)).await;
}

#[tokio::test(start_paused = true)]
async fn what_each_counts_is_known_to_all() {
    let shared = Shared::new();
    let replicas = [shared.replica(), shared.replica(), shared.replica()];
    sleep(ms(1)).await;
    record(&replicas[0], "a", success(), 50);
    record(&replicas[1], "a", success(), 48);
    record(&replicas[2], "a", failure(), 2);
    told().await;
    for replica in &replicas {
        let standing = standing(replica, "a");
        assert!((standing.trust - 0.98).abs() < 1e-3 && standing.calls == 100, "{standing:?}");
    }
    let trusts = replicas.each_ref().map(|replica| standing(replica, "a").trust.to_bits());
    assert!(trusts.iter().all(|trust| *trust == trusts[0]), "{trusts:?}");
    advance(HOUR * 2).await;
    for replica in &replicas {
        assert!((replica.standing(&peer("a"), true).trust - 0.345).abs() < 1e-3);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_counts_twice_however_often_it_is_told() {
    let shared = Shared::new();
    let (one, other) = (shared.replica(), shared.replica());
    sleep(ms(1)).await;
    for round in 1..=20 {
        record(&one, "a", success(), 4);
        record(&one, "a", failure(), 1);
        record(&other, "a", success(), 5);
        told().await;
        for replica in [&one, &other] {
            assert_eq!(standing(replica, "a").calls, 10 * round);
            close((standing(replica, "a").trust * 1e3).round(), 900.0);
        }
    }
}

/// Calls of a while are told together, each peer once.
#[tokio::test(start_paused = true)]
async fn a_store_is_told_at_most_so_often() {
    let shared = Shared::new();
    let one = shared.replica();
    sleep(ms(1)).await;
    for _ in 0..1000 {
        record(&one, "a", success(), 10);
        record(&one, "b", success(), 10);
        sleep(ms(1)).await;
    }
    told().await;
    assert!((8..=12).contains(&shared.told()), "{}", shared.told());
}

#[tokio::test(start_paused = true)]
async fn a_quarantine_is_known_at_once_and_not_longer_for_being_known() {
    let shared = Shared::with_delay(ms(5));
    let (one, other) = (shared.replica(), shared.replica());
    sleep(ms(1)).await;
    record(&one, "b", success(), 1);
    sleep(ms(1)).await;
    record(&other, "a", success(), 500);
    record(&one, "a", failure(), 5);
    sleep(ms(20)).await;
    assert!(is_quarantined(&other, "a"));
    // Calls that were under way end, and are told of.
    for n in 0..29 {
        record(&other, "a", success(), usize::from(n < 10));
        record(&one, "a", failure(), 1);
        sleep(s(1)).await;
        assert!(is_quarantined(&one, "a") && is_quarantined(&other, "a"));
    }
    // The last of them was heard a little later, and that is all.
    sleep(s(1)).await;
    assert!(!is_quarantined(&one, "a") && !is_quarantined(&other, "a"));
    assert!(!standing(&other, "a").proven, "500 successes from before it count no longer");
}

#[tokio::test(start_paused = true)]
async fn strikes_of_several_replicas_add_up() {
    let shared = Shared::new();
    let replicas = [shared.replica(), shared.replica(), shared.replica()];
    sleep(ms(1)).await;
    for replica in &replicas {
        assert!(!is_quarantined(replica, "a"));
        record(replica, "a", overclaim(), 1);
        told().await;
    }
    assert!(replicas.iter().all(|replica| is_quarantined(replica, "a")));
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_is_forgotten_by_all() {
    let shared = Shared::new();
    let (one, other) = (shared.replica(), shared.replica());
    sleep(ms(1)).await;
    record(&one, "a", failure(), 5);
    record(&other, "a", failure(), 1);
    told().await;
    assert!(one.forget(&peer("a")));
    sleep(ms(1)).await;
    assert!(one.snapshot().is_empty() && other.snapshot().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_waits_when_the_last_handle_goes_is_told() {
    let shared = Shared::new();
    let (one, other) = (shared.replica(), shared.replica());
    sleep(ms(1)).await;
    record(&one, "a", success(), 1);
    sleep(ms(1)).await;
    record(&one, "a", success(), 1);
    record(&one, "b", success(), 1);
    drop(one);
    sleep(ms(1)).await;
    assert_eq!((standing(&other, "a").calls, standing(&other, "b").calls), (2, 1));
    assert_eq!(shared.served.load(SeqCst), 1, "its work is done");
}

/// Nobody takes anything: each peer waits once, and calls do not notice.
#[tokio::test(start_paused = true)]
async fn a_store_that_takes_nothing() {
    struct Deaf;
    impl EvidenceStore for Deaf {
        fn serve(self: Arc<Self>, link: EvidenceLink) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move {
                let _link = link;
                std::future::pending().await
            })
        }
    }
    let evidence = Evidence::builder().capacity(16).store(Arc::new(Deaf)).build().unwrap();
    for n in 0..10_000 {
        record(&evidence, &format!("n{}", n % 100), success(), 1);
    }
    assert!(evidence.snapshot().len() <= 16);
}
