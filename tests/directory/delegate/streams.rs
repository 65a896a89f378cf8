//! How a stream ends is what counts.

use super::*;

#[tokio::test(start_paused = true)]
async fn how_a_stream_ends_is_what_counts() {
    const GOOD: &str = concat!(
        r#"data: {"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}"#,
        "\n\n",
        r#"data: {"jsonrpc":"2.0","id":7,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}}"#,
        "\n\n"
    );
    const CUT: &str = concat!(
        r#"data: {"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}"#,
        "\n\n"
    );
    for (events, good) in [(GOOD, true), (CUT, false)] {
        let mesh = mesh(&["a", "b"], |builder| builder).await;
        mesh.set("a", Does::Stream(events)).set("b", Does::Work(Duration::ZERO));
        let (_, body) = mesh.call(request(STREAM)).await.unwrap();
        assert_eq!(body.is_ok(), good);
        let standing = mesh.directory.evidence().standing(&peer("https://a.example"), false);
        assert_eq!((standing.calls, standing.trust), (1, if good { 1.0 } else { 0.0 }), "{events}");
        assert_eq!(mesh.agents.asked(), ["a.example"]);
    }
}

/// A body that does not end after what it has.
struct Open(Full<Bytes>);

impl http_body::Body for Open {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match std::pin::Pin::new(&mut self.0).poll_frame(cx) {
            std::task::Poll::Ready(None) => std::task::Poll::Pending,
            frame => frame,
        }
    }
}

/// Whoever has what it asked for stops reading: that is no less of a success.
#[tokio::test(start_paused = true)]
async fn a_stream_counts_from_its_last_event_on() {
    let event = |state: &str| {
        let task = json!({"task": {"id": "t", "contextId": "c", "status": {"state": state}}});
        format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 7, "result": task}))
    };
    let with_tenant = json!({"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0",
        "tenant": "acme"})
    .to_string();
    for (state, calls) in [
        ("TASK_STATE_COMPLETED", 1),
        ("TASK_STATE_FAILED", 1),
        ("TASK_STATE_INPUT_REQUIRED", 1),
        ("TASK_STATE_WORKING", 0),
    ] {
        let host = Host::default();
        let (directory, _) = host.directory(|builder| builder);
        let base = "https://a.example";
        host.serve(base, card(std::slice::from_ref(&with_tenant), &["x"]));
        directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
        let agents = Agents::default();
        agents.set("a.example", Does::Stream(event(state).leak()));
        // With the cards in the guard, which name the tenant in the call.
        let service = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(DelegateLayer::new(directory.clone()))
            .layer(Guard::builder().cards(host.clone()).build().unwrap())
            .map_response(|response: Response<Full<Bytes>>| response.map(Open))
            .service(agents);
        let mut body = Box::pin(service.oneshot(request(STREAM)).await.unwrap().into_body());
        body.frame().await.unwrap().unwrap();
        drop(body);
        let standing = directory.evidence().standing(&peer(base), false);
        assert_eq!((standing.calls, standing.trust), (calls, if calls == 1 { 1.0 } else { 0.5 }), "{state}");
    }
}
