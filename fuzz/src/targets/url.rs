use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use a2a_guard::card::{AgentCard, CardUrl, Origin, UrlPolicy};
use http::Uri;
use serde_json::json;
use url::{Host, Url};

use crate::input::Input;

/// URLs out of cards, against the parser that clients have (the WHATWG's): who may call what this one lets through must
/// not end up somewhere else.
pub fn url(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let is_grpc = input.one_in(4);
    let Ok(text) = std::str::from_utf8(input.rest()) else { return };
    let parsed = if is_grpc { CardUrl::parse_grpc(text) } else { CardUrl::parse(text) };
    let Ok(ours) = parsed else { return };
    if text.is_empty() {
        return;
    }
    assert!(ours.path().starts_with('/'));
    let agent = Origin::parse("https://agent.example.com").expect("an origin");
    let is_allowed = is_allowed(text, is_grpc, &agent);

    if let Some(scheme) = ours.scheme() {
        // What it is made into is the same again.
        let again = format!("{}://{}{}", scheme.as_str(), ours.authority(), ours.path());
        let again = ours.query().map_or(again.clone(), |query| format!("{again}?{query}"));
        let parsed = CardUrl::parse(&again).expect("what is normal is a URL");
        assert_eq!((parsed.host(), parsed.port(), parsed.path(), parsed.query()), {
            (ours.host(), ours.port(), ours.path(), ours.query())
        });
        if let Ok(uri) = text.parse::<Uri>()
            && uri.scheme().is_some()
        {
            let of_uri = CardUrl::of(&uri).expect("what the client parses as a URI");
            assert_eq!((of_uri.host(), of_uri.port()), (ours.host(), ours.port()));
        }
    }

    let absolute = if ours.scheme().is_some() { text.to_owned() } else { format!("https://{text}") };
    let Ok(theirs) = Url::parse(&absolute) else {
        // A client that reads URLs so does not call it.
        return;
    };
    if !is_allowed {
        return;
    }
    if let Some(scheme) = ours.scheme() {
        assert_eq!(scheme.as_str(), theirs.scheme());
    }
    let default = if theirs.scheme() == "http" { 80 } else { 443 };
    assert_eq!(ours.port().unwrap_or(default), theirs.port_or_known_default().expect("a port"));
    match theirs.host().expect("a host") {
        Host::Domain(name) => {
            assert!(name != "localhost" && !name.ends_with(".localhost"), "{text}");
            if text.is_ascii() {
                assert_eq!(ours.host().trim_end_matches('.'), name.trim_end_matches('.'));
            }
        }
        Host::Ipv4(address) => assert!(is_public(address.into()), "{address} behind {text}"),
        Host::Ipv6(address) => assert!(is_public(address.into()), "{address} behind {text}"),
    }
}

/// Does a card with that URL in it pass, for one who is told of it by another agent?
fn is_allowed(text: &str, is_grpc: bool, agent: &Origin) -> bool {
    let binding = if is_grpc { "GRPC" } else { "JSONRPC" };
    let interface = json!({ "url": text, "protocolBinding": binding, "protocolVersion": "1.0" });
    let card = json!({
        "name": "n", "description": "d", "version": "1", "supportedInterfaces": [interface], "capabilities": {},
        "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
    });
    let card = AgentCard::read(card.to_string().as_bytes()).expect("a card");
    let policy = UrlPolicy::strict().allow_any_origin().allow_plaintext();
    card.interfaces()[0].check(agent, &policy).is_ok()
}

/// By what std knows of addresses, and no more: it is another list than the one that is checked.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let is_local = v4.is_private() || v4.is_loopback() || v4.is_link_local();
    !(is_local || v4.is_broadcast() || v4.is_multicast() || v4.octets()[0] == 0)
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let is_local = v6.is_unique_local() || v6.is_unicast_link_local();
    !(v6.is_loopback() || v6.is_unspecified() || v6.is_multicast() || is_local) && v6.to_ipv4().is_none_or(is_public_v4)
}
