//! Whether the layers stand in their order: a request tells each layer which ones it has come past.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
};

use http::{Extensions, Request};

use super::{Call, from_head};

/// A layer stands below one that belongs below it.
///
/// Its `Display` says what comes of that, and where the layer belongs. See [`Call::order_mistake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderMistake {
    above: Rank,
    below: Rank,
}

impl OrderMistake {
    /// The name of the layer that stands above, and belongs below.
    #[must_use]
    pub fn above(&self) -> &'static str {
        self.above.name()
    }

    /// The name of the layer that stands below, and belongs above.
    #[must_use]
    pub fn below(&self) -> &'static str {
        self.below.name()
    }

    fn code(self) -> u8 {
        1 + self.above as u8 * Rank::COUNT + self.below as u8
    }

    fn of_code(code: u8) -> Option<Self> {
        let code = code.checked_sub(1)?;
        let rank = |index: u8| Rank::ALL.get(usize::from(index)).copied();
        Some(Self { above: rank(code / Rank::COUNT)?, below: rank(code % Rank::COUNT)? })
    }
}

impl fmt::Display for OrderMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { above, below } = self;
        let why = match (below, above) {
            (Rank::Call, _) => "knows no more of a call than its method, path and headers tell",
            (Rank::Refusal, Rank::Terminal) => "takes what is rendered for the agent's own answer",
            (Rank::Refusal, _) => "takes failures that are rendered for successes",
            (Rank::Card, Rank::Probe) => "probes where requests were addressed, not where their cards send them",
            _ => "judges answers too late for it, which takes each one for a success",
        };
        write!(f, "{} stands below {}, which {why}: put it above", below.name(), above.name())
    }
}

/// The layers whose order matters, from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    Call,
    Refusal,
    Card,
    Probe,
    Terminal,
}

impl Rank {
    const ALL: [Self; 5] = [Self::Call, Self::Refusal, Self::Card, Self::Probe, Self::Terminal];
    const COUNT: u8 = Self::ALL.len() as u8;

