//! A peer that does exactly what its script says, for examples and tests.
//!
//! It speaks HTTP/1.1 over a loopback socket without an HTTP library in between, so that every
//! byte and every ending is the script's: a head that trickles, a body that is cut, a reset after
//! the second event, bytes that are no HTTP at all. It reads one request per connection, answers
//! with one script, and remembers what it was asked.
//!
//! ```ignore
//! let peer = Peer::serve([Script::sse().chunk("data: {}\n\n").end(End::Hang)]).await?;
//! // … dial peer.addr(), send the request …
//! assert_eq!(peer.requests().len(), 1);
//! ```

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
    time::{Instant, sleep},
};

/// Repeated data is written in blocks of about this size.
const BLOCK: usize = 64 * 1024;

/// What one connection is answered with.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The status of the head; `None` for no head and no body at all.
    pub(crate) status: Option<u16>,
    /// The headers, in order, besides those that `framing` adds.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, piece by piece.
    pub(crate) chunks: Vec<Chunk>,
    /// How the connection ends after the last piece.
    pub(crate) end: End,
    /// How the body is framed.
    pub(crate) framing: Framing,
    /// Whether the request is read before anything is done (it is, unless a script says otherwise).
    pub(crate) reads_request: bool,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Properly: the body is closed as its framing demands, then the connection.
    Eof,
    /// Never: the peer falls silent and holds the connection until the caller closes it.
    Hang,
    /// With a TCP reset.
    Reset,
    /// The connection is closed, the body is not: no last chunk, or fewer bytes than declared.
    Cut,
}

/// How the bytes of a body are put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Chunked transfer coding; every piece is a chunk of its own.
    Chunked,
    /// `content-length`, counted by the peer.
    Length,
    /// As they are, behind the script's own headers (a `content-length` that lies, say); without
    /// such a header the body lasts until the connection is closed.
    Bare,
    /// The pieces are all there is, the head included: nothing is added to them.
    Raw,
}

/// A piece of a body: data, sent `times` over.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) after: Duration,
    pub(crate) every: Duration,
    pub(crate) data: Bytes,
    pub(crate) times: u64,
}

impl Chunk {
    /// Sends `data` once, at once.
    pub(crate) fn new(data: impl Into<Bytes>) -> Self {
        Self { after: Duration::ZERO, every: Duration::ZERO, data: data.into(), times: 1 }
    }

    /// Waits before the data.
    pub(crate) fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }

    /// Sends the data `times` over.
    pub(crate) fn times(self, times: u64) -> Self {
        Self { times, ..self }
    }

    /// Sends the data until the caller is gone.
    pub(crate) fn forever(self) -> Self {
        self.times(u64::MAX)
    }

    /// Waits between one repetition and the next.
    pub(crate) fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }
}

impl<T: Into<Bytes>> From<T> for Chunk {
    fn from(data: T) -> Self {
        Self::new(data)
    }
}

