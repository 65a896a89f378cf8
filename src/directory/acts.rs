//! What owners and operators do about peers that are registered.

use std::sync::Arc;

use super::{Change, Directory, PeerId, RegistryError, registry::Events, tokens::cut};

impl Directory {
    /// Takes a peer out, for the owner who registered it. It may come back.
    ///
    /// # Errors
    ///
    /// It is not there, or somebody else's.
    pub fn withdraw(&self, peer: &PeerId, owner: &str) -> Result<(), RegistryError> {
        let mut writing = self.inner.writing();
        let known = self.inner.current().peer(peer).cloned();
        let error = match known {
            Some(known) if *known.owner == *owner => {
                let events = self.inner.take_out(&mut writing, &known, Change::Withdrawn);
                drop(writing);
                self.tell(events);
                return Ok(());
            }
            Some(_) => RegistryError::OwnedByAnother,
            None => RegistryError::Unknown,
        };
        drop(writing);
        Err(self.refused(peer, owner, error))
    }

    /// Takes a peer out and keeps it out, whoever registered it: for an operator. It takes effect at once, also for
    /// whoever chose the peer already and did not call it yet. `why` stands in the audit, cut.
    pub fn revoke(&self, peer: &PeerId, why: &str) {
        let mut writing = self.inner.writing();
        let known = self.inner.current().peer(peer).cloned();
        let change = Change::Revoked { why: cut(why, 1024).into() };
        let events = match known {
            Some(known) => {
                writing.revoked.insert(peer.clone(), Arc::clone(&known.owner));
                self.inner.take_out(&mut writing, &known, change)
            }
            None => {
                let nobody: Arc<str> = "".into();
                writing.revoked.insert(peer.clone(), Arc::clone(&nobody));
                Events(vec![self.inner.event(&mut writing, peer, &nobody, change)])
            }
        };
        drop(writing);
        self.tell(events);
    }

    /// Lets a revoked peer be registered again. Whether it was revoked.
    pub fn reinstate(&self, peer: &PeerId) -> bool {
        let mut writing = self.inner.writing();
        let Some(owner) = writing.revoked.remove(peer) else { return false };
        let event = self.inner.event(&mut writing, peer, &owner, Change::Reinstated);
        drop(writing);
        self.tell(Events(vec![event]));
        true
    }

    /// An operator, by this name, vouches for a peer, or does no longer. Whether it is registered.
    pub fn vouch(&self, peer: &PeerId, by: &str, stands: bool) -> bool {
        let mut writing = self.inner.writing();
        let current = self.inner.current();
        let Some(known) = current.peer(peer) else { return false };
        if !known.state.vouch(stands) {
            return true;
        }
        let change = Change::Vouched { by: cut(by, 256).into(), stands };
        let event = self.inner.event(&mut writing, peer, &known.owner, change);
        drop(writing);
        self.tell(Events(vec![event]));
        true
    }
}
