//! What a request was named says nothing of the next: requests are named alike whatever the layer saw before.

use a2a_guard::CallLayer;
use http_body_util::BodyExt;

use crate::{call_of, mock::MockBody, passed, request};

fn layer() -> CallLayer {
    CallLayer::new().skill_metadata("skillId").region_metadata("region")
}

/// Requests that are alike, and some that are nearly so.
fn bodies() -> Vec<String> {
    let good = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"tenant":"one","message":{"messageId":"m","taskId":"t-1","contextId":"c-1","role":"ROLE_USER","parts":[{"text":"hello"}]},"configuration":{"historyLength":2},"metadata":{"skillId":"translate","region":"eu","trace":"a"}}}"#;
    let with = |from: &str, to: &str| good.replace(from, to);
    vec![
        good.to_owned(),
        with("\"id\":1", "\"id\":22"),
        with("\"id\":1", "\"id\":\"a\""),
        with("\"id\":1", "\"id\":\"b\\u0062\""),
        with("\"id\":1", "\"id\":null"),
        with("\"id\":1,", ""),
        with("SendMessage", "SendStreamingMessage"),
        with("SendMessage", "message/send"),
        with("\"one\"", "\"two\""),
        with("\"one\"", "null"),
        with("t-1", "t-2"),
        with("t-1", ""),
        with("c-1", "another, and a long one at that, of more than forty bytes"),
        with("hello", "good day \\n \u{e9}"),
        with("hello", "\"}]},\"tenant\":\"three\",\"x\":[{\"y\":\""),
        with("translate", "summarise"),
        with("\"eu\"", "\"us\""),
        with("\"a\"}", "\"bb\"}"),
        with(":2}", ":30}"),
        with("{\"historyLength\":2}", "{\"returnImmediately\":true}"),
        good[..good.len() - 2].to_owned(),
        "no JSON".to_owned(),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_request_is_named_alike_whatever_came_before() {
    for path in ["/a2a", "/message:send"] {
        let bodies = bodies();
        let of = |at: usize| request("POST", path, MockBody::of([bodies[at].clone().into()]));
        let mut alone = Vec::new();
        for at in 0..bodies.len() {
            alone.push(format!("{:?}", call_of(&passed(&layer(), of(at)).await)));
        }
        let pairs = (0..bodies.len()).flat_map(|one| (0..bodies.len()).map(move |other| (one, other)));
        let layer = layer();
        for at in pairs.flat_map(|(one, other)| [one, one, other, other]) {
            let passed = passed(&layer, of(at)).await;
            assert_eq!(format!("{:?}", call_of(&passed)), alone[at], "{}", bodies[at]);
            assert_eq!(passed.into_body().collect().await.unwrap().to_bytes(), bodies[at]);
        }
    }
}

/// A layer is printed by who sets it up, and requests are somebody else's.
#[tokio::test(start_paused = true)]
async fn what_a_layer_remembers_it_does_not_show() {
    let layer = layer();
    let before = format!("{layer:?}");
    let body = bodies().swap_remove(0);
    for _ in 0..8 {
        passed(&layer, request("POST", "/a2a", MockBody::of([body.clone().into()]))).await;
    }
    let shown = format!("{layer:?}");
    for text in ["t-1", "c-1", "one", "translate", "SendMessage", "hello"] {
        let numbers = text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
        for spelled in [text, &numbers] {
            assert!(before.contains(spelled) || !shown.contains(spelled), "{text}: {shown}");
        }
    }
}
