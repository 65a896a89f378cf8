//! How the cards of these servers are found, kept, asked for again and distrusted, by the same calls that go to them.

use std::time::Duration;

use a2a_guard::card_consistency::CardStore;
use a2a_guard::{Binding, ProtocolVersion};
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use tokio::time::sleep;
use tower::Layer;

use crate::ask::Ask;
use crate::call::{Patience, Stack};
use crate::client::http;
use crate::line::{Endpoint, Line};
use crate::sdk::Server;
use crate::table::{Check, Section};
use crate::tap::{Exchange, Tap};

/// How long a card holds where its end is to be seen.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(300);

/// How a server helps its callers to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Validator {
    /// An ETag, and 304 to those who have that card.
    Honoured,
    /// An ETag, and the whole card all the same.
    Ignored,
    None,
}

fn validator(line: Line) -> Validator {
    match line {
        Line::Py1 | Line::Py1Old | Line::Js1 | Line::Js1Old | Line::Js03 => Validator::Honoured,
        Line::Lf => Validator::Ignored,
        Line::Py03 => Validator::None,
    }
}

/// A stack whose requests for cards are seen.
fn watched(max_age: Duration) -> (Stack, Tap) {
    let tap = Tap::default();
    let cards = CardStore::builder(tap.layer(http())).max_age(max_age).forced_refresh_interval(LONG).build().unwrap();
    (Stack::with(cards), tap)
}

/// The cards of one line.
pub(crate) async fn section(line: Line, server: &Server) -> Section {
    let at = line.endpoint(server.ports(line.profile()));
    let mut checks = found_and_kept(line, &at).await;
    match line.profile() {
        "compat" => checks.extend(both_versions(line, &at).await),
        _ => checks.extend(distrusted(line, server).await),
    }
    Section { title: format!("{}: its card", line.title()), checks, ..Section::default() }
}

async fn send(stack: &Stack, at: &Endpoint, binding: Binding) -> String {
    let ended = stack.call(Ask::send("message").request(at, binding, None), Patience::Long).await;
    if ended.violations.is_empty() { ended.what } else { ended.violations.join(", ") }
}

async fn found_and_kept(line: Line, at: &Endpoint) -> Vec<Check> {
    let (stack, tap) = watched(LONG);
    let mut checks = Vec::new();
    let mut check = |check| checks.push(check);
    check(Check::same("a call finds its card", &*send(&stack, at, Binding::JsonRpc).await, "success/success"));
    let first = tap.exchanges();
    let places: Vec<_> = first.iter().map(|exchange| (exchange.request.uri.path(), status(exchange))).collect();
    let expected = match line {
        // The endpoint is the origin's root, which has one place for both.
        Line::Py03 => vec![("/.well-known/agent-card.json", 200)],
        _ => vec![("/rpc/.well-known/agent-card.json", 404), ("/.well-known/agent-card.json", 200)],
    };
    check(Check::same("below its path first, then where §8.2 puts it", places, expected));
    let head = first.last().and_then(|answer| answer.head.as_ref());
    let has = |name| head.is_some_and(|head| head.headers.contains_key(name));
    check(Check::same("an ETag comes with it", has(ETAG), validator(line) != Validator::None));
    check(Check::same("it depends on A2A-Version", has(VARY), line == Line::Js1Old));
    check(Check::same("a call that follows", &*send(&stack, at, Binding::JsonRpc).await, "success/success"));
    check(Check::same("needs no fetch", tap.exchanges().len(), first.len()));
    check(Check::same("one card is held", stack.cards.snapshot().len(), 1));

    let (stack, tap) = watched(MAX_AGE);
    check(Check::same("a card that holds for 1 s", &*send(&stack, at, Binding::JsonRpc).await, "success/success"));
    let first = tap.exchanges();
    sleep(MAX_AGE).await;
    check(Check::same("then a call", &*send(&stack, at, Binding::JsonRpc).await, "success/success"));
    let asked: Vec<_> = tap.exchanges().split_off(first.len());
    let again = asked.iter().find(|exchange| status(exchange) != 404);
    let conditional = again.map(|again| again.request.headers.get(IF_NONE_MATCH).cloned());
    let etag = first.last().and_then(|answer| answer.head.as_ref()).and_then(|head| head.headers.get(ETAG).cloned());
    check(Check::same("asks again, with the ETag where there is one", conditional, Some(etag)));
    let honoured = validator(line) == Validator::Honoured;
    check(Check::same("and is answered", again.map_or(0, status), if honoured { 304 } else { 200 }));
    let stats = stack.cards.stats();
    check(Check::same(
        "which counts",
        (stats.searches, stats.not_modified, stats.failures),
        (2, u64::from(honoured), 0),
    ));
    checks
}

