//! What the replayable cases under `tests/cases` give to begin with: every answer in them, under the choices that fit
//! it.

use std::{fs, io, path::Path};

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD},
};
use serde_json::Value;

use crate::oracle::events::by_the_standard;

/// An input, and the name of the target that it is for.
pub type Seed = (&'static str, Vec<u8>);

/// The seeds of all cases in a folder, and in those below it.
///
/// # Errors
/// A file cannot be read, or is no case.
pub fn of_cases(folder: &Path) -> io::Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            seeds.extend(of_cases(&path)?);
        } else {
            of_case(&serde_json::from_slice(&fs::read(path)?)?, &mut seeds);
        }
    }
    Ok(seeds)
}

/// Longer answers teach nothing more, and slow the fuzzer down.
const MAX: usize = 4096;

fn of_case(case: &Value, seeds: &mut Vec<Seed>) {
    let is_bare = u8::from(case["binding"] == "HTTP+JSON");
    if case["request"]["body"].is_object() {
        seeds.push(("request", [&[is_bare, 0, 0], case["request"]["body"].to_string().as_bytes()].concat()));
        seeds.push(("known", with_edits([0, 0, 0], case["request"]["body"].to_string().as_bytes())));
    }
    if case["card"].is_object() {
        seeds.push(("card", [&[0, 0], case["card"].to_string().as_bytes()].concat()));
        for interface in case["card"]["supportedInterfaces"].as_array().into_iter().flatten() {
            let url = interface["url"].as_str().unwrap_or_default();
            seeds.push(("url", [&[0], url.as_bytes()].concat()));
        }
    }
    let trailers = &case["response"]["trailers"];
    if let Some(text) = trailers["grpc-status-details-bin"].as_str()
        && let Ok(status) = BASE64_STANDARD_NO_PAD.decode(text.trim_end_matches('='))
    {
        seeds.push(("details", [&[1, 0], &status[..]].concat()));
    }
    let body: Vec<u8> =
        case["response"]["chunks"].as_array().into_iter().flatten().flat_map(|chunk| data(&chunk["data"])).collect();
    if body.len() > MAX {
        return;
    }
    if case["kind"] == "card" {
        return seeds.push(("card", [&[0, 0], &body[..]].concat()));
    }
    let operation = case["request"]["path"].as_str().unwrap_or_default();
    let is_v03 = case["version"] != "1.0";
    seeds.push(("layer", [&of_plan(case, operation)[..], &body[..]].concat()));
    if case["binding"] == "GRPC" {
        let payload = match operation.rsplit('/').next().unwrap_or_default() {
            "SendMessage" => 0,
            "SendStreamingMessage" | "SubscribeToTask" | "TaskSubscription" => 1,
            "GetTask" | "CancelTask" => 2,
            _ => 3,
        };
        seeds.push(("grpc", [&[payload, u8::from(is_v03), 0, 0, 0, 0], &body[..]].concat()));
        return;
    }
    seeds.push(("json", [&[0, 0], &body[..]].concat()));
    if holds(&body, b"code") || holds(&body, b"detail") {
        seeds.push(("details", [&[0, 0], &body[..]].concat()));
    }
    let envelope = u8::from(case["binding"] == "HTTP+JSON");
    let wrapping = match case["version"].as_str() {
        Some("0.3") if envelope == 0 => 1,
        Some("0.2") => 2,
        _ => 0,
    };
    let sse_choices = [envelope, wrapping, 0, 0, 0, 0, 0, 0, 0];
    let events = by_the_standard(&body).events;
    if !events.is_empty() {
        seeds.push(("sse", [&sse_choices, &body[..]].concat()));
        seeds.extend(with_other_texts(sse_choices, &body, events[0].end).map(|seed| ("sse", seed)));
        for event in events {
            seeds.push(("answer", [&[envelope, wrapping, 1, 0, 0, 0], &event.data[..]].concat()));
        }
        return;
    }
    let payload = match case["request"]["body"]["method"].as_str().unwrap_or(operation) {
        "SendMessage" | "message/send" | "tasks/send" | "/message:send" | "/v1/message:send" => 0,
        "GetTask" | "CancelTask" | "tasks/get" | "tasks/cancel" => 2,
        method if method.contains("elete") => 5,
        method if method.contains("ist") => 4,
        _ => 3,
    };
    seeds.push(("answer", [&[envelope, wrapping, payload, 0, 0, 0], &body[..]].concat()));
    let dialect = if envelope == 1 { 3 } else { wrapping };
    let operation = [0, 1, 1, 2, 2, 3].get(usize::from(payload)).copied().unwrap_or_default();
    seeds.push(("known", with_edits([dialect, operation, 0], &body)));
}

