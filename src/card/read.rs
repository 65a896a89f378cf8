//! From bytes to a card: lenient where nothing depends on it, strict where a call does.

mod capabilities;
mod fields;
mod interfaces;
mod security;
mod skills;

use self::fields::Fields;
use super::{
    agent_card::AgentCard,
    flaw::{Absence, CardFlaw, NotJson},
    interface::CardVersion,
    json::{Json, JsonType, Members},
    warning::{WarningKind, Warnings},
};

/// Every field of a card that some version knows: those of 1.0 in the order of `a2a.proto`, then those of 0.3.
const NAMES: [&str; 20] = [
    "name",
    "description",
    "supportedInterfaces",
    "provider",
    "version",
    "documentationUrl",
    "capabilities",
    "securitySchemes",
    "securityRequirements",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
    "signatures",
    "iconUrl",
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "protocolVersion",
    "supportsAuthenticatedExtendedCard",
    "security",
];

/// The fields among them that only cards older than 1.0 have.
const OLD_NAMES: [&str; 6] = [
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "protocolVersion",
    "supportsAuthenticatedExtendedCard",
    "security",
];

type Card<'a> = Members<'a, { NAMES.len() }>;

/// Which versions' fields a card has. One that is served to clients of both has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Families {
    /// 1.0.
    current: bool,
    /// 0.3 or older.
    old: bool,
}

impl AgentCard {
    /// Reads a card of 1.0, 0.3 or 0.2; or of 1.0 and 0.3 at once, whose older interfaces then stand behind the others.
    ///
    /// Unknown fields and values, null lists and odd security blocks are passed over and noted in
    /// [`warnings`](Self::warnings). What calls rely on must be there, in the form that its version gives it: for 1.0
    /// the eight fields that `a2a.proto` requires, and each interface's URL, binding and version; before 1.0 the `url`.
    ///
    /// # Errors
    ///
    /// * [`CardFlaw::NotJson`]: the bytes are no JSON object.
    /// * [`CardFlaw::MissingField`]: the first required field that is absent, null, empty where nothing follows from
    ///   emptiness, or of another JSON type. `supportedInterfaces` is looked at first, for without it there is nowhere
    ///   to call.
    /// * [`CardFlaw::RepeatedField`]: a field of the card, an interface, the capabilities or an extension stands twice.
    pub fn read(bytes: &[u8]) -> Result<Self, CardFlaw> {
        let mut fields = Fields { warnings: Warnings::default() };
        let text = text_of(bytes, &mut fields.warnings)?;
        let document = Json::document(text)
            .map_err(|error| CardFlaw::NotJson(NotJson::Syntax { line: error.line(), column: error.column() }))?;
        let card = top_level(document)?;
        read_card(&card, fields)
    }
}

fn text_of<'a>(bytes: &'a [u8], warnings: &mut Warnings) -> Result<&'a str, CardFlaw> {
    let text = std::str::from_utf8(bytes).map_err(|_| CardFlaw::NotJson(NotJson::NotUtf8))?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(text) => {
            warnings.push("", WarningKind::ByteOrderMark);
            text
        }
        None => text,
    };
    if text.trim_ascii().is_empty() {
        return Err(CardFlaw::NotJson(NotJson::Empty));
    }
    Ok(text)
}

fn top_level(document: Json<'_>) -> Result<Card<'_>, CardFlaw> {
    if document.kind() != JsonType::Object {
        return Err(CardFlaw::NotJson(NotJson::NotAnObject(document.kind())));
    }
    let card: Card<'_> = document.members(NAMES).ok_or(CardFlaw::NotJson(NotJson::UnreadableName))?;
    match card.repeated {
        Some(name) => Err(CardFlaw::RepeatedField { path: name.into() }),
        None => Ok(card),
    }
}

fn read_card(card: &Card<'_>, mut fields: Fields) -> Result<AgentCard, CardFlaw> {
    let families = families(card, &mut fields.warnings)?;
    let interfaces = interfaces::read(card, families, &mut fields)?;
    let required = families.current;
    let name = fields.card_text(card, "name", required)?;
    let description = fields.card_text(card, "description", required)?;
    let version = fields.card_text(card, "version", required)?;
    let (capabilities, extensions) = capabilities::read(card, families, &mut fields)?;
    let default_input_modes = fields.card_list(card, "defaultInputModes", required)?;
    let default_output_modes = fields.card_list(card, "defaultOutputModes", required)?;
    let skills = fields.card_list(card, "skills", required)?;
    let card = AgentCard {
        name,
        description,
        version,
        interfaces,
        capabilities,
        extensions,
        skills: skills::read(&skills, &mut fields),
        default_input_modes: fields.texts(&default_input_modes, "defaultInputModes"),
        default_output_modes: fields.texts(&default_output_modes, "defaultOutputModes"),
        signatures: fields.optional_list(card.get("signatures"), "signatures").len(),
        warnings: {
            security::check(card, families, &mut fields.warnings);
            note_unknown(card, families, &mut fields.warnings);
            fields.warnings
        },
    };
    Ok(card)
}

/// Which families a card belongs to.
///
/// `url` alone makes an old card, but not an old side of a new one: there it may be anybody's homepage.
fn families(card: &Card<'_>, warnings: &mut Warnings) -> Result<Families, CardFlaw> {
    let stated = card.present("protocolVersion").and_then(Json::text).map(|text| CardVersion::of(&text));
    let stated = stated.and_then(|version| version.known());
    // A card that says 1.0 and has the form of 0.3 is one of 1.0 that lacks its interfaces. Which of the two its agent
    // speaks is anybody's guess.
    let may_be_old = stated.is_none_or(|version| version.major() == 0);
    let has_old_field = ["preferredTransport", "additionalInterfaces"].iter().any(|name| card.present(name).is_some());
    let says_old = has_old_field || stated.is_some() || card.present("protocolVersion").is_some();
    let has_url = card.present("url").is_some();

    let absence = match card.get("supportedInterfaces") {
        None => Absence::Absent,
        Some(value) if value.is_null() => Absence::Null,
        Some(value) if value.items().is_some_and(|items| items.is_empty()) => Absence::Empty,
        Some(_) => return Ok(Families { current: true, old: may_be_old && says_old && has_url }),
    };
    if !may_be_old || !(has_url || says_old) {
        return Err(CardFlaw::missing("supportedInterfaces", absence));
    }
    match absence {
        Absence::Null => warnings.push("supportedInterfaces", WarningKind::NullList),
        Absence::Empty => warnings.push("supportedInterfaces", WarningKind::EmptyList),
        _ => {}
    }
    Ok(Families { current: false, old: true })
}

fn note_unknown(card: &Card<'_>, families: Families, warnings: &mut Warnings) {
    for name in &card.unknown {
        warnings.push(name, WarningKind::UnknownField);
    }
    if !families.old {
        for name in OLD_NAMES.into_iter().filter(|name| card.present(name).is_some()) {
            warnings.push(name, WarningKind::UnknownField);
        }
    }
}
