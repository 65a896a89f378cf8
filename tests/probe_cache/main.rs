//! `ProbeCacheLayer` over scripted agents, on paused time: one probe for all who ask, and a skill that is gone is a
//! routing signal.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;
mod support;

mod burst;
mod carried;
mod config;
#[allow(dead_code, reason = "of another test's messages, a part is needed here")]
#[path = "../grpc/dialect.rs"]
mod dialect;
mod endpoints;
mod flights;
mod grpc;
mod handle;
mod lines;
mod message_probe;
mod noted;
mod readiness;
mod schedule;
mod skills;
mod store;
mod streams;
mod types;
mod unnamed;
mod verdicts;
