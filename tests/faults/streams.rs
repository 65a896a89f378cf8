//! What goes wrong with a stream of events, and what only looks as if it did.

use super::{AUTH_WAIT, EVENT_GAP, FIRST_EVENT, Fault, IDLE, LINGER, MARGIN, MAX_EVENT, SHORT, ms, short};
use crate::{
    peer::{Chunk, End, Framing, Script},
    support::{Ask, event, rpc, rpc_error, task, update},
};

pub(super) fn faults() -> Vec<Fault> {
    [before_events(), silence(), for_ever(), endings(), latched(), contents(), sizes(), framing(), rest(), answers()]
        .into_iter()
        .flatten()
        .collect()
}

fn row(name: &'static str, script: Script, expected: &'static str) -> Fault {
    Fault::new(name, Ask::Stream, script, expected)
}

fn working() -> String {
    event(&rpc(&task("WORKING")))
}

fn at(state: &str) -> String {
    event(&rpc(&update(state)))
}

/// A stream whose task is at work.
fn begun() -> Script {
    Script::sse().chunk(working())
}

/// The piece again and again, slowly.
fn drip(data: impl Into<Chunk>) -> Chunk {
    data.into().forever().every(ms(20))
}

fn flood(data: impl Into<Chunk>) -> Chunk {
    data.into().forever()
}

fn before_events() -> Vec<Fault> {
    let late = |after| Script::sse().chunk(Chunk::new(working()).after(ms(after))).chunk(at("COMPLETED"));
    vec![
        row("a stream that says nothing", Script::sse().end(End::Hang), "timeout/first_event")
            .due(FIRST_EVENT)
            .events(0),
        row("comments instead of events", Script::sse().chunk(drip(": ping\n\n")), "timeout/first_event")
            .due(FIRST_EVENT),
        // They are kept for the caller, who gets nothing before the first event; so they have a cap.
        row("comments as fast as they go", Script::sse().chunk(flood(": ping\n\n")), "broken/too_large"),
        row("events without data", Script::sse().chunk(drip("event: ping\ndata:\n\n")), "timeout/first_event")
            .due(FIRST_EVENT),
        row("an event that drips", Script::sse().chunk("data: {\"a\":\"").chunk(drip("x")), "timeout/first_event")
            .due(FIRST_EVENT),
        row("the first event comes just in time", late(FIRST_EVENT - MARGIN), "success/success")
            .due(FIRST_EVENT - MARGIN),
        row("the first event comes too late", late(FIRST_EVENT + MARGIN), "timeout/first_event").due(FIRST_EVENT),
        row("a stream of nothing", Script::sse(), "broken/empty").events(0),
        row("a stream of nothing, cut", Script::sse().end(End::Cut), "broken/truncated").events(0),
        row("a stream of nothing, reset", Script::sse().end(End::Reset), "broken/truncated").events(0),
        row("comments, then the end", Script::sse().chunk(": hello\n\n"), "broken/empty").events(0),
        row("blank lines, then the end", Script::sse().chunk("\n\n\r\n\r\n"), "broken/empty").events(0),
    ]
}

fn silence() -> Vec<Fault> {
    let later = Chunk::new(at("COMPLETED")).after(ms(IDLE - MARGIN));
    vec![
        row("silence while working", begun().end(End::Hang), "timeout/idle").due(IDLE).events(1).task_known(),
        row("silence within an event", begun().chunk("data: {").end(End::Hang), "timeout/idle").due(IDLE).events(1),
        Fault::new("silence of a subscription", Ask::Subscribe, begun().end(End::Hang), "timeout/idle")
            .due(IDLE)
            .task_known(),
        row("keep-alives behind a dead task", begun().chunk(drip(":\n\n")), "timeout/event_gap")
            .due(EVENT_GAP)
            .events(1)
            .task_known(),
        row(
            "a comment every millisecond, behind a task",
            begun().chunk(Chunk::new(": ping\n").forever().every(ms(1))),
            "timeout/event_gap",
        )
        .due(EVENT_GAP)
        .events(1),
        row("empty events behind a dead task", begun().chunk(drip("data:\n\n")), "timeout/event_gap")
            .due(EVENT_GAP)
            .events(1),
        row("ids and retries behind a dead task", begun().chunk(drip("id: 7\nretry: 10\n\n")), "timeout/event_gap")
            .due(EVENT_GAP),
        row(
            "an event that drips behind a task",
            begun().chunk("data: {\"a\":\"").chunk(drip("x")),
            "timeout/event_gap",
        )
        .due(EVENT_GAP),
        row("silence, but not too long", begun().chunk(later), "success/success").due(IDLE - MARGIN),
    ]
}

