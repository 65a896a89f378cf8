//! Failures of layers in between, whoever wrote them.

use std::io::ErrorKind;

use a2a_guard::{CallLayer, RefusalResponseLayer};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::{
    Got, infallible,
    mock::{Answer, BoxError, Dialect, MockBody, Peer, ms},
    plain,
};

use Dialect::{Rest, V1};

#[tokio::test(start_paused = true)]
async fn any_other_is_an_internal_error_that_says_nothing_of_it() {
    for (dialect, status) in [(V1, 200), (Rest, 500)] {
        let peer = Peer::new([Answer::fails("password=hunter2")]);
        let got = infallible(CallLayer::new().layer(RefusalResponseLayer::new().layer(peer)), dialect.send()).await;
        assert_eq!(got.status.as_u16(), status);
        assert!(!got.text().contains("hunter2"));
        assert!(got.text().contains(r#""reason":"INTERNAL_ERROR""#), "{}", got.text());
        assert_eq!(got.word(), "transport/connection_lost");
        let error = got.error.unwrap();
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "password=hunter2");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_told_from_it_without_the_layer_that_judges() {
    let peer = Peer::new([Answer::lost(ErrorKind::ConnectionRefused)]);
    let got = infallible(RefusalResponseLayer::new().layer(peer), Rest.send()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str()), (502, "transport/connect"));
}

/// An error of readiness is told to the call that follows, and to that one alone.
#[tokio::test(start_paused = true)]
async fn what_is_not_ready_is_told_to_the_next_call() {
    let peer = Peer::<Full<Bytes>>::new([]).fails_to_be_ready(ErrorKind::ConnectionRefused);
    let mut service = RefusalResponseLayer::new().layer(peer);
    for _ in 0..2 {
        let Ok(ready) = ServiceExt::<Request<Full<Bytes>>>::ready(&mut service).await;
        let Ok(ready) = ready.ready().await; // asked again, it is remembered
        let Ok(response) = ready.call(Rest.send()).await;
        let got = Got::of(response).await;
        assert_eq!((got.status.as_u16(), got.word().as_str()), (502, "transport/connect"));
        assert_eq!(got.json()["error"]["details"][0]["metadata"]["retry"], "safe");
    }
    let clone = service.clone();
    assert_eq!(infallible(clone, Rest.send()).await.status, 502);
}

/// Whatever it was, nothing had been sent.
#[tokio::test(start_paused = true)]
async fn who_was_not_ready_may_be_asked_again() {
    for (kind, word) in
        [(ErrorKind::ConnectionReset, "transport/connection_lost"), (ErrorKind::Other, "transport/connection_lost")]
    {
        let peer = Peer::<Full<Bytes>>::new([]).fails_to_be_ready(kind);
        let got = infallible(RefusalResponseLayer::new().layer(peer), Rest.send()).await;
        assert_eq!(
            (got.word().as_str(), got.json()["error"]["details"][0]["metadata"]["retry"].as_str()),
            (word, Some("safe"))
        );
    }
}

/// Ours is recognised behind a layer that wraps what it cannot type.
#[tokio::test(start_paused = true)]
async fn one_of_ours_is_recognised_behind_a_buffer() {
    let judged = plain().build().unwrap().layer(Peer::new([Answer::never()]));
    let (buffer, worker) = tower::buffer::Buffer::pair(judged, 8);
    tokio::spawn(worker);
    let got = infallible(CallLayer::new().layer(RefusalResponseLayer::new().layer(buffer)), Rest.get()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str()), (504, "timeout/head"));
}

#[cfg(feature = "tower")]
#[tokio::test(start_paused = true)]
async fn towers_timeout_is_a_timeout() {
    let timeout = tower::timeout::TimeoutLayer::new(ms(70));
    let stack = |answer| {
        ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(RefusalResponseLayer::new())
            .layer(timeout.clone())
            .service(Peer::new([answer]))
    };
    let got = infallible(stack(Answer::never()), Rest.get()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str()), (504, "timeout/total"));
    let error = &got.json()["error"];
    assert_eq!(
        (&error["status"], &error["details"][0]["reason"]),
        (&"DEADLINE_EXCEEDED".into(), &"CAPABILITY_TIMEOUT".into())
    );
    assert_eq!(error["details"][0]["metadata"]["elapsed_ms"], "70");
}

#[cfg(feature = "tower")]
#[tokio::test(start_paused = true)]
async fn towers_load_shedding_is_unavailability() {
    for (dialect, status) in [(V1, 200), (Rest, 503)] {
        let stack = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(RefusalResponseLayer::new())
            .load_shed()
            .service(Peer::new([]).never_ready());
        let got = infallible(stack, dialect.send()).await;
        assert_eq!((got.status.as_u16(), got.word().as_str()), (status, "refused/unavailable"));
        assert!(
            got.text().contains(r#""retry":"safe""#) && got.text().contains(r#""reason":"UNAVAILABLE""#),
            "{}",
            got.text()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn tokios_own_timeout_is_a_timeout() {
    let service = tower::service_fn(|_: Request<Full<Bytes>>| async {
        let late = tokio::time::timeout(ms(5), std::future::pending::<Response<MockBody>>()).await;
        late.map_err(BoxError::from)
    });
    let got = infallible(RefusalResponseLayer::new().layer(service), Rest.get()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str()), (504, "timeout/total"));
}

/// `ServiceBuilder` is how most people stack layers.
#[tokio::test(start_paused = true)]
async fn it_stacks() {
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(plain().build().unwrap())
        .service(Peer::new([Answer::json(V1.result(&V1.bare_task("COMPLETED")))]));
    let got = infallible(stack, V1.get()).await;
    assert_eq!(got.text(), V1.result(&V1.bare_task("COMPLETED")));
}
