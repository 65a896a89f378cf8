//! Resolvers: at once, later, too late, and more than once.

use a2a_guard::{
    Call, CardFailure,
    card_consistency::{Resolution, Resolve},
};
use http::request::Parts;

use crate::{
    mock::{Dialect, ms, s},
    support::{Card, Cards, Page, failure, layer, through},
};

use Dialect::V1;

/// A resolver that is a function.
#[derive(Clone)]
struct By<F>(F);

impl<F: Fn(&Parts) -> Resolution + Send + Sync> Resolve for By<F> {
    fn resolve(&self, head: &Parts, _: &Call) -> Resolution {
        (self.0)(head)
    }
}

const ELSEWHERE: &str = "https://elsewhere.example.com/a2a";

fn elsewhere() -> Cards {
    Cards::default().put("https://elsewhere.example.com/a2a/.well-known/agent-card.json", Card::default().at(ELSEWHERE))
}

fn to_elsewhere() -> Resolution {
    Resolution::To(ELSEWHERE.parse().unwrap())
}

fn after(time: std::time::Duration, then: fn() -> Resolution) -> Resolution {
    Resolution::Later(Box::pin(async move {
        tokio::time::sleep(time).await;
        then()
    }))
}

#[tokio::test(start_paused = true)]
async fn at_once() {
    let (ended, sent) = through(layer(&elsewhere()).resolver(By(|_: &Parts| to_elsewhere())), V1.send()).await;
    assert_eq!(ended.fate(), ("success/success".into(), s(0)));
    assert_eq!(*sent.unwrap().uri(), ELSEWHERE);

    let (_, sent) =
        through(layer(&Cards::of(Card::plain())).resolver(By(|_: &Parts| Resolution::AsSent)), V1.send()).await;
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/a2a");
}

#[tokio::test(start_paused = true)]
async fn a_head_tells_where() {
    let by_tenant = |head: &Parts| match head.headers.get("x-tenant") {
        Some(_) => to_elsewhere(),
        None => Resolution::AsSent,
    };
    let mut request = V1.send();
    request.headers_mut().insert("x-tenant", "acme".parse().unwrap());
    let (_, sent) = through(layer(&elsewhere()).resolver(By(by_tenant)), request).await;
    assert_eq!(*sent.unwrap().uri(), ELSEWHERE);
}

#[tokio::test(start_paused = true)]
async fn later() {
    let cards = elsewhere();
    let (ended, sent) = through(layer(&cards).resolver(By(|_: &Parts| after(s(2), to_elsewhere))), V1.send()).await;
    assert_eq!(ended.fate(), ("success/success".into(), s(2)));
    assert_eq!(*sent.unwrap().uri(), ELSEWHERE);
}

#[tokio::test(start_paused = true)]
async fn refused() {
    fn no() -> Resolution {
        Resolution::Refused(no_card())
    }
    let rows: [fn() -> Resolution; 2] = [no, || after(s(1), no)];
    for row in rows {
        let resolver = By(move |_: &Parts| row());
        let (ended, sent) = through(layer(&Cards::of(Card::plain())).resolver(resolver), V1.send()).await;
        assert_eq!(ended.word(), "card/not_found");
        assert!(sent.is_none());
    }
}

/// Variants of the failure are built by the crate alone; a store without cards makes one.
fn no_card() -> CardFailure {
    use a2a_guard::card_consistency::CardAsk;
    let ask = CardAsk::new("https://nobody.example.com".parse().unwrap(), http::HeaderMap::new());
    futures_now(Cards::default().store().get(ask)).unwrap_err()
}

/// The value of a future that has nothing to wait for but tasks of its own runtime.
fn futures_now<T: Send + 'static>(future: impl std::future::Future<Output = T> + Send + 'static) -> T {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(future)
    })
    .join()
    .unwrap()
}

#[tokio::test(start_paused = true)]
async fn too_late_within_the_bound_on_waiting() {
    for pending in [s(11), s(1_000_000)] {
        let never = move |_: &Parts| after(pending, to_elsewhere);
        let (ended, sent) = through(layer(&elsewhere()).resolver(By(never)), V1.send()).await;
        assert_eq!(ended.fate(), ("card/fetch_timeout".into(), s(10)));
        let CardFailure::FetchTimeout { bound, .. } = failure(&ended) else { panic!("{ended:?}") };
        assert_eq!(*bound, s(10));
        assert!(sent.is_none());
    }
}