fn for_ever() -> Vec<Fault> {
    let progress = || at("WORKING");
    let artifact = event(&rpc(
        r#"{"artifactUpdate":{"taskId":"task-1","contextId":"ctx-1","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}"#,
    ));
    vec![
        row("events for ever", begun().chunk(drip(progress())), "timeout/total").limits(short).due(SHORT).task_known(),
        row("artifacts for ever", begun().chunk(drip(artifact)), "timeout/total").limits(short).due(SHORT),
        row("events as fast as they go", begun().chunk(flood(progress())), "timeout/total").limits(short).due(SHORT),
        Fault::new("a subscription for ever", Ask::Subscribe, begun().chunk(drip(progress())), "timeout/total")
            .limits(short)
            .due(SHORT),
        row(
            "another task's events for ever",
            begun().chunk(drip(progress().replace("task-1", "task-2"))),
            "timeout/total",
        )
        .limits(short)
        .due(SHORT),
    ]
}

fn endings() -> Vec<Fault> {
    let bad = "broken/truncated";
    let in_length = Script { framing: Framing::Length, ..begun() };
    vec![
        row("the end while working", begun(), bad).events(1).task_known(),
        row("cut while working", begun().end(End::Cut), bad).events(1).task_known(),
        row("reset while working", begun().end(End::Reset), bad).events(1).task_known(),
        row("the end of a length while working", in_length, bad).events(1),
        row("closed while working", begun().framing(Framing::Bare), bad).events(1),
        row("cut within an event", begun().chunk("data: {\"jsonrpc\"").end(End::Cut), bad).events(1),
        row("the end within an event", begun().chunk("data: {\"jsonrpc\""), bad).events(1),
        row(
            "the end within a line end",
            begun().chunk(at("COMPLETED").trim_end().to_owned() + "\r"),
            "success/success",
        )
        .events(2),
        row("an unterminated last event", begun().chunk(at("COMPLETED").trim_end().to_owned()), "success/success")
            .events(2),
        row("an unterminated event while working", Script::sse().chunk(working().trim_end().to_owned()), bad),
        row(
            "a length too short for its events",
            Script::sse().framing(Framing::Bare).header("content-length", "40").chunk(working()),
            bad,
        ),
        row(
            "a length too long for its events",
            begun().chunk(at("COMPLETED")).framing(Framing::Bare).header("content-length", "9000"),
            "success/success",
        ),
    ]
}

