//! Sends no call to an agent whose card does not say that it can do what the call needs: resolve, then fetch, then match.
//!
//! The card is that of the *target*, the place where the call really goes, never the card of a gateway that speaks for
//! many. Without a card there are no capabilities, and the call is refused before it is sent.

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
