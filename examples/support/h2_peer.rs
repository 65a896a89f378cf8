//! A peer over HTTP/2 that does exactly what its script says, for examples and tests of the gRPC binding.
//!
//! It speaks cleartext HTTP/2 over a loopback socket by way of the crate `h2`, whose calls are frames: each chunk of a
//! script is a DATA frame of its own, and every ending is the script's. It answers each request with one script, and
//! remembers what it was asked.
//!
//! ```ignore
//! let peer = Peer::serve([Script::grpc().message(task).end(End::Reset(Reason::CANCEL))]).await?;
//! // … dial peer.addr(), send the request …
//! assert_eq!(peer.requests().len(), 1);
//! ```

use std::{
    future::poll_fn,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
pub(crate) use h2::Reason;
use h2::{
    RecvStream, SendStream,
    server::{Builder, SendResponse},
};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
    time::{Instant, sleep},
};

use super::peer::{Chunk, Request};

/// Repeated data is sent in blocks of about this size.
const BLOCK: usize = 16 * 1024;

/// What one request is answered with.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The status of the head; `None` for no head and no body at all.
    pub(crate) status: Option<u16>,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// The body, a DATA frame each.
    pub(crate) chunks: Vec<Chunk>,
    /// What comes after the last piece.
    pub(crate) end: End,
    /// The window that the caller may send its request into (SETTINGS_INITIAL_WINDOW_SIZE); of the first script alone.
    pub(crate) window: Option<u32>,
    /// Whether the request is read before anything is done (it is, unless a script says otherwise).
    pub(crate) reads_request: bool,
}

/// How a stream ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With END_STREAM on the last DATA frame, or on the head if there is none: no trailers.
    Eof,
    /// With trailers.
    Trailers(HeaderMap),
    /// Never: the peer falls silent until the caller resets the stream.
    Hang,
    /// With RST_STREAM.
    Reset(Reason),
    /// With GOAWAY, and the end of the connection.
    GoAway(Reason),
    /// With the end of the connection alone.
    Cut,
}

