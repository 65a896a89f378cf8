use std::sync::{Arc, Mutex, PoisonError};

use a2a_guard::{
    Binding, Call, CallError, CallLayer, Operation, Outcome, ProtocolVersion, TerminalStateLayer, wire::JsonRpcId,
};
use bytes::Bytes;
use futures_util::FutureExt;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, service_fn};

use crate::input::Input;

/// More edits teach nothing that these do not.
const EDITS: u8 = 12;

/// What an edit puts in the place of some bytes.
const PIECES: [&[u8]; 16] = [
    b"",
    b"x",
    b"2",
    b"\"",
    b"\\",
    b"\\u0061",
    b"-1.5e3",
    b"0",
    "\u{e9}".as_bytes(),
    b"\xff",
    b"null",
    b"\n",
    b"\":\"",
    b",\"id\":2",
    b"a text of more than forty bytes, which is taken to differ from one to the next",
    b"}",
];

/// Answers and requests that differ in little, one after the other through layers that remember what such look like,
/// against what layers make of each that saw nothing before.
pub fn known(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (binding, version) = input.pick(&[
        (Binding::JsonRpc, ProtocolVersion::V1_0),
        (Binding::JsonRpc, ProtocolVersion::V0_3),
        (Binding::JsonRpc, ProtocolVersion::new(0, 2)),
        (Binding::HttpJson, ProtocolVersion::V1_0),
    ]);
    let operation = input.pick(&[
        Operation::SendMessage,
        Operation::GetTask,
        Operation::ListTasks,
        Operation::DeleteTaskPushNotificationConfig,
    ]);
    let ids = [JsonRpcId::Number(1), JsonRpcId::Text("a-b".into()), JsonRpcId::Absent, JsonRpcId::Number(2)];
    let id = ids[usize::from(input.byte()) % ids.len()].clone();
    let edits: Vec<_> = (0..input.byte() % EDITS)
        .map(|_| (usize::from(input.word()), usize::from(input.byte() % 64), input.pick(&PIECES)))
        .collect();
    let base = input.rest();

    let call = Call::new().with_binding(binding).with_version(version).with_operation(operation).with_id(id);
    let (naming, ending) = (naming(), Ending::new());
    let edited = edits.into_iter().map(|edit| edited(base, edit));
    let documents = [base.to_vec(), base.to_vec()].into_iter().chain(edited).chain([base.to_vec()]);
    for document in documents {
        let document = Bytes::from(document);
        // Twice: what is like itself is known.
        for _ in 0..2 {
            assert_eq!(named(&naming, &document), named(&self::naming(), &document), "named otherwise");
            let alone = Ending::new().ended(&call, &document);
            assert_eq!(ending.ended(&call, &document), alone, "ended otherwise");
        }
    }
}

fn edited(base: &[u8], (at, length, piece): (usize, usize, &[u8])) -> Vec<u8> {
    let at = at.min(base.len());
    let behind = (at + length).min(base.len());
    [&base[..at], piece, &base[behind..]].concat()
}

fn naming() -> CallLayer {
    CallLayer::new().skill_metadata("skill").region_metadata("region")
}

/// What the call is named.
fn named(layer: &CallLayer, body: &Bytes) -> String {
    let client = service_fn(|request: Request<_>| async move {
        let call = request.extensions().get::<Call>().cloned();
        Ok::<_, CallError>(format!("{call:?}"))
    });
    let request = Request::post("http://agent.example/a2a").body(Full::new(body.clone())).expect("a request");
    let future = layer.layer(client).call(request);
    future.now_or_never().expect("nothing to wait for").expect("a client that does not fail")
}

/// A layer, and what its observer was told last.
struct Ending {
    layer: TerminalStateLayer<Told>,
    told: Told,
}

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl a2a_guard::Observe for Told {
    fn observe(&self, outcome: &Outcome<'_>) {
        let tolerated: Vec<_> = outcome.tolerated().iter().collect();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!(
            "{} {} {:?} {:?} {tolerated:?}",
            outcome.kind(),
            outcome.class(),
            outcome.task_id(),
            outcome.task_state(),
        ));
    }
}

impl Ending {
    fn new() -> Self {
        let told = Told::default();
        let layer = TerminalStateLayer::builder().observe(told.clone()).build().expect("the defaults");
        Self { layer, told }
    }

    /// How a call ends that is answered so: the bytes that the caller gets, or the error's words, and what the observer
    /// is told.
    fn ended(&self, call: &Call, body: &Bytes) -> (Result<Bytes, String>, Vec<String>) {
        let client = service_fn(|_: Request<()>| {
            let response = Response::builder().header("content-type", "application/json");
            let response = response.body(Full::new(body.clone())).expect("a response");
            std::future::ready(Ok::<_, CallError>(response))
        });
        let mut request = Request::post("http://agent.example/a2a").body(()).expect("a request");
        request.extensions_mut().insert(call.clone());
        let ended = self.layer.layer(client).call(request).now_or_never().expect("nothing to wait for");
        let handed_on = ended.map(|response| {
            assert_eq!(response.body().size_hint().exact(), Some(body.len() as u64));
            let body = response.into_body().collect().now_or_never().expect("nothing to wait for");
            body.expect("what was judged").to_bytes()
        });
        let told = std::mem::take(&mut *self.told.0.lock().unwrap_or_else(PoisonError::into_inner));
        assert_eq!(told.len(), 1, "not exactly one outcome: {told:?}");
        if let Ok(handed_on) = &handed_on {
            assert_eq!(handed_on, body, "other bytes");
        }
        (handed_on.map_err(|error| format!("{} {} {:?}", error.outcome(), error.class(), error.task_id())), told)
    }
}
