//! What became of a call says nothing of the next: answers are judged alike whatever the layer saw before.

use a2a_guard::{CallError, TerminalStateBody};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::{Service, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody, Noted, Notes, Peer, Stack, stack},
    plain,
};

/// What a caller and an observer learn of a call.
#[derive(Debug, PartialEq)]
struct Fate {
    noted: Noted,
    body: Option<Bytes>,
    error: Option<(String, Option<String>)>,
}

async fn fate(stack: &mut Stack, notes: &Notes, request: Request<Full<Bytes>>) -> Fate {
    let before = notes.all().len();
    let response: Result<Response<TerminalStateBody<MockBody, Notes>>, CallError> =
        stack.ready().await.unwrap().call(request).await;
    let (body, error) = match response {
        Ok(response) => (Some(response.into_body().collect().await.unwrap().to_bytes()), None),
        Err(error) => (None, Some((error.to_string(), error.task_id().map(Into::into)))),
    };
    let mut told = notes.all().split_off(before);
    assert_eq!(told.len(), 1, "not exactly one outcome: {told:?}");
    Fate { noted: told.remove(0), body, error }
}

/// Answers to a send or a get: some that are alike, and some that are nearly so.
fn answers(dialect: Dialect, task: &str) -> Vec<String> {
    let good = dialect.result(task);
    let with = |from: &str, to: &str| good.replace(from, to);
    vec![
        good.clone(),
        with("task-1", "task-2"),
        with("task-1", "a task with a longer name than all before, by far"),
        with("task-1", "t\\u0061sk"),
        with("task-1", ""),
        with("\"task-1\"", "7"),
        with("\"id\":1", "\"id\":2"),
        with("\"id\":1", "\"id\":\"1\""),
        with("\"id\":1", "\"id\":null"),
        with("\"id\":1,", ""),
        with("WORKING", "COMPLETED"),
        with("working", "completed"),
        with("WORKING", "NAPPING"),
        with("working", "napping"),
        good[..good.len() - 1].to_owned(),
        format!("{good}\n"),
        format!("{good}x"),
        dialect.error(-32001),
        dialect.result(&dialect.message()),
        dialect.result(&dialect.message()).replace("m-", "another-"),
    ]
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_judged_alike_whatever_came_before() {
    for dialect in Dialect::ALL {
        for (task, request) in [
            (dialect.task("WORKING"), (|dialect| dialect.send()) as fn(Dialect) -> Request<Full<Bytes>>),
            (dialect.bare_task("WORKING"), |dialect| dialect.get()),
        ] {
            let answers = answers(dialect, &task);
            let mut alone = Vec::new();
            for answer in &answers {
                let (mut fresh, notes) = stack(plain(), Peer::new([Answer::json(answer.clone())]));
                alone.push(fate(&mut fresh, &notes, request(dialect)).await);
            }
            assert!(alone.iter().any(|fate| fate.body.is_some()) && alone.iter().any(|fate| fate.error.is_some()));

            let pairs = (0..answers.len()).flat_map(|one| (0..answers.len()).map(move |other| (one, other)));
            let order: Vec<usize> = pairs.flat_map(|(one, other)| [one, one, other, other]).collect();
            let peer = Peer::new(order.iter().map(|&at| Answer::json(answers[at].clone())));
            let (mut stack, notes) = stack(plain(), peer);
            for at in order {
                let now = fate(&mut stack, &notes, request(dialect)).await;
                assert_eq!(now, alone[at], "{dialect:?} {}", answers[at]);
            }
        }
    }
}
