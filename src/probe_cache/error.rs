/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} {why}")]
pub struct ProbeCacheError {
    setting: &'static str,
    why: String,
}

impl ProbeCacheError {
    pub(super) fn new(setting: &'static str, why: impl Into<String>) -> Self {
        Self { setting, why: why.into() }
    }

    /// The setting that is wrong.
    #[must_use]
    pub fn setting(&self) -> &'static str {
        self.setting
    }
}
