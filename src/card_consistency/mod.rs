//! Sends no call to an agent whose card does not say that it can do what the call needs: resolve, then fetch, then
//! match.
//!
//! The card is that of the *target*, the place where the call really goes, never the card of a gateway that speaks for
//! many. Without a card there are no capabilities, and the call is refused before it is sent.
//!
//! ```
//! use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore};
//! use a2a_guard::{CallLayer, Class, TerminalStateLayer};
//! # use a2a_guard::CallBody;
//! # use bytes::Bytes;
//! # use http_body_util::Full;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # const CARD: &str = r#"{"name":"a","description":"a","version":"1","capabilities":{},"skills":[],
//! #     "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"supportedInterfaces":[
//! #     {"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#;
//! # let client = tower::service_fn(|request: http::Request<CallBody<Full<Bytes>>>| async move {
//! #     assert_eq!(request.uri().path(), "/a2a/.well-known/agent-card.json", "nothing else is asked");
//! #     let card = http::Response::builder().header("content-type", "application/json");
//! #     Ok::<_, std::convert::Infallible>(card.body(Full::<Bytes>::from(CARD)).unwrap())
//! # });
//! let agent = ServiceBuilder::new()
//!     .layer(CallLayer::new())
//!     .layer(CardConsistencyLayer::new(CardStore::builder(client.clone()).build()?))
//!     .layer(TerminalStateLayer::new())
//!     .service(client);
//!
//! // The agent's card says nothing of streaming.
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"t-1"}}"#;
//! let request = http::Request::post("https://agent.example.com/a2a").header("a2a-version", "1.0").body(Full::from(call))?;
//! let error = agent.oneshot(request).await.unwrap_err();
//! assert_eq!(error.class(), Class::CapabilityMissing);
//! # Ok(())
//! # }
//! ```

mod admission;
mod body;
mod contradiction;
mod first_event;
mod future;
mod layer;
mod matching;
mod modes;
mod resolve;
mod route;
mod service;
mod store;
mod tenant;

pub use self::{
    admission::Admission,
    body::CardConsistencyBody,
    first_event::FirstEventExtension,
    future::CardConsistencyFuture,
    layer::CardConsistencyLayer,
    resolve::{Direct, Resolution, Resolve},
    route::Route,
    service::CardConsistencyService,
    store::{
        Authority, AuthorityCondition, AuthorityGap, CardAsk, CardEntry, CardEvidence, CardKeyRef, CardStore,
        CardStoreBuilder, CardStoreError, CardStoreStats, CardTarget, HeldCard, NegativeTtl, TransportProof, Verdict,
        VerifiedTransport, VerifyCard,
    },
};
#[cfg(feature = "directory")]
pub(crate) use self::{
    matching::{set_tenant, state_version, tenant_in_path},
    route::rewritten,
};
