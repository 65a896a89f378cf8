//! Replicas tell each other what they learn, and none waits for another.

use std::{future::Future, pin::Pin, sync::Arc};

use a2a_guard::probe_cache::{Availability, Change, Link, SkillAvailability, Store};
use tokio::sync::broadcast;

use crate::{
    mock::s,
    support::{Agent, Guarded, builder, call, does, guard, key, not_here, translate, translate_lasts},
};

/// A server in this process.
struct Hub(broadcast::Sender<(usize, Change)>);

/// One replica's connection to it.
struct Replica(Arc<Hub>, usize);

impl Store for Replica {
    fn serve(self: Arc<Self>, mut link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mut others = self.0.0.subscribe();
        Box::pin(async move {
            loop {
                tokio::select! {
                    change = link.next() => match change {
                        Some(change) => drop(self.0.0.send((self.1, change))),
                        None => return,
                    },
                    Ok((from, change)) = others.recv() => if from != self.1 {
                        link.apply(change);
                    },
                }
            }
        })
    }
}

struct Fleet {
    hub: Arc<Hub>,
    agent: Agent,
}

impl Fleet {
    fn new() -> Self {
        Self { hub: Arc::new(Hub(broadcast::channel(1024).0)), agent: Agent::willing() }
    }

    fn replica(&self, number: usize, unavailable: bool) -> (Guarded, SkillAvailability) {
        let mut skills = SkillAvailability::builder().store(Arc::new(Replica(Arc::clone(&self.hub), number)));
        if unavailable {
            skills = skills.unavailable_for(s(10));
        }
        let skills = skills.build().unwrap();
        let layer = builder(&self.agent).availability(skills.clone()).build().unwrap();
        (guard(&layer, &self.agent), skills)
    }
}

/// Lets the stores do what they have to do.
async fn settle() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn availability_and_invalidations_travel() {
    let fleet = Fleet::new();
    let ((mut one, first), (mut other, second)) = (fleet.replica(1, false), fleet.replica(2, false));
    settle().await;
    call(&mut one, translate()).await;
    settle().await;
    assert_eq!(translate_lasts(&second), Some(s(60)));
    tokio::time::advance(s(20)).await;
    fleet.agent.change(|_| not_here());
    call(&mut other, translate()).await;
    settle().await;
    assert_eq!((translate_lasts(&first), translate_lasts(&second)), (None, None));
    assert_eq!(first.stats().invalidations, 1);

    fleet.agent.change(does);
    for by_hand in [0, 1, 2] {
        call(&mut one, translate()).await;
        settle().await;
        assert!(translate_lasts(&second).is_some());
        match by_hand {
            0 => assert!(second.invalidate(&key("translate", "eu"))),
            1 => assert_eq!(second.invalidate_host(key("", "").origin()), 1),
            _ => assert_eq!(second.invalidate_all(), 1),
        }
        settle().await;
        assert_eq!(translate_lasts(&first), None, "{by_hand}");
    }
    assert_eq!((first.stats().untold, second.stats().untold), (0, 0));
}

/// Nothing holds for longer than where it was learnt, and renewals are told so that it does not hold for much less.
#[tokio::test(start_paused = true)]
async fn renewals_are_told_now_and_then() {
    let fleet = Fleet::new();
    let ((mut one, first), (_, second)) = (fleet.replica(1, false), fleet.replica(2, false));
    for _ in 0..600 {
        call(&mut one, translate()).await;
        settle().await;
        tokio::time::advance(std::time::Duration::from_millis(100)).await;
        let (here, there) = (translate_lasts(&first).unwrap(), translate_lasts(&second).unwrap());
        assert!(there <= here && here - there <= s(16), "{here:?} {there:?}");
    }
    assert!(first.stats().told <= 5, "{}", first.stats().told);
}

/// A call that began before it was forgotten brings it back nowhere.
#[tokio::test(start_paused = true)]
async fn what_was_forgotten_meanwhile_is_not_told() {
    let fleet = Fleet::new();
    let ((mut one, first), (_, second)) = (fleet.replica(1, false), fleet.replica(2, false));
    call(&mut one, translate()).await;
    settle().await;
    tokio::time::advance(s(20)).await;
    fleet.agent.change(|asked| does(asked).after(s(5)));
    let slow = tokio::spawn(async move { call(&mut one, translate()).await.word() });
    tokio::time::sleep(s(1)).await;
    assert!(first.invalidate(&key("translate", "eu")));
    assert_eq!(slow.await.unwrap(), "success/success");
    settle().await;
    assert_eq!((translate_lasts(&first), translate_lasts(&second)), (None, None));
}

