//! Cards that were signed by the official SDKs, through a store, the layer and the verifier.

#![cfg(feature = "signatures")]

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;
#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../card_consistency/support/mod.rs"]
mod support;

mod fixtures;
mod layer;
mod sdks;
mod tampering;
