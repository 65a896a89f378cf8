//! One request for a card, and what its answer is by status, media type and size.

use std::{fmt, sync::Arc};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH, WWW_AUTHENTICATE},
    response::Parts,
};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::Instant;

use super::{CardAsk, Inner, VerifiedTransport, held::Validators, location::Location};
use crate::{
    client::AnyBody,
    clock::Millis,
    error::{BoxError, CardFailure, recognise},
    outcome::{Class, OutcomeKind},
    times, transport,
    wire::MediaType,
};

pub(super) const VERSION: HeaderName = HeaderName::from_static("a2a-version");

/// What is asked, and how.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) location: &'a Location,
    pub(super) ask: &'a CardAsk,
    /// With the call's credentials.
    pub(super) credentials: bool,
    /// Only if it is another card than the one with these.
    pub(super) unless: Option<&'a Validators>,
    /// Past every cache.
    pub(super) forced: bool,
}

/// An answer that does not end the search.
pub(super) enum Answer {
    /// A success, whatever it holds.
    Card { head: Box<Parts>, body: Bytes, sent: Millis },
    /// 304, and what the connector verified about the connection that it came over.
    NotModified { headers: HeaderMap, transport: Option<VerifiedTransport>, sent: Millis },
    /// There is no card here, by this status.
    Missing(StatusCode),
    /// 401: perhaps with credentials.
    Challenge(CardFailure),
}

impl Inner {
    pub(super) async fn exchange(&self, question: Question<'_>) -> Result<Answer, CardFailure> {
        let Location { uri, legacy, .. } = question.location;
        let (sent, response) = match self.send(&question).await {
            // A pool's connection that the server closed meanwhile, most likely. A GET may be sent again (RFC 9110
            // §9.2.2).
            Err(failure) if failure.class() == Class::ConnectionLost => self.send(&question).await?,
            sent => sent?,
        };
        let (head, body) = response.into_parts();
        let status = head.status;
        match status {
            StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION => {
                check_media_type(&head, uri, self.settings.strict)?;
                let body = self.read(body, uri).await?;
                Ok(Answer::Card { head: Box::new(head), body, sent })
            }
            StatusCode::NOT_MODIFIED if question.unless.is_some() => {
                self.stats.count(&self.stats.not_modified);
                let transport = head.extensions.get().cloned();
                Ok(Answer::NotModified { headers: head.headers, transport, sent })
            }
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::GONE => Ok(Answer::Missing(status)),
            // Seen of servers that know the name, and do not serve it.
            StatusCode::BAD_REQUEST if *legacy => Ok(Answer::Missing(status)),
            StatusCode::UNAUTHORIZED => Ok(Answer::Challenge(unauthorized(&head, uri))),
            StatusCode::FORBIDDEN => Err(unauthorized(&head, uri)),
            // Redirects among them: who is asked is for the caller to say.
            _ => Err(CardFailure::HttpStatus {
                status,
                location: Box::new(uri.clone()),
                retry_after: times::retry_after(&head.headers, self.clock.date(sent)),
            }),
        }
    }

    async fn send(&self, question: &Question<'_>) -> Result<(Millis, Response<AnyBody>), CardFailure> {
        self.stats.count(&self.stats.requests);
        let sent = self.clock.millis(Instant::now());
        let response = self.client.send(self.request(question)).await.map_err(lost)?;
        Ok((sent, response))
    }

    fn request(&self, question: &Question<'_>) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = question.location.uri.clone();
        let headers = request.headers_mut();
        // Without it, some servers send a page for people.
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let version = question.ask.version.and_then(|version| HeaderValue::try_from(version.to_string()).ok());
        if let Some(version) = version {
            headers.insert(VERSION, version);
        }
        let keying = self.shelf.keying();
        let credentials = keying.credential_headers.iter().filter(|_| question.credentials && question.location.own);
        for name in keying.tenant_headers.iter().chain(credentials) {
            for value in question.ask.headers.get_all(name) {
                headers.append(name.clone(), value.clone());
            }
        }
        if question.forced {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        } else if let Some(Validators { etag, last_modified }) = question.unless {
            if let Some(etag) = etag {
                headers.insert(IF_NONE_MATCH, etag.clone());
            }
            if let Some(date) = last_modified {
                headers.insert(IF_MODIFIED_SINCE, date.clone());
            }
        }
        request
    }

