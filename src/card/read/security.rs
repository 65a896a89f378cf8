//! Security blocks: looked at so far as to say that they are odd. Nothing is read out of them, and nothing is trusted.

use super::{Card, Families};
use crate::card::{
    json::{Json, JsonType},
    warning::{WarningKind, Warnings},
};

/// The kinds of 1.0 (§4.5.1), each a member of that name.
const KINDS: [&str; 5] = [
    "apiKeySecurityScheme",
    "httpAuthSecurityScheme",
    "oauth2SecurityScheme",
    "openIdConnectSecurityScheme",
    "mtlsSecurityScheme",
];

/// The kinds of 0.3 and of OpenAPI, each a value of `type`.
const OLD_KINDS: [&str; 5] = ["apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"];

pub(super) fn check(card: &Card<'_>, families: Families, warnings: &mut Warnings) {
    if let Some(value) = card.present("securitySchemes") {
        match value.entries() {
            Some(entries) => {
                for (name, scheme) in entries {
                    if let Some(what) = oddity(scheme, families) {
                        warnings.push(format_args!("securitySchemes.{name}"), what);
                    }
                }
            }
            None => warnings.push("securitySchemes", WarningKind::OddSecurity),
        }
    }
    requirements(card.present("securityRequirements"), "securityRequirements", warnings, is_requirement);
    if families.old {
        requirements(card.present("security"), "security", warnings, |item| item.kind() == JsonType::Object);
    }
}

fn requirements(value: Option<Json<'_>>, path: &str, warnings: &mut Warnings, fits: fn(Json<'_>) -> bool) {
    let Some(value) = value else {
        return;
    };
    match value.items() {
        Some(items) => {
            for (index, _) in items.into_iter().enumerate().filter(|(_, item)| !fits(*item)) {
                warnings.push(format_args!("{path}[{index}]"), WarningKind::OddSecurity);
            }
        }
        None => warnings.push(path, WarningKind::OddSecurity),
    }
}

/// 1.0: `{"schemes": {…}}`; the names stood directly in the item before.
fn is_requirement(item: Json<'_>) -> bool {
    item.members(["schemes"]).is_some_and(|members| {
        let schemes = members.present("schemes");
        members.unknown.is_empty() && schemes.is_none_or(|schemes| schemes.kind() == JsonType::Object)
    })
}

fn oddity(scheme: Json<'_>, families: Families) -> Option<WarningKind> {
    let [api_key, http, oauth2, open_id, mtls] = KINDS;
    let Some(members) = scheme.members([api_key, http, oauth2, open_id, mtls, "type"]) else {
        return Some(WarningKind::OddSecurity);
    };
    let known = KINDS.into_iter().filter_map(|kind| members.present(kind));
    if let Some(kind) = known.clone().next() {
        let is_whole = kind.kind() == JsonType::Object && known.count() == 1;
        return if is_whole { None } else { Some(WarningKind::OddSecurity) };
    }
    match members.present("type").and_then(Json::text) {
        Some(kind) if families.old && OLD_KINDS.contains(&&*kind) => None,
        Some(_) if families.old => Some(WarningKind::UnknownSecurityScheme),
        _ if members.unknown.iter().any(|name| name.ends_with("SecurityScheme")) => {
            Some(WarningKind::UnknownSecurityScheme)
        }
        _ => Some(WarningKind::OddSecurity),
    }
}
