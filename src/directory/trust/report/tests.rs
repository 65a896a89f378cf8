use http::{StatusCode, Uri};

use super::{
    ReportKind::{Failure, Neutral, Overclaim},
    *,
};
use crate::{
    card::Party,
    error::Failure as Facts,
    wire::{MediaType, PeerError},
};

fn kind(failure: Facts) -> ReportKind {
    Report::of_error(&CallError::new(failure), Duration::ZERO).kind()
}

fn of_card(card: CardFailure) -> ReportKind {
    kind(Facts::of_card(card, Call::new(), Duration::ZERO))
}

fn failure(kind: OutcomeKind, class: Class) -> Facts {
    Facts::new(kind, class, "it failed", Call::new(), Duration::ZERO)
}

#[test]
fn an_agent_without_a_card_that_can_be_used_fails() {
    let location = || Box::new(Uri::from_static("https://a.example/card.json"));
    let status = |status| CardFailure::HttpStatus {
        status: StatusCode::from_u16(status).unwrap(),
        location: location(),
        retry_after: None,
    };
    let mismatch = CardFailure::UrlMismatch {
        field: "path",
        card: "/a".into(),
        target: "/b".into(),
        card_url: "https://a.example/a".into(),
        target_url: "https://a.example/b".into(),
        location: None,
    };
    for card in [
        CardFailure::not_found(Vec::new()),
        status(500),
        status(503),
        CardFailure::NotJson {
            status: StatusCode::OK,
            content_type: None,
            location: location(),
            why: "is a page".into(),
        },
        CardFailure::TooLarge { limit: 1, location: location() },
        CardFailure::FetchTimeout { bound: Duration::ZERO },
        CardFailure::MissingField { field: "name".into(), why: "null".into(), location: None },
        CardFailure::unusable_url("x", "is none"),
        mismatch,
        CardFailure::Signature { why: "none".into() },
        CardFailure::Connection { fault: Class::Connect, source: std::sync::Arc::new("refused".into()) },
    ] {
        assert_eq!(of_card(card.clone()), Failure, "{card}");
    }
}

#[test]
fn a_card_that_does_not_cover_the_call_says_nothing() {
    let location = || Box::new(Uri::from_static("https://a.example/card.json"));
    let status = StatusCode::TOO_MANY_REQUESTS;
    for card in [
        CardFailure::Unauthorized { status: StatusCode::UNAUTHORIZED, location: location(), www_authenticate: None },
        CardFailure::HttpStatus { status, location: location(), retry_after: None },
        CardFailure::TenantMismatch { card: None, request: "t".into() },
        CardFailure::NoCompatibleInterface { offered: Vec::new(), wanted: Vec::new() },
        CardFailure::UnsupportedVersion { offered: Vec::new(), wanted: Vec::new() },
        CardFailure::CapabilityMissing { capability: Capability::Streaming },
        CardFailure::ExtensionMissing { uri: "x".into(), by: Party::Agent },
        CardFailure::ShapeNotAdmitted { shape: Call::new().shape(), admitted: Vec::new() },
    ] {
        assert_eq!(of_card(card.clone()), Neutral, "{card}");
    }
}

#[test]
fn what_never_came_to_the_peer_or_counted_already_says_nothing() {
    let mut shed = failure(OutcomeKind::Refused, Class::Unavailable);
    assert_eq!(kind(shed.clone()), Failure);
    shed.never_sent = true;
    assert_eq!(kind(shed), Neutral);
    for class in [Class::SkillUnavailable, Class::EndpointNotConforming] {
        let mut stale = failure(OutcomeKind::Stale, class);
        assert_ne!(kind(stale.clone()), Neutral);
        stale.remembered = true;
        assert_eq!(kind(stale), Neutral);
    }
    assert_eq!(kind(failure(OutcomeKind::Stale, Class::EndpointNotConforming)), Failure);
    assert_eq!(kind(failure(OutcomeKind::Timeout, Class::Ready)), Failure);
}

#[test]
fn an_agent_that_says_that_it_failed() {
    let typed = |json: &str, media, status| {
        let mut failure = failure(OutcomeKind::Refused, Class::PeerError);
        failure.peer = Some(Box::new(PeerError::parse(json.as_bytes(), media).unwrap()));
        failure.seen.status = Some(StatusCode::from_u16(status).unwrap());
        kind(failure)
    };
    let named = |name: &str| {
        let body = format!(r#"{{"error":{{"code":400,"status":"{name}","message":"no","details":[]}}}}"#);
        typed(&body, MediaType::Json, 400)
    };
    for name in ["CANCELLED", "UNKNOWN", "DEADLINE_EXCEEDED", "INTERNAL", "DATA_LOSS"] {
        assert_eq!(named(name), Failure, "{name}");
    }
    for name in ["FAILED_PRECONDITION", "INVALID_ARGUMENT", "OUT_OF_RANGE", "ABORTED", "ALREADY_EXISTS", "NOT_FOUND"] {
        assert_eq!(named(name), Neutral, "{name}");
    }
    assert_eq!(named("UNIMPLEMENTED"), Overclaim);
    let problem = r#"{"title":"it went wrong","status":500}"#;
    for (status, expected) in [(500, Failure), (504, Failure), (501, Neutral), (422, Neutral)] {
        assert_eq!(typed(problem, MediaType::ProblemJson, status), expected, "{status}");
    }
}