/// One that comes to another is bounded as a whole.
#[tokio::test(start_paused = true)]
async fn one_after_the_other_they_share_the_bound() {
    let chain = |_: &Parts| after(s(6), || after(s(3), to_elsewhere));
    let (ended, _) = through(layer(&elsewhere()).resolver(By(chain)), V1.send()).await;
    assert_eq!(ended.fate(), ("success/success".into(), s(9)));
    let chain = |_: &Parts| after(s(6), || after(s(6), to_elsewhere));
    let ended = tokio::time::timeout(s(60), through(layer(&elsewhere()).resolver(By(chain)), V1.send())).await;
    assert_eq!(ended.expect("it has no bound").0.fate(), ("card/fetch_timeout".into(), s(10)));
}

/// Resolving and fetching share it too.
#[tokio::test(start_paused = true)]
async fn what_is_left_is_for_the_card() {
    let cards = Cards::default().put(
        "https://elsewhere.example.com/a2a/.well-known/agent-card.json",
        Page::from(Card::default().at(ELSEWHERE)).after(s(5)),
    );
    let resolver = By(|_: &Parts| after(s(6), to_elsewhere));
    let (ended, sent) = through(layer(&cards).resolver(resolver), V1.send()).await;
    assert_eq!(ended.fate(), ("card/fetch_timeout".into(), s(10)));
    assert!(sent.is_none());
    let resolver = By(|_: &Parts| after(s(4), to_elsewhere));
    let (ended, _) = through(layer(&cards).resolver(resolver), V1.send()).await;
    assert_eq!(ended.fate(), ("success/success".into(), s(9)));
}

#[tokio::test(start_paused = true)]
async fn a_shorter_wait_is_obeyed() {
    let resolver = By(|_: &Parts| after(s(2), to_elsewhere));
    let (ended, _) = through(layer(&elsewhere()).wait(ms(700)).resolver(resolver), V1.send()).await;
    assert_eq!(ended.fate(), ("card/fetch_timeout".into(), ms(700)));
}

#[tokio::test(start_paused = true)]
async fn so_is_what_the_call_has_left_of_its_total() {
    let resolver = By(|_: &Parts| after(s(9), to_elsewhere));
    let mut request = V1.send();
    request.extensions_mut().insert(a2a_guard::LimitOverrides::default().total(s(3)));
    let (ended, sent) = through(layer(&elsewhere()).resolver(resolver), request).await;
    assert_eq!(ended.fate(), ("card/fetch_timeout".into(), s(3)));
    assert!(sent.is_none());
}

/// What is resolved to has to be a whole URL.
#[tokio::test(start_paused = true)]
async fn a_relative_target_is_refused() {
    let resolver = By(|_: &Parts| Resolution::To("/a2a".parse().unwrap()));
    let (ended, sent) = through(layer(&Cards::of(Card::plain())).resolver(resolver), V1.send()).await;
    assert_eq!(ended.word(), "card/unusable_url");
    assert!(sent.is_none());
}

/// A card that is fetched long after its call began is not old for that.
#[tokio::test(start_paused = true)]
async fn a_card_has_no_authority_beyond_its_time_however_long_a_call_took_to_resolve() {
    let cards = Cards::default().put(
        "https://elsewhere.example.com/a2a/.well-known/agent-card.json",
        Page::from(Card::default().at(ELSEWHERE)).max_age(300),
    );
    let store = cards.store();
    let layer = a2a_guard::card_consistency::CardConsistencyLayer::new(store);
    let (ended, _) = through(layer.clone().resolver(By(|_: &Parts| to_elsewhere())), V1.send()).await;
    assert_eq!(ended.word(), "success/success");
    tokio::time::advance(s(296)).await;
    let (ended, _) = through(layer.resolver(By(|_: &Parts| after(s(8), to_elsewhere))), V1.send()).await;
    assert_eq!(ended.fate(), ("success/success".into(), s(8)));
    assert_eq!(cards.count(), 2, "304 s after the first");
}
