//! What the layer does by itself about a call that did not end well, where it is told to.

use std::time::Duration;

use a2a_guard::{Binding, Recovery};
use http_body_util::BodyExt;

use crate::ask::Ask;
use crate::caller::{Outcomes, Peer};
use crate::tap::Tap;

over_both_bindings! {
    a_timeout_cancels_the_task
    a_drop_cancels_the_task
}

/// The two events of the server have to come within it.
const BOUND: Duration = Duration::from_secs(1);

async fn a_timeout_cancels_the_task(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|limits| limits.idle(BOUND));
    let (outcomes, tap) = (Outcomes::default(), Tap::default());
    let request = Ask::Stream("hang").request(&peer.server, binding);
    let cancel = Some(Recovery::cancel_on_failure as fn(Recovery) -> Recovery);
    let response = peer.guarded(&outcomes, &tap, cancel, request).await.unwrap();
    let error = response.into_body().collect().await.map(|_| ()).unwrap_err();
    assert_eq!(error.class().as_str(), "idle");
    becomes(&peer, error.task_id().unwrap(), "TASK_STATE_CANCELED").await;
    assert_eq!(outcomes.one().class, "idle");
}

async fn a_drop_cancels_the_task(binding: Binding) {
    let peer = Peer::full(binding).await;
    let (outcomes, tap) = (Outcomes::default(), Tap::default());
    let request = Ask::Stream("hang").request(&peer.server, binding);
    let cancel = Some(Recovery::cancel_on_drop as fn(Recovery) -> Recovery);
    let mut body = peer.guarded(&outcomes, &tap, cancel, request).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    drop(body);
    let seen = outcomes.one();
    assert_eq!(seen.outcome, "abandoned");
    becomes(&peer, &seen.task_id.unwrap(), "TASK_STATE_CANCELED").await;
}

/// Waits until the task is in that state: the layer cancels in the background.
async fn becomes(peer: &Peer, task: &str, state: &str) {
    for _ in 0..1000 {
        let ended = peer.ask(Ask::Get(task)).await;
        ended.expect_success();
        if ended.seen.task_state == Some(state) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the task never became {state}");
}
