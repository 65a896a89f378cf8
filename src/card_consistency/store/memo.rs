//! What was found out about a card by the calls that went by it: most that follow ask for the same.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::Uri;

use crate::{
    call::{Binding, Call, ProtocolVersion},
    card::UrlPolicy,
    card_consistency::FirstEventExtension,
    words,
};

/// So many kinds of calls are remembered of one card, the first that come: bindings, versions, tenants, and the
/// policies of the layers that share a store.
const KINDS: usize = 4;

/// What is remembered of one card. It goes with it.
#[derive(Debug, Default)]
pub(in crate::card_consistency) struct Memo {
    matched: [OnceLock<Matched>; KINDS],
    first_event: OnceLock<(Arc<FirstEventExtension>, Option<Duration>)>,
}

/// What a call asked for, and the interface of the card that has it. All calls that find a card go to the same URL,
/// however they spell it.
#[derive(Debug)]
pub(in crate::card_consistency) struct Matched {
    /// The policy that the card's URLs were held to. Layers with different ones share a store.
    pub(in crate::card_consistency) urls: Arc<UrlPolicy>,
    /// How the first such call spelled where it goes: scheme and authority of this, and the path.
    pub(in crate::card_consistency) uri: Uri,
    pub(in crate::card_consistency) path: Box<str>,
    pub(in crate::card_consistency) binding: Option<Binding>,
    pub(in crate::card_consistency) version: Option<ProtocolVersion>,
    pub(in crate::card_consistency) tenant: Option<Box<str>>,
    /// Its place among the card's interfaces.
    pub(in crate::card_consistency) index: usize,
    pub(in crate::card_consistency) tenant_in_path: bool,
    /// In which epoch of the store every such call finds this card.
    pub(in crate::card_consistency) as_of: AsOf,
}

/// An epoch, or none yet.
#[derive(Debug)]
pub(in crate::card_consistency) struct AsOf(AtomicU64);

impl Default for AsOf {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl Matched {
    /// In this epoch such a call found this card, as every call to its target does, and needed nothing but to be
    /// matched with it.
    pub(in crate::card_consistency) fn confirm(&self, epoch: u64) {
        // Mostly another handle has said so, and then no other processor's cache is disturbed.
        if self.as_of.0.load(Ordering::Relaxed) != epoch {
            self.as_of.0.store(epoch, Ordering::Relaxed);
        }
    }

    /// Whether the call would be matched with the same, for it asks for the same and spells it alike. `path`: what of
    /// its own path and query tells the agent.
    #[inline]
    pub(in crate::card_consistency) fn is_of(&self, urls: &Arc<UrlPolicy>, call: &Call, uri: &Uri, path: &str) -> bool {
        self.fits(urls, call)
            && words::equal(self.path.as_bytes(), path.as_bytes())
            && words::same_origin(&self.uri, uri)
    }

    /// Whether it would be in this epoch.
    #[inline]
    fn stands(&self, epoch: u64, urls: &Arc<UrlPolicy>, call: &Call, uri: &Uri, path: &str) -> bool {
        self.as_of.0.load(Ordering::Relaxed) == epoch && self.is_of(urls, call, uri, path)
    }

    #[inline]
    fn fits(&self, urls: &Arc<UrlPolicy>, call: &Call) -> bool {
        self.binding == call.binding()
            && self.version == call.version()
            && same(self.tenant.as_deref(), call.tenant())
            && (Arc::ptr_eq(&self.urls, urls) || self.urls == *urls)
    }
}

#[inline]
fn same(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => words::equal(one.as_bytes(), other.as_bytes()),
        (None, None) => true,
        _ => false,
    }
}

/// Most cards are asked for one kind of call, and that is the first.
#[inline(never)]
fn any_stands(
    slots: &[OnceLock<Matched>],
    epoch: u64,
    urls: &Arc<UrlPolicy>,
    call: &Call,
    uri: &Uri,
    path: &str,
) -> bool {
    let mut known = slots.iter().map_while(OnceLock::get);
    known.any(|known| known.stands(epoch, urls, call, uri, path))
}

impl Memo {
    /// What calls like this one were matched with, under the same policy.
    pub(in crate::card_consistency) fn matched(
        &self,
        urls: &Arc<UrlPolicy>,
        call: &Call,
    ) -> impl Iterator<Item = &Matched> {
        self.matched.iter().map_while(OnceLock::get).filter(move |known| known.fits(urls, call))
    }

    /// Whether a call, in this epoch, finds this card and is matched with it. `path`: see [`Matched::is_of`].
    #[inline]
    pub(in crate::card_consistency) fn stands(
        &self,
        epoch: u64,
        urls: &Arc<UrlPolicy>,
        call: &Call,
        uri: &Uri,
        path: &str,
    ) -> bool {
        let [first, others @ ..] = &self.matched;
        first.get().is_some_and(|known| known.stands(epoch, urls, call, uri, path))
            || any_stands(others, epoch, urls, call, uri, path)
    }

