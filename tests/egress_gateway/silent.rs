//! Callers that connect, and then say nothing or not enough.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, duplex},
    time::Instant,
};

#[path = "../../examples/egress_gateway/begins.rs"]
mod begins;

use begins::Begins;

const WITHIN: Duration = Duration::from_secs(30);

/// What comes of a caller that says these, one each 9 s, and then nothing for an hour.
async fn said(pieces: &'static [&'static [u8]]) -> (Vec<u8>, Option<(io::ErrorKind, Duration)>) {
    let (mut caller, server) = duplex(1024);
    let mut server = Begins::new(server, WITHIN);
    let began = Instant::now();
    let speaking = tokio::spawn(async move {
        for piece in pieces {
            caller.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_secs(9)).await;
        }
        tokio::time::sleep(Duration::from_secs(3600)).await;
    });
    let mut read = Vec::new();
    let ended = server.read_to_end(&mut read).await.err().map(|error| (error.kind(), began.elapsed()));
    speaking.abort();
    (read, ended)
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_or_little_is_not_waited_for() {
    let pieces: [&'static [&'static [u8]]; 4] =
        [&[], &[b"P"], &[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r"], &[b"P", b"R", b"I", b" ", b"*", b" "]];
    for pieces in pieces {
        let (_, ended) = said(pieces).await;
        assert_eq!(ended, Some((io::ErrorKind::TimedOut, WITHIN)), "{pieces:?}");
    }
}

/// From then on it is for the server to say what is too slow.
#[tokio::test(start_paused = true)]
async fn whoever_has_begun_is() {
    let pieces: [&'static [&'static [u8]]; 5] = [
        &[b"G"],
        &[b"GET / HTTP/1.1\r\n"],
        &[b"PO", b"ST"],
        &[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
        &[b"PRI * HTTP/2.0", b"\r\n\r\nSM\r\n\r\n", b"more"],
    ];
    for pieces in pieces {
        assert_eq!(said(pieces).await, (pieces.concat(), None), "{pieces:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_leaves_has_left() {
    let (caller, server) = duplex(16);
    drop(caller);
    let mut read = Vec::new();
    assert_eq!(Begins::new(server, WITHIN).read_to_end(&mut read).await.unwrap(), 0);
}
