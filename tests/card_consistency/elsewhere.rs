//! A call that goes where no card has its agent: the card is good, and not the target's. It is not asked for by each
//! call.

use a2a_guard::{
    Retry,
    card::UrlPolicy,
    card_consistency::{CardAsk, CardConsistencyLayer, CardStore, NegativeTtl},
    wire::grpc::encode::Message,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Uri};
use http_body_util::Full;
use tokio::task::JoinSet;

use crate::{
    mock::{Dialect, ms, s},
    support::{AGENT, Card, Cards, Page, ROOT, call, guard, layer, willing},
};

use Dialect::{Rest, V1};

const ELSEWHERE: &str = "https://agent.example.com/other";
const MISMATCH: &str = "card/url_mismatch";
const SUCCESS: &str = "success/success";

fn elsewhere() -> Page {
    Page::from(Card::default().at(ELSEWHERE)).max_age(300)
}

fn target() -> Uri {
    Uri::from_static("https://agent.example.com/a2a")
}

fn to(uri: &str) -> Request<Full<Bytes>> {
    let mut request = V1.send();
    *request.uri_mut() = uri.parse().unwrap();
    request
}

fn with(name: &'static str, value: &'static str) -> Request<Full<Bytes>> {
    let mut request = V1.send();
    request.headers_mut().insert(HeaderName::from_static(name), value.parse().unwrap());
    request
}

/// How often the card was asked for: each search asks for it once, and then at the origin.
fn searches(cards: &Cards) -> usize {
    cards.urls().iter().filter(|url| *url == AGENT).count()
}

