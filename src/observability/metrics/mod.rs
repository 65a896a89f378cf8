//! Counters and histograms, through the `metrics` facade.

mod names;
mod observer;
mod series;
mod stores;

pub use self::{
    observer::MetricsObserver,
    stores::{record_availability, record_card_store},
};
