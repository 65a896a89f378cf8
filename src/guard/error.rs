use crate::{card_consistency::CardStoreError, terminal_state::ConfigError};

/// A combination that makes no sense. The message names the setting and the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// A setting is wrong, or stands beside another that excludes it.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store of cards cannot be as it is set.
    #[error(transparent)]
    Cards(#[from] CardStoreError),
}

impl GuardError {
    pub(super) fn new(setting: &'static str, why: &'static str) -> Self {
        ConfigError::new(setting, why).into()
    }
}
