//! Two whole stacks share a refusal: what the agent told one of them is not asked by the other.

use a2a_guard::probe_cache::{Availability, RedisStore, SkillAvailability};

use crate::{
    mock::s,
    replica::Replica,
    server::{Server, until_true},
    support::stale,
};

async fn remembering(server: &Server) -> Replica {
    let skills = SkillAvailability::builder().unavailable_for(s(20));
    Replica::of(RedisStore::builder(server.url()), skills).await
}

#[tokio::test]
async fn a_refusal_of_one_stack_spares_the_other_the_call() {
    let Some(server) = Server::start().await else { return };
    let (mut one, mut other) = (remembering(&server).await, remembering(&server).await);
    other.succeeds("translate").await;
    one.learns("translate").await;
    let before = other.agent.counts();
    one.is_refused("translate").await;
    let gone = |replica: &Replica| matches!(replica.state("translate"), Availability::Unavailable { .. });
    until_true("it is unavailable", || gone(&other)).await;
    let ended = other.call("translate").await;
    assert_eq!(ended.word(), "stale/skill_unavailable");
    assert_eq!((stale(&ended).skill(), stale(&ended).region()), (Some("translate"), Some("eu")));
    assert_eq!(other.agent.counts(), before, "nothing was sent");

    // So does a stack that starts later; and one for which refusals are not remembered asks the agent.
    let mut late = remembering(&server).await;
    assert!(gone(&late));
    assert_eq!(late.call("translate").await.word(), "stale/skill_unavailable");
    assert_eq!(late.agent.counts(), (0, 0));
    let mut asking = Replica::at(&server.url()).await;
    asking.succeeds("translate").await;
    // And what it finds is believed.
    other.learns("translate").await;
    one.learns("translate").await;
    assert_eq!(other.call("translate").await.word(), "success/success");
}
