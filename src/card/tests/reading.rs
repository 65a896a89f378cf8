//! What is read out of a card, what is refused, and what is only noted.

use serde_json::{Value, json};

use super::{WHOLE, WHOLE_0_3, changed, read, warnings};
use crate::{
    call::{Capability, ProtocolVersion},
    card::{Absence, AgentCard, CardBinding, CardFlaw, CardVersion, JsonType, NotJson, Place, WarningKind},
    outcome::Class,
};

fn flaw(text: &str) -> CardFlaw {
    match AgentCard::read(text.as_bytes()) {
        Ok(_) => panic!("read: {text}"),
        Err(flaw) => flaw,
    }
}

fn missing(text: &str) -> (String, Absence) {
    match flaw(text) {
        CardFlaw::MissingField { path, why } => (path.into(), why),
        other => panic!("{other}: {text}"),
    }
}

/// The member at a path like `/capabilities/extensions/0`, replaced.
fn with(text: &str, pointer: &str, value: Value) -> String {
    changed(text, |card| *card.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value)
}

fn without(text: &str, pointer: &str) -> String {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    changed(text, |card| {
        card.pointer_mut(parent).and_then(Value::as_object_mut).and_then(|map| map.remove(name)).unwrap();
    })
}

#[test]
fn a_whole_card_is_read_without_a_warning() {
    let card = read(WHOLE);
    assert_eq!(warnings(&card), [""; 0]);
    assert_eq!((card.strict(), card.more_warnings()), (Ok(()), 0));
    assert_eq!((card.name(), card.description(), card.version()), ("Probe agent", "test", "1.0.0"));
    let [interface] = card.interfaces() else { panic!() };
    assert_eq!(interface.url(), "https://agent.example.com/a2a");
    assert_eq!(interface.binding(), &CardBinding::JsonRpc);
    assert_eq!(interface.version(), &CardVersion::Known(ProtocolVersion::V1_0));
    assert_eq!((interface.tenant(), interface.place()), (Some("acme"), Place::Supported(0)));
    assert!(card.declares(Capability::Streaming) && card.declares(Capability::ExtendedAgentCard));
    assert!(!card.declares(Capability::PushNotifications));
    let extension = card.extension("https://example.com/x/v1").unwrap();
    assert!(extension.is_required());
    assert_eq!(extension.params(), Some(json!({"a": [1]})));
    let skill = card.skill("echo").unwrap();
    assert_eq!((skill.name(), skill.description()), ("Echo", "echoes"));
    assert_eq!((&*skill.tags()[0], &*skill.examples()[0]), ("t", "say hi"));
    assert_eq!((&*skill.input_modes()[0], &*skill.output_modes()[0]), ("text/plain", "audio/wav"));
    assert_eq!(card.default_input_modes().len(), 2);
    assert_eq!(*card.default_output_modes(), [Box::from("text/plain")]);
    assert_eq!(card.signatures(), 1);
    assert!(card.skill("other").is_none() && card.extension("other").is_none());
}

#[test]
fn a_whole_card_of_0_3_is_read_without_a_warning() {
    let card = read(WHOLE_0_3);
    assert_eq!(warnings(&card), [""; 0]);
    let interfaces: Vec<_> =
        card.interfaces().iter().map(|i| (i.url(), i.binding().as_str(), i.version().to_string(), i.place())).collect();
    assert_eq!(
        interfaces,
        [
            ("https://agent.example.com/a2a", "JSONRPC", "0.3".into(), Place::Url),
            // The main interface stands in the list once more, and is left out.
            ("https://agent.example.com/rest", "HTTP+JSON", "0.3".into(), Place::Additional(1)),
        ]
    );
    assert!(card.declares(Capability::Streaming) && card.declares(Capability::ExtendedAgentCard));
}

