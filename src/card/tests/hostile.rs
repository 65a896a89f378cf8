//! Cards that are meant to hurt, and cards that were broken on the way.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{WHOLE, WHOLE_0_3};
use crate::{
    call::{Binding, Capability, Operation, ProtocolVersion},
    card::{AgentCard, CardFlaw, CardUrl, ClientSpeaks, Origin, Target, Terms, UrlPolicy, negotiate},
    outcome::Class,
};

/// Does everything that can be done with a card, and checks what holds for every card.
fn exercise(bytes: &[u8]) {
    let card = match AgentCard::read(bytes) {
        Ok(card) => card,
        Err(flaw) => {
            assert!(matches!(flaw.class(), Class::NotJson | Class::MissingField), "{flaw}");
            one_line(&flaw);
            return;
        }
    };
    assert!(!card.interfaces().is_empty());
    assert!(card.warnings().len() <= 32);
    for warning in card.warnings() {
        assert!(!warning.to_string().contains(char::is_control));
    }
    assert_eq!(card.strict().is_ok(), !card.warnings().iter().any(|warning| warning.what().is_violation()));
    let clients = [
        ClientSpeaks::new([Binding::JsonRpc, Binding::HttpJson, Binding::Grpc], [ProtocolVersion::V1_0]),
        ClientSpeaks::new([Binding::HttpJson], [ProtocolVersion::V0_3]),
        ClientSpeaks::default(),
    ];
    for client in &clients {
        match card.select(client) {
            Ok((index, interface)) => assert_eq!(card.interfaces().get(index), Some(interface)),
            Err(flaw) => one_line(&flaw.into()),
        }
        let negotiation = negotiate(&card, Terms::of_client(client).with_capabilities([Capability::Streaming]));
        assert_eq!(negotiation.interface().is_some(), card.select(client).is_ok());
    }
    let agent = Origin::parse("https://agent.example.com").unwrap();
    for policy in [UrlPolicy::strict(), UrlPolicy::strict().allow_any_origin().allow_plaintext()] {
        for interface in card.interfaces() {
            assert!(!interface.url().is_empty());
            if let Err(flaw) = interface.check(&agent, &policy) {
                one_line(&flaw);
            }
            let (Ok(uri), Ok(url)) = (interface.url().parse(), interface.parsed_url()) else { continue };
            let Ok(target) = Target::new(&uri) else { continue };
            let target = target.with_binding(interface.binding().known()).with_tenant(interface.tenant());
            match card.interface_for(&target, &policy) {
                Ok(found) => assert_eq!(card.interfaces().get(found.index), Some(found.interface)),
                Err(flaw) => {
                    // Whatever may be called is found under its own URL.
                    assert!(policy.usable(url, &target.origin()).is_err(), "{flaw}");
                    one_line(&flaw);
                }
            }
        }
    }
    for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
        let _ = card.check_operation(operation);
    }
    for extension in card.extensions() {
        let _ = extension.params();
    }
}

fn one_line(flaw: &CardFlaw) {
    let text = flaw.to_string();
    assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
    // An escaped character may take ten.
    assert!(text.len() < 8000, "{}", text.len());
}

/// Every place in a tree, as a pointer.
fn places(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| places(value, &format!("{at}/{name}"), into)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, value)| places(value, &format!("{at}/{i}"), into)),
        _ => {}
    }
}

#[test]
fn every_place_of_a_card_may_hold_anything() {
    for text in [WHOLE, WHOLE_0_3] {
        let whole: Value = serde_json::from_str(text).unwrap();
        let mut pointers = Vec::new();
        places(&whole, "", &mut pointers);
        let values = [
            Value::Null,
            json!(true),
            json!(-1.5e300),
            json!(""),
            json!("\u{202e}\n"),
            json!([]),
            json!([null, [{}]]),
            json!({}),
            json!({"url": null, "": 1}),
            json!("https://[::1]:99999/\u{0}"),
            json!("x".repeat(1000)),
        ];
        for pointer in &pointers {
            for value in &values {
                let mut card = whole.clone();
                *card.pointer_mut(pointer).unwrap() = value.clone();
                exercise(card.to_string().as_bytes());
            }
        }
    }
}

#[test]
fn a_card_cut_anywhere_is_not_json() {
    for cut in 0..WHOLE.len() {
        assert_eq!(AgentCard::read(&WHOLE.as_bytes()[..cut]).unwrap_err().class(), Class::NotJson, "{cut}");
    }
}

