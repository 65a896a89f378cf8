//! The example `egress_gateway` as its users have it: a process, called over real sockets by clients that know nothing
//! of it, in front of an agent that does as its callers say.

#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "../../examples/support/messages.rs"]
mod messages;
#[path = "../../examples/support/nobody.rs"]
mod nobody;

mod agent;
mod asks;
mod client;
mod dialect;
mod gateway;

mod admin;
mod bounds;
mod cards;
mod ending;
mod good;
mod headers;
mod load;
mod old;
mod options;
mod parts;
mod refusals;
mod shedding;
mod silent;
mod stalled;
mod tenants;
