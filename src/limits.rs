//! How long a call may take, and how large its parts may be.

use std::{ops::Deref, time::Duration};

use http::Request;

use crate::call::{self, Binding, Call, Operation};

/// Sums of instants and bounds must not overflow; nobody waits for a century.
pub(crate) const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);

macro_rules! bounds {
    ($(#[$ready_doc:meta])* ready: Duration = $ready:expr; $($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// The bounds of a call, all finite. See each setter for what it bounds and for its default.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            pub(crate) ready: Duration,
            $(pub(crate) $name: $type,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { ready: $ready, $($name: $default,)* }
            }
        }

        impl Limits {
            $(#[$ready_doc])*
            #[must_use]
            pub fn ready(mut self, value: Duration) -> Self {
                self.ready = value;
                self
            }

            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: $type) -> Self {
                    self.$name = value;
                    self
                }
            )*

            pub(crate) fn overridden(&self, by: &LimitOverrides) -> Self {
                Self { ready: self.ready, $($name: by.$name.unwrap_or(self.$name),)* }
            }
        }

        /// Changes to [`Limits`]: for one operation
        /// ([`operation_limits`](crate::TerminalStateBuilder::operation_limits)), or, put into a request's
        /// extensions, for one call.
        ///
        /// Bounds for one call are cut to its total if they exceed it. `ready` cannot be changed here: the client is waited
        /// for before the call is known.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct LimitOverrides {
            $($name: Option<$type>,)*
        }

        impl LimitOverrides {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: $type) -> Self {
                    self.$name = Some(value);
                    self
                }
            )*
        }
    };
}

bounds! {
    /// How long the client below may take to become ready. Default: 5 s.
    ready: Duration = Duration::from_secs(5);
    /// From the call to the response head. Default: 30 s.
    head: Duration = Duration::from_secs(30);
    /// The same for a send that may block until its task comes to rest, streams included: several servers send no head
    /// before that, or before their first event. Default: 300 s.
    blocking_head: Duration = Duration::from_secs(300);
    /// From the head of a stream to its first event; comments do not count. Default: 30 s.
    first_event: Duration = Duration::from_secs(30);
    /// The longest gap without a byte in a body. Some servers send no keep-alives. Default: 120 s.
    idle: Duration = Duration::from_secs(120);
    /// The longest gap with bytes but without an event in a stream. Default: 300 s.
    event_gap: Duration = Duration::from_secs(300);
    /// The whole of a unary call, from `CallLayer` on. Default: 600 s.
    total_unary: Duration = Duration::from_secs(600);
    /// The whole of a stream, from `CallLayer` on. Default: 3,600 s.
    total_stream: Duration = Duration::from_secs(3600);
    /// After a terminal event or INPUT_REQUIRED, how long the peer may take to close; then the stream is ended as the
    /// success that it is. Default: 2 s.
    linger: Duration = Duration::from_secs(2);
    /// The same after AUTH_REQUIRED, which may resume by itself (A2A 1.0 §7.6.1). Default: 600 s.
    auth_wait: Duration = Duration::from_secs(600);
    /// The body of a unary answer, in bytes. Default: 32 MiB.
    max_unary_body: usize = 32 << 20;
    /// One event of a stream, in bytes. Default: 16 MiB.
    max_event: usize = 16 << 20;
    /// How much of a refusal's body is kept, in bytes; the rest is dropped, not waited for. Default: 64 KiB.
    max_refusal: usize = 64 << 10;
}

impl LimitOverrides {
    /// Sets the total of unary calls and of streams.
    #[must_use]
    pub fn total(self, total: Duration) -> Self {
        self.total_unary(total).total_stream(total)
    }

    /// Sets the bound on a stream's first event where nobody has.
    pub(crate) fn or_first_event(&mut self, bound: Duration) {
        self.first_event.get_or_insert(bound);
    }

    /// The total of one kind of call, if it is set.
    pub(crate) fn total_of(&self, stream: bool) -> Option<Duration> {
        if stream { self.total_stream } else { self.total_unary }
    }

    /// The longest total that is set, where which kind the call is shows later.
    pub(crate) fn longest_total(&self) -> Option<Duration> {
        self.total_unary.max(self.total_stream)
    }
}