/// A document, and an edit in each of its first texts.
fn with_edits(choices: [u8; 3], document: &[u8]) -> Vec<u8> {
    let texts = document.windows(2).enumerate().filter(|(_, pair)| pair == b":\"").map(|(at, _)| at + 2);
    let edits: Vec<[u8; 4]> = texts
        .take(6)
        .filter_map(|at| u16::try_from(at).ok())
        .map(|at| [at.to_be_bytes()[0], at.to_be_bytes()[1], 1, at.to_be_bytes()[1]])
        .collect();
    [&choices, &[edits.len() as u8][..], &edits.concat(), document].concat()
}

/// A stream whose first event comes four times, with another text in the place of its last each time.
fn with_other_texts(mut choices: [u8; 9], body: &[u8], end: usize) -> Option<Vec<u8>> {
    let before = body[..end].windows(2).rposition(|pair| pair == b":\"")?;
    let place = u16::try_from(before + 2).ok()?.to_be_bytes();
    choices[3..7].copy_from_slice(&[0b1011, place[0], place[1], 0x10]);
    Some([&choices, body].concat())
}

/// The choices of a [`Plan`](crate::calls::Plan) that goes as the case does.
fn of_plan(case: &Value, operation: &str) -> [u8; 22] {
    let dialect = match (case["binding"].as_str(), case["version"].as_str()) {
        (Some("JSONRPC"), Some("1.0")) => 0,
        (Some("JSONRPC"), Some("0.3")) => 1,
        (Some("JSONRPC"), _) => 2,
        (Some("GRPC"), Some("1.0")) => 4,
        (Some("GRPC"), _) => 5,
        _ => 3,
    };
    let name = case["request"]["body"]["method"].as_str().unwrap_or(operation);
    let ask = match name {
        name if name.contains("tream") || name.contains("sendSubscribe") => 1,
        name if name.contains("ubscri") => 5,
        name if name.ends_with("end") || name.ends_with("SendMessage") => 0,
        name if name.contains("elete") => 6,
        name if name.contains("ist") => 7,
        _ => 4,
    };
    let head = &case["response"];
    let status = match head["status"].as_u64() {
        Some(400) => 9,
        Some(401) => 10,
        Some(404) => 11,
        Some(429) => 12,
        Some(500) => 13,
        Some(503) => 14,
        _ => 0,
    };
    let media = match head["headers"]["content-type"].as_str() {
        Some(media) if media.contains("event-stream") => 5,
        Some(media) if media.contains("problem") => 7,
        Some(media) if media.contains("json") => 4,
        Some(media) if media.contains("html") => 9,
        Some(media) if media.contains("plain") => 10,
        _ => 0,
    };
    let comes = if head["status"].is_null() { 0 } else { 2 };
    let trailers = match head["trailers"]["grpc-status"].as_str() {
        Some("0") => 0,
        Some(_) => 4,
        None => 1,
    };
    let end = match head["end"].as_str() {
        Some("hang") => 6,
        Some("reset" | "cut") => 5,
        _ => 0,
    };
    let mut choices = [0; 22];
    choices[..2].copy_from_slice(&[dialect, ask]);
    choices[3..10].copy_from_slice(&[0, status, media, 0, 0, comes, trailers]);
    choices[12] = end;
    // Cut anywhere.
    choices[16] = 4;
    choices
}

fn holds(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

fn data(data: &Value) -> Vec<u8> {
    match data {
        Value::String(text) => text.clone().into_bytes(),
        Value::Object(parts) => match (&parts.get("base64"), &parts.get("repeat")) {
            (Some(Value::String(text)), _) => BASE64_STANDARD.decode(text).unwrap_or_default(),
            // A few times are as good as many.
            (_, Some(Value::String(text))) => text.repeat(3).into_bytes(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
