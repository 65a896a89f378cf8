use crate::{card_consistency::CardStoreError, terminal_state::ConfigError};

/// A combination of settings that makes no sense. The message names the setting and the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// A setting is wrong, or excluded by another one.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A setting of the card store is wrong.
    #[error(transparent)]
    Cards(#[from] CardStoreError),
}

impl GuardError {
    pub(super) fn new(setting: &'static str, why: &'static str) -> Self {
        ConfigError::new(setting, why).into()
    }
}
