//! The clients, each a program of its SDK's language that makes the calls that it is told to.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;

use crate::cases::Call;
use crate::rust_client;

/// How long a client may take over all that it is told to do, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// a2a-client-lf, the official Rust one.
    Rust,
    /// a2a-sdk 1.3.
    Python,
    /// @a2a-js/sdk 1.3.
    Js,
    /// a2a-sdk 0.3.
    Python03,
    /// @a2a-js/sdk 0.3.
    Js03,
}

/// What a caller has of one call.
#[derive(Debug, Deserialize)]
pub(crate) struct Ended {
    /// What came, in words, without what differs from call to call.
    pub(crate) events: Vec<String>,
    /// The SDK's name for the error.
    pub(crate) error: Option<String>,
    pub(crate) message: Option<String>,
    /// What the gateway says of it, where the SDK hands that on.
    pub(crate) outcome: Option<String>,
    pub(crate) class: Option<String>,
}

impl Ended {
    pub(crate) fn error_words(&self) -> String {
        let error = self.error.as_deref().unwrap_or("no error");
        match (&self.outcome, &self.class) {
            (Some(outcome), Some(class)) => format!("{error} {outcome}/{class}"),
            _ => error.to_owned(),
        }
    }

    /// Whether an agent said no; anything else that ends a call is no answer to compare.
    pub(crate) fn refused(&self) -> bool {
        let words = ["content type", "only text", "415 Unsupported Media Type"];
        self.message.as_deref().is_some_and(|message| words.iter().any(|word| message.contains(word)))
    }

    /// The error's text, without the time that a server puts into it.
    pub(crate) fn said(&self) -> Option<&str> {
        self.message.as_deref().map(|message| message.split(" Data: ").next().unwrap_or_default())
    }

    pub(crate) fn words(&self) -> String {
        match &self.error {
            Some(_) => format!("{} events, {}", self.events.len(), self.error_words()),
            None => format!("{} events, the same", self.events.len()),
        }
    }
}

impl Client {
    pub(crate) const ALL: [Self; 5] = [Self::Rust, Self::Python, Self::Js, Self::Python03, Self::Js03];

    /// Whether it speaks 0.3, and nothing else.
    pub(crate) fn is_old(self) -> bool {
        matches!(self, Self::Python03 | Self::Js03)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python-1.3",
            Self::Js => "js-1.3",
            Self::Python03 => "python-0.3",
            Self::Js03 => "js-0.3",
        }
    }

    pub(crate) fn is_installed(self) -> bool {
        self == Self::Rust || self.folder().join("installed").is_file()
    }

    fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/live-peers").join(self.name())
    }

    /// Makes these calls, one after the other, to the agent whose card is there.
    pub(crate) async fn call(self, at: SocketAddr, calls: &[Call]) -> Result<Vec<Ended>, String> {
        let base = format!("http://{at}");
        if self == Self::Rust {
            return Ok(rust_client::call(&base, calls).await);
        }
        let words: Vec<_> = calls.iter().map(|call| [call.binding, call.case.mode, call.case.text]).collect();
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers");
        let mut command = match self {
            Self::Js | Self::Js03 => {
                // A module's imports are looked for beside it.
                let program = crate::sdk::beside(&self.folder(), &programs.join(self.name()).join("client.mjs"));
                let mut command = Command::new("node");
                command.arg(program.map_err(|error| error.to_string())?);
                command
            }
            _ => {
                let program = if self.is_old() { "client_0_3.py" } else { "client_1_3.py" };
                let mut command = Command::new(self.folder().join("bin/python"));
                command.arg(programs.join("python").join(program)).env("PYTHONDONTWRITEBYTECODE", "1");
                command
            }
        };
        command.arg(base).arg(serde_json::json!(words).to_string());
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = match timeout(PATIENCE, command.output()).await {
            Ok(output) => output.map_err(|error| format!("{}: {error}", self.name()))?,
            Err(_) => return Err(format!("{} did not come to an end", self.name())),
        };
        let mut ends: Vec<Ended> = serde_json::from_slice(&output.stdout).map_err(|error| {
            let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            format!("{}: {error} in {out:?}: {said}", self.name())
        })?;
        if ends.len() != calls.len() {
            return Err(format!("{}: {} answers to {} calls", self.name(), ends.len(), calls.len()));
        }
        // Some name the address that they called.
        let here = at.to_string();
        for message in ends.iter_mut().filter_map(|ended| ended.message.as_mut()) {
            *message = message.replace(&here, "the agent");
        }
        Ok(ends)
    }
}
