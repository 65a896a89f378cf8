//! What goes wrong with the framing, the length and the pace of a unary body.

use super::{Fault, IDLE, MARGIN, MAX_UNARY_BODY, SHORT, ms, short};
use crate::{
    peer::{Chunk, End, Framing, Script},
    support::{Ask, rpc, task},
};

pub(super) fn faults() -> Vec<Fault> {
    [lengths(), chunks(), pace(), size(), codings()].into_iter().flatten().collect()
}

fn good() -> String {
    rpc(&task("COMPLETED"))
}

/// `content-length` says something else than is sent.
fn declared(length: usize) -> Script {
    Script::json(good()).framing(Framing::Bare).header("content-length", length.to_string())
}

/// A body of chunked transfer coding, written by hand.
fn by_hand(body: impl Into<Chunk>) -> Script {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    Script::raw().chunk(head).chunk(body)
}

fn lengths() -> Vec<Fault> {
    let length = good().len();
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    let huge = Script::new(200)
        .header("content-type", "application/json")
        .header("content-length", "1099511627776")
        .framing(Framing::Bare)
        .chunk(Chunk::new(" ").forever());
    vec![
        send("a length too long, then closed", declared(length + 1), "broken/truncated"),
        send("a length far too long, then reset", declared(8 << 10).end(End::Reset), "broken/truncated"),
        send("a length above the cap, then reset", declared(1 << 20).end(End::Reset), "broken/too_large"),
        send("a length too long, then silence", declared(length + 1).end(End::Hang), "timeout/idle").due(IDLE),
        send("a length too short", declared(length - 1), "broken/malformed"),
        send("a length of one", declared(1), "broken/malformed"),
        send("a length of nothing", declared(0), "broken/empty"),
        send("a length of a terabyte, and it comes", huge, "broken/too_large"),
        Fault::new(
            "a REST length too long",
            Ask::RestSend,
            Script::json(task("COMPLETED")).framing(Framing::Bare).header("content-length", "4096"),
            "broken/truncated",
        ),
    ]
}

fn chunks() -> Vec<Fault> {
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    let json = || Script::json(good()).framing(Framing::Chunked);
    let whole = format!("{:x}\r\n{}\r\n", good().len(), good());
    let some = Script::json(&b"{\"jsonrpc\":"[..]).framing(Framing::Chunked);
    let until_close = Script::json(good()).framing(Framing::Bare);
    vec![
        send("no last chunk", json().end(End::Cut), "broken/truncated"),
        send("reset instead of a last chunk", json().end(End::Reset), "broken/truncated"),
        send("silence instead of a last chunk", json().end(End::Hang), "timeout/idle").due(IDLE),
        send("cut within the JSON", some.clone().end(End::Cut), "broken/truncated"),
        send("reset within the JSON", some.clone().end(End::Reset), "broken/truncated"),
        send("silence within the JSON", some.end(End::Hang), "timeout/idle").due(IDLE),
        send("cut within a chunk", by_hand(whole[..40].to_owned()).end(End::Eof), "broken/truncated"),
        send("a chunk size that is none", by_hand("nothing\r\n{}\r\n0\r\n\r\n"), "broken/truncated"),
        send("a chunk size past 64 bits", by_hand("ffffffffffffffffff\r\n{}"), "broken/truncated"),
        send("a chunk without its line end", by_hand("2\r\n{}0\r\n\r\n"), "broken/truncated"),
        send(
            "a chunk extension without end",
            by_hand(Chunk::new("2;x=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy").times(100_000)),
            "broken/truncated",
        ),
        send("trailers behind the last chunk", by_hand(format!("{whole}0\r\nx: y\r\n\r\n")), "success/success"),
        send("one byte a chunk", bytewise(&good(), Script::json("").framing(Framing::Chunked)), "success/success"),
        send("closed instead of a length", until_close.clone(), "success/success"),
        send("reset instead of a close", until_close.end(End::Reset), "broken/truncated"),
    ]
}

/// Every byte is a chunk of its own.
fn bytewise(body: &str, script: Script) -> Script {
    body.bytes().fold(script, |script, byte| script.chunk(vec![byte]))
}

fn pace() -> Vec<Fault> {
    let drip = |data: &'static str| Chunk::new(data).forever().every(ms(20));
    let slow =
        |after| Script::new(200).header("content-type", "application/json").chunk(Chunk::new(good()).after(ms(after)));
    let json = || Script::new(200).header("content-type", "application/json");
    vec![
        Fault::new("a head and no body", Ask::Send, json().end(End::Hang), "timeout/idle").due(IDLE),
        Fault::new("a REST head and no body", Ask::RestGet, json().end(End::Hang), "timeout/idle").due(IDLE),
        Fault::new("white space that drips", Ask::Send, json().chunk(drip(" ")), "timeout/total")
            .limits(short)
            .due(SHORT),
        Fault::new("a text that drips", Ask::RestSend, json().chunk("{\"task\":\"").chunk(drip("x")), "timeout/total")
            .limits(short)
            .due(SHORT),
        Fault::new("the body comes just in time", Ask::Send, slow(IDLE - MARGIN), "success/success").due(IDLE - MARGIN),
        Fault::new("the body comes too late", Ask::Send, slow(IDLE + MARGIN), "timeout/idle").due(IDLE),
    ]
}

fn size() -> Vec<Fault> {
    let padded = |bytes: usize| format!("{}{}", good(), " ".repeat(bytes - good().len()));
    let json = || Script::new(200).header("content-type", "application/json");
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    vec![
        send("white space without end", json().chunk(Chunk::new(" ").forever()), "broken/too_large"),
        send("a text without end", json().chunk("{\"a\":\"").chunk(Chunk::new("x").forever()), "broken/too_large"),
        send("brackets without end", json().chunk(Chunk::new("[").forever()), "broken/too_large"),
        send("as long as the cap", Script::json(padded(MAX_UNARY_BODY)), "success/success"),
        send("a byte above the cap", Script::json(padded(MAX_UNARY_BODY + 1)), "broken/too_large"),
        send(
            "a byte above the cap, in chunks",
            Script::json(padded(MAX_UNARY_BODY + 1)).framing(Framing::Chunked),
            "broken/too_large",
        ),
        Fault::new(
            "a REST body without end",
            Ask::RestGet,
            json().chunk(Chunk::new(" ").forever()),
            "broken/too_large",
        ),
    ]
}

fn codings() -> Vec<Fault> {
    let coded = |coding| Script::json(good()).header("content-encoding", coding);
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    // The first bytes of a gzip member.
    let gzip = Script::json(&b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56\xca\x2a\xce\xcf\x2b\x2a\x48\x56"[..]);
    vec![
        send("gzip, undecoded", gzip.clone().header("content-encoding", "gzip"), "broken/content_encoding"),
        send("gzip that is not declared", gzip, "broken/malformed"),
        send("a coding that nobody applied", coded("br"), "broken/content_encoding"),
        send("a coding that nobody knows", coded("x-odd"), "broken/content_encoding"),
        send("the coding that is none", coded("identity"), "success/success"),
    ]
}
