//! Answers whose status is no success, and bodies that should say why.

use super::{Fault, IDLE, SHORT, ms, short};
use crate::{
    peer::{Chunk, End, Framing, Script},
    support::{Ask, rpc, rpc_error, task},
};

pub(super) fn faults() -> Vec<Fault> {
    [redirects(), bare(), with_bodies(), endless(), good_statuses()].into_iter().flatten().collect()
}

fn html(status: u16) -> Script {
    Script::new(status).header("content-type", "text/html").chunk("<!doctype html><h1>oh</h1>")
}

fn json(status: u16, body: impl Into<Chunk>) -> Script {
    Script::new(status).header("content-type", "application/json").chunk(body)
}

fn redirects() -> Vec<Fault> {
    let to = |name, ask, status, location: &str| {
        let script = Script::new(status).header("location", location);
        Fault::new(name, ask, script, "refused/redirected")
    };
    vec![
        to("301", Ask::Send, 301, "/elsewhere"),
        to("302 to a login page", Ask::Send, 302, "https://login.example.com/?next=%2Fa2a"),
        to("303", Ask::Stream, 303, "/elsewhere"),
        to("307 to itself", Ask::Send, 307, "https://agent.example.com/a2a"),
        to("308 to another origin", Ask::RestSend, 308, "https://other.example.com/message:send"),
        to("a redirect that leads nowhere", Ask::Send, 302, "::::"),
        Fault::new("a redirect without a location", Ask::Send, Script::new(302), "refused/redirected"),
        Fault::new("304 to a call", Ask::RestGet, Script::new(304), "refused/redirected"),
        Fault::new("300 with a good answer", Ask::Send, json(300, rpc(&task("COMPLETED"))), "refused/redirected"),
    ]
}

fn bare() -> Vec<Fault> {
    let row = |name, status, expected| Fault::new(name, Ask::Send, Script::new(status), expected);
    let wait = |status| Script::new(status).header("retry-after", "7");
    let basic = Script::new(401).header("www-authenticate", "Bearer realm=\"a\"");
    vec![
        row("400", 400, "broken/http_status"),
        Fault::new("401", Ask::Send, basic.clone(), "refused/auth"),
        Fault::new("401 to a stream", Ask::Stream, basic, "refused/auth"),
        row("402", 402, "broken/http_status"),
        row("403", 403, "refused/auth"),
        row("404", 404, "refused/endpoint_not_found"),
        row("405", 405, "refused/endpoint_not_found"),
        row("407", 407, "refused/auth"),
        row("408", 408, "broken/http_status"),
        row("410", 410, "refused/endpoint_not_found"),
        row("413", 413, "refused/too_large"),
        row("415", 415, "refused/unsupported_media"),
        row("418", 418, "broken/http_status"),
        Fault::new("429", Ask::Send, wait(429), "refused/rate_limited"),
        Fault::new("429 to a stream", Ask::RestStream, wait(429), "refused/rate_limited"),
        row("500", 500, "broken/http_status"),
        row("501", 501, "broken/http_status"),
        row("502", 502, "broken/http_status"),
        Fault::new("503", Ask::Send, wait(503), "refused/unavailable"),
        row("504", 504, "broken/http_status"),
        row("524", 524, "broken/http_status"),
        row("999", 999, "broken/http_status"),
        Fault::new("500 to a stream", Ask::Stream, Script::new(500), "broken/http_status"),
    ]
}

