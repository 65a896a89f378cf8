//! What no peer typed is a status all the same: a code that fits, and details that say what happened.

use std::error::Error;
use std::time::Duration;

use a2a_guard::{CallError, CallLayer, Limits, Retry, TerminalStateLayer};
use a2a_pb::proto::a2a_service_client::A2aServiceClient;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use tower::ServiceExt;

use crate::h2_peer::{End, Peer, Reason, Script};
use crate::nobody::Nobody;
use crate::{channel, send};

/// What the two kinds of calls come to.
async fn refused(script: Script) -> [Status; 2] {
    let peer = Peer::serve([script]).await.unwrap();
    let origin = format!("http://{}", peer.addr());
    of_both(&origin).await
}

async fn of_both(origin: &str) -> [Status; 2] {
    // What the peer says at once has to come within it, on a machine that stands still for a while.
    let short = Duration::from_secs(1);
    let limits = Limits::within(Duration::from_secs(30)).head(short).blocking_head(short).first_event(short);
    let layers = (CallLayer::new(), TerminalStateLayer::builder().limits(limits).build().unwrap());
    let guarded = a2a_guard::tonic::channel_with(channel(origin), origin, layers).unwrap();
    let mut client = A2aServiceClient::new(guarded);
    let unary = client.send_message(send("hello")).await.unwrap_err();
    let stream = match client.send_streaming_message(send("hello")).await {
        Err(status) => status,
        Ok(response) => {
            let mut messages = response.into_inner();
            loop {
                match messages.message().await {
                    Ok(message) => assert!(message.is_some(), "a failure passed as a good end"),
                    Err(status) => break status,
                }
            }
        }
    };
    [unary, stream]
}

/// Code, reason and domain, and the class that the error behind the status has.
fn expect(status: &Status, code: Code, reason: &str, domain: &str, word: &str) -> CallError {
    assert_eq!(status.code(), code, "{status:?}");
    let details = status.get_error_details();
    let info = details.error_info().expect("an ErrorInfo");
    assert_eq!((&*info.reason, &*info.domain), (reason, domain), "{status:?}");
    let outcome = format!("{}/{}", info.metadata["outcome"], info.metadata["class"]);
    assert_eq!(outcome, word, "{status:?}");
    assert!(info.metadata["shape"].contains("GRPC"), "{info:?}");
    assert!(info.metadata.contains_key("capability"), "{info:?}");
    let error = a2a_guard::tonic::call_error(status).expect("the error behind the status");
    assert_eq!(format!("{}/{}", error.outcome(), error.class()), word);
    assert_eq!(Status::from(error).code(), code);
    error.clone()
}

#[tokio::test]
async fn a_page_of_a_proxy() {
    let page = Script::new(502).header("content-type", "text/html").chunk("<html>502 Bad Gateway");
    for status in refused(page).await {
        expect(&status, Code::Internal, "INVALID_AGENT_RESPONSE", "a2a-protocol.org", "broken/http_status");
    }
}

#[tokio::test]
async fn statuses_of_http() {
    let rows = [
        (401, Code::Unauthenticated, "UNAUTHENTICATED", "refused/auth"),
        (403, Code::PermissionDenied, "PERMISSION_DENIED", "refused/auth"),
        (404, Code::Unimplemented, "ENDPOINT_NOT_FOUND", "refused/endpoint_not_found"),
        (413, Code::InvalidArgument, "REQUEST_TOO_LARGE", "refused/too_large"),
        (415, Code::InvalidArgument, "UNSUPPORTED_MEDIA", "refused/unsupported_media"),
        (429, Code::ResourceExhausted, "RATE_LIMITED", "refused/rate_limited"),
        (503, Code::Unavailable, "UNAVAILABLE", "refused/unavailable"),
    ];
    for (http, code, reason, word) in rows {
        let page = Script::new(http).header("content-type", "text/html").header("retry-after", "7").chunk("<html>");
        for status in refused(page).await {
            expect(&status, code, reason, "a2a-guard", word);
            let delay = status.get_error_details().retry_info().and_then(|info| info.retry_delay);
            let asks = http == 429 || http == 503;
            assert!(!asks || delay == Some(Duration::from_secs(7)), "{http}: {delay:?}");
        }
    }
}