/// Who comes back asks what is known.
#[tokio::test(start_paused = true)]
async fn all_that_is_known_can_be_told_again() {
    struct Asks(std::sync::Mutex<Vec<Change>>);
    impl Store for Asks {
        fn serve(self: Arc<Self>, mut link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move {
                while link.next().await.is_some() {
                    *self.0.lock().unwrap() = link.known();
                }
            })
        }
    }
    let agent = Agent::willing();
    let asks = Arc::new(Asks(std::sync::Mutex::default()));
    let skills = SkillAvailability::builder().unavailable_for(s(10)).store(asks.clone()).build().unwrap();
    let mut service = guard(&builder(&agent).availability(skills).build().unwrap(), &agent);
    call(&mut service, translate()).await;
    settle().await;
    let available = Change::Available { key: key("translate", "eu"), lasts: s(60) };
    assert_eq!(*asks.0.lock().unwrap(), [available]);
    agent.change(|_| not_here());
    call(&mut service, translate()).await;
    settle().await;
    let unavailable = Change::Unavailable { key: key("translate", "eu"), lasts: s(10) };
    assert_eq!(*asks.0.lock().unwrap(), [unavailable]);
}

#[tokio::test(start_paused = true)]
async fn unavailable_counts_where_it_is_switched_on() {
    for (switched_on, expected) in [(true, Availability::Unavailable { lasts: s(10) }), (false, Availability::Unknown)]
    {
        let fleet = Fleet::new();
        let ((mut one, _), (_, second)) = (fleet.replica(1, true), fleet.replica(2, switched_on));
        call(&mut one, translate()).await;
        settle().await;
        assert!(translate_lasts(&second).is_some());
        fleet.agent.change(|_| not_here());
        call(&mut one, translate()).await;
        settle().await;
        assert_eq!(second.get(&key("translate", "eu")), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_others_claim_is_cut_to_our_own_terms() {
    struct Claims;
    impl Store for Claims {
        fn serve(self: Arc<Self>, link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move {
                link.apply(Change::Available { key: key("translate", "eu"), lasts: std::time::Duration::MAX });
                link.apply(Change::Unavailable { key: key("translate", "us"), lasts: std::time::Duration::MAX });
            })
        }
    }
    let skills = SkillAvailability::builder().unavailable_for(s(1)).store(Arc::new(Claims)).build().unwrap();
    settle().await;
    assert_eq!(skills.get(&key("translate", "eu")), Availability::Available { lasts: s(60) });
    assert_eq!(skills.get(&key("translate", "us")), Availability::Unavailable { lasts: s(300) });
}

/// A server that is away: calls go on at once, what does not fit is counted, and invalidations are the last to go.
#[tokio::test(start_paused = true)]
async fn a_store_that_takes_nothing_delays_nothing() {
    struct Away;
    impl Store for Away {
        fn serve(self: Arc<Self>, link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move {
                let _link = link;
                std::future::pending::<()>().await;
            })
        }
    }
    let agent = Agent::willing();
    let skills = SkillAvailability::builder().store(Arc::new(Away)).shared_queue(8).build().unwrap();
    let layer = builder(&agent).availability(skills.clone()).build().unwrap();
    let mut service = guard(&layer, &agent);
    for n in 0..20 {
        let request = crate::support::for_skill(crate::mock::Dialect::V1.send(), &format!("skill-{n}"), "eu");
        assert_eq!(call(&mut service, request).await.fate(), ("success/success".into(), s(0)));
    }
    assert_eq!((skills.stats().told, skills.stats().untold), (4, 16));
    for _ in 0..6 {
        skills.invalidate_all();
    }
    assert_eq!((skills.stats().told, skills.stats().untold), (8, 18));
    assert_eq!(skills.stats().invalidations, 20, "here they are gone all the same");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_or_ends_leaves_the_handle_as_it_is() {
    struct Broken(bool);
    impl Store for Broken {
        fn serve(self: Arc<Self>, _: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move { assert!(!self.0, "of the store's own") })
        }
    }
    for panics in [true, false] {
        let agent = Agent::willing();
        let skills = SkillAvailability::builder().store(Arc::new(Broken(panics))).build().unwrap();
        let layer = builder(&agent).availability(skills.clone()).build().unwrap();
        let mut service = guard(&layer, &agent);
        settle().await;
        assert_eq!(call(&mut service, translate()).await.word(), "success/success");
        assert_eq!((translate_lasts(&skills), skills.stats().untold), (Some(s(60)), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn its_task_ends_with_the_last_handle() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let fleet = Fleet::new();
    let (mut service, skills) = fleet.replica(1, false);
    call(&mut service, translate()).await;
    settle().await;
    assert_eq!(tasks(), 1);
    drop(service);
    settle().await;
    assert_eq!(tasks(), 1, "a handle is left");
    drop(skills);
    settle().await;
    assert_eq!(tasks(), 0);
}

/// Built outside of a runtime, it is served by the first one that it is used in.
#[test]
fn a_handle_that_is_built_early_is_served_later() {
    let hub = Arc::new(Hub(broadcast::channel(16).0));
    let mut told = hub.0.subscribe();
    let skills = SkillAvailability::builder().store(Arc::new(Replica(hub, 1))).build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let agent = Agent::willing();
        let layer = builder(&agent).availability(skills.clone()).build().unwrap();
        call(&mut guard(&layer, &agent), translate()).await;
        let (_, change) = told.recv().await.unwrap();
        assert_eq!(change, Change::Available { key: key("translate", "eu"), lasts: s(60) });
    });
}
