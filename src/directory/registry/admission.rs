//! Who may be registered, and by whom.

use http::Uri;

use super::{
    Directory,
    writing::{Events, Writing},
};
use crate::{
    card::{CardUrl, Origin},
    directory::{Change, PeerId, RegistryError, bounds::DirectoryBounds, index::Index, tokens::cut},
};

impl Directory {
    /// Whether `owner` may register `base` at all.
    pub(super) fn admitted(&self, base: &Uri, owner: &str) -> Result<PeerId, RegistryError> {
        let peer = PeerId::of(base)?;
        let settings = &self.inner.settings;
        let judged = if owner.is_empty() || owner.len() > DirectoryBounds::NAME {
            Err(RegistryError::Owner)
        } else {
            // What a registrant names is a stranger's word: seen from a place that nobody is at.
            let usable = CardUrl::of(base).and_then(|url| {
                let nowhere = Origin::parse("https://directory.invalid")?;
                settings.urls.usable(&url, &nowhere)
            });
            usable.map_err(RegistryError::Unusable).and_then(|()| match &settings.admission {
                Some(admission) => admission(owner, &peer).map_err(|why| RegistryError::NotAdmitted(why.into())),
                None => Ok(()),
            })
        };
        let judged = judged.and_then(|()| self.may_write(&self.inner.writing(), &self.inner.current(), &peer, owner));
        match judged {
            Ok(()) => Ok(peer),
            Err(error) => Err(self.refused(&peer, owner, error)),
        }
    }

    pub(super) fn may_write(
        &self,
        writing: &Writing,
        current: &Index,
        peer: &PeerId,
        owner: &str,
    ) -> Result<(), RegistryError> {
        let bounds = &self.inner.settings.bounds;
        if writing.revoked.contains_key(peer) {
            return Err(RegistryError::Revoked);
        }
        match current.peer(peer) {
            Some(known) if *known.owner != *owner => Err(RegistryError::OwnedByAnother),
            Some(_) => Ok(()),
            None if current.len() >= bounds.peers => Err(RegistryError::Full(bounds.peers)),
            None if writing.owners.get(owner).is_some_and(|peers| *peers >= bounds.peers_of_owner) => {
                Err(RegistryError::OwnerFull(bounds.peers_of_owner))
            }
            None => Ok(()),
        }
    }

    pub(in crate::directory) fn refused(&self, peer: &PeerId, owner: &str, error: RegistryError) -> RegistryError {
        let owner = cut(owner, DirectoryBounds::NAME).into();
        let change = Change::Refused { why: cut(&error.to_string(), 1024).into() };
        let event = self.inner.event(&mut self.inner.writing(), peer, &owner, change);
        self.tell(Events(vec![event]));
        error
    }
}
