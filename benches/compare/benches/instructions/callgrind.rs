//! This program once more, below callgrind.

use std::{
    fmt, fs,
    hint::black_box,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{BELOW, row::Row};

/// Callgrind writes down what was counted since the last time, and begins anew, whenever this is entered.
#[inline(never)]
pub(crate) fn callgrind_part_ends_here() {
    black_box(());
}

/// `work`, counted by itself.
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> T {
    callgrind_part_ends_here();
    let done = black_box(work());
    callgrind_part_ends_here();
    done
}

/// Parts that a row leaves: before and within each of its three batches.
const PARTS: usize = 6;

/// What was counted, and what the counts depend on.
pub(crate) struct Counted {
    pub(crate) machine: String,
    /// Instructions a unit, a row.
    pub(crate) each: Vec<f64>,
}

#[derive(Debug)]
pub(crate) enum Failure {
    Missing,
    Io(io::Error),
    Run(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("valgrind is not here"),
            Self::Io(error) => error.fmt(f),
            Self::Run(what) => f.write_str(what),
        }
    }
}

/// Counts these rows, which are those that the words name.
pub(crate) fn count(rows: &[Row], words: &[String]) -> Result<Counted, Failure> {
    match Command::new("valgrind").arg("--version").stdout(Stdio::null()).status() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Failure::Missing),
        Err(error) => return Err(error.into()),
        Ok(_) => {}
    }
    let parts = Parts::new()?;
    let out = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--dump-before=*callgrind_part_ends_here*", "--dump-line=no"])
        .arg(format!("--callgrind-out-file={}", parts.file().display()))
        .arg(std::env::current_exe()?)
        .arg(BELOW)
        .args(words)
        .output()?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        return Err(Failure::Run(format!("below callgrind: {}\n{said}", out.status)));
    }
    let features = String::from_utf8_lossy(&out.stdout).trim().to_owned();

    let each = rows.iter().enumerate().map(|(at, row)| {
        // The first is what came before the first mark.
        let part = |of| parts.instructions(at * PARTS + of);
        let (few, twice) = (part(4)?, part(6)?);
        Ok((twice - few) / row.units as f64)
    });
    let each = each.collect::<Result<_, Failure>>()?;
    Ok(Counted { machine: format!("{}, {}, {features}", said_by("rustc", "-V")?, c_library()?), each })
}

/// Says what code may choose by, as it is below callgrind.
pub(crate) fn features() {
    #[cfg(target_arch = "x86_64")]
    println!(
        "x86_64, {}",
        match (is_x86_feature_detected!("avx2"), is_x86_feature_detected!("sse4.2")) {
            (true, _) => "AVX2",
            (false, true) => "SSE4.2",
            _ => "SSE2",
        }
    );
    #[cfg(not(target_arch = "x86_64"))]
    println!("{}", std::env::consts::ARCH);
}

fn said_by(program: &str, argument: &str) -> Result<String, Failure> {
    let out = Command::new(program).arg(argument).output()?;
    Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

fn c_library() -> Result<String, Failure> {
    said_by("getconf", "GNU_LIBC_VERSION")
}

/// The files that callgrind writes, gone when this is.
struct Parts(PathBuf);

impl Parts {
    fn new() -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("a2a-guard-instructions-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    fn file(&self) -> PathBuf {
        self.0.join("out")
    }

    /// What the `at`-th part says, from 1 on.
    fn instructions(&self, at: usize) -> Result<f64, Failure> {
        let path = self.0.join(format!("out.{at}"));
        let text = fs::read_to_string(&path).map_err(|error| missing(&path, &error))?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).and_then(|of| of.trim().parse().ok());
        total.ok_or_else(|| Failure::Run(format!("{} has no totals", path.display())))
    }
}

fn missing(path: &Path, error: &io::Error) -> Failure {
    Failure::Run(format!("callgrind has not written {}: {error}", path.display()))
}

impl Drop for Parts {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
