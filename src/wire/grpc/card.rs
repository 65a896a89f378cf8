//! An Agent Card out of a message, as the JSON that the other bindings have it in (ProtoJSON), so that all of them are
//! read alike. No generated code: the fields are a table (`schema`). This is the rare path.

pub(crate) mod schema;

use serde_json::{Map, Value as Json, map::Entry};

use self::schema::{Field, Kind, Presence};
use super::{
    answer::GrpcDialect,
    fields::{Value, field},
    frame::PREFIX,
};

/// So deep do messages go, one in the other, in readers of Protocol Buffers.
const DEPTH: u8 = 100;

/// Why an answer's message is no card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CardMessageError {
    /// The body is not exactly one whole message without compression.
    #[error("not one whole message, uncompressed")]
    NotOneMessage,
    /// The message is none of a card.
    #[error("{0}")]
    Malformed(&'static str),
    /// In JSON, it is longer than it may be.
    #[error("a card that is too large")]
    TooLarge,
}

use CardMessageError::{Malformed, NotOneMessage, TooLarge};

const CUT: CardMessageError = Malformed("a field that is cut, or of a wire type that there is not");
const TYPE: CardMessageError = Malformed("a field of another type than its own");
const UTF8: CardMessageError = Malformed("a string that is no UTF-8");
const DEEP: CardMessageError = Malformed("messages nested too deep");
const NUMBER: CardMessageError = Malformed("a number that JSON does not have");

/// The card in the body of an answer to `GetExtendedAgentCard` (A2A 1.0 §10) or to `GetAgentCard` of 0.3, in JSON of at
/// most `max` bytes.
///
/// As in every reader of proto3, unknown fields are passed over, the last of a kind and of a `oneof` counts, and
/// messages that come twice are merged. What the specification requires and has no presence on the wire (strings and
/// lists of 1.0) is there with its default. Whether it is a card at all
/// [`AgentCard::read`](crate::card::AgentCard::read) says.
///
/// # Errors
///
/// What makes the body none.
pub fn to_json(body: &[u8], dialect: GrpcDialect, max: usize) -> Result<Vec<u8>, CardMessageError> {
    let (prefix, message) = body.split_first_chunk::<PREFIX>().ok_or(NotOneMessage)?;
    let [0, length @ ..] = prefix else { return Err(NotOneMessage) };
    if usize::try_from(u32::from_be_bytes(*length)) != Ok(message.len()) {
        return Err(NotOneMessage);
    }
    let mut card = Map::new();
    let fields: &[Field] = match dialect {
        GrpcDialect::V1 => &schema::V1,
        GrpcDialect::V03 => &schema::V03,
    };
    Reader { left: max }.message(message, fields, DEPTH, &mut card)?;
    let json = serde_json::to_vec(&card).map_err(|_| NUMBER)?;
    if json.len() > max { Err(TooLarge) } else { Ok(json) }
}

/// Reads messages into objects, as long as there is room.
struct Reader {
    /// How much longer the JSON may become: what two bytes of a message say may be a page.
    left: usize,
}

