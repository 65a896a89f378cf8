//! 200 delegations to three regions, while a skill is rolled out of one of them and its card is cached for a day.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore};
use a2a_guard::probe_cache::SkillAvailability;
use a2a_guard::{CallBody, CallError, CallLayer, ProbeCacheLayer, TerminalStateLayer};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::BoxError;
use crate::scenarios::{REGION_HEADER, SKILL_HEADER};
use crate::table::{Cell, Tone};

const REGIONS: [&str; 3] = ["eu", "us", "ap"];
const CALLS: usize = 200;
/// So many went well before.
const ROLLED_OUT_AFTER: usize = 50;

/// What an agent counts.
#[derive(Debug, Default)]
struct Counts {
    calls: AtomicUsize,
    refused: AtomicUsize,
    probes: AtomicUsize,
    cards: AtomicUsize,
    cards_past_caches: AtomicUsize,
}

/// One region's agent. It dies with this.
struct Agent {
    address: SocketAddr,
    rolled_out: Arc<AtomicBool>,
    counts: Arc<Counts>,
    _serving: JoinSet<()>,
}

impl Agent {
    async fn start(region: &'static str) -> Result<Self, BoxError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (rolled_out, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(Counts::default()));
        let mut serving = JoinSet::new();
        let (flag, counting) = (Arc::clone(&rolled_out), Arc::clone(&counts));
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let (flag, counting) = (Arc::clone(&flag), Arc::clone(&counting));
                let service = hyper::service::service_fn(move |request| {
                    answer(request, region, address, flag.load(Relaxed), Arc::clone(&counting))
                });
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service);
                connections.spawn(async move { drop(connection.await) });
            }
        });
        Ok(Self { address, rolled_out, counts, _serving: serving })
    }

    fn skill(rolled_out: bool) -> &'static str {
        if rolled_out { "translate-2" } else { "translate" }
    }
}

async fn answer(
    request: Request<Incoming>,
    region: &'static str,
    address: SocketAddr,
    rolled_out: bool,
    counts: Arc<Counts>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (skill, fresh) = (header(SKILL_HEADER), header(CACHE_CONTROL.as_str()));
    let json =
        |body: Value| Response::builder().header(CONTENT_TYPE, "application/json").body(Full::from(body.to_string()));
    let response = if request.uri().path().ends_with("agent-card.json") {
        counts.cards.fetch_add(1, Relaxed);
        counts.cards_past_caches.fetch_add(usize::from(fresh.as_deref() == Some("no-cache")), Relaxed);
        json(card(address, Agent::skill(rolled_out))).map(|mut response| {
            response.headers_mut().insert(CACHE_CONTROL, http::HeaderValue::from_static("max-age=86400"));
            response
        })
    } else {
        let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let call: Value = serde_json::from_slice(&body).unwrap_or_default();
        let no = |code: i64, data: Value| {
            json(json!({"jsonrpc": "2.0", "id": call["id"], "error": {"code": code, "message": "no", "data": data}}))
        };
        if call["method"] == "GetTask" {
            counts.probes.fetch_add(1, Relaxed);
            no(-32001, json!([]))
        } else if skill.as_deref() == Some(Agent::skill(rolled_out)) {
            counts.calls.fetch_add(1, Relaxed);
            let task = json!({"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED"}});
            json(json!({"jsonrpc": "2.0", "id": call["id"], "result": {"task": task}}))
        } else {
            counts.refused.fetch_add(1, Relaxed);
            no(-32004, json!({"region": region, "availableSkills": [Agent::skill(rolled_out)]}))
        }
    };
    Ok(response.unwrap_or_default())
}

fn card(address: SocketAddr, skill: &str) -> Value {
    json!({
        "name": "Translator", "description": "Translates", "version": "1",
        "supportedInterfaces": [{"url": format!("http://{address}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": skill, "name": "Translate", "description": "Translates", "tags": ["text"]}],
    })
}

/// What an orchestrator made of its delegations.
#[derive(Debug, Default)]
struct Seen {
    good: usize,
    refused: usize,
    stale: Vec<String>,
    otherwise: Vec<String>,
}

/// Delegates in turn to the three regions. `routes`: whether a routing signal is heeded.
async fn delegate<S, B>(mut agent: S, agents: &[Agent; 3], routes: bool) -> Result<Seen, BoxError>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut seen = Seen::default();
    // What each region's card says, as it was read in the morning.
    let mut skills: HashMap<&str, String> = REGIONS.map(|region| (region, "translate".to_owned())).into();
    for n in 0..CALLS {
        let (region, to) = (REGIONS[n % 3], &agents[n % 3]);
        if n == ROLLED_OUT_AFTER {
            agents[0].rolled_out.store(true, Relaxed);
        }
        let message = json!({"messageId": format!("m-{n}"), "role": "ROLE_USER", "parts": [{"text": "hello"}]});
        let body = json!({"jsonrpc": "2.0", "id": n, "method": "SendMessage", "params": {"message": message}});
        let request = Request::post(format!("http://{}/a2a", to.address))
            .header(CONTENT_TYPE, "application/json")
            .header("a2a-version", "1.0")
            .header(SKILL_HEADER, skills[region].as_str())
            .header(REGION_HEADER, region)
            .body(Full::from(body.to_string()))?;
        match agent.ready().await.map_err(Into::into)?.call(request).await {
            Ok(response) => {
                let body = response.into_body().collect().await.map_err(Into::into)?.to_bytes();
                let refused = serde_json::from_slice::<Value>(&body)?.get("error").is_some();
                *if refused { &mut seen.refused } else { &mut seen.good } += 1;
            }
            Err(error) => match error.into().downcast::<CallError>().map(|error| *error) {
                Ok(CallError::Stale(error)) => {
                    let skills_there = error.available_skills().unwrap_or_default();
                    seen.stale.push(format!("{}, has {}", error.class(), skills_there.join(",")));
                    if let (true, Some(skill)) = (routes, skills_there.first()) {
                        skills.insert(region, skill.clone());
                    }
                }
                Ok(error) => seen.otherwise.push(error.to_string()),
                Err(error) => return Err(error),
            },
        }
    }
    Ok(seen)
}

