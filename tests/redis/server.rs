//! A server of the test's own: on a port that was free, with nothing kept, and gone with the test.

use std::{
    io::{ErrorKind, Write},
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::{Duration, Instant},
};

use redis::{AsyncConnectionConfig, aio::MultiplexedConnection, cmd};

/// For whatever is waited for. Nothing takes this long but what never comes.
const DEADLINE: Duration = Duration::from_secs(30);

/// Asks again and again, until there is an answer.
pub(crate) async fn until<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = seen() {
            return seen;
        }
        assert!(begun.elapsed() < DEADLINE, "not seen in {DEADLINE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The same for what is true or not.
pub(crate) async fn until_true(what: &str, seen: impl Fn() -> bool) {
    until(what, || seen().then_some(())).await;
}

pub(crate) struct Server {
    program: &'static str,
    port: u16,
    dir: PathBuf,
    child: Option<Child>,
}

impl Server {
    /// `None`, and a word on stderr, where no server is installed.
    pub(crate) async fn start() -> Option<Self> {
        let Some(program) = ["redis-server", "valkey-server"].into_iter().find(|program| is_installed(program)) else {
            let thread = std::thread::current();
            // The macros' output is shown for tests that fail, and this one does not.
            let mut stderr = std::io::stderr();
            writeln!(stderr, "NOT RUN: {}: no redis-server here", thread.name().unwrap_or_default()).unwrap();
            return None;
        };
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("a2a-guard-redis-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        let mut server = Self { program, port: 0, dir, child: None };
        // Somebody else may take the port in between.
        for _ in 0..5 {
            server.port = free_port();
            if server.try_run().await {
                return Some(server);
            }
        }
        panic!("{program} does not start");
    }

    /// On the same port, and with nothing of what it held.
    pub(crate) async fn restart(&mut self) {
        self.kill();
        // Somebody else may have the port for a moment.
        for _ in 0..50 {
            if self.try_run().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{} does not start again", self.program);
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    async fn try_run(&mut self) -> bool {
        let child = Command::new(self.program)
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(["--daemonize", "no", "--databases", "16", "--dir"])
            .arg(&self.dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        self.child = Some(child);
        let begun = Instant::now();
        while begun.elapsed() < DEADLINE {
            if self.child.as_mut().unwrap().try_wait().unwrap().is_some() {
                return false;
            }
            // It is this one that answers, and no other that was there before.
            if let Ok(mut client) = self.try_client().await
                && let Ok(info) = cmd("INFO").arg("server").query_async::<String>(&mut client).await
            {
                return info.contains(&format!("process_id:{pid}\r\n"));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        false
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    async fn try_client(&self) -> redis::RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(DEADLINE));
        redis::Client::open(self.url())?.get_multiplexed_async_connection_with_config(&config).await
    }

    /// Somebody else's connection to it.
    pub(crate) async fn client(&self) -> MultiplexedConnection {
        self.try_client().await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

fn is_installed(program: &str) -> bool {
    let run = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match run {
        Ok(status) => status.success(),
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => panic!("{program}: {error}"),
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
