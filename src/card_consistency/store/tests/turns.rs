//! One agent that hangs does not keep the cards of others from being fetched.

use super::*;
use crate::card_consistency::store::Inner;

const OTHER: &str = "https://other.example.com/a2a";

/// One agent shows its card to those it knows, and hangs then; another one is quick.
fn agents() -> Agent {
    Agent::new(|seen| match seen.uri.starts_with("https://agent.example.com") {
        true if seen.header("authorization").is_none() => Reply::status(401),
        true => Reply::card("slow").after(Duration::from_secs(3600)),
        false => Reply::json(card("quick").replace(TARGET, OTHER)),
    })
}

fn hang(store: &CardStore, callers: usize) -> tokio::task::JoinSet<Class> {
    let mut calls = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", format!("Bearer {caller}").parse().unwrap());
        let get = store.get(CardAsk::new(Uri::from_static(TARGET), headers));
        calls.spawn(async move { get.await.unwrap_err().class() });
    }
    calls
}

fn other() -> CardAsk {
    CardAsk::new(Uri::from_static(OTHER), HeaderMap::new())
}

#[tokio::test(start_paused = true)]
async fn who_hangs_leaves_places_to_others() {
    for max in [4, 5, 100, 256] {
        let store = CardStore::builder(agents()).max_searches(max).build().unwrap();
        assert_eq!(class(&store, ask()).await, Class::Unauthorized);
        let calls = hang(&store, 2 * max);
        pass_ms(1).await;
        assert!(store.stats().in_flight <= max - max / 4, "{max}: {:?}", store.stats());
        let began = Instant::now();
        assert_eq!(name(&store, other()).await, "quick");
        assert!(began.elapsed() < Duration::from_millis(10), "{max}: {:?}", began.elapsed());
        // Each has its turn, though it takes a while.
        let ended = calls.join_all().await;
        assert!(ended.iter().all(|class| *class == Class::FetchTimeout), "{max}");
        assert_eq!(began.elapsed().as_secs(), (2 * max).div_ceil(max - max / 4) as u64 * 10, "{max}");
        assert_eq!(store.stats().in_flight, 0);
    }
}

/// Nor do several. Who has many cards to fetch takes them one after the other, where there is no more than one place
/// left.
#[tokio::test(start_paused = true)]
async fn however_many_hang_a_place_is_left_to_whoever_has_none() {
    const HANGING: usize = 10;
    let agents = Agent::new(|seen| match seen.uri.contains("hangs") {
        true if seen.header("authorization").is_none() => Reply::status(401),
        true => Reply::card("slow").after(Duration::from_secs(3600)),
        false => {
            let target = seen.uri.split("/.well-known").next().unwrap();
            Reply::json(card("quick").replace(TARGET, target)).after(Duration::from_millis(100))
        }
    });
    let store = CardStore::builder(agents).max_searches(64).build().unwrap();
    let mut hanging = tokio::task::JoinSet::new();
    for number in 0..64 * HANGING {
        let target: Uri = format!("https://hangs-{}.example/a2a", number % HANGING).parse().unwrap();
        let _ = store.get(CardAsk::new(target.clone(), HeaderMap::new())).await;
        let mut headers = HeaderMap::new();
        headers.insert("authorization", format!("Bearer {number}").parse().unwrap());
        hanging.spawn(store.get(CardAsk::new(target, headers)));
    }
    pass_ms(1).await;
    assert_eq!(store.stats().in_flight, 48 + HANGING, "all but the places of those who have none");
    let began = Instant::now();
    let quick = (0..20).map(|number| {
        let target = format!("https://quick-{}.example/{}", number % 5, number / 5);
        CardAsk::new(target.parse().unwrap(), HeaderMap::new())
    });
    assert!(all(&store, quick).await.iter().all(Result::is_ok));
    // The four of each, and of five who take four places in turn.
    assert_eq!(began.elapsed(), Duration::from_millis(400));
}

/// Of so few there is none to spare.
#[tokio::test(start_paused = true)]
async fn a_few_places_are_everybodys() {
    for max in [1, 2, 3] {
        let store = CardStore::builder(agents()).max_searches(max).build().unwrap();
        assert_eq!(class(&store, ask()).await, Class::Unauthorized);
        let calls = hang(&store, max);
        pass_ms(1).await;
        assert_eq!(store.stats().in_flight, max);
        drop(calls);
    }
}

/// However many targets there were.
#[tokio::test(start_paused = true)]
async fn what_is_known_of_turns_does_not_grow() {
    let agent = Agent::new(|_| Reply::status(404));
    let store = agent.store();
    for number in 0..2000 {
        let target = format!("https://a{number}.example.com").parse().unwrap();
        store.get(CardAsk::new(target, HeaderMap::new())).await.unwrap_err();
    }
    let Inner { turns, .. } = &*store.inner;
    assert!(turns.targets() <= 64, "{}", turns.targets());
    assert!(turns.are_all_free());
}
