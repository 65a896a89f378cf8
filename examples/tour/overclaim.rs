//! Two agents advertise the same skill, and one of them has not got it: a caller who believes cards, and one who
//! delegates.

use std::net::SocketAddr;
use std::time::Duration;

use a2a_guard::card::UrlPolicy;
use a2a_guard::card_consistency::CardStore;
use a2a_guard::directory::{Condition, DelegateLayer, Directory, Need};
use a2a_guard::{CallLayer, Guard, Limits};
use bytes::Bytes;
use http::{Request, Uri};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower::{ServiceBuilder, ServiceExt};

use crate::BoxError;
use crate::client::hyper_client;
use crate::peer::{Peer, Script};
use crate::table::{Cell, Tone};

pub(crate) const TITLE: &str = "20 calls for a skill that two agents advertise, and one has not got";
pub(crate) const HEADER: [&str; 4] = ["the caller", "asked who claims too much", "asked who does not", "translated"];

const CALLS: usize = 20;

/// One row for each caller, and what is not as it should be.
pub(crate) async fn run() -> Result<(Vec<[Cell; 4]>, Vec<String>), BoxError> {
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"This skill is not available"}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"Good day"}]}}}"#;
    let claims = Peer::serve([Script::json(refusal)]).await?;
    let does = Peer::serve([Script::json(answer)]).await?;

    // As cards are believed today: the first that lists the skill is asked.
    let mut believed = 0;
    for _ in 0..CALLS {
        let response = hyper_client().request(request(&format!("http://{}/", claims.addr()))?).await?;
        believed += usize::from(is_result(&response.into_body().collect().await?.to_bytes()));
    }
    let (bare_claims, bare_does) = (claims.requests().len(), does.requests().len());

    let cards = CardStore::builder(hyper_client::<Full<Bytes>>()).build()?;
    let directory = Directory::builder(cards.clone())
        .urls(UrlPolicy::strict().allow_loopback())
        .low_risk_skills(["translate"])
        .build();
    // Who claims too much claims more, and fits better.
    for (addr, says) in [(claims.addr(), "Translates any contract, certified"), (does.addr(), "Translates")] {
        let base: Uri = format!("http://{addr}/").parse()?;
        cards.put(&base, card(addr, says).into()).await?;
        directory.publish(&base, "tour").await?;
    }
    let limits = Limits::within(Duration::from_secs(2));
    let orchestrator = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(DelegateLayer::new(directory.clone()).limits(limits.clone()))
        .layer(Guard::builder().limits(limits).build()?)
        .service(hyper_client());
    let mut delegated = 0;
    for _ in 0..CALLS {
        let mut request = request("/")?;
        request.extensions_mut().insert(need());
        let response = orchestrator.clone().oneshot(request).await?;
        delegated += usize::from(is_result(&response.into_body().collect().await?.to_bytes()));
    }
    let (asked_claims, asked_does) = (claims.requests().len() - bare_claims, does.requests().len() - bare_does);

    let mut faults = Vec::new();
    if delegated != CALLS || asked_does != CALLS || asked_claims != 1 {
        faults.push(format!("{delegated} of {CALLS} were translated; {asked_claims} and {asked_does} were asked"));
    }
    let decision = directory.find(&need());
    let best = decision.best().map(|best| best.peer.to_string());
    if best != Some(format!("http://{}", does.addr())) {
        faults.push(format!("the best is {best:?}"));
    }
    if !decision.candidates.iter().any(|one| one.standing.condition == Condition::Demoted) {
        faults.push("who claims too much is not demoted".to_owned());
    }
    let row = |who, claims: usize, does: usize, translated: usize| {
        let tone = if translated == CALLS { Tone::Good } else { Tone::Bad };
        let count = |count: usize| Cell::right(count.to_string());
        [Cell::plain(who), count(claims), count(does), Cell::new(format!("{translated} of {CALLS}"), tone)]
    };
    let rows = vec![
        row("goes by cards: the first that lists it", bare_claims, bare_does, believed),
        row("delegates: by what became of it", asked_claims, asked_does, delegated),
    ];
    Ok((rows, faults))
}

fn request(uri: &str) -> http::Result<Request<Full<Bytes>>> {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"Guten Tag"}]}}}"#;
    Request::post(uri).header("content-type", "application/json").header("a2a-version", "1.0").body(Full::from(call))
}

fn is_result(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|body| body.get("result").is_some())
}

fn need() -> Need {
    Need::skill("translate").text("Translate the contract")
}

fn card(addr: SocketAddr, says: &str) -> String {
    format!(
        r#"{{"name":"t","description":"Translates","version":"1","capabilities":{{}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
        "skills":[{{"id":"translate","name":"Translate","description":"{says}","tags":["language"]}}],
        "supportedInterfaces":[{{"url":"http://{addr}/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}]}}"#
    )
}
