//! Results of 1 MiB, of several kinds, whole and in frames.

use std::sync::Arc;

use a2a_guard::{Operation, TerminalStateLayer};
use bytes::Bytes;
use tower::Layer;

use crate::corpus::{self, Filling};
use crate::group::{Budget, Group, Row};
use crate::measure::cost_of;
use crate::ours::{self, JUDGE, TERMINAL_STATE};
use crate::peer::{Peer, Script};
use crate::stacks::{self, Stacks};
use crate::unary::{BARE, IGNORED_ANY, ignored_any};

const SIZE: usize = 1 << 20;

/// What hyper reads at once from a busy socket, more or less.
const FRAME: usize = 16 << 10;

/// What a segment of TCP carries over Ethernet.
const SEGMENT: usize = 1_460;

/// What a copy of the body would exceed by far, and a list of its frames would not.
const NO_COPY: f64 = 32_768.0;
/// What such a list has of each frame, at most, while it grows.
const LISTED: usize = 3 * size_of::<Bytes>();

const CHECKED: &str = "str::from_utf8 + serde IgnoredAny";

/// One group for each filling and each way of arriving.
pub fn groups() -> Vec<Group> {
    vec![
        group("text without escapes (base64)", Filling::Base64, SIZE),
        group("prose, escaped line ends", Filling::Prose, SIZE),
        group("prose, escaped line ends, in 16 KiB frames", Filling::Prose, FRAME),
        group("records, dense in structure", Filling::Records, SIZE),
        group("records, dense in structure, in 16 KiB frames", Filling::Records, FRAME),
        group("prose, escaped line ends, in 1,460 B frames", Filling::Prose, SEGMENT),
        group("records, dense in structure, in 1,460 B frames", Filling::Records, SEGMENT),
        three_byte_characters(),
    ]
}

/// `IgnoredAny` does not look at what a string is made of, and this text is nothing else: the anchor that does the
/// same work checks the encoding too. No budget is written for it.
fn three_byte_characters() -> Group {
    let mut group = group("text of three-byte characters", Filling::Kanji, SIZE);
    let whole = corpus::result(Filling::Kanji, SIZE);
    let checked = Row::new(CHECKED, move |count| {
        cost_of(|| {
            (0..count).for_each(|_| {
                std::hint::black_box(std::str::from_utf8(&whole)).expect("valid UTF-8");
                ignored_any(&whole);
            });
        })
    });
    group.rows.insert(2, checked.anchor());
    for row in &mut group.rows {
        row.budgets.retain(|budget| !matches!(budget, Budget::Ratio(..)));
    }
    group
}

fn frames(whole: &Bytes, size: usize) -> Vec<Bytes> {
    (0..whole.len()).step_by(size).map(|start| whole.slice(start..whole.len().min(start + size))).collect()
}

fn group(title: &str, filling: Filling, frame: usize) -> Group {
    let whole = corpus::result(filling, SIZE);
    let script = Script::json(frames(&whole, frame));
    let judged = Arc::clone(&script);
    let body = corpus::request(1024);
    let stacks = Stacks::new(
        move |_| Peer::new(Arc::clone(&script)),
        move |calls| (0..calls).map(|_| stacks::named(&body, Operation::SendMessage)).collect(),
    );
    Group {
        title: format!("unary, 1 MiB: {title}"),
        unit: "call",
        units: 1,
        rows: vec![
            stacks.bare(BARE),
            Row::new(IGNORED_ANY, move |count| cost_of(|| (0..count).for_each(|_| ignored_any(&whole)))).anchor(),
            Row::new(JUDGE, move |count| cost_of(|| (0..count).for_each(|_| ours::judge(judged.frames())))),
            stacks
                .row(TERMINAL_STATE, |peer| TerminalStateLayer::new().layer(peer))
                .over(BARE)
                .budget(Budget::Ratio(IGNORED_ANY, 0.8))
                .budget(Budget::Bytes(NO_COPY.max((SIZE / frame * LISTED) as f64))),
        ],
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use http_body_util::BodyExt;

    use super::*;
    use crate::measure::{Consume, batch, runtime};

    static SEEN: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

    /// Notes where each frame lies in memory.
    #[derive(Clone, Copy)]
    struct Where;

    impl<B> Consume<B> for Where
    where
        B: http_body::Body<Data = Bytes, Error: std::fmt::Debug> + Send + Unpin,
    {
        async fn consume(self, mut body: B) -> usize {
            while let Some(frame) = body.frame().await {
                let data = frame.unwrap().into_data().unwrap();
                SEEN.lock().unwrap().push((data.as_ptr() as usize, data.len()));
            }
            0
        }
    }

    #[test]
    fn frames_are_handed_on_as_they_are() {
        let whole = corpus::result(Filling::Records, SIZE);
        let script = Script::json(frames(&whole, FRAME));
        let sent: Vec<_> = script.frames().iter().map(|frame| (frame.as_ptr() as usize, frame.len())).collect();
        let stack = TerminalStateLayer::new().layer(Peer::new(script));
        let call = stacks::named(&corpus::request(1024), Operation::SendMessage);
        batch(&runtime(), stack, vec![call], Where);
        assert_eq!(*SEEN.lock().unwrap(), sent);
    }
}
