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
//! Own nanoseconds of one run on a machine of two cores: the ratios say more than the figures, and instructions
//! (`baseline/instructions.tsv`) more than both. A layer that does no more than any of its kind has to is measured
//! beside ours: less than it takes cannot be had.
//!
//! `TerminalStateLayer`, a unary call of 1 KiB: 549, where tower-http's two timeouts take 334 and `IgnoredAny` 480. The
//! budget is those 334, of which the least of a layer with one timer takes 210. Of 5,200 instructions:
//!
//! | part | instructions | why it stays |
//! | --- | --- | --- |
//! | the answer | 2,500 | compared with one before: byte by byte where it may not differ, and where it may, its end is searched, 64 bytes in 42 instructions, and each escape looked at. That takes some 190 ns, the judge alone 320. To look all of it over first, and count its quotes, took longer |
//! | head and frames | 1,000 | polled three times; media type, coding and length are looked for among the head's fields; a head has 112 bytes, into the flight and out of it into the response |
//! | the flight | 900 | one allocation that holds what an error needs to be told, filled and dropped: a count on the call's facts, one on the layer's, the URI where no `CallLayer` noted it |
//! | the one timer | 520 | made at the first Pending, put into tokio's wheel under its lock, woken for, and taken out again |
//! | bounds and clock | 380 | two readings: at dispatch, from which `head` and `total` count, and at the first Pending of the body, from which `idle` does |
//!
//! Calls here follow one another. Where a program does something else in between, as one that waits for sockets does,
//! the code of the layers has to come back into the processor first: of lines of 64 bytes, a call runs through 330 in
//! `TerminalStateLayer`, 280 in `CallLayer` and 730 in a whole `Guard`, which is 46 KiB, and more than the 32 KiB that a
//! first-level cache of instructions holds. There a `Guard` takes twice to three times what stands here (`end_to_end`
//! has what comes of it), and here, where such lines happen to lie makes a fifth of a figure.
//!
//! What was in the way, and is gone: a judge that was moved, a head that was moved at each step, bounds that were
//! compared where none could be due, names of members that were compared one by one, answers that were judged though
//! one like them was, and code that was there in several copies.
//!
//! A hit of `CardConsistencyLayer` takes 52 to 83, one of `ProbeCacheLayer` 70, both 161; a layer that looks nothing up
//! takes 34 to 60 of that, by the row that it stands over:
//!
//! | part | about | why it stays |
//! | --- | --- | --- |
//! | the clock | 20 | what is held expires; two layers share one reading |
//! | the call | 20 | found among the request's extensions, counted and let go of: who reads of a failure reads of it |
//! | request, future, response | 15 to 25 | handed on once more: 336, 120 and 112 bytes |
//! | what is held, the send | 10 | a count on each, for what a refusal says of them |
//! | the look itself | 15 to 25 | the same target, tenant, version and policy as the last call's, in the same epoch, fresh and not distrusted; what the call needs; the version header |
//!
//! `TerminalStateLayer`, beside that:
//!
//! * 1 MiB: 0.29 of `IgnoredAny` for plain text, 0.43 with escapes, 0.62 for records (0.67 in frames of 1,460 B),
//!   0.77 for three-byte characters, of which half is their validation and half the search for the end of the string;
//! * an event: 37 at 256 B, 49 at 384 B, 60 at 512 B, of which the judge has the most. It grows with the event's bytes,
//!   so that the budget of 60 just holds at 512 B (60, 70 and 82 on a slower day). 50 at 384 B as an SDK writes them, with an id of 36 bytes and
//!   `\r\n`: an event is compared with one before, of whatever form;
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
