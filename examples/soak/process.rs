//! Processes: this one's memory and CPU time, and peers that are this program started again.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use crate::BoxError;

/// So many files a process must be allowed to have open: a socket for each HTTP/1.1 stream, and some room.
const FILES: u64 = 1000;

/// A line of `/proc/self/…`, without its name.
fn line_of(file: &str, name: &str) -> Result<String, BoxError> {
    let text = fs::read_to_string(format!("/proc/self/{file}"))
        .map_err(|error| format!("/proc/self/{file} cannot be read, and nothing be measured: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line")?;
    Ok(line.to_owned())
}

/// # Errors
///
/// If the limit on open files is too low for this program.
pub(crate) fn check_limits() -> Result<(), BoxError> {
    let line = line_of("limits", "Max open files")?;
    let soft = line.split_whitespace().next().unwrap_or_default();
    match soft.parse::<u64>() {
        Ok(files) if files < FILES => {
            Err(format!("{files} open files are too few: `ulimit -n {FILES}` or more first").into())
        }
        // Or unlimited.
        _ => Ok(()),
    }
}

fn kib(name: &str) -> Result<u64, BoxError> {
    let line = line_of("status", name)?;
    Ok(line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse()?)
}

/// Resident memory, in bytes.
pub(crate) fn rss() -> Result<u64, BoxError> {
    Ok(kib("VmRSS")? << 10)
}

/// The most that it ever was.
pub(crate) fn peak_rss() -> Result<u64, BoxError> {
    Ok(kib("VmHWM")? << 10)
}

/// CPU time of all threads that there are.
pub(crate) fn cpu() -> Result<Duration, BoxError> {
    let mut nanoseconds = 0;
    for task in fs::read_dir("/proc/self/task")? {
        // A thread may have ended meanwhile.
        let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
        nanoseconds += text.split_whitespace().next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// This program again, to its end; what it prints is printed.
pub(crate) fn again<'a>(arguments: impl Iterator<Item = &'a str>) -> Result<ExitStatus, BoxError> {
    Ok(Command::new(std::env::current_exe()?).args(arguments).status()?)
}

/// A peer in a process of its own. It ends with this one.
pub(crate) struct PeerProcess {
    child: Child,
    told: ChildStdin,
    says: Lines<BufReader<ChildStdout>>,
    pub(crate) addr: SocketAddr,
}

impl PeerProcess {
    /// Starts one, on a port that is free.
    pub(crate) async fn start() -> Result<Self, BoxError> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into()).await
    }

    pub(crate) async fn start_at(addr: SocketAddr) -> Result<Self, BoxError> {
        let mut child = tokio::process::Command::new(std::env::current_exe()?)
            .args(["peer", &addr.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let told = child.stdin.take().ok_or("no way to tell the peer anything")?;
        let mut says = BufReader::new(child.stdout.take().ok_or("no way to hear the peer")?).lines();
        let addr = says.next_line().await?.ok_or("the peer did not start")?.parse()?;
        Ok(Self { child, told, says, addr })
    }

    /// How many scripted requests it got so far.
    pub(crate) async fn count(&mut self) -> Result<usize, BoxError> {
        self.told.write_all(b"count\n").await?;
        Ok(self.says.next_line().await?.ok_or("the peer is gone")?.parse()?)
    }

    /// From now on it makes the noise, and ends the good streams, that it held back.
    pub(crate) async fn go(&mut self) -> Result<(), BoxError> {
        Ok(self.told.write_all(b"go\n").await?)
    }

    /// Ends it as it stands.
    pub(crate) async fn kill(mut self) -> Result<(), BoxError> {
        Ok(self.child.kill().await?)
    }
}
