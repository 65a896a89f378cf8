use std::cell::LazyCell;

use tokio::runtime::Runtime;

use crate::calls::{Plan, check, check_drops, runtime};

thread_local! {
    static RUNTIME: LazyCell<Runtime> = LazyCell::new(runtime);
}

/// A whole call, to a peer that does as the bytes say. One in eight is also dropped wherever it waits.
pub fn layer(bytes: &[u8]) {
    let plan = Plan::of(bytes);
    RUNTIME.with(|runtime| {
        if bytes.first().is_some_and(|byte| byte & 0xe0 == 0xe0) {
            check_drops(runtime, &plan, 24);
        } else {
            check(runtime, &plan);
        }
    });
}
