use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use tower_layer::Identity;
use tower_service::Service;

use super::{CardPart, Cards, Guard, GuardError, NoCards, ProbePart, cards::CardSettings, service::Origin};
use crate::{
    call::{CallLayer, Operation},
    card::UrlPolicy,
    card_consistency::{Admission, CardStore, Direct, FirstEventExtension, Resolve},
    error::BoxError,
    limits::{LimitOverrides, Limits},
    observability::ObserveLayer,
    outcome::Observe,
    probe_cache::ProbeCacheLayer,
    terminal_state::{Recovery, TerminalStateBuilder, TerminalStateLayer},
};

/// Builds a [`Guard`]. Every part is optional; combinations that make no sense are refused by [`build`](Self::build).
#[must_use = "a builder does nothing before `build`"]
pub struct GuardBuilder<O = (), C = NoCards, R = Direct, P = Identity, M = Identity> {
    plain: Plain,
    observer: O,
    cards: C,
    card_settings: CardSettings<R>,
    probes: P,
    retrying: M,
}

/// What is of the same type in every guard.
struct Plain {
    origin: Option<Uri>,
    upstream: Option<Uri>,
    naming: CallLayer,
    limits: Limits,
    ending: TerminalStateBuilder,
    strict: bool,
    given: Given,
}

/// Which parts were given, and which of them twice: the first would be dropped without a word.
#[derive(Default)]
struct Given {
    parts: Vec<Part>,
    twice: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Observer,
    Cards,
    Availability,
    Retry,
}

impl Given {
    fn note(&mut self, part: Part) {
        if self.parts.contains(&part) {
            self.twice = Some(part);
        }
        self.parts.push(part);
    }

    fn check(&self) -> Result<(), GuardError> {
        let (setting, why) = match self.twice {
            None => return Ok(()),
            Some(Part::Observer) => (
                "observe",
                "is called twice, and one of the observers would hear of nothing: combine them, as in observe(a.and(b))",
            ),
            Some(Part::Cards) => {
                ("cards", "is set twice, by cards(client) or card_store(store): leave one of them out")
            }
            Some(Part::Availability) => ("availability", "is called twice: leave one of the layers out"),
            Some(Part::Retry) => (
                "retry",
                "is called twice, and there is one place: give it both layers, as in \
                 retry(ServiceBuilder::new().layer(outer).layer(inner).into_inner())",
            ),
        };
        Err(GuardError::new(setting, why))
    }
}

impl GuardBuilder {
    pub(super) fn new() -> Self {
        Self {
            plain: Plain {
                origin: None,
                upstream: None,
                naming: CallLayer::new(),
                limits: Limits::default(),
                ending: TerminalStateLayer::builder(),
                strict: false,
                given: Given::default(),
            },
            observer: (),
            cards: NoCards,
            card_settings: CardSettings {
                resolver: Direct,
                resolves: false,
                urls: None,
                admissions: Vec::new(),
                wait: None,
                strict: false,
                extended: false,
                first_event: None,
            },
            probes: Identity::new(),
            retrying: Identity::new(),
        }
    }
}

