//! Calls that succeed with one answer.

use a2a_guard::Binding;
use http::StatusCode;

use crate::ask::Ask;
use crate::caller::Peer;

over_both_bindings! {
    message
    task
    each_state_of_rest
    a_large_artifact
    a_send_that_left_its_task_unfinished
    get
    list
    cancel
    follow_up
    push_configurations
    extended_card
}

async fn message(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.same_as_bare(Ask::Send("message")).await;
    let success = ended.expect_success();
    assert_eq!(success.status, StatusCode::OK);
    assert_eq!(success.payload(binding)["message"]["parts"][0]["text"], "hello");
    assert_eq!(
        success.media_type(),
        Some(match binding {
            Binding::JsonRpc => "application/json",
            _ => "application/a2a+json",
        })
    );
    assert_eq!(ended.seen.task_state, None);
}

async fn task(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.same_as_bare(Ask::Send("task")).await;
    let success = ended.expect_state("TASK_STATE_COMPLETED");
    let task = &success.payload(binding)["task"];
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "result");
    assert_eq!(ended.seen.task_id.as_deref(), task["id"].as_str());
}

/// A task that failed, was rejected or waits is a successful call.
async fn each_state_of_rest(binding: Binding) {
    let peer = Peer::full(binding).await;
    for (text, state) in [
        ("fail", "TASK_STATE_FAILED"),
        ("reject", "TASK_STATE_REJECTED"),
        ("input", "TASK_STATE_INPUT_REQUIRED"),
        ("auth", "TASK_STATE_AUTH_REQUIRED"),
    ] {
        peer.same_as_bare(Ask::Send(text)).await.expect_state(state);
    }
}

async fn a_large_artifact(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.ask(Ask::Send("big:1000000")).await;
    assert!(ended.expect_state("TASK_STATE_COMPLETED").body.len() > 1_000_000);
}

/// The server answers with what there is when its agent returns too early; the outcome tells that it is not at rest.
async fn a_send_that_left_its_task_unfinished(binding: Binding) {
    let peer = Peer::full(binding).await;
    peer.ask(Ask::Send("unfinished")).await.expect_state("TASK_STATE_WORKING");
    peer.ask(Ask::Send("empty")).await.expect_state("TASK_STATE_SUBMITTED");
}

/// The same task twice: the very bytes that a bare caller gets, but for the order of members, which the server leaves
/// to chance.
async fn get(binding: Binding) {
    let peer = Peer::full(binding).await;
    let task = peer.task("task").await;
    let ended = peer.ask(Ask::Get(&task)).await;
    let success = ended.expect_state("TASK_STATE_COMPLETED");
    assert_eq!(ended.seen.task_id.as_deref(), Some(task.as_str()));
    let parsed = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
    assert_eq!(parsed(&success.body), parsed(&peer.ask_bare(Ask::Get(&task)).await));
}

async fn list(binding: Binding) {
    let peer = Peer::full(binding).await;
    let sent = peer.ask(Ask::Send("task")).await;
    let task = sent.expect_success().payload(binding)["task"].take();
    let context = task["contextId"].as_str().unwrap();
    let ended = peer.same_as_bare(Ask::List(context)).await;
    let listed = ended.expect_success().payload(binding);
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(listed["tasks"][0]["id"], task["id"]);
}

async fn cancel(binding: Binding) {
    let peer = Peer::full(binding).await;
    let started = peer.ask(Ask::SendAndReturn("hang")).await;
    started.expect_success();
    let task = started.seen.task_id.unwrap();
    let ended = peer.ask(Ask::Cancel(&task)).await;
    ended.expect_state("TASK_STATE_CANCELED");
    peer.ask(Ask::Get(&task)).await.expect_state("TASK_STATE_CANCELED");
}

async fn follow_up(binding: Binding) {
    let peer = Peer::full(binding).await;
    let task = peer.task("input").await;
    let text = "the second one";
    let ended = peer.ask(Ask::FollowUp { task: &task, text }).await;
    ended.expect_state("TASK_STATE_COMPLETED");
    assert_eq!(ended.seen.task_id, Some(task));
}

/// Create, get, list, delete; deleting answers with nothing, which is a success here and only here.
async fn push_configurations(binding: Binding) {
    let peer = Peer::full(binding).await;
    let task = &peer.task("task").await;
    let created = peer.same_as_bare(Ask::CreatePush(task)).await;
    let created = created.expect_success().payload(binding);
    let config = created["id"].as_str().unwrap();

    let got = peer.same_as_bare(Ask::GetPush { task, config }).await;
    assert_eq!(got.expect_success().payload(binding), created);
    let listed = peer.same_as_bare(Ask::ListPush(task)).await;
    // Ours, and the one that the bare caller made.
    assert_eq!(listed.expect_success().payload(binding)["configs"].as_array().unwrap().len(), 2);

    let deleted = peer.ask(Ask::DeletePush { task, config }).await;
    let success = deleted.expect_success();
    match binding {
        Binding::JsonRpc => assert_eq!(success.payload(binding), serde_json::Value::Null),
        _ => assert_eq!((success.status, success.media_type(), success.body.len()), (StatusCode::OK, None, 0)),
    }
    let listed = peer.ask(Ask::ListPush(task)).await;
    assert_eq!(listed.expect_success().payload(binding)["configs"].as_array().unwrap().len(), 1);
}

async fn extended_card(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.same_as_bare(Ask::ExtendedCard).await;
    assert_eq!(ended.expect_success().payload(binding)["name"], "scripted agent (extended)");
}
