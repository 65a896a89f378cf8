//! A live A2A peer: the official Rust server, with an agent that does what the text of a message tells it.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! let server = a2a_guard_peers::Server::start(a2a_guard_peers::Profile::Full).await?;
//! // POST server.rpc(), or server.rest() + "/message:send", with the text "task", "hang", "typed", …
//! # drop(server); Ok(())
//! # }
//! ```

mod agent;
mod grpc;
mod keep_alive;
mod script;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a::{
    A2AError, AgentCapabilities, AgentCard, AgentInterface, AgentSkill, TRANSPORT_PROTOCOL_GRPC,
    TRANSPORT_PROTOCOL_HTTP_JSON, TRANSPORT_PROTOCOL_JSONRPC,
};
use a2a_server::{
    DefaultRequestHandler, HttpPushSender, InMemoryPushConfigStore, InMemoryTaskStore, ServiceParams, StaticAgentCard,
};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use agent::ScriptedAgent;

/// What the server says it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Streaming, push notifications and the extended card.
    Full,
    /// None of them.
    Bare,
    /// All of them are declared, but there is no extended card.
    ExtendedCardMissing,
    /// All of them, for those who send `Authorization: Bearer good`. The card is for everyone.
    Auth,
}

/// A running server on a loopback port of its own. Dropping it ends it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Server {
    /// Binds a free port and serves on the current runtime.
    ///
    /// # Errors
    /// If no port of the loopback interface can be bound.
    pub async fn start(profile: Profile) -> io::Result<Self> {
        Self::serve(|address| router(profile, address, None)).await
    }

    /// The same, with a card that names a gRPC server too.
    ///
    /// # Errors
    /// If no port of the loopback interface can be bound.
    pub async fn start_beside(profile: Profile, grpc: &GrpcServer) -> io::Result<Self> {
        Self::serve(|address| router(profile, address, Some(grpc.origin()))).await
    }

    /// The same, with a keep-alive comment in every stream that is silent for `interval`. The server's own come every
    /// 15 s, which nothing can change.
    ///
    /// # Errors
    /// If no port of the loopback interface can be bound.
    pub async fn start_with_keep_alive(profile: Profile, interval: Duration) -> io::Result<Self> {
        let keep_alive = axum::middleware::map_response(move |response| keep_alive::add(response, interval));
        Self::serve(|address| router(profile, address, None).layer(keep_alive)).await
    }

    async fn serve(app: impl FnOnce(SocketAddr) -> axum::Router) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let app = app(address);
        let serving = tokio::spawn(async move {
            // `serve` returns only when the task is aborted.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { address, serving })
    }

    /// The port of the HTTP bindings, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The JSON-RPC endpoint.
    pub fn rpc(&self) -> String {
        format!("http://{}/rpc", self.address)
    }

    /// The base of the HTTP+JSON endpoints.
    pub fn rest(&self) -> String {
        format!("http://{}/rest", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The same agent over gRPC, on a port of its own. Dropping it ends it, and its connections with it.
#[derive(Debug)]
pub struct GrpcServer {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl GrpcServer {
    /// Binds a free port and serves on the current runtime.
    ///
    /// # Errors
    /// If no port of the loopback interface can be bound.
    pub async fn start(profile: Profile) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let interface = AgentInterface::new(format!("http://{address}"), TRANSPORT_PROTOCOL_GRPC);
        let (handler, _) = handler(profile, vec![interface]);
        let asked = Arc::default();
        let serving = tokio::spawn(grpc::serve(listener, handler, Arc::clone(&asked)));
        Ok(Self { address, asked, serving })
    }

    /// Its port, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many calls came to it so far.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// What a channel connects to.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for GrpcServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn router(profile: Profile, address: SocketAddr, grpc: Option<String>) -> axum::Router {
    let mut interfaces = vec![
        AgentInterface::new(format!("http://{address}/rpc"), TRANSPORT_PROTOCOL_JSONRPC),
        AgentInterface::new(format!("http://{address}/rest"), TRANSPORT_PROTOCOL_HTTP_JSON),
    ];
    interfaces.extend(grpc.map(|url| AgentInterface::new(url, TRANSPORT_PROTOCOL_GRPC)));
    let (handler, card) = handler(profile, interfaces);
    axum::Router::new()
        .nest("/rpc", a2a_server::jsonrpc::jsonrpc_router(Arc::clone(&handler)))
        .nest("/rest", a2a_server::rest::rest_router(handler))
        .merge(a2a_server::agent_card::agent_card_router(Arc::new(StaticAgentCard::new(card))))
}

fn handler(profile: Profile, interfaces: Vec<AgentInterface>) -> (Arc<DefaultRequestHandler>, AgentCard) {
    let able = profile != Profile::Bare;
    let capabilities = AgentCapabilities {
        streaming: Some(able),
        push_notifications: Some(able),
        extensions: None,
        extended_agent_card: Some(able),
    };
    let card = card(interfaces, capabilities.clone());
    let mut handler =
        DefaultRequestHandler::new(ScriptedAgent, InMemoryTaskStore::new()).with_capabilities(capabilities);
    if matches!(profile, Profile::Full | Profile::Auth) {
        let mut extended = card.clone();
        extended.name.push_str(" (extended)");
        handler = handler.with_extended_agent_card(extended);
    }
    if able {
        // Its URLs are checked as they are for everyone; nothing here ever sends a notification.
        handler = handler.with_push_notifications(InMemoryPushConfigStore::new(), HttpPushSender::new(None));
    }
    if profile == Profile::Auth {
        // The server has no error of its own for those whom it does not know: its authorizer picks one.
        handler = handler.with_authorizer(|params: &ServiceParams, _: Option<&str>| {
            match params.get("authorization").and_then(|values| values.first()) {
                Some(value) if value == "Bearer good" => Ok(()),
                _ => Err(A2AError::invalid_request("invalid token")),
            }
        });
    }
    (Arc::new(handler), card)
}

fn card(supported_interfaces: Vec<AgentInterface>, capabilities: AgentCapabilities) -> AgentCard {
    AgentCard {
        name: "scripted agent".into(),
        description: "does what the text of a message says".into(),
        version: "1.0.0".into(),
        provider: None,
        capabilities,
        skills: vec![AgentSkill {
            id: "script".into(),
            name: "script".into(),
            description: "follows the verb in the text".into(),
            tags: vec!["test".into()],
            examples: None,
            input_modes: None,
            output_modes: None,
            security_requirements: None,
        }],
        default_input_modes: vec!["text/plain".into()],
        default_output_modes: vec!["text/plain".into()],
        supported_interfaces,
        security_schemes: None,
        security_requirements: None,
        documentation_url: None,
        icon_url: None,
        signatures: None,
    }
}