/// Both versions at one URL: a call in either is covered, by one card or by two.
async fn both_versions(line: Line, at: &Endpoint) -> Vec<Check> {
    let (stack, tap) = watched(LONG);
    let new = Endpoint {
        version: ProtocolVersion::V1_0,
        header: Some("1.0"),
        origin: at.origin.clone(),
        rpc: at.rpc.clone(),
        rest: at.rest.trim_end_matches("/v1").to_owned(),
        grpc: at.grpc.clone(),
    };
    // An older client says nothing of versions (§3.6.2).
    let silent = Endpoint { header: None, ..at.clone() };
    let mut checks = Vec::new();
    for binding in [Binding::JsonRpc, Binding::HttpJson] {
        for (what, at) in [("1.0", &new), ("0.3", at), ("0.3 without a version header", &silent)] {
            let what = format!("a call in {what} over {} is covered", binding.as_str());
            checks.push(Check::same(what, &*send(&stack, at, binding).await, "success/success"));
        }
    }
    let varies = line == Line::Js1Old;
    let told: Vec<String> = tap.exchanges().iter().filter(|exchange| status(exchange) == 200).map(version_of).collect();
    // HTTP+JSON has a base of its own in 0.3, with `/v1`. Where the card varies, who says nothing is someone else.
    let expected = if varies { "1.0 0.3 1.0 0.3 -" } else { "1.0 1.0 0.3" };
    checks.push(Check::same(
        "each version of the card that the server has is fetched once",
        &*told.join(" "),
        expected,
    ));
    checks
}

/// A refusal that contradicts the card: the next call fetches it past every cache, and only that one.
async fn distrusted(line: Line, server: &Server) -> Vec<Check> {
    let at = &line.endpoint(server.ports("ext-missing"));
    let (stack, tap) = watched(LONG);
    let mut checks = Vec::new();
    let mut check = |check| checks.push(check);
    let ended = stack.call(Ask::ExtendedCard.request(at, Binding::JsonRpc, None), Patience::Long).await;
    let before = tap.exchanges().len();
    if line == Line::Py03 {
        // It answers with the public card, which contradicts nothing.
        check(Check::same("an extended card that is not there", &*ended.what, "success/success"));
        check(Check::same("nothing is distrusted", stack.cards.stats().distrusted, 0));
        return checks;
    }
    check(Check::same("an extended card that is declared and not there", &*ended.what, "refused/peer_error"));
    check(Check::same("the card is distrusted", stack.cards.stats().distrusted, 1));
    for _ in 0..3 {
        check(Check::same(
            "the agent is called all the same",
            &*send(&stack, at, Binding::JsonRpc).await,
            "success/success",
        ));
    }
    let forced: Vec<Exchange> =
        tap.exchanges().split_off(before).into_iter().filter(|exchange| status(exchange) != 404).collect();
    check(Check::same("fetched anew once, for all three", forced.len(), 1));
    let headers = forced.first().map(|forced| &forced.request.headers);
    let no_cache = headers.and_then(|headers| headers.get(CACHE_CONTROL)).map(|value| value.as_bytes() == b"no-cache");
    check(Check::same("past every cache", no_cache, Some(true)));
    check(Check::same(
        "and without a validator",
        headers.map(|headers| headers.contains_key(IF_NONE_MATCH)),
        Some(false),
    ));
    checks
}

fn status(exchange: &Exchange) -> u16 {
    exchange.head.as_ref().map_or(0, |head| head.status.as_u16())
}

fn version_of(exchange: &Exchange) -> String {
    let stated = exchange.request.headers.get("a2a-version").map(|value| String::from_utf8_lossy(value.as_bytes()));
    stated.unwrap_or("-".into()).into_owned()
}
