#[cfg(feature = "directory")]
use std::sync::atomic::AtomicBool;
use std::{fmt, sync::Arc, time::Duration};

use http::Uri;
use tokio::time::Instant;

use super::{Binding, Capability, Operation, OrderMistake, ProtocolVersion, Shape, order::Found};
use crate::wire::JsonRpcId;

/// One request with what is known of it.
///
/// Cheap to clone: the facts are shared. [`CallLayer`](crate::CallLayer) makes one for each request; a caller that
/// knows more puts its own into the request's extensions:
///
/// ```
/// use a2a_guard::Call;
///
/// let mut request = http::Request::post("https://agent.example.com/a2a").body(()).unwrap();
/// // No field of a send request names the skill it is for, so the caller says it.
/// request.extensions_mut().insert(Call::new().with_skill("translate").with_region("eu"));
/// ```
#[derive(Clone, Default)]
pub struct Call {
    pub(super) facts: Arc<Facts>,
    /// The layers that the request has come past which carries this handle.
    pub(super) passed: u8,
}

#[derive(Clone, Default)]
pub(super) struct Facts {
    pub(super) operation: Option<Operation>,
    pub(super) binding: Option<Binding>,
    pub(super) version: Option<ProtocolVersion>,
    pub(super) id: Option<JsonRpcId>,
    pub(super) tenant: Option<Box<str>>,
    pub(super) task_id: Option<Box<str>>,
    pub(super) context_id: Option<Box<str>>,
    pub(super) skill: Option<Box<str>>,
    pub(super) region: Option<Box<str>>,
    /// As it was said, by the caller or in the request.
    pub(super) blocking: Option<bool>,
    pub(super) streaming: bool,
    pub(super) target: Option<Uri>,
    pub(super) began: Option<Instant>,
    pub(super) mistake: Found,
    /// Set once a stream has ended well, for who looks at it from above.
    #[cfg(feature = "directory")]
    pub(super) ended_well: Option<Arc<AtomicBool>>,
}

impl Facts {
    /// Sets the operation, and with it whether a stream is asked.
    pub(super) fn set_operation(&mut self, operation: Operation) {
        self.operation = Some(operation);
        self.streaming = operation.is_streaming();
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $get:ident, $with:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $get(&self) -> Option<&str> {
            self.facts.$get.as_deref()
        }

        #[doc = concat!("Sets [`", stringify!($get), "`](Self::", stringify!($get), ").")]
        #[must_use]
        pub fn $with(mut self, text: impl Into<Box<str>>) -> Self {
            self.edit().$get = Some(text.into());
            self
        }
    )*};
}

