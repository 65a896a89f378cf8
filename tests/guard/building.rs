//! What is refused, in which words, and what it is to be called.

use std::time::Duration;

use a2a_guard::{
    Capability, Guard, GuardBuilder, GuardError, LimitOverrides, Limits, Operation, Outcome, ProbeCacheLayer,
    RenderedGuard,
    card::UrlPolicy,
    card_consistency::{Admission, CardStore, FirstEventExtension, Resolution, Resolve},
    guard::{GuardCards, GuardProbes},
};
use http::request::Parts;

use crate::{cards, mock::Notes};

/// A resolver that is neither `Clone` nor `Default`.
struct Fixed;

impl Resolve for Fixed {
    fn resolve(&self, _: &Parts, _: &a2a_guard::Call) -> Resolution {
        Resolution::AsSent
    }
}

#[test]
fn what_needs_cards_says_so() {
    let without = "is of no use without cards: set cards(client) or card_store(store), or leave it out";
    let first_event = FirstEventExtension::new("https://example.com/ext/first-event");
    let errors: [(GuardError, &str); 6] = [
        (Guard::builder().extended_card(true).build().unwrap_err(), "extended_card"),
        (Guard::builder().first_event(first_event).build().unwrap_err(), "first_event"),
        (Guard::builder().resolver(Fixed).build().unwrap_err(), "resolver"),
        (Guard::builder().urls(UrlPolicy::strict()).build().unwrap_err(), "urls"),
        (Guard::builder().admit(Admission::new(Capability::Streaming)).build().unwrap_err(), "admit"),
        (Guard::builder().card_wait(Duration::from_secs(1)).build().unwrap_err(), "card_wait"),
    ];
    for (error, setting) in errors {
        assert_eq!(error.to_string(), format!("{setting} {without}"));
    }
}

#[test]
fn with_cards_the_order_of_setting_is_no_matter() {
    Guard::builder().resolver(Fixed).urls(UrlPolicy::strict()).cards(cards()).build().unwrap();
    Guard::builder().cards(cards()).card_wait(Duration::from_secs(1)).resolver(Fixed).build().unwrap();
}

#[test]
fn contradictions_of_parts_are_the_parts_own() {
    let error = Guard::builder().limits(Limits::default().total(Duration::from_secs(10))).build().unwrap_err();
    assert!(error.to_string().starts_with("head (30s) is above total_unary (10s)"), "{error}");
    let overrides = LimitOverrides::default().idle(Duration::from_secs(601));
    let error = Guard::builder().operation_limits(Operation::GetTask, overrides).build().unwrap_err();
    assert!(error.to_string().starts_with("idle of GetTask (601s)"), "{error}");
    let error = Guard::builder().cards(cards()).card_wait(Duration::ZERO).build().unwrap_err();
    assert_eq!(error.to_string(), "card_wait is zero: no card that has to be fetched could be waited for; raise it");
}

/// Each call is told of once: two observers of the same calls would not both hear of those that the layer ends.
#[test]
fn a_probe_layer_has_no_observer_of_its_own() {
    let probes = || ProbeCacheLayer::without_probes();
    let observed = probes().observe(|_: &Outcome<'_>| {}).build().unwrap();
    let error = Guard::builder().availability(observed).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "availability has an observer of its own, and each call is told of once: leave it out, and set it by observe(…) of \
         the guard, with and(…) beside the guard's own"
    );
    // One that listens to nothing is none.
    Guard::builder().availability(probes().observe(None::<Notes>).build().unwrap()).build().unwrap();
}

#[test]
fn an_origin_is_one() {
    let error =
        |origin: &'static str| Guard::builder().origin(origin.parse().unwrap()).build().unwrap_err().to_string();
    assert_eq!(
        error("https://agent.example.com/a2a"),
        "origin has a path: give scheme and authority alone, the path is each request's"
    );
    assert_eq!(error("/a2a"), "origin is relative itself: give scheme and authority, as in https://agent.example.com");
    Guard::builder().origin("https://agent.example.com".parse().unwrap()).build().unwrap();
    Guard::builder().origin("https://agent.example.com/".parse().unwrap()).build().unwrap();
}

#[test]
fn so_is_an_upstream_and_it_is_the_only_one() {
    let error =
        |upstream: &'static str| Guard::builder().upstream(upstream.parse().unwrap()).build().unwrap_err().to_string();
    assert_eq!(
        error("https://agent.example.com/a2a"),
        "upstream has a path: give scheme and authority alone, the path is each request's"
    );
    assert_eq!(
        error("/a2a"),
        "upstream is relative itself: give scheme and authority, as in https://agent.example.com"
    );
    let (one, other) = ("https://a.example.com".parse().unwrap(), "https://b.example.com".parse().unwrap());
    let error = Guard::builder().origin(one).upstream(other).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "origin is of no use with an upstream, to which relative requests go like all others: leave one of them out"
    );
}

/// What was given first would be dropped without a word.
#[test]
fn no_part_is_given_twice() {
    let probes = || ProbeCacheLayer::without_probes().build().unwrap();
    let store = CardStore::builder(cards()).build().unwrap();
    let identity = tower::layer::util::Identity::new;
    for (error, said) in [
        (
            Guard::builder().observe(Notes::default()).observe(Notes::default()).build().unwrap_err(),
            "observe is called twice, and one of the observers would hear of nothing: combine them, as in \
             observe(a.and(b))",
        ),
        (
            Guard::builder().cards(cards()).card_store(store).build().unwrap_err(),
            "cards is set twice, by cards(client) or card_store(store): leave one of them out",
        ),
        (
            Guard::builder().availability(probes()).availability(probes()).build().unwrap_err(),
            "availability is called twice: leave one of the layers out",
        ),
        (
            Guard::builder().retry(identity()).retry(identity()).build().unwrap_err(),
            "retry is called twice, and there is one place: give it both layers, as in \
             retry(ServiceBuilder::new().layer(outer).layer(inner).into_inner())",
        ),
    ] {
        assert_eq!(error.to_string(), said);
    }
    // Each once, in whatever order; and of plain settings the last counts.
    let all = Guard::builder().retry(identity()).availability(probes()).cards(cards()).observe(Notes::default());
    all.strict(true).strict(false).limits(Limits::default()).limits(Limits::default()).build().unwrap();
}

/// Types that a struct of a user's can have in its fields.
#[allow(dead_code)]
struct Named {
    plain: Guard,
    rendered: RenderedGuard,
    with_cards: Guard<(), GuardCards>,
    with_all: Guard<Notes, GuardCards<Notes, Fixed>, GuardProbes<Notes>>,
    builder: GuardBuilder,
}

#[test]
fn every_part_has_a_name() {
    fn is_layer<T: Clone + Send + Sync + std::fmt::Debug + 'static>(_: &T) {}
    let named = Named {
        plain: Guard::default(),
        rendered: Guard::new().rendered(),
        with_cards: Guard::builder().cards(cards()).build().unwrap(),
        with_all: Guard::builder()
            .availability(ProbeCacheLayer::without_probes().build().unwrap())
            .resolver(Fixed)
            .cards(cards())
            .observe(Notes::default())
            .build()
            .unwrap(),
        builder: Guard::builder(),
    };
    is_layer(&named.plain);
    is_layer(&named.rendered);
    is_layer(&named.with_cards);
    assert!(format!("{:?}", named.builder).starts_with("GuardBuilder {"));
}
