//! The directory: who is found for a need, who is asked, and that neither of it is a permission.

mod agents;
mod contract;
mod delegate;
mod finding;
mod host;
mod hostile;
mod model;
mod permission;
mod races;
mod refresh;
mod registry;
mod spelling;
#[path = "../security/spent.rs"]
mod spent;
mod strangers;