    pub(super) async fn read(&self, body: AnyBody, location: &Uri) -> Result<Bytes, CardFailure> {
        Ok(self.read_all(body, location).await?.0)
    }

    /// The body, and its trailers.
    pub(super) async fn read_all(&self, mut body: AnyBody, location: &Uri) -> Result<(Bytes, HeaderMap), CardFailure> {
        let limit = self.settings.max_card_bytes;
        let too_large = || CardFailure::TooLarge { limit, location: Box::new(location.clone()) };
        if body.size_hint().lower() > limit as u64 {
            return Err(too_large());
        }
        let (mut read, mut trailers) = (BytesMut::new(), HeaderMap::new());
        let mut weight = 0_usize;
        while let Some(frame) = body.frame().await {
            let data = match frame.map_err(lost)?.into_data() {
                Ok(data) => data,
                Err(frame) => {
                    trailers = frame.into_trailers().unwrap_or_default();
                    Bytes::new()
                }
            };
            // An empty frame weighs something too: there must be an end to them.
            weight = weight.saturating_add(data.len().max(1));
            if weight > limit {
                return Err(too_large());
            }
            read.extend_from_slice(&data);
            // A body that is always ready must not keep the bound on the fetch from being looked at.
            tokio::task::consume_budget().await;
        }
        Ok((read.freeze(), trailers))
    }
}

/// A declared type that is no JSON is judged before the body is read; an absent one leaves it to the body.
pub(super) fn check_media_type(head: &Parts, location: &Uri, strict: bool) -> Result<(), CardFailure> {
    let media_type = MediaType::of(head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes));
    if media_type.is_json() || (media_type == MediaType::Absent && !strict) {
        return Ok(());
    }
    Err(not_json(head, location, "another media type than JSON"))
}

pub(super) fn not_json(head: &Parts, location: &Uri, why: impl fmt::Display) -> CardFailure {
    CardFailure::NotJson {
        status: head.status,
        content_type: text(&head.headers, &CONTENT_TYPE),
        location: Box::new(location.clone()),
        why: why.to_string(),
    }
}

pub(super) fn unauthorized(head: &Parts, location: &Uri) -> CardFailure {
    CardFailure::Unauthorized {
        status: head.status,
        location: Box::new(location.clone()),
        www_authenticate: text(&head.headers, &WWW_AUTHENTICATE),
    }
}

pub(super) fn lost(error: BoxError) -> CardFailure {
    // A client may have this crate's layers around it, with bounds shorter than the fetch's.
    let error = match recognise(error) {
        Ok(error) if error.outcome() == OutcomeKind::Timeout => {
            return CardFailure::FetchTimeout { bound: error.bound().unwrap_or_default() };
        }
        Ok(error) => error.into(),
        Err(error) => error,
    };
    let fault = transport::classify(&*error).class;
    CardFailure::Connection { fault, source: Arc::new(transport::without_secrets(error)) }
}

/// A header's value, bounded.
pub(super) fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.as_bytes();
    Some(String::from_utf8_lossy(value.get(..1024).unwrap_or(value)).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        call::Call,
        error::{CallError, Failure},
    };

    /// A client with this crate's layers around it fails with their errors.
    #[test]
    fn a_clients_own_timeout_is_one_and_nothing_else_of_its_is() {
        let failed = |kind, class| {
            let mut failure = Failure::new(kind, class, "of the test's making", Call::new(), Duration::ZERO);
            failure.bound = Some(Duration::from_secs(3));
            lost(CallError::new(failure).into())
        };
        let timeout = failed(OutcomeKind::Timeout, Class::Head);
        assert!(matches!(timeout, CardFailure::FetchTimeout { bound } if bound == Duration::from_secs(3)), "{timeout}");
        for (kind, class) in [(OutcomeKind::Transport, Class::Connect), (OutcomeKind::Broken, Class::ConnectionLost)] {
            let other = failed(kind, class);
            assert!(matches!(other, CardFailure::Connection { .. }), "{other}");
        }
    }
}
