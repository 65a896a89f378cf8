//! Which facts of a call make a difference to its card.

/// Which facts of a call, other than target and tenant, decide which card it gets. The card's own answers tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::card_consistency::store) struct Scope {
    /// `Vary` names `A2A-Version`.
    pub(in crate::card_consistency::store) version: bool,
    /// It is `private`, `Vary` names a credential, or it came after a 401.
    pub(in crate::card_consistency::store) credential: bool,
    /// It is the extended card, which stands beside the public one.
    pub(in crate::card_consistency::store) extended: bool,
}

impl Scope {
    pub(in crate::card_consistency::store) const FULL: Self = Self { version: true, credential: true, extended: false };

    /// An extended card is asked for in a call's dialect, with its credentials, for its tenant.
    pub(in crate::card_consistency::store) const EXTENDED: Self =
        Self { version: true, credential: true, extended: true };

    pub(in crate::card_consistency::store) fn is_narrow(self) -> bool {
        self.version || self.credential
    }

    pub(in crate::card_consistency::store) fn and(self, other: Self) -> Self {
        Self {
            version: self.version || other.version,
            credential: self.credential || other.credential,
            extended: self.extended || other.extended,
        }
    }
}
