//! What goes wrong with the connection or the stream before a head, or in HTTP/2 itself.

use a2a_guard::Retry;

use super::{Fault, HEAD, IDLE, ms};
use crate::{
    calling::Ask,
    h2_peer::{End, Reason, Script, framed},
    messages::{COMPLETED, WORKING, task, update},
    raw::{Act, Raw, continued, data, frame, go_away, head, headers, padded_data, ping, raw, reset},
};

pub(super) fn faults() -> Vec<Fault> {
    [before_the_head(), frames(), going_away(), odd_frames()].into_iter().flatten().collect()
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
        send("going away before the head", End::GoAway(Reason::NO_ERROR)).retry(Retry::Unsafe),
        send("going away before the head, in error", End::GoAway(Reason::PROTOCOL_ERROR)).retry(Retry::Unsafe),
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
        Fault::new("PINGs for a head", Ask::Send, raw([Act::Forever(ping(), ms(25))]), "timeout/head").due(HEAD),
        Fault::new(
            "PINGs behind a task",
            Ask::Stream,
            raw([write(head()), write(message(task(WORKING))), Act::Forever(ping(), ms(25))]),
            "timeout/idle",
        )
        .due(IDLE)
        .events(1)
        .task_known(),
        Fault::new(
            "empty DATA frames behind a task",
            Ask::Stream,
            raw([write(head()), write(message(task(WORKING))), Act::Forever(data(b""), ms(25))]),
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

/// What GOAWAY says of the request: whether it was, or may have been, worked on (RFC 9113 §6.8, §8.7).
fn going_away() -> Vec<Fault> {
    const NO_ERROR: u32 = 0;
    const INTERNAL_ERROR: u32 = 2;
    let lost = "transport/connection_lost";
    let write = Act::Write;
    let answered = |last| {
        let bytes = [go_away(last, NO_ERROR), head(), data(&framed(task(COMPLETED))), ok_trailers()].concat();
        raw([write(bytes), Act::Hang])
    };
    let left_out = |code| raw([write(go_away(0, code)), Act::Hang]);
    vec![
        Fault::new("going away, and an answer", Ask::Send, answered(1), "success/success"),
        Fault::new("going away, and a stream", Ask::Stream, answered(1), "success/success").events(1),
        Fault::new("going away without the request", Ask::Send, left_out(NO_ERROR), lost).retry(Retry::Safe),
        Fault::new("going away without the request of a stream", Ask::Stream, left_out(NO_ERROR), lost)
            .retry(Retry::Safe),
        Fault::new("going away in error without the request", Ask::Send, left_out(INTERNAL_ERROR), lost)
            .retry(Retry::Safe),
        Fault::new("going away with the request", Ask::Send, raw([write(go_away(1, NO_ERROR))]), lost)
            .retry(Retry::Unsafe),
        Fault::new("going away in error with the request", Ask::Send, raw([write(go_away(1, INTERNAL_ERROR))]), lost)
            .retry(Retry::Unsafe),
        Fault::new(
            "going away with the request, then without it",
            Ask::Send,
            raw([write([go_away(1, NO_ERROR), go_away(0, NO_ERROR)].concat()), Act::Hang]),
            lost,
        )
        .retry(Retry::Safe),
        Fault::new(
            "going away with the request, silently",
            Ask::Send,
            raw([write(go_away(1, NO_ERROR)), Act::Hang]),
            "timeout/head",
        )
        .due(HEAD),
        Fault::new(
            "going away with a stream",
            Ask::Stream,
            raw([write(head()), write(data(&framed(task(WORKING)))), write(go_away(1, INTERNAL_ERROR))]),
            "broken/truncated",
        )
        .events(1)
        .task_known(),
    ]
}

fn ok_trailers() -> Vec<u8> {
    headers(&[("grpc-status", "0")], true)
}

/// What is odd, and allowed; and what is not.
fn odd_frames() -> Vec<Fault> {
    let (good, broken, lost) = ("success/success", "broken/truncated", "transport/connection_lost");
    let answer = || data(&framed(task(COMPLETED)));
    let all = |frames: &[Vec<u8>]| raw([Act::Write(frames.concat()), Act::Hang]);
    let both = |names: [&'static str; 2], frames: &[Vec<u8>], expected| {
        let [unary, stream] = names;
        [Fault::new(unary, Ask::Send, all(frames), expected), Fault::new(stream, Ask::Stream, all(frames), expected)]
    };
    let send = |name, frames: &[Vec<u8>], expected| Fault::new(name, Ask::Send, all(frames), expected);
    let early = headers(&[(":status", "103"), ("link", "x")], false);
    let mut faults = vec![
        // As servers do that are done before the request is.
        send("trailers, then reset", &[head(), answer(), ok_trailers(), reset(0)], good),
        send("empty trailers", &[head(), answer(), headers(&[], true)], broken),
        send(
            "a status among trailers",
            &[head(), answer(), headers(&[("grpc-status", "0"), (":status", "200")], true)],
            broken,
        ),
        send("a trailer in capitals", &[head(), answer(), headers(&[("Grpc-Status", "0")], true)], broken),
        send("a pushed answer", &[frame(5, 4, 1, &[0, 0, 0, 2])], lost),
        send("a window that grows by nothing", &[head(), frame(8, 0, 1, &[0; 4])], broken),
        send("an answer on a stream that nobody opened", &[frame(0, 0, 3, b"x")], lost),
        send("SETTINGS on a stream", &[frame(4, 0, 1, &[])], lost),
        send("a frame above its size", &[head(), frame(0, 0, 1, &[0; 16_385])], broken),
        send("half a head, and another frame", &[frame(1, 0, 1, &head()[9..14]), ping()], lost),
    ];
    faults.extend(both(
        ["an early head", "an early head of a stream"],
        &[early.clone(), early, head(), answer(), ok_trailers()],
        good,
    ));
    faults.extend(both(
        ["padding", "padding in a stream"],
        &[head(), padded_data(&framed(task(COMPLETED))), ok_trailers()],
        good,
    ));
    faults.extend(both(
        ["heads in two frames", "heads of a stream in two frames"],
        &[continued(&head()), answer(), continued(&ok_trailers())],
        good,
    ));
    faults.extend(both(
        ["frames that nobody knows", "frames that nobody knows in a stream"],
        &[frame(0xf0, 0xff, 1, b"?"), head(), frame(0xf1, 0, 0, b"?"), answer(), ok_trailers()],
        good,
    ));
    faults.push(
        Fault::new(
            "early heads for ever",
            Ask::Send,
            raw([Act::Forever(headers(&[(":status", "103")], false), ms(25))]),
            "timeout/head",
        )
        .due(HEAD),
    );
    faults.push(
        Fault::new("SETTINGS for ever", Ask::Send, raw([Act::Forever(frame(4, 0, 0, &[]), ms(25))]), "timeout/head")
            .due(HEAD),
    );
    faults
}
