//! What an agent can do, by its own account.

use super::{
    Card, Families,
    fields::{Fields, filled_text, kind_of},
};
use crate::card::{
    agent_card::Capabilities,
    details::AgentExtension,
    flaw::{Absence, CardFlaw},
    json::{Json, JsonType},
    warning::WarningKind,
};

/// `stateTransitionHistory` is a flag of 0.3 that no operation needs.
const NAMES: [&str; 5] =
    ["streaming", "pushNotifications", "extensions", "extendedAgentCard", "stateTransitionHistory"];

pub(super) fn read(
    card: &Card<'_>,
    families: Families,
    fields: &mut Fields,
) -> Result<(Capabilities, Box<[AgentExtension]>), CardFlaw> {
    let mut capabilities = Capabilities::default();
    if families.old {
        capabilities.extended_agent_card =
            fields.flag(card.present("supportsAuthenticatedExtendedCard"), "supportsAuthenticatedExtendedCard");
    }
    let members = match card.get("capabilities") {
        Some(value) => fields.members(value, "capabilities", NAMES)?,
        None => Err(Absence::Absent),
    };
    let members = match members {
        Ok(members) => members,
        Err(why) if families.current => return Err(CardFlaw::missing("capabilities", why)),
        Err(why) => {
            fields.warnings.push("capabilities", kind_of(why));
            return Ok((capabilities, Box::default()));
        }
    };
    capabilities.streaming = fields.flag(members.present("streaming"), "capabilities.streaming");
    capabilities.push_notifications =
        fields.flag(members.present("pushNotifications"), "capabilities.pushNotifications");
    capabilities.extended_agent_card |=
        fields.flag(members.present("extendedAgentCard"), "capabilities.extendedAgentCard");
    Ok((capabilities, extensions(members.get("extensions"), fields)?))
}

fn extensions(value: Option<Json<'_>>, fields: &mut Fields) -> Result<Box<[AgentExtension]>, CardFlaw> {
    let mut extensions = Vec::new();
    for (index, entry) in fields.optional_list(value, "capabilities.extensions").into_iter().enumerate() {
        let place = format!("capabilities.extensions[{index}]");
        let members = match fields.members(entry, &place, ["uri", "description", "required", "params"])? {
            Ok(members) => members,
            Err(why) => {
                fields.warnings.push(place, kind_of(why));
                continue;
            }
        };
        // Without a URI nobody can use it, whatever else it says.
        let uri = match filled_text(members.get("uri")) {
            Ok(uri) => uri,
            Err(why) => {
                fields.warnings.push(format_args!("{place}.uri"), kind_of(why));
                continue;
            }
        };
        let params = match members.present("params") {
            Some(params) if params.kind() == JsonType::Object => Some(params.raw().get().into()),
            Some(_) => {
                fields.warnings.push(format_args!("{place}.params"), WarningKind::WrongType);
                None
            }
            None => None,
        };
        let required = fields.flag(members.present("required"), format_args!("{place}.required"));
        extensions.push(AgentExtension { uri: uri.into(), required, params });
    }
    Ok(extensions.into())
}
