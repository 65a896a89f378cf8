//! The agent's places, as callers get to them through the gateway.

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use a2a_guard::card::Origin;
use bytes::Bytes;
use serde_json::{Map, Value};

/// The agent, and how a caller gets to it.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    /// Where the agent is.
    pub(crate) upstream: Arc<Origin>,
    /// The gateway's authority, as the caller wrote it.
    pub(crate) authority: String,
    /// What stands in front of the agent's paths here: `/tenants/x`, or nothing.
    pub(crate) prefix: String,
}

/// Where the card stands in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is the answer.
    Card,
    /// It is the result of a JSON-RPC call.
    Result,
}

/// A card as it is shown here.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) bytes: Bytes,
    /// Of these bytes (RFC 9110 §8.8.3).
    pub(crate) etag: String,
}

impl Door {
    /// The answer with the card in it as it is shown here; `None` if there is no card in it.
    pub(crate) fn shown(&self, kind: Kind, answer: &[u8]) -> Option<Shown> {
        let mut answer: Value = serde_json::from_slice(answer).ok()?;
        let card = match kind {
            Kind::Card => &mut answer,
            Kind::Result => answer.get_mut("result")?,
        };
        self.rewrite(card.as_object_mut()?);
        let text = answer.to_string();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Some(Shown { bytes: text.into(), etag: format!("\"{:016x}\"", hasher.finish()) })
    }

    /// The same place by way of the gateway; `None` if it is none of the agent's.
    pub(crate) fn inward(&self, url: &str) -> Option<String> {
        let rest = self.behind(url)?;
        Some(format!("http://{}{}{rest}", self.authority, self.prefix))
    }

    /// Every URL of the agent's own becomes the gateway's; what leads elsewhere is not ours to change. A signature is
    /// of the card as it was.
    fn rewrite(&self, card: &mut Map<String, Value>) {
        card.remove("signatures");
        let preferred = card.get("preferredTransport").and_then(Value::as_str).map(str::to_owned);
        if let Some(Value::String(url)) = card.get_mut("url")
            && let Some(shown) = self.interface(url, preferred.as_deref())
        {
            *url = shown;
        }
        for list in ["supportedInterfaces", "additionalInterfaces"] {
            let Some(Value::Array(interfaces)) = card.get_mut(list) else { continue };
            interfaces.retain_mut(|interface| {
                let Some(interface) = interface.as_object_mut() else { return true };
                let binding = ["protocolBinding", "transport"].iter().find_map(|name| interface.get(*name)?.as_str());
                let binding = binding.map(str::to_owned);
                let Some(Value::String(url)) = interface.get_mut("url") else { return true };
                let Some(shown) = self.listed(url, binding.as_deref()) else { return false };
                *url = shown.into_owned();
                true
            });
        }
    }

    /// The URL of an interface as a card lists it here; `None` if it lists it not.
    pub(crate) fn listed<'a>(&self, url: &'a str, binding: Option<&str>) -> Option<Cow<'a, str>> {
        let shown = self.interface(url, binding).map_or(Cow::Borrowed(url), Cow::Owned);
        // A path of its own is what a gRPC client cannot call: it would not get to the tenant.
        (self.prefix.is_empty() || !is_grpc(binding) || self.is_elsewhere(&shown)).then_some(shown)
    }

    fn is_elsewhere(&self, grpc: &str) -> bool {
        let authority = grpc.split_once("://").map_or(grpc, |(_, rest)| rest).split(['/', '?', '#']).next();
        authority != Some(&self.authority)
    }

    /// Where an interface is to be called, if it is one of the agent's.
    pub(crate) fn interface(&self, url: &str, binding: Option<&str>) -> Option<String> {
        if !is_grpc(binding) {
            return self.inward(url);
        }
        // Over gRPC it may be host and port alone, and its path says nothing (A2A 1.0, a2a.proto).
        match url.contains("://") {
            true => self.behind(url).map(|rest| format!("http://{}{rest}", self.authority)),
            false => self.behind(&format!("http://{url}")).map(|rest| format!("{}{rest}", self.authority)),
        }
    }

    /// What stands behind the agent's origin in a URL; `None` for any other origin.
    fn behind<'a>(&self, url: &'a str) -> Option<&'a str> {
        if Origin::parse(url).ok()? != *self.upstream {
            return None;
        }
        let (_, rest) = url.split_once("://")?;
        rest.get(rest.find(['/', '?', '#']).unwrap_or(rest.len())..)
    }
}

fn is_grpc(binding: Option<&str>) -> bool {
    binding.is_some_and(|binding| binding.eq_ignore_ascii_case("GRPC"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(prefix: &str) -> Door {
        let upstream = Arc::new(Origin::parse("http://agent.test:9000").unwrap());
        Door { upstream, authority: "gate:1".into(), prefix: prefix.into() }
    }

    fn shown(door: &Door, card: &str) -> Value {
        serde_json::from_slice(&door.shown(Kind::Card, card.as_bytes()).unwrap().bytes).unwrap()
    }

    #[test]
    fn the_agents_own_places_lead_through_the_gateway() {
        let door = door("/tenants/x");
        for (url, here) in [
            ("http://agent.test:9000", Some("http://gate:1/tenants/x")),
            ("http://agent.test:9000/", Some("http://gate:1/tenants/x/")),
            ("HTTP://Agent.Test:9000/a2a?b=c", Some("http://gate:1/tenants/x/a2a?b=c")),
            ("http://agent.test:90001/", None),
            ("http://agent.test/", None),
            ("https://agent.test:9000/", None),
            ("http://agent.test:9000.evil.example/", None),
            ("http://agent.test:9000@evil.example/", None),
            ("/a2a", None),
        ] {
            assert_eq!(door.inward(url).as_deref(), here, "{url}");
        }
    }

    #[test]
    fn a_card_names_the_gateway_and_loses_its_signatures() {
        let card = r#"{"name":"a","signatures":[{}],"supportedInterfaces":[
            {"url":"http://agent.test:9000/a2a","protocolBinding":"JSONRPC"},
            {"url":"agent.test:9000","protocolBinding":"GRPC"},
            {"url":"https://elsewhere.test/","protocolBinding":"HTTP+JSON"}]}"#;
        let one = shown(&door(""), card);
        assert_eq!(one.get("signatures"), None);
        let urls = |card: &Value| -> Vec<String> {
            let interfaces = card["supportedInterfaces"].as_array().unwrap();
            interfaces.iter().map(|interface| interface["url"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(urls(&one), ["http://gate:1/a2a", "gate:1", "https://elsewhere.test/"]);
        // A tenant's has no interface that does not lead to the tenant.
        let one = shown(&door("/tenants/x"), card);
        assert_eq!(urls(&one), ["http://gate:1/tenants/x/a2a", "https://elsewhere.test/"]);
    }

    #[test]
    fn so_does_a_card_of_0_3() {
        let card = r#"{"url":"http://agent.test:9000/","preferredTransport":"JSONRPC",
            "additionalInterfaces":[{"url":"http://agent.test:9000/v1","transport":"HTTP+JSON"}]}"#;
        let card = shown(&door(""), card);
        assert_eq!(card["url"], "http://gate:1/");
        assert_eq!(card["additionalInterfaces"][0]["url"], "http://gate:1/v1");
    }

    #[test]
    fn what_is_no_card_stays_as_it_is() {
        for answer in ["", "<html>", "[]", "7"] {
            assert!(door("").shown(Kind::Card, answer.as_bytes()).is_none(), "{answer}");
        }
        let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"no"}}"#;
        assert!(door("").shown(Kind::Result, refused.as_bytes()).is_none());
    }
}
