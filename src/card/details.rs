//! What else a card says: extensions and skills.

/// An extension that an agent declares (A2A 1.0 §4.4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentExtension {
    pub(super) uri: Box<str>,
    pub(super) required: bool,
    /// As text: a tree of a hostile one takes a hundred times as much, for as long as the card is kept.
    pub(super) params: Option<Box<str>>,
}

impl AgentExtension {
    /// Its URI, which tells its version as well.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Whether a client must use it.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// Its parameters, an object. They are parsed anew with each call; `None` if there are none, or if they nest deeper
    /// than `serde_json` reads.
    #[must_use]
    pub fn params(&self) -> Option<serde_json::Value> {
        self.params.as_deref().and_then(|params| serde_json::from_str(params).ok())
    }
}

/// A skill that an agent declares (A2A 1.0 §4.4.5). A hint: it refuses no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSkill {
    pub(super) id: Box<str>,
    pub(super) name: Box<str>,
    pub(super) description: Box<str>,
    pub(super) tags: Box<[Box<str>]>,
    pub(super) examples: Box<[Box<str>]>,
    pub(super) input_modes: Box<[Box<str>]>,
    pub(super) output_modes: Box<[Box<str>]>,
}

impl AgentSkill {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its name, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Its keywords.
    #[must_use]
    pub fn tags(&self) -> &[Box<str>] {
        &self.tags
    }

    /// Examples of what to ask.
    #[must_use]
    pub fn examples(&self) -> &[Box<str>] {
        &self.examples
    }

    /// The media types that it takes; empty: those of the card.
    #[must_use]
    pub fn input_modes(&self) -> &[Box<str>] {
        &self.input_modes
    }

    /// The media types that it gives; empty: those of the card.
    #[must_use]
    pub fn output_modes(&self) -> &[Box<str>] {
        &self.output_modes
    }
}
