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

use a2a_guard_fuzz::calls::{Caps, End, LARGE, Plan, SMALL, run, runtime};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

/// What a call takes whatever it is told: its runtime's and its own state, an error with its texts, and a frame on its way.
const FIXED: usize = 64 << 10;

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
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let seen = run(&runtime, &plan);
        let grown = PEAK.load(Relaxed).saturating_sub(before);
        let cap = match plan.caps {
            Caps::Large => LARGE,
            Caps::Small => SMALL,
        };
        // The caller of this test keeps what it is handed, in a vector that doubles.
        let kept = 3 * seen.bytes.len() + 4 * plan.body().len();
        // What is held, and once more where it is put together.
        let allowed = FIXED + 2 * cap + kept;
        assert!(grown <= allowed, "grew by {grown}, {allowed} allowed: {plan:?} {:?}", seen.error);
        largest = largest.max(grown.saturating_sub(kept));
    }
    // The measure can tell.
    assert!(largest > LARGE / 2, "{largest} at most, which is less than what was held");
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
