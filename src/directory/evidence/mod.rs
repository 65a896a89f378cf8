//! What this process knows of peers by calling them, shared by all who call.

mod change;
mod entry;
mod handle;
mod observe;
mod peers;
#[cfg(feature = "redis")]
mod redis;
mod store;

pub use self::{
    change::EvidenceChange,
    handle::{Evidence, EvidenceBuilder, PeerEvidence},
    observe::EvidenceObserver,
    store::{EvidenceLink, EvidenceStore},
};
