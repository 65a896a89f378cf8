use serde_json::json;

use super::*;
use crate::wire::grpc::encode::Message;

const MAX: usize = 256 << 10;

fn read(dialect: GrpcDialect, card: &Message) -> Result<Json, CardMessageError> {
    to_json(&card.framed().unwrap(), dialect, MAX).map(|json| serde_json::from_slice(&json).unwrap())
}

fn v1(card: &Message) -> Json {
    read(GrpcDialect::V1, card).unwrap()
}

fn why(card: &Message) -> CardMessageError {
    read(GrpcDialect::V1, card).unwrap_err()
}

fn entry(key: &str, value: Message) -> Message {
    Message::new().text(1, key).message(2, value)
}

/// `google.protobuf.Value` of a number.
fn double(number: f64) -> Message {
    let mut bytes = vec![0x11];
    bytes.extend(number.to_le_bytes());
    Message::of_bytes(bytes)
}

fn append(message: Message, bytes: &[u8]) -> Message {
    Message::of_bytes([message.as_bytes(), bytes].concat())
}

fn interface(url: &str) -> Message {
    Message::new().text(1, url).text(2, "GRPC").text(3, "acme").text(4, "1.0")
}

fn plain() -> Message {
    Message::new()
        .text(1, "A")
        .text(2, "d")
        .message(3, interface("https://a.example"))
        .text(5, "1")
        .message(7, Message::new().number(1, 1))
        .text(10, "text/plain")
        .text(11, "text/plain")
        .message(12, Message::new().text(1, "s").text(2, "S").text(3, "d").text(4, "t"))
}

#[test]
fn a_card_of_1_0_with_all_there_is() {
    let number = entry("seconds", double(30.0));
    let more = entry("more", Message::new().message(5, Message::new().message(1, entry("half", double(0.5)))));
    let list = Message::new().message(1, Message::new().text(3, "x")).message(1, Message::new().number(4, 1));
    let params = Message::new()
        .message(1, number)
        .message(1, more)
        .message(1, entry("list", Message::new().message(6, list)))
        .message(1, entry("none", Message::new().number(1, 0)));
    let extension = Message::new().text(1, "https://e.example").text(2, "e").number(3, 1).message(4, params);
    let schemes = |scheme| entry("x", scheme);
    let requirement = Message::new().message(1, entry("x", Message::new().text(1, "read").text(1, "write")));
    let scopes = |number| Message::new().message(number, Message::new().text(1, "read").text(2, "to read"));
    let flow =
        append(Message::new().text(1, "https://a.example/a").text(2, "https://a.example/t"), scopes(4).as_bytes())
            .number(5, 1);
    let oauth2 = Message::new().text(1, "o").message(2, Message::new().message(1, flow)).text(3, "https://a.example/m");
    let card = plain()
        .message(4, Message::new().text(1, "https://p.example").text(2, "P"))
        .text(6, "https://a.example/docs")
        .message(7, Message::new().number(2, 0).message(3, extension).number(4, 1))
        .message(8, schemes(Message::new().message(3, oauth2)))
        .message(8, entry("key", Message::new().message(1, Message::new().text(2, "header").text(3, "X-Key"))))
        .message(9, requirement)
        .message(
            13,
            Message::new()
                .text(1, "p")
                .text(2, "s")
                .message(3, Message::new().message(1, entry("kid", Message::new().text(3, "k")))),
        )
        .text(14, "https://a.example/i.png");
    assert_eq!(
        v1(&card),
        json!({
            "name": "A", "description": "d", "version": "1",
            "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "GRPC", "tenant": "acme", "protocolVersion": "1.0"}],
            "provider": {"url": "https://p.example", "organization": "P"},
            "documentationUrl": "https://a.example/docs", "iconUrl": "https://a.example/i.png",
            "capabilities": {
                "streaming": true, "pushNotifications": false, "extendedAgentCard": true,
                "extensions": [{
                    "uri": "https://e.example", "description": "e", "required": true,
                    "params": {"seconds": 30, "more": {"half": 0.5}, "list": ["x", true], "none": null},
                }],
            },
            "securitySchemes": {
                "x": {"oauth2SecurityScheme": {
                    "description": "o", "oauth2MetadataUrl": "https://a.example/m",
                    "flows": {"authorizationCode": {
                        "authorizationUrl": "https://a.example/a", "tokenUrl": "https://a.example/t",
                        "scopes": {"read": "to read"}, "pkceRequired": true,
                    }},
                }},
                "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
            },
            "securityRequirements": [{"schemes": {"x": {"list": ["read", "write"]}}}],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}],
            "signatures": [{"protected": "p", "signature": "s", "header": {"kid": "k"}}],
        })
    );
}

