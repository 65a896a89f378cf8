//! Requests, in any cut: named alike, and handed on as they came.

use a2a_guard::{Call, CallBody, CallLayer};
use http::Request;
use http_body_util::BodyExt;
use proptest::prelude::*;
use tower::{Layer, Service, ServiceExt};

use crate::{
    Cut, End, changes, config, cuts, ends,
    mock::{Answer, Dialect, MockBody, Peer, frames_of},
    mutated, runtime,
};

/// What the client below sees of a request: its call, its bytes, and whether they end well.
async fn passed(
    layer: &CallLayer,
    head: &http::request::Parts,
    bytes: &[u8],
    end: End,
    cut: &Cut,
) -> (String, Vec<u8>, bool) {
    let peer: Peer<CallBody<MockBody>> = Peer::new([Answer::json("{}")]);
    let mut service = layer.layer(peer.clone());
    let mut request = Request::new(cut.body(bytes, end));
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = head.uri.clone();
    *request.headers_mut() = head.headers.clone();
    service.ready().await.unwrap().call(request).await.unwrap();
    let (head, mut body) = peer.requests().remove(0).into_parts();
    let call = head.extensions.get::<Call>().unwrap();
    let (mut got, mut well) = (Vec::new(), true);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => got.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Err(_) => well = false,
        }
    }
    (format!("{call:?} {:?} {:?}", call.operation(), call.is_streaming()), got, well)
}

fn heads() -> impl Strategy<Value = Request<http_body_util::Full<bytes::Bytes>>> {
    let dialect = prop::sample::select(&Dialect::ALL[..]);
    (dialect, 0..4).prop_map(|(dialect, kind)| match kind {
        0 => dialect.send(),
        1 => dialect.send_at_once(),
        2 => dialect.stream(),
        _ => dialect.get(),
    })
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_request_is_named_alike_however_it_is_cut(
        request in heads(),
        changes in changes(),
        // A request that never ends is not drained here.
        end in ends().prop_filter("ends", |end| !matches!(end, End::Hang)),
        cuts in cuts(),
    ) {
        let runtime = runtime();
        let (head, body) = request.into_parts();
        let bytes = runtime.block_on(async { frames_of(body).await.0.concat() });
        let bytes = mutated(String::from_utf8(bytes).unwrap(), &changes);
        let layer = CallLayer::new();
        let whole = runtime.block_on(passed(&layer, &head, &bytes, end, &Cut::Whole));
        prop_assert_eq!(&whole.1, &bytes);
        prop_assert_eq!(whole.2, !matches!(end, End::Reset));
        for cut in &cuts {
            let apart = runtime.block_on(passed(&layer, &head, &bytes, end, cut));
            prop_assert_eq!(&whole, &apart, "cut by {:?}", cut);
        }
    }
}
