//! Where cards are served: a client for a `CardStore` that looks pages up, and notes what it was asked.

use std::{
    collections::HashMap,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use a2a_guard::card_consistency::{CardStore, CardStoreBuilder};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use tower::Service;

use super::Card;
use crate::mock::BoxError;

/// What stands at a URL.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
    after: Duration,
    fails: Option<io::ErrorKind>,
}

impl Page {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::new(), after: Duration::ZERO, fails: None }
    }

    /// The connection breaks.
    pub(crate) fn fails(kind: io::ErrorKind) -> Self {
        Self { fails: Some(kind), ..Self::status(200) }
    }

    pub(crate) fn text(body: impl Into<Bytes>, media: &str) -> Self {
        Self { body: body.into(), ..Self::status(200) }.header("content-type", media)
    }

    /// The same with another status.
    pub(crate) fn under(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// It may be kept for so long.
    pub(crate) fn max_age(self, seconds: u64) -> Self {
        self.header("cache-control", format!("max-age={seconds}"))
    }

    pub(crate) fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }

    /// The result of a JSON-RPC call with the id 1.
    pub(crate) fn result(result: &str) -> Self {
        Self::text(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#), "application/json")
    }

    /// The refusal of one.
    pub(crate) fn error(code: i64) -> Self {
        let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#);
        Self::text(error, "application/json")
    }

    fn answer(self) -> Result<Response<Full<Bytes>>, BoxError> {
        if let Some(kind) = self.fails {
            return Err(io::Error::from(kind).into());
        }
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        Ok(response.body(Full::from(self.body))?)
    }
}

impl From<Card> for Page {
    fn from(card: Card) -> Self {
        Self::text(card.json(), "application/json")
    }
}

/// A request for a card.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// All the pages. What is nowhere is a 404; a page for a tenant is shown to those who name it in `x-tenant`, one for a
/// credential to those who have it in `authorization`.
#[derive(Clone, Default)]
pub(crate) struct Cards(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    pages: HashMap<(String, String), Page>,
    asked: Vec<Asked>,
}

pub(crate) const AGENT: &str = "https://agent.example.com/a2a/.well-known/agent-card.json";
pub(crate) const ROOT: &str = "https://agent.example.com/.well-known/agent-card.json";

impl Cards {
    /// The usual agent with this card.
    pub(crate) fn of(page: impl Into<Page>) -> Self {
        Self::default().put(AGENT, page)
    }

    /// What stands there from now on.
    pub(crate) fn put(self, url: &str, page: impl Into<Page>) -> Self {
        self.put_for("", url, page)
    }

    pub(crate) fn put_for(self, tenant: &str, url: &str, page: impl Into<Page>) -> Self {
        self.lock().pages.insert((url.into(), tenant.into()), page.into());
        self
    }

    pub(crate) fn put_to(self, credential: &str, url: &str, page: impl Into<Page>) -> Self {
        self.put_for(&format!("authorization {credential}"), url, page)
    }

    /// The usual agent has another card now.
    pub(crate) fn change(&self, page: impl Into<Page>) {
        self.clone().put(AGENT, page);
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.lock().asked.clone()
    }

    /// The URLs that were asked for so far.
    pub(crate) fn urls(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.url).collect()
    }

    /// How many requests there were.
    pub(crate) fn count(&self) -> usize {
        self.lock().asked.len()
    }

    /// A store that fetches here.
    pub(crate) fn store(&self) -> CardStore {
        self.builder().build().unwrap()
    }

    pub(crate) fn builder(&self) -> CardStoreBuilder {
        CardStore::builder(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service<Request<Full<Bytes>>> for Cards {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let (head, body) = request.into_parts();
        let body = now(body.collect()).unwrap().to_bytes();
        let body = String::from_utf8(body.to_vec()).unwrap();
        let asked = Asked { method: head.method, url: head.uri.to_string(), headers: head.headers, body };
        let tenant = asked.header("x-tenant").unwrap_or_default().to_owned();
        let credential = asked.header("authorization").map(|credential| format!("authorization {credential}"));
        let mut state = self.lock();
        let page = |whose| state.pages.get(&(asked.url.clone(), whose)).cloned();
        let page = credential.and_then(page).or_else(|| page(tenant)).unwrap_or_else(|| Page::status(404));
        state.asked.push(asked);
        drop(state);
        Box::pin(async move {
            // What stands there when it is asked is what is answered, also after a while.
            if !page.after.is_zero() {
                tokio::time::sleep(page.after).await;
            }
            page.answer()
        })
    }
}

/// What is there at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut Context::from_waker(std::task::Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("not there yet"),
    }
}
