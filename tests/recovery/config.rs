//! What can be set, and what cannot.

use std::time::Duration;

use a2a_guard::{ConfigError, Recovery, TerminalStateLayer};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::util::BoxCloneService;

use crate::{
    Aside,
    mock::{BoxError, MockBody, Peer},
};

fn build(set: impl FnOnce(Recovery) -> Recovery) -> Result<TerminalStateLayer, ConfigError> {
    let client: Aside = Peer::new([]);
    TerminalStateLayer::builder().recovery(set(Recovery::new(client))).build()
}

#[test]
fn a_recovery_that_does_nothing_is_refused() {
    let error = build(|recovery| recovery).unwrap_err();
    assert_eq!((error.setting(), error.operation()), ("recovery", None));
    let line = "recovery does nothing: choose cancel_on_failure, cancel_on_drop or reconcile";
    assert_eq!(error.to_string(), line);
}

#[test]
fn a_recovery_that_could_send_nothing_is_refused() {
    let no_time = build(|recovery| recovery.reconcile().timeout(Duration::ZERO)).unwrap_err();
    assert_eq!(no_time.to_string(), "recovery does nothing: its timeout is zero");
    let no_place = build(|recovery| recovery.cancel_on_drop().max_in_flight(0)).unwrap_err();
    assert_eq!(no_place.to_string(), "recovery does nothing: its max_in_flight is zero");
}

#[test]
fn each_choice_is_enough() {
    assert!(build(Recovery::reconcile).is_ok());
    assert!(build(Recovery::cancel_on_drop).is_ok());
    assert!(build(Recovery::cancel_on_failure).is_ok());
}

#[test]
fn bounds_without_end_are_taken() {
    assert!(build(|recovery| recovery.reconcile().timeout(Duration::MAX).max_in_flight(usize::MAX)).is_ok());
}

/// A service that can be sent but not shared, as boxed ones are.
#[test]
fn its_client_need_not_be_shared() {
    fn shared<T: Send + Sync>(_: &T) {}
    let client: BoxCloneService<Request<Full<Bytes>>, Response<MockBody>, BoxError> =
        BoxCloneService::new(Peer::new([]));
    shared(&Recovery::new(client).reconcile());
}
