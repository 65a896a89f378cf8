//! Finds peers for a need, and delegates to the best of those that may be asked. Discovery is not authorisation: what a
//! card says makes its agent a candidate, and nothing more.
//!
//! | step | by | what can go wrong |
//! | --- | --- | --- |
//! | register a peer | [`Directory::publish`], [`publish_tools`](Directory::publish_tools) | [`RegistryError`], and an [`AuditEvent`] for each change |
//! | say what is needed | [`Need`] | |
//! | find and rank | [`Directory::find`]: a [`Decision`] with a [`Candidate`] for each peer that fits | an [`Exclusion`] for each one that may not be asked |
//! | ask for permission | [`Permission`], by default [`PermissionRules`]; a [`PermissionEvent`] for each decision | [`Permit::Deny`] |
//! | delegate | [`DelegateLayer`] | [`DelegateError`] |
//! | learn | [`Evidence`], by [`trust`] | |
//!
//! # What becomes of a registration
//!
//! A peer is identified by where it is called ([`PeerId`]). At first it is on probation: it is found, but asked only
//! for what is of low risk, until somebody vouches for it ([`Verification`]) or it is [proven](Standing::proven). Its
//! card counts until it expires, and [`Directory::keep_fresh`] reads it again before that; the tools that it lists over
//! MCP count beside it. [Doubt](Directory::doubt), raised by calls that contradict the card, has it read again at once.
//! The registration ends by [`withdraw`](Directory::withdraw), for its owner, or [`revoke`](Directory::revoke), for an
//! operator.
//!
//! # Which numbers decide
//!
//! Fit, verification, trust, latency, id, in this order; peers that were found to claim too much come last. All of it
//! is a function of what is registered, the evidence, the time and the number of the call, so replicas with the same
//! evidence agree.
//!
//! # Example
//!
//! ```
//! use a2a_guard::card_consistency::CardStore;
//! use a2a_guard::directory::{Directory, Need};
//! # use bytes::Bytes;
//! # use http_body_util::Full;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # const CARD: &str = r#"{"name":"a","description":"a","version":"1","capabilities":{},
//! #     "skills":[{"id":"translate","name":"Translate","description":"translates letters","tags":["text"]}],
//! #     "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"supportedInterfaces":[
//! #     {"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#;
//! # let client = tower::service_fn(|_: http::Request<Full<Bytes>>| async {
//! #     let card = http::Response::builder().header("content-type", "application/json");
//! #     Ok::<_, std::convert::Infallible>(card.body(Full::<Bytes>::from(CARD)).unwrap())
//! # });
//! let cards = CardStore::builder(client).build()?;
//! let directory = Directory::builder(cards).low_risk_skills(["translate"]).build();
//! let peer = directory.publish(&"https://agent.example.com/a2a".parse()?, "team-a").await?;
//!
//! let decision = directory.find(&Need::skill("translate"));
//! assert_eq!(decision.best().map(|best| &best.peer), Some(&peer));
//! assert!(directory.find(&Need::skill("pay")).best().is_none());
//! # Ok(())
//! # }
//! ```

mod acts;
mod audit;
mod bounds;
mod builder;
mod caller;
mod decision;
mod delegate;
mod entry;
mod error;
mod evidence;
mod finding;
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
    entry::PeerEntry,
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
    registry::Directory,
    score::{Lexical, Match, Score},
    skill::{Skill, SkillField, SkillSource},
    tools::{ToolPages, ToolsFault},
    trust::{Condition, Report, ReportKind, Standing, TrustError, TrustPolicy, TrustPolicyBuilder, draw},
    version::VersionFlaw,
};
