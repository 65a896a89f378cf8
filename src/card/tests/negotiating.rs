//! Matching what a call needs with what a card says.

use super::{WHOLE, WHOLE_0_3, read};
use crate::{
    call::{Binding, Capability, Operation, ProtocolVersion},
    card::{CardFlaw, CardVersion, ClientSpeaks, Party, Terms, negotiate},
    outcome::Class,
};

const X: &str = "https://example.com/x/v1";

#[test]
fn operations_need_what_is_declared() {
    let card = read(WHOLE);
    assert_eq!(card.check_operation(Operation::SubscribeToTask), Ok(()));
    assert_eq!(card.check_operation(Operation::GetExtendedAgentCard), Ok(()));
    assert_eq!(card.check_operation(Operation::GetTask), Ok(()));
    assert_eq!(
        card.check_operation(Operation::ListTaskPushNotificationConfigs),
        Err(CardFlaw::CapabilityMissing {
            capability: Capability::PushNotifications,
            operation: Operation::ListTaskPushNotificationConfigs,
        })
    );
}

#[test]
fn extensions_are_required_by_either_side() {
    let card = read(WHOLE);
    assert_eq!(card.check_extensions(&[X], &[]), Ok(()));
    assert_eq!(card.check_extensions(&["other", X], &[X]), Ok(()));
    let flaw = card.check_extensions(&["other"], &["other"]).unwrap_err();
    assert_eq!(flaw, CardFlaw::ExtensionMissing { uri: X.into(), by: Party::Agent });
    assert_eq!(flaw.class(), Class::ExtensionMissing);
    assert_eq!(
        flaw.to_string(),
        "the agent requires extension \"https://example.com/x/v1\", which the call does not use"
    );
    let flaw = card.check_extensions(&[X, "other"], &["other"]).unwrap_err();
    assert_eq!(flaw.to_string(), "the client requires extension \"other\", which the card does not declare");
    assert_eq!(read(WHOLE_0_3).check_extensions(&[], &[]), Ok(()));
}

#[test]
fn a_negotiation_shows_both_sides_and_what_they_share() {
    let ours = ClientSpeaks::new([Binding::Grpc, Binding::JsonRpc], [ProtocolVersion::V0_3, ProtocolVersion::V1_0]);
    let wanted = Terms::of_client(&ours)
        .with_capabilities([Capability::Streaming, Capability::PushNotifications])
        .with_extensions([X, "other"])
        .with_modes(["Text/Plain; charset=utf-8", "image/png"], ["audio/wav"]);
    let negotiation = negotiate(&read(WHOLE), wanted.clone());
    assert_eq!(negotiation.wanted, wanted);
    assert_eq!(wanted.interfaces.len(), 4);
    assert_eq!((wanted.bindings().len(), wanted.versions().len()), (2, 2));
    assert_eq!(negotiation.offered.capabilities, [Capability::Streaming, Capability::ExtendedAgentCard]);
    assert_eq!(negotiation.offered.versions(), [&CardVersion::Known(ProtocolVersion::V1_0)]);
    let common = &negotiation.common;
    assert_eq!(negotiation.interface().unwrap().to_string(), "JSONRPC 1.0");
    assert_eq!(common.capabilities, [Capability::Streaming]);
    assert_eq!(common.extensions, [Box::from(X)]);
    assert_eq!(common.input_modes, [Box::from("text/plain")]);
    assert!(common.output_modes.is_empty());
    assert!(!negotiation.is_complete() && negotiation.required.is_empty());
}

#[test]
fn a_binding_and_a_version_are_only_shared_together() {
    // The card has JSONRPC, and it has 1.0; it does not have JSONRPC in 1.0.
    let text = WHOLE_0_3.replacen(
        '{',
        r#"{"supportedInterfaces": [
        {"url": "https://a", "protocolBinding": "GRPC", "protocolVersion": "1.0"}],"#,
        1,
    );
    let card = read(&text);
    let ours = ClientSpeaks::new([Binding::JsonRpc], [ProtocolVersion::V1_0]);
    let negotiation = negotiate(&card, Terms::of_client(&ours));
    assert_eq!(negotiation.interface(), None);
    assert!(!negotiation.is_complete());
    assert_eq!(card.select(&ours).unwrap_err().class(), Class::UnsupportedVersion);
}

#[test]
fn what_the_agent_requires_is_told() {
    let ours = ClientSpeaks::new([Binding::JsonRpc], [ProtocolVersion::V1_0]);
    let negotiation = negotiate(&read(WHOLE), Terms::of_client(&ours));
    assert_eq!(negotiation.required, [Box::from(X)]);
    assert!(!negotiation.is_complete());
    assert!(negotiate(&read(WHOLE), Terms::of_client(&ours).with_extensions([X])).is_complete());
}
