//! The handle: look, list, forget, count.

use a2a_guard::probe_cache::{Availability, SkillAvailability, SkillKey};

use crate::{
    mock::{Dialect, s},
    support::{Agent, builder, call, for_skill, guard, key},
};

use Dialect::V1;

/// Two skills in two regions at two hosts.
async fn filled(skills: &SkillAvailability) {
    let agent = Agent::willing();
    let layer = builder(&agent).availability(skills.clone()).build().unwrap();
    let mut service = guard(&layer, &agent);
    for host in ["agent", "other"] {
        for skill in ["translate", "summarize"] {
            for region in ["eu", "us"] {
                let mut request = for_skill(V1.send(), skill, region);
                *request.uri_mut() = format!("https://{host}.example.com/a2a").parse().unwrap();
                assert_eq!(call(&mut service, request).await.word(), "success/success");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn it_forgets_a_key_a_host_or_everything() {
    let skills = SkillAvailability::new();
    filled(&skills).await;
    let clone = skills.clone();
    assert_eq!(clone.snapshot().len(), 8);
    assert!(clone.snapshot().iter().all(|entry| entry.availability == Availability::Available { lasts: s(60) }));
    assert!(skills.invalidate(&key("translate", "eu")));
    assert!(!skills.invalidate(&key("translate", "eu")), "once");
    assert_eq!(clone.snapshot().len(), 7);
    let host = SkillKey::of(&"HTTPS://Agent.Example.com:443".parse().unwrap(), "").unwrap();
    assert_eq!(skills.invalidate_host(host.origin()), 3);
    let left: Vec<_> = clone.snapshot().into_iter().map(|entry| entry.key.to_string()).collect();
    assert!(left.iter().all(|key| key.contains("https://other.example.com")), "{left:?}");
    assert_eq!(skills.invalidate_all(), 4);
    assert!(clone.snapshot().is_empty());
    let stats = clone.stats();
    assert_eq!((stats.hits, stats.misses, stats.invalidations, stats.probes), (0, 8, 8, 2));
    // What was forgotten can be learnt again.
    filled(&skills).await;
    assert_eq!(clone.snapshot().len(), 8);
}

/// The service remembers that all was well where its last call went, and nothing that is no longer so.
#[tokio::test(start_paused = true)]
async fn what_was_forgotten_or_has_expired_is_missed_by_the_next_call() {
    let skills = SkillAvailability::new();
    let agent = Agent::willing();
    let layer = builder(&agent).availability(skills.clone()).build().unwrap();
    let mut service = guard(&layer, &agent);
    let mut calls = async |count: usize| {
        for _ in 0..count {
            let request = for_skill(V1.send_at_once(), "translate", "eu");
            assert_eq!(call(&mut service, request).await.word(), "success/success");
        }
        let stats = skills.stats();
        (stats.hits, stats.misses)
    };
    assert_eq!(calls(4).await, (3, 1));
    assert!(skills.invalidate(&key("translate", "eu")));
    assert_eq!(calls(4).await, (6, 2));
    tokio::time::advance(s(60)).await;
    assert_eq!(calls(4).await, (9, 3));
}

#[tokio::test(start_paused = true)]
async fn it_is_bounded() {
    let skills = SkillAvailability::builder().capacity(16).build().unwrap();
    let agent = Agent::willing();
    let layer = builder(&agent).availability(skills.clone()).build().unwrap();
    let mut service = guard(&layer, &agent);
    for round in 0..2 {
        for n in 0..500 {
            let request = for_skill(V1.send(), &format!("skill-{n}"), "eu");
            assert_eq!(call(&mut service, request).await.word(), "success/success", "{round}");
        }
        assert!(skills.stats().entries <= 16 && skills.snapshot().len() <= 16);
    }
    // An entry that was thrown out is none that a place still goes by: what is said of its key reaches calls.
    for n in 0..500 {
        let request = for_skill(V1.send(), &format!("skill-{n}"), "eu");
        call(&mut service, request).await;
        let key = key(&format!("skill-{n}"), "eu");
        assert!(matches!(skills.get(&key), Availability::Available { .. } | Availability::Unknown));
        skills.invalidate(&key);
        let hits = skills.stats().hits;
        call(&mut service, for_skill(V1.send(), &format!("skill-{n}"), "eu")).await;
        assert_eq!(skills.stats().hits, hits, "skill-{n}");
    }
    assert_eq!(agent.probes(), 1);
}

#[test]
fn keys_read_well() {
    let key = SkillKey::of(&"https://Agent.Example.com:8443/x".parse().unwrap(), "translate\n").unwrap();
    assert_eq!(key.clone().in_region("eu").to_string(), r"translate\n at https://agent.example.com:8443 in eu");
    assert_eq!(key.clone().in_region(""), key);
    assert_eq!((key.skill(), key.region()), ("translate\n", None));
    assert_eq!(key.clone().in_region("eu").region(), Some("eu"));
    assert!(SkillKey::of(&"/relative".parse().unwrap(), "s").is_err());
}
