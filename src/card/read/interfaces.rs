//! Where an agent can be called.

use std::collections::HashSet;

use super::{
    Card, Families,
    fields::{Fields, absence, filled_text, kind_of, text},
};
use crate::{
    call::ProtocolVersion,
    card::{
        flaw::{Absence, CardFlaw},
        interface::{AgentInterface, CardBinding, CardVersion, Place},
        json::{Json, JsonType},
        warning::WarningKind,
    },
};

pub(super) fn read(
    card: &Card<'_>,
    families: Families,
    fields: &mut Fields,
) -> Result<Box<[AgentInterface]>, CardFlaw> {
    let mut interfaces = Vec::new();
    if families.current {
        supported(card, fields, &mut interfaces)?;
    }
    if families.old {
        let old = of_old_card(card, fields)?;
        // A card for both versions says the same twice, and 0.3 wants its main interface repeated in the list.
        let mut seen: HashSet<_> = interfaces.iter().map(what_it_is).collect();
        let is_new: Vec<_> = old.iter().map(|interface| seen.insert(what_it_is(interface))).collect();
        interfaces.extend(old.into_iter().zip(is_new).filter_map(|(interface, is_new)| is_new.then_some(interface)));
    }
    for interface in &interfaces {
        note_grpc_path(interface, fields);
    }
    Ok(interfaces.into())
}

/// 1.0: `supportedInterfaces`, each of them whole.
fn supported(card: &Card<'_>, fields: &mut Fields, interfaces: &mut Vec<AgentInterface>) -> Result<(), CardFlaw> {
    let missing = |value: Option<Json<'_>>| {
        let why = value.map_or(Absence::Absent, |value| absence(value, JsonType::List));
        CardFlaw::missing("supportedInterfaces", why)
    };
    let value = card.get("supportedInterfaces");
    let entries = value.and_then(Json::items).ok_or_else(|| missing(value))?;
    for (index, entry) in entries.into_iter().enumerate() {
        let place = Place::Supported(index);
        let names = ["url", "protocolBinding", "protocolVersion", "tenant"];
        let members = match fields.members(entry, place, names)? {
            Ok(members) => members,
            Err(why) => return Err(CardFlaw::missing(place, why)),
        };
        let needed =
            |name| filled_text(members.get(name)).map_err(|why| CardFlaw::missing(format_args!("{place}.{name}"), why));
        let url = needed("url")?;
        let binding = needed("protocolBinding")?;
        let version = needed("protocolVersion")?;
        let binding = named_binding(&binding, format_args!("{place}.protocolBinding"), fields);
        let mut interface = AgentInterface::new(&url, binding, CardVersion::of(&version), place);
        // Optional, but nothing to guess at: a call without its tenant is another tenant's.
        if let Some(tenant) = members.present("tenant") {
            let path = format_args!("{place}.tenant");
            let tenant = text(Some(tenant)).map_err(|why| CardFlaw::missing(path, why))?;
            interface.tenant = if tenant.is_empty() { None } else { Some(tenant.into()) };
        }
        interfaces.push(interface);
    }
    Ok(())
}

/// 0.3: `url` with `preferredTransport`, then `additionalInterfaces`, all in one version. 0.2: `url`.
fn of_old_card(card: &Card<'_>, fields: &mut Fields) -> Result<Vec<AgentInterface>, CardFlaw> {
    let url = filled_text(card.get("url")).map_err(|why| CardFlaw::missing("url", why))?;
    let version = old_version(card, fields);
    let binding = match card.present("preferredTransport").map(|value| filled_text(Some(value))) {
        Some(Ok(name)) => named_binding(&name, "preferredTransport", fields),
        // 0.3 §5.6.1 gives the default. It is also the one binding that 0.2 has.
        None => CardBinding::JsonRpc,
        Some(Err(_)) => {
            fields.warnings.push("preferredTransport", WarningKind::WrongType);
            CardBinding::JsonRpc
        }
    };
    let mut interfaces = vec![AgentInterface::new(&url, binding, version.clone(), Place::Url)];
    let entries = fields.optional_list(card.get("additionalInterfaces"), "additionalInterfaces");
    for (index, entry) in entries.into_iter().enumerate() {
        let place = Place::Additional(index);
        let members = match fields.members(entry, place, ["url", "transport"])? {
            Ok(members) => members,
            Err(why) => {
                fields.warnings.push(place, kind_of(why));
                continue;
            }
        };
        let mut part = |name| {
            let part = filled_text(members.get(name));
            part.map_err(|why| fields.warnings.push(format_args!("{place}.{name}"), kind_of(why))).ok()
        };
        if let (Some(url), Some(name)) = (part("url"), part("transport")) {
            let binding = named_binding(&name, format_args!("{place}.transport"), fields);
            interfaces.push(AgentInterface::new(&url, binding, version.clone(), place));
        }
    }
    Ok(interfaces)
}

/// The one version of an old card. `protocolVersion` came late in 0.2, and its default in 0.3 is 0.3.
fn old_version(card: &Card<'_>, fields: &mut Fields) -> CardVersion {
    let has_field_of_0_3 =
        ["preferredTransport", "additionalInterfaces"].iter().any(|name| card.present(name).is_some());
    match card.present("protocolVersion") {
        Some(value) => match value.text() {
            Some(text) => CardVersion::of(&text),
            None => {
                fields.warnings.push("protocolVersion", WarningKind::WrongType);
                CardVersion::Other(value.raw().get().chars().take(32).collect())
            }
        },
        None if has_field_of_0_3 => {
            fields.warnings.push("protocolVersion", WarningKind::Missing);
            ProtocolVersion::V0_3.into()
        }
        None => ProtocolVersion::V0_2.into(),
    }
}

fn named_binding(name: &str, path: impl std::fmt::Display, fields: &mut Fields) -> CardBinding {
    let binding = CardBinding::of(name);
    if binding.as_str() != name {
        fields.warnings.push(path, WarningKind::BindingCase);
    }
    binding
}

fn note_grpc_path(interface: &AgentInterface, fields: &mut Fields) {
    if interface.binding != CardBinding::Grpc {
        return;
    }
    if interface.parsed_url().is_ok_and(|url| url.path() != "/" || url.query().is_some()) {
        match interface.place {
            Place::Url => fields.warnings.push("url", WarningKind::GrpcUrlHasPath),
            place => fields.warnings.push(format_args!("{place}.url"), WarningKind::GrpcUrlHasPath),
        }
    }
}

fn what_it_is(interface: &AgentInterface) -> (&str, &CardBinding, &CardVersion, Option<&str>) {
    (interface.url(), interface.binding(), interface.version(), interface.tenant())
}
