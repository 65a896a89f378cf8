//! The caller: the whole guard around each of its clients. It repeats what may safely be repeated.

use std::time::Duration;

use a2a_guard::{
    CallError, Guard, Limits, Outcome, ProbeCacheLayer, Retry,
    card_consistency::{CardStore, NegativeTtl},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tower::{Layer, Service, ServiceExt};

use crate::{
    agent,
    network::{self, Http},
    world::{Tried, World},
};

const ROUNDS: usize = 8;
/// So many calls there are, without those that are made again.
pub(crate) const CALLS: usize = ROUNDS * TARGETS.len();
const TARGETS: [&str; 3] = ["agent-a", "agent-b", "gateway"];
const PAUSE: Duration = Duration::from_millis(350);
const TRIES: usize = 4;

const TOTAL: Duration = Duration::from_secs(4);
const READY: Duration = Duration::from_secs(1);
/// A call ends within its total, and at most `ready` later; and a tick of the simulation is not a moment.
const BOUND: Duration = Duration::from_millis(5_000 + 50);

fn limits() -> Limits {
    let (ms, s) = (Duration::from_millis, Duration::from_secs);
    let limits = Limits::within(TOTAL).ready(READY).head(s(2)).blocking_head(ms(2500)).first_event(s(2));
    limits.idle(ms(1500)).event_gap(s(2)).linger(ms(300))
}

pub(crate) async fn run(world: World) -> turmoil::Result {
    let cards: Http = network::client(false);
    let soon = Duration::from_millis(300);
    let cards = CardStore::builder(cards)
        .location_template("http://cards/{host}/agent-card.json")
        .legacy_location(false)
        .fetch_timeout(Duration::from_secs(1))
        .negative_ttl(NegativeTtl::default().failed(soon).failed_max(soon))
        .build()?;
    let guard = |http2| {
        let (client, world): (Http, _) = (network::client(http2), world.clone());
        let probes = ProbeCacheLayer::builder(client.clone()).probe_timeout(Duration::from_secs(1));
        let guard = Guard::builder()
            .limits(limits())
            .card_store(cards.clone())
            .availability(probes.back_off(soon, soon).build()?)
            .observe(move |_: &Outcome<'_>| world.outcome())
            .build()?;
        Ok::<_, Box<dyn std::error::Error>>(guard.layer(client))
    };
    let (http1, http2) = (guard(false)?, guard(true)?);
    let mut calls = JoinSet::new();
    for round in 0..ROUNDS {
        for (index, target) in TARGETS.into_iter().enumerate() {
            let kind = ["send", "stream", "get"][(round + index) % 3];
            let call = call(
                if target == "agent-b" { http2.clone() } else { http1.clone() },
                world.clone(),
                kind,
                target,
                round,
            );
            calls.spawn(call);
        }
        sleep(PAUSE).await;
    }
    while let Some(ended) = calls.join_next().await {
        ended?;
    }
    Ok(())
}

fn request(kind: &str, target: &str, id: &str) -> Request<Full<Bytes>> {
    let message = format!(r#""message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"hello"}}]}}"#);
    let (method, params) = match kind {
        "send" => ("SendMessage", message),
        "stream" => ("SendStreamingMessage", message),
        _ => ("GetTask", format!(r#""id":"{id}""#)),
    };
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
    Request::post(format!("http://{target}/a2a"))
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(Full::from(body))
        .expect("a well-formed request")
}

async fn call<S, B>(stack: S, world: World, kind: &'static str, target: &'static str, round: usize)
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError> + Clone,
    B: http_body::Body<Data = Bytes, Error = CallError>,
{
    let id = format!("{kind}-{target}-{round}");
    for _ in 0..TRIES {
        let (from, began) = (turmoil::sim_elapsed().unwrap_or_default(), Instant::now());
        let answer = async { stack.clone().oneshot(request(kind, target, &id)).await?.into_body().collect().await };
        let answer = answer.await.map(|body| body.to_bytes());
        let (to, took) = (turmoil::sim_elapsed().unwrap_or_default(), began.elapsed());
        if took > BOUND {
            world.wrong(format!("{id} took {} ms", took.as_millis()));
        }
        let (word, line) = match &answer {
            Ok(_) => ("success/success".to_owned(), String::new()),
            Err(error) => (format!("{}/{}", error.outcome(), error.class()), error.to_string()),
        };
        let may_have_started = answer.as_ref().map_or_else(CallError::work_may_have_started, |_| true);
        world.tried(Tried { id: id.clone(), word, from, to, may_have_started, line });
        match answer {
            Ok(bytes) => {
                let due = match kind {
                    "stream" => agent::events(&world, &id).concat(),
                    _ => agent::unary(&world, &id),
                };
                if bytes != due {
                    world.wrong(format!("{id}: {} bytes of {}, and a success", bytes.len(), due.len()));
                }
                return;
            }
            Err(error) if matches!(error.retry(), Retry::Safe | Retry::After) => {
                sleep(error.retry_after().unwrap_or_default().max(Duration::from_millis(250))).await;
            }
            Err(_) => return,
        }
    }
}
