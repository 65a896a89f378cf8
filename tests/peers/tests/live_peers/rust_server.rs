//! The official Rust server as a process of its own: this program, started with [`ARGUMENT`] and the profiles.

use std::collections::BTreeMap;

use a2a_guard_peers::{GrpcServer, Profile, Server};
use serde_json::json;
use tokio::io::AsyncReadExt;

pub(crate) const ARGUMENT: &str = "serve-rust";

/// Serves until standard input ends.
pub(crate) async fn serve(profiles: impl Iterator<Item = String>) -> Result<(), String> {
    let mut running = Vec::new();
    let mut ports = BTreeMap::new();
    for name in profiles {
        let profile = match name.as_str() {
            "full" => Profile::Full,
            "bare" => Profile::Bare,
            "auth" => Profile::Auth,
            "ext-missing" => Profile::ExtendedCardMissing,
            other => return Err(format!("no profile {other:?}")),
        };
        let grpc = GrpcServer::start(profile).await.map_err(|error| error.to_string())?;
        let http = Server::start_beside(profile, &grpc).await.map_err(|error| error.to_string())?;
        ports.insert(name, json!({ "http": http.port(), "grpc": grpc.port() }));
        running.push((http, grpc));
    }
    println!("{}", json!(ports));
    let mut ignored = Vec::new();
    // An end and an error are both the parent's end.
    let _ = tokio::io::stdin().read_to_end(&mut ignored).await;
    drop(running);
    Ok(())
}