/// The largest card that the layer hands over, full of what costs a careless reader most. Each is read in a moment; a
/// reader whose work grew faster than the text would not end here.
#[test]
fn large_cards_cost_what_they_weigh() {
    const SIZE: usize = 256 * 1024;

    let filled = |before: &str, unit: &str, after: &str| {
        let count = (SIZE - before.len() - after.len()) / unit.len();
        format!("{before}{}{after}", unit.repeat(count))
    };
    let interface = r#"{"url":"a:1","protocolBinding":"GRPC","protocolVersion":"1.0"}"#;
    let rest = r#""name":"","description":"","version":"","capabilities":{},"defaultInputModes":[],
        "defaultOutputModes":[],"skills":[]}"#;
    for text in [
        filled("", "[", ""),
        filled("", r#"{"a":"#, ""),
        filled(r#"{"x":"#, "[", ""),
        filled(r#"{"url":"https://a","x":"#, "{\"\":", "1"),
        filled(r#"{"url":"https://a","#, r#""a":0,"#, r#""a":0}"#),
        filled(r#"{"url":"https://a","skills":["#, "{},", "{}]}"),
        filled(r#"{"url":"https://a","skills":["#, r#"{"id":"a"},"#, "{}]}"),
        filled(r#"{"url":"https://a","defaultInputModes":["#, r#""","#, "0]}"),
        filled(r#"{"url":"https://a","additionalInterfaces":["#, r#"{"url":"a","transport":"b"},"#, "0]}"),
        filled(r#"{"url":"https://a","capabilities":{"extensions":["#, r#"{"uri":"a"},"#, "0]}}"),
        filled(r#"{"url":"https://a","securitySchemes":{"#, r#""a":0,"#, r#""a":0}}"#),
        filled(r#"{"url":"https://a","capabilities":{"extensions":[{"uri":"a","params":{"a":"#, "[", ""),
        filled(r#"{"url":"https://a/"#, "%41", "\"}"),
        filled(r#"{"url":"https://"#, "1.", "1\"}"),
        filled(r#"{"url":"https://"#, "ａ", "\"}"),
        filled(r#"{"supportedInterfaces":["#, &format!("{interface},"), &format!("{interface}],{rest}")),
        filled(r#"{"name":""#, r"\u0041", "\"}"),
    ] {
        assert!(text.len() <= SIZE + 3);
        if let Ok(card) = AgentCard::read(text.as_bytes()) {
            assert!(card.warnings().len() <= 32);
            let agent = Origin::parse("https://agent.example.com").unwrap();
            let target = Target::new(&"https://agent.example.com/".parse().unwrap()).unwrap();
            let _ = card.interface_for(&target, &UrlPolicy::strict());
            let _ = card.interfaces()[0].check(&agent, &UrlPolicy::strict());
            let _ = card.select(&ClientSpeaks::default());
            let _ = negotiate(&card, Terms::default());
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        2 => proptest::sample::select(&[
            "supportedInterfaces", "url", "protocolBinding", "protocolVersion", "tenant", "name", "description",
            "version", "capabilities", "streaming", "extensions", "uri", "skills", "id", "tags", "defaultInputModes",
            "defaultOutputModes", "additionalInterfaces", "preferredTransport", "transport", "securitySchemes",
            "security", "securityRequirements", "signatures",
        ][..]).prop_map(str::to_owned),
        1 => ".*",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        proptest::sample::select(&["1.0", "0.3.0", "JSONRPC", "GRPC", "https://agent.example.com/a2a", "a:1", ""][..])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..10)
                .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        exercise(&bytes);
    }

    #[test]
    fn any_tree(value in any_json()) {
        exercise(value.to_string().as_bytes());
    }

    #[test]
    fn a_card_with_any_member(name in "[a-zA-Z]{1,20}", value in any_json(), old in any::<bool>()) {
        let mut card: Value = serde_json::from_str(if old { WHOLE_0_3 } else { WHOLE }).unwrap();
        card[name] = value;
        exercise(card.to_string().as_bytes());
    }

    #[test]
    fn a_card_with_some_bytes_changed(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        old in any::<bool>(),
    ) {
        let mut bytes = if old { WHOLE_0_3 } else { WHOLE }.as_bytes().to_vec();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        exercise(&bytes);
    }

    /// Normalising is stable, and what is normalised is the same URL.
    #[test]
    fn any_url(text in "(http|https|HTTPS)://[a-zA-Z0-9.:@%\\[\\]-]{0,20}(/[ -~]{0,20})?") {
        if let Ok(url) = CardUrl::parse(&text) {
            let again = CardUrl::parse(&url.to_string()).unwrap();
            prop_assert_eq!(again.to_string(), url.to_string());
            prop_assert_eq!(again.host(), url.host());
        }
    }

    #[test]
    fn any_text_as_url(text in ".*") {
        let _ = CardUrl::parse(&text);
        let _ = CardUrl::parse_grpc(&text);
        let _ = CardUrl::parse(&format!("https://{text}"));
    }

    /// However a loopback or private address is spelled, it is seen as what it is.
    #[test]
    fn any_notation_of_an_address(
        address in prop_oneof![Just(0x7f00_0001_u32), 0x0a00_0000_u32..0x0b00_0000, 0xa9fe_0000_u32..0xa9ff_0000],
        shape in 0..4_u8,
        radices in proptest::collection::vec(0..3_u8, 4),
    ) {
        let part = |value: u32, radix: u8| match radix {
            0 => format!("{value}"),
            1 => format!("0{value:o}"),
            _ => format!("0X{value:x}"),
        };
        let [a, b, c, d] = address.to_be_bytes().map(u32::from);
        let numbers = match shape {
            0 => vec![a, b, c, d],
            1 => vec![a, b, c << 8 | d],
            2 => vec![a, b << 16 | c << 8 | d],
            _ => vec![address],
        };
        let parts: Vec<_> = numbers.iter().zip(&radices).map(|(number, radix)| part(*number, *radix)).collect();
        let host = parts.join(".");
        let agent = Origin::parse("https://agent.example.com").unwrap();
        let url = CardUrl::parse(&format!("http://{host}/")).unwrap();
        prop_assert!(UrlPolicy::strict().usable(&url, &agent).is_err(), "{}", host);
        prop_assert!(UrlPolicy::strict().allow_any_origin().usable(&url, &agent).is_err(), "{}", host);
    }
}
