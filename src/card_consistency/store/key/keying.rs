//! How a key is put together from a call.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use http::{HeaderMap, HeaderName, uri::Authority};

use super::{
    Borrowed, CardKeyRef, Scope,
    borrowed::Values,
    parts::{Beside, Credential, Judge, VersionPart},
    target::{SchemePart, trimmed},
};

/// Which parts of a call are parts of its keys.
#[derive(Debug)]
pub(in crate::card_consistency::store) struct Keying {
    pub(in crate::card_consistency::store) tenant_headers: Box<[HeaderName]>,
    pub(in crate::card_consistency::store) credential_headers: Box<[HeaderName]>,
    /// A configured location depends on the tenant.
    pub(in crate::card_consistency::store) by_tenant: bool,
    pub(in crate::card_consistency::store) random: RandomState,
}

impl Keying {
    pub(in crate::card_consistency::store) fn has_credentials(&self, headers: &HeaderMap) -> bool {
        self.credential_headers.iter().any(|name| headers.contains_key(name))
    }

    pub(in crate::card_consistency::store) fn judge(&self, rules: impl Hash) -> Judge {
        Judge(self.random.hash_one(rules))
    }

    pub(in crate::card_consistency::store) fn credential(&self, headers: &HeaderMap) -> Credential {
        let mut hasher = self.random.build_hasher();
        let mut some = false;
        for name in &self.credential_headers {
            for value in headers.get_all(name) {
                some = true;
                name.hash(&mut hasher);
                value.hash(&mut hasher);
            }
        }
        if some { Credential(hasher.finish().max(2)) } else { Credential::NONE }
    }

    #[inline]
    pub(in crate::card_consistency::store) fn borrow<'a>(&'a self, at: &CardKeyRef<'a>, scope: Scope) -> Borrowed<'a> {
        Borrowed {
            scheme: SchemePart::of(at.target),
            authority: at.target.authority().map_or("", Authority::as_str),
            path: trimmed(at.path),
            tenant: at.tenant.filter(|_| self.by_tenant || scope.extended).unwrap_or_default(),
            beside: match at.judge {
                _ if scope.extended => Beside::EXTENDED,
                Some(judge) => Beside::of(judge),
                None => Beside::CARD,
            },
            headers: Values { names: &self.tenant_headers, of: at.headers },
            version: if scope.version { VersionPart::of(at.version) } else { VersionPart::ANY },
            credential: match (scope.credential, at.query) {
                (false, _) => Credential::ANY,
                // It may hold a secret as well, and is not kept either.
                (true, Some(query)) if scope.extended => {
                    Credential(self.random.hash_one((self.credential(at.headers), query)).max(2))
                }
                (true, _) => self.credential(at.headers),
            },
        }
    }
}
