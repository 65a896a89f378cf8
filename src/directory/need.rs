//! What a caller wants done, in the stead of a URL.

use std::{fmt, sync::Arc};

use super::{
    Caller,
    bounds::DirectoryBounds,
    skill::essence,
    tokens::{folded, hash, words},
};
use crate::{
    call::{Binding, ProtocolVersion},
    wire::text::escape,
};

/// The most words of a task's text that are compared.
const WORDS: usize = 64;
/// The most tags, and media types of each kind.
const LISTED: usize = 16;

/// What a caller wants done: by skill, by tags, by the task's text, or by several of them. Put it into a request's
/// extensions, in the stead of an address.
///
/// Clones share what it says.
///
/// ```
/// # use a2a_guard::directory::Need;
/// let need = Need::skill("translate").text("Translate the attached contract into German").caller("orders-service");
/// let request = http::Request::post("/").extension(need).body(())?;
/// # let _ = request;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone)]
pub struct Need {
    pub(super) facts: Arc<Facts>,
}

#[derive(Clone, Default)]
pub(super) struct Facts {
    pub(super) skill: Option<Arc<str>>,
    /// Folded.
    pub(super) tags: Vec<Arc<str>>,
    pub(super) words: Vec<Word>,
    pub(super) written: Vec<Written>,
    pub(super) tenant: Option<Box<str>>,
    /// Essences.
    pub(super) sends: Vec<Box<str>>,
    pub(super) accepts: Vec<Box<str>>,
    pub(super) caller: Option<Caller>,
    pub(super) high_value: bool,
    pub(super) sensitive: bool,
}

/// A word of the task's text.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: Arc<str>,
    pub(super) hash: u64,
}

/// A binding and a version in which a request is written, or can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Written {
    /// The binding.
    pub binding: Binding,
    /// The version.
    pub version: ProtocolVersion,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.binding.as_str(), self.version)
    }
}

impl Need {
    fn new(facts: Facts) -> Self {
        Self { facts: Arc::new(facts) }
    }

    fn set(mut self, set: impl FnOnce(&mut Facts)) -> Self {
        set(Arc::make_mut(&mut self.facts));
        self
    }

    /// Of peers that say they have the skill with this id.
    #[must_use]
    pub fn skill(id: &str) -> Self {
        Self::new(Facts { skill: Some(id.into()), ..Facts::default() })
    }

    /// Of peers with a skill that says what the task's text says.
    #[must_use]
    pub fn task(text: &str) -> Self {
        Self::new(Facts::default()).text(text)
    }

    /// Of peers with a skill that has this tag.
    #[must_use]
    pub fn tagged(tag: &str) -> Self {
        Self::new(Facts::default()).tag(tag)
    }

    /// Sets the task's text, by which skills are compared: up to 64 different words of it, in the first 16 KiB.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        let word = |word: String| Word { hash: hash(&word), text: word.into() };
        self.set(|facts| facts.words = words(text, WORDS).into_iter().map(word).collect())
    }

    /// One more tag that the skill must have: up to 16. Their case makes no difference.
    #[must_use]
    pub fn tag(self, tag: &str) -> Self {
        self.set(|facts| {
            let tag = folded(tag);
            if facts.tags.len() < LISTED && !tag.is_empty() {
                facts.tags.push(tag.into());
            }
        })
    }

    /// One more binding and version that the request is, or can be, written in. Without any, peers are found whatever
    /// they speak. [`DelegateLayer`](super::DelegateLayer) goes by the
    /// request alone.
    #[must_use]
    pub fn written(self, binding: Binding, version: ProtocolVersion) -> Self {
        let written = Written { binding, version };
        self.set(|facts| {
            if !facts.written.contains(&written) {
                facts.written.push(written);
            }
        })
    }

    /// Written in nothing yet.
    pub(super) fn rewritten(self) -> Self {
        self.set(|facts| facts.written.clear())
    }

    /// For this tenant of the peer's (A2A 1.0 §8.3.2): only interfaces that declare it.
    #[must_use]
    pub fn tenant(self, tenant: &str) -> Self {
        self.set(|facts| facts.tenant = Some(tenant).filter(|tenant| !tenant.is_empty()).map(Into::into))
    }

    /// A media type that is sent. A hint: who does not take it is a worse match, no more.
    #[must_use]
    pub fn sends(self, mode: &str) -> Self {
        self.set(|facts| push_mode(&mut facts.sends, mode))
    }

    /// A media type that the caller takes. A hint: who gives none of them is a worse match, no more.
    #[must_use]
    pub fn accepts(self, mode: &str) -> Self {
        self.set(|facts| push_mode(&mut facts.accepts, mode))
    }

    /// On whose behalf.
    #[must_use]
    pub fn caller(self, caller: &str) -> Self {
        self.set(|facts| facts.caller = Some(Caller::new(caller)))
    }

    /// Much depends on it: by policy, a peer is tested before it gets such work for the first time.
    #[must_use]
    pub fn high_value(self) -> Self {
        self.set(|facts| facts.high_value = true)
    }

    /// It is sensitive, whatever the skill: the default permission denies it to all but those with a grant.
    #[must_use]
    pub fn sensitive(self) -> Self {
        self.set(|facts| facts.sensitive = true)
    }

    /// The skill, if it is named.
    #[must_use]
    pub fn skill_id(&self) -> Option<&str> {
        self.facts.skill.as_deref()
    }

    /// The words of the task's text that are compared.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.facts.words.iter().map(|word| &*word.text)
    }

    /// The caller, if it is named.
    #[must_use]
    pub fn caller_name(&self) -> Option<&Caller> {
        self.facts.caller.as_ref()
    }

    /// Whether much depends on it.
    #[must_use]
    pub fn is_high_value(&self) -> bool {
        self.facts.high_value
    }

    /// Whether the caller says that it is sensitive.
    #[must_use]
    pub fn is_sensitive(&self) -> bool {
        self.facts.sensitive
    }

    /// Whether it says nothing that a peer could be found by.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.skill.is_none() && self.facts.tags.is_empty() && self.facts.words.is_empty()
    }
}

fn push_mode(modes: &mut Vec<Box<str>>, mode: &str) {
    if modes.len() < LISTED && mode.len() <= DirectoryBounds::ID {
        modes.push(essence(mode).into());
    }
}

/// `skill translate, tags language, words translate contract, for orders-service`.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        let Facts { skill, tags, words, caller, .. } = &*self.facts;
        let mut separator = "";
        if let Some(skill) = skill {
            write!(f, "skill {}", escape(skill, SHOWN))?;
            separator = ", ";
        }
        if !tags.is_empty() {
            write!(f, "{separator}tags")?;
            tags.iter().try_for_each(|tag| write!(f, " {}", escape(tag, SHOWN)))?;
            separator = ", ";
        }
        if !words.is_empty() {
            write!(f, "{separator}words")?;
            words.iter().take(8).try_for_each(|word| write!(f, " {}", escape(&word.text, SHOWN)))?;
            f.write_str(if words.len() > 8 { " …" } else { "" })?;
            separator = ", ";
        }
        if self.is_empty() {
            f.write_str("nothing")?;
            separator = ", ";
        }
        match caller {
            Some(caller) => write!(f, "{separator}for {caller}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Need({self})")
    }
}
