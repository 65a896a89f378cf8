//! Cards that came in messages of gRPC are read as those in JSON are.

use super::warnings;
use crate::{
    call::{Capability, ProtocolVersion},
    card::AgentCard,
    wire::grpc::{GrpcDialect, card::to_json, encode::Message},
};

fn read(card: &Message, dialect: GrpcDialect) -> AgentCard {
    let json = to_json(&card.framed().unwrap(), dialect, 256 << 10).unwrap();
    AgentCard::read(&json).unwrap_or_else(|flaw| panic!("{flaw}: {}", String::from_utf8_lossy(&json)))
}

#[test]
fn of_1_0() {
    let extension = Message::new().text(1, "https://e.example").number(3, 1);
    let card = Message::new()
        .text(1, "A")
        .text(2, "d")
        .message(3, Message::new().text(1, "https://a.example").text(2, "GRPC").text(3, "acme").text(4, "1.0"))
        .text(5, "1")
        .message(7, Message::new().number(1, 1).message(3, extension))
        .text(10, "text/plain")
        .text(11, "text/plain")
        .message(12, Message::new().text(1, "s").text(2, "S").text(3, "d").text(4, "t"))
        .message(13, Message::new().text(1, "p").text(2, "s"));
    let card = read(&card, GrpcDialect::V1);
    assert_eq!(warnings(&card), [""; 0]);
    let interface = &card.interfaces()[0];
    assert_eq!((interface.url(), interface.tenant()), ("https://a.example", Some("acme")));
    assert!(interface.understands(ProtocolVersion::V1_0) && card.declares(Capability::Streaming));
    assert!(!card.declares(Capability::PushNotifications));
}

#[test]
fn of_0_3() {
    let card = Message::new()
        .text(16, "0.3.0")
        .text(1, "A")
        .text(2, "d")
        .text(3, "https://a.example")
        .text(14, "GRPC")
        .message(15, Message::new().text(1, "https://a.example/rpc").text(2, "JSONRPC"))
        .text(5, "1")
        .message(7, Message::new().number(1, 1).number(2, 1))
        .text(10, "text/plain")
        .message(12, Message::new().text(1, "s"))
        .number(13, 1);
    let card = read(&card, GrpcDialect::V03);
    let urls: Vec<_> = card.interfaces().iter().map(|interface| interface.url()).collect();
    assert_eq!(urls, ["https://a.example", "https://a.example/rpc"]);
    assert!(card.declares(Capability::ExtendedAgentCard) && card.declares(Capability::PushNotifications));
}

/// Whatever is left out of a message, it is a card with a flaw, and not something else than JSON.
#[test]
fn of_nothing() {
    for dialect in [GrpcDialect::V1, GrpcDialect::V03] {
        let json = to_json(&Message::new().framed().unwrap(), dialect, 1024).unwrap();
        let flaw = AgentCard::read(&json).unwrap_err();
        assert_eq!(flaw.class(), crate::outcome::Class::MissingField, "{flaw}");
    }
}