impl Script {
    /// An answer with this status and no headers.
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status: Some(status),
            headers: HeaderMap::new(),
            chunks: Vec::new(),
            end: End::Eof,
            window: None,
            reads_request: true,
        }
    }

    /// 200 with `application/grpc`, no message yet.
    pub(crate) fn grpc() -> Self {
        Self::new(200).header("content-type", "application/grpc")
    }

    /// Trailers-only: a head that says how the call ended, and nothing else.
    pub(crate) fn trailers_only(code: i32, message: &str) -> Self {
        Self::grpc().header("grpc-status", &code.to_string()).header("grpc-message", message)
    }

    /// No head, no body: the request is read, and this is what follows.
    pub(crate) fn silent(end: End) -> Self {
        Self { status: None, ..Self::new(200) }.end(end)
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        append(&mut self.headers, name, value);
        self
    }

    /// Adds a DATA frame.
    pub(crate) fn chunk(mut self, chunk: impl Into<Chunk>) -> Self {
        self.chunks.push(chunk.into());
        self
    }

    /// Adds a message, in a DATA frame of its own.
    pub(crate) fn message(self, message: impl AsRef<[u8]>) -> Self {
        self.chunk(framed(message))
    }

    /// Says how the stream ends.
    pub(crate) fn end(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// Ends with trailers: this status, and a message if there is one.
    pub(crate) fn status(self, code: i32, message: &str) -> Self {
        let mut trailers = HeaderMap::new();
        append(&mut trailers, "grpc-status", &code.to_string());
        if !message.is_empty() {
            append(&mut trailers, "grpc-message", message);
        }
        self.end(End::Trailers(trailers))
    }

    /// Adds a trailer to those it ends with.
    pub(crate) fn trailer(mut self, name: &str, value: &str) -> Self {
        if !matches!(self.end, End::Trailers(_)) {
            self.end = End::Trailers(HeaderMap::new());
        }
        if let End::Trailers(trailers) = &mut self.end {
            append(trailers, name, value);
        }
        self
    }

    /// The window that the caller may send its request into.
    pub(crate) fn window(self, bytes: u32) -> Self {
        Self { window: Some(bytes), ..self }
    }

    /// Answers as soon as the head of the request came.
    pub(crate) fn without_reading(self) -> Self {
        Self { reads_request: false, ..self }
    }

    /// The whole body, as one; not for scripts that go on for ever.
    pub(crate) fn body(&self) -> Bytes {
        let pieces = self.chunks.iter().filter(|_| self.status.is_some());
        pieces.flat_map(|chunk| (0..chunk.times).flat_map(|_| chunk.data.iter().copied())).collect()
    }

    /// Whether the body has no end.
    pub(crate) fn goes_on(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.times == u64::MAX)
    }

    /// Whether it goes on as fast as the caller reads.
    pub(crate) fn floods(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.times == u64::MAX && chunk.every.is_zero())
    }

    /// Plays the script; says what is to become of the connection. An error means that the caller is gone.
    async fn play(&self, mut respond: SendResponse<Bytes>) -> Result<Then, h2::Error> {
        let Some(status) = self.status else {
            return self.finish_unanswered(respond).await;
        };
        let mut head = http::Response::new(());
        *head.status_mut() = http::StatusCode::from_u16(status).expect("a status");
        *head.headers_mut() = self.headers.clone();
        let ends = self.end == End::Eof && self.chunks.is_empty();
        let mut stream = respond.send_response(head, ends)?;
        if ends {
            return Ok(Then::Stay);
        }
        for (index, chunk) in self.chunks.iter().enumerate() {
            let last = self.end == End::Eof && index + 1 == self.chunks.len();
            send(chunk, &mut stream, last).await?;
        }
        match &self.end {
            End::Eof => {}
            End::Trailers(trailers) => stream.send_trailers(trailers.clone())?,
            End::Hang => gone(&mut stream).await?,
            End::Reset(reason) => {
                flushed().await;
                stream.send_reset(*reason);
            }
            End::GoAway(reason) => {
                flushed().await;
                return Ok(Then::GoAway(*reason));
            }
            End::Cut => {
                flushed().await;
                return Ok(Then::Cut);
            }
        }
        Ok(Then::Stay)
    }

    async fn finish_unanswered(&self, mut respond: SendResponse<Bytes>) -> Result<Then, h2::Error> {
        match self.end {
            End::Reset(reason) => respond.send_reset(reason),
            End::GoAway(reason) => return Ok(Then::GoAway(reason)),
            End::Eof | End::Cut | End::Trailers(_) => return Ok(Then::Cut),
            End::Hang => {
                poll_fn(|cx| respond.poll_reset(cx)).await?;
            }
        }
        Ok(Then::Stay)
    }
}

/// A gRPC message as it travels: not compressed, its length, itself.
pub(crate) fn framed(message: impl AsRef<[u8]>) -> Vec<u8> {
    let message = message.as_ref();
    let length = u32::try_from(message.len()).expect("a short message");
    [&[0][..], &length.to_be_bytes(), message].concat()
}

/// Appends a header whose value may have any bytes that HTTP/2 can carry.
pub(crate) fn append(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = name.parse::<HeaderName>().expect("a header's name");
    headers.append(name, HeaderValue::from_bytes(value.as_bytes()).expect("a header's value"));
}

/// What is to become of a connection once a script is played.
enum Then {
    Stay,
    GoAway(Reason),
    Cut,
}

async fn send(chunk: &Chunk, stream: &mut SendStream<Bytes>, ends: bool) -> Result<(), h2::Error> {
    pause(chunk.after).await;
    // Repetitions without a pause go out in blocks, many at once.
    let per_block = match chunk.every {
        Duration::ZERO if !chunk.data.is_empty() => (BLOCK / chunk.data.len()).max(1),
        _ => 1,
    };
    let mut left = chunk.times;
    while left > 0 {
        let times = per_block.min(left.try_into().unwrap_or(usize::MAX));
        left -= times as u64;
        let block = match times {
            1 => chunk.data.clone(),
            _ => chunk.data.repeat(times).into(),
        };
        frame(block, stream, ends && left == 0).await?;
        if left > 0 {
            pause(chunk.every).await;
        }
    }
    Ok(())
}

