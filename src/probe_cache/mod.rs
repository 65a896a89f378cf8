//! Facts about endpoints and skills, learnt from the calls themselves and from as few probes as possible.
//!
//! A card says what its publisher believes. Only the endpoint can tell whether A2A is spoken there, and whether a skill
//! is there in a region right now.
//!
//! ```
//! use a2a_guard::card::Origin;
//! use a2a_guard::probe_cache::{Availability, SkillAvailability, SkillKey};
//! use a2a_guard::{Call, CallLayer, ProbeCacheLayer, TerminalStateLayer};
//! # use a2a_guard::CallBody;
//! # use bytes::Bytes;
//! # use http_body_util::Full;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # const TASK: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","contextId":"c-1",
//! #     "status":{"state":"TASK_STATE_COMPLETED"}}}}"#;
//! # let client = tower::service_fn(|_: http::Request<CallBody<Full<Bytes>>>| async {
//! #     let task = http::Response::builder().header("content-type", "application/json");
//! #     Ok::<_, std::convert::Infallible>(task.body(Full::<Bytes>::from(TASK)).unwrap())
//! # });
//! let skills = SkillAvailability::new();
//! let agent = ServiceBuilder::new()
//!     .layer(CallLayer::new())
//!     .layer(ProbeCacheLayer::without_probes().availability(skills.clone()).build()?)
//!     .layer(TerminalStateLayer::new())
//!     .service(client);
//!
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-1",
//!     "role":"ROLE_USER","parts":[{"text":"Guten Tag"}]}}}"#;
//! let mut request =
//!     http::Request::post("https://agent.example.com/a2a").header("a2a-version", "1.0").body(Full::from(call))?;
//! request.extensions_mut().insert(Call::new().with_skill("translate").with_region("eu"));
//! agent.oneshot(request).await?;
//!
//! // It went well, so the skill is there.
//! let key = SkillKey::new(Origin::parse("https://agent.example.com")?, "translate").in_region("eu");
//! assert!(matches!(skills.get(&key), Availability::Available { .. }));
//! # Ok(())
//! # }
//! ```

mod availability;
mod body;
mod builder;
mod core;
mod endpoint;
mod error;
mod future;
mod key;
mod layer;
mod lease;
mod place;
mod probe;
mod prober;
#[cfg(feature = "redis")]
mod redis;
mod schedule;
mod service;
mod verdict;
mod watch;

#[cfg(all(feature = "redis", feature = "directory"))]
pub(crate) use self::redis::wiring;
#[cfg(feature = "redis")]
#[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
pub use self::redis::{RedisStore, RedisStoreBuilder, RedisStoreStats};
pub use self::{
    availability::{
        Availability, AvailabilityEntry, AvailabilityStats, Change, Link, SkillAvailability, SkillAvailabilityBuilder,
        SkillKey, Store,
    },
    body::ProbeCacheBody,
    builder::ProbeCacheBuilder,
    endpoint::EndpointState,
    error::ProbeCacheError,
    future::ProbeCacheFuture,
    layer::{EndpointEntry, ProbeCacheLayer},
    service::ProbeCacheService,
};
#[cfg(feature = "directory")]
pub(crate) use self::{
    probe::Probe,
    verdict::{Verdict, of_message_probe},
};