impl Script {
    /// An answer with this status and no headers; chunked, and ended properly.
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status: Some(status),
            headers: Vec::new(),
            chunks: Vec::new(),
            end: End::Eof,
            framing: Framing::Chunked,
            reads_request: true,
        }
    }

    /// 200 with `application/json` and this body.
    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self::new(200).header("content-type", "application/json").framing(Framing::Length).chunk(body.into())
    }

    /// 200 with `text/event-stream`, no event yet.
    pub(crate) fn sse() -> Self {
        Self::new(200).header("content-type", "text/event-stream")
    }

    /// No head, no body: the request is read, and this is what follows.
    pub(crate) fn silent(end: End) -> Self {
        Self { status: None, ..Self::new(200) }.end(end)
    }

    /// Whatever its chunks say, head included.
    pub(crate) fn raw() -> Self {
        Self::new(200).framing(Framing::Raw)
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a piece of the body.
    pub(crate) fn chunk(mut self, chunk: impl Into<Chunk>) -> Self {
        self.chunks.push(chunk.into());
        self
    }

    /// Says how the connection ends.
    pub(crate) fn end(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// Says how the body is framed.
    pub(crate) fn framing(self, framing: Framing) -> Self {
        Self { framing, ..self }
    }

    /// Answers (or hangs up) as soon as the connection stands, without a look at the request.
    pub(crate) fn without_reading(self) -> Self {
        Self { reads_request: false, ..self }
    }

    /// The whole body, as one; not for scripts that go on for ever.
    pub(crate) fn body(&self) -> Bytes {
        if !self.has_body() {
            return Bytes::new();
        }
        let pieces = self.chunks.iter();
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

    /// The first header of this name.
    pub(crate) fn header_value(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let header = headers.find(|(n, _)| n.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.as_str())
    }

    fn has_body(&self) -> bool {
        !matches!(self.status, None | Some(100..=199 | 204 | 304))
    }

    /// Status line and headers. The peer takes one request per connection, and says so.
    fn head(&self, status: u16) -> String {
        let mut head = format!("HTTP/1.1 {status} \r\n");
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.has_body() {
            match self.framing {
                Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
                Framing::Length => {
                    let length = self.chunks.iter();
                    let length: u64 = length.map(|c| c.data.len() as u64 * c.times).sum();
                    head.push_str(&format!("content-length: {length}\r\n"));
                }
                Framing::Bare | Framing::Raw => {}
            }
        }
        head.push_str("connection: close\r\n\r\n");
        head
    }

    /// Plays the script. An error means that the caller is gone, and with it the audience.
    async fn play(&self, mut socket: BufReader<TcpStream>) -> io::Result<()> {
        if let Some(status) = self.status {
            if self.framing != Framing::Raw {
                socket.write_all(self.head(status).as_bytes()).await?;
            }
            if self.has_body() {
                for chunk in &self.chunks {
                    self.send(chunk, &mut socket).await?;
                }
                if self.framing == Framing::Chunked && self.end == End::Eof {
                    socket.write_all(b"0\r\n\r\n").await?;
                }
            }
        }
        let mut socket = socket.into_inner();
        match self.end {
            End::Eof | End::Cut => socket.shutdown().await,
            End::Hang => {
                let mut ignored = [0; 1024];
                while socket.read(&mut ignored).await? > 0 {}
                Ok(())
            }
            End::Reset => {
                // A reset may overtake bytes that are still on their way; what was said before it
                // is part of the script, so it gets the time to arrive.
                sleep(Duration::from_millis(20)).await;
                socket.set_zero_linger()
            }
        }
    }

    async fn send(&self, chunk: &Chunk, socket: &mut BufReader<TcpStream>) -> io::Result<()> {
        pause(chunk.after).await;
        if chunk.data.is_empty() {
            return Ok(()); // as a chunk it would be the last one
        }
        // Repetitions without a pause go out in blocks, many at once.
        let per_block = match chunk.every {
            Duration::ZERO => (BLOCK / chunk.data.len()).max(1),
            _ => 1,
        };
        let mut left = chunk.times;
        while left > 0 {
            let times = per_block.min(left.try_into().unwrap_or(usize::MAX));
            let mut block = chunk.data.repeat(times);
            if self.framing == Framing::Chunked {
                block = chunked(&block);
            }
            socket.write_all(&block).await?;
            left -= times as u64;
            if left > 0 {
                pause(chunk.every).await;
            }
        }
        Ok(())
    }
}

/// Sleeps, but not at all for no time (a timer rounds up).
async fn pause(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}

/// One chunk of chunked transfer coding.
fn chunked(data: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
    chunk.extend_from_slice(data);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// A request as the peer read it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// `POST`
    pub(crate) method: String,
    /// `/a2a`: the request target as it was sent
    pub(crate) target: String,
    /// Names in lower case, in the order they came.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, its transfer coding undone.
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The first header of this (lower-case) name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    async fn read(socket: &mut BufReader<TcpStream>) -> io::Result<Self> {
        let mut request = Self::default();
        let first = line(socket).await?;
        let mut words = first.split(' ');
        request.method = words.next().unwrap_or_default().to_owned();
        request.target = words.next().unwrap_or_default().to_owned();
        loop {
            let line = line(socket).await?;
            match line.split_once(':') {
                Some((name, value)) => {
                    let header = (name.to_ascii_lowercase(), value.trim().to_owned());
                    request.headers.push(header);
                }
                None => break,
            }
        }
        if request.header("transfer-encoding").is_some() {
            loop {
                let size = line(socket).await?;
                let size = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
                let start = request.body.len();
                request.body.resize(start + size, 0);
                socket.read_exact(&mut request.body[start..]).await?;
                line(socket).await?;
                if size == 0 {
                    break;
                }
            }
        } else if let Some(length) = request.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            request.body.resize(length, 0);
            socket.read_exact(&mut request.body).await?;
        }
        Ok(request)
    }
}

async fn line(socket: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    match socket.read_line(&mut line).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().to_owned()),
    }
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
    requests: Vec<Request>,
    finished: Option<Instant>,
}

impl Peer {
    /// Serves the first script to the first connection, the second to the second, and so on; the
    /// last one to all that follow.
    ///
    /// # Panics
    ///
    /// If there is no script.
    pub(crate) async fn serve(scripts: impl IntoIterator<Item = Script>) -> io::Result<Self> {
        let scripts: Vec<_> = scripts.into_iter().map(Arc::new).collect();
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

    /// What it was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen().requests.clone()
    }

    /// When it last came to the end of a script; one that hangs or goes on for ever has none.
    pub(crate) fn finished(&self) -> Option<Instant> {
        self.seen().finished
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, scripts: Vec<Arc<Script>>, seen: Arc<Mutex<Seen>>) {
    // Dropped with this future: the connections end with the peer.
    let mut connections = JoinSet::new();
    let mut accepted = 0;
    while let Ok((socket, _)) = listener.accept().await {
        let script = Arc::clone(&scripts[accepted.min(scripts.len() - 1)]);
        accepted += 1;
        connections.spawn(converse(socket, script, Arc::clone(&seen)));
    }
}

async fn converse(socket: TcpStream, script: Arc<Script>, seen: Arc<Mutex<Seen>>) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut socket = BufReader::new(socket);
    if script.reads_request {
        let request = Request::read(&mut socket).await?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).requests.push(request);
    }
    script.play(socket).await?;
    if script.end != End::Hang {
        seen.lock().unwrap_or_else(PoisonError::into_inner).finished = Some(Instant::now());
    }
    Ok(())
}
