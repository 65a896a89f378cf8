//! `CardConsistencyLayer` over scripted agents, on paused time: what a card does not cover is not sent.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;
mod support;

mod admissions;
mod again;
mod authority;
mod bodies;
mod credentials;
mod distrust;
mod elsewhere;
mod extended;
mod extended_grpc;
mod extended_renewed;
mod extensions;
mod first_event;
mod flights;
mod gateway;
mod grpc;
mod lines;
mod matching;
mod observer;
mod policies;
mod queries;
mod readiness;
mod relative;
mod resolvers;
mod routes;
mod shapes;
mod tenants;
mod types;
mod unnamed;
mod versions;
