//! How streams end: by trailers, without them, by a reset.

use a2a_guard::{Operation, Retry};
use bytes::Bytes;

use crate::{
    dialect::{
        AUTH_REQUIRED, INPUT_REQUIRED, WORKING, answer, artifact, ended, error_info, fields, get, ok, retry_info, send,
        stream, task, update,
    },
    mock::{MockBody, Step, call},
    plain,
};

fn working() -> MockBody {
    MockBody::of([task(WORKING), artifact("one")])
}

#[tokio::test(start_paused = true)]
async fn a_refusal_in_trailers_is_one_wherever_it_stands() {
    let info = error_info(9, "UNSUPPORTED_OPERATION");
    let trailers = [("grpc-status", "9"), ("grpc-message", "not%20here"), ("grpc-status-details-bin", info.as_str())];
    for (body, events) in [(MockBody::new(), 0), (working(), 2)] {
        let ended = call(plain(), stream(), answer(ended(body, &trailers))).await;
        assert_eq!(ended.word(), "refused/peer_error");
        assert_eq!(ended.status.is_some(), events > 0, "a caller gets a head only with a first event");
        let error = ended.error();
        assert_eq!((error.events(), error.task_id()), (events, (events > 0).then_some("task-1")));
        assert_eq!((error.grpc_code(), error.reason()), (Some(9), Some("UNSUPPORTED_OPERATION")));
        assert_eq!(error.peer_message(), Some("not here"));
        assert_eq!(error.response().unwrap().trailers, Some(fields(&trailers)));
        // Nobody may send again what is being worked on.
        assert_eq!(error.retry(), if events > 0 { Retry::Unsafe } else { Retry::Safe });
        assert_eq!(ended.trailers, None);
        assert_eq!(ended.notes.words(), ["refused/peer_error"]);
    }
}

/// Whoever reads the other of two statuses sees a failure.
#[tokio::test(start_paused = true)]
async fn two_statuses_are_no_success_unless_both_say_so() {
    for (first, second, word) in
        [("0", "13", "refused/peer_error"), ("13", "0", "refused/peer_error"), ("0", "0", "success/success")]
    {
        for (request, state) in [(send(), WORKING), (stream(), INPUT_REQUIRED)] {
            let mut trailers = fields(&[("grpc-status", first)]);
            trailers.append("grpc-status", second.parse().unwrap());
            let body = MockBody::of([task(state)]).then(Step::Trailers(trailers));
            assert_eq!(call(plain(), request, answer(body)).await.word(), word, "{first} {second}");
        }
    }
}

/// Whatever the front door says in the middle of a stream, the work had begun.
#[tokio::test(start_paused = true)]
async fn no_refusal_behind_events_invites_to_send_again() {
    let retry = retry_info(8, 3);
    for (code, word) in [("8", "refused/rate_limited"), ("14", "refused/unavailable"), ("16", "refused/auth")] {
        let trailers = [("grpc-status", code), ("grpc-status-details-bin", retry.as_str())];
        let ended = call(plain(), stream(), answer(ended(working(), &trailers))).await;
        assert_eq!((ended.word().as_str(), ended.error().retry()), (word, Retry::Unsafe));
        assert!(ended.error().work_may_have_started());
    }
}

/// A message that names its task came of work, be it the answer to a unary call or not whole: what the status says
/// behind it undoes nothing.
#[tokio::test(start_paused = true)]
async fn no_refusal_behind_a_task_invites_to_send_again() {
    let half = || task(WORKING).slice(..task(WORKING).len() - 1);
    let (retry, info) = (retry_info(8, 3), error_info(9, "UNSUPPORTED_OPERATION"));
    for (code, details) in [("5", ""), ("12", ""), ("9", &*info), ("8", &*retry), ("14", &*retry), ("16", "")] {
        let trailers = [("grpc-status", code), ("grpc-status-details-bin", details)];
        for (request, message) in [(send(), task(WORKING)), (send(), half()), (stream(), half())] {
            let ended = call(plain(), request, answer(ended(MockBody::of([message]), &trailers))).await;
            assert_eq!((ended.error().task_id(), ended.error().retry()), (Some("task-1"), Retry::Unsafe), "{code}");
            assert!(ended.error().work_may_have_started());
        }
        let without = call(plain(), send(), answer(ended(MockBody::new(), &trailers))).await;
        assert_eq!((without.error().task_id(), without.error().retry() == Retry::Unsafe), (None, false), "{code}");
    }
    // To ask is no work.
    let asked = call(plain(), get(), answer(ended(MockBody::of([task(WORKING)]), &[("grpc-status", "5")]))).await;
    assert_eq!(asked.error().retry(), Retry::Safe);
}

#[tokio::test(start_paused = true)]
async fn before_the_task_rests_every_other_end_is_one_too_early() {
    let (half, _) = (update(3).slice(..9), ());
    let status = [("grpc-status", "0")];
    for (at, body) in [
        ok(&[task(WORKING), artifact("one")]),
        // A reset with NO_ERROR reads so.
        working(),
        working().reset(),
        ended(working(), &[("x-other", "1")]),
        ended(working().data(half.clone()), &status),
        working().data(half.clone()),
        working().data(half.clone()).reset(),
        working().data(Bytes::from_static(b"\0\0")),
    ]
    .into_iter()
    .enumerate()
    {
        let ended = call(plain(), stream(), answer(body)).await;
        assert_eq!(ended.word(), "broken/truncated", "{at}");
        assert_eq!(ended.bytes(), [task(WORKING), artifact("one")].concat(), "{at}");
        let error = ended.error();
        assert_eq!((error.events(), error.task_state().unwrap().as_str()), (2, "TASK_STATE_WORKING"));
        assert_eq!(error.next_operations()[0], Operation::GetTask);
    }
    // However little of it came.
    for body in [MockBody::new(), MockBody::new().data(half), MockBody::new().reset()] {
        assert_eq!(call(plain(), stream(), answer(body)).await.word(), "broken/truncated");
    }
    assert_eq!(call(plain(), stream(), answer(ok(&[]))).await.word(), "broken/empty");
}

/// A message that was cut may still name the task that it leaves behind.
#[tokio::test(start_paused = true)]
async fn a_cut_message_names_its_task() {
    let most = task(WORKING);
    let body = MockBody::new().data(most.slice(..most.len() - 1)).reset();
    let ended = call(plain(), stream(), answer(body)).await;
    assert_eq!((ended.word().as_str(), ended.error().task_id()), ("broken/truncated", Some("task-1")));
    assert_eq!(ended.error().events(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_has_no_need_of_trailers() {
    for state in [INPUT_REQUIRED, AUTH_REQUIRED] {
        let waiting = || MockBody::of([task(WORKING), update(state)]);
        for body in [
            waiting(),
            waiting().reset(),
            waiting().data(Bytes::from_static(b"\0\0\0")),
            ended(waiting(), &[("x-other", "1")]),
        ] {
            let ended = call(plain(), stream(), answer(body)).await;
            assert_eq!(ended.word(), "success/success");
            assert_eq!(ended.bytes(), [task(WORKING), update(state)].concat());
            // Clients take a missing status for a failure.
            assert_eq!(ended.trailers.unwrap()["grpc-status"], "0");
        }
        // But a refusal is one: the task has not ended.
        let ended = call(plain(), stream(), answer(ended(waiting(), &[("grpc-status", "13")]))).await;
        assert_eq!(ended.word(), "refused/peer_error");
    }
}
