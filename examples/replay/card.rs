//! Runs a card case: the card is resolved for the agent that the caller was told of, and an interface selected.

use std::time::Duration;

use a2a_guard::{
    Binding, Call, CallBody, CallError, CallLayer, CardFailure, Operation, ProtocolVersion,
    card::{AgentInterface, CardFlaw, ClientSpeaks},
    card_consistency::{CardAsk, CardStore, HeldCard, NegativeTtl, Resolution, Resolve, Route},
};
use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tower::{Layer, ServiceExt, service_fn};

use crate::{
    case::{BoxError, Case},
    facts::Facts,
    loopback::Loopback,
    peer::{Peer, Request},
};

/// What came of a card case.
pub(crate) struct Resolved {
    pub(crate) facts: Facts,
    /// What is known besides.
    pub(crate) known: Value,
    pub(crate) elapsed: Duration,
    pub(crate) complaints: Vec<String>,
}

/// One resolution: the card, and the interface in it.
type Found = Result<Facts, Refused>;

enum Refused {
    NoCard(CardFailure),
    Unusable(CardFlaw),
}

impl Refused {
    fn class(&self) -> &'static str {
        match self {
            Self::NoCard(failure) => failure.class().as_str(),
            Self::Unusable(flaw) => flaw.class().as_str(),
        }
    }

    fn facts(&self) -> Facts {
        match self {
            Self::NoCard(failure) => Facts::of_card(failure),
            Self::Unusable(flaw) => Facts::of_flaw(flaw),
        }
    }
}

/// Serves the case's exchanges, one after the other. What the first resolution leaves of them is for a second one.
pub(crate) async fn play(case: &Case, grace: Duration) -> Result<Resolved, BoxError> {
    let scripts = case.scripts()?;
    let exchanges = scripts.len();
    let peer = Peer::serve(scripts).await?;
    let store = store(case, &peer)?;
    let started = Instant::now();
    let mut complaints = Vec::new();

    let speaks = case.speaks()?;
    let mut last = timeout(case.total() + grace, resolve(case, &store, &speaks)).await??;
    complaints.extend(detour(case, &last).await?);
    let mut asked_before = 0;
    if peer.requests().len() < exchanges {
        asked_before = peer.requests().len();
        last = timeout(case.total() + grace, resolve(case, &store, &speaks)).await??;
    }

    let requests = peer.requests();
    let confirmed = store.stats().not_modified > 0 && requests.len() == asked_before + 1;
    let from_cache = last.is_ok() && (requests.len() == asked_before || confirmed);
    let challenge = last.as_ref().err().and_then(|refused| match refused {
        Refused::NoCard(failure) => failure.www_authenticate().map(str::to_owned),
        Refused::Unusable(_) => None,
    });
    let known = json!({
        "requests": requests.len(),
        "dispatched": false,
        "first_request_path": requests.first().map(|first| &first.target),
        "second_request_headers": requests.get(1).map(headers),
        "served_from": if from_cache { "cache" } else { "network" },
        "www_authenticate": challenge,
    });
    let facts = last.unwrap_or_else(|refused| refused.facts());
    Ok(Resolved { facts, known, elapsed: started.elapsed(), complaints })
}

fn store(case: &Case, peer: &Peer) -> Result<CardStore, BoxError> {
    let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(Loopback(peer.addr()));
    // Nothing is remembered of a failure: what a case has behind it is there to be asked for.
    let none = Duration::ZERO;
    let forgetful = NegativeTtl::default().not_found(none).unauthorized(none).malformed(none).failed(none);
    let mut builder = CardStore::builder(client).fetch_timeout(case.total()).negative_ttl(forgetful);
    if let Some(max) = case.max_card_bytes() {
        builder = builder.max_card_bytes(max);
    }
    Ok(builder.build()?)
}

async fn resolve(case: &Case, store: &CardStore, speaks: &ClientSpeaks) -> Result<Found, BoxError> {
    let operation = operation(case).await?;
    let ask = CardAsk::new(case.base().parse()?, case.headers()?).version(speaks.versions.first().copied());
    let held = match store.get(ask).await {
        Ok(held) => held,
        Err(failure) => return Ok(Err(Refused::NoCard(failure))),
    };
    let (index, interface) = match held.card().select(speaks) {
        Ok(found) => found,
        Err(flaw) => return Ok(Err(Refused::Unusable(flaw.into()))),
    };
    Ok(match interface.check(&case.origin()?, &a2a_guard::card::UrlPolicy::strict()) {
        Ok(()) => match operation.map(|operation| held.card().check_operation(operation)) {
            Some(Err(flaw)) => Err(Refused::Unusable(flaw)),
            _ => Ok(selected(&held, index, interface)),
        },
        Err(flaw) => Err(Refused::Unusable(flaw)),
    })
}

