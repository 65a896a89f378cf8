//! Layers that are stacked by hand, in an order that they do not belong in: found, and told of to who has to know.

use std::sync::{Arc, Mutex};

use a2a_guard::{
    Binding, Call, CallBody, CallError, CallLayer, Guard, Observe, Operation, Outcome, ProbeCacheLayer,
    RefusalResponseLayer, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::{
    agent, call, cards,
    mock::{Answer, Dialect, Peer},
};

use Dialect::{Rest, V1};

/// What stood below what.
type Mistake = (&'static str, &'static str);

/// What the outcomes of calls say of the order.
#[derive(Clone, Default)]
struct Mistakes(Arc<Mutex<Vec<Option<Mistake>>>>);

impl Mistakes {
    fn take(&self) -> Vec<Option<Mistake>> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// A layer that ends calls, and writes down what it hears.
    fn ending(&self) -> TerminalStateLayer<Self> {
        TerminalStateLayer::builder().observe(self.clone()).build().unwrap()
    }
}

impl Observe for Mistakes {
    fn observe(&self, outcome: &Outcome<'_>) {
        let mistake = outcome.call().order_mistake();
        self.0.lock().unwrap().push(mistake.map(|mistake| (mistake.below(), mistake.above())));
    }
}

fn matching() -> CardConsistencyLayer {
    CardConsistencyLayer::new(CardStore::builder(cards()).build().unwrap())
}

fn probing() -> ProbeCacheLayer {
    ProbeCacheLayer::without_probes().build().unwrap()
}

fn done() -> Answer {
    Answer::json(V1.result(&V1.task("COMPLETED")))
}

/// Makes a call, whatever becomes of it.
async fn make<S, B>(service: &mut S, request: Request<Full<Bytes>>)
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error: std::fmt::Debug>,
    B: Body<Data = Bytes>,
{
    if let Ok(response) = service.ready().await.unwrap().call(request).await {
        let _ = response.into_body().collect().await;
    }
}

/// Two good calls through the layers: what their outcomes say.
macro_rules! found {
    ($($layer:expr),+ ; $mistakes:expr) => {{
        let mut service = ServiceBuilder::new()$(.layer($layer))+.service(Peer::new([done(), done()]));
        make(&mut service, V1.send()).await;
        make(&mut service, V1.send()).await;
        $mistakes.take()
    }};
}

#[tokio::test(start_paused = true)]
async fn a_layer_below_one_that_belongs_below_it_is_found() {
    let (named, rendering, m) = (CallLayer::new, RefusalResponseLayer::new, Mistakes::default());
    let twice = |below, above| vec![Some((below, above)); 2];
    let (refusal, card, probe, terminal) =
        ("RefusalResponseLayer", "CardConsistencyLayer", "ProbeCacheLayer", "TerminalStateLayer");
    assert_eq!(found!(named(), m.ending(), matching(); m), twice(card, terminal));
    assert_eq!(found!(named(), m.ending(), probing(); m), twice(probe, terminal));
    assert_eq!(found!(named(), m.ending(), rendering(); m), twice(refusal, terminal));
    assert_eq!(found!(named(), probing(), matching(), m.ending(); m), twice(card, probe));
    assert_eq!(found!(named(), probing(), rendering(), m.ending(); m), twice(refusal, probe));
    assert_eq!(found!(named(), matching(), rendering(), m.ending(); m), twice(refusal, card));
    // The first that is found stays.
    assert_eq!(found!(named(), m.ending(), matching(), rendering(); m), twice(card, terminal));
    // Without names there is an order too.
    assert_eq!(found!(m.ending(), rendering(); m), twice(refusal, terminal));
}

#[tokio::test(start_paused = true)]
async fn so_is_a_layer_above_the_one_that_names_calls() {
    let (named, rendering, m) = (CallLayer::new, RefusalResponseLayer::new, Mistakes::default());
    let terminal = Some(("CallLayer", "TerminalStateLayer"));
    assert_eq!(found!(m.ending(), named(); m), [terminal; 2]);
    assert_eq!(found!(rendering(), m.ending(), named(); m), [terminal; 2], "the one furthest from its place");
    // Told of to the layers above, which did not know the call: those below cannot be, but for what came first.
    assert_eq!(found!(rendering(), named(), m.ending(); m), [None; 2]);
    // A caller's own call carries the mark as well.
    let mut service = ServiceBuilder::new().layer(m.ending()).layer(named()).service(agent([done()]));
    let mut request = V1.send();
    request.extensions_mut().insert(Call::new().with_skill("translate"));
    make(&mut service, request).await;
    assert_eq!(m.take(), [terminal]);
}

#[tokio::test(start_paused = true)]
async fn what_is_in_order_is_not_found_fault_with() {
    let (named, rendering, m) = (CallLayer::new, RefusalResponseLayer::new, Mistakes::default());
    assert_eq!(found!(named(), rendering(), matching(), probing(), m.ending(); m), [None; 2]);
    assert_eq!(found!(named(), m.ending(); m), [None; 2]);
    assert_eq!(found!(m.ending(); m), [None; 2]);
    assert_eq!(found!(rendering(), m.ending(); m), [None; 2]);
    // Two of a kind may stand in one stack: each bound by itself, say, and all attempts together.
    assert_eq!(found!(named(), m.ending(), m.ending(); m), [None; 4]);
    assert_eq!(found!(named(), named(), matching(), matching(), m.ending(); m), [None; 2]);
    assert_eq!(found!(Guard::new(), m.ending(); m), [None; 2]);
}

/// An agent's own router has the layers around it, and the agent that it asks has them as well: the request goes on
/// with all that it carries.
#[tokio::test(start_paused = true)]
async fn a_stack_within_a_stack_begins_anew() {
    let (within, around) = (Mistakes::default(), Mistakes::default());
    let outbound = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(matching())
        .layer(within.ending())
        .service(Peer::<CallBody<CallBody<Full<Bytes>>>>::new([done(), done()]));
    let mut inbound = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(around.ending())
        .service(outbound);
    make(&mut inbound, V1.send()).await;
    make(&mut inbound, V1.send()).await;
    assert_eq!((within.take(), around.take()), (vec![None; 2], vec![None; 2]));
}

/// Each attempt has come past the layers above it alone, and so has each request that a caller gives its own call to.
#[tokio::test(start_paused = true)]
async fn who_shares_a_call_shares_no_mark() {
    let m = Mistakes::default();
    let mut service = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(probing())
        .layer(m.ending())
        .service(agent([done(), done()]));
    let own = Call::new().with_operation(Operation::SendMessage).with_binding(Binding::JsonRpc);
    for _ in 0..2 {
        let mut request = V1.send();
        request.extensions_mut().insert(own.clone());
        make(&mut service, request).await;
    }
    assert_eq!((m.take(), own.order_mistake()), (vec![None; 2], None));
}

#[tokio::test(start_paused = true)]
async fn errors_say_it_in_their_lines() {
    let stack = ServiceBuilder::new().layer(CallLayer::new()).layer(TerminalStateLayer::new()).layer(matching());
    let mut service = stack.service(agent([Answer::never()]));
    // Refused by the layer that is out of place, and timed out by the one above.
    for (request, word) in [(V1.stream(), "card/capability_missing"), (V1.get(), "timeout/head")] {
        let ended = call(&mut service, request).await;
        assert_eq!(ended.word(), word);
        let line = ended.error().to_string();
        let said = "; the layers are out of order: CardConsistencyLayer stands below TerminalStateLayer, which judges \
                    answers too late for it, which takes each one for a success: put it above";
        assert!(line.ends_with(said), "{line}");
    }
    let mut service = Guard::new().layer(agent([Answer::never()]));
    let line = call(&mut service, V1.get()).await.error().to_string();
    assert!(!line.contains("order"), "{line}");
}

/// The mark that a layer leaves where nobody named the call is none of the call's.
#[tokio::test(start_paused = true)]
async fn without_names_the_first_call_is_as_the_others() {
    let agent = agent([Answer::json(Rest.task("COMPLETED")), Answer::json("{}"), Answer::json("{}")]);
    let mut service = ServiceBuilder::new()
        .layer(RefusalResponseLayer::new())
        .layer(TerminalStateLayer::new())
        .map_request(|request: Request<Full<Bytes>>| request.map(CallBody::unread))
        .service(agent.clone());
    let mut codes = Vec::new();
    for _ in 0..3 {
        let response = service.ready().await.unwrap().call(Rest.send()).await.unwrap();
        assert!(response.extensions().get::<CallError>().is_none_or(|error| error.call().operation().is_some()));
        codes.push(response.status().as_u16());
    }
    assert_eq!(codes, [200, 500, 500]);
    assert!(agent.requests().iter().all(|request| request.extensions().get::<Call>().is_none()));
}
