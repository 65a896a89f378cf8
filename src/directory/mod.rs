//! Finds peers for a need, and delegates to the best of those that may be asked. Discovery is not authorisation: what a
//! card says makes its agent a candidate, and nothing more.

mod audit;
mod bounds;
mod builder;
mod error;
mod index;
mod observer;
mod peer;
mod peer_id;
mod reading;
mod registry;
mod skill;
mod tokens;
mod tools;

pub use self::{
    audit::{AuditEvent, Change, StaleReason},
    bounds::DirectoryBounds,
    builder::DirectoryBuilder,
    error::RegistryError,
    observer::DirectoryObserver,
    peer::Verification,
    peer_id::{PeerId, PeerIdFault},
    registry::{Directory, PeerEntry},
    skill::{Skill, SkillField, SkillSource},
    tools::ToolsFault,
};
