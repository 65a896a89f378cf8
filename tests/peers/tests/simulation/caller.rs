//! The caller: the whole guard around each of its clients. It repeats what may safely be repeated, and now and then
//! gives up.

use std::time::Duration;

use a2a_guard::{Call, CallError, Guard, Limits, Outcome, ProbeCacheLayer, Retry};
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tower::{Layer, Service, ServiceExt};

use crate::{
    answers,
    dialect::{Dialect, Kind},
    network::{self, Http},
    told,
    world::{SUCCESS, Tried, World},
};

pub(crate) const ROUNDS: usize = 8;
/// So many calls there are, without those that are made again.
pub(crate) const CALLS: usize = ROUNDS * TARGETS.len();
pub(crate) const TARGETS: [&str; 3] = ["agent-a", "agent-b", "gateway"];
const PAUSE: Duration = Duration::from_millis(350);
const TRIES: usize = 4;

const TOTAL: Duration = Duration::from_secs(4);
const READY: Duration = Duration::from_secs(1);
/// A call ends within its total, and at most `ready` later; and a tick of the simulation is not a moment.
pub(crate) const BOUND: Duration = Duration::from_millis(5_000 + 50);

fn limits() -> Limits {
    let (ms, s) = (Duration::from_millis, Duration::from_secs);
    let limits = Limits::within(TOTAL).ready(READY).head(s(2)).blocking_head(ms(2500)).first_event(ms(1200));
    limits.idle(ms(1500)).event_gap(s(2)).linger(ms(300))
}

/// One call, and whom it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Plan {
    pub(crate) target: &'static str,
    pub(crate) dialect: Dialect,
    pub(crate) kind: Kind,
}

/// All that there are.
pub(crate) fn plans() -> impl Iterator<Item = Plan> {
    let kinds = |dialect| Kind::ALL.into_iter().map(move |kind| (dialect, kind));
    let calls = Dialect::ALL.into_iter().flat_map(kinds);
    calls.flat_map(|(dialect, kind)| TARGETS.into_iter().map(move |target| Plan { target, dialect, kind }))
}

/// The calls of a round. Over the runs of a scenario each [`Plan`] has its turn, and equally often.
pub(crate) fn round(run: usize, round: usize) -> impl Iterator<Item = Plan> {
    let kinds = Kind::ALL.len();
    TARGETS.into_iter().enumerate().map(move |(nth, target)| {
        let turn = (run * ROUNDS + round + nth * 7) % (Dialect::ALL.len() * kinds);
        Plan { target, dialect: Dialect::ALL[turn / kinds], kind: Kind::ALL[turn % kinds] }
    })
}

pub(crate) async fn run(world: World) -> turmoil::Result {
    let cards = network::cards()?;
    let guard = |http2| {
        let (client, world): (Http, _) = (network::client(http2), world.clone());
        let soon = Duration::from_millis(300);
        let probes = ProbeCacheLayer::builder(client.clone()).probe_timeout(Duration::from_secs(1));
        let guard = Guard::builder()
            .limits(limits())
            .card_store(cards.clone())
            .availability(probes.back_off(soon, soon).build()?)
            .observe(move |outcome: &Outcome<'_>| world.outcome(outcome))
            .build()?;
        Ok::<_, Box<dyn std::error::Error>>(guard.layer(client))
    };
    let (http1, http2) = (guard(false)?, guard(true)?);
    let mut calls = JoinSet::new();
    for nth in 0..ROUNDS {
        for plan in round(world.run, nth) {
            // All but gRPC goes over either.
            let http2_only = plan.dialect.is_grpc() || plan.target == "agent-b";
            calls.spawn(call(if http2_only { http2.clone() } else { http1.clone() }, world.clone(), plan, nth));
        }
        sleep(PAUSE).await;
    }
    while let Some(ended) = calls.join_next().await {
        ended?;
    }
    Ok(())
}

async fn call<S, B>(stack: S, world: World, plan: Plan, round: usize)
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError> + Clone,
    B: http_body::Body<Data = Bytes, Error = CallError>,
{
    let Plan { target, dialect, kind } = plan;
    let id = format!("{}-{dialect:?}-{target}-{round}", kind.word());
    for nth in 0..TRIES {
        let key = format!("{id}#{nth}");
        let mut request = dialect.request(kind, target, &id);
        // What its observer knows it by.
        request.extensions_mut().insert(Call::new().with_region(&*key));
        let gives_up = world.chance(&format!("{key}/gives up"), 10) == 0;
        let patience =
            if gives_up { Duration::from_millis(world.chance(&key, 1500)) } else { Duration::from_secs(3600) };
        let (from, began) = (turmoil::sim_elapsed().unwrap_or_default(), Instant::now());
        let answer = async {
            let body = stack.clone().oneshot(request).await?.into_body().collect().await?;
            Ok::<_, CallError>((body.trailers().cloned(), body.to_bytes()))
        };
        let answer = timeout(patience, answer).await;
        let (to, took) = (turmoil::sim_elapsed().unwrap_or_default(), began.elapsed());
        if took > BOUND {
            world.wrong(format!("{key} took {} ms", took.as_millis()));
        }
        let tried = |word: &str| Tried {
            key: key.clone(),
            id: id.clone(),
            plan,
            word: word.to_owned(),
            told: None,
            from,
            to,
            may_have_started: true,
            line: String::new(),
        };
        match answer {
            Err(_) => return world.tried(tried("given up")),
            Ok(Ok((trailers, bytes))) => {
                world.tried(tried(SUCCESS));
                return check(&world, plan, &id, trailers.as_ref(), &bytes);
            }
            Ok(Err(error)) => {
                let call = error.call();
                let named = (call.operation(), call.binding(), call.version());
                // Over HTTP+JSON in 0.3 only the card tells the version.
                let version = call.version().or_else(|| (dialect == Dialect::RestV03).then_some(dialect.version()));
                if (named.0, named.1, version)
                    != (Some(kind.operation()), Some(dialect.binding()), Some(dialect.version()))
                {
                    world.wrong(format!("{key}: an error of {named:?}"));
                }
                world.tried(Tried {
                    told: told::word(&error),
                    may_have_started: error.work_may_have_started(),
                    line: error.to_string(),
                    ..tried(&format!("{}/{}", error.outcome(), error.class()))
                });
                if !matches!(error.retry(), Retry::Safe | Retry::After) {
                    return;
                }
                sleep(error.retry_after().unwrap_or_default().max(Duration::from_millis(250))).await;
            }
        }
    }
}

/// A success has all its bytes.
fn check(world: &World, plan: Plan, id: &str, trailers: Option<&HeaderMap>, bytes: &Bytes) {
    let Plan { dialect, kind, .. } = plan;
    let due = match kind {
        Kind::Stream => answers::events(world, dialect, id).concat().into(),
        _ => answers::unary(world, dialect, kind, id),
    };
    if *bytes != due {
        world.wrong(format!("{id}: {} bytes of {}, and a success", bytes.len(), due.len()));
    }
    let status = trailers.and_then(|trailers| trailers.get("grpc-status"));
    if dialect.is_grpc() && status.is_none_or(|status| status != "0") {
        world.wrong(format!("{id}: a success, and in its trailers {trailers:?}"));
    }
}
