use std::{fmt, future::Future, pin::Pin};

use http::{Uri, request::Parts};

use crate::{call::Call, error::CardFailure};

/// Says where a request really goes: its target, after all routing.
///
/// A mesh that maps a logical name to one of several agents resolves it here; so does a gateway that chooses the agent
/// by a header:
///
/// ```
/// use a2a_guard::{Call, card_consistency::{Resolution, Resolve}};
/// use http::{Uri, request::Parts};
///
/// /// Each tenant has an agent of its own, on a host of its own.
/// struct ByTenant;
///
/// impl Resolve for ByTenant {
///     fn resolve(&self, head: &Parts, _: &Call) -> Resolution {
///         let Some(tenant) = head.headers.get("x-tenant").and_then(|value| value.to_str().ok()) else {
///             return Resolution::AsSent;
///         };
///         match format!("https://{tenant}.agents.example.com{}", head.uri.path()).parse::<Uri>() {
///             Ok(uri) => Resolution::To(uri),
///             Err(_) => Resolution::AsSent,
///         }
///     }
/// }
///
/// /// A mesh's directory has to be asked first.
/// struct ByMesh;
///
/// impl Resolve for ByMesh {
///     fn resolve(&self, head: &Parts, _: &Call) -> Resolution {
///         let path = head.uri.path().to_owned();
///         Resolution::Later(Box::pin(async move {
///             let host = ask_the_mesh().await;
///             format!("https://{host}{path}").parse().map_or(Resolution::AsSent, Resolution::To)
///         }))
///     }
/// }
/// # async fn ask_the_mesh() -> &'static str { "agent-7.mesh.example.com" }
/// ```
pub trait Resolve: Send + Sync {
    /// Where the request with this head goes. Called once for each attempt of a call that somebody could name, with its
    /// URI made absolute, before a card is looked for.
    fn resolve(&self, head: &Parts, call: &Call) -> Resolution;

    /// Whether every request goes where its own URI says, so that nobody need be asked.
    #[doc(hidden)]
    fn is_direct(&self) -> bool {
        false
    }
}

/// Where a request goes.
pub enum Resolution {
    /// Where its own URI says.
    AsSent,
    /// Here: the request's URI is replaced. The path is that of the request, complete with its operation. At another
    /// authority, the `host` header goes, and so does the version of HTTP, but for gRPC.
    To(Uri),
    /// Nowhere, and why.
    Refused(CardFailure),
    /// It takes a while to say. Within the bound on waiting for a card.
    Later(Pin<Box<dyn Future<Output = Resolution> + Send>>),
}

impl fmt::Debug for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsSent => f.write_str("AsSent"),
            Self::To(uri) => f.debug_tuple("To").field(uri).finish(),
            Self::Refused(failure) => f.debug_tuple("Refused").field(failure).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// The default: the request's own URI.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Resolve for Direct {
    fn resolve(&self, _: &Parts, _: &Call) -> Resolution {
        Resolution::AsSent
    }

    fn is_direct(&self) -> bool {
        true
    }
}
