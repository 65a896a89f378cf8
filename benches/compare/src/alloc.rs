//! An allocator that counts what the current thread asks of it.
//!
//! The ready-made ones change what is measured: one turns every `realloc` into an allocation and a copy, another pays
//! four atomic read-modify-writes for each pair, which would show in the anchors that allocate most. This one adds two
//! plain thread-local additions.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Sub;

/// How often memory was asked for, and how much of it, since the thread began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Calls of `alloc`, `alloc_zeroed` and `realloc`.
    pub count: u64,
    /// Bytes asked for, those given back included; a `realloc` counts with its new size.
    pub bytes: u64,
}

impl Sub for Allocations {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self { count: self.count - earlier.count, bytes: self.bytes - earlier.bytes }
    }
}

thread_local! {
    // `const` and without a destructor: reading it never allocates, and it is there until the thread is gone.
    static SO_FAR: Cell<Allocations> = const { Cell::new(Allocations { count: 0, bytes: 0 }) };
}

/// The figures of the current thread up to now.
pub fn so_far() -> Allocations {
    SO_FAR.get()
}

fn note(bytes: usize) {
    let before = SO_FAR.get();
    SO_FAR.set(Allocations { count: before.count + 1, bytes: before.bytes + bytes as u64 });
}

struct Counting;

// SAFETY: every method hands its arguments unchanged to `System` and returns what that returns; counting touches a
// plain thread-local and cannot unwind or allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's obligations are those of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: as above; `block` came from `System`, for nothing else is behind this allocator.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn counts_blocks_and_bytes() {
        let before = so_far();
        let block = black_box(vec![0_u8; 100]);
        let taken = so_far() - before;
        drop(block);
        assert_eq!(taken, Allocations { count: 1, bytes: 100 });
    }

    #[test]
    fn growing_counts_once_more() {
        let mut block = black_box(Vec::<u8>::with_capacity(10));
        let before = so_far();
        block.reserve_exact(50);
        assert_eq!((so_far() - before).count, 1);
    }
}
