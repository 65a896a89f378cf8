use std::{fmt, sync::Arc, time::Duration};

use tower_layer::Identity;

use super::GuardError;
use crate::{
    card::UrlPolicy,
    card_consistency::{
        Admission, CardConsistencyLayer, CardStore, CardStoreBuilder, Direct, FirstEventExtension, Resolve,
    },
    limits::Totals,
    outcome::Observe,
};

/// No cards are asked: a guard of calls alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCards;

/// Where cards come from.
pub struct Cards(Source);

enum Source {
    Builder(Box<CardStoreBuilder>),
    Store(CardStore),
}

/// What a guard is told about cards, besides where they come from.
pub struct CardSettings<R> {
    pub(super) resolver: R,
    pub(super) resolves: bool,
    pub(super) urls: Option<UrlPolicy>,
    pub(super) admissions: Vec<Admission>,
    pub(super) wait: Option<Duration>,
    pub(super) strict: bool,
    pub(super) extended: bool,
    pub(super) first_event: Option<FirstEventExtension>,
}

impl<R> fmt::Debug for CardSettings<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardSettings").field("urls", &self.urls).field("wait", &self.wait).finish_non_exhaustive()
    }
}

/// The card layer of a guard with cards. `O` is the guard's observer, and `R` says where calls really go.
pub type GuardCards<O = (), R = Direct> = CardConsistencyLayer<R, Arc<O>>;

/// Whether a guard has cards: [`Cards`] or [`NoCards`].
pub trait CardPart<R, O>: sealed::Sealed {
    /// The layer that it becomes.
    type Layer;

    #[doc(hidden)]
    fn into_layer(
        self,
        settings: CardSettings<R>,
        observer: Arc<O>,
        totals: Arc<Totals>,
    ) -> Result<Self::Layer, GuardError>;

    /// Where the layer has its cards from.
    #[doc(hidden)]
    fn store(layer: &Self::Layer) -> Option<CardStore>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::NoCards {}
    impl Sealed for super::Cards {}
}

impl Cards {
    pub(super) fn build(builder: CardStoreBuilder) -> Self {
        Self(Source::Builder(Box::new(builder)))
    }

    pub(super) fn store(store: CardStore) -> Self {
        Self(Source::Store(store))
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cards").finish_non_exhaustive()
    }
}

impl<R, O> CardPart<R, O> for NoCards {
    type Layer = Identity;

    fn into_layer(self, settings: CardSettings<R>, _: Arc<O>, _: Arc<Totals>) -> Result<Identity, GuardError> {
        let CardSettings { resolver: _, resolves, urls, admissions, wait, strict: _, extended, first_event } = settings;
        let set = [
            ("resolver", resolves),
            ("urls", urls.is_some()),
            ("admit", !admissions.is_empty()),
            ("card_wait", wait.is_some()),
            ("extended_card", extended),
            ("first_event", first_event.is_some()),
        ];
        match set.iter().find(|(_, set)| *set) {
            Some((setting, _)) => Err(GuardError::new(
                setting,
                "is of no use without cards: set cards(client) or card_store(store), or leave it out",
            )),
            None => Ok(Identity::new()),
        }
    }

    fn store(_: &Identity) -> Option<CardStore> {
        None
    }
}

impl<R, O> CardPart<R, O> for Cards
where
    R: Resolve,
    O: Observe,
{
    type Layer = GuardCards<O, R>;

    fn into_layer(
        self,
        settings: CardSettings<R>,
        observer: Arc<O>,
        totals: Arc<Totals>,
    ) -> Result<Self::Layer, GuardError> {
        let CardSettings { resolver, resolves: _, urls, admissions, wait, strict, extended, first_event } = settings;
        let store = match self.0 {
            Source::Store(store) => store,
            Source::Builder(builder) => builder.build()?,
        };
        let mut layer = CardConsistencyLayer::new(store).strict(strict).extended_card(extended).totals(totals);
        if let Some(urls) = urls {
            layer = layer.urls(urls);
        }
        if let Some(wait) = wait {
            if wait.is_zero() {
                return Err(GuardError::new(
                    "card_wait",
                    "is zero: no card that has to be fetched could be waited for; raise it",
                ));
            }
            layer = layer.wait(wait);
        }
        if let Some(extension) = first_event {
            layer = layer.first_event(extension)?;
        }
        Ok(admissions.into_iter().fold(layer, CardConsistencyLayer::admit).observe(observer).resolver(resolver))
    }

    fn store(layer: &Self::Layer) -> Option<CardStore> {
        Some(layer.store().clone())
    }
}
