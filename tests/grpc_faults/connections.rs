//! What goes wrong with the connection or the stream before a head, or in HTTP/2 itself.

use a2a_guard::Retry;

use super::{Fault, HEAD, IDLE, ms};
use crate::{
    calling::Ask,
    h2_peer::{End, Reason, Script, framed},
    messages::{COMPLETED, WORKING, task, update},
    raw::{Act, Raw, data, frame, head, headers, ping, raw},
};

pub(super) fn faults() -> Vec<Fault> {
    [before_the_head(), frames()].into_iter().flatten().collect()
}

fn before_the_head() -> Vec<Fault> {
    let lost = "transport/connection_lost";
    let send = |name, end| Fault::new(name, Ask::Send, Script::silent(end), lost);
    vec![
        Fault::new("no head", Ask::Send, Script::silent(End::Hang), "timeout/head").due(HEAD),
        Fault::new("no head of a stream", Ask::Stream, Script::silent(End::Hang), "timeout/head").due(HEAD),
        send("reset before the head, no error", End::Reset(Reason::NO_ERROR)).retry(Retry::Unsafe),
        send("reset before the head, cancelled", End::Reset(Reason::CANCEL)).retry(Retry::Unsafe),
        send("reset before the head, internal error", End::Reset(Reason::INTERNAL_ERROR)).retry(Retry::Unsafe),
        send("reset before the head, calm", End::Reset(Reason::ENHANCE_YOUR_CALM)).retry(Retry::Unsafe),
        send("refused before the head", End::Reset(Reason::REFUSED_STREAM)).retry(Retry::Safe),
        Fault::new("a stream refused", Ask::Stream, Script::silent(End::Reset(Reason::REFUSED_STREAM)), lost)
            .retry(Retry::Safe),
        Fault::new("a question, reset", Ask::Get, Script::silent(End::Reset(Reason::CANCEL)), lost).retry(Retry::Safe),
        send("going away before the head", End::GoAway(Reason::NO_ERROR)),
        send("going away before the head, in error", End::GoAway(Reason::PROTOCOL_ERROR)),
        send("the connection ends before the head", End::Cut).retry(Retry::Unsafe),
        Fault::new("the connection ends before the head of a stream", Ask::Stream, Script::silent(End::Cut), lost),
        // The request has more bytes than the window, which stays shut.
        Fault::new("a window that never opens", Ask::Send, Script::silent(End::Hang).window(0), "timeout/head")
            .due(HEAD),
        Fault::new(
            "reset while the request is sent",
            Ask::Send,
            Script::silent(End::Reset(Reason::CANCEL)).window(0).without_reading(),
            lost,
        ),
    ]
}

fn frames() -> Vec<Fault> {
    let lost = "transport/connection_lost";
    let broken = "broken/truncated";
    let write = Act::Write;
    let status = |code: &str| headers(&[("grpc-status", code)], true);
    let message = |bytes: Vec<u8>| data(&framed(bytes));
    let greeting = |bytes: &[u8], then: Act| Raw { acts: vec![Act::Write(bytes.to_vec()), then], greets: false };
    vec![
        Fault::new("HTTP/1.1 to HTTP/2", Ask::Send, greeting(b"HTTP/1.1 400 Bad Request\r\n\r\n", Act::Hang), lost),
        Fault::new("a greeting of nothing", Ask::Send, greeting(b"", Act::Hang), "timeout/head").due(HEAD),
        Fault::new("PINGs for a head", Ask::Send, raw([Act::Forever(ping(), ms(5))]), "timeout/head").due(HEAD),
        Fault::new(
            "PINGs behind a task",
            Ask::Stream,
            raw([write(head()), write(message(task(WORKING))), Act::Forever(ping(), ms(5))]),
            "timeout/idle",
        )
        .due(IDLE)
        .events(1)
        .task_known(),
        Fault::new(
            "empty DATA frames behind a task",
            Ask::Stream,
            raw([write(head()), write(message(task(WORKING))), Act::Forever(data(b""), ms(5))]),
            "timeout/idle",
        )
        .due(IDLE)
        .events(1),
        Fault::new("a head that is no HPACK", Ask::Send, raw([write(frame(1, 4, 1, &[0xff; 20])), Act::Hang]), lost),
        Fault::new(
            "a head without a status",
            Ask::Send,
            raw([write(headers(&[("content-type", "application/grpc")], false)), Act::Hang]),
            lost,
        ),
        Fault::new("DATA before the head", Ask::Send, raw([write(message(task(COMPLETED))), Act::Hang]), lost),
        Fault::new("half a head", Ask::Send, raw([write(head()[..12].to_vec()), Act::Hang]), "timeout/head").due(HEAD),
        Fault::new("half a head, then the end", Ask::Send, raw([write(head()[..12].to_vec())]), lost),
        Fault::new(
            "half a DATA frame",
            Ask::Stream,
            raw([write(head()), write(message(task(WORKING))), write(message(update(COMPLETED))[..14].to_vec())]),
            broken,
        )
        .events(1)
        .task_known(),
        Fault::new(
            "trailers that do not end the stream",
            Ask::Stream,
            raw([
                write(head()),
                write(message(task(WORKING))),
                write(headers(&[("grpc-status", "0")], false)),
                Act::Hang,
            ]),
            broken,
        )
        .events(1),
        Fault::new(
            "trailers twice",
            Ask::Stream,
            raw([
                write(head()),
                write(message(task(WORKING))),
                write(message(update(COMPLETED))),
                write(status("0")),
                write(status("13")),
                Act::Hang,
            ]),
            "success/success",
        )
        .events(2),
        Fault::new(
            "trailers twice behind one message",
            Ask::Send,
            raw([write(head()), write(message(task(COMPLETED))), write(status("0")), write(status("13")), Act::Hang]),
            "success/success",
        ),
        Fault::new(
            "DATA behind the trailers",
            Ask::Send,
            raw([
                write(head()),
                write(message(task(COMPLETED))),
                write(status("0")),
                write(message(task(WORKING))),
                Act::Hang,
            ]),
            "success/success",
        ),
        Fault::new(
            "more DATA than the window",
            Ask::Stream,
            raw([
                write(head()),
                write(message(task(WORKING))),
                write(frame(0, 0, 1, &vec![0; 16_384]).repeat(2_000)),
                Act::Hang,
            ]),
            "broken/protocol_violation",
        )
        .events(1),
    ]
}
