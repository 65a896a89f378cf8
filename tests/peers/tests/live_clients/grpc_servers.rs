//! The gRPC servers of the SDKs behind the gateway, each on its own port, and so without a card.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use serde_json::Value;

use crate::card_host::CardHost;
use crate::cases::{AILING, Call, PANICS, VERBS, calls};
use crate::client::Client;
use crate::gateway::Gateway;
use crate::sdk::Sdk;
use crate::{BOUNDS, Judge, compare, is_old, refused, statuses};

/// Over gRPC alone.
const GRPC: [&str; 1] = ["GRPC"];

/// Everything, for each client that speaks this server's version.
pub(crate) async fn section(server: Sdk, clients: &[Client], judge: &mut Judge<'_>) -> Result<(), String> {
    println!("\n== the gRPC server of {}, with the gateway and without", server.name());
    let serving = server.start(&["full", "bare"]).await?;
    let here = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let ports = serving.ports("full");
    let (http, grpc) = (here(ports.http), here(ports.grpc));
    let words = [&BOUNDS[..], &["--no-cards", "--admin", "127.0.0.1:0"]].concat();
    let gateway = Gateway::start(grpc, &words);
    let (direct, through) = tokio::try_join!(CardHost::start(http, grpc), CardHost::start(http, gateway.addr))?;
    let clients: Vec<_> = clients.iter().copied().filter(|client| client.is_old() == is_old(server)).collect();
    for client in &clients {
        compare(*client, &calls(&GRPC, VERBS), direct.addr, through.addr, judge).await?;
    }
    let mut ailing = calls(&GRPC, AILING);
    if server == Sdk::Rust {
        // A panic ends the task that polls the agent, and nothing else; the other SDKs catch exceptions.
        ailing.extend(calls(&GRPC, PANICS));
    }
    let before = outcomes(&gateway).await?;
    refused(&clients, &ailing, through.addr, judge).await?;
    let (found, wanted) = (since(&before, &outcomes(&gateway).await?), wanted(&ailing, clients.len() as u64));
    let wrong = (found != wanted).then(|| format!("instead of {wanted:?}"));
    judge(format!("            GRPC      as the gateway counted them: {found:?}"), wrong);
    if !is_old(server) {
        let modest = here(serving.ports("bare").grpc);
        let modest = (modest, Gateway::start(modest, &words));
        statuses::section(server, [(grpc, gateway.addr), (modest.0, modest.1.addr)], judge).await?;
    }
    Ok(())
}

/// How calls ended, by outcome and class. Of timeouts the class depends on whether the server sent a head before it
/// hung.
type Counts = BTreeMap<String, u64>;

async fn outcomes(gateway: &Gateway) -> Result<Counts, String> {
    let admin = gateway.admin.ok_or("the gateway has no admin")?;
    let read = async || reqwest::get(format!("http://{admin}/outcomes")).await?.bytes().await;
    let bytes = read().await.map_err(|error| error.to_string())?;
    let outcomes: BTreeMap<String, BTreeMap<String, u64>> = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{error}: {}", Value::from(&*String::from_utf8_lossy(&bytes))))?;
    let mut counts = Counts::new();
    for (outcome, classes) in outcomes {
        for (class, count) in classes {
            *counts.entry(name(&outcome, &class)).or_default() += count;
        }
    }
    Ok(counts)
}

fn name(outcome: &str, class: &str) -> String {
    if outcome == "timeout" { outcome.to_owned() } else { format!("{outcome}/{class}") }
}

fn since(before: &Counts, now: &Counts) -> Counts {
    let more = now.iter().map(|(name, count)| (name.clone(), count - before.get(name).copied().unwrap_or_default()));
    more.filter(|(_, count)| *count > 0).collect()
}

/// What so many clients that make these calls come to.
fn wanted(calls: &[Call], clients: u64) -> Counts {
    let mut counts = Counts::new();
    for (outcome, class) in calls.iter().filter_map(Call::outcome) {
        *counts.entry(name(outcome, class)).or_default() += clients;
    }
    counts.retain(|_, count| *count > 0);
    counts
}