#[tokio::test]
async fn no_answer() {
    for status in refused(Script::silent(End::Hang)).await {
        expect(&status, Code::DeadlineExceeded, "CAPABILITY_TIMEOUT", "a2a-guard", "timeout/head");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut() {
    for status in refused(Script::grpc().end(End::Reset(Reason::INTERNAL_ERROR))).await {
        let error = expect(&status, Code::Internal, "INVALID_AGENT_RESPONSE", "a2a-protocol.org", "broken/truncated");
        // Nothing of what lies below is lost.
        let mut source = error.source();
        let mut texts = Vec::new();
        while let Some(error) = source {
            texts.push(error.to_string());
            source = error.source();
        }
        assert!(texts.iter().any(|text| text.contains("stream error")), "{texts:?}");
    }
}

#[tokio::test]
async fn no_agent() {
    let nobody = Nobody::new().unwrap();
    let origin = format!("http://{}", nobody.addr());
    for status in of_both(&origin).await {
        let error = expect(&status, Code::Unavailable, "AGENT_UNREACHABLE", "a2a-guard", "transport/connect");
        assert_eq!(error.retry(), Retry::Safe);
    }
}

#[tokio::test]
async fn a_stream_that_was_refused_unread_may_be_sent_again() {
    for status in refused(Script::silent(End::Reset(Reason::REFUSED_STREAM))).await {
        let error = expect(&status, Code::Unavailable, "AGENT_UNREACHABLE", "a2a-guard", "transport/connection_lost");
        assert_eq!(error.retry(), Retry::Safe);
    }
}

/// GOAWAY takes back the streams above the last that it names. This one was read.
#[tokio::test]
async fn a_stream_that_was_read_before_the_agent_went_away_may_not() {
    for reason in [Reason::NO_ERROR, Reason::PROTOCOL_ERROR, Reason::INTERNAL_ERROR, Reason::REFUSED_STREAM] {
        for status in refused(Script::silent(End::GoAway(reason))).await {
            let word = "transport/connection_lost";
            let error = expect(&status, Code::Unavailable, "AGENT_UNREACHABLE", "a2a-guard", word);
            assert_eq!(error.retry(), Retry::Unsafe, "{reason}: {error}");
        }
    }
}

#[tokio::test]
async fn a_service_that_is_not_a2as() {
    let peer = Peer::serve([Script::silent(End::Hang)]).await.unwrap();
    let origin = format!("http://{}", peer.addr());
    let limits = Limits::within(Duration::from_secs(30)).head(Duration::from_millis(300));
    let layers = (CallLayer::new(), TerminalStateLayer::builder().limits(limits).build().unwrap());
    let guarded = a2a_guard::tonic::channel_with(channel(&origin), &*origin, layers).unwrap();
    let request = http::Request::post("/grpc.health.v1.Health/Check")
        .header("content-type", "application/grpc")
        .body(tonic::body::Body::empty())
        .unwrap();
    let error = guarded.oneshot(request).await.unwrap_err();
    assert_eq!(error.call().target().unwrap().authority().unwrap(), &*peer.addr().to_string());
    let status = Status::from_error(error.into());
    expect(&status, Code::DeadlineExceeded, "CAPABILITY_TIMEOUT", "a2a-guard", "timeout/head");
}

/// tonic itself takes details that are no base64 for a fault of its own, and panics.
#[tokio::test]
async fn details_that_are_no_base64() {
    let script = Script::trailers_only(9, "no").header("grpc-status-details-bin", "!!!");
    for status in refused(script).await {
        assert_eq!((status.code(), status.message(), status.details()), (Code::FailedPrecondition, "no", &b""[..]));
    }
}

#[tokio::test]
async fn a_deadline_of_the_caller() {
    let peer = Peer::serve([Script::silent(End::Hang)]).await.unwrap();
    let origin = format!("http://{}", peer.addr());
    let mut client = crate::guarded(&origin);
    for _ in 0..5 {
        let mut request = tonic::Request::new(send("hello"));
        request.set_timeout(Duration::from_millis(400));
        let status = client.send_message(request).await.unwrap_err();
        expect(&status, Code::DeadlineExceeded, "CAPABILITY_TIMEOUT", "a2a-guard", "timeout/total");
    }
    assert_eq!(peer.requests()[0].header("grpc-timeout"), Some("400000u"));
}

#[tokio::test]
async fn a_timer_of_the_channel() {
    let peer = Peer::serve([Script::silent(End::Hang)]).await.unwrap();
    let origin = format!("http://{}", peer.addr());
    let endpoint = tonic::transport::Endpoint::from_shared(origin.clone()).unwrap().timeout(Duration::from_millis(100));
    let channel = a2a_guard::tonic::channel(endpoint.connect_lazy(), &*origin).unwrap();
    let status = A2aServiceClient::new(channel).send_message(send("hello")).await.unwrap_err();
    expect(&status, Code::DeadlineExceeded, "CAPABILITY_TIMEOUT", "a2a-guard", "timeout/total");
}
