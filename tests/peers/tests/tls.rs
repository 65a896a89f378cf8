//! The connector of the example `verified_transport`: what it verified is what the card's report says.

#[path = "../examples/verified_transport/connector.rs"]
mod connector;
#[path = "../examples/verified_transport/server.rs"]
mod server;

use std::sync::Arc;

use a2a_guard::{
    CallBody, CardFailure, ProtocolVersion,
    card_consistency::{AuthorityCondition, CardAsk, CardStore, HeldCard},
};
use bytes::Bytes;
use connector::Connector;
use http::{HeaderMap, Uri};
use http_body_util::Full;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use rustls::{RootCertStore, pki_types::CertificateDer};
use tokio::time::Instant;

async fn fetched(connector: Connector, target: &Uri) -> Result<Arc<HeldCard>, CardFailure> {
    let client = Client::builder(TokioExecutor::new()).build::<_, CallBody<Full<Bytes>>>(connector);
    let store = CardStore::builder(client).build().unwrap();
    store.get(CardAsk::new(target.clone(), HeaderMap::new())).await
}

#[tokio::test]
async fn what_was_verified_is_told() {
    let at = server::serve().await.unwrap();
    let target = Uri::from_static("https://agent.example.com/a2a");
    for (connector, told) in [
        (Connector::by_name(server::issuers().unwrap(), at).unwrap(), "agent.example.com by certificate"),
        (Connector::by_pin(server::certificate(), at).unwrap(), "agent.example.com by pinned key"),
    ] {
        let card = fetched(connector, &target).await.unwrap();
        assert_eq!(card.transport().unwrap().to_string(), told);
        let report = |target: &Uri| card.authority(target, ProtocolVersion::V1_0, Instant::now());
        assert!(report(&target).holds(AuthorityCondition::Transport));
        assert_eq!(report(&target).to_string(), "a hint: probe_missing");
        let other = Uri::from_static("https://other.example.com/a2a");
        assert!(!report(&other).holds(AuthorityCondition::Transport));
    }
}

#[tokio::test]
async fn what_cannot_be_verified_is_no_card() {
    let at = server::serve().await.unwrap();
    let target = Uri::from_static("https://agent.example.com/a2a");
    let elsewhere = Uri::from_static("https://other.example.com/a2a");
    let another = || CertificateDer::from(&include_bytes!("../examples/verified_transport/issuer.der")[..]);
    for (connector, target) in [
        (Connector::by_name(RootCertStore::empty(), at).unwrap(), &target),
        // The name is not in the certificate.
        (Connector::by_name(server::issuers().unwrap(), at).unwrap(), &elsewhere),
        (Connector::by_pin(another(), at).unwrap(), &target),
    ] {
        let failure = fetched(connector, target).await.unwrap_err();
        assert!(matches!(failure, CardFailure::Connection { .. }), "{failure}");
    }
}
