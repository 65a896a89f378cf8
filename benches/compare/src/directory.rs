//! Who is to be asked for a skill, of a thousand peers, beside a look-up of the skill in a map.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::LazyLock;

use a2a_guard::card_consistency::CardStore;
use a2a_guard::directory::{Directory, Need, Report};
use a2a_guard::{Binding, ProtocolVersion};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use tokio::time::Instant;

use crate::group::{Budget, Group, Row};
use crate::measure::{Cost, cost_of, runtime};

/// Peers that are registered.
const PEERS: usize = 1_000;
/// Each skill is one that so many of them have.
const WITH_SKILL: usize = 10;
/// Choices in a batch.
const CHOICES: usize = 200;

const MAP: &str = "HashMap look-up of the skill";

/// A thousand peers, each with a skill that nine others have, a tag that all have, and a record of calls.
static KNOWN: LazyLock<(Directory, HashMap<String, Vec<usize>>)> = LazyLock::new(|| {
    let client = tower::service_fn(|_: Request<Full<Bytes>>| async {
        Ok::<_, std::convert::Infallible>(Response::new(Full::<Bytes>::default()))
    });
    let cards = CardStore::builder(client).capacity(2 * PEERS).build().expect("a store");
    let directory = Directory::builder(cards.clone()).build();
    let mut by_skill: HashMap<String, Vec<usize>> = HashMap::new();
    runtime().block_on(async {
        for peer in 0..PEERS {
            let base = format!("https://agent-{peer}.example.com/a2a");
            let uri: Uri = base.parse().expect("a URL");
            let skill = skill(peer % (PEERS / WITH_SKILL));
            let card = card(&base, &skill);
            cards.put(&uri, card.into()).await.expect("a card");
            let id = directory.publish(&uri, "bench").await.expect("a peer");
            directory.vouch(&id, "bench", true);
            let spread = std::time::Duration::from_millis(5 + peer as u64 % 7);
            (0..1 + peer % 5).for_each(|_| directory.evidence().record(&id, Some(&skill), Report::success(spread)));
            by_skill.entry(skill).or_default().push(peer);
        }
    });
    (directory, by_skill)
});

fn skill(number: usize) -> String {
    format!("skill-{number}")
}

fn card(base: &str, skill: &str) -> String {
    format!(
        r#"{{"name":"a","description":"d","version":"1","capabilities":{{}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
        "skills":[{{"id":"{skill}","name":"{skill}","description":"Translates contracts and letters into other languages","tags":["language"]}}],
        "supportedInterfaces":[{{"url":"{base}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}]}}"#
    )
}

/// The table.
pub fn groups() -> Vec<Group> {
    let choice = |name, need: fn() -> Need| {
        Row::new(name, move |choices| {
            let (need, now) = (need().written(Binding::JsonRpc, ProtocolVersion::V1_0), Instant::now());
            cost_of(|| (0..choices as u64).for_each(|call| drop(black_box(KNOWN.0.find_at(&need, now, call)))))
        })
    };
    vec![Group {
        title: "whom to ask, of 1,000 peers".to_owned(),
        unit: "choice",
        units: CHOICES,
        rows: vec![
            Row::new(MAP, looked_up).anchor(),
            choice("by a skill that 10 have", || Need::skill("skill-7"))
                .budget(Budget::Nanoseconds(5_000.0))
                .budget(Budget::Allocations(4.0)),
            choice("by a skill that 10 have, and the task's text", || {
                Need::skill("skill-7").text("Please translate the attached contract into French")
            })
            .budget(Budget::Nanoseconds(5_000.0))
            .budget(Budget::Allocations(4.0)),
            choice("by a skill that nobody has", || Need::skill("none")),
            choice("by the task's text alone", || Need::task("Please translate the attached contract into French")),
        ],
    }]
}

fn looked_up(choices: usize) -> Cost {
    let skill = skill(7);
    cost_of(|| (0..choices).filter(|_| black_box(KNOWN.1.get(black_box(&skill))).is_some()).count())
}
