//! A server that is killed while it works.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use crate::ask::Ask;
use crate::call::Patience;
use crate::cell::Caller;
use crate::expect::{State, broken, transport};
use crate::line::Line;
use crate::rule::{BOTH, Rule, STREAM, UNARY, by_protocol};
use crate::table::Section;

/// How long the calls have to get going, before the server is killed.
const BEGUN: Duration = Duration::from_secs(3);

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
    let calls = join_all(wanted.map(|(ask, binding)| caller.cell("killed", ask, *binding, Patience::Long)));
    let killed = async {
        sleep(BEGUN).await;
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
