//! What the layers of `a2a-guard` cost, beside the layers that people stack today.
//!
//! The bench `overhead` prints the table. Everything it is made of stands here, so that it can be tested:
//!
//! * [`corpus`]: the bytes that are judged;
//! * [`peer`]: the service below, which answers from memory;
//! * [`measure`]: one batch of calls, and the CPU time and allocations that it took;
//! * [`group`]: rows that are measured in turn, so that the machine's moods hit all of them alike;
//! * [`table`]: the rows as text, with their budgets beside them;
//! * [`ours`]: the layers under test;
//! * [`unary`], [`large`], [`streams`], [`grpc`], [`card`], [`probe`], [`directory`]: the groups themselves.
//!
//! # What is left, and why
//!
//! Own nanoseconds of one run on a machine of two cores that did other work as well: the ratios say more than the
//! figures.
//!
//! `TerminalStateLayer`, a unary call of 1 KiB: 793, where tower-http's two timeouts take 327 and `IgnoredAny` 480.
//! DESIGN.md's budget is those 327, and the judge alone takes 317 of them. By a sampling profile of the same call:
//!
//! | part | about | why it stays |
//! | --- | --- | --- |
//! | the judge | 400 | each byte is looked at once, 64 at a time, for the whole grammar and UTF-8; some 55 tokens are 6,000 instructions. Alone it takes 317: the code of a whole call (about 40 KiB of cache lines) is more than an instruction cache of 32 KiB holds, which is likely why |
//! | the clock, twice | 50 | at dispatch, from which `head` and `total` count, and at the first Pending of the body, from which `idle` does |
//! | the one timer | 60 | made, put into tokio's wheel under its lock, woken for, and taken out again |
//! | the flight | 100 | one allocation that holds what an error needs to be told: a count on the call's facts, one on the layer's, the URI where no `CallLayer` noted it, which is two more |
//! | head and body | 110 | a head has 112 bytes: into the flight, and out of it into the response; media type and coding are looked for among its fields |
//! | the rest | 70 | dropping all this, one thing after the other |
//!
//! What was in the way, and is gone: a judge that was moved, a head that was moved at each step, bounds that were
//! compared where none could be due, names of members that were compared one by one, and code that was there in several
//! copies.
//!
//! `TerminalStateLayer`, beside that:
//!
//! * 1 MiB: 0.32 of `IgnoredAny` for plain text, 0.45 with escapes, 0.66 to 0.74 for records, 0.74 for three-byte
//!   characters, of which half is their validation and half the search for the end of the string;
//! * an event: 36 at 256 B, 49 at 384 B, 58 at 512 B, of which the judge has 25, 38 and 47. It grows with the event's
//!   bytes, so that the budget of 60 holds up to about 520 B. 50 at 384 B as an SDK writes them, with an id of 36 bytes
//!   and `\r\n`: an event is compared with one before, of whatever form;
//! * an event that frames cut, of 384 B in frames of 1,460 B: 81, by a copy of its first piece;
//! * an event with a Pending before it: 79, by a reading of the clock, since `idle` and `event_gap` count from it;
//! * gRPC: judging a unary answer costs no more than passing it on, within what this run can tell (the judge alone 50);
//!   a message of a stream 35.

pub mod alloc;
pub mod card;
mod company;
pub mod corpus;
pub mod directory;
pub mod group;
pub mod grpc;
pub mod large;
mod least;
pub mod measure;
pub mod ours;
pub mod peer;
pub mod probe;
mod stacks;
pub mod streams;
pub mod table;
pub mod unary;
