//! One thing that a peer says it can do, made ready to be found.

use std::{collections::HashMap, fmt, sync::Arc};

use super::{
    bounds::DirectoryBounds,
    tokens::{folded, hash, words},
};
use crate::{card::AgentSkill, wire::text::escape};

/// Where a word of a skill stands. A word counts where it stands best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SkillField {
    /// In its name, its id or a tag.
    Name,
    /// In its description.
    Description,
    /// In an example.
    Example,
}

impl SkillField {
    /// As it stands in an explanation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Example => "example",
        }
    }
}

impl fmt::Display for SkillField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What told of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SkillSource {
    /// The peer's Agent Card.
    Card,
    /// The tools that the peer lists over MCP.
    Tools,
}

/// A skill as a directory holds it. All of it is the peer's own claim.
#[derive(Clone)]
pub struct Skill {
    pub(super) id: Arc<str>,
    pub(super) name: Box<str>,
    pub(super) source: SkillSource,
    /// Lower case, sorted, each once.
    pub(super) tags: Box<[Arc<str>]>,
    /// By their hashes, sorted, each with the best place where it stands.
    pub(super) words: Box<[(u64, SkillField)]>,
    /// Essences of media types, lower case. Empty: the peer does not say.
    pub(super) input_modes: Box<[Box<str>]>,
    pub(super) output_modes: Box<[Box<str>]>,
}

/// What a skill is made of, whoever tells of it.
pub(super) struct Told<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) tags: &'a [Box<str>],
    pub(super) examples: Vec<&'a str>,
    pub(super) input_modes: &'a [Box<str>],
    pub(super) output_modes: &'a [Box<str>],
}

impl Skill {
    /// `None` if its id is one that nobody could ask for.
    pub(super) fn new(told: &Told<'_>, source: SkillSource, bounds: &DirectoryBounds) -> Option<Self> {
        let is_id = |id: &str| !id.is_empty() && id.len() <= DirectoryBounds::ID;
        if !is_id(told.id) {
            return None;
        }
        let mut tags: Vec<_> = told.tags.iter().filter(|tag| is_id(tag)).map(|tag| Arc::from(folded(tag))).collect();
        tags.retain(|tag: &Arc<str>| !tag.is_empty());
        tags.truncate(bounds.tags);
        tags.sort_unstable();
        tags.dedup();
        let name = match told.name {
            "" => told.id,
            name => name,
        };
        Some(Self {
            id: told.id.into(),
            name: super::tokens::cut(name, DirectoryBounds::NAME).into(),
            source,
            words: indexed(told, bounds.words),
            tags: tags.into(),
            input_modes: essences(told.input_modes, bounds.tags),
            output_modes: essences(told.output_modes, bounds.tags),
        })
    }

    pub(super) fn of_card(
        skill: &AgentSkill,
        modes: (&[Box<str>], &[Box<str>]),
        bounds: &DirectoryBounds,
    ) -> Option<Self> {
        let told = Told {
            id: skill.id(),
            name: skill.name(),
            description: skill.description(),
            tags: skill.tags(),
            examples: skill.examples().iter().map(|example| &**example).collect(),
            input_modes: if skill.input_modes().is_empty() { modes.0 } else { skill.input_modes() },
            output_modes: if skill.output_modes().is_empty() { modes.1 } else { skill.output_modes() },
        };
        Self::new(&told, SkillSource::Card, bounds)
    }

    /// Its id. The peer's text: it displays escaped, with the skill.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its name, for people, cut. The peer's text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What told of it.
    #[must_use]
    pub fn source(&self) -> SkillSource {
        self.source
    }

    /// Its tags, in lower case.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(|tag| &**tag)
    }

    /// Whether it has a tag. The case makes no difference.
    #[must_use]
    pub fn has_tag(&self, tag: &str) -> bool {
        self.has_folded_tag(&folded(tag))
    }

    pub(super) fn has_folded_tag(&self, tag: &str) -> bool {
        self.tags.binary_search_by(|own| (**own).cmp(tag)).is_ok()
    }

    /// The best place where a word stands: any word, in any case.
    #[must_use]
    pub fn field_of(&self, word: &str) -> Option<SkillField> {
        words(word, 1).first().and_then(|word| self.field_of_hash(hash(word)))
    }

    pub(super) fn field_of_hash(&self, word: u64) -> Option<SkillField> {
        let at = self.words.binary_search_by_key(&word, |(own, _)| *own).ok()?;
        self.words.get(at).map(|(_, field)| *field)
    }

    /// How many different words it has.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Whether it says the same as another.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.id == other.id
            && self.name == other.name
            && self.source == other.source
            && self.tags == other.tags
            && self.words == other.words
            && self.input_modes == other.input_modes
            && self.output_modes == other.output_modes
    }
}

