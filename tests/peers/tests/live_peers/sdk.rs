//! The SDKs whose servers are called, and their processes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long a server may take to start, on a machine that does other things too.
const START: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sdk {
    /// a2a-server-lf, the official Rust one, in a process of this program's own.
    Rust,
    /// a2a-sdk 1.3.
    Python1,
    /// a2a-sdk 0.3.
    Python03,
    /// @a2a-js/sdk 1.3.
    Js1,
    /// @a2a-js/sdk 0.3.
    Js03,
}

impl Sdk {
    pub(crate) const ALL: [Self; 5] = [Self::Rust, Self::Python1, Self::Python03, Self::Js1, Self::Js03];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python1 => "python-1.3",
            Self::Python03 => "python-0.3",
            Self::Js1 => "js-1.3",
            Self::Js03 => "js-0.3",
        }
    }

    /// The profiles that its program knows.
    pub(crate) fn profiles(self) -> &'static [&'static str] {
        match self {
            // Versions 1.x serve 0.3 as well where they are told to; the Rust server does not.
            Self::Python1 | Self::Js1 => &["full", "bare", "auth", "ext-missing", "compat"],
            Self::Rust | Self::Python03 | Self::Js03 => &["full", "bare", "auth", "ext-missing"],
        }
    }

    /// Whether `setup.sh` installed it.
    pub(crate) fn is_installed(self) -> bool {
        self == Self::Rust || self.folder().join("installed").is_file()
    }

    fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/live-peers").join(self.name())
    }

    fn command(self) -> std::io::Result<Command> {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers");
        Ok(match self {
            Self::Rust => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg(crate::rust_server::ARGUMENT);
                command
            }
            Self::Python1 | Self::Python03 => {
                let program = if self == Self::Python1 { "agent_1_3.py" } else { "agent_0_3.py" };
                let mut command = Command::new(self.folder().join("bin/python"));
                command.arg(programs.join("python").join(program)).env("PYTHONDONTWRITEBYTECODE", "1");
                command
            }
            Self::Js1 | Self::Js03 => {
                // A module's imports are looked for beside it.
                let program = beside(&self.folder(), &programs.join(self.name()).join("server.mjs"))?;
                let mut command = Command::new("node");
                command.arg(program);
                command
            }
        })
    }

    /// Starts a process with an agent for each of `profiles`; one process at a time, for to start takes them long.
    pub(crate) async fn start(self, profiles: &[&str]) -> Result<Server, String> {
        static STARTING: Mutex<()> = Mutex::const_new(());
        let _one = STARTING.lock().await;
        let failed = |what: &str| format!("{}: {what}", self.name());
        let mut command = self.command().map_err(|error| failed(&error.to_string()))?;
        let mut process = command
            .args(profiles)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log(self.name()).map_err(|error| failed(&error.to_string()))?)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let output = process.stdout.take().ok_or_else(|| failed("no standard output"))?;
        let mut lines = BufReader::new(output).lines();
        let line = match timeout(START, lines.next_line()).await {
            Ok(Ok(Some(line))) => line,
            Ok(_) => return Err(failed("ended before it listened; see its log")),
            Err(_) => return Err(failed("did not listen in time; see its log")),
        };
        let ports = serde_json::from_str(&line).map_err(|error| failed(&format!("{error} in {line:?}")))?;
        // What else it prints is nobody's business, but must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Server { process, ports })
    }
}

/// A copy of `program` in `folder`, which others may be reading: it is replaced as a whole, and only if it differs.
pub(crate) fn beside(folder: &Path, program: &Path) -> std::io::Result<PathBuf> {
    let copy = folder.join(program.file_name().unwrap_or_default());
    let text = std::fs::read(program)?;
    if std::fs::read(&copy).is_ok_and(|old| old == text) {
        return Ok(copy);
    }
    let new = copy.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&new, text)?;
    std::fs::rename(&new, &copy)?;
    Ok(copy)
}

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/live-peers/logs")
}

/// Drops what servers of former runs had to say.
pub(crate) fn clear_logs() {
    // There may be none.
    let _ = std::fs::remove_dir_all(logs());
}

/// Standard error of a server, in a file beside what is installed.
fn log(name: &str) -> std::io::Result<std::fs::File> {
    std::fs::create_dir_all(logs())?;
    std::fs::File::options().create(true).append(true).open(logs().join(format!("{name}.log")))
}

/// The process of an SDK's server. Dropping it kills it: SIGTERM would leave some of them up while a request hangs.
pub(crate) struct Server {
    process: Child,
    ports: HashMap<String, Ports>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Ports {
    pub(crate) http: u16,
    pub(crate) grpc: u16,
    /// gRPC in 0.3, where that has a port of its own.
    pub(crate) old_grpc: Option<u16>,
}

impl Server {
    pub(crate) fn ports(&self, profile: &str) -> Ports {
        self.ports[profile]
    }

    /// SIGKILL, and waits for its end.
    pub(crate) async fn kill(&mut self) {
        // It may have ended by itself, which comes to the same.
        let _ = self.process.kill().await;
    }
}
