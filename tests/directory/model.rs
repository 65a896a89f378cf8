//! Whatever comes and goes, and whoever looks meanwhile: what is found is what is registered.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use a2a_guard::directory::{Directory, Need, PeerId, RegistryError};

use crate::host::{Host, peer, uri};

const PEERS: u64 = 12;
const SKILLS: u64 = 6;
const OWNERS: [&str; 2] = ["one", "two"];

/// Numbers that look like chance, and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// What should be there: whose it is, and what it can do.
#[derive(Default)]
struct Model {
    peers: BTreeMap<PeerId, (&'static str, BTreeSet<String>)>,
    revoked: BTreeSet<PeerId>,
}

fn with_skill(directory: &Directory, skill: &str) -> BTreeSet<PeerId> {
    let decision = directory.find(&Need::skill(skill));
    assert_eq!(decision.omitted, 0);
    let found: Vec<_> = decision.candidates.iter().map(|candidate| candidate.peer.clone()).collect();
    let all: BTreeSet<_> = found.iter().cloned().collect();
    assert_eq!(all.len(), found.len(), "each once");
    all
}

fn check(directory: &Directory, model: &Model) {
    let there: BTreeMap<_, _> = directory.snapshot().into_iter().map(|entry| (entry.peer.clone(), entry)).collect();
    assert_eq!(there.keys().collect::<Vec<_>>(), model.peers.keys().collect::<Vec<_>>());
    assert_eq!(directory.len(), model.peers.len());
    for (id, (owner, skills)) in &model.peers {
        assert_eq!(&*there[id].owner, *owner);
        let own: BTreeSet<String> = there[id].skills.iter().map(|skill| skill.id().to_owned()).collect();
        assert_eq!(&own, skills);
    }
    for number in 0..SKILLS {
        let skill = format!("s{number}");
        let expected = model.peers.iter().filter(|(_, (_, skills))| skills.contains(&skill)).map(|(id, _)| id.clone());
        assert_eq!(with_skill(directory, &skill), expected.collect(), "{skill}");
    }
}

/// One change, to the directory and to the model.
fn step(directory: &Directory, model: &mut Model, chance: &mut Chance) {
    let base = format!("https://p{}.example", chance.below(PEERS));
    let (id, owner) = (peer(&base), OWNERS[chance.below(2) as usize]);
    let known = model.peers.get(&id).map(|(owner, _)| *owner);
    match chance.below(10) {
        0..6 => {
            let skills: BTreeSet<_> = (0..chance.below(4)).map(|_| format!("s{}", chance.below(SKILLS))).collect();
            let tools: Vec<_> = skills.iter().map(|skill| format!(r#"{{"name":"{skill}"}}"#)).collect();
            let page = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
            let published = directory.publish_tools(&uri(&base), owner, &[page]);
            match (model.revoked.contains(&id), known) {
                (true, _) => assert!(matches!(published, Err(RegistryError::Revoked))),
                (_, Some(other)) if other != owner => assert!(matches!(published, Err(RegistryError::OwnedByAnother))),
                _ => {
                    published.unwrap();
                    model.peers.insert(id, (owner, skills));
                }
            }
        }
        6 | 7 => {
            let withdrawn = directory.withdraw(&id, owner);
            assert_eq!(withdrawn.is_ok(), known == Some(owner));
            if withdrawn.is_ok() {
                model.peers.remove(&id);
            }
        }
        8 => {
            directory.revoke(&id, "no");
            model.peers.remove(&id);
            model.revoked.insert(id);
        }
        _ => assert_eq!(directory.reinstate(&id), model.revoked.remove(&id)),
    }
}

/// Readers end also where a check fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn what_is_found_is_what_is_registered() {
    for seed in 0..8 {
        let (directory, log) = Host::default().directory(|builder| builder);
        let (mut model, mut chance) = (Model::default(), Chance(seed));
        let is_over = AtomicBool::new(false);
        let mut generation = directory.generation();
        thread::scope(|scope| {
            // They hold on to what stood, for a while.
            for reader in 0..2 {
                let (directory, is_over) = (&directory, &is_over);
                scope.spawn(move || {
                    let mut chance = Chance(1000 + reader);
                    while !is_over.load(Relaxed) {
                        with_skill(directory, &format!("s{}", chance.below(SKILLS)));
                    }
                });
            }
            let _over = Over(&is_over);
            for _ in 0..250 {
                step(&directory, &mut model, &mut chance);
                check(&directory, &model);
                assert!(directory.generation() >= generation, "it does not go back");
                generation = directory.generation();
            }
        });
        drop(log);
    }
}
