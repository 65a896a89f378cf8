//! No peer grows the caller's memory with what it sends.
//!
//! A test binary of its own, and one test in it: what is counted is the memory of the whole process.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use a2a_guard::Limits;

#[path = "../examples/support/loopback.rs"]
mod loopback;
#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "../examples/support/peer.rs"]
mod peer;
#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "support/mod.rs"]
mod support;

use peer::{Chunk, Peer, Script};
use support::{Ask, Calling, Ended, event, rpc, task, update};

const MIB: u64 = 1 << 20;

struct Flood {
    name: &'static str,
    ask: Ask,
    script: Script,
    limits: Limits,
    expected: &'static str,
    /// How much the process may grow during the call, its peer included.
    allowed: usize,
    /// So many bytes at least went through to the caller.
    through: u64,
}

fn flood(name: &'static str, ask: Ask, script: Script, expected: &'static str) -> Flood {
    Flood { name, ask, script, limits: Limits::default(), expected, allowed: 32 << 20, through: 0 }
}

fn floods() -> Vec<Flood> {
    let json = || Script::new(200).header("content-type", "application/json");
    let begun = || Script::sse().chunk(event(&rpc(&task("WORKING"))));
    let text = |bytes| Chunk::new("x").times(bytes);
    // Chunks of one byte: what is kept of each must not outweigh the byte.
    let bytewise = |media: &str, start: &str| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media}\r\ntransfer-encoding: chunked\r\n\r\n");
        let start = format!("{:x}\r\n{start}\r\n", start.len());
        Script::raw().chunk(head).chunk(start).chunk(Chunk::new("1\r\nx\r\n").forever())
    };
    let progress = Chunk::new(event(&rpc(&update("WORKING"))));
    let ping = format!(":{}\n\n", " ".repeat(1021));
    let size = event(&rpc(&update("WORKING"))).len() as u64;
    // The cap is what is kept at most, so it is set below what is allowed here.
    let capped = Limits::default().max_unary_body(16 << 20);
    let endless = |data: &'static str| Chunk::new(data).forever();
    vec![
        Flood {
            limits: capped.clone(),
            ..flood("a body without end", Ask::Send, json().chunk("{\"a\":\"").chunk(endless("x")), "broken/too_large")
        },
        Flood {
            limits: capped,
            ..flood("white space without end", Ask::RestGet, json().chunk(endless(" ")), "broken/too_large")
        },
        flood(
            "an error without end",
            Ask::Send,
            Script::new(500).chunk(Chunk::new("oh ").forever()),
            "broken/http_status",
        ),
        flood(
            "an event of 100 MiB",
            Ask::Stream,
            begun().chunk("data: {\"a\":\"").chunk(text(100 * MIB)),
            "broken/too_large",
        ),
        flood("a comment of 100 MiB", Ask::Stream, begun().chunk(": ").chunk(text(100 * MIB)), "broken/too_large"),
        Flood {
            allowed: 2 << 20,
            limits: Limits::default().max_unary_body(256 << 10),
            ..flood(
                "a body in chunks of one byte",
                Ask::Send,
                bytewise("application/json", "{\"a\":\""),
                "broken/too_large",
            )
        },
        Flood {
            allowed: 2 << 20,
            limits: Limits::default().max_event(256 << 10),
            ..flood(
                "an event in chunks of one byte",
                Ask::Stream,
                bytewise("text/event-stream", "data: {\"a\":\""),
                "broken/too_large",
            )
        },
        Flood {
            through: 40 * MIB,
            ..flood(
                "40 MiB of events",
                Ask::Stream,
                begun().chunk(progress.times(40 * MIB / size + 1)).chunk(event(&rpc(&update("COMPLETED")))),
                "success/success",
            )
        },
        Flood {
            through: 40 * MIB,
            ..flood(
                "40 MiB of comments",
                Ask::Stream,
                begun().chunk(Chunk::new(ping).times(40 * MIB / 1024)).chunk(event(&rpc(&update("COMPLETED")))),
                "success/success",
            )
        },
        Flood {
            through: 100 * MIB,
            limits: Limits::default().linger(Duration::from_secs(60)),
            ..flood(
                "100 MiB behind the end",
                Ask::Stream,
                begun().chunk(event(&rpc(&update("COMPLETED")))).chunk(text(100 * MIB)),
                "success/success",
            )
        },
    ]
}

#[tokio::test]
async fn nothing_that_a_peer_sends_grows_memory() {
    for flood in floods() {
        let Flood { name, ask, script, limits, expected, allowed, through } = flood;
        let calling = Calling { ask, limits, strict: false, keep: false };
        let (ended, grown) = growth(script, calling).await;
        assert_eq!(ended.word(), expected, "{name}: {:?}", ended.error);
        assert!(ended.length >= through, "{name}: {} bytes came through", ended.length);
        assert!(grown < allowed, "{name}: grew by {} KiB", grown >> 10);
    }

    // The measure can tell: a caller that keeps what it is sent does grow.
    let script = Script::sse().chunk(event(&rpc(&task("WORKING")))).chunk(Chunk::new(": ping\n\n").times(6 * MIB));
    let calling = Calling { ask: Ask::Stream, limits: Limits::default(), strict: false, keep: true };
    let (ended, grown) = growth(script, calling).await;
    assert_eq!(ended.word(), "broken/truncated");
    assert!(grown > 48 << 20, "grew by {} KiB", grown >> 10);
}

/// Makes a call, and tells by how much the process grew meanwhile at most, its peer included.
async fn growth(script: Script, calling: Calling) -> (Ended, usize) {
    let peer = Peer::serve([script]).await.unwrap();
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let ended = calling.to(peer.addr()).await;
    (ended, PEAK.load(Relaxed).saturating_sub(before))
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
