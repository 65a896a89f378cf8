//! Keys at the address that a signature names.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use tokio::time::advance;
use tower_service::Service;

use super::{super::SignatureVerifierError, *};
use crate::{
    card::{AgentCard, Origin},
    card_consistency::{CardEvidence, VerifyCard},
};

const AT: &str = "https://keys.example.com/jwks.json";
const NOT_TRUSTED: &str = "its signature does not count: key ed is not trusted";

/// Pages, each what it is asked for, and what was asked.
#[derive(Clone, Default)]
struct Web {
    pages: Arc<Mutex<Vec<(String, Page)>>>,
    asked: Arc<Mutex<Vec<Request<Full<Bytes>>>>>,
}

#[derive(Clone)]
struct Page {
    status: u16,
    media: &'static str,
    body: String,
    after: Duration,
}

impl Page {
    fn of(keys: &[&str]) -> Self {
        Self { status: 200, media: "application/jwk-set+json", body: set(keys), after: Duration::ZERO }
    }
}

impl Web {
    fn at(at: &str, page: Page) -> Self {
        let web = Self::default();
        web.put(at, page);
        web
    }

    fn put(&self, at: &str, page: Page) {
        let mut pages = self.pages.lock().unwrap();
        pages.retain(|(known, _)| known != at);
        pages.push((at.to_owned(), page));
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn builder(&self) -> super::super::SignatureVerifierBuilder {
        SignatureVerifier::builder().jku_client(self.clone()).allow_jku_origin(origin("https://keys.example.com"))
    }

    fn verifier(&self) -> SignatureVerifier {
        self.builder().build().unwrap()
    }
}

impl Service<Request<Full<Bytes>>> for Web {
    type Response = Response<Full<Bytes>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, io::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let page = self.pages.lock().unwrap().iter().find(|(at, _)| *request.uri() == **at).cloned();
        self.asked.lock().unwrap().push(request);
        Box::pin(async move {
            let Some((_, page)) = page else { return Err(io::ErrorKind::ConnectionRefused.into()) };
            tokio::time::sleep(page.after).await;
            let response = Response::builder().status(page.status).header("content-type", page.media);
            Ok(response.body(Full::from(page.body)).unwrap())
        })
    }
}

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

