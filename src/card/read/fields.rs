//! Single fields, and what is said where one is not as it should be.

use std::{borrow::Cow, fmt::Display};

use super::Card;
use crate::card::{
    flaw::{Absence, CardFlaw},
    json::{Json, JsonType, Members},
    warning::{WarningKind, Warnings},
};

/// Reads fields, and keeps what was odd about them.
pub(super) struct Fields {
    pub(super) warnings: Warnings,
}

impl Fields {
    /// A text of the card itself. Where it is not required, it is empty if it is not there.
    pub(super) fn card_text(
        &mut self,
        card: &Card<'_>,
        name: &'static str,
        required: bool,
    ) -> Result<Box<str>, CardFlaw> {
        match text(card.get(name)) {
            Ok(text) => Ok(text.into()),
            Err(Absence::Unreadable) => {
                self.warnings.push(name, WarningKind::HalfCharacter);
                Ok(card.get(name).and_then(Json::prose).unwrap_or_default().into())
            }
            Err(why) if required => Err(CardFlaw::missing(name, why)),
            Err(why) => {
                self.warnings.push(name, kind_of(why));
                Ok("".into())
            }
        }
    }

    /// A list of the card itself. Null and empty ones pass: servers write them, and the specification shows one.
    pub(super) fn card_list<'a>(
        &mut self,
        card: &Card<'a>,
        name: &'static str,
        required: bool,
    ) -> Result<Vec<Json<'a>>, CardFlaw> {
        let why = match list(card.get(name)) {
            Ok(items) if items.is_empty() => Absence::Empty,
            Ok(items) => return Ok(items),
            Err(why) => why,
        };
        match why {
            Absence::Null => self.warnings.push(name, WarningKind::NullList),
            Absence::Empty => self.warnings.push(name, WarningKind::EmptyList),
            _ if required => return Err(CardFlaw::missing(name, why)),
            _ => self.warnings.push(name, kind_of(why)),
        }
        Ok(Vec::new())
    }

    /// A list that may be left out.
    pub(super) fn optional_list<'a>(&mut self, value: Option<Json<'a>>, path: impl Display) -> Vec<Json<'a>> {
        match list(value) {
            Ok(items) => return items,
            Err(Absence::Absent) => {}
            Err(Absence::Null) => self.warnings.push(path, WarningKind::Null),
            Err(why) => self.warnings.push(path, kind_of(why)),
        }
        Vec::new()
    }

    /// The texts in a list.
    pub(super) fn texts(&mut self, items: &[Json<'_>], path: impl Display) -> Box<[Box<str>]> {
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match text(Some(*item)) {
                Ok(text) => texts.push(text.into()),
                Err(_) => self.warnings.push(format_args!("{path}[{index}]"), WarningKind::WrongType),
            }
        }
        texts.into()
    }

    /// A flag; absent is false.
    pub(super) fn flag(&mut self, value: Option<Json<'_>>, path: impl Display) -> bool {
        let Some(value) = value else {
            return false;
        };
        value.flag().unwrap_or_else(|| {
            self.warnings.push(path, WarningKind::WrongType);
            false
        })
    }

    /// The members of an object on which calls rely: none of them may stand there twice.
    pub(super) fn members<'a, const N: usize>(
        &mut self,
        value: Json<'a>,
        path: impl Display,
        names: [&'static str; N],
    ) -> Result<Result<Members<'a, N>, Absence>, CardFlaw> {
        let Some(members) = value.members(names) else {
            return Ok(Err(absence(value, JsonType::Object)));
        };
        if let Some(name) = members.repeated {
            return Err(CardFlaw::RepeatedField { path: format!("{path}.{name}").into() });
        }
        self.note_unknown(&members, path);
        Ok(Ok(members))
    }

    pub(super) fn note_unknown<const N: usize>(&mut self, members: &Members<'_, N>, path: impl Display) {
        for name in &members.unknown {
            self.warnings.push(format_args!("{path}.{name}"), WarningKind::UnknownField);
        }
    }
}

/// A text; an empty one is one.
pub(super) fn text(value: Option<Json<'_>>) -> Result<Cow<'_, str>, Absence> {
    let value = value.ok_or(Absence::Absent)?;
    value.text().ok_or_else(|| absence(value, JsonType::Text))
}

/// A text that says something. In `a2a.proto` an empty one is the same as none.
pub(super) fn filled_text(value: Option<Json<'_>>) -> Result<Cow<'_, str>, Absence> {
    text(value).and_then(|text| if text.is_empty() { Err(Absence::Empty) } else { Ok(text) })
}

fn list(value: Option<Json<'_>>) -> Result<Vec<Json<'_>>, Absence> {
    let value = value.ok_or(Absence::Absent)?;
    value.items().ok_or_else(|| absence(value, JsonType::List))
}

/// What stands there, if it is not what was expected.
pub(super) fn absence(value: Json<'_>, expected: JsonType) -> Absence {
    match value.kind() {
        JsonType::Null => Absence::Null,
        found if found == expected => Absence::Unreadable,
        found => Absence::WrongType { expected, found },
    }
}

/// The warning for a field that nobody relies on.
pub(super) fn kind_of(absence: Absence) -> WarningKind {
    match absence {
        Absence::WrongType { .. } | Absence::Unreadable => WarningKind::WrongType,
        _ => WarningKind::Missing,
    }
}
