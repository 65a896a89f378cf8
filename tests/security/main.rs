//! What an attacker may try: an agent, a host of cards, a neighbour on a shared cache, or a caller of a gateway.
//!
//! One file a subject. Faults of the wire are in `faults`, `cuts` and `memory`, forged messages of replicas in `redis`,
//! and tampered signatures in `signatures`; what stands here goes across them.

#[path = "../../examples/support/loopback.rs"]
mod loopback;
#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;
#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../probe_cache/support.rs"]
mod probing;
#[cfg(all(feature = "metrics", feature = "tracing"))]
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../observability/recorder.rs"]
mod recorder;
#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../card_consistency/support/mod.rs"]
mod support;

mod addresses;
mod bombs;
mod caches;
mod callers;
#[cfg(all(feature = "metrics", feature = "tracing"))]
mod labels;
mod lines;
mod own_requests;
mod rendered;
mod shown;
mod spent;
mod streams;
mod texts;
mod waits;
