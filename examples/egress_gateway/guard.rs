//! The layers around the way to the agent, as the command line wants them.

use std::{convert::Infallible, time::Duration};

use a2a_guard::{
    BoxError, Call, CallLayer, Guard, ProbeCacheLayer,
    card::{Origin, UrlPolicy},
    card_consistency::CardStore,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, util::BoxCloneSyncService};

use crate::{
    admin::{Outcomes, Seen},
    args::Args,
    cards::ShowCardsLayer,
    held::held,
    in_flight::InFlightLayer,
    upstream::Upstream,
};

/// What a caller gets.
pub(crate) type Answer = UnsyncBoxBody<Bytes, BoxError>;

/// The guarded way to the agent, its failures rendered.
pub(crate) type Stack = BoxCloneSyncService<Request<Incoming>, Response<Answer>, Infallible>;

/// The stack, and what may be looked at of it.
///
/// # Errors
///
/// If bounds contradict each other, or a setting cannot be.
pub(crate) fn stack(args: &Args) -> Result<(Stack, Seen), BoxError> {
    let (upstream, outcomes) = (Upstream::new(), Outcomes::default());
    let probes = match args.probe {
        true => ProbeCacheLayer::builder(upstream.clone()),
        // Skills are known from the calls alone.
        false => ProbeCacheLayer::without_probes(),
    };
    let probes = probes.tenant_headers(args.tenant_header.clone()).build()?;
    let mut naming = CallLayer::new();
    if let Some(name) = &args.skill_header {
        naming = naming.skill_header(name.clone());
    }
    // In the place of a retry layer: what is turned away is rendered, and so is a card that breaks off.
    let between =
        ServiceBuilder::new().layer(InFlightLayer::new(args.max_in_flight)).layer(ShowCardsLayer).into_inner();
    let guard = Guard::builder()
        .limits(args.limits.clone())
        .naming(naming)
        .observe(outcomes.clone())
        .availability(probes.clone())
        .retry(between);
    let region = args.region.as_deref().map(|region| Call::new().with_region(region));
    let (stack, cards) = match args.cards {
        true => {
            let cards = CardStore::builder(upstream.clone()).tenant_headers(args.tenant_header.clone()).build()?;
            // The operator named the agent: its address may be any.
            let urls = UrlPolicy::strict().allow_other_origin(Origin::of(&args.upstream)?);
            let guard = guard.card_store(cards.clone()).urls(urls).build()?;
            (boxed(guard.rendered().layer(upstream), region, args.total), Some(cards))
        }
        false => (boxed(guard.build()?.rendered().layer(upstream), region, args.total), None),
    };
    let skills = probes.availability().clone();
    Ok((stack, Seen { outcomes, cards, skills, endpoints: probes }))
}

/// One type for a stack of any layers, which are told what is known of every call, and whose answers are over when
/// `total` is.
fn boxed<S, R>(service: S, known: Option<Call>, total: Duration) -> Stack
where
    S: Service<Request<Incoming>, Response = Response<R>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let told = move |mut request: Request<Incoming>| {
        if let Some(known) = &known {
            request.extensions_mut().insert(known.clone());
        }
        request
    };
    let service = service.map_request(told);
    BoxCloneSyncService::new(service.map_response(move |response: Response<R>| {
        response.map(|body| held(body.map_err(Into::into).boxed_unsync(), total))
    }))
}
