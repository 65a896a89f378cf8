//! `Retry-After` of ages, in every form: nobody panics, nobody waits for it, and nothing is shut out for longer than a
//! while.

use std::time::Duration;

use a2a_guard::{CallError, TerminalStateLayer};
use http::{HeaderValue, Response};

use crate::{
    mock::{Answer, Dialect, MockBody, call, s},
    probing,
    support::{self, Card, Cards, Page, layer, willing},
};

use Dialect::{Rest, V1};

const AGES: [&str; 5] = [
    "1000000000000000000",
    "18446744073709551615",
    "99999999999999999999999999",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "-1",
];

fn busy(after: &str) -> Answer {
    let mut response = Response::new(MockBody::new());
    *response.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
    response.headers_mut().insert("retry-after", HeaderValue::from_str(after).unwrap());
    Answer::response(response)
}

#[tokio::test(start_paused = true)]
async fn an_error_says_what_it_was_told() {
    for after in AGES {
        let ended = call(TerminalStateLayer::builder(), V1.send(), busy(after)).await;
        assert_eq!(ended.word(), "refused/unavailable");
        assert!(ended.error().to_string().len() < 500);
    }
    for delay in ["1000000000000000000s", "99999999999999999999s", "1e99s", "0.0000000001s", "-1s", "s", ".5s"] {
        let details = format!(r#"[{{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{delay}"}}]"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"m","data":{details}}}}}"#);
        let ended = call(TerminalStateLayer::builder(), V1.send(), Answer::json(body)).await;
        assert_eq!(ended.word(), "refused/peer_error", "{delay}");
        let _ = ended.error().to_string();
    }
}

/// A host of cards that is told to be asked in ages is asked again after five minutes.
#[tokio::test(start_paused = true)]
async fn a_card_is_not_given_up() {
    for after in AGES {
        let cards = Cards::of(Page::status(503).header("retry-after", after));
        let mut service = support::guard(layer(&cards), &willing(1));
        assert_eq!(support::call(&mut service, V1.send()).await.word(), "card/http_status");
        cards.change(Card::plain());
        tokio::time::sleep(s(301)).await;
        assert_eq!(support::call(&mut service, V1.send()).await.word(), "success/success", "{after}");
    }
}

/// So is an endpoint, and a skill, whose agent said so.
#[tokio::test(start_paused = true)]
async fn an_endpoint_and_a_skill_are_not_given_up() {
    for after in AGES {
        let agent = probing::Agent::probed(move || busy(after));
        let (mut service, _) = probing::usual(&agent);
        assert_eq!(probing::call(&mut service, V1.send()).await.word(), "success/success");
        let before = agent.probes();
        for _ in 0..40 {
            tokio::time::sleep(s(30)).await;
            agent.change(move |asked| if asked.is_probe() { busy(after) } else { busy("1") });
            probing::call(&mut service, V1.send()).await;
        }
        assert!(agent.probes() > before, "{after}");
    }
    let wait = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1000000000000000000s"}"#;
    let info = r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org","metadata":{"region":"eu"}}"#;
    let agent =
        probing::Agent::called(move |_| probing::rpc_error(&1.into(), -32004, &format!(r#","data":[{info},{wait}]"#)));
    let skills = a2a_guard::probe_cache::SkillAvailability::builder().unavailable_for(s(10)).build().unwrap();
    let probe_layer = probing::builder(&agent).availability(skills).build().unwrap();
    let mut service = probing::guard(&probe_layer, &agent);
    assert!(matches!(probing::call(&mut service, probing::translate()).await.error(), CallError::Stale(_)));
    agent.change(|asked| if asked.is_probe() { probing::no_task(asked) } else { probing::does(asked) });
    assert!(matches!(probing::call(&mut service, probing::translate()).await.error(), CallError::Stale(_)));
    tokio::time::sleep(s(301)).await;
    assert_eq!(probing::call(&mut service, probing::translate()).await.word(), "success/success");
}

/// A retry waits as long as its owner lets it, and never for ages.
#[cfg(feature = "retry")]
#[tokio::test(start_paused = true)]
async fn a_retry_does_not_wait_for_it() {
    use a2a_guard::{CallLayer, retry::RetryPolicy};
    use tower::{Layer, Service, ServiceExt, retry::RetryLayer};

    for after in AGES {
        let peer = crate::mock::Peer::new([busy(after), Answer::json(Rest.bare_task("COMPLETED"))]);
        let ending = TerminalStateLayer::builder().build().unwrap();
        let mut stack = CallLayer::new().layer(RetryLayer::new(RetryPolicy::new()).layer(ending.layer(peer)));
        let began = tokio::time::Instant::now();
        let _ = stack.ready().await.unwrap().call(Rest.get()).await;
        assert!(began.elapsed() < Duration::from_secs(120), "{after}: {:?}", began.elapsed());
    }
}
