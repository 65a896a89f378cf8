//! `RedisStore` against a real `redis-server` (or `valkey-server`), on real time: replicas share what they learn, and a
//! server that is away delays nobody. Where neither is installed, each test says on stderr that it did not run.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../probe_cache/support.rs"]
mod support;

mod access;
mod config;
mod ends;
mod hostile;
mod layers;
#[path = "../../examples/support/nobody.rs"]
mod nobody;
mod outages;
mod proxy;
mod replica;
mod server;
mod sharing;