#[test]
fn a_card_for_both_versions_is_read_as_both() {
    let text = changed(WHOLE, |card| {
        let old: Value = serde_json::from_str(WHOLE_0_3).unwrap();
        for name in ["protocolVersion", "url", "preferredTransport", "additionalInterfaces", "security"] {
            card[name] = old[name].clone();
        }
        card["supportedInterfaces"].as_array_mut().unwrap().push(json!({
            "url": "https://agent.example.com/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"
        }));
    });
    let card = read(&text);
    assert_eq!(warnings(&card), [""; 0]);
    let places: Vec<_> = card.interfaces().iter().map(|i| (i.place(), i.version().to_string())).collect();
    assert_eq!(
        places,
        [
            (Place::Supported(0), "1.0".into()),
            (Place::Supported(1), "0.3".into()),
            // additionalInterfaces[0] repeats it, additionalInterfaces[1] is supportedInterfaces[1].
            (Place::Url, "0.3".into()),
        ]
    );
    // Its fields of 1.0 are still required.
    assert_eq!(missing(&without(&text, "/skills")).0, "skills");
}

#[test]
fn a_homepage_does_not_make_an_old_interface() {
    let card = read(&changed(WHOLE, |card| card["url"] = "https://example.com/home".into()));
    assert_eq!(card.interfaces().len(), 1);
    assert_eq!(warnings(&card), ["unknown_field at url"]);
}

#[test]
fn each_required_field_of_1_0_is_missed_in_order() {
    let order = [
        "supportedInterfaces",
        "supportedInterfaces[0].url",
        "supportedInterfaces[0].protocolBinding",
        "supportedInterfaces[0].protocolVersion",
        "name",
        "description",
        "version",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    ];
    let pointer = |path: &str| format!("/{}", path.replace("[0].", "/0/"));
    for (index, path) in order.iter().enumerate() {
        assert_eq!(missing(&without(WHOLE, &pointer(path))), ((*path).into(), Absence::Absent));
        // Of several that are missing it is the first that is named.
        let mut text = WHOLE.to_owned();
        for later in order.iter().skip(index).rev() {
            text = without(&text, &pointer(later));
        }
        assert_eq!(missing(&text).0, *path);
        // Another type says no more than nothing.
        let (wrong, found) =
            if path.contains("Modes") { (json!({}), JsonType::Object) } else { (json!(7), JsonType::Number) };
        let (named, why) = missing(&with(WHOLE, &pointer(path), wrong));
        assert!(matches!(why, Absence::WrongType { found: f, .. } if f == found), "{path}: {why:?}");
        assert_eq!(named, *path);
    }
}

#[test]
fn null_is_missing_where_a_value_is_needed_and_a_warning_for_lists() {
    for path in ["name", "description", "version", "capabilities", "supportedInterfaces"] {
        assert_eq!(missing(&with(WHOLE, &format!("/{path}"), Value::Null)), (path.into(), Absence::Null));
    }
    for name in ["url", "protocolBinding", "protocolVersion"] {
        let text = with(WHOLE, &format!("/supportedInterfaces/0/{name}"), Value::Null);
        assert_eq!(missing(&text), (format!("supportedInterfaces[0].{name}"), Absence::Null));
    }
    for path in ["defaultInputModes", "defaultOutputModes", "skills"] {
        for (value, kind) in [(Value::Null, WarningKind::NullList), (json!([]), WarningKind::EmptyList)] {
            let card = read(&with(WHOLE, &format!("/{path}"), value));
            let [warning] = card.warnings() else { panic!("{:?}", card.warnings()) };
            assert_eq!((warning.path(), warning.what()), (path, kind));
            assert_eq!(card.strict(), Err(warning));
        }
    }
    assert_eq!(
        missing(&with(WHOLE, "/supportedInterfaces", json!([]))),
        ("supportedInterfaces".into(), Absence::Empty)
    );
}

