//! The probe that sends a message: by option, marked as what it is, and cleaned up after.

use serde_json::json;

use crate::{
    mock::{Answer, Dialect, s},
    support::{Agent, Asked, builder, call, does, guard, html, no_task, refused_probe},
};

use Dialect::{Rest, V1, V02, V03};

/// Whether a request is the probe's, or cleans up after it.
fn is_probes(asked: &Asked) -> bool {
    asked.is_probe() || asked.json()["metadata"]["a2a_probe"] == true || asked.uri.path().ends_with(":cancel")
}

fn answering(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Agent {
    Agent::new(move |asked| if is_probes(asked) { answer(asked) } else { does(asked) })
}

fn ours(agent: &Agent) -> Vec<Asked> {
    agent.asked().into_iter().filter(is_probes).collect()
}

fn rpc_result(result: &str) -> Answer {
    Answer::json(format!(r#"{{"jsonrpc":"2.0","id":"a2a-guard-probe","result":{result}}}"#))
}

async fn once(agent: &Agent, dialect: Dialect) -> String {
    let layer = builder(agent).message_probe().build().unwrap();
    let word = call(&mut guard(&layer, agent), dialect.send()).await.word();
    // What it leaves behind is cleaned up in a task of its own.
    tokio::time::sleep(s(1)).await;
    word
}

#[tokio::test(start_paused = true)]
async fn without_the_option_no_message_is_ever_sent() {
    let agent = answering(no_task);
    let layer = builder(&agent).build().unwrap();
    assert_eq!(call(&mut guard(&layer, &agent), V1.send()).await.word(), "success/success");
    assert!(ours(&agent).iter().all(|asked| asked.json()["method"] == "GetTask"));
}

#[tokio::test(start_paused = true)]
async fn it_says_what_it_is_and_does_not_wait() {
    for (dialect, method) in [(V1, "SendMessage"), (V03, "message/send"), (V02, "tasks/send")] {
        let agent = answering(move |_| rpc_result(&dialect.task("COMPLETED")));
        assert_eq!(once(&agent, dialect).await, "success/success", "{dialect:?}");
        let asked = ours(&agent);
        assert_eq!(asked.len(), 1, "{dialect:?}: a finished task is not canceled");
        let body = asked[0].json();
        assert_eq!(body["method"], method);
        let params = &body["params"];
        assert_eq!(
            (&params["metadata"], &params["message"]["metadata"]),
            (&json!({"a2a_probe": true}), &json!({"a2a_probe": true}))
        );
        assert_eq!(params["message"]["parts"][0]["text"], "__probe__");
        match dialect {
            V1 => assert_eq!(params["configuration"], json!({"returnImmediately": true})),
            V03 => assert_eq!(params["configuration"], json!({"blocking": false})),
            _ => assert!(params["id"].is_string()),
        }
    }
    let agent = answering(|_| Answer::json(Rest.message()));
    assert_eq!(once(&agent, Rest).await, "success/success");
    let asked = ours(&agent);
    assert_eq!((asked.len(), asked[0].what().as_str()), (1, "POST /message:send"));
    assert_eq!(asked[0].json()["message"]["parts"][0]["text"], "__probe__");
    // 0.3 over HTTP+JSON has other names.
    let agent = answering(|_| Answer::json(Rest.message()));
    let layer = builder(&agent).message_probe().build().unwrap();
    let mut request = Rest.request("POST", "/v1/message:send", "{}".into());
    request.headers_mut().insert("a2a-version", "0.3".parse().unwrap());
    call(&mut guard(&layer, &agent), request).await;
    let body = ours(&agent)[0].json();
    assert_eq!(body["message"]["content"][0]["text"], "__probe__");
    assert_eq!(body["configuration"], json!({"blocking": false}));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_comes_of_it_is_canceled() {
    for (dialect, method) in [(V1, "CancelTask"), (V03, "tasks/cancel"), (V02, "tasks/cancel")] {
        let agent = answering(move |asked| match asked.json()["method"].as_str() {
            Some("CancelTask" | "tasks/cancel") => rpc_result(&dialect.bare_task("CANCELED")),
            _ => rpc_result(&dialect.task("WORKING")),
        });
        assert_eq!(once(&agent, dialect).await, "success/success");
        let asked = ours(&agent);
        assert_eq!(asked.len(), 2, "{dialect:?}");
        assert_eq!((&asked[1].json()["method"], &asked[1].json()["params"]["id"]), (&json!(method), &json!("task-1")));
    }
    let agent = answering(|asked| match asked.uri.path().ends_with(":cancel") {
        true => Answer::json(Rest.bare_task("CANCELED")),
        false => Answer::json(Rest.task("SUBMITTED")),
    });
    assert_eq!(once(&agent, Rest).await, "success/success");
    assert_eq!(ours(&agent)[1].what(), "POST /tasks/task-1:cancel");
}

/// A tenant that the call had in its body stands there again: in the message, and where its task is canceled.
#[tokio::test(start_paused = true)]
async fn it_is_for_the_tenant_of_the_call() {
    let agent = answering(|asked| match asked.uri.path().ends_with(":cancel") {
        true => Answer::json(Rest.bare_task("CANCELED")),
        false => Answer::json(Rest.task("SUBMITTED")),
    });
    let layer = builder(&agent).message_probe().build().unwrap();
    for (path, tenant) in [("/message:send", json!("acme")), ("/acme/message:send", json!(null))] {
        let before = ours(&agent).len();
        let request = Rest.request("POST", path, r#"{"tenant":"acme","message":{}}"#.into());
        assert_eq!(call(&mut guard(&layer, &agent), request).await.word(), "success/success");
        tokio::time::sleep(s(1)).await;
        let asked = ours(&agent).split_off(before);
        assert_eq!(
            asked.iter().map(|asked| asked.json()["tenant"].clone()).collect::<Vec<_>>(),
            [tenant.clone(), tenant]
        );
    }
}

/// Nobody waits for the cleaning up.
#[tokio::test(start_paused = true)]
async fn a_cancel_that_hangs_delays_no_call() {
    let agent = answering(|asked| match asked.json()["method"].as_str() {
        Some("CancelTask") => Answer::never(),
        _ => rpc_result(&V1.task("WORKING")),
    });
    let layer = builder(&agent).message_probe().build().unwrap();
    let mut service = guard(&layer, &agent);
    assert_eq!(call(&mut service, V1.send()).await.fate(), ("success/success".into(), s(0)));
    assert_eq!(call(&mut service, V1.send()).await.fate(), ("success/success".into(), s(0)));
}

#[tokio::test(start_paused = true)]
async fn codes_of_servers_speak_of_the_card() {
    let good = "success/success";
    let stale = "stale/endpoint_not_conforming";
    let rows = [
        (-32001, good, true),
        (-32004, good, true),
        (-32003, stale, true),
        (-32005, stale, true),
        (-32008, stale, true),
        (-32099, stale, true),
        (-32601, stale, false),
        (-32602, stale, false),
        (-32603, good, false),
        (-32100, good, false),
        (-31999, good, false),
        (42, good, false),
    ];
    for (code, word, distrusts) in rows {
        let agent = answering(move |_| refused_probe(code));
        let cards = cards_of(&agent);
        cards.put(&"https://agent.example.com/a2a".parse().unwrap(), CARD.into()).await.unwrap();
        let layer = builder(&agent).message_probe().cards(cards.clone()).build().unwrap();
        assert_eq!(call(&mut guard(&layer, &agent), V1.send()).await.word(), word, "{code}");
        // What is no A2A at all distrusts it as well.
        let distrusted = cards.snapshot()[0].distrusted;
        assert_eq!(distrusted, distrusts || word == stale, "{code}");
    }
    let agent = answering(|_| html(200));
    assert_eq!(once(&agent, V1).await, stale);
}

/// Without credentials that count, it does not matter what else is said.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_credentials_proves_nothing() {
    let agent = Agent::new(move |asked| match is_probes(asked) {
        true => {
            let body = r#"{"jsonrpc":"2.0","id":"a2a-guard-probe","error":{"code":-32004,"message":"no"}}"#;
            Answer::new(401, "application/json", crate::mock::MockBody::new().data(body))
        }
        false => Answer::json(V1.error(-32603)),
    });
    let layer = builder(&agent).message_probe().build().unwrap();
    assert_eq!(call(&mut guard(&layer, &agent), V1.send()).await.word(), "refused/peer_error");
    assert_eq!(layer.endpoints()[0].state, a2a_guard::probe_cache::EndpointState::Unknown);
}

const CARD: &str = r#"{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;

fn cards_of(agent: &Agent) -> a2a_guard::card_consistency::CardStore {
    a2a_guard::card_consistency::CardStore::builder::<_, http_body_util::Full<bytes::Bytes>, _>(agent.clone())
        .build()
        .unwrap()
}
