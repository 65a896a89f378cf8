//! Keys at the address that a signature names (`jku`, RFC 7515 §4.1.2), from origins that the user allowed.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderValue, Request, StatusCode, Uri,
    header::{ACCEPT, CONTENT_TYPE},
};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout};

use super::jwks::Keys;
use crate::{
    card::{Origin, Scheme},
    client::{AnyBody, Client},
    flights::{Flights, Joined, join},
    wire::MediaType,
};

/// Bytes of one set.
const MAX_SET: usize = 64 << 10;
/// Characters of an address.
const MAX_ADDRESS: usize = 2048;
/// Addresses whose sets, or failures, are held.
const MAX_HELD: usize = 64;
/// How long a fetch takes at most.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a set counts. As long as a card, and no longer: keys are revoked by taking them out.
const LASTS: Duration = Duration::from_secs(300);
/// How long a failure counts, or that a key is not in its set.
const BRIEFLY: Duration = Duration::from_secs(30);

/// The keys at an address, or why there are none.
pub(super) type Found = Result<Arc<Keys>, Arc<str>>;

/// Where keys may be had, besides those that the user gave.
pub(super) struct Remote {
    client: Arc<dyn Client>,
    origins: Vec<Origin>,
    held: Mutex<HashMap<Uri, Held>>,
    flights: Arc<Flights<Uri, Found>>,
}

struct Held {
    found: Found,
    at: Instant,
    /// When it was last asked for, whatever came of that.
    asked: Instant,
}

impl Remote {
    pub(super) fn new(client: Arc<dyn Client>, origins: Vec<Origin>) -> Result<Self, &'static str> {
        if origins.iter().any(|origin| origin.scheme() != Scheme::Https) {
            return Err("must be https: keys that came without TLS are anybody's (RFC 7515 §4.1.2)");
        }
        Ok(Self { client, origins, held: Mutex::default(), flights: Arc::new(Flights::new()) })
    }

    /// The address, if it is one of an allowed origin.
    pub(super) fn allowed(&self, address: &str) -> Option<Uri> {
        let uri: Uri = address.parse().ok().filter(|_| address.len() <= MAX_ADDRESS)?;
        let names_a_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        let is_allowed = Origin::of(&uri).is_ok_and(|origin| self.origins.contains(&origin));
        (is_allowed && !names_a_user).then_some(uri)
    }

    /// The keys at an address. A set that is held and has none of the `wanted` is asked for again, but not at once.
    pub(super) async fn keys(self: &Arc<Self>, at: &Uri, wanted: &[String]) -> Found {
        if let Some(held) = self.held(at, wanted) {
            return held;
        }
        let waiting = match join(&self.flights, at.clone()) {
            Joined::Later(waiting) => waiting,
            Joined::First(landing, waiting) => {
                let (this, at) = (Arc::clone(self), at.clone());
                // It goes on without whoever started it.
                tokio::spawn(async move {
                    let fetched = timeout(TIMEOUT, this.fetch(&at)).await;
                    let found = fetched.unwrap_or_else(|_| Err(format!("none came within {TIMEOUT:?}")));
                    let found = found.map(Arc::new).map_err(Arc::from);
                    this.hold(at, found.clone());
                    landing.land(found);
                });
                waiting
            }
        };
        waiting.await.unwrap_or_else(|_| Err("what was fetching them ended".into()))
    }

    fn held(&self, at: &Uri, wanted: &[String]) -> Option<Found> {
        let held = self.lock();
        let Held { found, at, asked } = held.get(at)?;
        let has_one = |keys: &Keys| keys.all().iter().any(|key| wanted.contains(&key.id));
        let counts = match found {
            Ok(keys) if has_one(keys) => at.elapsed() < LASTS,
            _ => asked.elapsed() < BRIEFLY,
        };
        counts.then(|| found.clone())
    }

    fn hold(&self, at: Uri, found: Found) {
        let mut held = self.lock();
        let now = Instant::now();
        // That nobody answers says nothing of the keys that did come: whoever can name one that is not there could take
        // them from all others.
        if let Some(known) = held.get_mut(&at).filter(|known| known.found.is_ok() && known.at.elapsed() < LASTS)
            && found.is_err()
        {
            known.asked = now;
            return;
        }
        let new = Held { found, at: now, asked: now };
        if held.len() >= MAX_HELD && !held.contains_key(&at) {
            let oldest = held.iter().min_by_key(|(_, held)| held.asked).map(|(uri, _)| uri.clone());
            oldest.map(|oldest| held.remove(&oldest));
        }
        held.insert(at, new);
    }

    /// One request, without credentials. Redirects are not followed.
    async fn fetch(&self, at: &Uri) -> Result<Keys, String> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = at.clone();
        let accept = HeaderValue::from_static("application/jwk-set+json, application/json");
        request.headers_mut().insert(ACCEPT, accept);
        let response = self.client.send(request).await.map_err(|error| format!("no answer: {error}"))?;
        if response.status() != StatusCode::OK {
            return Err(format!("the answer is {}", response.status()));
        }
        let media = MediaType::of(response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes));
        if !media.is_json() && media != MediaType::Absent {
            return Err("the answer is no JSON".to_owned());
        }
        let set = read(response.into_body()).await?;
        Keys::read([&set[..]]).map_err(|error| error.to_string())
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uri, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(mut body: AnyBody) -> Result<Bytes, String> {
    let too_large = || format!("the set is larger than {MAX_SET} bytes");
    if body.size_hint().lower() > MAX_SET as u64 {
        return Err(too_large());
    }
    let mut read = BytesMut::new();
    let mut weight = 0_usize;
    while let Some(frame) = body.frame().await {
        let data = frame.map_err(|error| format!("the answer broke off: {error}"))?.into_data().unwrap_or_default();
        // An empty frame weighs something too: there must be an end to them.
        weight = weight.saturating_add(data.len().max(1));
        if weight > MAX_SET {
            return Err(too_large());
        }
        read.extend_from_slice(&data);
        tokio::task::consume_budget().await;
    }
    Ok(read.freeze())
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("origins", &self.origins).finish_non_exhaustive()
    }
}
