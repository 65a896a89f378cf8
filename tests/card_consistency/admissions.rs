//! Admitted shapes, further: where an admission holds however its place was written, and over every binding.

use a2a_guard::{Binding, Capability, CardFailure, card_consistency::Admission};

use crate::{
    mock::Dialect,
    support::{Card, Cards, ROOT, failure, layer, through},
};

use Dialect::{Rest, V1};

/// A restriction that is set is never lost for the way in which its place is written.
#[tokio::test(start_paused = true)]
async fn an_origin_may_leave_its_scheme_out() {
    for (origin, refused) in [
        ("agent.example.com", true),
        ("AGENT.example.com:443", true),
        ("agent.example.com:8443", false),
        ("other.example.com", false),
        ("/a2a", true),
    ] {
        let admission = Admission::new(Capability::Streaming).at(origin.parse().unwrap()).bindings([]);
        let (ended, sent) = through(layer(&Cards::of(Card::streaming())).admit(admission), V1.stream()).await;
        assert_eq!(sent.is_none(), refused, "{origin}");
        assert_eq!(ended.word() == "card/shape_not_admitted", refused, "{origin}");
    }
}

/// What is refused is told with what would have been admitted; of another capability nothing is said.
#[tokio::test(start_paused = true)]
async fn each_capability_has_its_own() {
    let card = || Cards::of(Card::streaming().with("pushNotifications"));
    let push = V1.rpc("CreateTaskPushNotificationConfig", r#""taskId":"task-1""#);
    let only = Admission::new(Capability::PushNotifications).bindings([Binding::HttpJson, Binding::Grpc]);
    let (ended, sent) = through(layer(&card()).admit(only.clone()), push).await;
    assert!(sent.is_none());
    let CardFailure::ShapeNotAdmitted { shape, admitted, .. } = failure(&ended) else { panic!("{ended:?}") };
    assert_eq!(shape.binding(), Some(Binding::JsonRpc));
    assert_eq!(admitted, &["HTTP+JSON", "GRPC"]);
    let (_, sent) = through(layer(&card()).admit(only), V1.stream()).await;
    assert!(sent.is_some());
}

/// Binding and media type must both be admitted, by one admission or by several.
#[tokio::test(start_paused = true)]
async fn all_of_a_shape_must_be_admitted() {
    let stream = || Admission::new(Capability::Streaming);
    for (admissions, sent) in [
        (vec![stream().bindings([Binding::HttpJson]).media_types(["text/event-stream"])], true),
        (vec![stream().bindings([Binding::HttpJson]).media_types(["application/json"])], false),
        (vec![stream().bindings([Binding::Grpc]).media_types(["text/event-stream"])], false),
        (vec![stream().bindings([Binding::HttpJson]), stream().media_types(["application/json"])], false),
        (vec![stream().bindings([Binding::HttpJson]), stream().at("https://other.example.com".parse().unwrap())], true),
    ] {
        let rest = Cards::default().put(ROOT, Card::rest().with("streaming"));
        let layer = admissions.iter().cloned().fold(layer(&rest), |layer, admission| layer.admit(admission));
        assert_eq!(through(layer, Rest.stream()).await.1.is_some(), sent, "{admissions:?}");
    }
}