#[test]
fn a_card_of_0_3() {
    let card = Message::new()
        .text(16, "0.3.0")
        .text(1, "A")
        .text(2, "d")
        .text(3, "https://a.example")
        .text(14, "GRPC")
        .message(15, Message::new().text(1, "https://a.example/rpc").text(2, "JSONRPC"))
        .text(5, "1")
        .message(7, Message::new().number(1, 1).number(2, 1))
        .message(9, Message::new().message(1, entry("x", Message::new())))
        .text(10, "text/plain")
        .message(12, Message::new().text(1, "s"))
        .number(13, 1);
    assert_eq!(
        read(GrpcDialect::V03, &card).unwrap(),
        json!({
            "protocolVersion": "0.3.0", "name": "A", "description": "d", "url": "https://a.example",
            "preferredTransport": "GRPC",
            "additionalInterfaces": [{"url": "https://a.example/rpc", "transport": "JSONRPC"}],
            "version": "1", "capabilities": {"streaming": true, "pushNotifications": true},
            "security": [{"schemes": {"x": {}}}],
            "defaultInputModes": ["text/plain"], "skills": [{"id": "s"}],
            "supportsAuthenticatedExtendedCard": true,
        })
    );
}

/// proto3: what has no presence is there with its default, and what has one is not.
#[test]
fn what_is_required_is_there_with_its_default() {
    assert_eq!(
        v1(&Message::new()),
        json!({"name": "", "description": "", "supportedInterfaces": [], "version": "", "defaultInputModes": [], "defaultOutputModes": [], "skills": []})
    );
    assert_eq!(read(GrpcDialect::V03, &Message::new()), Ok(json!({})));
    assert_eq!(v1(&Message::new().message(3, Message::new()))["supportedInterfaces"][0]["url"], "");
}

#[test]
fn the_last_of_a_kind_counts_and_messages_are_merged() {
    let card = plain()
        .text(1, "B")
        .message(7, Message::new().number(4, 1))
        .message(7, Message::new().number(1, 0))
        .message(8, entry("x", Message::new().message(1, Message::new().text(3, "one"))))
        .message(8, entry("x", Message::new().message(2, Message::new().text(2, "basic"))));
    let json = v1(&card);
    assert_eq!(json["name"], "B");
    assert_eq!(json["capabilities"], json!({"streaming": false, "extendedAgentCard": true}));
    assert_eq!(json["securitySchemes"], json!({"x": {"httpAuthSecurityScheme": {"scheme": "basic"}}}));
    assert_eq!(json["supportedInterfaces"].as_array().unwrap().len(), 1);
}

/// proto3: a member of a `oneof` that comes later is the only one, and the same one again is merged with itself.
#[test]
fn the_last_of_a_oneof_counts() {
    let flow = |number, field, text: &str| {
        Message::new().message(2, Message::new().message(number, Message::new().text(field, text)))
    };
    let merged =
        |first: &Message, second: &Message| append(Message::of_bytes(first.as_bytes().to_vec()), second.as_bytes());
    let read = |scheme: Message| v1(&plain().message(8, entry("x", scheme)))["securitySchemes"]["x"].clone();
    let (implicit, password) = (flow(3, 1, "a"), flow(4, 1, "t"));
    assert_eq!(
        read(Message::new().message(3, merged(&implicit, &password))),
        json!({"oauth2SecurityScheme": {"flows": {"password": {"tokenUrl": "t"}}}})
    );
    assert_eq!(
        read(Message::new().message(3, merged(&merged(&password, &implicit), &flow(3, 2, "r")))),
        json!({"oauth2SecurityScheme": {"flows": {"implicit": {"authorizationUrl": "a", "refreshUrl": "r"}}}})
    );
    // One that is passed over is none, and what the member before had does not come back.
    let basic = Message::new().text(1, "d").text(2, "basic");
    let again = Message::new().text(2, "bearer");
    assert_eq!(
        read(Message::new().message(2, basic).message(5, Message::new()).number(9, 1)),
        json!({"mtlsSecurityScheme": {}})
    );
    assert_eq!(
        read(Message::new().message(2, Message::new().text(1, "d")).message(5, Message::new()).message(2, again)),
        json!({"httpAuthSecurityScheme": {"scheme": "bearer"}})
    );
}

#[test]
fn unknown_fields_are_passed_over() {
    // A varint, eight bytes, four, a string, and a group with a field in it.
    let unknown = [
        0xf8, 0x07, 0x96, 0x01, 0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 0x07, 1, 2, 3, 4, 0xfa, 0x07, 1, 0xff, 0xfb,
        0x07, 0x08, 1, 0xfc, 0x07,
    ];
    let card = append(append(Message::new(), &unknown), append(plain(), &unknown).as_bytes());
    assert_eq!(v1(&card), v1(&plain()));
}

