//! Soak: 12,000 guarded streams at once, 10,000 of them to a peer that hangs in every way that there is, and then a
//! minute of mixed traffic while peers are killed and started again.
//!
//! ```sh
//! cargo run --release --example soak             # about two minutes
//! cargo run --release --example soak -- --quick  # a tenth of it; half a minute
//! ```
//!
//! Real sockets over loopback: HTTP/2, many streams a connection, and HTTP/1.1. Every part runs in a process of its own
//! (this example starts itself again), so that memory and CPU time are the caller's alone. It needs Linux, for `/proc`.
//!
//! Exits non-zero if a call did not end as it should, ended later than its bound and 1 s, or if memory grew.

mod calls;
mod hang;
#[allow(dead_code, reason = "shared with other examples; each uses a part of it")]
#[path = "../support/loopback.rs"]
mod loopback;
#[allow(dead_code, reason = "shared with other examples; each uses a part of it")]
#[path = "../support/messages.rs"]
mod messages;
mod mixed;
mod peer;
mod process;
mod traffic;
mod ways;

use std::{error::Error, process::ExitCode};

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// What a part found that is not as it should be.
pub(crate) type Faults = Vec<String>;

fn main() -> Result<ExitCode, BoxError> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let known = |argument: &&String| *argument != "--quick";
    match arguments.iter().filter(known).map(String::as_str).collect::<Vec<_>>()[..] {
        [] => all(quick),
        ["peer", addr] => run(peer::run(addr.parse()?)).map(|()| ExitCode::SUCCESS),
        ["bare"] => run(hang::bare(quick)).map(|()| ExitCode::SUCCESS),
        ["hang"] => run(hang::guarded(quick)).map(told),
        ["mixed"] => run(mixed::run(quick)).map(told),
        _ => Err("usage: soak [--quick]".into()),
    }
}

/// Each part in a process of its own, one after the other.
fn all(quick: bool) -> Result<ExitCode, BoxError> {
    process::check_limits()?;
    let mut code = ExitCode::SUCCESS;
    for part in ["bare", "hang", "mixed"] {
        if !process::again([part].into_iter().chain(quick.then_some("--quick")))?.success() {
            println!("NOT AS IT SHOULD BE: {part}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

fn run<T>(part: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(part)
}

fn told(faults: Faults) -> ExitCode {
    for fault in faults.iter().take(20) {
        println!("NOT AS IT SHOULD BE: {fault}");
    }
    if faults.len() > 20 {
        println!("NOT AS IT SHOULD BE: and {} more", faults.len() - 20);
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
