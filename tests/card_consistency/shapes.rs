//! Capabilities, admitted shapes, and what a strict layer refuses.

use a2a_guard::{Binding, Capability, CardFailure, card_consistency::Admission};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    mock::Dialect,
    support::{Card, Cards, ROOT, agent, call, failure, guard, layer, once, streamed, through},
};

use Dialect::{Rest, V1};

fn create_push() -> Request<Full<Bytes>> {
    V1.rpc("CreateTaskPushNotificationConfig", r#""taskId":"task-1""#)
}

#[tokio::test(start_paused = true)]
async fn an_operation_needs_its_capability() {
    let rows = [
        (V1.stream(), "streaming", Capability::Streaming, "UnsupportedOperationError"),
        (V1.subscribe(), "streaming", Capability::Streaming, "UnsupportedOperationError"),
        (create_push(), "pushNotifications", Capability::PushNotifications, "PushNotificationNotSupportedError"),
        (
            V1.rpc("GetExtendedAgentCard", ""),
            "extendedAgentCard",
            Capability::ExtendedAgentCard,
            "UnsupportedOperationError",
        ),
    ];
    let all = ["streaming", "pushNotifications", "extendedAgentCard"];
    for (request, flag, capability, a2a_error) in rows {
        let others = all.into_iter().filter(|other| *other != flag).fold(Card::plain(), Card::with);
        let (ended, sent) = once(others, request.clone()).await;
        assert_eq!(ended.word(), "card/capability_missing", "{flag}");
        assert_eq!(ended.error().a2a_error().unwrap().name(), a2a_error);
        assert_eq!(ended.error().capability(), Some(capability));
        let CardFailure::CapabilityMissing { capability: missing, .. } = failure(&ended) else { panic!("{ended:?}") };
        assert_eq!(*missing, capability);
        assert!(sent.is_none(), "{flag}");

        let (_, sent) = once(Card::plain().with(flag), request).await;
        assert!(sent.is_some(), "{flag} is declared, and the call is not sent");
    }
}

#[tokio::test(start_paused = true)]
async fn other_operations_need_none() {
    for request in [V1.send(), V1.get(), V1.rpc("ListTasks", ""), V1.rpc("CancelTask", r#""id":"task-1""#)] {
        assert!(once(Card::plain(), request).await.1.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_shape_that_is_not_admitted_is_refused() {
    let card = || Cards::of(Card::streaming());
    let only_rest = Admission::new(Capability::Streaming).bindings([Binding::HttpJson]);
    let (ended, sent) = through(layer(&card()).admit(only_rest.clone()), V1.stream()).await;
    assert_eq!(ended.word(), "card/shape_not_admitted");
    let CardFailure::ShapeNotAdmitted { shape, admitted, .. } = failure(&ended) else { panic!("{ended:?}") };
    assert_eq!((shape.binding(), &admitted[..]), (Some(Binding::JsonRpc), &["HTTP+JSON".to_owned()][..]));
    assert!(sent.is_none());

    // It says nothing about what needs no streaming, and nothing about what is admitted.
    assert!(through(layer(&card()).admit(only_rest.clone()), V1.send()).await.1.is_some());
    let rest = Cards::default().put(ROOT, Card::rest().with("streaming"));
    assert!(through(layer(&rest).admit(only_rest), Rest.stream()).await.1.is_some());
}

#[tokio::test(start_paused = true)]
async fn media_types_are_admitted_too() {
    for (admitted, sent) in [("text/event-stream", true), ("Text/Event-Stream", true), ("application/json", false)] {
        let admission = Admission::new(Capability::Streaming).media_types([admitted]);
        let arrived = through(layer(&Cards::of(Card::streaming())).admit(admission), V1.stream()).await.1;
        assert_eq!(arrived.is_some(), sent, "{admitted}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_admission_holds_at_its_target_however_that_is_spelled() {
    for (origin, refused) in [
        ("https://agent.example.com", true),
        ("https://AGENT.example.com", true),
        ("https://agent.example.com:443", true),
        ("https://agent.example.com/a2a", true),
        ("https://agent.example.com:8443", false),
        ("http://agent.example.com", false),
        ("https://other.example.com", false),
    ] {
        let admission = Admission::new(Capability::Streaming).at(origin.parse().unwrap()).bindings([]);
        let sent = through(layer(&Cards::of(Card::streaming())).admit(admission), V1.stream()).await.1;
        assert_eq!(sent.is_none(), refused, "{origin}");
    }
}

#[tokio::test(start_paused = true)]
async fn all_admissions_must_admit() {
    let one = Admission::new(Capability::Streaming).bindings([Binding::JsonRpc]);
    let other = Admission::new(Capability::Streaming).bindings([Binding::HttpJson]);
    let cards = Cards::of(Card::streaming());
    assert!(through(layer(&cards).admit(one.clone()), V1.stream()).await.1.is_some());
    assert!(through(layer(&cards).admit(one).admit(other), V1.stream()).await.1.is_none());
}

/// The card's flag comes first: an admission adds no capability.
#[tokio::test(start_paused = true)]
async fn an_admission_admits_nothing_that_the_card_does_not_declare() {
    let admission = Admission::new(Capability::Streaming).bindings([Binding::JsonRpc]);
    let (ended, _) = through(layer(&Cards::of(Card::plain())).admit(admission), V1.stream()).await;
    assert_eq!(ended.word(), "card/capability_missing");
}

#[tokio::test(start_paused = true)]
async fn slightly_wrong_cards_are_refused_where_that_is_asked_for() {
    let wrong = || Cards::of(Card::plain().without_skills());
    assert!(through(layer(&wrong()), V1.send()).await.1.is_some());
    let (ended, sent) = through(layer(&wrong()).strict(true), V1.send()).await;
    assert_eq!(ended.word(), "card/missing_field");
    assert_eq!(failure(&ended).field(), Some("skills"));
    assert!(sent.is_none());
    assert!(through(layer(&Cards::of(Card::plain())).strict(true), V1.send()).await.1.is_some());
}

/// Other layers over the same store are asked for themselves.
#[tokio::test(start_paused = true)]
async fn strictness_is_each_layers_own() {
    let store = Cards::of(Card::streaming().without_skills()).store();
    let lenient = a2a_guard::card_consistency::CardConsistencyLayer::new(store);
    let strict = lenient.clone().strict(true);
    let agent = agent([streamed(), streamed()]);
    for (layer, word) in [(&lenient, "success/success"), (&strict, "card/missing_field"), (&lenient, "success/success")]
    {
        assert_eq!(call(&mut guard(layer.clone(), &agent), V1.stream()).await.word(), word);
    }
}