impl<O, C, R, P, M> GuardBuilder<O, C, R, P, M> {
    /// The bounds of all calls. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.plain.limits = limits;
        self
    }

    /// Other bounds for one operation, on top of [`limits`](Self::limits).
    pub fn operation_limits(mut self, operation: Operation, overrides: LimitOverrides) -> Self {
        self.plain.ending = self.plain.ending.operation_limits(operation, overrides);
        self
    }

    /// Refuses answers and cards that are slightly wrong, though a lenient reader understands them. Default: off.
    pub fn strict(mut self, strict: bool) -> Self {
        self.plain.strict = strict;
        self
    }

    /// Turns a single result that answers a streaming call into a stream of one event. Default: off.
    pub fn adapt_downgrade(mut self, adapt: bool) -> Self {
        self.plain.ending = self.plain.ending.adapt_downgrade(adapt);
        self
    }

    /// What to do about a task that a failed or abandoned call leaves behind. Default: nothing.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.plain.ending = self.plain.ending.recovery(recovery);
        self
    }

    /// Tells gRPC agents how much time is left of a call's total. Default: off. See
    /// [`TerminalStateBuilder::send_grpc_timeout`].
    pub fn send_grpc_timeout(mut self, send: bool) -> Self {
        self.plain.ending = self.plain.ending.send_grpc_timeout(send);
        self
    }

    /// Catches panics of the service below, such as an agent's own router. Default: off. See
    /// [`TerminalStateBuilder::catch_panics`].
    pub fn catch_panics(mut self, catch: bool) -> Self {
        self.plain.ending = self.plain.ending.catch_panics(catch);
        self
    }

    /// Is told of each call's end, exactly once: of successes and failures, of calls that were refused for their card
    /// or endpoint, and of calls that were dropped, including while their requests were read or while they waited
    /// for a card, a probe or their turn. Default: nobody.
    ///
    /// With a [`retry`](Self::retry) layer each attempt is a call, and a call that is dropped during the pause before
    /// another attempt ends as its last attempt did.
    pub fn observe<T>(self, observer: T) -> GuardBuilder<T, C, R, P, M>
    where
        T: Observe,
    {
        let Self { mut plain, observer: _, cards, card_settings, probes, retrying } = self;
        plain.given.note(Part::Observer);
        GuardBuilder { plain, observer, cards, card_settings, probes, retrying }
    }

    /// How calls are named: where to find skill and region, how much of a body is read. Default: [`CallLayer::new`]. A
    /// body is read for no longer than the longest total of [`limits`](Self::limits), whatever is set here.
    pub fn naming(mut self, naming: CallLayer) -> Self {
        self.plain.naming = naming;
        self
    }

    /// Completes relative request URIs, which tonic's generated clients and axum's handlers have. The `host` header of
    /// such a request goes: it names the server of yours that received it. Default: none, and such requests stay as
    /// they are.
    ///
    /// A request whose URI is absolute goes where that says. Behind a server of yours that is the caller's choice (over
    /// HTTP/2, or in absolute form): there, set [`upstream`](Self::upstream) instead.
    pub fn origin(mut self, origin: Uri) -> Self {
        self.plain.origin = Some(origin);
        self
    }

    /// Sends every request to this origin, whatever its URI says: for a gateway in front of one agent, whose callers
    /// must not choose where a call goes. Paths and queries stay; what is of the caller's connection goes: the
    /// `host` header, the version of HTTP, and the fields of RFC 9110 §7.6.1. A [`resolver`](Self::resolver) is
    /// asked after that. Default: none, and requests go where their URIs say.
    pub fn upstream(mut self, upstream: Uri) -> Self {
        self.plain.upstream = Some(upstream);
        self
    }

    /// Holds calls against their target's card, fetched through this client. A clone of the client below will do,
    /// unless it follows redirects. Default: no cards.
    pub fn cards<S, B, T>(self, client: S) -> GuardBuilder<O, Cards, R, P, M>
    where
        S: Service<Request<B>, Response = Response<T>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: From<Bytes> + Send + 'static,
        T: Body + Send + 'static,
        T::Data: Send,
        T::Error: Into<BoxError>,
    {
        self.with_cards(Cards::build(CardStore::builder(client)))
    }

    /// The same with a store of your own, which you can configure, share and inspect.
    pub fn card_store(self, store: CardStore) -> GuardBuilder<O, Cards, R, P, M> {
        self.with_cards(Cards::store(store))
    }

    fn with_cards(self, cards: Cards) -> GuardBuilder<O, Cards, R, P, M> {
        let Self { mut plain, observer, cards: _, card_settings, probes, retrying } = self;
        plain.given.note(Part::Cards);
        GuardBuilder { plain, observer, cards, card_settings, probes, retrying }
    }

    /// Says where requests really go. Needs cards. Default: where their URIs say.
    pub fn resolver<T>(self, resolver: T) -> GuardBuilder<O, C, T, P, M>
    where
        T: Resolve,
    {
        let Self { plain, observer, cards, card_settings, probes, retrying } = self;
        let CardSettings { resolver: _, resolves: _, urls, admissions, wait, strict, extended, first_event } =
            card_settings;
        let card_settings =
            CardSettings { resolver, resolves: true, urls, admissions, wait, strict, extended, first_event };
        GuardBuilder { plain, observer, cards, card_settings, probes, retrying }
    }

    /// Where URLs on cards may lead. Needs cards. Default: [`UrlPolicy::strict`].
    pub fn urls(mut self, urls: UrlPolicy) -> Self {
        self.card_settings.urls = Some(urls);
        self
    }

    /// Registers which shapes a capability admits; others are refused. Needs cards.
    pub fn admit(mut self, admission: Admission) -> Self {
        self.card_settings.admissions.push(admission);
        self
    }

    /// How long a call waits for a card at most. Needs cards. Default: 10 s.
    pub fn card_wait(mut self, wait: Duration) -> Self {
        self.card_settings.wait = Some(wait);
        self
    }

    /// Whether calls with credentials are held against the agent's extended card, if it has one. Needs cards. Default:
    /// off. See
    /// [`CardConsistencyLayer::extended_card`](crate::card_consistency::CardConsistencyLayer::extended_card).
    pub fn extended_card(mut self, extended: bool) -> Self {
        self.card_settings.extended = extended;
        self
    }

    /// Lets an agent's card say how long the first event of a stream may take. Needs cards. Default: the limits alone.
    /// See [`CardConsistencyLayer::first_event`](crate::card_consistency::CardConsistencyLayer::first_event).
    pub fn first_event(mut self, extension: FirstEventExtension) -> Self {
        self.card_settings.first_event = Some(extension);
        self
    }

    /// Probes endpoints, and remembers where skills are available. Default: nothing is probed or remembered.
    ///
    /// The guard's observer is told of the calls that the layer ends; a layer with an observer of its own is refused by
    /// [`build`](Self::build).
    pub fn availability<T>(self, layer: ProbeCacheLayer<T>) -> GuardBuilder<O, C, R, ProbeCacheLayer<T>, M> {
        let Self { mut plain, observer, cards, card_settings, probes: _, retrying } = self;
        plain.given.note(Part::Availability);
        GuardBuilder { plain, observer, cards, card_settings, probes: layer, retrying }
    }

    /// A layer that sends calls again, such as tower's `RetryLayer`, or any other layer. It is placed where it sees
    /// bodies that can be sent again ([`CallBody`](crate::CallBody)), above everything that can refuse a call, so
    /// that each attempt finds its own card. Default: none.
    ///
    /// If such a layer fails by itself, the observer is told only when nothing can have been sent: of a call that tower
    /// sheds (feature `tower`). A timeout in it drops the call below, which is then `abandoned`.
    pub fn retry<T>(self, layer: T) -> GuardBuilder<O, C, R, P, T> {
        let Self { mut plain, observer, cards, card_settings, probes, retrying: _ } = self;
        plain.given.note(Part::Retry);
        GuardBuilder { plain, observer, cards, card_settings, probes, retrying: layer }
    }

    /// The layer.
    ///
    /// # Errors
    ///
    /// If bounds contradict each other, a setting needs a part that is not there, a part is set to something
    /// impossible, or a part is given twice. The error names the setting and the fix.
    pub fn build(self) -> Result<Guard<O, C::Layer, P::Layer, M>, GuardError>
    where
        O: Observe,
        C: CardPart<R, O>,
        P: ProbePart<O>,
    {
        let Self { plain, observer, cards, card_settings, probes, retrying } = self;
        let Plain { origin, upstream, naming, limits, ending, strict, given } = plain;
        given.check()?;
        let observer = Arc::new(observer);
        let ending = ending.limits(limits).strict(strict).observe(Arc::clone(&observer)).build()?;
        let totals = Arc::new(ending.totals());
        let longest = totals.of.into_iter().max().unwrap_or_default();
        let card_settings = CardSettings { strict, ..card_settings };
        let cards = cards.into_layer(card_settings, Arc::clone(&observer), Arc::clone(&totals))?;
        let probes = probes.into_layer(Arc::clone(&observer), totals, C::store(&cards))?;
        Ok(Guard {
            origin: match (origin, upstream) {
                (None, None) => None,
                (Some(origin), None) => Some(Arc::new(Origin::of(origin)?)),
                (None, Some(upstream)) => Some(Arc::new(Origin::of_all(upstream)?)),
                (Some(_), Some(_)) => {
                    return Err(GuardError::new(
                        "origin",
                        "is of no use with an upstream, to which relative requests go like all others: leave one of them out",
                    ));
                }
            },
            naming: naming.total(longest).observe(Arc::clone(&observer)),
            observing: ObserveLayer::new(Arc::clone(&observer)),
            retrying,
            cards,
            probes,
            ending,
        })
    }
}

impl<O, C, R, P, M> fmt::Debug for GuardBuilder<O, C, R, P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardBuilder")
            .field("origin", &self.plain.origin)
            .field("upstream", &self.plain.upstream)
            .field("limits", &self.plain.limits)
            .field("strict", &self.plain.strict)
            .finish_non_exhaustive()
    }
}