impl Reader {
    fn message(
        &mut self,
        bytes: &[u8],
        fields: &'static [Field],
        depth: u8,
        object: &mut Map<String, Json>,
    ) -> Result<(), CardMessageError> {
        let depth = depth.checked_sub(1).ok_or(DEEP)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (number, value) = field(&mut rest).ok_or(CUT)?;
            if let Some(Field { name, kind, presence, .. }) = fields.iter().find(|known| known.number == number) {
                if *presence == Presence::Member && !object.contains_key(*name) {
                    object.clear();
                }
                self.set(name, *kind, value, depth, object)?;
            }
        }
        for Field { name, kind, .. } in fields.iter().filter(|field| field.is_filled_in()) {
            if let Entry::Vacant(absent) = object.entry(*name) {
                self.spend(name.len() + 5)?;
                absent.insert(default_of(*kind));
            }
        }
        Ok(())
    }

    /// A field of an object: the first of its kind, or one more.
    fn set(
        &mut self,
        name: &str,
        kind: Kind,
        value: Value<'_>,
        depth: u8,
        object: &mut Map<String, Json>,
    ) -> Result<(), CardMessageError> {
        self.spend(name.len() + 4)?;
        let place = object.entry(name).or_insert(Json::Null);
        match kind {
            Kind::List(item) => {
                let item = self.value(*item, value, depth, Json::Null)?;
                list_of(place)?.push(item);
            }
            Kind::Map(of) => {
                let depth = depth.checked_sub(1).ok_or(DEEP)?;
                let mut read = default_of(*of);
                let key = self.entry(bytes_of(value)?, |this, value| {
                    read = this.value(*of, value, depth, read.take())?;
                    Ok(())
                })?;
                object_of(place)?.insert(key, read);
            }
            kind => *place = self.value(kind, value, depth, place.take())?,
        }
        Ok(())
    }

    /// One value; `before`, if it is a message, is what it is merged with.
    fn value(&mut self, kind: Kind, value: Value<'_>, depth: u8, before: Json) -> Result<Json, CardMessageError> {
        Ok(match kind {
            Kind::Text => Json::String(self.text(bytes_of(value)?)?),
            Kind::Flag => {
                let Value::Number(flag) = value else { return Err(TYPE) };
                self.spend(5)?;
                Json::Bool(flag != 0)
            }
            Kind::Message(fields) => {
                self.spend(3)?;
                let mut before = before;
                self.message(bytes_of(value)?, fields, depth, object_of(&mut before)?)?;
                before
            }
            Kind::Struct => {
                let mut before = before;
                self.fields_of_struct(bytes_of(value)?, depth, object_of(&mut before)?)?;
                before
            }
            // A list or map is a field's, and no value of its own.
            Kind::List(_) | Kind::Map(_) => Json::Null,
        })
    }

    /// `google.protobuf.Struct`: a map of values, which is 1.
    fn fields_of_struct(
        &mut self,
        bytes: &[u8],
        depth: u8,
        object: &mut Map<String, Json>,
    ) -> Result<(), CardMessageError> {
        // The entry is a message too.
        let depth = depth.checked_sub(2).ok_or(DEEP)?;
        self.spend(3)?;
        for bytes in repeated(bytes) {
            let mut read = Json::Null;
            let key = self.entry(bytes?, |this, value| this.any(bytes_of(value)?, depth, &mut read))?;
            object.insert(key, read);
        }
        Ok(())
    }

    /// `google.protobuf.Value`: the last of its members.
    fn any(&mut self, bytes: &[u8], depth: u8, place: &mut Json) -> Result<(), CardMessageError> {
        let depth = depth.checked_sub(1).ok_or(DEEP)?;
        let mut rest = bytes;
        self.spend(6)?;
        while !rest.is_empty() {
            *place = match field(&mut rest).ok_or(CUT)? {
                (1, Value::Number(_)) => Json::Null,
                (2, Value::Fixed64(bytes)) => number_of(f64::from_le_bytes(bytes))?,
                (3, Value::Bytes(text)) => Json::String(self.text(text)?),
                (4, Value::Number(flag)) => Json::Bool(flag != 0),
                (5, Value::Bytes(object)) => {
                    self.fields_of_struct(object, depth, object_of(place)?)?;
                    continue;
                }
                (6, Value::Bytes(list)) => {
                    self.items_of_list(list, depth, list_of(place)?)?;
                    continue;
                }
                (1..=6, _) => return Err(TYPE),
                _ => continue,
            };
        }
        Ok(())
    }

    /// `google.protobuf.ListValue`: values, which are 1.
    fn items_of_list(&mut self, bytes: &[u8], depth: u8, list: &mut Vec<Json>) -> Result<(), CardMessageError> {
        let depth = depth.checked_sub(1).ok_or(DEEP)?;
        for bytes in repeated(bytes) {
            let mut item = Json::Null;
            self.any(bytes?, depth, &mut item)?;
            list.push(item);
        }
        Ok(())
    }

    /// An entry of a map: its key, which is 1; `read` is given its value, which is 2, each time that it comes.
    fn entry(
        &mut self,
        bytes: &[u8],
        mut read: impl FnMut(&mut Self, Value<'_>) -> Result<(), CardMessageError>,
    ) -> Result<String, CardMessageError> {
        let mut rest = bytes;
        let mut key = String::new();
        while !rest.is_empty() {
            match field(&mut rest).ok_or(CUT)? {
                (1, value) => key = self.text(bytes_of(value)?)?,
                (2, value) => read(self, value)?,
                _ => {}
            }
        }
        self.spend(4)?;
        Ok(key)
    }

    fn text(&mut self, bytes: &[u8]) -> Result<String, CardMessageError> {
        self.spend(bytes.len() + 3)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| UTF8)
    }

    fn spend(&mut self, length: usize) -> Result<(), CardMessageError> {
        self.left = self.left.checked_sub(length).ok_or(TooLarge)?;
        Ok(())
    }
}

fn default_of(kind: Kind) -> Json {
    match kind {
        Kind::Text => Json::String(String::new()),
        Kind::Flag => Json::Bool(false),
        Kind::List(_) => Json::Array(Vec::new()),
        Kind::Message(_) | Kind::Map(_) | Kind::Struct => Json::Object(Map::new()),
    }
}

fn object_of(place: &mut Json) -> Result<&mut Map<String, Json>, CardMessageError> {
    if !place.is_object() {
        *place = Json::Object(Map::new());
    }
    place.as_object_mut().ok_or(TYPE)
}

fn list_of(place: &mut Json) -> Result<&mut Vec<Json>, CardMessageError> {
    if !place.is_array() {
        *place = Json::Array(Vec::new());
    }
    place.as_array_mut().ok_or(TYPE)
}

/// The field 1 of a message that has no other.
fn repeated(bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], CardMessageError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            match field(&mut rest) {
                Some((1, value)) => return Some(bytes_of(value)),
                Some(_) => {}
                None => {
                    rest = &[];
                    return Some(Err(CUT));
                }
            }
        }
        None
    })
}

fn bytes_of(value: Value<'_>) -> Result<&[u8], CardMessageError> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(TYPE),
    }
}

/// A whole number as one: that is how it stands in a card that was written in JSON.
fn number_of(number: f64) -> Result<Json, CardMessageError> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Ok(Json::from(number as i64));
    }
    serde_json::Number::from_f64(number).map(Json::Number).ok_or(NUMBER)
}

#[cfg(test)]
mod tests;
