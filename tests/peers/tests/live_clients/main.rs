//! Clients of the SDKs, unmodified, through the example `egress_gateway`: what is good is what it is without the
//! gateway, and what is not is an error of the SDK's own. In front of an agent that misbehaves as it is told, and of
//! the SDKs' servers, over HTTP and over gRPC.
//!
//! ```sh
//! tests/peers/servers/setup.sh
//! cargo build -p a2a-guard --example egress_gateway --features hyper,tower
//! cargo test -p a2a-guard-peers --test live_clients
//! ```
//!
//! Prints one table, and fails if a cell in it is not as it must be. `-- --allow-missing` does without the SDKs that
//! are not installed, and says so.

#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "../../../egress_gateway/agent.rs"]
mod agent;
mod card_host;
mod cases;
mod client;
#[path = "../../../egress_gateway/dialect.rs"]
mod dialect;
#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "../../../egress_gateway/gateway.rs"]
mod gateway;
mod grpc_servers;
#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "../../../../examples/support/messages.rs"]
mod messages;
mod rust_client;
#[path = "../live_peers/rust_server.rs"]
mod rust_server;
#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "../live_peers/sdk.rs"]
mod sdk;
mod statuses;

use std::{net::SocketAddr, process::ExitCode, time::Instant};

use agent::Agent;
use cases::{BAD, Call, GOOD, VERBS, calls};
use client::{Client, Ended};
use futures::future::try_join_all;
use gateway::Gateway;
use sdk::Sdk;

/// Far below what the SDKs' own clients wait for.
const BOUNDS: [&str; 6] = ["--head-ms", "2000", "--first-event-ms", "2000", "--idle-ms", "2000"];

/// Takes a line of the table, and what is wrong with it.
type Judge<'a> = dyn FnMut(String, Option<String>) + 'a;

const BINDINGS: [&str; 3] = ["JSONRPC", "HTTP+JSON", "GRPC"];

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if std::env::args().nth(1).as_deref() == Some(rust_server::ARGUMENT) {
        return match rust_server::serve(arguments.by_ref().skip(1)).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        };
    }
    let mut allow_missing = false;
    for argument in arguments {
        match argument.as_str() {
            "--allow-missing" => allow_missing = true,
            other => return fail(&format!("unknown argument {other:?}")),
        }
    }
    match run(allow_missing).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => fail(&error),
    }
}

fn fail(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

/// Everything; how many cells are wrong.
async fn run(allow_missing: bool) -> Result<usize, String> {
    let began = Instant::now();
    let (mut passed, mut failed) = (0, 0);
    let (installed, missing): (Vec<_>, Vec<_>) = Client::ALL.into_iter().partition(|client| client.is_installed());
    let mut judge = |line: String, wrong: Option<String>| match wrong {
        None => {
            passed += 1;
            println!("  {line}");
        }
        Some(wrong) => {
            failed += 1;
            println!("  {line}\n    WRONG: {wrong}");
        }
    };

    for (version, is_old, agent) in [("1.0", false, Agent::start().await), ("0.3", true, Agent::old().await)] {
        println!("\n== an agent of {version} that does as it is told, with the gateway and without");
        let gateway = Gateway::start(agent.addr, &BOUNDS);
        let clients: Vec<_> = installed.iter().copied().filter(|client| client.is_old() == is_old).collect();
        for client in &clients {
            compare(*client, &calls(&BINDINGS, GOOD), agent.addr, gateway.addr, &mut judge).await?;
        }
        refused(&clients, &calls(&BINDINGS, BAD), gateway.addr, &mut judge).await?;
    }

    for server in Sdk::ALL.into_iter().filter(|sdk| sdk.is_installed()) {
        println!("\n== the server of {}, with the gateway and without", server.name());
        let serving = server.start(&["full"]).await?;
        let at = SocketAddr::from(([127, 0, 0, 1], serving.ports("full").http));
        let gateway = Gateway::start(at, &BOUNDS);
        for client in installed.iter().filter(|client| client.is_old() == is_old(server)) {
            // What they serve over gRPC has an address of its own: see below.
            let mut calls = calls(&BINDINGS[..2], VERBS);
            calls.retain(|call| understand(server, *client, call));
            compare(*client, &calls, at, gateway.addr, &mut judge).await?;
        }
    }

    for server in Sdk::ALL.into_iter().filter(|sdk| sdk.is_installed()) {
        grpc_servers::section(server, &installed, &mut judge).await?;
    }

    for client in &missing {
        println!("\n== {}: DID NOT RUN: not installed, tests/peers/servers/setup.sh does that", client.name());
        failed += usize::from(!allow_missing);
    }
    println!("\n{:.0} s\n{passed} passed, {failed} failed", began.elapsed().as_secs_f64());
    Ok(failed)
}

/// Whether it speaks 0.3.
fn is_old(server: Sdk) -> bool {
    matches!(server, Sdk::Python03 | Sdk::Js03)
}

/// Whether the SDK's own client understands what this server answers, gateway or none.
fn understand(server: Sdk, client: Client, call: &Call) -> bool {
    let streams = call.binding == "HTTP+JSON" && call.case.mode == "stream";
    match (server, client) {
        // Its events are written over several lines, which the other SDK takes one by one.
        (Sdk::Python03, Client::Js03) => !streams,
        // A stream that it refuses it breaks off.
        (Sdk::Python03, _) => !(streams && call.case.text == "typed0"),
        _ => true,
    }
}

fn line(client: Client, call: &Call, words: &str) -> String {
    format!("{:<11} {:<9} {:<6} {:<14} {words}", client.name(), call.binding, call.case.mode, call.case.text)
}

/// Makes the calls with the gateway and without: no client may see a difference.
async fn compare(
    client: Client,
    calls: &[Call],
    direct: SocketAddr,
    through: SocketAddr,
    judge: &mut Judge<'_>,
) -> Result<(), String> {
    let (direct, through) = tokio::try_join!(client.call(direct, calls), client.call(through, calls))?;
    for ((call, direct), through) in calls.iter().zip(direct).zip(through) {
        let came = !through.events.is_empty() || through.refused();
        let wrong = (!same(&direct, &through) || !came)
            .then(|| format!("without the gateway {direct:?}\n           with it {through:?}"));
        judge(line(client, call, &through.words()), wrong);
    }
    Ok(())
}

/// Makes calls that go wrong through the gateway: each must be an error of the SDK's own. The clients wait for them
/// together.
async fn refused(clients: &[Client], calls: &[Call], through: SocketAddr, judge: &mut Judge<'_>) -> Result<(), String> {
    let ends = try_join_all(clients.iter().map(|client| client.call(through, calls))).await?;
    for (client, ends) in clients.iter().zip(ends) {
        for (call, ended) in calls.iter().zip(ends) {
            let (is, must_be) = (ended.error_words(), call.error(*client));
            let mut wrong = (is != must_be).then(|| format!("instead of {must_be}: {ended:?}"));
            if ended.events.len() != call.case.events {
                wrong.get_or_insert(format!("not {} events: {ended:?}", call.case.events));
            }
            judge(line(*client, call, &is), wrong);
        }
    }
    Ok(())
}

fn same(direct: &Ended, through: &Ended) -> bool {
    direct.events == through.events && direct.error == through.error && direct.said() == through.said()
}