/// The totals of calls, for layers that wait before a call comes down to where its total is kept.
#[derive(Clone, Debug)]
pub struct Totals {
    pub(crate) of: [Duration; Operation::COUNT],
}

/// What is left of a call's total, where that is known: by what the request itself says, or by `totals`.
pub(crate) fn left_of_total<B>(request: &Request<B>, call: &Call, totals: Option<&Totals>) -> Option<Duration> {
    let own = request.extensions().get::<LimitOverrides>().and_then(|by| by.total_of(call.is_streaming()));
    let total = own.or_else(|| Some(totals?.of[call.operation()?.index()]));
    let is_grpc = call.binding() == Some(Binding::Grpc);
    let asked = if is_grpc { call::grpc_timeout(request.headers()) } else { None };
    let total = total.into_iter().chain(asked).min()?;
    Some(total.saturating_sub(call.elapsed()))
}

impl Limits {
    /// Sets the total of unary calls and of streams.
    #[must_use]
    pub fn total(self, total: Duration) -> Self {
        self.total_unary(total).total_stream(total)
    }

    /// The defaults, each bound cut to `total`.
    #[must_use]
    pub fn within(total: Duration) -> Self {
        let limits = Self::default();
        Self {
            ready: limits.ready.min(total),
            total_unary: limits.total_unary.min(total),
            total_stream: limits.total_stream.min(total),
            ..limits
        }
        .cut_to_total(true)
        .cut_to_total(false)
    }

    /// What is wrong with these bounds, of one operation or of all, if anything: its name, and why.
    pub(crate) fn contradiction(&self, operation: Option<Operation>) -> Option<(&'static str, String)> {
        // The totals first: they may be what the others were cut to.
        let durations = [
            ("total_unary", self.total_unary),
            ("total_stream", self.total_stream),
            ("ready", self.ready),
            ("head", self.head),
            ("blocking_head", self.blocking_head),
            ("first_event", self.first_event),
            ("idle", self.idle),
            ("event_gap", self.event_gap),
            ("linger", self.linger),
            ("auth_wait", self.auth_wait),
        ];
        if let Some((name, _)) = durations.iter().find(|(_, bound)| bound.is_zero()) {
            return Some((name, "is zero, so that no call could end well".into()));
        }
        if let Some((name, _)) = durations.iter().find(|(_, bound)| *bound > CENTURY) {
            return Some((name, "is longer than a century, which is no bound".into()));
        }
        let sizes =
            [("max_unary_body", self.max_unary_body), ("max_event", self.max_event), ("max_refusal", self.max_refusal)];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Some((name, "is zero, so that no answer would fit".into()));
        }
        let (unary, stream) = match operation {
            None => (true, true),
            Some(operation) => (!operation.is_streaming(), operation.is_streaming()),
        };
        let blocks = operation.is_none_or(Operation::is_send);
        // What is held to which total; what an operation never reaches is not held against it.
        let pairs = [
            (true, "ready", self.ready, "the total", self.total_unary.max(self.total_stream)),
            (unary, "head", self.head, "total_unary", self.total_unary),
            (unary && blocks, "blocking_head", self.blocking_head, "total_unary", self.total_unary),
            (unary, "idle", self.idle, "total_unary", self.total_unary),
            (stream, "head", self.head, "total_stream", self.total_stream),
            (stream && blocks, "blocking_head", self.blocking_head, "total_stream", self.total_stream),
            (stream, "first_event", self.first_event, "total_stream", self.total_stream),
            (stream, "idle", self.idle, "total_stream", self.total_stream),
            (stream, "event_gap", self.event_gap, "total_stream", self.total_stream),
            (stream, "linger", self.linger, "total_stream", self.total_stream),
            (stream, "auth_wait", self.auth_wait, "total_stream", self.total_stream),
        ];
        // Where a total was lowered, the next bound would be the next to be above it.
        let defaults = Self::default();
        let is_lowered = self.total_unary < defaults.total_unary || self.total_stream < defaults.total_stream;
        let all_at_once = match operation {
            None if is_lowered => "; or begin with Limits::within, which cuts every bound to the total",
            _ => "",
        };
        pairs.into_iter().find(|(held, _, bound, _, total)| *held && bound > total).map(
            |(_, name, bound, of, total)| {
                let why = format!(
                    "({bound:?}) is above {of} ({total:?}): it could never be reached; lower it, or raise \
                     {of}{all_at_once}"
                );
                (name, why)
            },
        )
    }

    /// Each bound of a unary call, or of a stream, cut to the total of its kind; and that to a century.
    pub(crate) fn cut_to_total(self, stream: bool) -> Self {
        let total_unary = self.total_unary.min(CENTURY);
        let total_stream = self.total_stream.min(CENTURY);
        let total = if stream { total_stream } else { total_unary };
        Self {
            head: self.head.min(total),
            blocking_head: self.blocking_head.min(total),
            idle: self.idle.min(total),
            first_event: self.first_event.min(total_stream),
            event_gap: self.event_gap.min(total_stream),
            linger: self.linger.min(total_stream),
            auth_wait: self.auth_wait.min(total_stream),
            total_unary,
            total_stream,
            ..self
        }
    }

    pub(crate) fn total_of(&self, stream: bool) -> Duration {
        if stream { self.total_stream } else { self.total_unary }
    }
}

