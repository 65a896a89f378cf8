//! How much of what strangers say is kept.

/// The most that a [`Directory`](super::Directory) keeps. What is beyond is left out, and the audit says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryBounds {
    pub(super) peers: usize,
    pub(super) peers_of_owner: usize,
    pub(super) skills: usize,
    pub(super) tags: usize,
    pub(super) words: usize,
    pub(super) interfaces: usize,
}

impl Default for DirectoryBounds {
    fn default() -> Self {
        Self { peers: 4096, peers_of_owner: 4096, skills: 64, tags: 16, words: 256, interfaces: 16 }
    }
}

/// What no option raises.
impl DirectoryBounds {
    /// The longest id, tag and media type, in bytes. What is longer is left out, for a cut one would be another one.
    pub(super) const ID: usize = 256;
    /// The most characters of a text in an event.
    pub(super) const SHOWN: usize = 160;
    /// The most bytes of an owner's or a caller's name.
    pub(super) const NAME: usize = 256;
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, most: usize) -> Self {
            self.$name = most;
            self
        }
    )*};
}

impl DirectoryBounds {
    setters! {
        /// Peers in all. Default: 4,096. What is known of them by calls has a
        /// [bound of its own](super::EvidenceBuilder::capacity), to be raised with this one.
        peers;
        /// Peers that one owner may register. Default: 4,096.
        peers_of_owner;
        /// Skills of one peer, of its card and its tools each. Default: 64.
        skills;
        /// Tags of one skill. Default: 16.
        tags;
        /// Different words of one skill: of its name, tags, description and examples. Default: 256.
        words;
        /// Interfaces of one peer. Default: 16.
        interfaces;
    }
}
