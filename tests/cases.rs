//! The replayable exchanges under `tests/cases`, each through the whole stack over a real socket.
//!
//! One of them alone: `cargo run --example replay -- tests/cases/…`.

use std::{fs, path::Path, sync::Arc};

use tokio::sync::Semaphore;

#[path = "../examples/replay/card.rs"]
mod card;
#[path = "../examples/replay/case.rs"]
mod case;
#[path = "../examples/replay/facts.rs"]
mod facts;
#[allow(dead_code, reason = "cases need a part of what a script can say")]
#[path = "../examples/support/h2_peer.rs"]
mod h2_peer;
#[path = "../examples/support/loopback.rs"]
mod loopback;
#[allow(dead_code, reason = "cases need a part of what a script can say")]
#[path = "../examples/support/peer.rs"]
mod peer;
#[path = "../examples/replay/run.rs"]
mod run;
#[path = "../examples/support/stalls.rs"]
mod stalls;

use case::Case;
use run::Line;

/// How many there are, so that a lost folder does not pass as a green one.
const CASES: usize = 576;

#[tokio::test(flavor = "multi_thread")]
async fn every_case_ends_as_it_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases = Vec::new();
    read(&folder, &mut cases);
    assert_eq!(cases.len(), CASES, "cases under {}", folder.display());

    let at_once = Arc::new(Semaphore::new(24));
    let mut running = Vec::new();
    for case in cases {
        let at_once = Arc::clone(&at_once);
        running.push(tokio::spawn(async move {
            let _permit = at_once.acquire_owned().await;
            stalls::steadily(|| run::run(&case), Line::failed).await
        }));
    }
    let mut failed = Vec::new();
    for line in running {
        let line = line.await.unwrap();
        if line.pass != Some(true) {
            failed.push(format!("{}: {}", line.id, line.complaints.join("; ")));
        }
    }
    assert!(failed.is_empty(), "{} of {CASES} failed:\n{}", failed.len(), failed.join("\n"));
}

fn read(folder: &Path, cases: &mut Vec<Case>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, cases);
        } else {
            let case = Case::read(&path);
            cases.push(case.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
    }
}
