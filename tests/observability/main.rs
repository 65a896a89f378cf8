//! Who hears how calls end: spans, events, metrics, and the layer that tells of calls refused on their way.
#![cfg(all(feature = "tracing", feature = "metrics"))]

mod counting;
#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;
mod order;
mod recorder;
mod refused;
mod spans;
mod subscriber;
mod telling;

use a2a_guard::card_consistency::CardStore;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use tower::service_fn;

/// A store that finds no card anywhere.
fn no_cards() -> CardStore {
    let client = service_fn(|_: Request<Full<Bytes>>| async {
        let mut response = Response::new(Full::<Bytes>::default());
        *response.status_mut() = StatusCode::NOT_FOUND;
        Ok::<_, std::convert::Infallible>(response)
    });
    CardStore::builder(client).build().unwrap()
}

/// The answer to `GetTask`.
fn answer(state: &str) -> String {
    let dialect = mock::Dialect::V1;
    dialect.result(&dialect.bare_task(state))
}
