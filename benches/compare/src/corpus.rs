//! The bytes that are judged, made here so that everyone measures the same ones.
//!
//! All of them are valid A2A 1.0: a JSON-RPC `SendMessage` and its result (a task with status, one artifact and a
//! history of two messages), and a `SendStreamingMessage` stream of artifact chunks with a status among every sixteen.
//! Each is padded to its exact size in the artifact's text. Requests and results that take turns are a little shorter,
//! each by another length.

use a2a_guard::wire::grpc::encode::Message;
use bytes::Bytes;

const TASK: &str = "0f8f5d2e-5d39-4b8c-9d57-3a8e2f1b7c64";
const CONTEXT: &str = "c1a9e0b4-7f26-4f0d-8a3b-6d5e4c3b2a19";

/// Prose as a model writes it into JSON: ASCII, an escaped line end every 70 bytes or so, now and then a quotation.
const PROSE: [&str; 4] = [
    r"The supplier confirmed the order on Tuesday and will ship in two parts.\n",
    r"The first part holds the forty units that were in stock, the second the\n",
    r#"rest; both carry the reference \"PO-20931\". No further action is needed\n"#,
    r"before the invoice arrives, which the agent will match on its own.\n",
];

/// Text in which every character is three bytes long.
const KANJI: &str = "注文は火曜日に確認され、二回に分けて発送されます。請求書が届くまで対応は不要です。";

/// What fills the artifact of a large result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// One string without escapes, as a file part has it.
    Base64,
    /// One string of prose, with escapes.
    Prose,
    /// One string of three-byte characters.
    Kanji,
    /// Records: short keys, numbers, booleans, nulls and small arrays.
    Records,
}