/// The best words first, so that a bound cuts examples before names.
fn indexed(told: &Told<'_>, max: usize) -> Box<[(u64, SkillField)]> {
    let mut found: HashMap<u64, SkillField> = HashMap::new();
    let mut add = |text: &str, field| {
        for word in words(text, max) {
            if found.len() < max {
                found.entry(hash(&word)).or_insert(field);
            }
        }
    };
    [told.id, told.name].into_iter().for_each(|text| add(text, SkillField::Name));
    told.tags.iter().for_each(|tag| add(tag, SkillField::Name));
    add(told.description, SkillField::Description);
    told.examples.iter().for_each(|example| add(example, SkillField::Example));
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable();
    found.into()
}

/// Media types are compared without case and parameters (RFC 9110 §8.3.1).
pub(super) fn essence(mode: &str) -> String {
    mode.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn essences(modes: &[Box<str>], max: usize) -> Box<[Box<str>]> {
    let fits = modes.iter().filter(|mode| mode.len() <= DirectoryBounds::ID);
    fits.map(|mode| essence(mode).into()).take(max).collect()
}

impl fmt::Display for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escape(&self.id, DirectoryBounds::SHOWN))
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("id", &format_args!("{self}"))
            .field("source", &self.source)
            .field("tags", &self.tags.len())
            .field("words", &self.words.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(texts: &[&str]) -> Vec<Box<str>> {
        texts.iter().map(|text| (*text).into()).collect()
    }

    fn skill(tags: &[&str], description: &str, bounds: &DirectoryBounds) -> Skill {
        let (tags, modes) = (boxed(tags), boxed(&["Text/Plain; charset=utf-8"]));
        let told = Told {
            id: "doc-translate",
            name: "Translate documents",
            description,
            tags: &tags,
            examples: vec!["Translate my contract to French"],
            input_modes: &modes,
            output_modes: &[],
        };
        Skill::new(&told, SkillSource::Card, bounds).unwrap()
    }

    #[test]
    fn a_word_counts_where_it_stands_best() {
        let skill = skill(&["Language", "language", ""], "Language work for contracts", &DirectoryBounds::default());
        for (word, field) in [
            ("TRANSLATE", Some(SkillField::Name)),
            ("language", Some(SkillField::Name)),
            ("doc", Some(SkillField::Name)),
            ("contracts", Some(SkillField::Description)),
            ("French", Some(SkillField::Example)),
            ("cook", None),
            ("to", None),
        ] {
            assert_eq!(skill.field_of(word), field, "{word}");
        }
        assert_eq!(skill.tags().collect::<Vec<_>>(), ["language"]);
        assert!(skill.has_tag("LANGUAGE") && !skill.has_tag("lang"));
        assert_eq!(*skill.input_modes, [Box::from("text/plain")]);
    }

    #[test]
    fn a_peer_cannot_make_it_larger_than_the_bounds() {
        let bounds = DirectoryBounds::default().tags(2).words(5);
        let long = "x".repeat(DirectoryBounds::ID + 1);
        let many: String = (0..10_000).map(|n| format!("w{n} ")).collect();
        let skill = skill(&["a1", &long, "b2", "c3"], &many, &bounds);
        assert_eq!(skill.tags().collect::<Vec<_>>(), ["a1", "b2"]);
        assert_eq!(skill.words(), 5);
        assert_eq!(skill.field_of("documents"), Some(SkillField::Name));
        let told = Told {
            id: &long,
            name: "",
            description: "",
            tags: &[],
            examples: vec![],
            input_modes: &[],
            output_modes: &[],
        };
        assert!(Skill::new(&told, SkillSource::Tools, &bounds).is_none());
    }
}
