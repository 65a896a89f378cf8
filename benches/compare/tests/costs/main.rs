//! What a call may cost that can be said exactly: allocations, and the sizes of futures and bodies.
//!
//! Allocations are counted by the allocator of this crate, a thread for itself. What a call takes is the difference of
//! two batches, one of twice as many calls, so that what is made once does not count.

#[allow(dead_code, reason = "shared with the bench that counts instructions")]
#[path = "../../benches/instructions/agent.rs"]
mod agent;
#[path = "../../benches/instructions/guard.rs"]
mod guard;
#[path = "../../benches/instructions/known.rs"]
mod known;

mod counting;
mod hits;
mod sizes;
mod streams;
mod unary;