/// A `SendMessage` request body of exactly `size` bytes.
pub fn request(size: usize) -> Bytes {
    let head = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"6d7f0c1e-93b4-4c55-8f0e-b1d0a2c4e6f8","role":"ROLE_USER","parts":[{"text":""#;
    let tail = r#""}]},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":2},"metadata":{"trace":"4bf92f3577b34da6"}}}"#;
    padded(head, &prose(0), tail, size)
}

/// How many requests and answers take turns.
const TURNS: usize = 16;

/// As many `SendMessage` requests as take turns, as a client makes them: each with an id, a text and a trace of its
/// own.
pub fn requests(size: usize) -> Vec<Bytes> {
    let of = |turn: usize| {
        let whole = request(size - 13 * turn);
        let text = std::str::from_utf8(&whole).expect("JSON");
        text.replace("6d7f0c1e", &some(turn)).replace("4bf92f35", &some(turn + 1)).into()
    };
    (0..TURNS).map(of).collect()
}

/// As many `SendMessage` results as take turns, as a server writes them: each with ids, times and texts of its own.
pub fn results(filling: Filling, size: usize) -> Vec<Bytes> {
    let of = |turn: usize| {
        let whole = result(filling, size - 13 * turn);
        let text = std::str::from_utf8(&whole).expect("JSON");
        let time = format!("09:{:02}:{:02}.{:03}Z", turn * 7 % 60, turn * 11 % 60, turn * 41);
        text.replace(&TASK[..8], &some(turn))
            .replace(&CONTEXT[..8], &some(turn + 1))
            .replace("09:12:44.120Z", &time)
            .replace("the order", if turn.is_multiple_of(3) { "the invoice" } else { "it" })
            .into()
    };
    (0..TURNS).map(of).collect()
}

/// Eight digits that differ from turn to turn.
fn some(turn: usize) -> String {
    format!("{:08x}", 0x9e37_79b9_u32.wrapping_mul(turn as u32 + 1))
}

/// A `SendMessage` result of exactly `size` bytes.
pub fn result(filling: Filling, size: usize) -> Bytes {
    let head = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"task":{{"id":"{TASK}","contextId":"{CONTEXT}","status":{{"state":"TASK_STATE_COMPLETED","timestamp":"2025-11-03T09:12:44.120Z"}},"artifacts":[{{"artifactId":"a-1","name":"answer","parts":[{{"#
    );
    let tail = format!(
        r#"}}]}}],"history":[{{"messageId":"m-1","role":"ROLE_USER","taskId":"{TASK}","parts":[{{"text":"Has the order been confirmed?"}}]}},{{"messageId":"m-2","role":"ROLE_AGENT","taskId":"{TASK}","parts":[{{"text":"Yes, see the artifact."}}]}}]}}}}}}"#
    );
    match filling {
        Filling::Base64 => padded(
            &format!(r#"{head}"mediaType":"application/pdf","raw":""#),
            "JVBERi0xLjcKJcOkw7zDtsOfCjIgMCBvYmoKPDwvTGVuZ3RoIDMgMCBSL0ZpbHRlci9GbGF0ZURlY29kZT4",
            &format!(r#""{tail}"#),
            size,
        ),
        Filling::Prose => padded(&format!(r#"{head}"text":""#), &prose(0), &format!(r#""{tail}"#), size),
        Filling::Kanji => padded(&format!(r#"{head}"text":""#), KANJI, &format!(r#""{tail}"#), size),
        Filling::Records => {
            let mut records = String::new();
            let room = size - head.len() - tail.len() - r#""data":{"rows":[],"note":""}"#.len();
            for row in 0.. {
                let record = format!(
                    r#"{{"sku":"A-{row:05}","qty":{},"price":{}.5,"tags":["new","eu"],"stock":{},"next":null}},"#,
                    row % 9,
                    row % 400,
                    row % 2 == 0,
                );
                if records.len() + record.len() > room {
                    break;
                }
                records.push_str(&record);
            }
            records.pop();
            padded(&format!(r#"{head}"data":{{"rows":[{records}],"note":""#), &prose(0), &format!(r#""}}{tail}"#), size)
        }
    }
}

/// A stream of `count` events of exactly `size` bytes each: a task, chunks and statuses, and the completion.
pub fn events(count: usize, size: usize) -> Vec<Bytes> {
    (0..count)
        .map(|number| match number {
            0 => event(
                &format!(r#""task":{{"id":"{TASK}","contextId":"{CONTEXT}","status":{{"state":"TASK_STATE_SUBMITTED""#),
                "}}",
                number,
                size,
            ),
            _ if number + 1 == count => status("TASK_STATE_COMPLETED", number, size),
            _ if number % 16 == 0 => status("TASK_STATE_WORKING", number, size),
            _ => chunk(number, size),
        })
        .collect()
}

/// The id of a request as official clients number theirs.
pub const SDK_ID: &str = "b1d0a2c4-93b4-4c55-8f0e-6d7f0c1ee6f8";

/// The same stream as the Python SDK writes it: for a request with such an id, in lines that end with `\r\n`.
pub fn events_of_sdk(count: usize, size: usize) -> Vec<Bytes> {
    let id = format!("\"{SDK_ID}\"");
    let longer = id.len() - 1 + "\r\r".len();
    let written = |event: &Bytes| {
        let text = std::str::from_utf8(event).expect("an event of text");
        Bytes::from(text.replacen(r#""id":1"#, &format!(r#""id":{id}"#), 1).replace('\n', "\r\n"))
    };
    events(count, size - longer).iter().map(written).collect()
}

/// A framed `SendMessageResponse` of exactly `size` bytes: the task that [`result`] has too.
pub fn grpc_result(size: usize) -> Bytes {
    const COMPLETED: u64 = 3;
    let message = |id: &str, role, text: &str| {
        Message::new().text(1, id).text(3, TASK).number(4, role).message(5, Message::new().text(1, text))
    };
    padded_message(size, |text| {
        let artifact = Message::new().text(1, "a-1").text(2, "answer").message(4, Message::new().text(1, text));
        let task = Message::new()
            .text(1, TASK)
            .text(2, CONTEXT)
            .message(3, Message::new().number(1, COMPLETED).message(3, Message::new().number(1, 1_762_161_164)))
            .message(4, artifact)
            .message(5, message("m-1", 1, "Has the order been confirmed?"))
            .message(5, message("m-2", 2, "Yes, see the artifact."));
        Message::new().message(1, task)
    })
}

/// The stream that [`events`] is too, as framed `StreamResponse`s.
pub fn grpc_messages(count: usize, size: usize) -> Vec<Bytes> {
    const SUBMITTED: u64 = 1;
    const WORKING: u64 = 2;
    const COMPLETED: u64 = 3;
    let about = || Message::new().text(1, TASK).text(2, CONTEXT);
    let status = |state, text: &str| {
        let words = Message::new().text(1, "m-1").number(4, 2).message(5, Message::new().text(1, text));
        about().message(3, Message::new().number(1, state).message(2, words))
    };
    let of = |number: usize, text: &str| match number {
        0 => Message::new().message(1, status(SUBMITTED, text)),
        _ if number + 1 == count => Message::new().message(3, status(COMPLETED, text)),
        _ if number.is_multiple_of(16) => Message::new().message(3, status(WORKING, text)),
        _ => {
            let artifact = Message::new().text(1, "a-1").message(4, Message::new().text(1, text));
            Message::new().message(4, about().message(3, artifact).number(4, 1))
        }
    };
    (0..count).map(|number| padded_message(size, |text| of(number, text))).collect()
}

/// The framed message that `of` makes of as much text as gives it exactly this size.
fn padded_message(size: usize, of: impl Fn(&str) -> Message) -> Bytes {
    let prose = prose(0);
    let text = |len| -> String { prose.chars().cycle().take(len).collect() };
    let around = of("").framed().map_or(0, |message| message.len());
    // The lengths around the text are varints, whose own length depends on it.
    (0..=size.saturating_sub(around))
        .rev()
        .filter_map(|len| of(&text(len)).framed())
        .find(|message| message.len() == size)
        .unwrap_or_else(|| panic!("no message of {size} bytes"))
}

fn status(state: &str, number: usize, size: usize) -> Bytes {
    event(
        &format!(r#""statusUpdate":{{"taskId":"{TASK}","contextId":"{CONTEXT}","status":{{"state":"{state}""#),
        "}}",
        number,
        size,
    )
}

/// A task, so many updates of its status as short as they can be, about a hundred bytes each, and the completion.
pub fn smallest(count: usize) -> Vec<Bytes> {
    let of = |number: usize| match number {
        0 => r#""task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}"#,
        _ if number + 1 == count => r#""statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED"}"#,
        _ => r#""statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING"}"#,
    };
    let event = |number| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{{}}}}}}}\n\n", of(number));
    (0..count).map(|number| event(number).into()).collect()
}

/// The usual event: the next few words of an artifact.
fn chunk(number: usize, size: usize) -> Bytes {
    let head = format!(
        r#"data: {{"jsonrpc":"2.0","id":1,"result":{{"artifactUpdate":{{"taskId":"{TASK}","contextId":"{CONTEXT}","append":true,"artifact":{{"artifactId":"a-1","parts":[{{"text":"{number} "#
    );
    padded(&head, &prose(number), "\"}]}}}}\n\n", size)
}

fn event(head: &str, closing: &str, number: usize, size: usize) -> Bytes {
    let head = format!(r#"data: {{"jsonrpc":"2.0","id":1,"result":{{{head},"x":"{number} "#);
    padded(&head, &prose(number), &format!("\"{closing}}}}}\n\n"), size)
}

/// The prose from another line on, so that neighbouring events differ as a model's output does.
fn prose(from: usize) -> String {
    (0..PROSE.len()).map(|line| PROSE[(from + line) % PROSE.len()]).collect()
}

/// `head`, as much of `text` (over and over) as fits, `tail`: `size` bytes in all.
fn padded(head: &str, text: &str, tail: &str, size: usize) -> Bytes {
    let room = size
        .checked_sub(head.len() + tail.len())
        .unwrap_or_else(|| panic!("{size} bytes hold no {} of frame", head.len() + tail.len()));
    let mut whole = String::with_capacity(size);
    whole.push_str(head);
    let mut left = room;
    'fill: loop {
        for piece in pieces(text) {
            if piece.len() > left {
                break 'fill;
            }
            whole.push_str(piece);
            left -= piece.len();
        }
    }
    // What no whole piece fits into.
    whole.extend(std::iter::repeat_n('.', left));
    whole.push_str(tail);
    Bytes::from(whole)
}

/// The characters of `text`, a backslash together with what it escapes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '\\' => 2,
            other => other.len_utf8(),
        };
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn bodies_are_json_of_their_exact_size() {
        assert_eq!(request(1024).len(), 1024);
        serde_json::from_slice::<Value>(&request(1024)).unwrap();
        for filling in [Filling::Base64, Filling::Prose, Filling::Kanji, Filling::Records] {
            for size in [1024, 1 << 20] {
                let body = result(filling, size);
                assert_eq!(body.len(), size, "{filling:?}");
                let value: Value = serde_json::from_slice(&body).unwrap();
                let task = &value["result"]["task"];
                assert_eq!(task["id"], TASK);
                assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
                assert_eq!(task["history"].as_array().unwrap().len(), 2);
            }
        }
    }

    #[test]
    fn prose_has_escapes_and_no_raw_line_ends() {
        let body = result(Filling::Prose, 1 << 20);
        let text = std::str::from_utf8(&body).unwrap();
        assert!(!text.contains('\n'));
        assert!(text.matches("\\n").count() > 10_000);
        assert!(text.is_ascii());
    }

    #[test]
    fn messages_are_of_their_exact_size_and_valid() {
        assert_eq!(grpc_result(1024).len(), 1024);
        crate::ours::judge_message(&grpc_result(1024));
        let all = grpc_messages(100, 384);
        assert!(all.iter().all(|message| message.len() == 384));
        crate::ours::judge_messages(&all);
    }

    #[test]
    fn events_of_an_sdk_are_of_their_exact_size_too() {
        for event in events_of_sdk(40, 384) {
            assert_eq!(event.len(), 384);
            let data = event.strip_prefix(b"data: ").and_then(|rest| rest.strip_suffix(b"\r\n\r\n")).expect("a frame");
            assert_eq!(serde_json::from_slice::<Value>(data).expect("JSON")["id"], SDK_ID);
        }
    }

    #[test]
    fn the_smallest_events_are_small_and_valid() {
        let all = smallest(1_000);
        assert_eq!(all.len(), 1_000);
        assert!(all.iter().all(|event| (80..=120).contains(&event.len())), "{}", all[1].len());
        crate::ours::judge_stream(&all, &a2a_guard::wire::JsonRpcId::Number(1));
    }

    #[test]
    fn events_are_of_their_exact_size_and_end_completed() {
        for size in [256, 384, 512] {
            let all = events(1_000, size);
            assert_eq!(all.len(), 1_000);
            for (number, event) in all.iter().enumerate() {
                assert_eq!(event.len(), size);
                let data = event.strip_prefix(b"data: ").unwrap();
                let value: Value = serde_json::from_slice(data.strip_suffix(b"\n\n").unwrap()).unwrap();
                let result = value["result"].as_object().unwrap();
                assert_eq!(result.len(), 1);
                assert_eq!(result.contains_key("task"), number == 0);
                let state = &value["result"]["statusUpdate"]["status"]["state"];
                assert_eq!(state == "TASK_STATE_COMPLETED", number == 999);
            }
        }
    }
}
