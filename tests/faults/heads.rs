//! What goes wrong before a body begins, or with the head itself.

use super::{Fault, HEAD, MARGIN, ms};
use crate::{
    peer::{Chunk, End, Framing, Script},
    support::{Ask, rpc, task},
};

const LOST: &str = "transport/connection_lost";
const CONNECT: &str = "transport/connect";

/// The bytes of the answer, head included, are the whole script.
fn raw(name: &'static str, bytes: impl Into<Chunk>, expected: &'static str) -> Fault {
    Fault::new(name, Ask::Get, Script::raw().chunk(bytes), expected)
}

/// A good answer as it looks on the wire, behind something else.
fn behind(before: &str) -> String {
    let body = rpc(GOOD);
    let length = body.len();
    let head = format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    format!("{before}HTTP/1.1 200 OK\r\n{head}{body}")
}

const GOOD: &str = r#"{"id":"task-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}"#;

pub(super) fn faults() -> Vec<Fault> {
    [no_answer(), unfinished(), no_http(), informational(), odd_but_good()].into_iter().flatten().collect()
}

fn no_answer() -> Vec<Fault> {
    let silent = |name, ask, end, expected| Fault::new(name, ask, Script::silent(end), expected);
    let deaf = |name, end, expected| {
        let script = Script::silent(end).without_reading();
        Fault::new(name, Ask::Send, script, expected)
    };
    vec![
        silent("nobody listens", Ask::Send, End::Hang, CONNECT).without_peer(),
        deaf("accepted, never read", End::Hang, "timeout/head").due(HEAD),
        // A client that learns of it before it has begun to send has sent nothing.
        deaf("closed when accepted", End::Eof, LOST).or(CONNECT),
        deaf("reset when accepted", End::Reset, LOST).or(CONNECT),
        silent("no answer to a send", Ask::Send, End::Hang, "timeout/head").due(HEAD),
        silent("no answer to a stream", Ask::Stream, End::Hang, "timeout/head").due(HEAD),
        silent("no answer to a REST send", Ask::RestSend, End::Hang, "timeout/head").due(HEAD),
        silent("no answer to a REST stream", Ask::RestStream, End::Hang, "timeout/head").due(HEAD),
        silent("closed without an answer", Ask::Send, End::Eof, LOST),
        silent("closed without a stream", Ask::Stream, End::Eof, LOST),
        silent("reset instead of an answer", Ask::Send, End::Reset, LOST),
        silent("reset instead of a REST answer", Ask::RestGet, End::Reset, LOST),
        Fault::new(
            "the head comes after its bound",
            Ask::Send,
            Script::raw().chunk(Chunk::new(behind("")).after(ms(HEAD + MARGIN))),
            "timeout/head",
        )
        .due(HEAD),
    ]
}

fn unfinished() -> Vec<Fault> {
    let cut = "HTTP/1.1 200 OK\r\ncontent-ty";
    let ends = |name, bytes: &'static str, end, expected| {
        let script = Script::raw().chunk(bytes).end(end);
        Fault::new(name, Ask::Send, script, expected)
    };
    // Not so fast that there are more headers, before the bound, than a client takes.
    let drip = |data: &'static str| Chunk::new(data).forever().every(ms(50));
    vec![
        ends("half a status line, then silence", "HTTP/1.1 2", End::Hang, "timeout/head").due(HEAD),
        ends("half a status line, then closed", "HTTP/1.1 2", End::Eof, LOST),
        ends("half a status line, then reset", "HTTP/1.1 2", End::Reset, LOST),
        ends("half a head, then silence", cut, End::Hang, "timeout/head").due(HEAD),
        ends("half a head, then closed", cut, End::Eof, LOST),
        ends("half a head, then reset", cut, End::Reset, LOST),
        Fault::new(
            "a header value that drips for ever",
            Ask::Send,
            Script::raw().chunk("HTTP/1.1 200 OK\r\nx: ").chunk(drip("y")),
            "timeout/head",
        )
        .due(HEAD),
        Fault::new(
            "headers that drip for ever",
            Ask::Stream,
            Script::raw().chunk("HTTP/1.1 200 OK\r\n").chunk(drip("x: y\r\n")),
            "timeout/head",
        )
        .due(HEAD),
        Fault::new(
            "a header value without end",
            Ask::Send,
            Script::raw().chunk("HTTP/1.1 200 OK\r\nx: ").chunk(Chunk::new("y").forever()),
            LOST,
        ),
        Fault::new("blank lines for ever", Ask::Send, Script::raw().chunk(drip("\r\n")), "timeout/head").due(HEAD),
    ]
}

fn no_http() -> Vec<Fault> {
    let many: String = (0..1_000).map(|n| format!("x-{n}: y\r\n")).collect();
    vec![
        raw("another protocol's greeting", "SSH-2.0-OpenSSH_9.6\r\n", LOST),
        raw("HTTP/2 frames", &b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64\0\0"[..], LOST),
        raw("HTML without a head", "<!doctype html><title>hello</title>\r\n\r\n", LOST),
        raw("NUL bytes instead of a head", &[0; 512][..], LOST),
        raw("a status of six digits", "HTTP/1.1 200200 OK\r\n\r\n", LOST),
        raw("a status below 100", "HTTP/1.1 099 Odd\r\n\r\n", LOST),
        raw("a header without a colon", "HTTP/1.1 200 OK\r\nodd\r\n\r\n", LOST),
        raw("a NUL in a header", "HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n", LOST),
        raw("a thousand headers", format!("HTTP/1.1 200 OK\r\n{many}\r\n"), LOST),
        raw("two lengths that differ", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", LOST),
        raw("a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", LOST),
        raw("a length past 64 bits", "HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551617\r\n\r\n{}", LOST),
    ]
}

fn informational() -> Vec<Fault> {
    let early = "HTTP/1.1 103 Early Hints\r\nlink: </>; rel=preload\r\n\r\n";
    let go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    let then_silence = Script::raw().chunk(go_on).end(End::Hang);
    let for_ever = Script::raw().chunk(Chunk::new(go_on).forever().every(ms(10)));
    let switching = "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n";
    vec![
        raw("100 before the head", behind(go_on), "success/success"),
        raw("103 before the head", behind(early), "success/success"),
        raw("103 a few times", behind(&early.repeat(5)), "success/success"),
        Fault::new("100, then silence", Ask::Send, then_silence, "timeout/head").due(HEAD),
        Fault::new("100 for ever", Ask::Send, for_ever, "timeout/head").due(HEAD),
        raw("101, which nobody asked for", switching, "broken/http_status"),
    ]
}

fn odd_but_good() -> Vec<Fault> {
    let wide = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx: {}\r\n\r\n", rpc(GOOD).len(), "y".repeat(100_000));
    let old = format!("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{}", rpc(GOOD));
    let latin = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx: \u{e9}\r\n\r\n", rpc(GOOD).len());
    let late = Script::raw().chunk(Chunk::new(behind("")).after(ms(HEAD - MARGIN)));
    vec![
        raw("a header of 100 kB", wide + &rpc(GOOD), "success/success"),
        raw("HTTP/1.0, until the close", old, "success/success"),
        raw("a header that is no ASCII", latin + &rpc(GOOD), "success/success"),
        Fault::new("the head comes just in time", Ask::Get, late, "success/success").due(HEAD - MARGIN),
        Fault::new(
            "a reset behind a whole answer",
            Ask::Send,
            Script::json(rpc(&task("COMPLETED"))).framing(Framing::Length).end(End::Reset),
            "success/success",
        ),
    ]
}
