//! A key put together from a call, of nothing but what stands in the call.

use std::hash::{Hash, Hasher};

use http::{HeaderMap, HeaderName, HeaderValue};
use quick_cache::Equivalent;

use super::{
    CardKey, hash,
    parts::{Beside, Credential, VersionPart},
    target::{Canonical, SchemePart},
};
use crate::words;

/// The values of tenant headers, each with its header's place. Read where they stand: most stores know no such header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a> {
    pub(super) names: &'a [HeaderName],
    pub(super) of: &'a HeaderMap,
}

impl<'a> Values<'a> {
    #[inline]
    fn iter(self) -> impl Iterator<Item = (usize, &'a HeaderValue)> {
        let Self { names, of } = self;
        let values = move |(index, name)| of.get_all(name).iter().map(move |value| (index, value));
        names.iter().enumerate().flat_map(values)
    }
}

/// A key put together from a call.
#[derive(Debug)]
pub(in crate::card_consistency::store) struct Borrowed<'a> {
    pub(super) scheme: SchemePart<'a>,
    pub(super) authority: &'a str,
    pub(super) path: &'a str,
    pub(super) tenant: &'a str,
    pub(super) beside: Beside,
    pub(super) headers: Values<'a>,
    pub(super) version: VersionPart,
    pub(super) credential: Credential,
}

impl Borrowed<'_> {
    fn headers_equal(&self, kept: &[(usize, HeaderValue)]) -> bool {
        if self.headers.names.is_empty() {
            return kept.is_empty();
        }
        let mut kept = kept.iter();
        let same = self.headers.iter().all(|(index, value)| {
            kept.next().is_some_and(|kept| kept.0 == index && words::equal(kept.1.as_bytes(), value.as_bytes()))
        });
        same && kept.next().is_none()
    }

    /// Looks it up as it is, then as keys have it.
    #[inline]
    pub(in crate::card_consistency::store) fn find<T>(&self, find: impl Fn(&Borrowed<'_>) -> Option<T>) -> Option<T> {
        find(self).or_else(|| {
            let authority = Canonical::of(self.authority, self.scheme);
            if authority.as_str() == self.authority {
                return None;
            }
            let Self { scheme, path, tenant, beside, headers, version, credential, .. } = *self;
            let authority = authority.as_str();
            find(&Borrowed { scheme, authority, path, tenant, beside, headers, version, credential })
        })
    }

    pub(in crate::card_consistency::store) fn to_key(&self) -> CardKey {
        CardKey {
            scheme: self.scheme.as_str().to_ascii_lowercase().into(),
            authority: Canonical::of(self.authority, self.scheme).as_str().into(),
            path: self.path.into(),
            tenant: self.tenant.into(),
            beside: self.beside,
            headers: self.headers.iter().map(|(index, value)| (index, value.clone())).collect(),
            version: self.version,
            credential: self.credential,
        }
    }
}

impl Hash for Borrowed<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parts = (self.version, self.credential, self.beside);
        hash(state, self.authority, (self.path, self.tenant), self.headers.iter(), parts);
    }
}

impl Equivalent<CardKey> for Borrowed<'_> {
    fn equivalent(&self, key: &CardKey) -> bool {
        self.version == key.version
            && self.credential == key.credential
            && self.beside == key.beside
            && words::equal(self.authority.as_bytes(), key.authority.as_bytes())
            && words::equal(self.path.as_bytes(), key.path.as_bytes())
            && self.scheme == key.scheme()
            && words::equal(self.tenant.as_bytes(), key.tenant.as_bytes())
            && self.headers_equal(&key.headers)
    }
}
