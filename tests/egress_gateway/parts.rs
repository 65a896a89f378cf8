//! The gateway's parts that have tests of their own: an example's do not run by themselves.

#[allow(dead_code, reason = "only its tests are wanted here")]
#[path = "../../examples/egress_gateway/args.rs"]
mod args;
#[allow(dead_code, reason = "only its tests are wanted here")]
#[path = "../../examples/egress_gateway/door.rs"]
mod door;
#[allow(dead_code, reason = "only its tests are wanted here")]
#[path = "../../examples/egress_gateway/grpc_card.rs"]
mod grpc_card;
#[allow(dead_code, reason = "only its tests are wanted here")]
#[path = "../../examples/egress_gateway/handles.rs"]
mod handles;

#[path = "../../examples/egress_gateway/headers.rs"]
mod headers;
#[allow(dead_code, reason = "only its tests are wanted here")]
#[path = "../../examples/egress_gateway/tenants.rs"]
mod tenants;
