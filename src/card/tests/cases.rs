//! The cards of the replayable cases, read and selected from as a caller at each of their bases would.

use super::read;
use crate::{
    call::{Binding, ProtocolVersion},
    card::{AgentCard, AgentInterface, CardFlaw, ClientSpeaks, Origin, SelectFlaw, UrlPolicy},
    outcome::Class,
};

const V1_0: ProtocolVersion = ProtocolVersion::V1_0;
const V0_3: ProtocolVersion = ProtocolVersion::V0_3;

/// A card of 1.0 with these interfaces, and with `extra` members behind them.
fn card_with(interfaces: &str, extra: &str) -> String {
    format!(
        r#"{{"name":"Probe agent","description":"test","version":"1.0.0","supportedInterfaces":[{interfaces}],
        "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
        "skills":[{{"id":"echo","name":"Echo","description":"echoes","tags":["t"]}}],{extra}}}"#
    )
}

fn probe(url: &str, binding: &str, version: &str) -> String {
    format!(r#"{{"url":"{url}","protocolBinding":"{binding}","protocolVersion":"{version}"}}"#)
}

const STREAMING: &str = r#""capabilities":{"streaming":true}"#;

/// What the card layer does with a card that it has fetched for the agent at `base`.
fn resolve<'c>(
    card: &'c AgentCard,
    base: &str,
    client: &ClientSpeaks,
    policy: &UrlPolicy,
) -> Result<(usize, &'c AgentInterface), CardFlaw> {
    let (index, interface) = card.select(client)?;
    interface.check(&Origin::parse(base).unwrap(), policy)?;
    Ok((index, interface))
}

fn outcome(text: &str, bindings: &[Binding], versions: &[ProtocolVersion]) -> Result<(usize, String), CardFlaw> {
    let card = AgentCard::read(text.as_bytes())?;
    let client = ClientSpeaks::new(bindings.iter().copied(), versions.iter().copied());
    let (index, interface) = resolve(&card, "https://agent.example.com", &client, &UrlPolicy::strict())?;
    Ok((index, interface.url().to_owned()))
}

const OLDEST: &str = r#"{"name":"Old","description":"d","version":"1","url":"https://agent.example.com/",
    "protocolVersion":"0.2.6","capabilities":{},"defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[]}"#;

const OLD: &str = r#"{"name":"Old","description":"d","version":"1","url":"https://agent.example.com/a2a",
    "preferredTransport":"JSONRPC","protocolVersion":"0.3.0",
    "additionalInterfaces":[{"url":"https://agent.example.com/rest","transport":"HTTP+JSON"}],
    "capabilities":{"streaming":true},"defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[]}"#;

#[test]
fn case_50_a_card_of_0_2() {
    let card = read(OLDEST);
    let client = ClientSpeaks::new([Binding::JsonRpc], [ProtocolVersion::V0_2, V0_3]);
    let (index, interface) = card.select(&client).unwrap();
    assert_eq!(
        (index, interface.url(), interface.version().to_string().as_str()),
        (0, "https://agent.example.com/", "0.2")
    );
    // Its operation is message/send, the spelling of 0.3.
    assert!(interface.understands(V0_3));
}

#[test]
fn case_51_any_path_of_the_origin_is_the_agents() {
    let text = card_with(&probe("https://agents.example.com/agents/foo", "JSONRPC", "1.0"), STREAMING);
    let card = read(&text);
    let client = ClientSpeaks::new([Binding::JsonRpc], [V1_0]);
    let found = resolve(&card, "https://agents.example.com/agents/foo", &client, &UrlPolicy::strict());
    assert_eq!(found.unwrap().1.url(), "https://agents.example.com/agents/foo");
}