async fn start() -> Result<[Agent; 3], BoxError> {
    let [eu, us, ap] = REGIONS;
    Ok([Agent::start(eu).await?, Agent::start(us).await?, Agent::start(ap).await?])
}

/// The rows, and what is not as it should be.
pub(crate) async fn run() -> Result<(Vec<[Cell; 6]>, Vec<String>), BoxError> {
    let agents = start().await?;
    let bare = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let bare = delegate(bare, &agents, false).await?;
    let row = |who: &str, seen: &Seen, agents: &[Agent; 3], tone| {
        let sum = |of: fn(&Counts) -> &AtomicUsize| agents.iter().map(|a| of(&a.counts).load(Relaxed)).sum::<usize>();
        let past = sum(|counts| &counts.cards_past_caches);
        let cards = match sum(|counts| &counts.cards) {
            0 => "those of the morning".to_owned(),
            fetches => format!("{fetches}, {past} of them past every cache"),
        };
        [
            Cell::plain(who),
            Cell::right(seen.good.to_string()),
            Cell::new((seen.refused + seen.stale.len()).to_string(), tone),
            Cell::plain(if seen.stale.is_empty() { "200 with an error in it".into() } else { seen.stale.join("; ") }),
            Cell::right(sum(|counts| &counts.probes).to_string()),
            Cell::plain(cards),
        ]
    };
    let mut rows = vec![row("bare hyper client", &bare, &agents, Tone::Bad)];
    let mut faults = Vec::new();
    // All calls to that region from then on.
    if (bare.good, bare.refused) != (150, 50) {
        faults.push(format!("the bare client saw {bare:?}"));
    }

    let agents = start().await?;
    let client = Client::builder(TokioExecutor::new()).build_http::<CallBody<Full<Bytes>>>();
    let (cards, skills) = (CardStore::builder(client.clone()).build()?, SkillAvailability::new());
    let naming = CallLayer::new()
        .skill_header(HeaderName::from_static(SKILL_HEADER))
        .region_header(HeaderName::from_static(REGION_HEADER));
    let guarded = ServiceBuilder::new()
        .layer(naming)
        .layer(CardConsistencyLayer::new(cards))
        .layer(ProbeCacheLayer::builder(client.clone()).availability(skills.clone()).build()?)
        .layer(TerminalStateLayer::new())
        .service(client);
    let seen = delegate(guarded, &agents, true).await?;
    let fetches: Vec<_> = agents.iter().map(|agent| agent.counts.cards.load(Relaxed)).collect();
    let probes: Vec<_> = agents.iter().map(|agent| agent.counts.probes.load(Relaxed)).collect();
    let past: usize = agents.iter().map(|agent| agent.counts.cards_past_caches.load(Relaxed)).sum();
    let as_should = seen.good == CALLS - 1
        && seen.stale == ["skill_unavailable, has translate-2"]
        && (fetches.as_slice(), probes.as_slice(), past) == (&[2, 1, 1], &[1, 1, 1], 1)
        && (skills.stats().probes, skills.stats().invalidations) == (3, 1);
    if !as_should {
        faults.push(format!("the guarded client saw {seen:?}, {fetches:?} card fetches, {probes:?} probes"));
    }
    rows.push(row("guarded", &seen, &agents, if as_should { Tone::Good } else { Tone::Bad }));
    Ok((rows, faults))
}

/// What the rows are about.
pub(crate) const TITLE: &str =
    "200 delegations to three regions; after 50 a skill is rolled out of one, whose card is cached for a day";
/// Their columns.
pub(crate) const HEADER: [&str; 6] = ["the caller", "good", "failed", "as", "probes", "card fetches"];
