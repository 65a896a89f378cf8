//! The gateway, as a process.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

pub(crate) struct Gateway {
    pub(crate) addr: SocketAddr,
    pub(crate) admin: Option<SocketAddr>,
    child: Child,
    /// Held open: who writes a line there must find someone.
    _out: BufReader<ChildStdout>,
}

/// The example stands beside the tests, where `cargo test` builds it.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("examples/egress_gateway");
    assert!(program.exists(), "cargo build --example egress_gateway --features hyper,tower comes first");
    program
}

/// The gateway with these words on its command line.
pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(words).stdin(Stdio::null());
    command
}

impl Gateway {
    /// In front of the agent there; `words` are further options.
    pub(crate) fn start(upstream: SocketAddr, words: &[&str]) -> Self {
        let upstream = format!("http://{upstream}");
        let mut child = command(&["--listen", "127.0.0.1:0", "--upstream", &upstream])
            .args(words)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = |begin: &str| {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            let address = line.trim_end().strip_prefix(begin);
            address.unwrap_or_else(|| panic!("{line:?} does not begin with {begin:?}")).parse().unwrap()
        };
        let addr = line("listening on http://");
        let admin = words.contains(&"--admin").then(|| line("admin on http://"));
        Self { addr, admin, child, _out: out }
    }

    /// Tells it to end, as an operator does.
    pub(crate) fn terminate(&self) {
        // A shell has it built in; not each machine has a program of that name.
        let told = Command::new("sh").args(["-c", &format!("kill -TERM {}", self.child.id())]).status().unwrap();
        assert!(told.success());
    }

    /// How it ended; `None` if it has not within this time.
    pub(crate) async fn ended(&mut self, within: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            if Instant::now() > until {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
