//! A server that is killed while it works.

use std::time::{Duration, Instant};

use a2a_guard::Binding;
use futures::future::join_all;
use tokio::time::sleep;

use crate::ask::Ask;
use crate::call::Patience;
use crate::cell::Caller;
use crate::expect::{State, broken, transport};
use crate::line::Line;
use crate::rule::{BOTH, Mode, Rule, STREAM, UNARY, by_protocol};
use crate::table::Section;
use crate::tap::{Exchange, Tap};

/// How long the calls may take to get going.
const BEGUN: Duration = Duration::from_secs(20);
/// How long the unary ones, of which nothing is seen, then have had.
const TO_ARRIVE: Duration = Duration::from_secs(1);

static RULES: &[Rule] = &[
    by_protocol("killed", UNARY, transport("connection_lost"), "no head came: whether the work began, nobody knows"),
    by_protocol("killed", STREAM, broken("truncated").after(State::Working), "the body breaks off behind its events"),
    by_protocol("gone", BOTH, transport("connect"), "the card is still held, and nobody listens any more"),
];

/// Starts a server of its own for the line, and kills it in the middle of its calls.
pub(crate) async fn section(line: Line) -> Result<Section, String> {
    let mut server = line.sdk().start(&[line.profile()]).await?;
    let caller = &Caller::new(line, line.endpoint(server.ports(line.profile())), RULES);
    let asks = |verb: &str| [Ask::send(verb), Ask::stream(verb)];
    let slow = asks("slow:600");
    let wanted = slow.iter().flat_map(|ask| caller.at.bindings().iter().map(move |binding| (ask, binding)));
    let wanted: Vec<_> = wanted.map(|(ask, binding)| (ask, *binding, Tap::default())).collect();
    let calls = join_all(wanted.iter().map(|(ask, binding, tap)| async move {
        let ended = caller.stack.watched(ask.request(&caller.at, *binding, None), Patience::Long, tap).await;
        caller.judged("killed", ask.mode(), *binding, ended)
    }));
    let killed = async {
        let begun = |(ask, _, tap): &(&Ask, Binding, Tap)| {
            let exchanges = tap.exchanges();
            let working = |exchange: &Exchange| exchange.body.windows(7).any(|seen| seen == b"working");
            !exchanges.is_empty() && (ask.mode() == Mode::Unary || exchanges.iter().all(working))
        };
        let deadline = Instant::now() + BEGUN;
        while !wanted.iter().all(begun) && Instant::now() < deadline {
            sleep(Duration::from_millis(50)).await;
        }
        sleep(TO_ARRIVE).await;
        server.kill().await;
    };
    let (mut cells, ()) = futures::join!(calls, killed);
    for ask in &asks("task") {
        for &binding in caller.at.bindings() {
            cells.push(caller.cell("gone", ask, binding, Patience::Short).await);
        }
    }
    Ok(Section { title: format!("{}: killed while it works", line.title()), cells, ..Section::default() })
}
