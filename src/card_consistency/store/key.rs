//! What a card is kept under, and how that is looked up without an allocation.

mod borrowed;
mod key_ref;
mod keying;
mod parts;
mod scope;
mod target;

#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};

use http::{HeaderValue, Uri, uri::Authority};

pub use self::key_ref::CardKeyRef;
pub(in crate::card_consistency) use self::parts::Judge;
pub(super) use self::{
    borrowed::Borrowed,
    keying::Keying,
    parts::Credential,
    scope::Scope,
    target::{port, trimmed},
};
use self::{
    parts::{Beside, VersionPart},
    target::{Canonical, SchemePart},
};
use crate::words;

/// The key of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardKey {
    scheme: Box<str>,
    authority: Box<str>,
    path: Box<str>,
    tenant: Box<str>,
    beside: Beside,
    /// Each with its header's place among those configured.
    headers: Box<[(usize, HeaderValue)]>,
    version: VersionPart,
    credential: Credential,
}

impl CardKey {
    fn scheme(&self) -> SchemePart<'_> {
        match &*self.scheme {
            "http" => SchemePart::Http,
            "https" => SchemePart::Https,
            other => SchemePart::Other(other),
        }
    }

    /// Whether it is one of the target's, whatever else it depends on.
    pub(super) fn is_of(&self, target: &Uri) -> bool {
        let scheme = SchemePart::of(target);
        let authority = Canonical::of(target.authority().map_or("", Authority::as_str), scheme);
        self.scheme() == scheme && *self.authority == *authority.as_str() && *self.path == *trimmed(target.path())
    }

    pub(super) fn target(&self) -> String {
        let (host, port) = words::host_and_port(&self.authority);
        let port = port.unwrap_or_else(|| self.scheme().default_port());
        format!("{}://{host}:{port}{}", self.scheme, self.path)
    }

    pub(super) fn is_by_credential(&self) -> bool {
        self.credential != Credential::ANY
    }

    pub(super) fn is_extended(&self) -> bool {
        self.beside == Beside::EXTENDED
    }
}

impl Hash for CardKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let headers = self.headers.iter().map(|(index, value)| (*index, value));
        let parts = (self.version, self.credential, self.beside);
        hash(state, &self.authority, (&self.path, &self.tenant), headers, parts);
    }
}

/// The same for both kinds of keys. The scheme is left to the comparison: hardly an agent has both.
fn hash<'a, H: Hasher>(
    state: &mut H,
    authority: &str,
    (path, tenant): (&str, &str),
    headers: impl Iterator<Item = (usize, &'a HeaderValue)>,
    (version, credential, beside): (VersionPart, Credential, Beside),
) {
    // Without what would tell `a` and `bc` from `ab` and `c`: to hash alike costs a comparison.
    state.write(authority.as_bytes());
    state.write(path.as_bytes());
    if version != VersionPart::ANY || credential != Credential::ANY || beside != Beside::CARD {
        state.write_u64(beside.0.rotate_left(32) ^ u64::from(version.0));
        state.write_u64(credential.0);
    }
    if !tenant.is_empty() {
        state.write(tenant.as_bytes());
    }
    for (index, value) in headers {
        state.write_usize(index);
        state.write(value.as_bytes());
    }
}
