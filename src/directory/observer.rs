use std::sync::Arc;

use super::{AuditEvent, Decision, PermissionEvent};

/// Told of what a directory does. Each method does nothing unless it is written anew.
///
/// They are called where the thing happens, a decision's on the path of its call: note it, do not block.
pub trait DirectoryObserver: Send + Sync {
    /// What is registered changed.
    fn audit(&self, event: &AuditEvent) {
        let _ = event;
    }

    /// A permission was asked for.
    fn permission(&self, event: &PermissionEvent) {
        let _ = event;
    }

    /// A call was delegated, or nobody was there for it: the whole record, once it is known what came of it.
    fn decided(&self, decision: &Decision) {
        let _ = decision;
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

    fn permission(&self, event: &PermissionEvent) {
        (**self).permission(event);
    }

    fn decided(&self, decision: &Decision) {
        (**self).decided(decision);
    }
}
