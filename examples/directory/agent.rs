//! An agent on loopback: its card, and what it does about calls.

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    /// The work, which takes so long.
    Work(Duration),
    /// Says that it has not got what its card says.
    Refuse,
    /// Is not there any more: neither it nor its card.
    Gone,
}

pub(crate) struct Agent {
    pub(crate) name: &'static str,
    addr: SocketAddr,
    state: Arc<State>,
    running: Option<JoinHandle<()>>,
}

struct State {
    does: Mutex<Does>,
    done: AtomicUsize,
    secrets: AtomicUsize,
}

impl Agent {
    pub(crate) async fn start(name: &'static str, does: Does) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let state = State { does: Mutex::new(does), done: AtomicUsize::new(0), secrets: AtomicUsize::new(0) };
        let state = Arc::new(state);
        let running = Some(tokio::spawn(serve(listener, Arc::clone(&state))));
        Ok(Self { name, addr, state, running })
    }

    pub(crate) fn base(&self) -> Result<Uri, http::uri::InvalidUri> {
        format!("http://{}/", self.addr).parse()
    }

    pub(crate) fn does(&self, does: Does) {
        *self.state.does.lock().unwrap_or_else(PoisonError::into_inner) = does;
    }

    /// All its connections break off, and nobody listens any more.
    pub(crate) async fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
            let _it_is_gone = running.await;
            // Its clients are to have seen it, too.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// At the same place.
    pub(crate) async fn revive(&mut self) -> io::Result<()> {
        let listener = TcpListener::bind(self.addr).await?;
        self.running = Some(tokio::spawn(serve(listener, Arc::clone(&self.state))));
        Ok(())
    }

    /// How much work it did.
    pub(crate) fn done(&self) -> usize {
        self.state.done.load(Ordering::Relaxed)
    }

    /// How many requests came with credentials.
    pub(crate) fn secrets(&self) -> usize {
        self.state.secrets.load(Ordering::Relaxed)
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    let Ok(addr) = listener.local_addr() else { return };
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let _ = socket.set_nodelay(true);
        let state = Arc::clone(&state);
        let answering = service_fn(move |request| answer(request, addr, Arc::clone(&state)));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answering));
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    request: Request<Incoming>,
    addr: SocketAddr,
    state: Arc<State>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let does = *state.does.lock().unwrap_or_else(PoisonError::into_inner);
    let json = |status, body: Value| {
        let mut response = Response::new(Full::from(body.to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
        response
    };
    if matches!(does, Does::Gone) {
        let mut gone = Response::new(Full::default());
        *gone.status_mut() = StatusCode::GONE;
        return Ok(gone);
    }
    if request.method() == Method::GET {
        return Ok(json(StatusCode::OK, card(addr)));
    }
    if request.headers().contains_key("authorization") {
        state.secrets.fetch_add(1, Ordering::Relaxed);
    }
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let call: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut answer = json!({"jsonrpc": "2.0", "id": call["id"]});
    match does {
        Does::Work(takes) => {
            tokio::time::sleep(takes).await;
            state.done.fetch_add(1, Ordering::Relaxed);
            answer["result"] =
                json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Good day"}]}});
        }
        Does::Refuse | Does::Gone => {
            answer["error"] = json!({"code": -32004, "message": "This skill is not available"});
        }
    }
    Ok(json(StatusCode::OK, answer))
}

fn card(addr: SocketAddr) -> Value {
    json!({
        "name": "The best translator", "description": "Translates everything", "version": "1",
        "supportedInterfaces": [{"url": format!("http://{addr}/"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "translate", "name": "Translate", "description": "Translates a contract, a letter, a menu",
            "tags": ["language"]}],
    })
}
