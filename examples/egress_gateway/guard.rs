//! The layers around the way to the agent, as the command line wants them.

use a2a_guard::{
    BoxError, CallError, ProbeCacheLayer, TerminalStateLayer,
    card::{Origin, UrlPolicy},
    card_consistency::{CardConsistencyLayer, CardStore},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use tower::{Layer, Service, ServiceExt, util::BoxCloneSyncService};

use crate::{
    admin::{Outcomes, Seen},
    args::Args,
    upstream::{Body, Upstream},
};

/// The guarded way to the agent.
pub(crate) type Guarded = BoxCloneSyncService<Request<Body>, Response<UnsyncBoxBody<Bytes, CallError>>, CallError>;

/// The stack, and what may be looked at of it.
///
/// # Errors
///
/// If bounds contradict each other, or a setting cannot be.
pub(crate) fn stack(args: &Args) -> Result<(Guarded, Seen), BoxError> {
    let (upstream, outcomes) = (Upstream::new(), Outcomes::default());
    let terminal = TerminalStateLayer::builder().limits(args.limits.clone()).observe(outcomes.clone()).build()?;
    let cards = match args.cards {
        true => Some(CardStore::builder(upstream.clone()).tenant_headers(args.tenant_header.clone()).build()?),
        false => None,
    };
    let probes = match args.probe {
        true => {
            let mut builder = ProbeCacheLayer::builder(upstream.clone())
                .observe(outcomes.clone())
                .tenant_headers(args.tenant_header.clone());
            if let Some(cards) = &cards {
                builder = builder.cards(cards.clone());
            }
            Some(builder.build()?)
        }
        false => None,
    };

    let mut stack = boxed(terminal.layer(upstream));
    let mut seen = Seen { outcomes: outcomes.clone(), cards: cards.clone(), skills: None, endpoints: None };
    if let Some(probes) = probes {
        stack = boxed(probes.layer(stack));
        seen.skills = Some(probes.availability().clone());
        seen.endpoints = Some(probes);
    }
    if let Some(cards) = cards {
        // The operator named the agent: its address may be any.
        let urls = UrlPolicy::strict().allow_other_origin(Origin::of(&args.upstream)?);
        stack = boxed(CardConsistencyLayer::new(cards).urls(urls).observe(outcomes).layer(stack));
    }
    Ok((stack, seen))
}

/// One type for a stack of any layers.
fn boxed<S, R>(service: S) -> Guarded
where
    S: Service<Request<Body>, Response = Response<R>, Error = CallError> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    R: http_body::Body<Data = Bytes, Error = CallError> + Send + 'static,
{
    BoxCloneSyncService::new(service.map_response(|response: Response<R>| response.map(BodyExt::boxed_unsync)))
}
