//! Counters and histograms, through the `metrics` facade.

mod cards;
mod names;
mod observer;
mod series;

pub use self::{cards::record_card_store, observer::MetricsObserver};
