//! The same of extended cards: each is for whom it was shown to, in the public one's stead and never against it.

use super::*;
use crate::{
    call::{Binding, ProtocolVersion},
    card_consistency::store::tests::apart::{CALLERS, Chance, TENANTS},
};

const EXTENDED: &str = "https://agent.example.com/a2a/extendedAgentCard";

/// A card with a name and a version of its own, and whether there is an extended one.
fn versioned(name: &str, version: u64, extends: bool) -> String {
    let card = card(name).replace(r#""version":"1""#, &format!(r#""version":"{version}""#));
    card.replace(r#""streaming":true"#, &format!(r#""streaming":true,"extendedAgentCard":{extends}"#))
}

/// Public cards are named `public`, extended ones by tenant and credential. The version that they state goes up at
/// times.
fn answer(seen: &Seen, chance: &mut Chance) -> Reply {
    let version = chance.below(2);
    let reply = if seen.uri == EXTENDED {
        let name = format!("{}/{}", seen.header("x-tenant").unwrap(), seen.header("authorization").unwrap());
        match chance.below(8) {
            0 => Reply::status(404),
            1 => Reply::status(401),
            2 => Reply::status(503),
            3 => Reply::json("{}"),
            _ => Reply::json(versioned(&name, version, true)),
        }
    } else {
        match chance.below(8) {
            0 => Reply::status(503),
            1 if seen.header("if-none-match").is_some() => Reply::status(304),
            2 => Reply::json(versioned("public", version, false)),
            _ => Reply::json(versioned("public", version, true)).header("etag", "\"1\""),
        }
    };
    let age = chance.one_of(&["max-age=1", "max-age=5", "no-store", "no-cache", "private, max-age=3"]);
    reply.header("cache-control", age).after(Duration::from_millis(chance.one_of(&[0, 0, 10, 500, 3000])))
}

fn question() -> ExtendedCall {
    ExtendedCall {
        method: http::Method::GET,
        uri: Uri::from_static(EXTENDED),
        body: Bytes::new(),
        binding: Binding::HttpJson,
        version: ProtocolVersion::V1_0,
    }
}

async fn run(seed: u64) {
    let mut chance = Chance::of(seed);
    let mut agents = chance.clone();
    let agent = Agent::new(move |seen| answer(seen, &mut agents));
    let store = CardStore::builder(agent.clone())
        .tenant_headers([HeaderName::from_static("x-tenant")])
        .capacity(chance.one_of(&[1, 2, 5, 100]))
        .max_searches(chance.one_of(&[1, 3, 100]))
        .fetch_timeout(Duration::from_secs(2))
        .build()
        .unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..120 {
        let (tenant, caller) = (chance.one_of(&TENANTS), chance.one_of(&CALLERS));
        let mut headers = pairs(&[("x-tenant", tenant)]);
        if let Some(caller) = caller {
            headers.insert("authorization", HeaderValue::from_static(caller));
        }
        let ask = CardAsk::new(Uri::from_static(TARGET), headers)
            .version(ProtocolVersion::V1_0)
            .bound(Duration::from_millis(chance.one_of(&[1, 100, 10_000])))
            .extend(move |_| caller.map(|_| question()));
        let (shared, patience) = (store.clone(), Duration::from_millis(chance.one_of(&[1, 700, 60_000])));
        let wish = chance.below(6);
        calls.spawn(async move {
            let held = async {
                // As a layer looks, before it asks.
                let (at, now) = (ask.key(), Instant::now());
                let known = shared.held(&at, now).and_then(|public| shared.stands_in(&at, public, now));
                match known {
                    Some(held) => Ok(held),
                    None => shared.get(ask.clone()).await,
                }
            };
            let Ok(Ok(held)) = tokio::time::timeout(patience, held).await else { return };
            let name = named(&held);
            match held.is_extended() {
                true => assert_eq!(Some(name.as_str()), caller.map(|caller| format!("{tenant}/{caller}")).as_deref()),
                false => assert_eq!(name, "public"),
            }
            if wish == 0 {
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
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((store.stats().in_flight, store.inner.turns.are_all_free()), (0, true));
    // No credential went anywhere but to its own question, or where a 401 asked for it.
    for seen in agent.seen.lock().unwrap().iter().filter(|seen| seen.uri != EXTENDED) {
        assert_eq!(seen.header("authorization"), None, "{}", seen.uri);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_gets_what_was_shown_to_somebody_else() {
    for seed in 0..80 {
        run(seed).await;
    }
}
