//! What became of a call says nothing of the next: answers are judged alike whatever the layer saw before.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Mutex},
};

use a2a_guard::{
    Call, CallBody, CallError, CallLayer, CallService, Class, Outcome, TerminalStateBody, wire::JsonRpcId,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceExt};

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

/// One layer for all that is asked, and agents that mistake one question for another: what answers one is no answer to
/// another for that.
#[tokio::test(start_paused = true)]
async fn an_answer_is_judged_by_what_was_asked_whoever_was_asked_before() {
    type Ask = fn(Dialect) -> Request<Full<Bytes>>;
    let sends: Ask = |dialect| dialect.send();
    let gets: Ask = |dialect| dialect.get();
    let cancels: Ask = |dialect| match dialect {
        Dialect::V1 => dialect.rpc("CancelTask", r#""id":"task-1""#),
        Dialect::Rest => dialect.request("POST", "/tasks/task-1:cancel", "{}".into()),
        _ => dialect.rpc("tasks/cancel", r#""id":"task-1""#),
    };
    let lists: Ask = |dialect| match dialect {
        Dialect::Rest => dialect.request("GET", "/tasks", String::new()),
        _ => dialect.rpc("ListTasks", ""),
    };
    let asks = Dialect::ALL.map(|dialect| [sends, gets, cancels, lists].map(|ask| (dialect, ask))).concat();
    let told = Dialect::ALL.map(|dialect| {
        let given = [dialect.task("WORKING"), dialect.bare_task("WORKING")].map(|task| answers(dialect, &task));
        given.concat()
    });
    let told = told.concat();

    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |end: usize| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (seed >> 33) as usize % end
    };
    // Most answers are one that came before, or a neighbour's.
    let (mut ask, mut tell) = (0, 0);
    let calls: Vec<_> = (0..800)
        .map(|_| {
            if below(4) == 0 {
                (ask, tell) = (below(asks.len()), below(told.len()));
            }
            let tell = if below(3) == 0 { tell / 20 * 20 + below(20) } else { tell };
            let cuts = [(); 2].map(|()| if below(3) == 0 { below(told[tell].len()) } else { 0 });
            (ask, tell, cuts)
        })
        .collect();
    let answer = |tell: usize, [one, other]: [usize; 2]| {
        let bytes = Bytes::from(told[tell].clone());
        let (first, last) = (one.min(other), one.max(other));
        let frames = [bytes.slice(..first), bytes.slice(first..last), bytes.slice(last..)];
        Answer::new(200, "application/json", MockBody::of(frames.into_iter().filter(|frame| !frame.is_empty())))
    };

    for strict in [false, true] {
        let peer = Peer::new(calls.iter().map(|&(_, tell, cuts)| answer(tell, cuts)));
        let (mut shared, notes) = stack(plain().strict(strict), peer);
        let mut alone = HashMap::new();
        for &(ask, tell, _) in &calls {
            let (dialect, request) = asks[ask];
            if let Entry::Vacant(place) = alone.entry((ask, tell)) {
                let (mut fresh, notes) = stack(plain().strict(strict), Peer::new([answer(tell, [0; 2])]));
                place.insert(fate(&mut fresh, &notes, request(dialect)).await);
            }
            let now = fate(&mut shared, &notes, request(dialect)).await;
            assert_eq!(now, alone[&(ask, tell)], "{dialect:?} {ask} {}", told[tell]);
        }
        assert!(alone.values().filter(|fate| fate.body.is_some()).count() > 20);
    }
}

/// So that no two calls have an id, a task or a text in common; the kinds of answers are more than are remembered.
fn answer_to(id: i64) -> String {
    let state = ["COMPLETED", "WORKING", "FAILED"][(id % 3) as usize];
    let task = format!(
        r#"{{"id":"t-{id}","contextId":"c-{id}","status":{{"state":"TASK_STATE_{state}"}},"n":{id},"artifacts":[{{"artifactId":"a","parts":[{{"text":"{id}"}}]}}]}}"#
    );
    match id % 5 {
        // For nobody, or for another call.
        0 => format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"task":{task}}}}}"#, id + 1),
        1 => format!(r#"{{"id":{id},"jsonrpc":"2.0","result":{{"task":{task}}}}}"#),
        _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"task":{task}}}}}"#),
    }
}

/// Each call of many at once ends as its own answer says, and a panic in what is told of one is no other's matter.
#[test]
fn calls_at_once_have_each_their_own_answer() {
    const THREADS: i64 = 4;
    const CALLS: i64 = 600;
    let told = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&told);
    let observer = move |outcome: &Outcome<'_>| {
        let Some(JsonRpcId::Number(id)) = outcome.call().id() else { panic!("a call without its id") };
        assert_eq!(outcome.call().task_id(), Some(&*format!("t-{id}")));
        let state = outcome.task_state().map(|state| state.as_str());
        notes.lock().unwrap().push((*id, outcome.class(), outcome.task_id().map(str::to_owned), state));
        if id % 7 == 0 {
            // Without the hook, whose report would be noise here.
            resume_unwind(Box::new("an observer's own fault"));
        }
    };
    let peer = tower::service_fn(|request: Request<CallBody<Full<Bytes>>>| async move {
        let Some(JsonRpcId::Number(id)) = request.extensions().get::<Call>().and_then(Call::id) else {
            panic!("a call without its id")
        };
        let answer = Response::builder().header("content-type", "application/json");
        Ok::<_, Infallible>(answer.body(Full::from(answer_to(*id))).unwrap())
    });
    let stack = CallLayer::new().layer(plain().observe(observer).build().unwrap().layer(peer));
    let one = |mut stack: CallService<_, ()>, id: i64| async move {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"SendMessage","params":{{"message":{{"taskId":"t-{id}"}}}}}}"#
        );
        let request = Request::post("https://agent.example.com/a2a").body(Full::from(body)).unwrap();
        let response: Result<Response<TerminalStateBody<Full<Bytes>, _>>, CallError> =
            ServiceExt::ready(&mut stack).await.unwrap().call(request).await;
        match response {
            Ok(response) => {
                assert_ne!(id % 5, 0);
                assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), answer_to(id));
            }
            Err(error) => assert_eq!((id % 5, error.class()), (0, Class::ProtocolViolation)),
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let stack = stack.clone();
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                for id in (0..CALLS).map(|at| at * THREADS + thread) {
                    let call = AssertUnwindSafe(|| runtime.block_on(one(stack.clone(), id)));
                    assert_eq!(catch_unwind(call).is_err(), id % 7 == 0, "{id}");
                }
            });
        }
    });
    let mut told = std::mem::take(&mut *told.lock().unwrap());
    told.sort_by_key(|(id, ..)| *id);
    assert_eq!(told.len() as i64, THREADS * CALLS);
    for ((id, class, task_id, state), due) in told.into_iter().zip(0..) {
        assert_eq!(id, due);
        let due_class = if id % 5 == 0 { Class::ProtocolViolation } else { Class::Success };
        let due_state = ["TASK_STATE_COMPLETED", "TASK_STATE_WORKING", "TASK_STATE_FAILED"][(id % 3) as usize];
        assert_eq!((class, task_id.as_deref(), state), (due_class, Some(&*format!("t-{id}")), Some(due_state)));
    }
}
