//! Finds peers for a need, and delegates to the best of those that may be asked. Discovery is not authorisation: what a
//! card says makes its agent a candidate, and nothing more.

mod evidence;
mod peer_id;
pub mod trust;

pub use self::{
    evidence::{
        Evidence, EvidenceBuilder, EvidenceChange, EvidenceLink, EvidenceObserver, EvidenceStore, PeerEvidence,
    },
    peer_id::{PeerId, PeerIdFault},
    trust::{Condition, Report, ReportKind, Standing, TrustError, TrustPolicy, TrustPolicyBuilder, draw},
};
