//! The CPU time of a process, as Linux tells it.

use std::{fs, time::Duration};

/// What all threads of this process took so far; none where nobody can tell.
pub(crate) fn of(process: u32) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let mut nanos = 0;
    for thread in threads {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanos += text.split(' ').next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanos))
}
