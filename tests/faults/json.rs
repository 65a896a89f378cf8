//! Unary answers whose framing is right and whose content is not, or only looks as if it were not.

use super::Fault;
use crate::{
    peer::Script,
    support::{Ask, event, rpc, rpc_error, task},
};

pub(super) fn faults() -> Vec<Fault> {
    [no_json(), odd_json(), envelopes(), results(), rest(), media(), strict()].into_iter().flatten().collect()
}

fn send(name: &'static str, body: impl Into<Vec<u8>>, expected: &'static str) -> Fault {
    Fault::new(name, Ask::Send, Script::json(body.into()), expected)
}

fn good() -> String {
    rpc(&task("COMPLETED"))
}

/// A good answer with something in it that no one asked for.
fn with(metadata: &str) -> String {
    let task = task("COMPLETED");
    let task = task.strip_suffix("}}").unwrap();
    rpc(&format!(r#"{task},"metadata":{metadata}}}}}"#))
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn no_json() -> Vec<Fault> {
    let wide: Vec<u8> = good().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bad = "broken/malformed";
    vec![
        send("nothing", "", "broken/empty"),
        send("nothing but white space", " \r\n\t", "broken/empty"),
        send("text that calls itself JSON", "Internal Server Error", bad),
        send("HTML that calls itself JSON", "<!doctype html><title>502</title>", bad),
        send("cut within a text", &good()[..30], bad),
        send("cut before the last brace", &good()[..good().len() - 1], bad),
        send("a brace too many", good() + "}", bad),
        send("two answers", good() + &good(), bad),
        send("NUL bytes behind the answer", good() + "\0\0\0\0", bad),
        send("NUL bytes instead of an answer", vec![0; 300], bad),
        send("a NUL in a text", with("\"a\0b\""), bad),
        send("a raw line end in a text", with("\"a\nb\""), bad),
        send("a comma too many", with("[1,2,]"), bad),
        send("a comment", good() + " // done", bad),
        send("single quotes", good().replace('"', "'"), bad),
        send("NaN", with("NaN"), bad),
        send("a number with a leading zero", with("007"), bad),
        send("UTF-16", wide, bad),
        send("a byte order mark", format!("\u{feff}{}", good()), bad),
        send("invalid UTF-8", replace(&with("\"@\""), &[0xff, 0xfe]), bad),
        send("an overlong encoding", replace(&with("\"@\""), &[0xc0, 0x80]), bad),
        send("an encoded surrogate", replace(&with("\"@\""), &[0xed, 0xa0, 0x80]), bad),
        send("half a character", replace(&with("\"@\""), &[0xe2, 0x82]), bad),
        send("100,000 levels", with(&nested(100_000)), bad),
    ]
}

/// `@` becomes bytes that no Rust text can hold.
fn replace(text: &str, bytes: &[u8]) -> Vec<u8> {
    let (before, after) = text.split_once('@').unwrap();
    [before.as_bytes(), bytes, after.as_bytes()].concat()
}

fn odd_json() -> Vec<Fault> {
    let good_all_the_same = "success/success";
    let digits = "9".repeat(10_000);
    vec![
        send("200 levels", with(&nested(200)), good_all_the_same),
        send("a number of 10,000 digits", with(&digits), good_all_the_same),
        send("a number past every float", with("-1e999999"), good_all_the_same),
        send("half a surrogate pair, escaped", with(r#""\ud83d""#), good_all_the_same),
        send("a key twice where it does not matter", with(r#"{"a":1,"a":2}"#), good_all_the_same),
        send("a text of 100 kB", with(&format!("\"{}\"", "x".repeat(100_000))), good_all_the_same),
        send(
            "10,000 keys",
            with(&format!("{{{}}}", (0..10_000).map(|n| format!("\"{n}\":0")).collect::<Vec<_>>().join(","))),
            good_all_the_same,
        ),
        send(
            "every letter escaped",
            good().replace("result", r"\u0072\u0065\u0073\u0075\u006c\u0074"),
            good_all_the_same,
        ),
        send("white space everywhere", good().replace(':', " :\r\n\t"), good_all_the_same),
    ]
}

fn envelopes() -> Vec<Fault> {
    let bad = "broken/protocol_violation";
    let result = task("COMPLETED");
    let error = r#""error":{"code":-32603,"message":"no"}"#;
    vec![
        send("a batch", format!("[{}]", good()), bad),
        send("an empty batch", "[]", bad),
        send("a text", "\"ok\"", bad),
        send("a number", "42", bad),
        send("null", "null", bad),
        send("an empty object", "{}", bad),
        send("another call's id", good().replace("\"id\":1,", "\"id\":2,"), bad),
        send("another id in kind and value", good().replace("\"id\":1,", "\"id\":\"2\","), bad),
        send("an id past every integer", good().replace("\"id\":1,", "\"id\":1e400,"), bad),
        send("an id that is a list", good().replace("\"id\":1,", "\"id\":[1],"), bad),
        send("the id null beside a result", good().replace("\"id\":1,", "\"id\":null,"), bad),
        send("no id beside a result", good().replace("\"id\":1,", ""), bad),
        send("an error for another call", rpc_error(-32603).replace("\"id\":1,", "\"id\":7,"), bad),
        send("result and error", format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result},{error}}}"#), bad),
        send("neither result nor error", r#"{"jsonrpc":"2.0","id":1}"#, bad),
        send("a result that is null", rpc("null"), bad),
        send("another JSON-RPC", good().replace("2.0", "1.0"), bad),
        send("two results", format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result},"result":{result}}}"#), bad),
        send("two ids", good().replace("\"id\":1,", "\"id\":1,\"id\":2,"), bad),
        send("an error that is a text", r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, bad),
        send("an error", rpc_error(-32603), "refused/peer_error"),
        send("an error without an id", rpc_error(-32700).replace("\"id\":1,", ""), "refused/peer_error"),
        send("an error with a huge code", rpc_error(i64::MAX), "refused/peer_error"),
        send("the id as a text", good().replace("\"id\":1,", "\"id\":\"1\","), "success/success"),
        send("the id as a float", good().replace("\"id\":1,", "\"id\":1.0,"), "success/success"),
        send("the request, echoed", r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}"#, bad),
    ]
}

fn results() -> Vec<Fault> {
    let bad = "broken/protocol_violation";
    let get = |name, result: &str, expected| Fault::new(name, Ask::Get, Script::json(rpc(result)), expected);
    let state = |state: &str| good().replace("\"TASK_STATE_COMPLETED\"", state);
    vec![
        send("a result that is a text", rpc("\"done\""), bad),
        send("a result that is a list", rpc(&format!("[{}]", task("COMPLETED"))), bad),
        send("a result with nothing in it", rpc("{}"), bad),
        send("a task that is null", rpc(r#"{"task":null}"#), bad),
        send("a task that is a text", rpc(r#"{"task":"task-1"}"#), bad),
        send(
            "task and message",
            rpc(
                r#"{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}},"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}"#,
            ),
            bad,
        ),
        send("a task without an id", good().replace("\"id\":\"task-1\",", ""), bad),
        send("a task without a status", rpc(r#"{"task":{"id":"task-1"}}"#), bad),
        send("a task with two states", state(r#""TASK_STATE_WORKING","state":"TASK_STATE_COMPLETED""#), bad),
        send("a state that is a list", state("[]"), bad),
        send("a bare task", rpc(r#"{"id":"task-1","status":{"state":"TASK_STATE_COMPLETED"}}"#), bad),
        send("an error in the result", rpc(r#"{"error":{"code":-32603,"message":"no"}}"#), bad),
        send("an event for an answer", rpc(&crate::support::update("COMPLETED")), bad),
        send("a state by its number", state("3"), "success/success"),
        send("a state that nobody knows", state("\"TASK_STATE_DREAMING\""), "success/success"),
        send("a task that failed", rpc(&task("FAILED")), "success/success"),
        send("a task that was rejected", rpc(&task("REJECTED")), "success/success"),
        get("a wrapped task where a bare one is due", &task("COMPLETED"), bad),
        get("nothing for a task", "{}", bad),
    ]
}

fn rest() -> Vec<Fault> {
    let bad = "broken/protocol_violation";
    let send = |name, body: &str, expected| Fault::new(name, Ask::RestSend, Script::json(body.to_owned()), expected);
    let get = |name, body: &str, expected| Fault::new(name, Ask::RestGet, Script::json(body.to_owned()), expected);
    vec![
        send("REST: nothing", "", "broken/empty"),
        send("REST: an empty object", "{}", bad),
        send("REST: a list", "[]", bad),
        send("REST: null", "null", bad),
        send("REST: a JSON-RPC envelope", &good(), bad),
        send(
            "REST: two tasks",
            &format!("{{{0},{0}}}", task("COMPLETED").trim_matches(['{', '}'])),
            "broken/malformed",
        ),
        send("REST: garbage behind the task", &(task("COMPLETED") + "ok"), "broken/malformed"),
        send(
            "REST: an error under 200",
            r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no"}}"#,
            "refused/peer_error",
        ),
        send("REST: 100,000 levels", &nested(100_000), "broken/malformed"),
        get("REST: a wrapped task where a bare one is due", &task("COMPLETED"), bad),
        get("REST: cut", r#"{"id":"task-1","status":{"#, "broken/malformed"),
        Fault::new("REST: 204 to a delete", Ask::RestDelete, Script::new(204), "success/success"),
        Fault::new("REST: 200 and nothing to a delete", Ask::RestDelete, Script::new(200), "success/success"),
    ]
}

fn media() -> Vec<Fault> {
    let bad = "broken/wrong_media_type";
    let typed = |name, ask, media: &str, body: String| {
        let script = Script::new(200).header("content-type", media).chunk(body);
        Fault::new(name, ask, script, bad)
    };
    let untyped = Script::new(200).chunk(good());
    vec![
        typed("HTML", Ask::Send, "text/html; charset=utf-8", "<!doctype html>".into()),
        typed("HTML to a REST get", Ask::RestGet, "text/html", "<!doctype html>".into()),
        typed("nothing, as HTML", Ask::Send, "text/html", String::new()),
        typed("text", Ask::Send, "text/plain", "ok".into()),
        typed("JSON that calls itself text", Ask::Send, "text/plain", good()),
        typed("an event stream to a unary call", Ask::Send, "text/event-stream", event(&good())),
        typed("an event stream to a REST get", Ask::RestGet, "text/event-stream", event("{}")),
        typed("gRPC to JSON-RPC", Ask::Send, "application/grpc", String::new()),
        typed("a multipart answer", Ask::Send, "multipart/mixed; boundary=x", "--x--".into()),
        typed("bytes", Ask::Send, "application/octet-stream", good()),
        Fault::new("no type at all", Ask::Send, untyped, "success/success"),
        Fault::new(
            "a type with parameters",
            Ask::Send,
            Script::new(200).header("content-type", "Application/A2A+JSON ; Charset=\"utf-8\"").chunk(good()),
            "success/success",
        ),
    ]
}

fn strict() -> Vec<Fault> {
    let bad = "broken/protocol_violation";
    vec![
        send("strict: the id as a text", good().replace("\"id\":1,", "\"id\":\"1\","), bad).strict(),
        send("strict: null beside the result", good().replace("\"id\":1,", "\"id\":1,\"error\":null,"), bad).strict(),
        send("strict: no jsonrpc", good().replace("\"jsonrpc\":\"2.0\",", ""), bad).strict(),
        send("strict: nothing to complain of", good(), "success/success").strict(),
        send(
            "lenient: null beside the result",
            good().replace("\"id\":1,", "\"id\":1,\"error\":null,"),
            "success/success",
        ),
        send("lenient: no jsonrpc", good().replace("\"jsonrpc\":\"2.0\",", ""), "success/success"),
    ]
}
