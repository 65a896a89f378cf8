//! What this process knows of peers by calling them, shared by all who call.

mod entry;
mod handle;
mod observe;
mod peers;

pub use self::{
    handle::{Evidence, EvidenceBuilder, PeerEvidence},
    observe::EvidenceObserver,
};
