//! The whole stack as one layer.
//!
//! ```text
//! GuardService         completes relative URIs, if an origin was given; sends all to an upstream, if one was
//! CallLayer            names the call
//! RefusalResponseLayer only in a RenderedGuard
//! ObserveLayer         tells the observer of calls that the layers below refuse
//! a retry layer        if one was given; here it sees bodies that can be sent again
//! CardConsistencyLayer if cards were given
//! ProbeCacheLayer      if one was given
//! TerminalStateLayer
//! ```

mod builder;
mod cards;
mod error;
mod layer;
mod probes;
mod service;

pub use self::{
    builder::GuardBuilder,
    cards::{CardPart, Cards, GuardCards, NoCards},
    error::GuardError,
    layer::{Guard, RenderedGuard},
    probes::{GuardProbes, ProbePart},
    service::GuardService,
};
