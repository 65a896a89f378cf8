//! Finds peers for a need, and delegates to the best of those that may be asked. Discovery is not authorisation: what a
//! card says makes its agent a candidate, and nothing more.

mod audit;
mod bounds;
mod builder;
mod caller;
mod decision;
mod delegate;
mod error;
mod evidence;
mod index;
mod need;
mod observer;
mod peer;
mod peer_id;
mod permission;
mod reading;
mod refresh;
mod registry;
mod score;
mod select;
mod skill;
mod tokens;
mod tools;
pub mod trust;
mod version;

use self::refresh::drift_of;
pub use self::{
    audit::{AuditEvent, Change, StaleReason},
    bounds::DirectoryBounds,
    builder::DirectoryBuilder,
    caller::Caller,
    decision::{Attempt, AttemptEnd, Candidate, Decision, Exclusion},
    delegate::{
        Alternatives, CredentialHeaders, Credentials, CredentialsAsk, DelegateBody, DelegateError, DelegateFuture,
        DelegateLayer, DelegateService, Delegated, Fallback, FallbackTo, NoEligiblePeer, NoFallback,
    },
    error::RegistryError,
    evidence::{
        Evidence, EvidenceBuilder, EvidenceChange, EvidenceLink, EvidenceObserver, EvidenceStore, PeerEvidence,
    },
    need::{Need, Written},
    observer::DirectoryObserver,
    peer::Verification,
    peer_id::{PeerId, PeerIdFault},
    permission::{Grant, Permission, PermissionAsk, PermissionEvent, PermissionRules, Permit, Stage},
    refresh::Drift,
    registry::{Directory, PeerEntry},
    score::{Lexical, Match, Score},
    skill::{Skill, SkillField, SkillSource},
    tools::ToolsFault,
    trust::{Condition, Report, ReportKind, Standing, TrustError, TrustPolicy, TrustPolicyBuilder, draw},
    version::VersionFlaw,
};
