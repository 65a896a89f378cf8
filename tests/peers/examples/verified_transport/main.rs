//! How a card gets its authority: a connector that says what it verified.
//!
//! `cargo run -p a2a-guard-peers --example verified_transport`

mod connector;
mod server;

use a2a_guard::{
    CallBody, ProtocolVersion,
    card_consistency::{CardAsk, CardStore},
};
use bytes::Bytes;
use connector::Connector;
use http::{HeaderMap, Uri};
use http_body_util::Full;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let at = server::serve().await?;
    let target = Uri::from_static("https://agent.example.com/a2a");
    for (how, connector) in [
        ("by its issuer and name", Connector::by_name(server::issuers()?, at)?),
        ("by its certificate alone", Connector::by_pin(server::certificate(), at)?),
    ] {
        let client = Client::builder(TokioExecutor::new()).build::<_, CallBody<Full<Bytes>>>(connector);
        let store = CardStore::builder(client).build()?;
        let card = store.get(CardAsk::new(target.clone(), HeaderMap::new())).await?;
        let verified = card.transport().map_or_else(|| "nothing".to_owned(), ToString::to_string);
        println!("trusted {how}: verified {verified}");
        println!("  {}", card.authority(&target, ProtocolVersion::V1_0, Instant::now()));
        // As a `ProbeCacheLayer` finds out.
        card.note_probe(true);
        println!("  after a probe: {}", card.authority(&target, ProtocolVersion::V1_0, Instant::now()));
    }
    Ok(())
}