#[test]
fn case_53_scheme_downgrade() {
    let text = card_with(&probe("http://agent.example.com/a2a", "JSONRPC", "1.0"), STREAMING);
    let flaw = outcome(&text, &[Binding::JsonRpc], &[V1_0]).unwrap_err();
    assert_eq!((flaw.class(), flaw.field()), (Class::UrlMismatch, Some("scheme")));
    let CardFlaw::Mismatch(mismatch) = flaw else { panic!("{flaw}") };
    assert_eq!((mismatch.card(), mismatch.target()), ("http", "https"));
    assert_eq!(mismatch.card_url(), "http://agent.example.com/a2a");
    assert_eq!(mismatch.target_url(), "https://agent.example.com/");

    let card = read(&text);
    let client = ClientSpeaks::new([Binding::JsonRpc], [V1_0]);
    let mesh = UrlPolicy::strict().allow_plaintext();
    assert!(resolve(&card, "https://agent.example.com", &client, &mesh).is_ok());
}

#[test]
fn case_55_an_operations_path_as_url() {
    let url = "https://agent.example.com/a2a/agents/x/v1/message:stream";
    let flaw = outcome(&card_with(&probe(url, "JSONRPC", "0.3"), STREAMING), &[Binding::JsonRpc], &[V0_3]).unwrap_err();
    assert_eq!(flaw.class(), Class::UnusableUrl);
    assert_eq!(flaw.to_string(), format!("the card's URL \"{url}\" is the path of one operation, not of the agent"));
}

#[test]
fn case_56_a_page() {
    let flaw = AgentCard::read(b"<!doctype html><h1>Agent</h1>").unwrap_err();
    assert_eq!(flaw.class(), Class::NotJson);
    assert_eq!(flaw.to_string(), "the card is not JSON: line 1, column 1");
}

#[test]
fn case_57_an_empty_object() {
    let flaw = AgentCard::read(b"{}").unwrap_err();
    assert_eq!((flaw.class(), flaw.field()), (Class::MissingField, Some("supportedInterfaces")));
    assert_eq!(flaw.to_string(), "the card's supportedInterfaces is absent");
}

#[test]
fn case_59_an_old_card_for_a_client_of_1_0() {
    let flaw = outcome(OLD, &[Binding::JsonRpc], &[V1_0]).unwrap_err();
    assert_eq!(flaw.class(), Class::UnsupportedVersion);
    assert_eq!(flaw.to_string(), "the card offers JSONRPC 0.3, HTTP+JSON 0.3; the client speaks 1.0");
    let CardFlaw::Select(SelectFlaw::UnsupportedVersion { offered, wanted }) = flaw else { panic!("{flaw}") };
    assert_eq!(offered.iter().map(ToString::to_string).collect::<Vec<_>>(), ["JSONRPC 0.3", "HTTP+JSON 0.3"]);
    assert_eq!(*wanted, [V1_0]);

    assert_eq!(outcome(OLD, &[Binding::JsonRpc], &[V1_0, V0_3]), Ok((0, "https://agent.example.com/a2a".into())));
    assert_eq!(outcome(OLD, &[Binding::HttpJson], &[V0_3]), Ok((1, "https://agent.example.com/rest".into())));
    let flaw = outcome(OLD, &[Binding::Grpc], &[V0_3]).unwrap_err();
    assert_eq!(flaw.class(), Class::NoCompatibleInterface);
    assert_eq!(flaw.to_string(), "the card offers JSONRPC 0.3, HTTP+JSON 0.3; the client speaks GRPC");
}

#[test]
fn case_61_a_version_left_out() {
    let interface = r#"{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC"}"#;
    let flaw = outcome(&card_with(interface, STREAMING), &[Binding::JsonRpc], &[V1_0]).unwrap_err();
    assert_eq!((flaw.class(), flaw.field()), (Class::MissingField, Some("supportedInterfaces[0].protocolVersion")));
}

