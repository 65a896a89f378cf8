//! A skill is rolled out of one of three regions, while the card that promises it is cached for a day.

use std::sync::Arc;

use a2a_guard::{
    CallLayer, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
    probe_cache::SkillAvailability,
};
use bytes::Bytes;
use http_body_util::Full;
use tower::Layer;

use crate::{
    mock::{Answer, Dialect, Ended, MockBody},
    support::{Agent, Asked, builder, call, does, for_skill, no_task, rpc_error, stale},
};

use Dialect::V1;

const REGIONS: [&str; 3] = ["eu", "us", "ap"];
const CALLS: usize = 200;

fn host(region: &str) -> String {
    format!("https://{region}.agents.example.com/a2a")
}

fn card(region: &str, skill: &str) -> Answer {
    let url = host(region);
    let body = format!(
        r#"{{"name":"A","description":"d","version":"1","supportedInterfaces":[{{"url":"{url}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}],"capabilities":{{"streaming":true}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{{"id":"{skill}","name":"S","description":"s","tags":["t"]}}]}}"#
    );
    Answer::new(200, "application/json", MockBody::new().data(body)).header("cache-control", "max-age=86400")
}

/// Three agents. The one in eu knows the skill by another name since this morning.
fn agents() -> Agent {
    Agent::new(|asked| {
        let region = asked.uri.host().unwrap().split('.').next().unwrap().to_owned();
        match asked.uri.path().ends_with("agent-card.json") {
            true if region == "eu" => card("eu", "translate-2"),
            true => card(&region, "translate"),
            false if asked.is_probe() => no_task(asked),
            false if region == "eu" && asked.header("x-skill") == Some("translate") => {
                rpc_error(&1.into(), -32004, r#","data":{"region":"eu","availableSkills":["translate-2"]}"#)
            }
            false => does(asked),
        }
    })
}

fn card_fetches(agent: &Agent, region: &str) -> Vec<Asked> {
    let is_card =
        |asked: &Asked| asked.uri.path().ends_with("agent-card.json") && asked.uri.host().unwrap().starts_with(region);
    agent.asked().into_iter().filter(is_card).collect()
}

/// An orchestrator that routes on skills: what a region says it has instead is what it asks for there from then on.
struct Orchestrator {
    skill_of: std::collections::HashMap<&'static str, String>,
}

impl Orchestrator {
    fn request(&self, region: &'static str) -> http::Request<Full<Bytes>> {
        let skill = self.skill_of.get(region).map_or("translate", String::as_str);
        let mut request = for_skill(V1.send(), skill, region);
        *request.uri_mut() = host(region).parse().unwrap();
        request.headers_mut().insert("x-skill", skill.parse().unwrap());
        request
    }

    fn learn(&mut self, region: &'static str, ended: &Ended) {
        if let Some([replacement, ..]) = ended.error.as_ref().and_then(|_| stale(ended).available_skills()) {
            self.skill_of.insert(region, replacement.clone());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_call_is_refused_and_the_rest_go_well() {
    let agent = agents();
    let cards = CardStore::builder::<_, Full<Bytes>, _>(agent.clone()).build().unwrap();
    let skills = SkillAvailability::new();
    let probing = builder(&agent).availability(skills.clone()).build().unwrap();
    let ending = TerminalStateLayer::new();
    let mut service = CallLayer::new()
        .layer(CardConsistencyLayer::new(cards.clone()).layer(probing.layer(ending.layer(agent.clone()))));
    let mut orchestrator = Orchestrator { skill_of: Default::default() };
    let mut words = std::collections::BTreeMap::new();
    for n in 0..CALLS {
        let region = REGIONS[n % 3];
        let ended = call(&mut service, orchestrator.request(region)).await;
        *words.entry((region, ended.word())).or_insert(0) += 1;
        if ended.error.is_some() {
            assert_eq!(stale(&ended).available_skills().unwrap(), ["translate-2"]);
            assert_eq!((stale(&ended).region(), stale(&ended).skill()), (Some("eu"), Some("translate")));
        }
        orchestrator.learn(region, &ended);
        tokio::time::advance(std::time::Duration::from_millis(250)).await;
    }
    let good = |region| words[&(region, "success/success".to_owned())];
    assert_eq!(words[&("eu", "stale/skill_unavailable".to_owned())], 1);
    assert_eq!((good("eu"), good("us"), good("ap")), (66, 67, 66));
    // One probe for each endpoint; the card that was contradicted was read anew, past every cache, and no other.
    assert_eq!((skills.stats().probes, skills.stats().invalidations), (3, 1));
    let eu = card_fetches(&agent, "eu");
    assert_eq!((eu.len(), eu[1].header("cache-control")), (2, Some("no-cache")));
    assert_eq!((card_fetches(&agent, "us").len(), card_fetches(&agent, "ap").len()), (1, 1));
    assert_eq!(cards.stats().distrusted, 1);
}

/// What an orchestrator does that trusts the card for a day.
#[tokio::test(start_paused = true)]
async fn without_the_layer_each_call_to_that_region_fails() {
    let agent = agents();
    let mut service = CallLayer::new().layer(TerminalStateLayer::new().layer(agent.clone()));
    let mut failed = 0;
    let orchestrator = Arc::new(Orchestrator { skill_of: Default::default() });
    for n in 0..CALLS {
        let mut request = orchestrator.request(REGIONS[n % 3]);
        // It names no skill, as nothing of A2A does.
        request.extensions_mut().clear();
        let ended = call(&mut service, request).await;
        failed += usize::from(ended.word() == "refused/peer_error");
    }
    assert_eq!(failed, 67);
    assert_eq!(agent.probes(), 0);
}
