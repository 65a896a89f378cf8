//! Who vouched for a card a while ago need not do so now: a renewal is believed no sooner than the card was.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::call::ProtocolVersion;

fn short(name: &str) -> Reply {
    Reply::card(name).header("cache-control", "max-age=10").header("etag", "\"1\"")
}

fn not_modified() -> Reply {
    Reply::status(304).header("etag", "\"1\"")
}

/// Believes everything until it is told not to, and counts.
#[derive(Default)]
struct Keys {
    revoked: AtomicBool,
    asked: AtomicUsize,
}

impl VerifyCard for Keys {
    fn verify<'a>(&'a self, card: CardEvidence<'a>) -> Verdict<'a> {
        assert_eq!(card.bytes, &super::card("a"));
        assert_eq!(card.location, SCOPED);
        self.asked.fetch_add(1, Ordering::Relaxed);
        let verdict = if self.revoked.load(Ordering::Relaxed) { Err("revoked".to_owned()) } else { Ok(()) };
        Box::pin(std::future::ready(verdict))
    }
}

#[tokio::test(start_paused = true)]
async fn a_304_does_not_keep_a_card_whose_key_was_revoked() {
    let agent = Agent::script([short("a"), not_modified(), not_modified(), Reply::status(404)]);
    let keys = Arc::new(Keys::default());
    let store = CardStore::builder(agent.clone()).verifier(Arc::clone(&keys) as Arc<dyn VerifyCard>).build().unwrap();
    store.get(ask()).await.unwrap();
    pass(10).await;
    store.get(ask()).await.unwrap();
    assert_eq!(keys.asked.load(Ordering::Relaxed), 2);
    keys.revoked.store(true, Ordering::Relaxed);
    pass(10).await;
    assert_eq!(class(&store, ask()).await, Class::Signature);
    assert!(store.peek(&ask().key()).is_none());
    // Remembered as any card that nobody vouches for.
    pass_ms(29_999).await;
    assert_eq!((class(&store, ask()).await, agent.count()), (Class::Signature, 3));
}

#[tokio::test(start_paused = true)]
async fn nor_does_one_in_the_background() {
    let agent = Agent::script([short("a"), not_modified()]);
    let keys = Arc::new(Keys::default());
    let store = CardStore::builder(agent)
        .verifier(Arc::clone(&keys) as Arc<dyn VerifyCard>)
        .stale_while_revalidate(Duration::from_secs(100))
        .stale_if_error(Duration::from_secs(100))
        .build()
        .unwrap();
    store.get(ask()).await.unwrap();
    keys.revoked.store(true, Ordering::Relaxed);
    pass(10).await;
    store.get(ask()).await.unwrap();
    tokio::task::yield_now().await;
    pass(1).await;
    assert_eq!(class(&store, ask()).await, Class::Signature);
}

fn by(host: &str) -> Option<VerifiedTransport> {
    Some(VerifiedTransport::new(host, TransportProof::SubjectAltName))
}

/// What the authority of the card says of the transport, after a renewal over another one.
async fn gap(first: Option<VerifiedTransport>, then: Option<VerifiedTransport>) -> (bool, Option<AuthorityGap>) {
    let agent = Agent::script([Reply { transport: first, ..short("a") }, Reply { transport: then, ..not_modified() }]);
    let store = agent.store();
    let before = store.get(ask()).await.unwrap();
    before.note_probe(true);
    pass(10).await;
    let renewed = store.get(ask()).await.unwrap();
    assert_eq!(renewed.bytes(), before.bytes());
    let authority = renewed.authority(&Uri::from_static(TARGET), ProtocolVersion::V1_0, Instant::now());
    assert!(authority.holds(AuthorityCondition::Probe), "what was seen of the agent is not undone");
    let gap = authority.gaps().iter().copied().find(|gap| gap.condition() == AuthorityCondition::Transport);
    (Arc::ptr_eq(&before, &renewed), gap)
}

#[tokio::test(start_paused = true)]
async fn a_304_vouches_for_no_more_than_its_own_connection() {
    let host = "agent.example.com";
    assert_eq!(gap(by(host), by(host)).await, (true, None));
    assert_eq!(gap(None, None).await, (true, Some(AuthorityGap::TransportUnverified)));
    assert_eq!(gap(by(host), None).await, (false, Some(AuthorityGap::TransportUnverified)));
    // That what is held is still so, is said by one who is known; what it is, by one who was not.
    assert_eq!(gap(None, by(host)).await, (true, Some(AuthorityGap::TransportUnverified)));
    let elsewhere = "elsewhere.example.com";
    for (first, then) in [(host, elsewhere), (elsewhere, host)] {
        assert_eq!(gap(by(first), by(then)).await, (false, Some(AuthorityGap::TransportUnverified)));
    }
    assert_eq!(gap(by(elsewhere), by(elsewhere)).await, (true, Some(AuthorityGap::TransportOfAnotherHost)));
}
