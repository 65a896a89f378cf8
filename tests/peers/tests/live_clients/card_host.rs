//! The card of an agent that speaks gRPC alone, at a host of its own: over gRPC nobody asks for one.

use std::net::{Ipv4Addr, SocketAddr};

use axum::{Json, Router, routing::get};
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};

pub(crate) struct CardHost {
    pub(crate) addr: SocketAddr,
    serving: JoinHandle<()>,
}

impl CardHost {
    /// Shows the card of the server at `http`, with its gRPC interface alone, and that at `grpc`.
    pub(crate) async fn start(http: SocketAddr, grpc: SocketAddr) -> Result<Self, String> {
        let card = card_of(http).await.map_err(|error| format!("the card of {http}: {error}"))?;
        let card = showing(card, grpc);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|error| error.to_string())?;
        let addr = listener.local_addr().map_err(|error| error.to_string())?;
        let app = Router::new().route("/.well-known/agent-card.json", get(async || Json(card)));
        let serving = tokio::spawn(async move {
            // `serve` returns only when the task is aborted.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { addr, serving })
    }
}

impl Drop for CardHost {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn card_of(at: SocketAddr) -> Result<Value, Box<dyn std::error::Error>> {
    let answer = reqwest::get(format!("http://{at}/.well-known/agent-card.json")).await?.error_for_status()?;
    Ok(serde_json::from_slice(&answer.bytes().await?)?)
}

fn showing(mut card: Value, grpc: SocketAddr) -> Value {
    if let Some(interfaces) = card["supportedInterfaces"].as_array_mut() {
        interfaces.retain(|interface| interface["protocolBinding"] == "GRPC");
        interfaces.iter_mut().for_each(|interface| interface["url"] = grpc.to_string().into());
        return card;
    }
    // 0.3 has the one that it prefers on the card itself.
    card["url"] = grpc.to_string().into();
    card["preferredTransport"] = "GRPC".into();
    card["additionalInterfaces"] = Value::Array(Vec::new());
    card
}
