//! The names of the members that a judge asks about.
//!
//! A document has a few dozen members to look at, one after the other, and which comes next nobody can predict. So a
//! name is looked up in a table, without a branch for each of them.

/// A name that somebody asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    JsonRpc,
    Id,
    Result,
    Error,
    Code,
    Message,
    Task,
    StatusUpdate,
    ArtifactUpdate,
    Kind,
    SessionId,
    Detail,
    Details,
    Type,
    Title,
    Instance,
    TaskId,
    ContextId,
    Status,
    State,
    Artifact,
    Final,
    MessageId,
    Parts,
    Role,
}

const NAMES: [(&str, Name); 25] = [
    ("jsonrpc", Name::JsonRpc),
    ("id", Name::Id),
    ("result", Name::Result),
    ("error", Name::Error),
    ("code", Name::Code),
    ("message", Name::Message),
    ("task", Name::Task),
    ("statusUpdate", Name::StatusUpdate),
    ("artifactUpdate", Name::ArtifactUpdate),
    ("kind", Name::Kind),
    ("sessionId", Name::SessionId),
    ("detail", Name::Detail),
    ("details", Name::Details),
    ("type", Name::Type),
    ("title", Name::Title),
    ("instance", Name::Instance),
    ("taskId", Name::TaskId),
    ("contextId", Name::ContextId),
    ("status", Name::Status),
    ("state", Name::State),
    ("artifact", Name::Artifact),
    ("final", Name::Final),
    ("messageId", Name::MessageId),
    ("parts", Name::Parts),
    ("role", Name::Role),
];

/// Between its first and its last word, no byte of a text of up to 16 is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Words {
    first: u64,
    last: u64,
    len: usize,
}

impl Words {
    const NONE: Self = Self { first: 0, last: 0, len: 0 };

    /// `None` of a text that is none of the names, by its length alone.
    #[inline(always)]
    const fn of(text: &[u8]) -> Option<Self> {
        let len = text.len();
        let (first, last) = match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (text.first_chunk(), text.last_chunk()) {
                (Some(first), Some(last)) => (u32::from_le_bytes(*first) as u64, u32::from_le_bytes(*last) as u64),
                _ => match text {
                    [first, last] => (*first as u64, *last as u64),
                    _ => return None,
                },
            },
        };
        if len > 16 { None } else { Some(Self { first, last, len }) }
    }

    #[inline(always)]
    const fn place(self, factor: u64) -> usize {
        let mixed = self.first ^ self.last.rotate_left(29) ^ self.len as u64;
        (mixed.wrapping_mul(factor) >> (u64::BITS - PLACES.ilog2())) as usize
    }
}

const PLACES: usize = 64;

/// Each name at a place of its own.
static TABLE: [(Words, Name); PLACES] = table(FACTOR);

/// The first odd factor from a start of no meaning that gives each name a place of its own.
const FACTOR: u64 = {
    let mut factor: u64 = 0x9e37_79b9_7f4a_7c15;
    while !is_perfect(factor) {
        factor = factor.wrapping_mul(0x5851_f42d_4c95_7f2d) | 1;
    }
    factor
};

const fn words_of(at: usize) -> Words {
    match Words::of(NAMES[at].0.as_bytes()) {
        Some(words) => words,
        None => panic!("a name of another length"),
    }
}

const fn is_perfect(factor: u64) -> bool {
    let (mut taken, mut at) = (0_u64, 0);
    while at < NAMES.len() {
        let bit = 1 << words_of(at).place(factor);
        if taken & bit != 0 {
            return false;
        }
        taken |= bit;
        at += 1;
    }
    true
}

const fn table(factor: u64) -> [(Words, Name); PLACES] {
    let mut table = [(Words::NONE, Name::Id); PLACES];
    let mut at = 0;
    while at < NAMES.len() {
        let words = words_of(at);
        table[words.place(factor)] = (words, NAMES[at].1);
        at += 1;
    }
    table
}

impl Name {
    #[inline(always)]
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let words = Words::of(text)?;
        let (found, name) = TABLE.get(words.place(FACTOR))?;
        (*found == words).then_some(*name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_found_and_nothing_beside_it() {
        for (text, name) in NAMES {
            assert_eq!(Name::of(text.as_bytes()), Some(name), "{text}");
            for place in 0..text.len() {
                let mut other = text.as_bytes().to_vec();
                other[place] ^= 1;
                let is_another = NAMES.iter().any(|(text, _)| text.as_bytes() == other);
                assert!(is_another || Name::of(&other).is_none(), "{other:?}");
                other.remove(place);
                let is_another = NAMES.iter().any(|(text, _)| text.as_bytes() == other);
                assert!(is_another || Name::of(&other).is_none(), "{other:?}");
            }
        }
        for text in ["", "i", "ids", "tasks", "messages", "aaaaaaaaaaaaaaaaaaaaaaaaa"] {
            assert_eq!(Name::of(text.as_bytes()), None, "{text}");
        }
    }
}