/// Sends bytes in one DATA frame, or in as many as the caller's window asks for.
async fn frame(mut data: Bytes, stream: &mut SendStream<Bytes>, ends: bool) -> Result<(), h2::Error> {
    loop {
        if data.is_empty() {
            tokio::task::yield_now().await; // none of them needs a window
            return stream.send_data(data, ends);
        }
        stream.reserve_capacity(data.len());
        let granted = match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(granted) => granted?,
            None => return Err(Reason::CANCEL.into()),
        };
        let part = data.split_to(granted.min(data.len()));
        let last = data.is_empty();
        stream.send_data(part, ends && last)?;
        if last {
            return Ok(());
        }
    }
}

/// Waits until the caller resets the stream.
async fn gone(stream: &mut SendStream<Bytes>) -> Result<(), h2::Error> {
    poll_fn(|cx| stream.poll_reset(cx)).await.map(drop)
}

/// A reset drops what is still to be written, and so does the end of the connection: what was said before it is part of
/// the script, so it gets the time to leave.
async fn flushed() {
    sleep(Duration::from_millis(20)).await;
}

/// Sleeps, but not at all for no time (a timer rounds up).
async fn pause(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}

async fn read(head: http::Request<RecvStream>) -> Result<Request, h2::Error> {
    let (head, mut stream) = head.into_parts();
    let mut request = Request {
        method: head.method.to_string(),
        target: head.uri.path().to_owned(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
        body: Vec::new(),
    };
    while let Some(data) = stream.data().await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        request.body.extend_from_slice(&data);
    }
    Ok(request)
}

/// The scripted peer; it stops, and drops its connections, when it is dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    addr: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Seen {
    asked: usize,
    requests: Vec<Request>,
    finished: Option<Instant>,
}

impl Peer {
    /// Serves the first script to the first request, the second to the second, and so on; the last one to all that
    /// follow.
    ///
    /// # Panics
    ///
    /// If there is no script.
    pub(crate) async fn serve(scripts: impl IntoIterator<Item = Script>) -> io::Result<Self> {
        let scripts: Arc<[_]> = scripts.into_iter().map(Arc::new).collect();
        assert!(!scripts.is_empty(), "a peer needs a script");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let accepting = tokio::spawn(accept(listener, scripts, Arc::clone(&seen)));
        Ok(Self { addr, seen, accepting })
    }

    /// Where it listens.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What it was asked so far, and read.
    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.seen).requests.clone()
    }

    /// When it last came to the end of a script; one that hangs or goes on for ever has none.
    pub(crate) fn finished(&self) -> Option<Instant> {
        lock(&self.seen).finished
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, scripts: Arc<[Arc<Script>]>, seen: Arc<Mutex<Seen>>) {
    // Dropped with this future: the connections end with the peer.
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        connections.spawn(converse(socket, Arc::clone(&scripts), Arc::clone(&seen)));
    }
}

async fn converse(socket: TcpStream, scripts: Arc<[Arc<Script>]>, seen: Arc<Mutex<Seen>>) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut settings = Builder::new();
    if let Some(window) = scripts[0].window {
        settings.initial_window_size(window);
    }
    let mut connection = settings.handshake(socket).await.map_err(io::Error::other)?;
    let mut streams = JoinSet::new();
    loop {
        tokio::select! {
            accepted = connection.accept() => {
                let Some(accepted) = accepted else { return Ok(()) };
                let (request, respond) = accepted.map_err(io::Error::other)?;
                let script = {
                    let mut seen = lock(&seen);
                    seen.asked += 1;
                    Arc::clone(&scripts[seen.asked.min(scripts.len()) - 1])
                };
                streams.spawn(answer(request, respond, script, Arc::clone(&seen)));
            }
            Some(played) = streams.join_next() => match played {
                Ok(Ok(Then::GoAway(reason))) => connection.abrupt_shutdown(reason),
                Ok(Ok(Then::Cut)) => return Ok(()),
                _ => {}
            },
        }
    }
}

async fn answer(
    request: http::Request<RecvStream>,
    respond: SendResponse<Bytes>,
    script: Arc<Script>,
    seen: Arc<Mutex<Seen>>,
) -> Result<Then, h2::Error> {
    if script.reads_request {
        let request = read(request).await?;
        lock(&seen).requests.push(request);
    }
    let then = script.play(respond).await?;
    if script.end != End::Hang {
        lock(&seen).finished = Some(Instant::now());
    }
    Ok(then)
}
