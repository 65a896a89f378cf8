//! Replays case files through the layers.
//!
//! ```text
//! cargo run --release --example replay -- PATH… [--binding B] [--kind K] [--rendered]
//! ```
//!
//! Each PATH is a case file, or a folder that is searched for them. The case's response is served
//! from a loopback socket, over HTTP/2 if it is a gRPC call's, with the stated bytes, times and ending; its request
//! goes through the whole stack, with the card layer where the case has a card. In a card case the card is resolved
//! and an interface selected. Standard output gets one JSON line a case and a summary, standard error the reason
//! of each failure and of each skip. With `--rendered` each call goes through `RefusalResponseLayer` too, and what is
//! held against the failure is what an unmodified client gets of it. The exit status is 1 if any case failed.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use tokio::sync::Semaphore;

mod card;
mod case;
mod facts;
#[allow(dead_code, reason = "cases need a part of what a script can say")]
#[path = "../support/h2_peer.rs"]
mod h2_peer;
#[path = "../support/loopback.rs"]
mod loopback;
#[allow(dead_code, reason = "cases need a part of what a script can say")]
#[path = "../support/peer.rs"]
mod peer;
mod rendered;
mod run;
#[path = "../support/stalls.rs"]
mod stalls;

use case::{BoxError, Case};
use run::Line;

const USAGE: &str = "usage: replay PATH… [--binding JSONRPC|HTTP+JSON|GRPC] [--kind call|card] [--rendered]";

/// How many cases run side by side. They wait more than they work.
const AT_ONCE: usize = 24;

#[derive(Default)]
struct Arguments {
    paths: Vec<PathBuf>,
    binding: Option<String>,
    kind: Option<String>,
    rendered: bool,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self::default();
        while let Some(word) = words.next() {
            let mut value = |of: &[&str]| match words.next() {
                Some(value) if of.contains(&value.as_str()) => Ok(Some(value)),
                _ => Err(format!("{word} takes one of {}", of.join(", "))),
            };
            match word.as_str() {
                "--binding" => arguments.binding = value(&["JSONRPC", "HTTP+JSON", "GRPC"])?,
                "--rendered" => arguments.rendered = true,
                "--kind" => arguments.kind = value(&["call", "card"])?,
                flag if flag.starts_with('-') => return Err(format!("{flag} is not known")),
                path => arguments.paths.push(path.into()),
            }
        }
        match arguments.paths.is_empty() {
            true => Err("nothing to replay".to_owned()),
            false => Ok(arguments),
        }
    }

    fn select(&self, case: &Case) -> bool {
        let matches = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        matches(&self.binding, &case.binding) && matches(&self.kind, &case.kind)
    }
}

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let arguments = match Arguments::parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(complaint) => {
            eprintln!("{complaint}\n{USAGE}");
            return Ok(ExitCode::from(2));
        }
    };

    let at_once = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = Vec::new();
    for (path, case) in load(&arguments.paths) {
        match case {
            Ok(case) if !arguments.select(&case) => {}
            Ok(case) => {
                let (at_once, rendered) = (Arc::clone(&at_once), arguments.rendered);
                running.push(tokio::spawn(async move {
                    let _permit = at_once.acquire_owned().await;
                    match rendered {
                        true => stalls::steadily(|| rendered::run(&case), Line::failed).await,
                        false => stalls::steadily(|| run::run(&case), Line::failed).await,
                    }
                }));
            }
            Err(error) => {
                let id = path.file_stem().unwrap_or(path.as_os_str());
                let id = id.to_string_lossy().into_owned();
                let line = Line::error(id, format!("{}: {error}", path.display()));
                running.push(tokio::spawn(async move { line }));
            }
        }
    }

    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut out = io::stdout().lock();
    for line in running {
        let line = line.await.map_err(io::Error::other)?;
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
        let (count, what) = match line.pass {
            Some(true) => (&mut passed, "passed"),
            Some(false) => (&mut failed, "failed"),
            None => (&mut skipped, "skipped"),
        };
        *count += 1;
        if !line.complaints.is_empty() {
            eprintln!("{what} {}: {}", line.id, line.complaints.join("; "));
        }
    }
    writeln!(out, "{passed} passed, {failed} failed, {skipped} skipped")?;
    Ok(ExitCode::from(u8::from(failed > 0)))
}

type Loaded = (PathBuf, Result<Case, BoxError>);

/// Every case under the paths. What cannot be read is there as its error.
fn load(paths: &[PathBuf]) -> Vec<Loaded> {
    let mut cases = Vec::new();
    for path in paths {
        match find(path) {
            Ok(files) if files.is_empty() => {
                cases.push((path.clone(), Err("no cases here".into())));
            }
            Ok(files) => cases.extend(files.into_iter().map(|file| {
                let case = Case::read(&file);
                (file, case)
            })),
            Err(error) => cases.push((path.clone(), Err(error.into()))),
        }
    }
    cases
}

/// The path itself, or the `.json` files below it in the order of their names.
fn find(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            files.extend(find(&entry)?);
        } else if entry.extension().is_some_and(|extension| extension == "json") {
            files.push(entry);
        }
    }
    Ok(files)
}