#[test]
fn case_62_the_first_usable_interface() {
    let interfaces = [
        probe("https://agent.example.com/v03", "JSONRPC", "0.3"),
        probe("https://agent.example.com/x", "ACME-BUS", "1.0"),
        probe("https://agent.example.com/rest", "HTTP+JSON", "1.0"),
        probe("https://backup.example.com/rest", "HTTP+JSON", "1.0"),
    ];
    let text = card_with(&interfaces.join(","), STREAMING);
    for bindings in [[Binding::JsonRpc, Binding::HttpJson], [Binding::HttpJson, Binding::JsonRpc]] {
        assert_eq!(outcome(&text, &bindings, &[V1_0]), Ok((2, "https://agent.example.com/rest".into())));
    }
    let flaw = outcome(&text, &[Binding::JsonRpc], &[V1_0]).unwrap_err();
    assert_eq!(flaw.class(), Class::UnsupportedVersion);
    let flaw = outcome(&text, &[Binding::Grpc], &[V1_0]).unwrap_err();
    assert_eq!(flaw.class(), Class::NoCompatibleInterface);
    assert_eq!(flaw.to_string(), "the card offers JSONRPC 0.3, ACME-BUS 1.0, HTTP+JSON 1.0; the client speaks GRPC");
}

#[test]
fn case_65_a_capability_that_is_not_declared() {
    use crate::call::Operation;

    let text = card_with(&probe("https://agent.example.com/a2a", "JSONRPC", "1.0"), r#""capabilities":{}"#);
    let flaw = read(&text).check_operation(Operation::SendStreamingMessage).unwrap_err();
    assert_eq!(flaw.class(), Class::CapabilityMissing);
    assert_eq!(flaw.to_string(), "the card does not declare streaming, which SendStreamingMessage needs");
    assert_eq!(read(&text).check_operation(Operation::SendMessage), Ok(()));
    let text = card_with(&probe("https://agent.example.com/a2a", "JSONRPC", "1.0"), STREAMING);
    assert_eq!(read(&text).check_operation(Operation::SendStreamingMessage), Ok(()));
}

#[test]
fn case_71_unknown_parts_are_passed_over() {
    let extra = r#""capabilities":{"streaming":true,"stateTransitionHistory":null,"teleport":true},
        "securityRequirements":[{"oauth2":["profile"]}],
        "securitySchemes":{"oauth2":{"flows":{"implicit":{}}},"x":{"quantumSecurityScheme":{}}},
        "futureField":{"a":1},"iconUrl":null"#;
    let text = card_with(&probe("https://agent.example.com/a2a", "JSONRPC", "1.0"), extra);
    assert_eq!(outcome(&text, &[Binding::JsonRpc], &[V1_0]), Ok((0, "https://agent.example.com/a2a".into())));
    let card = read(&text);
    assert_eq!(
        super::warnings(&card),
        [
            "unknown_field at capabilities.teleport",
            "odd_security at securitySchemes.oauth2",
            "unknown_security_scheme at securitySchemes.x",
            "odd_security at securityRequirements[0]",
            "unknown_field at futureField",
        ]
    );
}

#[test]
fn case_72_a_grpc_url_with_a_scheme() {
    let card = read(&card_with(&probe("https://grpc.example.com/a2a", "GRPC", "1.0"), STREAMING));
    let client = ClientSpeaks::new([Binding::Grpc], [V1_0]);
    let found = resolve(&card, "https://grpc.example.com", &client, &UrlPolicy::strict());
    let authority = found.unwrap().1.authority().unwrap();
    assert_eq!((authority.host_port(), authority.tls()), ("grpc.example.com:443", Some(true)));
    assert_eq!(super::warnings(&card), ["grpc_url_has_path at supportedInterfaces[0].url"]);
    assert_eq!(card.strict(), Ok(()));

    let card = read(&card_with(&probe("grpc.example.com:443", "GRPC", "1.0"), STREAMING));
    let found = resolve(&card, "https://grpc.example.com", &client, &UrlPolicy::strict());
    let authority = found.unwrap().1.authority().unwrap();
    assert_eq!((authority.host_port(), authority.tls()), ("grpc.example.com:443", None));
    assert!(card.warnings().is_empty());
}