fn latched() -> Vec<Fault> {
    let good = "success/success";
    let done = || begun().chunk(at("COMPLETED"));
    let message = event(&rpc(r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}"#));
    vec![
        row("done, then silence", done().end(End::Hang), good).due(LINGER).events(2),
        row("done, then reset", done().end(End::Reset), good).events(2),
        row("done, then cut", done().end(End::Cut), good).events(2),
        row("done, then comments for ever", done().chunk(drip(": ping\n\n")), good).due(LINGER),
        row("done, then comments as fast as they go", done().chunk(flood(": ping\n\n")), good).due(LINGER),
        row("done, then an error", done().chunk(event(&rpc_error(-32603))), good),
        row("done, then garbage", done().chunk("<html>\n\n\0\u{fffd}"), good),
        row("done, then a longer garbage than an event may be", done().chunk(Chunk::new("x").times(200_000)), good),
        row("failed, then silence", begun().chunk(at("FAILED")).end(End::Hang), good).due(LINGER),
        row("rejected, then reset", begun().chunk(at("REJECTED")).end(End::Reset), good),
        row("canceled, then cut", begun().chunk(at("CANCELED")).end(End::Cut), good),
        row("a message, then silence", Script::sse().chunk(message.clone()).end(End::Hang), good).due(LINGER).events(1),
        row("a message, then reset", Script::sse().chunk(message).end(End::Reset), good),
        row("input required, then the end", begun().chunk(at("INPUT_REQUIRED")), good).events(2),
        row("input required, then silence", begun().chunk(at("INPUT_REQUIRED")).end(End::Hang), good)
            .due(LINGER)
            .events(2),
        row("input required, then comments for ever", begun().chunk(at("INPUT_REQUIRED")).chunk(drip(":\n\n")), good)
            .due(LINGER),
        row("auth required, then silence", begun().chunk(at("AUTH_REQUIRED")).end(End::Hang), good)
            .due(AUTH_WAIT)
            .events(2),
        row("auth required, then comments for ever", begun().chunk(at("AUTH_REQUIRED")).chunk(drip(":\n\n")), good)
            .due(AUTH_WAIT),
    ]
}

fn contents() -> Vec<Fault> {
    let (malformed, violation) = ("broken/malformed", "broken/protocol_violation");
    let then = |name, data: &str, expected| row(name, begun().chunk(event(data)), expected).events(1).task_known();
    let bytes = |name, data: &[u8]| {
        let event = [b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"", data, b"\"}}\n\n"].concat();
        row(name, begun().chunk(event), malformed).events(1)
    };
    let twice = rpc(&update("WORKING")).replace("\"id\":1", "\"id\":1,\"id\":1");
    vec![
        then("an event that is no JSON", "hello", malformed),
        then("an event with cut JSON", "{\"jsonrpc\":\"2.0\",", malformed),
        then("an event with garbage behind it", &(rpc(&update("WORKING")) + "x"), malformed),
        then("the end as OpenAI spells it", "[DONE]", malformed),
        then("HTML in an event", "<html>", malformed),
        then("an event of 60,000 levels", &"[".repeat(60_000), malformed),
        then("an event for another call", &rpc(&update("WORKING")).replace("\"id\":1,", "\"id\":2,"), violation),
        then("an event without an id", &rpc(&update("WORKING")).replace("\"id\":1,", ""), violation),
        then("a batch in an event", &format!("[{}]", rpc(&update("WORKING"))), violation),
        then("a key twice in an event", &twice, violation),
        then("an event with nothing in it", &rpc("{}"), violation),
        then("two results in an event", &rpc(r#"{"task":{},"message":{}}"#), violation),
        then("a text in an event", "\"working\"", violation),
        then("an error behind an event", &rpc_error(-32603), "refused/peer_error"),
        then(
            "an error event without an id",
            &rpc_error(-32603).replace("\"id\":1,", "\"id\":null,"),
            "refused/peer_error",
        ),
        row("an error first", Script::sse().chunk(event(&rpc_error(-32004))), "refused/peer_error").events(0),
        row(
            "an error event",
            begun().chunk(format!("event: error\n{}", event(&rpc_error(-32603)))),
            "refused/peer_error",
        )
        .events(1),
        row("an error event that is no JSON", begun().chunk("event: error\ndata: oh\n\n"), malformed).events(1),
        row("garbage first", Script::sse().chunk(event("hello")), malformed).events(0),
        bytes("invalid UTF-8 in an event", &[0xff]),
        bytes("half a character in an event", &[0xe2, 0x82]),
        bytes("a NUL in an event", &[0]),
        bytes("a control character in an event", &[0x1b]),
    ]
}

fn sizes() -> Vec<Fault> {
    let bad = "broken/too_large";
    // An event of so many bytes, its line ends and all.
    let sized = |bytes: usize| {
        let event = event(&rpc(
            r#"{"artifactUpdate":{"taskId":"task-1","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"@"}]}}}"#,
        ));
        event.replace('@', &"x".repeat(bytes + 1 - event.len()))
    };
    let done = |script: Script| script.chunk(at("COMPLETED"));
    vec![
        row("an event without end", begun().chunk("data: {\"a\":\"").chunk(flood("x")), bad).events(1).task_known(),
        row("a first event without end", Script::sse().chunk("data: ").chunk(flood("[1,")), bad).events(0),
        row("a comment without end", begun().chunk(": ").chunk(flood("x")), bad).events(1),
        row("a field name without end", begun().chunk(flood("x")), bad).events(1),
        row("data lines without end", begun().chunk(flood("data: 1\n")), bad).events(1),
        row("an event as long as the cap", done(begun().chunk(sized(MAX_EVENT))), "success/success").events(3),
        row("an event a byte above the cap", done(begun().chunk(sized(MAX_EVENT + 1))), bad).events(1),
        row("many events that add up", done(begun().chunk(Chunk::new(sized(50_000)).times(3))), "success/success")
            .events(5),
    ]
}

fn framing() -> Vec<Fault> {
    let good = "success/success";
    let whole = || working() + &at("COMPLETED");
    let utf_16: Vec<u8> = whole().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bytes = whole().into_bytes();
    let bytewise = bytes.iter().fold(Script::sse(), |script, byte| script.chunk(vec![*byte]));
    let whole_as =
        |name, line_end: &str| row(name, Script::sse().chunk(whole().replace('\n', line_end)), good).events(2);
    let gzip = Script::sse().header("content-encoding", "gzip").chunk(&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..]);
    vec![
        whole_as("CRLF", "\r\n"),
        whole_as("CR alone", "\r"),
        row("events behind a byte order mark", Script::sse().chunk(format!("\u{feff}{}", whole())), good).events(2),
        row("one byte a chunk, as events", bytewise, good).events(2),
        row("events in one chunk", Script::sse().chunk(whole()), good).events(2),
        row("no space behind the colon", Script::sse().chunk(whole().replace("data: ", "data:")), good).events(2),
        row("fields that nobody knows", Script::sse().chunk(whole().replace("data: ", "x: y\nid\ndata: ")), good)
            .events(2),
        row(
            "HTML that calls itself events",
            Script::sse().chunk("<!doctype html><title>502</title>"),
            "broken/malformed",
        )
        .events(0),
        row("UTF-16 that calls itself events", Script::sse().chunk(utf_16), "broken/malformed").events(0),
        row("NUL bytes that call themselves events", Script::sse().chunk(vec![0; 300]), "broken/malformed").events(0),
        row(
            "lines of JSON that call themselves events",
            Script::sse().chunk(format!("{0}\n{0}\n", rpc(&task("WORKING")))),
            "broken/malformed",
        )
        .events(0),
        row("an error that calls itself events", Script::sse().chunk(rpc_error(-32004)), "refused/peer_error")
            .events(0),
        row("events, undecoded", gzip, "broken/content_encoding").events(0),
        row("an event that drips and ends", trickled(&whole()), good).events(2).due(100),
    ]
}

/// In ten pieces over some 100 ms.
fn trickled(text: &str) -> Script {
    let pieces = text.as_bytes().chunks(text.len().div_ceil(10));
    pieces.fold(Script::sse(), |script, piece| script.chunk(Chunk::new(piece.to_vec()).after(ms(10))))
}

fn rest() -> Vec<Fault> {
    let row = |name, script, expected| Fault::new(name, Ask::RestStream, script, expected);
    let begun = || Script::sse().chunk(event(&task("WORKING")));
    let then = |name, data: &str, expected| row(name, begun().chunk(event(data)), expected).events(1).task_known();
    vec![
        row("REST stream: nothing", Script::sse(), "broken/empty"),
        row("REST stream: silence", begun().end(End::Hang), "timeout/idle").due(IDLE).events(1).task_known(),
        row("REST stream: keep-alives for ever", begun().chunk(drip(":\n\n")), "timeout/event_gap").due(EVENT_GAP),
        row("REST stream: the end while working", begun(), "broken/truncated").events(1).task_known(),
        row("REST stream: cut", begun().end(End::Cut), "broken/truncated").events(1),
        row(
            "REST stream: done, then reset",
            begun().chunk(event(&update("COMPLETED"))).end(End::Reset),
            "success/success",
        )
        .events(2),
        row("REST stream: an event without end", begun().chunk("data: ").chunk(flood("x")), "broken/too_large")
            .events(1),
        then(
            "REST stream: a status",
            r#"{"error":{"code":500,"status":"INTERNAL","message":"no"}}"#,
            "refused/peer_error",
        ),
        then("REST stream: a bare code", r#"{"code":-32603,"message":"no"}"#, "refused/peer_error"),
        then("REST stream: an envelope", &rpc(&update("WORKING")), "broken/protocol_violation"),
        then("REST stream: no JSON", "hello", "broken/malformed"),
        then("REST stream: nothing in an event", "{}", "broken/protocol_violation"),
    ]
}

/// One answer where a stream was asked.
fn answers() -> Vec<Fault> {
    let json = |body: String| Script::json(body);
    let typed = |media: &str| Script::new(200).header("content-type", media);
    let subscribe = |name, script, expected| Fault::new(name, Ask::Subscribe, script, expected);
    vec![
        row("JSON where events are due", json(rpc(&task("COMPLETED"))), "broken/silent_downgrade"),
        row("an error where events are due", json(rpc_error(-32004)), "refused/peer_error"),
        row("cut JSON where events are due", json("{\"jsonrpc\"".into()), "broken/malformed"),
        row("nothing where events are due", json(String::new()), "broken/empty"),
        row("JSON that never comes", typed("application/json").end(End::Hang), "timeout/first_event").due(FIRST_EVENT),
        row("HTML where events are due", typed("text/html").chunk("<html>"), "broken/wrong_media_type"),
        row(
            "lines of JSON where events are due",
            typed("application/x-ndjson").chunk("{}\n"),
            "broken/wrong_media_type",
        ),
        row(
            "500 with a page where events are due",
            Script { status: Some(500), ..typed("text/html").chunk("<html>") },
            "broken/http_status",
        ),
        subscribe("a subscription to a finished task", json(rpc_error(-32004)), "refused/peer_error"),
        subscribe("a subscription that ends at once", Script::sse(), "broken/empty"),
        Fault::new(
            "REST: JSON where events are due",
            Ask::RestStream,
            json(task("COMPLETED")),
            "broken/silent_downgrade",
        ),
    ]
}
