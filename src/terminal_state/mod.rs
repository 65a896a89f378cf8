//! Makes every call end: bounds on time and size, and a judgement of what came.

mod answer;
mod body;
mod contained;
mod deadline;
mod flight;
mod future;
mod grpc;
mod judging;
mod layer;
mod live;
mod passing;
mod pieces;
mod recovery;
mod rescue;
mod service;
mod shape;
mod status;
mod timer;
mod whole;

pub use self::{
    body::TerminalStateBody,
    future::TerminalStateFuture,
    layer::{ConfigError, TerminalStateBuilder, TerminalStateLayer},
    recovery::Recovery,
    service::TerminalStateService,
};
