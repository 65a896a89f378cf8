//! Where a card is slightly wrong, or newer than this crate, and was read all the same.

use std::fmt::{self, Display, Write as _};

use crate::wire::text::escape;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $violation:literal;)*) => {
        /// What is odd about a place in a card.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum WarningKind {
            $($(#[$doc])* $name,)*
        }

        impl WarningKind {
            /// The stable word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// Whether the card breaks its specification here. What is only unknown to this crate does not: a reader
            /// should ignore it (A2A 1.0 §5.7).
            #[must_use]
            pub const fn is_violation(self) -> bool {
                match self {
                    $(Self::$name => $violation,)*
                }
            }
        }
    };
}

kinds! {
    /// A field that the card's version does not know. It was ignored.
    UnknownField = "unknown_field", false;
    /// A kind of security scheme that the card's version does not know.
    UnknownSecurityScheme = "unknown_security_scheme", false;
    /// A list or object that is `null` where leaving it out says the same. Servers written in Go do so.
    Null = "null", false;
    /// The URL of a gRPC interface has a path. Only its host and port count.
    GrpcUrlHasPath = "grpc_url_has_path", false;
    /// A byte order mark before the card (RFC 8259 §8.1).
    ByteOrderMark = "byte_order_mark", true;
    /// A required list that is `null` (A2A 1.0 §5.7).
    NullList = "null_list", true;
    /// A required list that is empty (A2A 1.0 §5.7).
    EmptyList = "empty_list", true;
    /// A required field that nobody relies on is missing.
    Missing = "missing", true;
    /// A text with half a character in it, as a server writes that cut it. The half was replaced (RFC 8259 §8.2).
    HalfCharacter = "half_character", true;
    /// Another JSON type than the field has. It was read as absent.
    WrongType = "wrong_type", true;
    /// A name that stands twice in one object. The last one was read (RFC 8259 §4).
    Repeated = "repeated", true;
    /// A binding's name in another case than the specification's.
    BindingCase = "binding_case", true;
    /// A security block that does not have the form of its version. Nothing was read out of it.
    OddSecurity = "odd_security", true;
}

impl Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One odd place in a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    path: Box<str>,
    what: WarningKind,
}

impl Warning {
    /// The place, spelled like `capabilities.extensions[0].uri`; empty for the card itself. It may hold names out of
    /// the card: they are cut, and escaped where they are displayed.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is odd there.
    #[must_use]
    pub fn what(&self) -> WarningKind {
        self.what
    }
}

impl Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => write!(f, "{}", self.what),
            path => write!(f, "{} at {}", self.what, escape(path, Warnings::PATH)),
        }
    }
}

/// The first warnings of a card, and how many more there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Warnings {
    kept: Vec<Warning>,
    dropped: usize,
}

impl Warnings {
    const MAX: usize = 32;
    const PATH: usize = 160;

    pub(super) fn push(&mut self, path: impl Display, what: WarningKind) {
        if self.kept.len() >= Self::MAX {
            self.dropped += 1;
            // A flood of harmless oddities must not hide the one that a strict reader refuses.
            if !what.is_violation() || self.first_violation().is_some() {
                return;
            }
            self.kept.pop();
        }
        let mut text = Bounded { text: String::new(), room: Self::PATH };
        // It only fails where the room is used up.
        let _ = write!(text, "{path}");
        self.kept.push(Warning { path: text.text.into_boxed_str(), what });
    }

    pub(super) fn kept(&self) -> &[Warning] {
        &self.kept
    }

    pub(super) fn dropped(&self) -> usize {
        self.dropped
    }

    pub(super) fn first_violation(&self) -> Option<&Warning> {
        self.kept.iter().find(|warning| warning.what.is_violation())
    }
}

struct Bounded {
    text: String,
    room: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_bounded_and_a_violation_is_never_lost() {
        let mut warnings = Warnings::default();
        for index in 0..1000 {
            warnings.push(format_args!("x{index}"), WarningKind::UnknownField);
        }
        assert_eq!((warnings.kept().len(), warnings.dropped()), (Warnings::MAX, 1000 - Warnings::MAX));
        assert_eq!(warnings.first_violation(), None);
        warnings.push("skills", WarningKind::EmptyList);
        warnings.push("defaultInputModes", WarningKind::EmptyList);
        assert_eq!(warnings.first_violation().unwrap().path(), "skills");
        assert_eq!(warnings.kept().len(), Warnings::MAX);
        assert_eq!(warnings.dropped(), 1002 - Warnings::MAX);
    }

    #[test]
    fn paths_are_cut_and_displayed_on_one_line() {
        let mut warnings = Warnings::default();
        warnings.push("é".repeat(500), WarningKind::UnknownField);
        warnings.push("a\nb", WarningKind::UnknownField);
        warnings.push("", WarningKind::ByteOrderMark);
        assert_eq!(warnings.kept()[0].path().chars().count(), Warnings::PATH);
        assert_eq!(warnings.kept()[1].to_string(), "unknown_field at a\\nb");
        assert_eq!(warnings.kept()[2].to_string(), "byte_order_mark");
    }
}
