//! What is fuzzed, and what it is held against.
//!
//! Each target is a plain function of some bytes that panics where something is wrong, so that the committed corpora
//! are replayed on a stable compiler, by `cargo test`. The front of the bytes makes the choices (what is expected,
//! where to cut), the rest is what a peer sends.

pub mod calls;
pub mod cut;
pub mod input;
pub mod oracle;
pub mod seeds;
pub mod targets;
/// What `targets::freshness` takes in of the library needs this.
#[path = "../../src/times.rs"]
mod times;

pub use targets::Target;

/// The `main` of a target: libFuzzer's under `cargo fuzz`, and otherwise one that runs the files it is given.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::targets::$name(data));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            $crate::run_files($crate::targets::$name)
        }
    };
}

/// Runs a target over the files that are named on the command line: a crash is debugged so without a nightly compiler.
///
/// # Errors
/// A file cannot be read.
pub fn run_files(target: Target) -> std::io::Result<()> {
    for path in std::env::args_os().skip(1) {
        println!("{}", std::path::Path::new(&path).display());
        target(&std::fs::read(path)?);
    }
    Ok(())
}
