//! Whatever came before, and however the bounds stand to each other, a silence ends a stream when it is due: not with
//! the timer, which is left where it stands for as long as it may be.

use std::time::Duration;

use a2a_guard::Limits;
use proptest::{prelude::*, test_runner::Config};

use crate::{
    fate,
    mock::{Answer, Dialect, MockBody, call, ms},
    with,
};

use Dialect::V1;

/// What comes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Comment,
    Half,
    Working,
    InputRequired,
    AuthRequired,
}

/// Bounds, in half seconds.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    head: u64,
    first_event: u64,
    idle: u64,
    event_gap: u64,
    linger: u64,
    auth_wait: u64,
    total: u64,
}

impl Bounds {
    fn limits(self) -> Limits {
        Limits::default()
            .ready(half(1))
            .head(half(self.head))
            .blocking_head(half(self.head))
            .first_event(half(self.first_event))
            .idle(half(self.idle))
            .event_gap(half(self.event_gap))
            .linger(half(self.linger))
            .auth_wait(half(self.auth_wait))
            .total(half(self.total))
    }
}

fn half(seconds: u64) -> Duration {
    ms(500 * seconds)
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let bound = || 1..12_u64;
    (bound(), bound(), bound(), bound(), bound(), bound(), 12..40_u64).prop_map(
        |(head, first_event, idle, event_gap, linger, auth_wait, total)| Bounds {
            head,
            first_event,
            idle,
            event_gap,
            linger,
            auth_wait,
            total,
        },
    )
}

fn pieces() -> impl Strategy<Value = Vec<(u64, Piece)>> {
    use Piece::*;
    let piece = prop_oneof![
        3 => Just(Comment),
        1 => Just(Half),
        4 => Just(Working),
        1 => Just(InputRequired),
        1 => Just(AuthRequired),
    ];
    prop::collection::vec((0..6_u64, piece), 0..10)
}

/// When and how the stream ends, in half seconds: each bound counted by hand from what it counts from.
fn expected(bounds: Bounds, head: u64, pieces: &[(u64, Piece)]) -> (&'static str, u64) {
    let mut due =
        (bounds.head.min(bounds.total), if bounds.total < bounds.head { "timeout/total" } else { "timeout/head" });
    let mut now = head;
    if now > due.0 {
        return (due.1, due.0);
    }
    let (mut event_at, mut bytes_since_event, mut rests) = (None, false, None);
    let mut next = pieces.iter();
    loop {
        let (at, word) = match (rests, event_at) {
            (Some((since, Piece::AuthRequired)), _) => (since + bounds.auth_wait, "success/success"),
            (Some((since, _)), _) => (since + bounds.linger, "success/success"),
            (None, None) => (head + bounds.first_event, "timeout/first_event"),
            (None, Some(event_at)) => {
                let (idle, gap) = (now + bounds.idle, event_at + bounds.event_gap);
                if gap < idle || (gap == idle && bytes_since_event) {
                    (gap, "timeout/event_gap")
                } else {
                    (idle, "timeout/idle")
                }
            }
        };
        due = if bounds.total < at { (bounds.total, "timeout/total") } else { (at, word) };
        let Some(&(wait, piece)) = next.next() else { return (due.1, due.0) };
        now += wait;
        if now > due.0 {
            return (due.1, due.0);
        }
        bytes_since_event = matches!(piece, Piece::Comment | Piece::Half);
        if !bytes_since_event {
            event_at = Some(now);
            // What comes again does not begin the wait anew.
            rests = match (piece, rests) {
                (Piece::Working, _) => None,
                (piece, Some((since, before))) if piece == before => Some((since, before)),
                (piece, _) => Some((now, piece)),
            };
        }
    }
}

/// The bytes of a stream: its first event is a task, the others are updates; half an event is a line of data that the
/// next one goes on with.
fn body(pieces: &[(u64, Piece)]) -> MockBody {
    let (mut body, mut begun, mut events) = (MockBody::new(), false, 0);
    for &(wait, piece) in pieces {
        let state = match piece {
            Piece::Comment if begun => "data: \n",
            Piece::Comment => ": ping\n\n",
            Piece::Half => "data: \n",
            Piece::Working => "WORKING",
            Piece::InputRequired => "INPUT_REQUIRED",
            Piece::AuthRequired => "AUTH_REQUIRED",
        };
        body = body.wait(half(wait));
        if matches!(piece, Piece::Comment | Piece::Half) {
            begun |= piece == Piece::Half;
            body = body.data(state);
        } else {
            body = body.data(if events == 0 { V1.task_event(state) } else { V1.update_event(state) });
            (begun, events) = (false, events + 1);
        }
    }
    body.hang()
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_silence_ends_when_it_is_due_whatever_came_before(
        bounds in bounds(), head in 0..14_u64, pieces in pieces(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let ended = runtime.block_on(async {
            // A body's waits begin when it is asked for them, which is when its head came.
            call(with(bounds.limits()), V1.stream(), Answer::sse(body(&pieces)).after(half(head))).await
        });
        let (word, at) = expected(bounds, head, &pieces);
        prop_assert_eq!(ended.fate(), fate(word, half(at)));
    }
}
