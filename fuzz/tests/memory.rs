//! No peer grows the memory of a call beyond its caps, whatever it sends and however it is cut.
//!
//! A test binary of its own, and one test in it: what is counted is the memory of the whole process.

#[path = "invariants/bodies.rs"]
mod bodies;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "invariants/plans.rs"]
mod plans;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use a2a_guard_fuzz::calls::{Caps, End, Guarded, Host, LARGE, Plan, SMALL, Says, Seen, run, runtime};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

/// What a call takes whatever it is told: its runtime's and its own state, an error with its texts, and a frame on its
/// way.
const FIXED: usize = 64 << 10;
/// What a card may have, and an answer to a probe or to a question about a task that is no task.
const HOSTED: usize = 256 << 10;

#[test]
fn nothing_that_a_peer_sends_grows_a_call_beyond_its_caps() {
    let mut runner = TestRunner::deterministic();
    let runtime = runtime();
    let mut largest = 0;
    for nth in 0..150 {
        let mut plan: Plan = plans::plan().new_tree(&mut runner).unwrap().current();
        plan.end = match nth % 6 {
            // What is kept of a piece must not outweigh it, be it ever so small.
            0 => End::Endless("x", Duration::from_millis(20)),
            1 => End::Endless("data: {\"a\":", Duration::from_millis(20)),
            2 => End::Flood(": ping\n\n", Duration::from_millis(10)),
            3 => End::Trailers(Duration::from_millis(10)),
            _ => plan.end,
        };
        let (seen, grown) = growth(|| run(&runtime, &plan));
        let kept = kept(&plan, &seen);
        let allowed = FIXED + 2 * cap(&plan) + kept;
        assert!(grown <= allowed, "grew by {grown}, {allowed} allowed: {plan:?} {:?}", seen.error);
        largest = largest.max(grown.saturating_sub(kept));
    }
    // The measure can tell.
    assert!(largest > LARGE / 2, "{largest} at most, which is less than what was held");

    // What stands before a call, and behind it, is bounded too: cards, probes, questions about a task.
    let flood = Host { says: Says::Floods, after: Duration::ZERO };
    let mut largest = 0;
    for nth in 0..150 {
        let mut guarded: Guarded = plans::guarded().new_tree(&mut runner).unwrap().current();
        match nth % 3 {
            0 => guarded.cards = flood,
            1 => (guarded.cards, guarded.probes) = (Host { says: Says::Good, ..flood }, flood),
            _ => guarded.recovery = Some(flood),
        }
        let (seen, grown) = growth(|| guarded.run(&runtime));
        let kept = kept(&guarded.plan, &seen);
        // Once as it comes, and once more where it is put together; the tables of the caches besides.
        let allowed = 4 * FIXED + 2 * cap(&guarded.plan) + 2 * HOSTED + kept;
        assert!(grown <= allowed, "grew by {grown}, {allowed} allowed: {guarded:?} {:?}", seen.error);
        largest = largest.max(grown.saturating_sub(kept));
    }
    assert!(largest > HOSTED / 2, "{largest} at most, which is less than what was held");
}

/// Runs a call, and tells by how much memory grew meanwhile at most.
fn growth(call: impl FnOnce() -> Seen) -> (Seen, usize) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let seen = call();
    (seen, PEAK.load(Relaxed).saturating_sub(before))
}

/// What may be held of an answer. It counts twice: once more where it is put together.
fn cap(plan: &Plan) -> usize {
    match plan.caps {
        Caps::Large => LARGE,
        Caps::Small => SMALL,
    }
}

/// The caller of this test keeps what it is handed, in a vector that doubles.
fn kept(plan: &Plan, seen: &Seen) -> usize {
    3 * seen.bytes.len() + 4 * plan.body().len()
}

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which keeps count of the bytes that live.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

#[allow(unsafe_code, reason = "an allocator is unsafe to write; this one only counts and hands on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Relaxed);
        grow(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}
