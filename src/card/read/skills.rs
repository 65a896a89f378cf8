//! What an agent is good at. Hints: nothing here refuses a card.

use super::fields::{Fields, absence, filled_text, kind_of, text};
use crate::card::{
    details::AgentSkill,
    json::{Json, JsonType, Members},
    warning::WarningKind,
};

const NAMES: [&str; 9] = [
    "id",
    "name",
    "description",
    "tags",
    "examples",
    "inputModes",
    "outputModes",
    "securityRequirements",
    // 0.3.
    "security",
];

type Skill<'a> = Members<'a, { NAMES.len() }>;

pub(super) fn read(entries: &[Json<'_>], fields: &mut Fields) -> Box<[AgentSkill]> {
    entries.iter().enumerate().filter_map(|(index, entry)| skill(*entry, index, fields)).collect()
}

/// `None`: it has no id, so nothing can refer to it.
fn skill(entry: Json<'_>, index: usize, fields: &mut Fields) -> Option<AgentSkill> {
    let place = Place(index);
    let Some(members) = entry.members(NAMES) else {
        fields.warnings.push(place, kind_of(absence(entry, JsonType::Object)));
        return None;
    };
    if let Some(name) = members.repeated {
        fields.warnings.push(format_args!("{place}.{name}"), WarningKind::Repeated);
    }
    fields.note_unknown(&members, place);
    let id = match filled_text(members.get("id")) {
        Ok(id) => id.into(),
        Err(why) => {
            fields.warnings.push(format_args!("{place}.id"), kind_of(why));
            return None;
        }
    };
    Some(AgentSkill {
        id,
        name: required_text(&members, place, "name", fields),
        description: required_text(&members, place, "description", fields),
        tags: tags(&members, place, fields),
        examples: optional_texts(&members, place, "examples", fields),
        input_modes: optional_texts(&members, place, "inputModes", fields),
        output_modes: optional_texts(&members, place, "outputModes", fields),
    })
}

fn required_text(members: &Skill<'_>, place: Place, name: &'static str, fields: &mut Fields) -> Box<str> {
    match text(members.get(name)) {
        Ok(text) => text.into(),
        Err(why) => {
            fields.warnings.push(format_args!("{place}.{name}"), kind_of(why));
            "".into()
        }
    }
}

fn tags(members: &Skill<'_>, place: Place, fields: &mut Fields) -> Box<[Box<str>]> {
    match members.get("tags") {
        None => fields.warnings.push(format_args!("{place}.tags"), WarningKind::Missing),
        Some(value) if value.is_null() => fields.warnings.push(format_args!("{place}.tags"), WarningKind::NullList),
        Some(value) => {
            let items = fields.optional_list(Some(value), format_args!("{place}.tags"));
            if items.is_empty() && value.kind() == JsonType::List {
                fields.warnings.push(format_args!("{place}.tags"), WarningKind::EmptyList);
            }
            return fields.texts(&items, format_args!("{place}.tags"));
        }
    }
    Box::default()
}

fn optional_texts(members: &Skill<'_>, place: Place, name: &'static str, fields: &mut Fields) -> Box<[Box<str>]> {
    let items = fields.optional_list(members.get(name), format_args!("{place}.{name}"));
    fields.texts(&items, format_args!("{place}.{name}"))
}

#[derive(Clone, Copy)]
struct Place(usize);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "skills[{}]", self.0)
    }
}
