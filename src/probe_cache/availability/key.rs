use std::fmt;

use http::Uri;

use crate::{
    card::{Origin, UrlFault},
    wire::text::escape,
};

/// What availability is kept under: where, which skill, and for which region.
///
/// Hosts are compared as origins: scheme, host in lower case, effective port. Skill and region are compared as they
/// are; calls that name no region share a key of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SkillKey {
    origin: Origin,
    skill: Box<str>,
    region: Option<Box<str>>,
}

impl SkillKey {
    /// Of a skill of the agent at this origin, for calls that name no region.
    #[must_use]
    pub fn new(origin: Origin, skill: impl Into<Box<str>>) -> Self {
        Self { origin, skill: skill.into(), region: None }
    }

    /// Of a skill of the agent that a request with this URI goes to.
    ///
    /// # Errors
    ///
    /// What makes the URI no absolute `http` or `https` one.
    pub fn of(uri: &Uri, skill: impl Into<Box<str>>) -> Result<Self, UrlFault> {
        Ok(Self::new(Origin::of(uri)?, skill))
    }

    /// For calls that name this region. An empty one is none.
    #[must_use]
    pub fn in_region(mut self, region: impl Into<Box<str>>) -> Self {
        let region = region.into();
        self.region = (!region.is_empty()).then_some(region);
        self
    }

    /// Where the agent is.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The skill's id, as calls name it.
    #[must_use]
    pub fn skill(&self) -> &str {
        &self.skill
    }

    /// The region, as calls name it.
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }
}

impl fmt::Display for SkillKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", escape(&self.skill, 64), self.origin)?;
        match &self.region {
            Some(region) => write!(f, " in {}", escape(region, 64)),
            None => Ok(()),
        }
    }
}