    /// Remembers it, if there is room.
    pub(in crate::card_consistency) fn remember(&self, mut matched: Matched) -> Option<&Matched> {
        // Another call may be as fast: it is like this one, or its place is taken and the next one tried.
        for slot in &self.matched {
            match slot.set(matched) {
                Ok(()) => return slot.get(),
                Err(again) => matched = again,
            }
        }
        None
    }

    /// The first-event bound that the card states by this extension: read once, and each time for another layer's.
    pub(in crate::card_consistency) fn first_event(
        &self,
        extension: &Arc<FirstEventExtension>,
        read: impl Fn() -> Option<Duration>,
    ) -> Option<Duration> {
        let (by, bound) = self.first_event.get_or_init(|| (Arc::clone(extension), read()));
        if Arc::ptr_eq(by, extension) || by == extension { *bound } else { read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Operation;

    fn call(version: ProtocolVersion) -> Call {
        Call::new().with_operation(Operation::GetTask).with_binding(Binding::JsonRpc).with_version(version)
    }

    fn matched(urls: &Arc<UrlPolicy>, call: &Call, index: usize) -> Matched {
        Matched {
            urls: Arc::clone(urls),
            uri: Uri::from_static("https://agent.example.com/a2a"),
            path: "/a2a".into(),
            binding: call.binding(),
            version: call.version(),
            tenant: call.tenant().map(Into::into),
            index,
            tenant_in_path: false,
            as_of: AsOf::default(),
        }
    }

    #[test]
    fn one_policys_word_is_not_anothers() {
        let memo = Memo::default();
        let (strict, lenient) = (Arc::new(UrlPolicy::strict()), Arc::new(UrlPolicy::strict().allow_plaintext()));
        let call = call(ProtocolVersion::V1_0);
        let first = |urls: &Arc<UrlPolicy>| memo.matched(urls, &call).next().map(|known| known.index);
        memo.remember(matched(&lenient, &call, 1));
        assert!(first(&strict).is_none());
        memo.remember(matched(&strict, &call, 0));
        assert_eq!(first(&strict), Some(0));
        assert_eq!(first(&lenient), Some(1));
        // An equal one of another layer is the same.
        let same = Arc::new(UrlPolicy::strict().allow_plaintext());
        assert_eq!(first(&same), Some(1));
    }

    #[test]
    fn calls_of_another_kind_are_told_apart_and_only_so_many_remembered() {
        let memo = Memo::default();
        let urls = Arc::new(UrlPolicy::strict());
        for minor in 0..6 {
            let call = call(ProtocolVersion::new(1, minor));
            memo.remember(matched(&urls, &call, minor.into()));
        }
        for minor in 0..6 {
            let known = memo.matched(&urls, &call(ProtocolVersion::new(1, minor))).next().map(|known| known.index);
            assert_eq!(known, (usize::from(minor) < KINDS).then_some(minor.into()));
        }
        let with_tenant = call(ProtocolVersion::V1_0).with_tenant("acme");
        assert!(memo.matched(&urls, &with_tenant).next().is_none());
    }

    #[test]
    fn a_call_that_repeats_another_stands_in_the_epoch_in_which_that_was_confirmed() {
        let memo = Memo::default();
        let urls = Arc::new(UrlPolicy::strict());
        let (uri, elsewhere) = (Uri::from_static("https://AGENT.example.com"), Uri::from_static("https://b.example"));
        let acme = || call(ProtocolVersion::V1_0).with_tenant("acme");
        let known = memo.remember(matched(&urls, &acme(), 0)).unwrap();
        let stands = |epoch, call: &Call, uri: &Uri, path: &str| memo.stands(epoch, &urls, call, uri, path);
        assert!(!stands(7, &acme(), &known.uri, "/a2a"), "nobody has said so");
        known.confirm(7);
        assert!(stands(7, &acme(), &known.uri, "/a2a") && !stands(8, &acme(), &known.uri, "/a2a"));
        for tenant in ["globex", "acm", ""] {
            assert!(!stands(7, &acme().with_tenant(tenant), &known.uri, "/a2a"), "{tenant}");
        }
        assert!(!stands(7, &call(ProtocolVersion::V1_0), &known.uri, "/a2a"));
        assert!(!stands(7, &acme(), &elsewhere, "/a2a") && !stands(7, &acme(), &known.uri, "/a2b"));
        assert!(!stands(7, &acme(), &uri, "/a2a"), "spelled otherwise, it is looked up");
        known.confirm(8);
        assert!(stands(8, &acme(), &known.uri, "/a2a") && !stands(7, &acme(), &known.uri, "/a2a"));
    }

    #[test]
    fn a_bound_is_read_once_for_all_who_read_alike() {
        let memo = Memo::default();
        let reads = std::cell::Cell::new(0);
        let bound = |uri: &str| {
            memo.first_event(&Arc::new(FirstEventExtension::new(uri)), || {
                reads.set(reads.get() + 1);
                Some(Duration::from_secs(reads.get()))
            })
        };
        for _ in 0..3 {
            assert_eq!(bound("urn:x"), Some(Duration::from_secs(1)));
        }
        assert_eq!(bound("urn:y"), Some(Duration::from_secs(2)));
        assert_eq!(bound("urn:x"), Some(Duration::from_secs(1)));
    }
}
