//! Five agents that all say they translate, and an orchestrator that has 500 texts to translate.
//!
//! One agent is good, one says that it can and cannot, one is slow, one is down, one was retired. The orchestrator
//! names the need; whom it goes to, the directory decides, by what became of the calls before. Half way the good one is
//! killed, and later revived.
//!
//! ```text
//! cargo run --release --example directory --features directory,hyper
//! ```
//!
//! Exits non-zero if a text was left untranslated, or translated twice.

#[path = "directory/agent.rs"]
mod agent;

use std::{
    collections::{BTreeMap, HashSet},
    error::Error,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use a2a_guard::{
    CallError, CallLayer, Guard, Limits, Retry,
    card::UrlPolicy,
    card_consistency::CardStore,
    directory::{
        AttemptEnd, AuditEvent, Condition, Decision, DelegateError, DelegateLayer, Delegated, Directory,
        DirectoryObserver, Evidence, Need, PeerId, TrustPolicy,
    },
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tower::{Service, ServiceBuilder, ServiceExt};

use agent::{Agent, Does};

const TASKS: usize = 500;
/// The good agent is killed before this task, and revived before that one.
const KILLED: usize = 280;
const REVIVED: usize = 300;

type BoxError = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<ExitCode, BoxError> {
    let good = Agent::start("good", Does::Work(Duration::from_millis(2))).await?;
    let overclaiming = Agent::start("overclaiming", Does::Refuse).await?;
    let slow = Agent::start("slow", Does::Work(Duration::from_millis(15))).await?;
    let down = Agent::start("down", Does::Work(Duration::ZERO)).await?;
    let retired = Agent::start("retired", Does::Work(Duration::ZERO)).await?;
    let mut agents = [good, overclaiming, slow, down, retired];

    let cards = CardStore::builder(Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>()).build()?;
    let told = Arc::new(Told::default());
    // Short times, so that it can be watched. The defaults are half a minute, and a minute.
    let policy = TrustPolicy::builder()
        .quarantine(Duration::from_millis(300))
        .longest_quarantine(Duration::from_millis(800))
        .slow_start(Duration::from_millis(500))
        .failure_latency(Duration::from_millis(100))
        .latency_weight(0.6)
        // Hundreds of calls in seconds: what failed while an agent was away for a moment is little beside them.
        .window(1_000)
        .build()?;
    let directory = Directory::builder(cards)
        .urls(UrlPolicy::strict().allow_loopback())
        .evidence(Evidence::builder().policy(policy).build()?)
        // Nobody vouches for them. That is enough for a translation, and for nothing else.
        .low_risk_skills(["translate"])
        // Three calls in ten find out how the others do.
        .explore(0.3)
        .observe(Arc::clone(&told))
        .build();
    let mut names = BTreeMap::new();
    for agent in &agents {
        names.insert(directory.publish(&agent.base()?, "demo").await?, agent.name);
    }
    let fresh = tokio::spawn(directory.keep_fresh(Duration::from_secs(20)));
    // Since they registered, one has gone down and one was retired.
    agents[3].kill().await;
    agents[4].does(Does::Gone);

    let client = Client::builder(TokioExecutor::new()).build_http();
    let limits = Limits::within(Duration::from_secs(5));
    let orchestrator = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(DelegateLayer::new(directory.clone()).limits(limits.clone()))
        .layer(Guard::builder().limits(limits).build()?)
        .service(client);

    let began = Instant::now();
    let mut windows: Vec<BTreeMap<&str, usize>> = Vec::new();
    let (mut failed, mut back, mut seen) = (0, false, HashSet::new());
    for task in 0..TASKS {
        if task == KILLED {
            println!("\n   the good agent is killed");
            agents[0].kill().await;
        }
        if task == REVIVED {
            println!("\n   the good agent is back");
            agents[0].revive().await?;
        }
        if task % 50 == 0 {
            windows.push(BTreeMap::new());
        }
        let request = Request::post("/")
            .header("content-type", "application/json")
            .header("a2a-version", "1.0")
            .header("authorization", "Bearer the-orchestrators-own")
            .extension(Need::skill("translate").text("Translate the contract").caller("orchestrator"))
            .body(Full::from(format!(
                r#"{{"jsonrpc":"2.0","id":{task},"method":"SendMessage","params":{{"message":{{"messageId":"m-{task}","role":"ROLE_USER","parts":[{{"text":"Guten Tag"}}]}}}}}}"#
            )))?;
        // Three were asked, and none of them has begun anything: then it may be asked again.
        let mut answer = answered(orchestrator.clone(), request.clone()).await;
        if let Err(DelegateError::Call { error, .. }) = &answer
            && error.retry() == Retry::Safe
        {
            println!(
                "\ntask {task}, asked again: {}",
                told.last().map(|last| named(&last, &names)).unwrap_or_default()
            );
            answer = answered(orchestrator.clone(), request).await;
        }
        let by = match answer {
            Ok(peer) => peer.and_then(|peer| names.get(&peer).copied()).unwrap_or("nobody"),
            Err(error) => {
                failed += 1;
                println!("task {task}: {error}");
                "failed"
            }
        };
        *windows.last_mut().ok_or("no window")?.entry(by).or_default() += 1;
        // A decision is worth a look where somebody fails in a new way, and where the good one is found again.
        if let Some(decision) = told.last() {
            let failures = decision.attempts.iter().filter(|attempt| !matches!(attempt.ended, AttemptEnd::Success));
            let new = failures.filter(|attempt| seen.insert((attempt.peer.clone(), attempt.ended.to_string()))).count();
            let is_back = by == "good" && task >= REVIVED && !std::mem::replace(&mut back, true);
            if task == 0 || new > 0 || is_back {
                println!("\ntask {task}: {}", named(&decision, &names));
            }
        }
    }
    let elapsed = began.elapsed();

    println!("\nhow traffic moved");
    print!("{:>12}", "tasks");
    agents.iter().for_each(|agent| print!("{:>14}", agent.name));
    println!();
    for (window, counts) in windows.iter().enumerate() {
        print!("{:>5}..{:<5}", window * 50, window * 50 + 49);
        agents.iter().for_each(|agent| print!("{:>14}", counts.get(agent.name).copied().unwrap_or(0)));
        println!();
    }

    println!("\nhow they stand in the end");
    for entry in directory.snapshot() {
        let standing = directory.evidence().standing(&entry.peer, entry.verification.is_verified());
        let latency = standing.latency.map_or("unknown".to_owned(), |latency| format!("{} ms", latency.as_millis()));
        let card = match entry.card {
            Some(Ok(_)) => "fresh".to_owned(),
            Some(Err(why)) => format!("stale: {why}"),
            None => "none".to_owned(),
        };
        let condition = match standing.condition {
            Condition::SlowStart { share } => format!("slow start, open for {:.0} %", share * 100.0),
            other => other.as_str().to_owned(),
        };
        let name = names.get(&entry.peer).copied().unwrap_or_default();
        println!(
            "{name:>14}: trust {:.3}, latency {latency:>8}, {:>3} calls, {condition}; card {card}",
            standing.trust, standing.calls
        );
    }

    println!("\nwhat the audit says");
    told.lines().iter().for_each(|line| println!("  {}", shortened(line, &names)));

    let done: usize = agents.iter().map(Agent::done).sum();
    let secrets: usize = agents.iter().map(Agent::secrets).sum();
    println!(
        "\n{TASKS} tasks in {:.1} s: {failed} failed, {done} translations made, the orchestrator's own credentials seen {secrets} times",
        elapsed.as_secs_f64()
    );
    fresh.abort();
    let last = windows.last().and_then(|window| window.get("good")).copied().unwrap_or(0);
    let as_it_should_be = failed == 0 && done == TASKS && secrets == 0 && last > 25;
    Ok(if as_it_should_be { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One delegated call, its answer read to the end: by whom.
async fn answered<S, B>(orchestrator: S, request: Request<Full<Bytes>>) -> Result<Option<PeerId>, DelegateError>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = DelegateError>,
    B: http_body::Body<Data = Bytes, Error = CallError>,
{
    let response = orchestrator.oneshot(request).await?;
    let peer = response.extensions().get::<Delegated>().map(|delegated| delegated.peer.clone());
    response.into_body().collect().await?;
    Ok(peer)
}

/// What the directory told.
#[derive(Default)]
struct Told {
    last: Mutex<Option<Decision>>,
    audit: Mutex<Vec<String>>,
}

impl Told {
    fn last(&self) -> Option<Decision> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lines(&self) -> Vec<String> {
        self.audit.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl DirectoryObserver for Told {
    fn audit(&self, event: &AuditEvent) {
        self.audit.lock().unwrap_or_else(PoisonError::into_inner).push(event.to_string());
    }

    fn decided(&self, decision: &Decision) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(decision.clone());
    }
}

/// The record, with names for the ports.
fn named(decision: &Decision, names: &BTreeMap<PeerId, &str>) -> String {
    shortened(&decision.to_string(), names)
}

fn shortened(text: &str, names: &BTreeMap<PeerId, &str>) -> String {
    names.iter().fold(text.to_owned(), |text, (peer, name)| text.replace(peer.as_str(), name))
}
