use std::sync::Arc;

use super::AuditEvent;

/// Told of what a directory does. Each method does nothing unless it is written anew.
///
/// They are called where the thing happens, a decision's on the path of its call: note it, do not block.
pub trait DirectoryObserver: Send + Sync {
    /// What is registered changed.
    fn audit(&self, event: &AuditEvent) {
        let _ = event;
    }
}

impl DirectoryObserver for () {}

impl<O> DirectoryObserver for Arc<O>
where
    O: DirectoryObserver + ?Sized,
{
    fn audit(&self, event: &AuditEvent) {
        (**self).audit(event);
    }
}
