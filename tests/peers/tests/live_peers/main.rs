//! Real A2A servers, called through the full stack: every verb that they know, unary and streaming, over each binding.
//!
//! ```sh
//! tests/peers/servers/setup.sh && cargo test -p a2a-guard-peers --test live_peers
//! ```
//!
//! Prints one table, and fails if a cell in it is not as it must be. `-- NAME…` runs the SDKs of those names alone;
//! `-- --allow-missing` does without those that are not installed, and says so.

mod ask;
mod call;
mod cards;
mod cell;
mod client;
mod expect;
mod grpc;
mod kill;
mod line;
mod operations;
mod probes;
mod profiles;
mod rule;
mod rust_server;
mod sdk;
mod table;
mod tap;
mod verbs;

use std::process::ExitCode;
use std::time::Instant;

use futures::future::join_all;

use line::Line;
use sdk::Sdk;
use table::Section;

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
    let mut names = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--allow-missing" => allow_missing = true,
            name if Sdk::ALL.iter().any(|sdk| sdk.name() == name) => names.push(argument),
            other => {
                let known: Vec<_> = Sdk::ALL.iter().map(|sdk| sdk.name()).collect();
                return fail(&format!("unknown argument {other:?}; SDKs are {}", known.join(", ")));
            }
        }
    }
    let chosen = |sdk: &Sdk| names.is_empty() || names.iter().any(|name| name == sdk.name());
    let (installed, missing): (Vec<Sdk>, Vec<Sdk>) =
        Sdk::ALL.into_iter().filter(chosen).partition(|sdk| sdk.is_installed());
    sdk::clear_logs();
    let began = Instant::now();
    let (runs, page) = futures::join!(join_all(installed.iter().map(|sdk| run(*sdk))), probes::page());
    let (mut passed, mut failed) = (0, 0);
    let names = installed.iter().map(|sdk| sdk.name()).chain(["a page"]);
    let page = page.map(|section| vec![section]);
    for (name, run) in names.zip(runs.into_iter().chain([page])) {
        match run {
            Ok(sections) => {
                for section in sections {
                    section.print();
                    failed += section.failed();
                    passed += section.passed();
                }
            }
            Err(error) => {
                println!("\n== {name}: DID NOT RUN: {error}");
                failed += 1;
            }
        }
    }
    for sdk in &missing {
        println!("\n== {}: DID NOT RUN: not installed, tests/peers/servers/setup.sh does that", sdk.name());
        failed += usize::from(!allow_missing);
    }
    println!("\n{:.0} s\n{passed} passed, {failed} failed", began.elapsed().as_secs_f64());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn fail(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

/// Everything about one SDK.
async fn run(sdk: Sdk) -> Result<Vec<Section>, String> {
    let server = &sdk.start(sdk.profiles()).await?;
    let lines: Vec<Line> = Line::ALL.into_iter().filter(|line| line.sdk() == sdk).collect();
    let lines = lines.into_iter().map(|line| async move {
        let at = || line.endpoint(server.ports(line.profile()));
        // The other profiles speak one version each.
        let others = async {
            match line.profile() {
                "full" => Some(profiles::section(line, server).await),
                _ => None,
            }
        };
        let (verbs, operations, others, cards, probed) = futures::join!(
            verbs::section(line, at()),
            operations::section(line, at()),
            others,
            cards::section(line, server),
            probes::section(line, server),
        );
        let killed = kill::section(line).await;
        let sections = [Some(verbs), Some(operations), others, Some(cards), Some(probed), Some(killed?)];
        Ok(sections.into_iter().flatten().collect())
    });
    let sections: Result<Vec<Vec<Section>>, String> = join_all(lines).await.into_iter().collect();
    Ok(sections?.into_iter().flatten().collect())
}
