//! `Display` of refusals for a card: one line an operator can act on, literally.

use a2a_guard::{Binding, Capability, CapabilityNegotiationError, card_consistency::Admission};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    mock::{Dialect, s},
    support::{Card, Cards, Page, layer, once, through},
};

use Dialect::V1;

const END: &str = "SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; retry safe";
/// Until then it is answered from memory.
const AFTER: &str = "SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; retry after";
const STREAM: &str = "SendStreamingMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; retry safe";

async fn line(page: impl Into<Page>) -> String {
    once(page, V1.send()).await.0.error().to_string()
}

async fn line_of(card: Card, request: Request<Full<Bytes>>) -> String {
    once(card, request).await.0.error().to_string()
}

#[tokio::test(start_paused = true)]
async fn where_there_is_no_card() {
    assert_eq!(
        line(Page::status(404)).await,
        format!(
            "card/not_found: no card at https://agent.example.com/a2a/.well-known/agent-card.json, \
             https://agent.example.com/.well-known/agent-card.json, \
             https://agent.example.com/a2a/.well-known/agent.json, \
             https://agent.example.com/.well-known/agent.json; {AFTER} 60 s"
        )
    );
    let at = "https://agent.example.com/a2a/.well-known/agent-card.json";
    assert_eq!(line(Page::status(500)).await, format!("card/http_status: HTTP 500 for the card at {at}; {AFTER} 5 s"));
    assert_eq!(
        line(Page::text("<h1>", "text/html")).await,
        format!("card/not_json: no card in JSON at {at}: another media type than JSON (text/html); {AFTER} 30 s")
    );
    assert_eq!(
        line(Page::text("x".repeat(300_000), "application/json")).await,
        format!("card/too_large: the card at {at} is larger than 262144 bytes; {AFTER} 30 s")
    );
    assert_eq!(
        line(Page::text("{}", "application/json")).await,
        format!("card/missing_field: the card's supportedInterfaces is absent, at {at}; {AFTER} 30 s")
    );
    assert_eq!(
        line(Page::from(Card::plain()).after(s(20))).await,
        "card/fetch_timeout: no card within 10000 ms; SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, \
         10000 ms in; retry safe"
    );
    assert_eq!(
        line(Page::fails(std::io::ErrorKind::ConnectionRefused)).await,
        format!("transport/connect: no connection to the card: connection refused; {AFTER} 5 s")
    );
}

/// With other credentials, or after a while, it may be had.
#[tokio::test(start_paused = true)]
async fn where_the_card_may_be_had_otherwise() {
    let at = "https://agent.example.com/a2a/.well-known/agent-card.json";
    for (page, start) in [
        (
            Page::status(401).header("www-authenticate", "Bearer realm=\"x\""),
            format!(
                "card/unauthorized: the card at {at} wants other credentials, HTTP 401 (Bearer realm=\\\"x\\\"); \
                 SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; "
            ),
        ),
        (
            Page::status(503).header("retry-after", "30"),
            format!(
                "card/http_status: HTTP 503 for the card at {at}, to be asked again after 30 s; SendMessage over \
                 JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; "
            ),
        ),
    ] {
        let line = line(page).await;
        assert!(line.starts_with(&start), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn where_the_card_is_another_agents() {
    assert_eq!(
        line(Card::default().at("https://agent.example.com/other")).await,
        format!(
            "card/url_mismatch: the card is another agent's: its path is \"/other\", the target's \"/a2a\" \
             (card https://agent.example.com/other, target https://agent.example.com/a2a), at \
             https://agent.example.com/a2a/.well-known/agent-card.json; {AFTER} 5 s"
        )
    );
    assert_eq!(
        line(Card::default().at("https://agent.example.com/a2a/message:send")).await,
        format!(
            "card/unusable_url: the URL \"https://agent.example.com/a2a/message:send\" cannot be called: is the path of \
             one operation, not of the agent; {AFTER} 5 s"
        )
    );
    assert_eq!(
        line(Card::default().interface("https://agent.example.com/a2a", "HTTP+JSON", "1.0")).await,
        format!("card/no_compatible_interface: the card offers HTTP+JSON, and none is JSONRPC; {END}")
    );
    assert_eq!(
        line(Card::default().interface("https://agent.example.com/a2a", "JSONRPC", "0.3")).await,
        format!("card/unsupported_version: the card offers 0.3, no version of which is 1.0; {END}")
    );
}

#[tokio::test(start_paused = true)]
async fn where_the_card_does_not_cover_the_call() {
    assert_eq!(
        line_of(Card::plain(), V1.stream()).await,
        format!("card/capability_missing: the card does not declare streaming; {STREAM}")
    );
    assert_eq!(
        line(Card::plain().requires("https://ext.example.com/one")).await,
        format!(
            "card/extension_missing: the agent requires extension \"https://ext.example.com/one\", which the call \
             does not use; {END}"
        )
    );
    let admission = Admission::new(Capability::Streaming).bindings([Binding::HttpJson]);
    let (ended, _) = through(layer(&Cards::of(Card::streaming())).admit(admission), V1.stream()).await;
    assert_eq!(
        ended.error().to_string(),
        format!(
            "card/shape_not_admitted: SendStreamingMessage over JSONRPC 1.0 is not admitted, only HTTP+JSON; {STREAM}"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn where_the_tenant_is_another() {
    let request = V1.rpc("SendMessage", r#""tenant":"other","message":{}"#);
    assert_eq!(
        line_of(Card::plain().tenant("acme"), request).await,
        format!("card/tenant_mismatch: the request is for tenant \"other\", the card's interface for \"acme\"; {END}")
    );
    let request = V1.rpc("SendMessage", r#""tenant":"other","message":{}"#);
    assert_eq!(
        line_of(Card::plain(), request).await,
        format!("card/tenant_mismatch: the request is for tenant \"other\", the card's interface for none; {END}")
    );
}

#[tokio::test(start_paused = true)]
async fn each_names_capability_shape_and_cause() {
    let (ended, _) = once(Card::plain(), V1.stream()).await;
    let error = ended.error();
    assert_eq!(CapabilityNegotiationError::capability(error), Some(Capability::Streaming));
    assert_eq!(error.class().as_str(), "capability_missing");
    assert_eq!(error.shape().to_string(), "SendStreamingMessage over JSONRPC 1.0");
    let source = std::error::Error::source(error).unwrap();
    assert_eq!(source.to_string(), "the card does not declare streaming");
}

#[tokio::test(start_paused = true)]
async fn a_strangers_text_is_escaped_and_cut() {
    let url = format!("https://agent.example.com/{}", "x".repeat(5000));
    let text = line(Card::default().at(&url)).await;
    assert!(text.len() < 700, "{} characters", text.len());
    let text = line(Page::status(401).header("www-authenticate", "Bearer \u{7f}x".replace('\u{7f}', "\t"))).await;
    assert!(text.chars().all(|c| !c.is_control()), "{text:?}");
}