#[tokio::test(start_paused = true)]
async fn lone_calls_make_one_fetch_in_each_back_off() {
    let cards = Cards::of(elsewhere());
    let agent = willing(1);
    let mut service = guard(layer(&cards), &agent);
    for (fetches, back_off) in [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (6, 60)] {
        for second in 0..back_off {
            let ended = call(&mut service, V1.send()).await;
            assert_eq!((ended.word().as_str(), searches(&cards)), (MISMATCH, fetches), "at {second} of {back_off}");
            // It tells when it is worth to come again.
            let left = s(back_off - second);
            assert_eq!((ended.error().retry_after(), ended.error().retry()), (Some(left), Retry::After));
            tokio::time::advance(s(1) - ms(1)).await;
            assert_eq!(call(&mut service, V1.send()).await.word(), MISMATCH);
            assert_eq!(searches(&cards), fetches);
            tokio::time::advance(ms(1)).await;
        }
    }
    // Once the agent has put it right, the next fetch finds it.
    cards.change(Card::plain());
    assert_eq!((call(&mut service, V1.send()).await.word().as_str(), searches(&cards)), (SUCCESS, 7));
    assert_eq!(agent.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_makes_one_fetch_too() {
    let cards = Cards::of(elsewhere().after(s(1)));
    let service = guard(layer(&cards), &willing(0));
    for _ in 0..2 {
        let mut calls = JoinSet::new();
        for _ in 0..1000 {
            let mut service = service.clone();
            calls.spawn(async move { call(&mut service, V1.send()).await.word() });
        }
        assert!(calls.join_all().await.iter().all(|word| word == MISMATCH));
        assert_eq!(searches(&cards), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_url_that_must_not_be_called_is_remembered_too() {
    let cards = Cards::of(Card::default().at("http://169.254.169.254/a2a"));
    let mut service = guard(layer(&cards), &willing(0));
    for (fetches, seconds) in [(1, 5), (2, 10)] {
        for _ in 0..seconds {
            assert_eq!(call(&mut service, V1.send()).await.word(), "card/unusable_url");
            assert_eq!(searches(&cards), fetches);
            tokio::time::advance(s(1)).await;
        }
    }
}

/// Nothing was fetched for it, and no waiting changes it.
#[tokio::test(start_paused = true)]
async fn a_url_that_is_none_is_not() {
    let cards = Cards::of(Card::plain());
    let mut service = guard(layer(&cards), &willing(0));
    let ended = call(&mut service, to("ftp://agent.example.com/a2a")).await;
    assert_eq!((ended.word().as_str(), ended.error().retry_after()), ("card/unusable_url", None));
    assert_eq!(cards.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_somebody_puts_in_refreshes_or_clears_works_at_once() {
    type Mend = fn(CardStore) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;
    let mends: [(&str, Mend, usize); 4] = [
        ("put", |store| Box::pin(async move { store.put(&target(), Card::plain().json().into()).await.unwrap() }), 1),
        (
            "refresh",
            |store| {
                Box::pin(async move { drop(store.refresh(CardAsk::new(target(), HeaderMap::new())).await.unwrap()) })
            },
            2,
        ),
        // There is no card to be dropped, and yet the failure is.
        ("forget", |store| Box::pin(async move { assert!(!store.forget(&target())) }), 2),
        ("clear", |store| Box::pin(async move { store.clear() }), 2),
    ];
    for (name, mend, fetches) in mends {
        let cards = Cards::of(elsewhere());
        let store = cards.store();
        let mut service = guard(CardConsistencyLayer::new(store.clone()), &willing(2));
        assert_eq!(call(&mut service, V1.send()).await.word(), MISMATCH);
        cards.change(Page::from(Card::plain()).max_age(300));
        assert_eq!(call(&mut service, V1.send()).await.word(), MISMATCH, "{name}: it is remembered");
        mend(store).await;
        for _ in 0..2 {
            assert_eq!(
                (call(&mut service, V1.send()).await.word().as_str(), searches(&cards)),
                (SUCCESS, fetches),
                "{name}"
            );
        }
    }
}

/// What was put in counts for its time, and then the agent is asked: an older word says nothing any longer.
#[tokio::test(start_paused = true)]
async fn an_older_word_does_not_come_back() {
    let cards = Cards::of(elsewhere());
    let store = cards.builder().max_age(s(2)).build().unwrap();
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &willing(2));
    assert_eq!(call(&mut service, V1.send()).await.word(), MISMATCH);
    tokio::time::advance(ms(1)).await;
    store.put(&target(), Card::plain().json().into()).await.unwrap();
    cards.change(Card::plain());
    assert_eq!(call(&mut service, V1.send()).await.word(), SUCCESS);
    tokio::time::advance(s(2)).await;
    assert_eq!((call(&mut service, V1.send()).await.word().as_str(), searches(&cards)), (SUCCESS, 2));
}

/// The agent moves away while its card is held, and a refusal makes it be read anew.
#[tokio::test(start_paused = true)]
async fn a_distrusted_card_that_has_moved_is_gone_and_that_is_remembered() {
    let cards = Cards::of(Page::from(Card::plain()).max_age(300));
    let store = cards.store();
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &willing(2));
    assert_eq!(call(&mut service, V1.send()).await.word(), SUCCESS);
    cards.change(elsewhere());
    let none = HeaderMap::new();
    let at = target();
    let at = a2a_guard::card_consistency::CardKeyRef::new(&at, &none);
    store.distrust(&store.peek(&at).unwrap());
    for _ in 0..5 {
        assert_eq!((call(&mut service, V1.send()).await.word().as_str(), searches(&cards)), (MISMATCH, 2));
        tokio::time::advance(s(1)).await;
    }
    assert!(store.peek(&at).is_none(), "it is nobody's card for this target");
    cards.change(Card::plain());
    assert_eq!((call(&mut service, V1.send()).await.word().as_str(), searches(&cards)), (SUCCESS, 3));
}

#[tokio::test(start_paused = true)]
async fn another_policy_over_the_same_store_has_its_own_word() {
    let cards = Cards::of(Page::from(Card::default().at("http://agent.example.com/a2a")).max_age(300).after(s(1)));
    for lenient_first in [false, true] {
        let store = cards.store();
        let before = searches(&cards);
        let strict = CardConsistencyLayer::new(store.clone());
        // Each of its own, and equal.
        let lenient = || strict.clone().urls(UrlPolicy::strict().allow_plaintext());
        let agent = willing(10);
        let (strict, lenient) = (guard(strict.clone(), &agent), [guard(lenient(), &agent), guard(lenient(), &agent)]);
        // All at once: some of them wait for a fetch that another one began.
        let mut calls = JoinSet::new();
        let one = |calls: &mut JoinSet<()>, service: &_, word: &'static str| {
            let mut service = crate::support::Guarded::clone(service);
            calls.spawn(async move { assert_eq!(call(&mut service, V1.send()).await.word(), word) });
        };
        if lenient_first {
            one(&mut calls, &lenient[0], SUCCESS);
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            one(&mut calls, &strict, MISMATCH);
            one(&mut calls, &lenient[0], SUCCESS);
            one(&mut calls, &lenient[1], SUCCESS);
        }
        calls.join_all().await;
        assert!(searches(&cards) - before <= 2, "{}", searches(&cards) - before);
    }
}

/// Both refuse, by rules of their own: neither pushes the other's word out.
#[tokio::test(start_paused = true)]
async fn words_of_several_layers_stand_beside_each_other() {
    let cards = Cards::of(elsewhere());
    let store = cards.store();
    let strict = CardConsistencyLayer::new(store.clone());
    let lenient = strict.clone().urls(UrlPolicy::strict().allow_plaintext());
    let agent = willing(0);
    let mut services = [guard(strict, &agent), guard(lenient, &agent)];
    for _ in 0..5 {
        for service in &mut services {
            assert_eq!(call(service, V1.send()).await.word(), MISMATCH);
        }
    }
    assert_eq!((searches(&cards), store.stats().entries), (2, 2));
}

/// A slash at the end makes another URL over JSON-RPC, and no other key of the store.
#[tokio::test(start_paused = true)]
async fn a_wrong_spelling_does_not_spoil_the_right_one() {
    let cards = Cards::of(Page::from(Card::plain()).max_age(1));
    let mut service = guard(layer(&cards), &crate::support::agent([crate::support::done(), crate::support::done()]));
    for round in 0..2 {
        for _ in 0..2 {
            assert_eq!(call(&mut service, to("https://agent.example.com/a2a/")).await.word(), MISMATCH, "{round}");
        }
        assert_eq!(call(&mut service, V1.send()).await.word(), SUCCESS, "{round}");
        tokio::time::advance(s(5)).await;
    }
    // So many spellings at once, and one fetch more at most for each that is wrong.
    let cards = Cards::of(Page::from(Card::plain()).max_age(60).after(s(1)));
    let service = guard(layer(&cards), &willing(1));
    let mut calls = JoinSet::new();
    for slashes in (0..8).rev() {
        let mut service = service.clone();
        let uri = format!("https://agent.example.com/a2a{}", "/".repeat(slashes));
        calls.spawn(async move { (slashes, call(&mut service, to(&uri)).await.word()) });
    }
    for (slashes, word) in calls.join_all().await {
        assert_eq!(word, if slashes == 0 { SUCCESS } else { MISMATCH }, "{slashes}");
    }
}

/// At the root of a host, calls of two bindings have one key. Where gRPC lives no path tells, so that the card counts
/// there.
#[tokio::test(start_paused = true)]
async fn a_word_about_one_binding_is_none_about_another() {
    let cards = Cards::default().put(ROOT, Page::from(Card::plain()).max_age(300));
    let mut service = guard(layer(&cards), &willing(0));
    let over_grpc = || {
        Request::post("https://agent.example.com/lf.a2a.v1.A2AService/SendMessage")
            .header("content-type", "application/grpc")
            .body(Full::from(Message::new().framed().unwrap()))
            .unwrap()
    };
    for _ in 0..2 {
        let mut request = Rest.send();
        *request.uri_mut() = "https://agent.example.com/message:send".parse().unwrap();
        assert_eq!(call(&mut service, request).await.word(), MISMATCH);
    }
    assert_eq!(cards.count(), 1);
    assert_eq!(call(&mut service, over_grpc()).await.word(), "card/no_compatible_interface");
}

#[tokio::test(start_paused = true)]
async fn each_tenant_and_each_credential_has_its_own() {
    // Tenants: each value of a header that names them.
    let cards = Cards::default().put_for("a", AGENT, elsewhere()).put_for("b", AGENT, Card::plain());
    let store = cards.builder().tenant_headers([HeaderName::from_static("x-tenant")]).build().unwrap();
    let mut service = guard(CardConsistencyLayer::new(store), &willing(3));
    for _ in 0..3 {
        for (tenant, word) in [("a", MISMATCH), ("b", SUCCESS)] {
            assert_eq!(call(&mut service, with("x-tenant", tenant)).await.word(), word, "{tenant}");
        }
    }
    assert_eq!(searches(&cards), 2);
    // Credentials: where the agent tells cards apart by them.
    let private = |page: Page| page.header("cache-control", "private, max-age=300");
    let of = |url| Page::from(Card::default().at(url));
    let cards = Cards::of(Page::status(401)).put_to("a", AGENT, private(of(ELSEWHERE))).put_to(
        "b",
        AGENT,
        private(of("https://agent.example.com/a2a")),
    );
    let mut service = guard(layer(&cards), &willing(3));
    for _ in 0..3 {
        for (credential, word) in [("a", MISMATCH), ("b", SUCCESS)] {
            assert_eq!(call(&mut service, with("authorization", credential)).await.word(), word, "{credential}");
        }
    }
    // Each was told apart by a 401 of its own, at most.
    assert!(searches(&cards) <= 4, "{}", searches(&cards));
}

#[tokio::test(start_paused = true)]
async fn no_more_is_remembered_than_may_be_held() {
    let anywhere = tower::service_fn(|_: Request<Full<Bytes>>| async {
        let response = http::Response::builder().header("content-type", "application/json");
        Ok::<_, std::convert::Infallible>(
            response.body(Full::<Bytes>::from(Card::default().at(ELSEWHERE).json())).unwrap(),
        )
    });
    let store = CardStore::builder(anywhere).capacity(50).build().unwrap();
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &willing(0));
    for n in 0..500 {
        assert_eq!(call(&mut service, to(&format!("https://agent.example.com/{n}"))).await.word(), MISMATCH);
    }
    let stats = store.stats();
    assert!(stats.entries <= 50, "{stats:?}");
    assert_eq!(stats.searches, 500);
}

#[tokio::test(start_paused = true)]
async fn the_time_can_be_set() {
    let cards = Cards::of(elsewhere());
    let ttl = NegativeTtl::default().failed(s(0)).failed_max(s(0));
    let store = cards.builder().negative_ttl(ttl).build().unwrap();
    let mut service = guard(CardConsistencyLayer::new(store), &willing(0));
    for fetches in 1..4 {
        let ended = call(&mut service, V1.send()).await;
        assert_eq!((ended.word().as_str(), ended.error().retry_after(), searches(&cards)), (MISMATCH, None, fetches));
    }
}
