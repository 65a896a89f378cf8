//! What is signed: §8.4.1, and how signers differ from it.

use super::*;

/// The payload in each form, in the order in which they are tried.
fn forms(card: &str) -> Vec<String> {
    let node = Node::parse(card).unwrap();
    let payload = |form: Form| form.payload(node.as_object().unwrap(), usize::MAX).unwrap();
    Form::ALL.into_iter().map(|form| String::from_utf8(payload(form)).unwrap()).collect()
}

fn signed_as(card: &str, payload: &str) -> String {
    with(card, &[entry(HEADER, payload)])
}

/// §8.4.1's example.
#[test]
fn the_fragment_of_the_specification() {
    let fragment = r#"{
        "name": "Example Agent",
        "description": "",
        "capabilities": {"streaming": false, "pushNotifications": false, "extensions": []},
        "skills": []
    }"#;
    let expected = r#"{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}"#;
    assert!(forms(fragment).contains(&expected.to_owned()));
    // A whole card has all that is required.
    let whole = r#"{"capabilities":{"pushNotifications":false,"streaming":false},"defaultInputModes":[],"defaultOutputModes":[],"description":"","name":"Example Agent","skills":[],"supportedInterfaces":[],"version":""}"#;
    assert_eq!(String::from_utf8(payload(fragment)).unwrap(), whole);
}