fn header_at(at: &str, id: &str) -> String {
    format!(r#"{{"alg":"EdDSA","kid":"{id}","jku":"{at}"}}"#)
}

fn signed_at(at: &str, id: &str) -> String {
    with(CARD, &[entry(&header_at(at, id), payload(CARD))])
}

async fn verdict(verifier: &SignatureVerifier, card: &str) -> Result<(), String> {
    let (bytes, location) = (Bytes::copy_from_slice(card.as_bytes()), Uri::from_static("https://agent.example.com/"));
    let read = AgentCard::read(&bytes).unwrap();
    verifier.verify(CardEvidence { bytes: &bytes, card: &read, location: &location, transport: None }).await
}

#[tokio::test(start_paused = true)]
async fn keys_of_an_allowed_origin_are_trusted_and_fetched_once() {
    let web = Web::at(AT, Page::of(&[JWK]));
    let verifier = web.verifier();
    for _ in 0..3 {
        assert_eq!(verdict(&verifier, &signed_at(AT, "ed")).await, Ok(()));
    }
    assert_eq!(web.count(), 1);
    let asked = web.asked.lock().unwrap().pop().unwrap();
    assert_eq!((asked.method(), asked.uri()), (&http::Method::GET, &Uri::from_static(AT)));
    assert!(!asked.headers().contains_key("authorization"));
    // A card that was tampered with is none, whosever key it is.
    let bad = signed_at(AT, "ed").replace("\"A\"", "\"B\"");
    assert_eq!(
        verdict(&verifier, &bad).await.unwrap_err(),
        "its signature does not count: key ed did not sign this content"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_fetched_from_anywhere_else() {
    let elsewhere = [
        "https://evil.example.net/jwks.json",
        "https://keys.example.com:8443/jwks.json",
        "http://keys.example.com/jwks.json",
        "https://keys.example.com@evil.example.net/jwks.json",
        "https://evil@keys.example.com/jwks.json",
        "https://keys.example.com.evil.example.net/jwks.json",
        "//keys.example.com/jwks.json",
        "/jwks.json",
        "keys.example.com",
        "",
    ];
    let web = Web::default();
    for at in elsewhere {
        web.put(at, Page::of(&[JWK]));
        assert_eq!(verdict(&web.verifier(), &signed_at(at, "ed")).await.unwrap_err(), NOT_TRUSTED, "{at}");
    }
    let long = format!("{AT}?{}", "x".repeat(2100));
    web.put(&long, Page::of(&[JWK]));
    assert_eq!(verdict(&web.verifier(), &signed_at(&long, "ed")).await.unwrap_err(), NOT_TRUSTED);
    // Nor if nothing is allowed.
    web.put(AT, Page::of(&[JWK]));
    let none = SignatureVerifier::builder().jwks(set(&[&JWK.replace("ed", "other")]));
    assert_eq!(verdict(&none.build().unwrap(), &signed_at(AT, "ed")).await.unwrap_err(), NOT_TRUSTED);
    // Nor by what is not protected.
    let entry = entry(HEADER, payload(CARD)).replacen('{', &format!(r#"{{"header":{{"jku":"{AT}"}},"#), 1);
    assert_eq!(verdict(&web.verifier(), &with(CARD, &[entry])).await.unwrap_err(), NOT_TRUSTED);
    assert_eq!(web.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn who_is_believed_anyway_costs_no_fetch() {
    let web = Web::at(AT, Page::of(&[]));
    let verifier = web.builder().jwks(set(&[JWK])).build().unwrap();
    assert_eq!(verdict(&verifier, &signed_at(AT, "ed")).await, Ok(()));
    assert_eq!(verdict(&verifier, CARD).await.unwrap_err(), "it carries no signature");
    assert_eq!(web.count(), 0);
}

/// The keys of one address vouch for signatures that name it, and for no others.
#[tokio::test(start_paused = true)]
async fn keys_are_those_of_their_address() {
    let (one, two) = (AT, "https://keys.example.com/two.json");
    let web = Web::at(one, Page::of(&[JWK]));
    web.put(two, Page::of(&[&JWK.replace("\"ed\"", "\"other\"")]));
    let verifier = web.verifier();
    assert_eq!(verdict(&verifier, &signed_at(one, "ed")).await, Ok(()));
    assert_eq!(verdict(&verifier, &signed_at(two, "ed")).await.unwrap_err(), NOT_TRUSTED);
    // A signature without an address has no keys but the user's.
    let both = [entry(HEADER, payload(CARD)), entry(&header_at(two, "x"), payload(CARD))];
    assert!(verdict(&verifier, &with(CARD, &both)).await.is_err());
    // One of several is enough, and at most two addresses are asked.
    let at = |n: usize| format!("https://keys.example.com/{n}.json");
    let many: Vec<_> = (0..5).map(|n| entry(&header_at(&at(n), "ed"), payload(CARD))).collect();
    web.put(&at(1), Page::of(&[JWK]));
    assert_eq!(verdict(&verifier, &with(CARD, &many)).await, Ok(()));
    web.put(&at(12), Page::of(&[JWK]));
    let before = web.count();
    let many: Vec<_> = (10..15).map(|n| entry(&header_at(&at(n), "ed"), payload(CARD))).collect();
    assert!(verdict(&verifier, &with(CARD, &many)).await.unwrap_err().contains("no keys at"));
    assert_eq!(web.count() - before, 2);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_had_is_told_and_not_asked_for_by_each() {
    let page = Page::of(&[JWK]);
    for (page, why) in [
        (Page { status: 404, ..page.clone() }, "the answer is 404 Not Found"),
        (Page { status: 302, ..page.clone() }, "the answer is 302 Found"),
        (Page { media: "text/html", ..page.clone() }, "the answer is no JSON"),
        (Page { body: "{".into(), ..page.clone() }, "jwks is no JSON"),
        (Page { body: set(&[]), ..page.clone() }, "jwks has no key"),
        (Page { body: " ".repeat(70_000), ..page.clone() }, "the set is larger than 65536 bytes"),
        (Page { after: Duration::from_secs(60), ..page.clone() }, "none came within 5s"),
    ] {
        let web = Web::at(AT, page);
        let verifier = web.verifier();
        for expected in [1, 1, 2] {
            let said = verdict(&verifier, &signed_at(AT, "ed")).await.unwrap_err();
            assert_eq!(said, format!("its signature does not count: no keys at {AT}: {why}"));
            assert_eq!(web.count(), expected, "{why}");
            advance(Duration::from_secs(15)).await;
        }
    }
    let said = verdict(&Web::default().verifier(), &signed_at(AT, "ed")).await.unwrap_err();
    assert_eq!(said, format!("its signature does not count: no keys at {AT}: no answer: connection refused"));
}

#[tokio::test(start_paused = true)]
async fn a_set_counts_for_its_time_and_a_new_key_is_looked_for() {
    let web = Web::at(AT, Page::of(&[JWK]));
    let verifier = web.verifier();
    let (old, new) = (signed_at(AT, "ed"), signed_at(AT, "next"));
    assert_eq!(verdict(&verifier, &old).await, Ok(()));
    // The agent signs by its next key, and the set that is held lacks it: it is read again, but not at once.
    web.put(AT, Page::of(&[&JWK.replace("\"ed\"", "\"next\"")]));
    assert!(verdict(&verifier, &new).await.is_err());
    advance(Duration::from_millis(29_999)).await;
    assert!(verdict(&verifier, &new).await.is_err());
    assert_eq!(web.count(), 1);
    advance(Duration::from_millis(1)).await;
    assert_eq!(verdict(&verifier, &new).await, Ok(()));
    assert_eq!(web.count(), 2);
    // And what was taken out is trusted no longer.
    assert!(verdict(&verifier, &old).await.is_err());
    // A set lasts for 300 s.
    advance(Duration::from_millis(299_999)).await;
    assert_eq!(verdict(&verifier, &new).await, Ok(()));
    assert_eq!(web.count(), 2);
    web.put(AT, Page::of(&[JWK]));
    advance(Duration::from_millis(1)).await;
    assert!(verdict(&verifier, &new).await.is_err());
    assert_eq!(web.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn many_at_once_are_one_fetch_which_the_first_may_leave() {
    let web = Web::at(AT, Page { after: Duration::from_secs(2), ..Page::of(&[JWK]) });
    let verifier = Arc::new(web.verifier());
    let one = || {
        let verifier = Arc::clone(&verifier);
        tokio::spawn(async move { verdict(&verifier, &signed_at(AT, "ed")).await })
    };
    let first = one();
    tokio::task::yield_now().await;
    let others: Vec<_> = (0..100).map(|_| one()).collect();
    advance(Duration::from_secs(1)).await;
    first.abort();
    for other in others {
        assert_eq!(other.await.unwrap(), Ok(()));
    }
    assert_eq!(web.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_more_is_held_than_may_be() {
    let web = Web::default();
    let verifier = web.verifier();
    for n in 0..500 {
        let at = format!("https://keys.example.com/{n}");
        assert!(verdict(&verifier, &signed_at(&at, "ed")).await.is_err());
        advance(Duration::from_millis(1)).await;
    }
    assert_eq!(verifier.remote.as_ref().unwrap().count(), 64);
    // The newest are held.
    let before = web.count();
    assert!(verdict(&verifier, &signed_at("https://keys.example.com/499", "ed")).await.is_err());
    assert_eq!(web.count(), before);
}

#[test]
fn what_could_never_work_is_refused() {
    let web = Web::default();
    let error = |built: Result<SignatureVerifier, SignatureVerifierError>| built.map(drop).unwrap_err().to_string();
    let plain = web.builder().allow_jku_origin(origin("http://keys.example.com")).build();
    assert_eq!(
        error(plain),
        "allow_jku_origin must be https: keys that came without TLS are anybody's (RFC 7515 §4.1.2)"
    );
    let alone = SignatureVerifier::builder().allow_jku_origin(origin("https://keys.example.com")).build();
    assert_eq!(error(alone), "allow_jku_origin has no client to fetch through: set jku_client");
    let nowhere = SignatureVerifier::builder().jku_client(web.clone()).jwks(set(&[JWK])).build();
    assert_eq!(error(nowhere), "allow_jku_origin names no origin that jku_client may fetch from");
    assert_eq!(error(SignatureVerifier::builder().build()), "jwks has no key");
    assert!(web.builder().build().is_ok());
}

/// Whoever names a key that is not in a set has it asked for again. That nobody answers says nothing of the keys in it.
#[tokio::test(start_paused = true)]
async fn a_set_that_counts_is_not_lost_for_want_of_another_answer() {
    let web = Web::at(AT, Page::of(&[JWK]));
    let verifier = web.verifier();
    assert_eq!(verdict(&verifier, &signed_at(AT, "ed")).await, Ok(()));
    web.put(AT, Page { status: 503, ..Page::of(&[]) });
    advance(Duration::from_secs(30)).await;
    for _ in 0..3 {
        verdict(&verifier, &signed_at(AT, "other")).await.unwrap_err();
        assert_eq!(verdict(&verifier, &signed_at(AT, "ed")).await, Ok(()));
    }
    assert_eq!(web.count(), 2, "not asked again at once");
    advance(Duration::from_secs(30)).await;
    verdict(&verifier, &signed_at(AT, "other")).await.unwrap_err();
    assert_eq!(web.count(), 3);
    // It counts for as long as it would have, and no longer.
    advance(Duration::from_millis(239_999)).await;
    assert_eq!(verdict(&verifier, &signed_at(AT, "ed")).await, Ok(()));
    advance(Duration::from_millis(1)).await;
    assert!(verdict(&verifier, &signed_at(AT, "ed")).await.unwrap_err().contains("503"));
    // What does come takes its place, also if the key is not in it any longer.
    web.put(AT, Page::of(&[JWK]));
    advance(Duration::from_secs(30)).await;
    assert_eq!(verdict(&verifier, &signed_at(AT, "ed")).await, Ok(()));
    web.put(AT, Page::of(&[&JWK.replace("\"ed\"", "\"new\"")]));
    advance(Duration::from_secs(30)).await;
    assert_eq!(verdict(&verifier, &signed_at(AT, "new")).await, Ok(()));
    assert_eq!(verdict(&verifier, &signed_at(AT, "ed")).await.unwrap_err(), NOT_TRUSTED);
}
