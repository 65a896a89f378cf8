//! A card that was changed after it was signed is not believed, wherever the change is.

use serde_json::{Value, json};

use crate::{
    fixtures::{put, read, store, why},
    support::Cards,
};

/// All places in a card: the JSON pointers of its values, but for the signatures.
fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| *name != "signatures") {
                places(value, format!("{at}/{name}"), all);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, format!("{at}/{index}"), all);
            }
        }
        _ => {}
    }
    if !at.is_empty() {
        all.push(at);
    }
}

fn changed(value: &Value) -> Value {
    match value {
        Value::Null => json!(1),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_f64().unwrap() + 1.0),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(items) => Value::Array(items.iter().chain([&json!("more")]).cloned().collect()),
        // Whatever it is a name of, another value than it had.
        Value::Object(members) => {
            let mut members = members.clone();
            let name = members.keys().next().unwrap().clone();
            members.insert(name, json!(["other"]));
            Value::Object(members)
        }
    }
}

fn without(card: &Value, place: &str) -> Value {
    let mut card = card.clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    match card.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.remove(name)),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        _ => unreachable!("a place has a parent"),
    }
    card
}

#[tokio::test]
async fn no_value_can_be_changed_or_taken_away() {
    let store = store(&Cards::default(), false);
    for path in ["python/plain.eddsa.json", "python/plain.es256.json", "js/plain.rs256.json", "js/unicode.eddsa.json"] {
        let card: Value = serde_json::from_str(&read(path)).unwrap();
        assert!(put(&store, card.to_string()).await.is_ok(), "{path} can be written anew");
        let mut all = Vec::new();
        places(&card, String::new(), &mut all);
        assert!(all.len() > 25, "{path}: {all:?}");
        for place in all {
            let value = card.pointer(&place).unwrap();
            let says_nothing = [json!(null), json!(""), json!([]), json!({})].contains(value)
                // No `optional` field, so that false is the same as nothing.
                || (place.ends_with("/required") && *value == json!(false));
            let mut other = card.clone();
            *other.pointer_mut(&place).unwrap() = if says_nothing { json!("something") } else { changed(value) };
            assert!(put(&store, other.to_string()).await.is_err(), "{path} {place} changed");
            if !says_nothing {
                let less = without(&card, &place);
                assert!(put(&store, less.to_string()).await.is_err(), "{path} {place} taken away");
            }
        }
    }
}

#[tokio::test]
async fn nothing_known_can_be_added() {
    let store = store(&Cards::default(), false);
    let card: Value = serde_json::from_str(&read("python/plain.es256.json")).unwrap();
    for (place, name, value) in [
        ("/capabilities", "extendedAgentCard", json!(true)),
        ("/capabilities", "extendedAgentCard", json!(false)),
        ("/supportedInterfaces/0", "tenant", json!("other")),
        ("", "securityRequirements", json!([{"schemes": {"x": {"list": ["read"]}}}])),
        ("", "securitySchemes", json!({"x": {"httpAuthSecurityScheme": {"scheme": "Basic"}}})),
        ("/skills/0", "outputModes", json!(["text/html"])),
        ("/provider", "url", json!("https://evil.example.net")),
        // What an older reader would go by.
        ("", "url", json!("https://evil.example.net/a2a")),
    ] {
        let mut other = card.clone();
        other.pointer_mut(place).unwrap()[name] = value;
        if name == "url" && place.is_empty() {
            other["protocolVersion"] = json!("0.3.0");
        }
        let refused = put(&store, other.to_string()).await.unwrap_err();
        let why = why(refused);
        assert!(why.contains("did not sign this content") || why.contains("signed less"), "{place} {name}: {why}");
    }
}

/// The same number may be written otherwise; the next one that a double can hold is another.
#[tokio::test]
async fn numbers_count_to_the_last_bit() {
    let store = store(&Cards::default(), false);
    let card = read("js/numbers.es256.json");
    for (from, same, other) in [
        ("0.30000000000000004", "0.300000000000000041", "0.3"),
        ("1e+21", "1000000000000000000000", "999999999999999900000"),
        ("9007199254740991", "9007199254740991.0", "9007199254740992"),
        ("333333333.3333333", "333333333.33333329", "333333333.33333325"),
        ("5e-324", "4.9e-324", "0"),
        ("1.7976931348623157e+308", "17976931348623157e292", "1.7976931348623155e+308"),
        ("\"integer\":1", "\"integer\":1.000E0", "\"integer\":1.0000000000000002"),
    ] {
        assert_eq!(card.matches(from).count(), 1, "{from}");
        assert!(put(&store, card.replace(from, same)).await.is_ok(), "{from} as {same}");
        assert!(put(&store, card.replace(from, other)).await.is_err(), "{from} as {other}");
    }
}

/// How it is written is not part of it.
#[tokio::test]
async fn it_may_be_written_another_way() {
    let store = store(&Cards::default(), true);
    for path in ["python/plain.es256.json", "python/unicode.rs256.json", "js/unicode.eddsa.json"] {
        let card: Value = serde_json::from_str(&read(path)).unwrap();
        for text in [card.to_string(), serde_json::to_string_pretty(&card).unwrap(), format!("\n {card}\t")] {
            assert!(put(&store, text).await.is_ok(), "{path}");
        }
    }
    let escaped = read("python/plain.es256.json").replace("Translator", "\\u0054ranslator").replace("90.0", "9e1");
    assert!(put(&store, escaped).await.is_ok());
}
