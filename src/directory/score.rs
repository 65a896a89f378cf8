//! How well a skill fits a need.

use std::{fmt, sync::Arc};

use super::{Need, Skill, SkillField, need::Word};
use crate::wire::text::escape;

/// How well a skill fits a need, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    score: f64,
    words: Vec<(Arc<str>, SkillField)>,
    why: Option<Box<str>>,
}

impl Match {
    /// A fit between 0 (not at all) and 1 (wholly); what is no number counts as 0.
    #[must_use]
    pub fn new(score: f64) -> Self {
        // The sum of nothing is -0.
        let score = if score > 0.0 { score.min(1.0) } else { 0.0 };
        Self { score, words: Vec::new(), why: None }
    }

    /// The same with a reason, in a few words.
    #[must_use]
    pub fn because(mut self, why: impl Into<Box<str>>) -> Self {
        self.why = Some(why.into());
        self
    }

    /// 0 to 1.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.score
    }

    /// In hundredths: fits that differ by less are alike.
    pub(super) fn rank(&self) -> u8 {
        (self.score * 100.0).round() as u8
    }

    /// The words of the task that the skill has, and where it has each.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (&str, SkillField)> {
        self.words.iter().map(|(word, field)| (&**word, *field))
    }

    /// The reason that a scorer of the user's gave.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }
}

/// `0.75 by translate (name) german (example)`.
impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.score)?;
        for (index, (word, field)) in self.words.iter().enumerate() {
            let before = if index == 0 { " by" } else { "" };
            write!(f, "{before} {} ({field})", escape(word, 64))?;
        }
        match &self.why {
            Some(why) => write!(f, ": {}", escape(why, 160)),
            None => Ok(()),
        }
    }
}

/// Says how well a skill fits a need: by words ([`Lexical`], the default), by embeddings, by whatever. What has the
/// skill and the tags that the need names is asked about; a need by text alone leaves out who scores 0.
///
/// It is called for each such skill, on the path of a call: look up, do not compute at length. The same arguments must
/// give the same answer, on each replica.
///
/// ```
/// use a2a_guard::directory::{Match, Need, Score, Skill};
///
/// struct Favourites;
///
/// impl Score for Favourites {
///     fn score(&self, _: &Need, skill: &Skill) -> Match {
///         Match::new(if skill.has_tag("certified") { 1.0 } else { 0.5 }).because("certified ones first")
///     }
/// }
/// ```
pub trait Score: Send + Sync {
    /// How well `skill` fits `need`.
    fn score(&self, need: &Need, skill: &Skill) -> Match;
}

/// By the words that the task's text and a skill have in common.
///
/// Each word of the text counts 1 where the skill has it in its name, id or tags, ¾ in its description, ½ in an
/// example; the score is their sum by the number of words in the text. A skill of more than 64 different words is
/// damped by the root of what it has too many: who says everything fits everything. Without a text, whoever has the
/// skill fits wholly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lexical;

/// So many different words a skill may have before it is damped.
const FOCUSED: f64 = 64.0;

impl Score for Lexical {
    fn score(&self, need: &Need, skill: &Skill) -> Match {
        let wanted = &need.facts.words;
        if wanted.is_empty() {
            return Match::new(1.0);
        }
        let found = |word: &Word| Some((Arc::clone(&word.text), skill.field_of_hash(word.hash)?));
        let words: Vec<_> = wanted.iter().filter_map(found).collect();
        let sum: f64 = words.iter().map(|(_, field)| weight(*field)).sum();
        let focus = (FOCUSED / (skill.words() as f64).max(FOCUSED)).sqrt();
        Match { words, ..Match::new(sum / wanted.len() as f64 * focus) }
    }
}

fn weight(field: SkillField) -> f64 {
    match field {
        SkillField::Name => 1.0,
        SkillField::Description => 0.75,
        SkillField::Example => 0.5,
    }
}

/// What a media type that does not fit leaves of a score. A peer's list of them is a hint.
const UNFIT: f64 = 0.9;

/// The fit, with the media types' hint in it.
pub(super) fn with_modes(found: Match, need: &Need, skill: &Skill) -> Match {
    let fits = |wanted: &[Box<str>], offered: &[Box<str>]| {
        wanted.is_empty() || offered.is_empty() || wanted.iter().any(|mode| offered.iter().any(|own| covers(own, mode)))
    };
    let all_sent = skill.input_modes.is_empty()
        || need.facts.sends.iter().all(|mode| skill.input_modes.iter().any(|own| covers(own, mode)));
    match all_sent && fits(&need.facts.accepts, &skill.output_modes) {
        true => found,
        false => Match { score: found.score * UNFIT, ..found },
    }
}

/// `text/*` covers `text/plain`, and the other way round.
fn covers(one: &str, two: &str) -> bool {
    let prefix = |range: &str| range.strip_suffix('*').map(str::to_owned);
    one == two
        || prefix(one).is_some_and(|prefix| prefix == "*/" || two.starts_with(&prefix))
        || prefix(two).is_some_and(|prefix| prefix == "*/" || one.starts_with(&prefix))
}
