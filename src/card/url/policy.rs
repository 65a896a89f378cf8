//! What a URL out of a card may point to.

#[cfg(test)]
mod tests;

use super::{CardUrl, Origin, Scheme, UrlFault, address::Reach, host::Host, paths};

/// The first part in which a URL leaves the origin that it was expected to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::card) enum Leaves {
    Scheme,
    Authority,
}

/// What a URL out of a card may point to.
///
/// A card is data from a stranger, and its URLs are where credentials go. So the safe policy is the default, and each
/// exception is one by name:
///
/// ```
/// # use a2a_guard::card::{Origin, UrlPolicy};
/// // A gateway's card sends callers to the agents behind it, all of them at one other place.
/// let policy = UrlPolicy::strict().allow_other_origin(Origin::parse("https://agents.example.com")?);
/// # Ok::<(), a2a_guard::card::UrlFault>(())
/// ```
///
/// Whatever the policy, what the caller itself named stays allowed: the host that it dispatches to, and loopback from
/// loopback. A host *name* is not looked up here. Where it leads is the connector's to check, at the moment it
/// connects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UrlPolicy {
    plaintext: bool,
    loopback: bool,
    private: bool,
    link_local: bool,
    operation_paths: bool,
    any_origin: bool,
    origins: Vec<Origin>,
}

impl UrlPolicy {
    /// The same origin as the agent's, and nothing else. The default.
    #[must_use]
    pub fn strict() -> Self {
        Self::default()
    }

    /// The scheme may differ from the agent's: `http` behind a mesh that encrypts, say. Credentials then travel as
    /// safely as that network is.
    #[must_use]
    pub fn allow_plaintext(mut self) -> Self {
        self.plaintext = true;
        self
    }

    /// Loopback addresses and `localhost`, from anywhere.
    #[must_use]
    pub fn allow_loopback(mut self) -> Self {
        self.loopback = true;
        self
    }

    /// Addresses of private and shared networks (RFC 1918, RFC 6598, RFC 4193), from anywhere.
    #[must_use]
    pub fn allow_private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Link-local addresses, from anywhere. Cloud metadata services live there.
    #[must_use]
    pub fn allow_link_local(mut self) -> Self {
        self.link_local = true;
        self
    }

    /// URLs that look like the path of one operation: for an agent that does live at `…/tasks/x`.
    #[must_use]
    pub fn allow_operation_paths(mut self) -> Self {
        self.operation_paths = true;
        self
    }

    /// One more origin, whatever its scheme and address. Call it once for each.
    #[must_use]
    pub fn allow_other_origin(mut self, origin: Origin) -> Self {
        self.origins.push(origin);
        self
    }

    /// Every origin, as far as its address is allowed and its scheme is no downgrade. A host that is not ASCII must
    /// still be named: clients differ about which name it stands for.
    #[must_use]
    pub fn allow_any_origin(mut self) -> Self {
        self.any_origin = true;
        self
    }

    pub(in crate::card) fn admits_other_scheme(&self) -> bool {
        self.plaintext
    }

    /// Whether `url` can be called at all by someone who was told of `agent`.
    ///
    /// # Errors
    ///
    /// The first reason why not.
    pub fn usable(&self, url: &CardUrl, agent: &Origin) -> Result<(), UrlFault> {
        if url.user_info {
            return Err(UrlFault::UserInfo);
        }
        if !self.is_named(url) && url.host != *agent.host() {
            self.reachable(&url.host, agent)?;
        }
        if paths::is_card(&url.path) {
            return Err(UrlFault::CardPath);
        }
        if paths::is_operation(&url.path) && !self.operation_paths {
            return Err(UrlFault::OperationPath);
        }
        Ok(())
    }

    fn reachable(&self, host: &Host, agent: &Origin) -> Result<(), UrlFault> {
        let fault = match host.reach() {
            Reach::Public => None,
            Reach::Unspecified => Some(UrlFault::Unspecified),
            Reach::Loopback if self.loopback || agent.host().reach() == Reach::Loopback => None,
            Reach::Loopback => Some(UrlFault::Loopback),
            Reach::LinkLocal => Some(UrlFault::LinkLocal).filter(|_| !self.link_local),
            Reach::Private => Some(UrlFault::Private).filter(|_| !self.private),
            Reach::NotUnicast => Some(UrlFault::NotUnicast),
        };
        match fault {
            Some(fault) => Err(fault),
            None if host.is_odd_address() => Err(UrlFault::OddAddress),
            None => Ok(()),
        }
    }

    /// Where `url` leaves `agent`'s origin without being allowed to.
    pub(in crate::card) fn leaves(&self, url: &CardUrl, agent: &Origin) -> Option<Leaves> {
        if self.is_named(url) {
            return None;
        }
        let downgrade = url.scheme == Some(Scheme::Http) && agent.scheme() == Scheme::Https;
        let same_scheme = url.scheme.is_none_or(|scheme| scheme == agent.scheme());
        if !same_scheme && !self.plaintext && (downgrade || !self.any_origin) {
            return Some(Leaves::Scheme);
        }
        if self.any_origin && url.host.is_ascii() {
            return None;
        }
        (!url.same_authority(agent.url())).then_some(Leaves::Authority)
    }

    fn is_named(&self, url: &CardUrl) -> bool {
        self.origins.iter().any(|origin| origin.is_of(url))
    }
}