impl Call {
    /// A call of which nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The operation, if anyone could name it.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        self.facts.operation
    }

    /// Sets the operation, and with it whether a stream is asked and, unless that was said, whether the answer may wait.
    #[must_use]
    pub fn with_operation(mut self, operation: Operation) -> Self {
        self.edit().set_operation(operation);
        self
    }

    /// The binding, if it shows.
    #[must_use]
    pub fn binding(&self) -> Option<Binding> {
        self.facts.binding
    }

    /// Sets the binding.
    #[must_use]
    pub fn with_binding(mut self, binding: Binding) -> Self {
        self.edit().binding = Some(binding);
        self
    }

    /// The version whose dialect the request is written in: by its JSON-RPC method's spelling, else by its
    /// `A2A-Version` header or query parameter. `None` where neither tells.
    #[must_use]
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.facts.version
    }

    /// Sets the version.
    #[must_use]
    pub fn with_version(mut self, version: ProtocolVersion) -> Self {
        self.edit().version = Some(version);
        self
    }

    /// The JSON-RPC id; `None` if nobody read the request.
    #[must_use]
    pub fn id(&self) -> Option<&JsonRpcId> {
        self.facts.id.as_ref()
    }

    /// Sets the JSON-RPC id, with which answers are compared.
    #[must_use]
    pub fn with_id(mut self, id: JsonRpcId) -> Self {
        self.edit().id = Some(id);
        self
    }

    texts! {
        /// The tenant that the request carries (§8.3.2).
        tenant, with_tenant;
        /// The task that the request is about: of `GetTask`, say, or the one that a message continues.
        task_id, with_task_id;
        /// The context that a message belongs to.
        context_id, with_context_id;
        /// The skill that the call is for. No field of the protocol carries it.
        skill, with_skill;
        /// The region that the call is for. No field of the protocol carries it.
        region, with_region;
    }

    /// Whether success is a stream of events.
    #[must_use]
    pub fn is_streaming(&self) -> bool {
        self.facts.streaming
    }

    /// Whether the answer may wait until the task rests: a send without `returnImmediately` (1.0, §3.2.2) or
    /// without `blocking: false` (0.3).
    #[must_use]
    pub fn is_blocking(&self) -> bool {
        self.facts.blocking.unwrap_or_else(|| self.facts.operation.is_some_and(Operation::is_send))
    }

    /// Sets whether the answer may wait until the task rests.
    #[must_use]
    pub fn with_blocking(mut self, blocking: bool) -> Self {
        self.edit().blocking = Some(blocking);
        self
    }

    /// The URI that the request was sent to.
    #[must_use]
    pub fn target(&self) -> Option<&Uri> {
        self.facts.target.as_ref()
    }

    /// The capability that the agent's card must declare for the operation.
    #[must_use]
    pub fn capability(&self) -> Option<Capability> {
        self.operation().and_then(Operation::needs)
    }

    /// What exactly was asked under the capability.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape { operation: self.operation(), binding: self.binding(), version: self.version() }
    }

    /// When [`CallLayer`](crate::CallLayer) met the request: `total` counts from here.
    #[must_use]
    pub fn began(&self) -> Option<Instant> {
        self.facts.began
    }

    /// Which layers stand in the wrong order, if the request met any that do. `None` does not say that all is well: a
    /// request is refused by one layer before it comes to others.
    ///
    /// Layers are put together by hand where [`Guard`](crate::Guard) is not used, and the types let them stand in any
    /// order. A mistake is told of in the lines of all errors that come of it, here, and with feature `tracing` in one
    /// event of level `WARN` and target `a2a_guard::order` for each layer that is out of place. So that a test finds
    /// it:
    ///
    /// ```
    /// use a2a_guard::{Outcome, TerminalStateLayer};
    ///
    /// let in_order = |outcome: &Outcome<'_>| assert_eq!(outcome.call().order_mistake(), None);
    /// let layer = TerminalStateLayer::builder().observe(in_order).build()?;
    /// # let _ = layer;
    /// # Ok::<(), a2a_guard::ConfigError>(())
    /// ```
    ///
    /// Looked for are layers above [`CallLayer`](crate::CallLayer), and any of
    /// [`RefusalResponseLayer`](crate::RefusalResponseLayer),
    /// [`CardConsistencyLayer`](crate::card_consistency::CardConsistencyLayer),
    /// [`ProbeCacheLayer`](crate::ProbeCacheLayer) and [`TerminalStateLayer`](crate::TerminalStateLayer), in this
    /// order from the outside in, below one that belongs below it. Two of a kind may stand in one stack. A
    /// `CallLayer` that finds a call which is named already begins a stack of its own, below which layers are
    /// counted anew.
    #[must_use]
    pub fn order_mistake(&self) -> Option<OrderMistake> {
        self.facts.mistake.get()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began().map(|began| began.elapsed()).unwrap_or_default()
    }

    /// Whether the call hands the agent new work, and not more about a task that is there already. In 0.2 the caller
    /// chooses the task's id, so that it tells nothing.
    pub(crate) fn begins_task(&self) -> bool {
        let chooses_id = self.version().is_some_and(|version| version < ProtocolVersion::V0_3);
        self.operation().is_some_and(Operation::is_send) && (self.task_id().is_none() || chooses_id)
    }

    pub(crate) fn with_target(mut self, target: Uri) -> Self {
        self.edit().target = Some(target);
        self
    }

    /// Whoever judges the stream that answers the call notes here that it ended well, however many layers edit the call
    /// on its way.
    #[cfg(feature = "directory")]
    pub(crate) fn with_ended_well(mut self, ended_well: Arc<AtomicBool>) -> Self {
        self.edit().ended_well = Some(ended_well);
        self
    }

    pub(crate) fn note_ended_well(&self) {
        #[cfg(feature = "directory")]
        if let Some(ended_well) = &self.facts.ended_well {
            ended_well.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// Facts that nobody shares yet are edited in place. Whether that is so takes a moment to find out: who sets many
    /// asks once.
    pub(super) fn edit(&mut self) -> &mut Facts {
        Arc::make_mut(&mut self.facts)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { id, tenant, task_id, context_id, skill, region, .. } = &*self.facts;
        f.debug_struct("Call")
            .field("shape", &format_args!("{}", self.shape()))
            .field("id", id)
            .field("tenant", tenant)
            .field("task_id", task_id)
            .field("context_id", context_id)
            .field("skill", skill)
            .field("region", region)
            .field("blocking", &self.is_blocking())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_and_editing_one_leaves_the_other() {
        let first = Call::new().with_operation(Operation::GetTask);
        let second = first.clone().with_task_id("t-1");
        assert_eq!(first.task_id(), None);
        assert_eq!(second.task_id(), Some("t-1"));
        assert_eq!(second.operation(), Some(Operation::GetTask));
    }

    #[test]
    fn the_operation_says_whether_a_stream_is_asked() {
        assert!(Call::new().with_operation(Operation::SubscribeToTask).is_streaming());
        assert!(!Call::new().with_operation(Operation::GetTask).is_blocking());
        assert!(Call::new().with_operation(Operation::SendMessage).is_blocking());
    }

    #[test]
    fn what_was_said_of_blocking_stands_whatever_is_said_of_the_operation() {
        for blocking in [true, false] {
            for operation in [Operation::SendMessage, Operation::GetTask] {
                assert_eq!(Call::new().with_blocking(blocking).with_operation(operation).is_blocking(), blocking);
            }
        }
    }
}