#[test]
fn numbers_as_they_stand_in_json() {
    let of = |number: f64| {
        let params = Message::new().message(1, entry("n", double(number)));
        let extension = Message::new().text(1, "u").message(4, params);
        let card = plain().message(7, Message::new().message(3, extension));
        to_json(&card.framed().unwrap(), GrpcDialect::V1, MAX).map(|json| {
            let json = String::from_utf8(json).unwrap();
            let from = json.find(r#""n":"#).unwrap() + 4;
            json[from..].split('}').next().unwrap().to_owned()
        })
    };
    for (number, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (30.0, "30"),
        (-7.0, "-7"),
        (0.25, "0.25"),
        (9_007_199_254_740_992.0, "9007199254740992"),
    ] {
        assert_eq!(of(number).as_deref(), Ok(text));
    }
    assert_eq!(of(1e300).as_deref(), Ok("1e+300"));
    for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(of(none), Err(NUMBER));
    }
}

#[test]
fn what_is_no_card_is_refused() {
    assert_eq!(why(&plain().number(1, 1)), TYPE);
    assert_eq!(why(&plain().text(7, "\u{8}")), CUT);
    assert_eq!(why(&plain().number(3, 1)), TYPE);
    assert_eq!(why(&plain().message(7, Message::new().text(1, "x"))), TYPE);
    assert_eq!(why(&plain().bytes(1, b"\xff")), UTF8);
    assert_eq!(why(&plain().message(8, Message::new().bytes(1, b"\xff"))), UTF8);
    let framed = plain().framed().unwrap();
    for length in 0..framed.len() {
        assert_eq!(to_json(&framed[..length], GrpcDialect::V1, MAX), Err(NotOneMessage), "{length}");
    }
    let [twice, compressed] = [[&framed[..], &framed].concat(), [&[1], &framed[1..]].concat()];
    assert_eq!(to_json(&twice, GrpcDialect::V1, MAX), Err(NotOneMessage));
    assert_eq!(to_json(&compressed, GrpcDialect::V1, MAX), Err(NotOneMessage));
    // Cut within the message: at the end of a field it is a card, and nowhere else.
    let whole = plain();
    let cut = |length: usize| {
        let message = Message::of_bytes(whole.as_bytes()[..length].to_vec());
        read(GrpcDialect::V1, &message)
    };
    let good = (0..whole.as_bytes().len()).filter(|&length| cut(length).is_ok()).count();
    assert_eq!(good, 8);
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |levels: usize, kind: u32| {
        let mut value = Message::new().number(1, 0);
        for _ in 0..levels {
            value = match kind {
                5 => Message::new().message(5, Message::new().message(1, entry("k", value))),
                _ => Message::new().message(6, Message::new().message(1, value)),
            };
        }
        let params = Message::new().message(1, entry("k", value));
        plain().message(7, Message::new().message(3, Message::new().text(1, "u").message(4, params)))
    };
    for kind in [5, 6] {
        assert!(read(GrpcDialect::V1, &nested(20, kind)).is_ok());
        assert_eq!(why(&nested(60, kind)), DEEP);
        assert_eq!(why(&nested(5000, kind)), DEEP);
    }
    // Two bytes each, and a page in JSON.
    let skills = [0x62, 0x00].repeat(100_000);
    assert_eq!(why(&Message::of_bytes(skills)), TooLarge);
    let texts = [0x52, 0x00].repeat(100_000);
    assert_eq!(why(&Message::of_bytes(texts)), TooLarge);
    // What has to be escaped is longer than it was.
    let controls = plain().text(2, &"\u{1}".repeat(MAX / 4));
    assert_eq!(why(&controls), TooLarge);
    assert!(read(GrpcDialect::V1, &plain().text(2, &"x".repeat(MAX / 2))).is_ok());
}

#[test]
fn any_bytes_are_read_without_harm() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let good = plain().message(7, Message::new().message(3, Message::new().text(1, "u").message(4, Message::new())));
    let mut read_well = 0;
    for _ in 0..20_000 {
        let mut bytes = good.as_bytes().to_vec();
        for _ in 0..next() % 4 {
            let at = next() as usize % bytes.len();
            bytes[at] = next() as u8;
        }
        bytes.truncate(bytes.len() - next() as usize % 8);
        let framed = Message::of_bytes(bytes).framed().unwrap();
        for dialect in [GrpcDialect::V1, GrpcDialect::V03] {
            if let Ok(json) = to_json(&framed, dialect, MAX) {
                read_well += 1;
                assert!(json.len() <= MAX);
                assert!(serde_json::from_slice::<Json>(&json).unwrap().is_object());
            }
        }
    }
    assert!(read_well > 1000, "{read_well}");
}
