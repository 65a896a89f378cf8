//! Whatever an agent answers, whoever lets go of what, and whatever is thrown away meanwhile: nobody gets a card that
//! was shown to somebody else, and nothing is left under way.

use super::*;
use crate::call::ProtocolVersion;

/// Numbers that look like chance, and are the same each time.
#[derive(Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn of(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

pub(super) const TENANTS: [&str; 3] = ["acme", "bolt", "corp"];
pub(super) const CALLERS: [Option<&str>; 4] = [None, Some("one"), Some("two"), Some("three")];
const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V1_0, ProtocolVersion::V0_3];

/// Answers as it likes. Cards are named by what was asked: tenant, credential, and the version where it says that it
/// counts.
fn answer(seen: &Seen, chance: &mut Chance) -> Reply {
    let tenant = seen.header("x-tenant").unwrap_or("-");
    let caller = seen.header("authorization");
    let reply = match chance.below(12) {
        0 => Reply::status(404),
        1 => Reply::status(503).header("retry-after", "1"),
        2 => Reply::json("no card"),
        3 => Reply::fails(std::io::ErrorKind::ConnectionReset),
        4 => Reply::status(403),
        5 | 6 if caller.is_none() => Reply::status(401),
        7 if seen.header("if-none-match").is_some() => Reply::status(304),
        _ => {
            let by_version = chance.below(3) == 0;
            let version = if by_version { seen.header("a2a-version").unwrap_or("-") } else { "any" };
            let name = format!("{tenant}/{}/{version}", caller.unwrap_or("-"));
            let reply = Reply::card(&name).header("etag", format!("\"{name}\""));
            if by_version { reply.header("vary", "a2a-version") } else { reply }
        }
    };
    let reply = match chance.below(8) {
        0 => reply.header("cache-control", "private, max-age=2"),
        1 => reply.header("cache-control", "no-store"),
        2 => reply.header("cache-control", "no-cache"),
        // What it said a card varies by, it does not take back.
        3 | 4 if reply.status == 304 => reply,
        3 => reply.header("vary", "authorization"),
        4 => reply.header("vary", "*"),
        5 => reply.header("cache-control", "max-age=1"),
        _ => reply,
    };
    reply.after(Duration::from_millis(chance.one_of(&[0, 0, 10, 500, 3000])))
}

async fn run(seed: u64) {
    let mut chance = Chance::of(seed);
    let mut agents = chance.clone();
    let agent = Agent::new(move |seen| answer(seen, &mut agents));
    let store = CardStore::builder(agent)
        .tenant_headers([HeaderName::from_static("x-tenant")])
        .capacity(chance.one_of(&[1, 2, 5, 100]))
        .max_searches(chance.one_of(&[1, 3, 100]))
        .fetch_timeout(Duration::from_secs(2))
        .stale_while_revalidate(Duration::from_secs(chance.one_of(&[0, 3])))
        .stale_if_error(Duration::from_secs(chance.one_of(&[0, 3])))
        .build()
        .unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..120 {
        let (tenant, caller, version) = (chance.one_of(&TENANTS), chance.one_of(&CALLERS), chance.one_of(&VERSIONS));
        let mut headers = pairs(&[("x-tenant", tenant)]);
        if let Some(caller) = caller {
            headers.insert("authorization", HeaderValue::from_static(caller));
        }
        let ask = CardAsk::new(Uri::from_static(TARGET), headers)
            .version(version)
            .bound(Duration::from_millis(chance.one_of(&[1, 100, 10_000])));
        let (shared, patience) = (store.clone(), Duration::from_millis(chance.one_of(&[1, 700, 60_000])));
        let wish = chance.below(10);
        calls.spawn(async move {
            let held = async {
                match wish {
                    0 => shared.refresh(ask.clone()).await,
                    _ => match shared.held(&ask.key(), Instant::now()) {
                        Some(held) => Ok(held),
                        None => shared.get(ask.clone()).await,
                    },
                }
            };
            let Ok(Ok(held)) = tokio::time::timeout(patience, held).await else { return };
            let name = named(&held);
            let parts: Vec<_> = name.split('/').collect();
            assert_eq!(parts[0], tenant, "another tenant's: {name}");
            assert!(parts[1] == "-" || Some(parts[1]) == caller, "{caller:?} has another caller's: {name}");
            let stated = version.to_string();
            assert!(parts[2] == "any" || parts[2] == stated, "{stated} has another version's: {name}");
            if wish == 1 {
                shared.distrust(&held);
            }
        });
        match chance.below(20) {
            0 => drop(store.forget(&Uri::from_static(TARGET))),
            1 => store.clear(),
            2..8 => pass_ms(chance.below(800)).await,
            _ => tokio::task::yield_now().await,
        }
    }
    while let Some(ended) = calls.join_next().await {
        ended.unwrap();
    }
    // What goes on for nobody ends as well.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let stats = store.stats();
    assert_eq!(stats.in_flight, 0);
    assert!(store.inner.turns.are_all_free(), "no place is kept");
}

#[tokio::test(start_paused = true)]
async fn nobody_gets_what_was_shown_to_somebody_else() {
    for seed in 0..80 {
        run(seed).await;
    }
}

/// RFC 9111 §4.1: no other request is known to match.
#[tokio::test(start_paused = true)]
async fn what_varies_by_everything_is_shared_with_nobody() {
    let agent = Agent::at(SCOPED, |seen| match seen.header("if-none-match") {
        Some(_) => Reply::status(304),
        None => {
            let name = seen.header("a2a-version").unwrap();
            Reply::card(name).header("etag", "\"1\"").header("vary", "a2a-version, *").after(Duration::from_secs(1))
        }
    });
    let store = agent.store();
    let of = |version| ask().version(version);
    // Neither while one is under way, nor by what came of it.
    let (one, other) = tokio::join!(name(&store, of(ProtocolVersion::V1_0)), name(&store, of(ProtocolVersion::V0_3)));
    assert_eq!((one.as_str(), other.as_str()), ("1.0", "0.3"));
    for version in VERSIONS {
        assert_eq!(name(&store, of(version)).await, version.to_string());
    }
    let conditional = (0..agent.count()).filter(|&n| agent.seen(n).header("if-none-match").is_some()).count();
    assert_eq!((agent.count(), conditional), (4, 2), "each is asked for each time, and confirmed to whom it was shown");
}