#[test]
fn defaults_go_by_the_fields_of_each_message() {
    for (given, specified) in [
        // Of interfaces.
        (
            r#"{"supportedInterfaces": [{"url": "u", "protocolBinding": "", "tenant": "", "protocolVersion": "1.0"}, {}]}"#,
            r#""supportedInterfaces":[{"protocolBinding":"","protocolVersion":"1.0","url":"u"},{"protocolBinding":"","protocolVersion":"","url":""}]"#,
        ),
        // A message that is there is there; `optional` fields as well.
        (r#"{"provider": {}}"#, r#""provider":{"organization":"","url":""}"#),
        (r#"{"documentationUrl": ""}"#, r#""documentationUrl":"""#),
        (r#"{"capabilities": {"streaming": false}}"#, r#""capabilities":{"streaming":false}"#),
        // Extensions have no required field, and what is in `params` is data.
        (
            r#"{"capabilities": {"extensions": [{"uri": "", "required": false, "description": "", "params": {"b": "", "a": [], "c": null, "d": {}}}]}}"#,
            r#""capabilities":{"extensions":[{"params":{"a":[],"b":"","c":null,"d":{}}}]}"#,
        ),
        // Security.
        (
            r#"{"securityRequirements": [{"schemes": {"x": {"list": []}}}, {"schemes": {}}]}"#,
            r#""securityRequirements":[{"schemes":{"x":{}}},{}]"#,
        ),
        (
            r#"{"securitySchemes": {"m": {"mtlsSecurityScheme": {"description": ""}}, "e": {}}}"#,
            r#""securitySchemes":{"e":{},"m":{"mtlsSecurityScheme":{}}}"#,
        ),
        (
            r#"{"securitySchemes": {"o": {"oauth2SecurityScheme": {"oauth2MetadataUrl": "", "flows": {"clientCredentials": {"tokenUrl": "t", "refreshUrl": "", "scopes": {}}, "implicit": {"scopes": {}}}}}}}"#,
            r#""securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{},"tokenUrl":"t"},"implicit":{}}}}}"#,
        ),
        (
            r#"{"securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {"authorizationCode": {"pkceRequired": false, "scopes": {"a": ""}}}}}}}"#,
            r#"{"authorizationCode":{"authorizationUrl":"","scopes":{"a":""},"tokenUrl":""}}"#,
        ),
        // Skills.
        (
            r#"{"skills": [{"id": "s", "examples": [], "inputModes": []}]}"#,
            r#""skills":[{"description":"","id":"s","name":"","tags":[]}]"#,
        ),
        // null is absence, but not of what is no field.
        (
            r#"{"provider": null, "skills": null, "unknown": null}"#,
            r#""skills":[],"supportedInterfaces":[],"unknown":null"#,
        ),
        // What has another type than the field is somebody's data.
        (
            r#"{"skills": "", "version": [], "provider": 0}"#,
            r#""provider":0,"skills":"","supportedInterfaces":[],"version":[]"#,
        ),
    ] {
        let payload = String::from_utf8(payload(given)).unwrap();
        assert!(payload.contains(specified), "{given}\n{payload}");
    }
}

#[test]
fn signatures_are_left_out_at_the_top_alone() {
    let card = r#"{"signatures": [1], "x": {"signatures": [2]}}"#;
    for payload in forms(card) {
        assert!(!payload.contains("[1]"), "{payload}");
    }
    assert!(forms(card)[0].contains(r#""x":{"signatures":[2]}"#));
}

/// A card in which the forms differ.
const EMPTIES: &str = r#"{
    "name": "A", "description": "", "version": "1", "documentationUrl": "",
    "supportedInterfaces": [{"url": "https://agent.example.com/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": ""}],
    "capabilities": {"streaming": false, "extensions": [{"uri": "e", "required": false, "params": {"a": "", "n": null}}]},
    "securityRequirements": [{"schemes": {"x": {"list": []}}}],
    "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "S", "description": "s"}]
}"#;

#[test]
fn the_forms_of_other_signers_count_too() {
    let [specified, cleaned, given, unfilled, proto] = [
        r#"{"capabilities":{"extensions":[{"params":{"a":"","n":null},"uri":"e"}],"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"","documentationUrl":"","name":"A","securityRequirements":[{"schemes":{"x":{}}}],"skills":[{"description":"s","id":"s","name":"S","tags":[]}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agent.example.com/a2a"}],"version":"1"}"#,
        r#"{"capabilities":{"extensions":[{"uri":"e"}],"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"name":"A","skills":[{"description":"s","id":"s","name":"S"}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agent.example.com/a2a"}],"version":"1"}"#,
        r#"{"capabilities":{"extensions":[{"params":{"a":"","n":null},"required":false,"uri":"e"}],"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"","documentationUrl":"","name":"A","securityRequirements":[{"schemes":{"x":{"list":[]}}}],"skills":[{"description":"s","id":"s","name":"S"}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"","url":"https://agent.example.com/a2a"}],"version":"1"}"#,
        r#"{"capabilities":{"extensions":[{"params":{"a":"","n":null},"uri":"e"}],"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"","documentationUrl":"","name":"A","securityRequirements":[{"schemes":{"x":{}}}],"skills":[{"description":"s","id":"s","name":"S"}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agent.example.com/a2a"}],"version":"1"}"#,
        r#"{"capabilities":{"extensions":[{"params":{"a":"","n":null},"uri":"e"}],"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"documentationUrl":"","name":"A","securityRequirements":[{"schemes":{"x":{}}}],"skills":[{"description":"s","id":"s","name":"S"}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agent.example.com/a2a"}],"version":"1"}"#,
    ];
    for payload in [specified, cleaned, given, unfilled, proto] {
        assert_eq!(word(&verifier(), signed_as(EMPTIES, payload)), Ok(()), "{payload}");
        let strictly = word(&strict(), signed_as(EMPTIES, payload));
        assert_eq!(strictly.is_ok(), payload == specified, "{payload}");
    }
    // Anything else is another card.
    for payload in [cleaned.replace("\"streaming\":false", ""), specified.replace("\"A\"", "\"B\""), "{}".into()] {
        let why = refusal(signed_as(EMPTIES, &payload));
        assert_eq!(why, "its signature does not count: key ed did not sign this content");
    }
}

/// Members of no version of the protocol's, or of an older one.
fn and(card: &str, members: &str) -> String {
    card.replacen('{', &format!("{{{members},"), 1)
}

#[test]
fn fields_that_nobody_knows_may_be_unsigned_if_they_change_nothing() {
    for members in [
        r#""x-note": {"a": [1, 2]}"#,
        r#""preferredTransport": "JSONRPC", "additionalInterfaces": []"#,
        r#""security": [{"x": []}]"#,
    ] {
        let card = and(CARD, members);
        assert_eq!(word(&verifier(), signed(&card)), Ok(()), "signed with them");
        assert_eq!(word(&strict(), signed(&card)), Ok(()), "signed with them");
        let unsigned = with(&card, &[entry(HEADER, payload(CARD))]);
        assert_eq!(word(&verifier(), &unsigned), Ok(()), "{members}");
        assert_eq!(
            word(&strict(), &unsigned).unwrap_err(),
            "its signature does not count: key ed did not sign this content"
        );
    }
}

#[test]
fn fields_of_older_versions_that_change_how_it_reads_must_be_signed() {
    for members in [
        // One more interface: where the calls of an older client go.
        r#""url": "https://agent.example.com/old", "preferredTransport": "JSONRPC", "protocolVersion": "0.3""#,
        // The same place, in another version than the signed one is.
        r#""url": "https://agent.example.com/a2a", "preferredTransport": "JSONRPC", "protocolVersion": "0.3.0""#,
    ] {
        let card = and(CARD, members);
        assert_eq!(word(&verifier(), signed(&card)), Ok(()), "signed with them");
        let unsigned = with(&card, &[entry(HEADER, payload(CARD))]);
        assert_eq!(refusal(unsigned), "its signature does not count: key ed signed less than the card says");
    }
}

/// The cleaned form leaves out what is empty, but not of fields that only an older reader understands.
#[test]
fn no_empty_field_of_an_older_version_slips_in() {
    let cleaned = |card: &str| forms(card)[1].clone();
    let signed = |card: &str| signed_as(card, &cleaned(EMPTIES));
    assert_eq!(word(&verifier(), signed(EMPTIES)), Ok(()));
    for members in [r#""url": """#, r#""url": "", "protocolVersion": """#, r#""url": {}, "preferredTransport": """#] {
        let card = and(EMPTIES, members);
        assert_ne!(cleaned(&card), cleaned(EMPTIES), "{members}");
        let node = |card: &str| crate::card::AgentCard::read(card.as_bytes());
        let harmless = node(&card).is_ok_and(|card| card.says_the_same_as(&node(EMPTIES).unwrap()));
        assert_eq!(word(&verifier(), signed(&card)).is_ok(), harmless, "{members}");
    }
    let nested = and(EMPTIES, r#""additionalInterfaces": [{"url": "", "transport": "JSONRPC"}]"#);
    assert!(cleaned(&nested).contains(r#"[{"transport":"JSONRPC","url":""}]"#));
}

#[test]
fn an_older_card_is_signed_as_it_stands() {
    let card = r#"{"name": "A", "description": "d", "url": "https://agent.example.com/a2a", "version": "1", "protocolVersion": "0.3.0",
        "capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}"#;
    let payload = r#"{"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"d","name":"A","protocolVersion":"0.3.0","skills":[],"url":"https://agent.example.com/a2a","version":"1"}"#;
    assert_eq!(word(&verifier(), signed_as(card, payload)), Ok(()));
    let moved = signed_as(card, payload).replace("agent.example.com", "evil.example.com");
    assert_eq!(refusal(moved), "its signature does not count: key ed did not sign this content");
    let without = payload.replace(r#""url":"https://agent.example.com/a2a","#, "");
    assert!(word(&verifier(), signed_as(card, &without)).is_err(), "the URL must be signed");
}