fn with_bodies() -> Vec<Fault> {
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    let get = |name, script, expected| Fault::new(name, Ask::RestGet, script, expected);
    let status = r#"{"error":{"code":404,"status":"NOT_FOUND","message":"no such task"}}"#;
    let problem = Script::new(400)
        .header("content-type", "application/problem+json")
        .chunk(r#"{"type":"about:blank","title":"no","status":400}"#);
    let gzip = json(400, rpc_error(-32602)).header("content-encoding", "gzip");
    vec![
        send("400 with a page", html(400), "broken/http_status"),
        send("400 with an error", json(400, rpc_error(-32602)), "refused/peer_error"),
        send("400 with a success", json(400, rpc(&task("COMPLETED"))), "broken/http_status"),
        send("400 with cut JSON", json(400, &b"{\"jsonrpc\":\"2.0\",\"error\":{"[..]), "broken/http_status"),
        send("400 with 60,000 levels", json(400, "[".repeat(60_000)), "broken/http_status"),
        send("401 with an error", json(401, rpc_error(-32603)), "refused/auth"),
        send("404 with a page", html(404), "refused/endpoint_not_found"),
        send("404 with an error", json(404, rpc_error(-32001)), "refused/peer_error"),
        get("404 with a status", json(404, status), "refused/peer_error"),
        get("404 with nothing but its phrase", json(404, r#"{"detail":"Not Found"}"#), "refused/endpoint_not_found"),
        send("500 with a page", html(500), "broken/http_status"),
        send("500 with an error", json(500, rpc_error(-32603)), "refused/peer_error"),
        send("500 with text", Script::new(500).header("content-type", "text/plain").chunk("oh"), "broken/http_status"),
        get("500 with a message", json(500, r#"{"message":"oh"}"#), "broken/http_status"),
        get("400 with a message", json(400, r#"{"message":"oh"}"#), "refused/peer_error"),
        get("problem details", problem, "refused/peer_error"),
        send("503 with a page", html(503), "refused/unavailable"),
        send("503 with an error", json(503, rpc_error(-32603)), "refused/unavailable"),
        send("an error, gzipped or so it says", gzip, "broken/content_encoding"),
        send(
            "500 with an event stream",
            Script { status: Some(500), ..Script::sse().chunk("data: {}\n\n") },
            "broken/http_status",
        ),
    ]
}

/// An error status is judged by its head and the beginning of its body.
fn endless() -> Vec<Fault> {
    let drip = |data: &'static str| Chunk::new(data).forever().every(ms(20));
    let flood = || Chunk::new("oh ").forever();
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    let typed = |status: u16| Script::new(status).header("content-type", "text/plain");
    vec![
        send("500 with a body without end", typed(500).chunk(flood()), "broken/http_status"),
        send("401 with a body without end", typed(401).chunk(flood()), "refused/auth"),
        send("404 with a body without end", typed(404).chunk(flood()), "refused/endpoint_not_found"),
        Fault::new("500 to a stream, without end", Ask::Stream, typed(500).chunk(flood()), "broken/http_status"),
        send("500 with JSON without end", json(500, "{\"a\":\"").chunk(flood()), "broken/http_status"),
        send("400, cut", typed(400).chunk("oh").end(End::Cut), "broken/truncated"),
        send("401, reset", typed(401).chunk("oh").end(End::Reset), "refused/auth"),
        send("503, cut", typed(503).chunk("oh").end(End::Cut), "refused/unavailable"),
        send("500, then silence", typed(500).end(End::Hang), "timeout/idle").due(IDLE),
        send("403, then silence", typed(403).chunk("oh").end(End::Hang), "refused/auth").due(IDLE),
        send("500 that drips", typed(500).chunk(drip("x")), "timeout/total").limits(short).due(SHORT),
    ]
}

fn good_statuses() -> Vec<Fault> {
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    let good = || rpc(&task("COMPLETED"));
    let raw_204 = "HTTP/1.1 204 No Content\r\ncontent-type: application/json\r\n\r\n";
    vec![
        send("204 to a send", Script::new(204), "broken/empty"),
        Fault::new("204 to a stream", Ask::Stream, Script::new(204), "broken/empty"),
        Fault::new("204 to a REST send", Ask::RestSend, Script::new(204), "broken/empty"),
        send("204 with a type and no body", Script::raw().chunk(raw_204), "broken/empty"),
        send("202 with nothing", Script::new(202), "broken/empty"),
        send("201 with an answer", json(201, good()), "success/success"),
        send("200 with nothing", Script::new(200).framing(Framing::Length), "broken/empty"),
    ]
}
