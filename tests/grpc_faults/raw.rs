//! A peer that writes its own HTTP/2 frames, for what no HTTP/2 library would send.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::sleep,
};

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The caller's only stream.
const STREAM: u32 = 1;
/// `PRI * HTTP/2.0` and so on (RFC 9113 §3.4).
const PREFACE: usize = 24;

/// What the peer does once it has the request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Write(Vec<u8>),
    /// Again and again, after a pause each.
    Forever(Vec<u8>, Duration),
    Hang,
}

/// What it does, and from when on.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) acts: Vec<Act>,
    /// Whether it is an HTTP/2 peer at all: says SETTINGS, and waits for the request.
    pub(crate) greets: bool,
}

/// A peer that greets, reads the request, and then does this.
pub(crate) fn raw(acts: impl IntoIterator<Item = Act>) -> Raw {
    Raw { acts: acts.into_iter().collect(), greets: true }
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

pub(crate) fn data(payload: &[u8]) -> Vec<u8> {
    frame(0, 0, STREAM, payload)
}

/// A HEADERS frame, uncompressed.
pub(crate) fn headers(fields: &[(&str, &str)], ends: bool) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0); // a literal, not indexed, with its name (RFC 7541 §6.2.2)
        for text in [name, value] {
            block.push(u8::try_from(text.len()).ok().filter(|length| *length < 127).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
    }
    frame(1, END_HEADERS | if ends { END_STREAM } else { 0 }, STREAM, &block)
}

/// The head of a gRPC answer.
pub(crate) fn head() -> Vec<u8> {
    headers(&[(":status", "200"), ("content-type", "application/grpc")], false)
}

/// DATA behind and before padding (RFC 9113 §6.1).
pub(crate) fn padded_data(payload: &[u8]) -> Vec<u8> {
    const PADDED: u8 = 8;
    frame(0, PADDED, STREAM, &[&[9], payload, &[0; 9]].concat())
}

/// A HEADERS frame cut in two, the second a CONTINUATION.
pub(crate) fn continued(headers: &[u8]) -> Vec<u8> {
    const HEAD: usize = 9;
    let (flags, block) = (headers[4], &headers[HEAD..]);
    let (first, second) = block.split_at(block.len() / 2);
    [frame(1, flags & !END_HEADERS, STREAM, first), frame(9, END_HEADERS, STREAM, second)].concat()
}

/// GOAWAY, which says up to which stream requests were, or may have been, worked on.
pub(crate) fn go_away(last_stream: u32, code: u32) -> Vec<u8> {
    frame(7, 0, 0, &[last_stream.to_be_bytes(), code.to_be_bytes()].concat())
}

pub(crate) fn reset(code: u32) -> Vec<u8> {
    frame(3, 0, STREAM, &code.to_be_bytes())
}

pub(crate) fn ping() -> Vec<u8> {
    frame(6, 0, 0, &[7; 8])
}

/// Serves one connection after the other; stops when dropped.
pub(crate) struct RawPeer {
    pub(crate) addr: SocketAddr,
    serving: JoinHandle<()>,
}

impl RawPeer {
    pub(crate) async fn serve(script: Raw) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // A caller that is gone ends it.
                let _ = play(socket, &script).await;
            }
        });
        Ok(Self { addr, serving })
    }
}

impl Drop for RawPeer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn play(mut socket: TcpStream, script: &Raw) -> io::Result<()> {
    socket.set_nodelay(true)?;
    if script.greets {
        socket.write_all(&frame(4, 0, 0, &[])).await?;
        read_request(&mut socket).await?;
        socket.write_all(&frame(4, 1, 0, &[])).await?;
    }
    for act in &script.acts {
        match act {
            Act::Write(bytes) => socket.write_all(bytes).await?,
            Act::Forever(bytes, every) => loop {
                socket.write_all(bytes).await?;
                sleep(*every).await;
            },
            Act::Hang => {
                let mut ignored = [0; 1024];
                while socket.read(&mut ignored).await? > 0 {}
            }
        }
    }
    // What was written last gets the time to arrive.
    sleep(Duration::from_millis(20)).await;
    Ok(())
}

/// Up to the frame that ends the stream.
async fn read_request(socket: &mut TcpStream) -> io::Result<()> {
    socket.read_exact(&mut [0; PREFACE]).await?;
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).await?;
        if kind <= 1 && flags & END_STREAM != 0 {
            return Ok(());
        }
    }
}
