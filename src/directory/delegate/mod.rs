//! A service whose request names a need in the stead of an address: it picks the peer, writes the request to it, and
//! goes on to the next where nothing can have been done.

mod alternatives;
mod attempt;
mod body;
mod credentials;
mod error;
mod fallback;
mod headers;
mod layer;
mod run;
mod service;
mod test_call;

pub use self::{
    alternatives::Alternatives,
    attempt::Delegated,
    body::DelegateBody,
    credentials::{CredentialHeaders, Credentials, CredentialsAsk},
    error::{DelegateError, NoEligiblePeer},
    fallback::{Fallback, FallbackTo, NoFallback},
    layer::DelegateLayer,
    service::{DelegateFuture, DelegateService},
};
