//! gRPC: what judging costs over the same layer that does not judge.

use a2a_guard::{Binding, Call, Operation, ProtocolVersion, TerminalStateLayer};
use bytes::Bytes;
use http::header;
use tower::Layer;

use crate::corpus;
use crate::group::{Budget, Group, Row};
use crate::measure::cost_of;
use crate::ours::{self, GRPC_JUDGE, GRPC_STREAM_JUDGE, TERMINAL_STATE};
use crate::peer::{Peer, Script};
use crate::stacks::{self, Stacks};
use crate::unary::BARE;

/// Calls in a batch, and messages in a stream.
const CALLS: usize = 200;
const MESSAGES: usize = 1_000;

/// The same layer, of which nobody told what the call is: bounds and caps alone.
const UNJUDGED: &str = "TerminalStateLayer, judging off";

/// A unary call and two streams.
pub fn groups() -> Vec<Group> {
    vec![unary(), stream(256), stream(384)]
}

/// A gRPC call, with what `CallLayer` would find out.
fn named(body: &Bytes, operation: Operation) -> stacks::Call {
    let path = format!("http://127.0.0.1:4110/lf.a2a.v1.A2AService/{operation}");
    let mut request = stacks::plain(body);
    *request.uri_mut() = path.parse().expect("a URI of constants");
    request.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/grpc"));
    let call = Call::new().with_operation(operation).with_binding(Binding::Grpc).with_version(ProtocolVersion::V1_0);
    request.extensions_mut().insert(call);
    request
}

/// The layer over requests that nobody named: what is there is taken away again below the bare peer's own cost.
fn unjudged(stacks: &Stacks) -> Row {
    stacks.row(UNJUDGED, |peer| {
        tower::ServiceBuilder::new()
            .map_request(|mut request: stacks::Call| {
                request.extensions_mut().insert(Call::new().with_binding(Binding::Grpc));
                request
            })
            .service(TerminalStateLayer::new().layer(peer))
    })
}

/// The layer, with the same done to its requests.
fn judged(stacks: &Stacks, operation: Operation) -> Row {
    stacks.row(TERMINAL_STATE, move |peer| {
        tower::ServiceBuilder::new()
            .map_request(move |mut request: stacks::Call| {
                let call = Call::new().with_operation(operation).with_binding(Binding::Grpc);
                request.extensions_mut().insert(call);
                request
            })
            .service(TerminalStateLayer::new().layer(peer))
    })
}

fn unary() -> Group {
    let body = corpus::request(1024);
    let message = corpus::grpc_result(1024);
    let script = Script::grpc(vec![message.clone()]);
    let stacks = Stacks::new(
        move |_| Peer::new(script.clone()),
        move |calls| (0..calls).map(|_| named(&body, Operation::SendMessage)).collect(),
    );
    Group {
        title: "grpc, unary, 1 KiB".into(),
        unit: "call",
        units: CALLS,
        rows: vec![
            stacks.bare(BARE),
            unjudged(&stacks).anchor(),
            Row::new(GRPC_JUDGE, move |count| cost_of(|| (0..count).for_each(|_| ours::judge_message(&message)))),
            judged(&stacks, Operation::SendMessage)
                .over(UNJUDGED)
                .budget(Budget::Nanoseconds(40.0))
                .budget(Budget::Allocations(0.0)),
        ],
    }
}

fn stream(size: usize) -> Group {
    let body = corpus::request(1024);
    let scripts = [MESSAGES, MESSAGES / 2].map(|count| (count, Script::grpc(corpus::grpc_messages(count, size))));
    let judged_alone = scripts.clone();
    let of = |scripts: &[(usize, std::sync::Arc<Script>)], count| {
        let (_, script) = scripts.iter().find(|(of, _)| *of == count).expect("one of the two lengths");
        script.clone()
    };
    let stacks = Stacks::new(
        move |messages| Peer::new(of(&scripts, messages)),
        move |_| vec![named(&body, Operation::SendStreamingMessage)],
    );
    Group {
        title: format!("grpc, stream, {MESSAGES} messages of {size} B, a frame each"),
        unit: "message",
        units: MESSAGES,
        rows: vec![
            stacks.bare(BARE),
            unjudged(&stacks).anchor(),
            Row::new(GRPC_STREAM_JUDGE, move |messages| {
                let script = of(&judged_alone, messages);
                cost_of(|| ours::judge_messages(script.frames()))
            }),
            judged(&stacks, Operation::SendStreamingMessage)
                .over(UNJUDGED)
                .budget(Budget::Nanoseconds(60.0))
                .budget(Budget::Allocations(0.0)),
        ],
    }
}
