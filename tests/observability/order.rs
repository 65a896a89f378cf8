//! Layers that are out of order are told of in one event each.

use a2a_guard::{CallLayer, ProbeCacheLayer, RefusalResponseLayer, TerminalStateLayer};
use tower::{Service, ServiceBuilder, ServiceExt};
use tracing::Level;

use crate::{
    answer,
    mock::{Answer, Dialect, Peer},
    subscriber::Subscribed,
};
use Dialect::V1;

#[tokio::test(start_paused = true)]
async fn one_event_for_each_layer_that_is_out_of_place() {
    let (subscribed, _guard) = Subscribed::all();
    let rendering = RefusalResponseLayer::new();
    for _ in 0..2 {
        let mut service = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(TerminalStateLayer::new())
            .layer(rendering.clone())
            .service(Peer::new([Answer::json(answer("COMPLETED")), Answer::json(answer("COMPLETED"))]));
        for _ in 0..2 {
            assert!(service.ready().await.unwrap().call(V1.get()).await.is_ok());
        }
    }
    let events = subscribed.events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0].level, Level::WARN);
    let field = |name: &str| events[0].fields.get(name).map(String::as_str);
    assert_eq!((field("below"), field("above")), (Some("RefusalResponseLayer"), Some("TerminalStateLayer")));
    assert_eq!(
        field("message"),
        Some(
            "the layers are out of order: RefusalResponseLayer stands below TerminalStateLayer, which takes what is rendered \
             for the agent's own answer: put it above"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn one_for_a_layer_that_names_calls_too_late() {
    let (subscribed, _guard) = Subscribed::all();
    let mut service = ServiceBuilder::new()
        .layer(TerminalStateLayer::new())
        .layer(CallLayer::new())
        .layer(ProbeCacheLayer::without_probes().build().unwrap())
        .service(Peer::new([Answer::json(answer("COMPLETED")), Answer::json(answer("COMPLETED"))]));
    for _ in 0..2 {
        assert!(service.ready().await.unwrap().call(V1.get()).await.is_ok());
    }
    let events = subscribed.events();
    let below: Vec<_> = events.iter().map(|event| event.fields["below"].as_str()).collect();
    assert_eq!(below, ["CallLayer"]);
}
