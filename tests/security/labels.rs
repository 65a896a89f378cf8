//! Metrics: no text of a peer's or a caller's becomes a label, and so no peer makes the number of series grow.

use a2a_guard::{Call, CallLayer, TerminalStateLayer, observability::MetricsObserver};
use http::HeaderValue;
use tower::{Layer, Service, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody, Peer},
    recorder::Recorded,
};

use Dialect::{Rest, V1};

#[tokio::test(start_paused = true)]
async fn the_series_are_counted() {
    let (recorded, _guard) = Recorded::new();
    let ending = TerminalStateLayer::builder().observe(MetricsObserver::new()).build().unwrap();
    let layers = |answer| CallLayer::new().layer(ending.layer(Peer::new([answer])));
    let mut after = Vec::new();
    for round in 0..30 {
        let evil = format!("evil-{round}");
        let task = V1.task("COMPLETED");
        let state = task.replace("COMPLETED", &evil);
        let answers: Vec<(http::Request<_>, Answer)> = vec![
            (V1.rpc(&evil, ""), Answer::json(V1.result(&task))),
            (V1.request("POST", &format!("/{evil}"), "{}".into()), Answer::json(V1.result(&task))),
            (Rest.request("PUT", &format!("/{evil}/message:send"), "{}".into()), Answer::json(task.clone())),
            (V1.send(), Answer::json(V1.result(&state))),
            (V1.send(), Answer::json(V1.error(-32000 - round))),
            (V1.send(), Answer::json(format!(r#"{{"jsonrpc":"2.0","id":"{evil}","result":{task}}}"#))),
            (
                V1.send(),
                Answer::new(500 + u16::try_from(round).unwrap(), "text/plain", MockBody::new().data(evil.clone())),
            ),
            (V1.send(), Answer::new(200, &format!("text/{evil}"), MockBody::new().data(evil.clone()))),
            (V1.stream(), Answer::sse(MockBody::new().data(format!("event: {evil}\ndata: {}\n\n", V1.result(&state))))),
            (
                Rest.get(),
                Answer::new(404, "application/problem+json", MockBody::new().data(format!(r#"{{"type":"{evil}"}}"#))),
            ),
        ];
        for (mut request, answer) in answers {
            request.headers_mut().insert("a2a-version", HeaderValue::from_str(&evil).unwrap());
            request.headers_mut().insert("a2a-extensions", HeaderValue::from_str(&evil).unwrap());
            request.extensions_mut().insert(Call::new().with_skill(&*evil).with_region(&*evil));
            let mut stack = layers(answer);
            if let Ok(response) = stack.ready().await.unwrap().call(request).await {
                let _ = http_body_util::BodyExt::collect(response.into_body()).await;
            }
        }
        after.push(recorded.series().len());
    }
    let series = recorded.series();
    assert!(series.iter().all(|name| !name.contains("evil")), "{series:#?}");
    // Codes and statuses differ by what they mean, of which there are a few.
    assert_eq!(after[14], after[29], "{series:#?}");
    assert!(series.len() < 80, "{series:#?}");
}
