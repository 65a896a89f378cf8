//! What the layers of `a2a-guard` cost, beside the layers that people stack today.
//!
//! The bench `overhead` prints the table. Everything it is made of stands here, so that it can be tested:
//!
//! * [`corpus`]: the bytes that are judged;
//! * [`peer`]: the service below, which answers from memory;
//! * [`measure`]: one batch of calls, and the CPU time and allocations that it took;
//! * [`group`]: rows that are measured in turn, so that the machine's moods hit all of them alike;
//! * [`table`]: the rows as text, with DESIGN.md's budgets beside them;
//! * [`ours`]: the layers under test;
//! * [`unary`], [`large`], [`streams`], [`grpc`], [`card`], [`probe`],
//!   [`directory`]: the groups themselves.

pub mod alloc;
pub mod card;
pub mod corpus;
pub mod directory;
pub mod group;
pub mod grpc;
pub mod large;
pub mod measure;
pub mod ours;
pub mod peer;
pub mod probe;
mod stacks;
pub mod streams;
pub mod table;
pub mod unary;
