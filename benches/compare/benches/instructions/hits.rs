//! Calls whose card is held, and whose endpoint and skill are known.

use std::fmt::Debug;

use a2a_guard::ProbeCacheLayer;
use http::Response;
use tower::{Layer, Service};

use crate::{
    batch,
    known::{Answers, Asked, asked, cards},
    row::Row,
};

const CALLS: usize = 200;
const BARE: &str = "hit: bare";

pub(crate) fn rows() -> Vec<Row> {
    let cards = cards();
    let probes = ProbeCacheLayer::without_probes().build().expect("a layer");
    let both = (cards.clone(), probes.clone());
    vec![
        row(BARE, |agent| agent).anchor(),
        row("hit: CardConsistencyLayer", move |agent| cards.layer(agent)).over(BARE),
        row("hit: ProbeCacheLayer", move |agent| probes.layer(agent)).over(BARE),
        row("hit: CardConsistencyLayer + ProbeCacheLayer", move |agent| both.0.layer(both.1.layer(agent))).over(BARE),
    ]
}

fn row<S, B>(name: &'static str, stack: impl Fn(Answers) -> S + 'static) -> Row
where
    S: Service<Asked, Response = Response<B>, Error: Debug>,
{
    Row::new(name, "call", CALLS, move |calls| {
        let asked = (0..calls).map(|_| asked()).collect();
        batch::polled_once(stack(Answers), asked);
    })
}