/// Limits that were checked, with what is derived from them.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    limits: Limits,
    /// The shortest of the bounds that one phase of a call may set while an earlier one runs, but no less than
    /// [`FLOOR`]; see the layer's `Timer`. `linger` is left out: it begins once, and then sets the timer anew.
    pub(crate) floor: Duration,
    /// One of these is shorter than that, so that each phase has to set the timer anew.
    pub(crate) hasty: bool,
}

/// A timer that fires more often than this would keep a call busy for as long as it lasts.
const FLOOR: Duration = Duration::from_secs(1);

impl Bounds {
    pub(crate) fn new(limits: Limits) -> Self {
        let Limits { head, blocking_head, first_event, idle, event_gap, auth_wait, .. } = limits;
        let shortest = head.min(blocking_head).min(first_event).min(idle).min(event_gap).min(auth_wait);
        Self { limits, floor: shortest.max(FLOOR), hasty: shortest < FLOOR }
    }
}

impl Deref for Bounds {
    type Target = Limits;

    fn deref(&self) -> &Limits {
        &self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_hold_together() {
        assert_eq!(Limits::default().contradiction(None), None);
    }

    #[test]
    fn a_bound_above_the_total_is_named_with_the_fix() {
        let limits = Limits::default().total(Duration::from_secs(10));
        let (name, why) = limits.contradiction(None).unwrap();
        assert_eq!(name, "head");
        assert_eq!(
            why,
            "(30s) is above total_unary (10s): it could never be reached; lower it, or raise total_unary; \
             or begin with Limits::within, which cuts every bound to the total"
        );
        assert_eq!(limits.cut_to_total(true).cut_to_total(false).contradiction(None), None);
        let (name, why) = Limits::default().idle(Duration::from_secs(601)).contradiction(None).unwrap();
        assert_eq!(name, "idle");
        assert!(why.ends_with("lower it, or raise total_unary"), "{why}");
    }

    #[test]
    fn zero_and_eternity_are_no_bounds() {
        assert_eq!(Limits::default().idle(Duration::ZERO).contradiction(None).unwrap().0, "idle");
        assert_eq!(Limits::default().total(Duration::MAX).contradiction(None).unwrap().0, "total_unary");
        assert_eq!(Limits::default().max_event(0).contradiction(None).unwrap().0, "max_event");
        assert_eq!(Limits::within(Duration::ZERO).contradiction(None).unwrap().0, "total_unary");
    }

    #[test]
    fn within_keeps_every_bound_below_the_total() {
        for seconds in [1, 10, 60, 4000] {
            assert_eq!(Limits::within(Duration::from_secs(seconds)).contradiction(None), None, "{seconds}");
        }
        assert_eq!(Limits::within(Duration::from_secs(10)).total_stream, Duration::from_secs(10));
    }

    #[test]
    fn overrides_change_what_they_name() {
        let by = LimitOverrides::default().head(Duration::from_secs(1)).max_event(7);
        let limits = Limits::default().overridden(&by);
        assert_eq!((limits.head, limits.max_event), (Duration::from_secs(1), 7));
        assert_eq!(limits.idle, Limits::default().idle);
    }
}