#[test]
fn what_servers_written_in_go_leave_null() {
    // a2a-go's own card, before it was mended.
    let card = read(
        r#"{"supportedInterfaces":[{"url":"http://127.0.0.1:9199","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],
        "capabilities":{"streaming":true},"defaultInputModes":null,"defaultOutputModes":null,"description":"Gathers facts",
        "name":"researcher","skills":null,"version":"1.0.0"}"#,
    );
    assert_eq!(
        warnings(&card),
        ["null_list at defaultInputModes", "null_list at defaultOutputModes", "null_list at skills"]
    );
    assert!(card.skills().is_empty());
}

#[test]
fn empty_texts_say_nothing_where_a_call_needs_them() {
    for name in ["url", "protocolBinding", "protocolVersion"] {
        let text = with(WHOLE, &format!("/supportedInterfaces/0/{name}"), "".into());
        assert_eq!(missing(&text), (format!("supportedInterfaces[0].{name}"), Absence::Empty));
    }
    assert_eq!(missing(r#"{"url": ""}"#), ("url".into(), Absence::Empty));
    // §8.4.1 shows an empty description, and the empty tenant is none.
    let card = read(&with(WHOLE, "/description", "".into()));
    assert_eq!((card.description(), card.strict()), ("", Ok(())));
    let card = read(&with(WHOLE, "/supportedInterfaces/0/tenant", "".into()));
    assert_eq!((card.interfaces()[0].tenant(), card.strict()), (None, Ok(())));
}

#[test]
fn a_tenant_is_never_guessed() {
    let tenant = |value| with(WHOLE, "/supportedInterfaces/0/tenant", value);
    assert_eq!(read(&tenant(" Acme ".into())).interfaces()[0].tenant(), Some(" Acme "));
    assert_eq!(read(&tenant(Value::Null)).interfaces()[0].tenant(), None);
    assert_eq!(read(&without(WHOLE, "/supportedInterfaces/0/tenant")).interfaces()[0].tenant(), None);
    assert_eq!(missing(&tenant(json!(42))).0, "supportedInterfaces[0].tenant");
}

#[test]
fn entries_of_another_type() {
    let interfaces = |value| with(WHOLE, "/supportedInterfaces", value);
    assert_eq!(missing(&interfaces(json!([null]))), ("supportedInterfaces[0]".into(), Absence::Null));
    let (path, why) =
        missing(&interfaces(json!([{"url": "u", "protocolBinding": "B", "protocolVersion": "1.0"}, "x"])));
    assert_eq!(path, "supportedInterfaces[1]");
    assert_eq!(why, Absence::WrongType { expected: JsonType::Object, found: JsonType::Text });
    assert_eq!(
        flaw(&interfaces(json!(["x"]))).to_string(),
        "the card's supportedInterfaces[0] is a text, where an object is due"
    );
}

#[test]
fn what_is_no_json_object() {
    for (bytes, why) in [
        (&b""[..], NotJson::Empty),
        (b" \n\t ", NotJson::Empty),
        (b"\xff{}", NotJson::NotUtf8),
        (b"{\"name\": \"\xff\"}", NotJson::NotUtf8),
        (b"<html>", NotJson::Syntax { line: 1, column: 1 }),
        (b"{\n\"name\": tru}", NotJson::Syntax { line: 2, column: 12 }),
        (b"{", NotJson::Syntax { line: 1, column: 1 }),
        (b"{} x", NotJson::Syntax { line: 1, column: 4 }),
        (b"{}{}", NotJson::Syntax { line: 1, column: 3 }),
        (b"{'a': 1}", NotJson::Syntax { line: 1, column: 2 }),
        (b"[]", NotJson::NotAnObject(JsonType::List)),
        (b"null", NotJson::NotAnObject(JsonType::Null)),
        (b"\"card\"", NotJson::NotAnObject(JsonType::Text)),
        (b"404", NotJson::NotAnObject(JsonType::Number)),
    ] {
        let flaw = AgentCard::read(bytes).unwrap_err();
        assert_eq!(flaw, CardFlaw::NotJson(why), "{bytes:?}");
        assert_eq!(flaw.class(), Class::NotJson);
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let card = read(&format!("\u{feff}{WHOLE}"));
    assert_eq!(warnings(&card), ["byte_order_mark"]);
    assert!(card.strict().is_err());
}

#[test]
fn a_name_that_decides_must_not_stand_twice() {
    let twice = |place: &str, member: &str| WHOLE.replacen(place, &format!("{place} {member},"), 1);
    for (text, path) in [
        (twice("{", r#""supportedInterfaces": []"#), "supportedInterfaces"),
        // However it is spelled.
        (twice("{", r#""supportedInterf\u0061ces": []"#), "supportedInterfaces"),
        (twice("{", r#""capabilities": {}"#), "capabilities"),
        (twice("{", r#""signatures": []"#), "signatures"),
        (twice(r#""supportedInterfaces": [{"#, r#""url": "https://evil.example.com""#), "supportedInterfaces[0].url"),
        (twice(r#""supportedInterfaces": [{"#, r#""tenant": "x""#), "supportedInterfaces[0].tenant"),
        (twice(r#""capabilities": {"#, r#""streaming": false"#), "capabilities.streaming"),
        (twice(r#""extensions": [{"#, r#""required": false"#), "capabilities.extensions[0].required"),
    ] {
        let flaw = flaw(&text);
        assert_eq!(flaw, CardFlaw::RepeatedField { path: path.into() }, "{text}");
        assert_eq!((flaw.class(), flaw.field()), (Class::NotJson, Some(path)));
    }
    // What decides nothing is only noted.
    let card = read(&twice(r#""skills": [{"#, r#""name": "Other""#));
    assert_eq!(warnings(&card), ["repeated at skills[0].name"]);
    assert_eq!(card.skill("echo").unwrap().name(), "Echo");
}

#[test]
fn absent_and_odd_flags_are_false() {
    for (value, warning) in [
        (json!({}), None),
        (json!({"streaming": null}), None),
        (json!({"streaming": false}), None),
        (json!({"streaming": "true"}), Some("wrong_type at capabilities.streaming")),
        (json!({"streaming": 1}), Some("wrong_type at capabilities.streaming")),
        (json!({"streaming": {}}), Some("wrong_type at capabilities.streaming")),
    ] {
        let card = read(&with(WHOLE, "/capabilities", value));
        assert!(!card.declares(Capability::Streaming));
        assert_eq!(warnings(&card), warning.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn extensions_that_nobody_can_use_are_left_out() {
    let card = read(&with(
        WHOLE,
        "/capabilities/extensions",
        json!([
            {"uri": "a"}, {"uri": "b", "required": null, "params": null}, {"required": true}, {"uri": ""}, "c", null,
            {"uri": "d", "required": "yes", "params": [1], "extra": 1},
        ]),
    ));
    let extensions: Vec<_> = card.extensions().iter().map(|e| (e.uri(), e.is_required(), e.params())).collect();
    assert_eq!(extensions, [("a", false, None), ("b", false, None), ("d", false, None)]);
    assert_eq!(
        warnings(&card),
        [
            "missing at capabilities.extensions[2].uri",
            "missing at capabilities.extensions[3].uri",
            "wrong_type at capabilities.extensions[4]",
            "missing at capabilities.extensions[5]",
            "unknown_field at capabilities.extensions[6].extra",
            "wrong_type at capabilities.extensions[6].params",
            "wrong_type at capabilities.extensions[6].required",
        ]
    );
    let card = read(&with(WHOLE, "/capabilities/extensions", Value::Null));
    assert_eq!((warnings(&card), card.strict()), (vec!["null at capabilities.extensions".into()], Ok(())));
    // Too deep to be read is not too deep to be carried.
    let deep = format!("{}{}", r#"{"a":"#.repeat(500), format_args!("1{}", "}".repeat(500)));
    let card = read(&WHOLE.replace(r#"{"a": [1]}"#, &deep));
    assert_eq!(card.extensions()[0].params(), None);
}

#[test]
fn skills_are_hints() {
    let card = read(&with(
        WHOLE,
        "/skills",
        json!([
            {"id": "a"}, {"name": "no id"}, null, 7,
            {"id": "b", "name": 1, "description": "d", "tags": null, "examples": null, "inputModes": "text"},
            {"id": "c", "name": "n", "description": "d", "tags": [1, "t", null], "future": 1},
            {"id": "d", "name": "n", "description": "d", "tags": []},
        ]),
    ));
    let ids: Vec<_> = card.skills().iter().map(|skill| skill.id()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(*card.skill("c").unwrap().tags(), [Box::from("t")]);
    assert_eq!(
        warnings(&card),
        [
            "missing at skills[0].name",
            "missing at skills[0].description",
            "missing at skills[0].tags",
            "missing at skills[1].id",
            "missing at skills[2]",
            "wrong_type at skills[3]",
            "wrong_type at skills[4].name",
            "null_list at skills[4].tags",
            "null at skills[4].examples",
            "wrong_type at skills[4].inputModes",
            "unknown_field at skills[5].future",
            "wrong_type at skills[5].tags[0]",
            "wrong_type at skills[5].tags[2]",
            "empty_list at skills[6].tags",
        ]
    );
}

#[test]
fn security_blocks_refuse_nothing() {
    let security = |schemes: Value, requirements: Value| {
        let text = with(WHOLE, "/securitySchemes", schemes);
        warnings(&read(&with(&text, "/securityRequirements", requirements)))
    };
    let fine = security(
        json!({
            "a": {"apiKeySecurityScheme": {}}, "b": {"httpAuthSecurityScheme": {}}, "c": {"oauth2SecurityScheme": {}},
            "d": {"openIdConnectSecurityScheme": {}}, "e": {"mtlsSecurityScheme": {}},
        }),
        json!([{"schemes": {"a": {"list": []}}}, {}, {"schemes": null}]),
    );
    assert_eq!(fine, [""; 0]);
    let odd = security(
        json!({
            "a": null, "b": [], "c": {}, "d": {"oauth2SecurityScheme": []}, "e": {"type": "http"},
            "f": {"apiKeySecurityScheme": {}, "mtlsSecurityScheme": {}}, "new\nline": {"xSecurityScheme": {}},
        }),
        json!("none"),
    );
    assert_eq!(
        odd,
        [
            "odd_security at securitySchemes.a",
            "odd_security at securitySchemes.b",
            "odd_security at securitySchemes.c",
            "odd_security at securitySchemes.d",
            "odd_security at securitySchemes.e",
            "odd_security at securitySchemes.f",
            "unknown_security_scheme at securitySchemes.new\\nline",
            "odd_security at securityRequirements",
        ]
    );
    let old = changed(WHOLE_0_3, |card| {
        card["securitySchemes"] =
            json!({"a": {"type": "quantum"}, "b": {"scheme": "bearer"}, "c": {"type": "mutualTLS"}});
        card["security"] = json!([{"a": []}, "b"]);
    });
    assert_eq!(
        warnings(&read(&old)),
        [
            "unknown_security_scheme at securitySchemes.a",
            "odd_security at securitySchemes.b",
            "odd_security at security[1]",
        ]
    );
}

#[test]
fn what_is_unknown_is_no_fault_of_the_card() {
    let card = read(&changed(WHOLE, |card| {
        card["future"] = json!({"x": [[[]]]});
        card["capabilities"]["teleport"] = json!(true);
        card["supportedInterfaces"][0]["priority"] = json!(1);
        card["securitySchemes"]["x"] = json!({"quantumSecurityScheme": {}});
        card["supportsAuthenticatedExtendedCard"] = json!(true);
        card["capabilities"]["extendedAgentCard"] = json!(false);
    }));
    assert_eq!(
        warnings(&card),
        [
            "unknown_field at supportedInterfaces[0].priority",
            "unknown_field at capabilities.teleport",
            "unknown_security_scheme at securitySchemes.x",
            "unknown_field at future",
            "unknown_field at supportsAuthenticatedExtendedCard",
        ]
    );
    assert_eq!(card.strict(), Ok(()));
    assert!(!card.declares(Capability::ExtendedAgentCard));
}

#[test]
fn bindings_and_versions_that_nobody_knows_stay_as_they_are() {
    let entry = |binding: &str, version: &str| {
        with(
            WHOLE,
            "/supportedInterfaces/0",
            json!({"url": "https://a", "protocolBinding": binding, "protocolVersion": version}),
        )
    };
    let card = read(&entry("ACME-BUS", "latest"));
    assert_eq!(card.interfaces()[0].binding(), &CardBinding::Other("ACME-BUS".into()));
    assert_eq!(card.interfaces()[0].version(), &CardVersion::Other("latest".into()));
    assert!(card.warnings().is_empty());
    let card = read(&entry("jsonrpc", "1.0.0"));
    assert_eq!(card.interfaces()[0].binding(), &CardBinding::JsonRpc);
    assert_eq!(warnings(&card), ["binding_case at supportedInterfaces[0].protocolBinding"]);
}

#[test]
fn before_1_0_only_the_url_is_required() {
    let card = read(r#"{"url": "https://agent.example.com/"}"#);
    let [interface] = card.interfaces() else { panic!() };
    assert_eq!((interface.binding(), interface.version().to_string()), (&CardBinding::JsonRpc, "0.2".into()));
    assert_eq!((card.name(), card.skills().len()), ("", 0));
    assert!(!card.declares(Capability::Streaming));
    assert_eq!(card.strict().unwrap_err().what(), WarningKind::Missing);

    for text in [
        r#"{"protocolVersion": "0.3.0"}"#,
        r#"{"preferredTransport": "JSONRPC", "name": "n"}"#,
        r#"{"additionalInterfaces": [{"url": "https://a", "transport": "GRPC"}]}"#,
    ] {
        assert_eq!(missing(text), ("url".into(), Absence::Absent), "{text}");
    }
    assert_eq!(missing(&with(WHOLE_0_3, "/url", Value::Null)), ("url".into(), Absence::Null));
    assert_eq!(missing(&with(WHOLE_0_3, "/url", json!(["https://a"]))).0, "url");
}

#[test]
fn the_version_of_an_old_card() {
    let version = |members: &str| {
        let card = read(&format!(r#"{{"url": "https://a/"{members}}}"#));
        card.interfaces()[0].version().to_string()
    };
    for (members, expected) in [
        ("", "0.2"),
        (r#", "protocolVersion": null"#, "0.2"),
        (r#", "supportsAuthenticatedExtendedCard": true"#, "0.2"),
        (r#", "protocolVersion": "0.2.9", "preferredTransport": "JSONRPC""#, "0.2"),
        (r#", "protocolVersion": "0.3""#, "0.3"),
        (r#", "preferredTransport": "HTTP+JSON""#, "0.3"),
        (r#", "additionalInterfaces": []"#, "0.3"),
        (r#", "additionalInterfaces": null"#, "0.2"),
        (r#", "protocolVersion": "newest""#, "\"newest\""),
        (r#", "protocolVersion": """#, "\"\""),
        (r#", "protocolVersion": 0.3"#, "\"0.3\""),
    ] {
        assert_eq!(version(members), expected, "{members}");
    }
}

#[test]
fn a_card_that_says_1_0_in_the_form_of_0_3_lacks_its_interfaces() {
    for version in ["1.0", "1.0.0", "2.0"] {
        let text = with(WHOLE_0_3, "/protocolVersion", version.into());
        assert_eq!(missing(&text), ("supportedInterfaces".into(), Absence::Absent));
    }
}

#[test]
fn an_old_card_with_an_empty_list_of_new_interfaces_is_old() {
    for (value, warning) in [(Value::Null, "null_list"), (json!([]), "empty_list")] {
        let card = read(&changed(WHOLE_0_3, |card| card["supportedInterfaces"] = value));
        assert_eq!(warnings(&card), [format!("{warning} at supportedInterfaces")]);
        assert_eq!(card.interfaces()[0].place(), Place::Url);
    }
    let text = changed(WHOLE_0_3, |card| card["supportedInterfaces"] = json!({}));
    assert_eq!(missing(&text).0, "supportedInterfaces");
}

#[test]
fn additional_interfaces_that_lack_something_are_left_out() {
    let card = read(&with(
        WHOLE_0_3,
        "/additionalInterfaces",
        json!([{"url": "https://a/x"}, {"transport": "GRPC"}, null, {"url": "https://a/y", "transport": "grpc"}, {}]),
    ));
    let urls: Vec<_> = card.interfaces().iter().map(|interface| interface.url()).collect();
    assert_eq!(urls, ["https://agent.example.com/a2a", "https://a/y"]);
    assert_eq!(
        warnings(&card),
        [
            "missing at additionalInterfaces[0].transport",
            "missing at additionalInterfaces[1].url",
            "missing at additionalInterfaces[2]",
            "binding_case at additionalInterfaces[3].transport",
            "missing at additionalInterfaces[4].url",
            "missing at additionalInterfaces[4].transport",
            "grpc_url_has_path at additionalInterfaces[3].url",
        ]
    );
    let card = read(&with(WHOLE_0_3, "/preferredTransport", json!(["GRPC"])));
    assert_eq!(card.interfaces()[0].binding(), &CardBinding::JsonRpc);
    assert_eq!(warnings(&card), ["wrong_type at preferredTransport"]);
}

#[test]
fn an_escape_that_stands_for_no_character() {
    let odd = |name: &str, value: &str| {
        WHOLE.replacen(&format!("{name}: \"{value}"), &format!("{name}: \"\\ud800{value}"), 1)
    };
    assert_eq!(missing(&odd("\"url\"", "https://agent")), ("supportedInterfaces[0].url".into(), Absence::Unreadable));
    // What is for people only is not missing for that.
    for (name, value) in [("\"name\"", "Probe"), ("\"version\"", "1.0.0")] {
        let card = read(&odd(name, value));
        assert_eq!(warnings(&card), [format!("half_character at {}", name.trim_matches('"'))]);
        assert!(card.strict().is_err());
    }
    assert_eq!(read(&odd("\"name\"", "Probe")).name(), "\u{fffd}Probe agent");
    assert_eq!(warnings(&read(&odd("\"name\"", "Echo"))), ["wrong_type at skills[0].name"]);
    assert_eq!(flaw("{\"\\ud800\": 1}"), CardFlaw::NotJson(NotJson::UnreadableName));
}

#[test]
fn messages_are_one_line_whatever_the_card_holds() {
    let text = with(WHOLE, "/supportedInterfaces/0/url", "/a\nb\u{202e}\"c".into());
    let card = read(&text);
    let agent = crate::card::Origin::parse("https://agent.example.com").unwrap();
    let flaw = card.interfaces()[0].check(&agent, &crate::card::UrlPolicy::strict()).unwrap_err();
    assert_eq!(
        flaw.to_string(),
        "the card's URL \"/a\\nb\\u{202e}\\\"c\" holds white space, a quote, a backslash or the like"
    );
    let long = with(WHOLE, "/supportedInterfaces/0/url", format!("/{}", "x".repeat(9999)).into());
    let flaw = read(&long).interfaces()[0].check(&agent, &crate::card::UrlPolicy::strict()).unwrap_err();
    assert!(flaw.to_string().len() < 300);
}