    const fn name(self) -> &'static str {
        match self {
            Self::Call => "CallLayer",
            Self::Refusal => "RefusalResponseLayer",
            Self::Card => "CardConsistencyLayer",
            Self::Probe => "ProbeCacheLayer",
            Self::Terminal => "TerminalStateLayer",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Those that may stand above this one; another of its own kind is among them.
    const fn and_above(self) -> u8 {
        (self.bit() << 1) - 1
    }

    /// What is wrong if a request came past these layers before this one. The innermost of them is named: it is
    /// furthest from its place.
    fn mistake_below(self, passed: u8) -> Option<OrderMistake> {
        let wrong = passed & !self.and_above();
        let above = Self::ALL.into_iter().rev().find(|rank| wrong & rank.bit() != 0)?;
        Some(OrderMistake { above, below: self })
    }
}

/// The first mistake that was found. Of a call it is shared by all clones, so that the layers above are told as well.
#[derive(Debug, Default)]
pub(super) struct Found(AtomicU8);

impl Found {
    pub(super) fn note(&self, mistake: OrderMistake) {
        // What was found first stays.
        let _ = self.0.compare_exchange(0, mistake.code(), Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Option<OrderMistake> {
        OrderMistake::of_code(self.0.load(Ordering::Relaxed))
    }
}

impl Clone for Found {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }
}

/// What one layer knows of its place.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Of a layer that no `CallLayer` stands above.
    found: Found,
    /// It left its mark in a request that has no call.
    marked: AtomicBool,
    #[cfg(feature = "tracing")]
    told: AtomicBool,
}

impl Order {
    fn tell(&self, mistake: OrderMistake) {
        #[cfg(feature = "tracing")]
        if !self.told.swap(true, Ordering::Relaxed) {
            let (above, below) = (mistake.above(), mistake.below());
            tracing::warn!(target: "a2a_guard::order", above, below, "the layers are out of order: {mistake}");
        }
        #[cfg(not(feature = "tracing"))]
        let _ = mistake;
    }
}

/// The mark of layers that found no call in a request: a `CallLayer` further down finds it.
///
/// To put it there allocates, so each layer does it once. Stacks do not change.
#[derive(Clone, Default)]
struct Unnamed {
    passed: u8,
    by: Vec<(Call, Arc<Order>)>,
}

impl Unnamed {
    #[cold]
    fn found(&self, mistake: OrderMistake) {
        for (call, order) in &self.by {
            call.facts.mistake.note(mistake);
            order.found.note(mistake);
        }
    }
}

/// The call that a request carries, or else what its head tells of one. Notes that the request comes past a layer, and
/// whether that layer is in its place.
#[inline]
pub(crate) fn come_past<B>(request: &mut Request<B>, rank: Rank, order: &Arc<Order>) -> Call {
    match request.extensions_mut().get_mut::<Call>() {
        Some(call) => {
            let passed = call.passed;
            call.passed = passed | rank.bit();
            if passed & !rank.and_above() != 0 {
                out_of_place(call, passed, rank, order);
            }
            call.clone()
        }
        None => unnamed(request, rank, order),
    }
}

#[cold]
fn out_of_place(call: &Call, passed: u8, rank: Rank, order: &Order) {
    if let Some(mistake) = rank.mistake_below(passed) {
        call.facts.mistake.note(mistake);
        order.tell(mistake);
    }
}

#[inline(never)]
fn unnamed<B>(request: &mut Request<B>, rank: Rank, order: &Arc<Order>) -> Call {
    let call = from_head(request.method(), request.uri(), request.headers(), request.extensions());
    if let Some(mistake) = order.found.get() {
        call.facts.mistake.note(mistake);
    }
    if order.marked.load(Ordering::Relaxed) || order.marked.swap(true, Ordering::Relaxed) {
        return call;
    }
    let extensions = request.extensions_mut();
    let mut mark = extensions.remove::<Unnamed>().unwrap_or_default();
    mark.by.push((call.clone(), Arc::clone(order)));
    if let Some(mistake) = rank.mistake_below(mark.passed) {
        mark.found(mistake);
        order.tell(mistake);
    }
    mark.passed |= rank.bit();
    extensions.insert(mark);
    call
}

/// A call that is named already begins anew in `CallLayer`: a stack may stand around a router that has another within.
#[inline]
pub(super) fn begin_named(call: &mut Call) {
    call.passed = 0;
}

/// What `CallLayer` is given to complete. Layers that the request came past knew no more than that, and should have.
#[inline]
pub(super) fn begin(given: &mut Call, order: &Order) -> Call {
    let passed = std::mem::take(&mut given.passed);
    if passed != 0 {
        out_of_place(given, passed, Rank::Call, order);
    }
    given.clone()
}

/// The same of a request that carries no call.
#[inline]
pub(super) fn begin_unnamed(extensions: &mut Extensions, order: &Order) -> Call {
    if !extensions.is_empty()
        && let Some(mark) = extensions.remove::<Unnamed>()
        && let Some(mistake) = Rank::Call.mistake_below(mark.passed)
    {
        mark.found(mistake);
        order.tell(mistake);
    }
    Call::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_has_a_code_of_its_own_and_a_sentence() {
        let mut sentences = Vec::new();
        for below in Rank::ALL {
            for above in Rank::ALL {
                let mistake = OrderMistake { above, below };
                assert_eq!(OrderMistake::of_code(mistake.code()), Some(mistake));
                let found = below.mistake_below(above.bit());
                assert_eq!(found, (above as u8 > below as u8).then_some(mistake), "{below:?} below {above:?}");
                sentences.extend(found.map(|mistake| mistake.to_string()));
            }
        }
        assert_eq!(OrderMistake::of_code(0), None);
        assert_eq!(OrderMistake::of_code(26), None);
        assert_eq!(sentences.len(), 10);
        assert!(sentences.iter().all(|sentence| sentence.ends_with(": put it above")));
    }

    #[test]
    fn the_one_furthest_from_its_place_is_named() {
        let passed = Rank::Call.bit() | Rank::Card.bit() | Rank::Terminal.bit();
        let mistake = Rank::Refusal.mistake_below(passed).unwrap();
        assert_eq!((mistake.above(), mistake.below()), ("TerminalStateLayer", "RefusalResponseLayer"));
    }
}