fn selected(held: &HeldCard, index: usize, interface: &AgentInterface) -> Facts {
    let authority = interface.authority().ok();
    Facts {
        outcome: Some("success"),
        class: Some("success"),
        tolerated: Some(if held.is_legacy() { vec!["legacy_path"] } else { Vec::new() }),
        selected: Some(json!({
            "index": index,
            "url": interface.url(),
            "binding": interface.binding().as_str(),
            "version": interface.version().to_string(),
            "tenant": interface.tenant(),
            "authority": authority.as_ref().map(|authority| authority.host_port()),
            "tls": authority.as_ref().and_then(|authority| authority.tls()),
        })),
        ..Facts::default()
    }
}

/// The operation that a case names, in whichever dialect.
async fn operation(case: &Case) -> Result<Option<Operation>, BoxError> {
    let Some(method) = case.operation() else { return Ok(None) };
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string();
    let request = http::Request::post(case.base()).header("content-type", "application/json");
    let naming = CallLayer::new().layer(service_fn(async |request: http::Request<CallBody<Full<Bytes>>>| {
        Ok::<_, CallError>(request.extensions().get::<Call>().and_then(Call::operation))
    }));
    Ok(naming.oneshot(request.body(Full::from(body))?).await?)
}

/// The route that a call takes has to lead to the same interface, or to fail for the same reason.
async fn detour(case: &Case, direct: &Found) -> Result<Option<String>, BoxError> {
    let speaks = case.speaks()?;
    let call = match (direct, &speaks.bindings[..], &speaks.versions[..]) {
        (Ok(facts), ..) => {
            let of = |name: &str| facts.selected.as_ref()?.get(name)?.as_str();
            let binding = speaks.bindings.iter().find(|binding| Some(binding.as_str()) == of("binding"));
            let version = speaks.versions.iter().find(|version| Some(&*version.to_string()) == of("version"));
            let call = binding.map(|binding| Call::new().with_binding(*binding));
            call.zip(version).map(|(call, version)| call.with_version(*version))
        }
        (Err(_), [binding], [version]) => Some(Call::new().with_binding(*binding).with_version(*version)),
        // One call is written in one way; the caller of the case could have written several.
        _ => None,
    };
    let Some(call) = call else { return Ok(None) };
    // A call that is written in 0.3 may go to an agent of 0.2, which had the spelling before.
    let older;
    let direct = match (call.binding(), call.version()) {
        (Some(binding), Some(ProtocolVersion::V0_3)) if !speaks.versions.contains(&ProtocolVersion::V0_2) => {
            let written = ClientSpeaks::new([binding], [ProtocolVersion::V0_3, ProtocolVersion::V0_2]);
            let peer = Peer::serve(case.scripts()?).await?;
            older = resolve(case, &store(case, &peer)?, &written).await?;
            &older
        }
        _ => direct,
    };
    let peer = Peer::serve(case.scripts()?).await?;
    let is_grpc = call.binding() == Some(Binding::Grpc);
    let operation = if is_grpc { "lf.a2a.v1.A2AService/SendMessage" } else { "message:send" };
    let mut request = http::Request::post(format!("{}/{operation}", case.base().trim_end_matches('/'))).body(())?;
    *request.headers_mut() = case.headers()?;
    let (head, ()) = request.into_parts();
    let mut resolution = Route::new(store(case, &peer)?, case.base().parse()?).resolve(&head, &call);
    while let Resolution::Later(later) = resolution {
        resolution = later.await;
    }
    let complaint = match (direct, resolution) {
        (Ok(facts), Resolution::To(uri)) => {
            let of = |name: &str| facts.selected.as_ref().and_then(|selected| selected[name].as_str());
            let url = of("url").unwrap_or_default();
            // Over gRPC, host and port are all that a URL says.
            let same = match of("authority").filter(|_| is_grpc) {
                Some(authority) => uri.authority().is_some_and(|there| there.as_str() == authority),
                None => leads_to(&uri, url),
            };
            (!same).then(|| format!("the route leads to {uri}, and {url} was selected"))
        }
        // What an agent can do is asked of its own card, when the call has got there.
        (Err(refused), Resolution::To(_)) if refused.class() == "capability_missing" => None,
        (Err(refused), Resolution::Refused(failure)) => {
            let (direct, routed) = (refused.class(), failure.class().as_str());
            (direct != routed).then(|| format!("the route fails as {routed}, the selection as {direct}"))
        }
        (_, resolution) => Some(format!("the route comes to {resolution:?}")),
    };
    Ok(complaint)
}

/// Whether a call to `uri` goes to the interface at `url`: the operation's path may stand behind its own.
fn leads_to(uri: &Uri, url: &str) -> bool {
    let Ok(interface) = url.parse::<Uri>() else { return false };
    let at = |uri: &Uri| Some((uri.scheme_str()?.to_ascii_lowercase(), uri.authority()?.as_str().to_ascii_lowercase()));
    at(uri) == at(&interface) && uri.path().starts_with(interface.path().trim_end_matches('/'))
}

fn headers(request: &Request) -> Value {
    let pairs = request.headers.iter();
    pairs.map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect::<serde_json::Map<_, _>>().into()
}
