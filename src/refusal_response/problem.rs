//! A failure on its way to the wire, before any binding's form.

use std::{fmt::Write as _, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
    header::{ALLOW, CONTENT_TYPE, LOCATION, PROXY_AUTHENTICATE, RETRY_AFTER, WWW_AUTHENTICATE},
};

use super::{
    body::Whole,
    foreign::Failed,
    grpc, json, message, own,
    reply::{Form, Version},
    row::Row,
};
use crate::{error::CallError, wire::text::escape};

/// At most so many characters of an id in the metadata.
const ID: usize = 256;
/// The longest `google.protobuf.Duration` that there is, ten thousand years in seconds. A reader takes what is longer
/// for an error of the whole answer; so long nobody waits.
const LONGEST_WAIT: Duration = Duration::from_secs(315_576_000_000);
/// At most so many of a peer's skills.
const SKILLS: usize = 32;

/// What is said of a failure, in whatever binding.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) row: Row,
    pub(super) message: String,
    pub(super) metadata: Vec<(&'static str, String)>,
    pub(super) retry_after: Option<Duration>,
    pub(super) region: Option<String>,
    pub(super) skills: Option<Vec<String>>,
    error: CallError,
    /// The status of a refusal that cannot be handed on as it came.
    peer_status: Option<StatusCode>,
}

impl Problem {
    pub(super) fn of(failed: &Failed) -> Self {
        let error = &failed.error;
        let row = if failed.unknown { Row::of_unknown() } else { Row::of(error) };
        let region = error.region().map(|region| escape(region, ID).to_string());
        let skills = error
            .available_skills()
            .map(|skills| skills.iter().take(SKILLS).map(|skill| escape(skill, 64).to_string()).collect::<Vec<_>>());
        let retry_after = error.retry_after().map(|after| after.min(LONGEST_WAIT));
        let metadata = metadata(error, retry_after, region.as_deref(), skills.as_deref());
        let peer_status = own::refusal(error).map(|kept| kept.status).filter(|status| !status.is_success());
        Self {
            row,
            message: message::of(error),
            metadata,
            retry_after,
            region,
            skills,
            error: error.clone(),
            peer_status,
        }
    }

    /// The whole answer to a call that got no response head yet.
    pub(super) fn response(self, form: &Form) -> Response<Whole> {
        let mut response = match form {
            Form::JsonRpc { id, version, as_event } => {
                let body = json::json_rpc(&self, id, *version);
                match self.peer_status {
                    None if *as_event => {
                        let mut response = Response::new(Whole::of(super::event::error(&body)));
                        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
                        response
                    }
                    // JSON-RPC says all in its body (§9.5); what stood in the peer's status stays there.
                    status => json_response(status.unwrap_or(StatusCode::OK), body, *version),
                }
            }
            Form::HttpJson { version } => json_response(self.row.http, json::http_json(&self, *version), *version),
            Form::Grpc { version } => {
                let mut response = Response::new(Whole::default());
                *response.headers_mut() = grpc::trailers(&self, *version);
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
                response
            }
        };
        if !matches!(form, Form::Grpc { .. }) {
            self.headers(response.headers_mut());
        }
        response.extensions_mut().insert(self.error);
        response
    }

    /// What HTTP itself has a field for.
    fn headers(&self, headers: &mut HeaderMap) {
        if let Some(after) = self.retry_after {
            let seconds = after.as_secs().saturating_add(u64::from(after.subsec_nanos() > 0));
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let names = [WWW_AUTHENTICATE, PROXY_AUTHENTICATE, LOCATION, ALLOW];
        let names = if own::refusal(&self.error).is_some() { &names[..] } else { &names[..1] };
        if let Some(response) = self.error.response() {
            for name in names {
                for value in response.headers.get_all(name) {
                    headers.append(name, value.clone());
                }
            }
        } else if let Some(challenge) = self.error.www_authenticate().and_then(|text| HeaderValue::from_str(text).ok())
        {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
    }

    /// The last event of a stream; `None` where the binding has no such thing.
    pub(super) fn event(&self, form: &Form) -> Option<Bytes> {
        let document = match form {
            Form::JsonRpc { id, version, .. } => json::json_rpc(self, id, *version),
            Form::HttpJson { version } => json::http_json(self, *version),
            Form::Grpc { .. } => return None,
        };
        Some(super::event::error(&document))
    }

    /// The trailers of a gRPC stream.
    pub(super) fn trailers(&self, form: &Form) -> HeaderMap {
        let version = match form {
            Form::JsonRpc { version, .. } | Form::HttpJson { version } | Form::Grpc { version } => *version,
        };
        grpc::trailers(self, version)
    }
}

fn json_response(status: StatusCode, body: String, version: Version) -> Response<Whole> {
    let mut response = Response::new(Whole::of(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Version::Current(Some(version)) = version
        && let Ok(version) = HeaderValue::from_str(&version.to_string())
    {
        response.headers_mut().insert(HeaderName::from_static("a2a-version"), version);
    }
    response
}

fn metadata(
    error: &CallError,
    retry_after: Option<Duration>,
    region: Option<&str>,
    skills: Option<&[String]>,
) -> Vec<(&'static str, String)> {
    let mut metadata = vec![
        ("outcome", error.outcome().as_str().to_owned()),
        ("class", error.class().as_str().to_owned()),
        ("capability", error.capability().map_or("none", |capability| capability.as_str()).to_owned()),
        ("shape", error.shape().to_string()),
        ("retry", error.retry().as_str().to_owned()),
        ("elapsed_ms", error.elapsed().as_millis().to_string()),
    ];
    let mut known = |name, value: Option<String>| metadata.extend(value.map(|value| (name, value)));
    known("retry_after", retry_after.map(|after| after.as_secs_f64().to_string()));
    known("task_id", error.task_id().map(|id| escape(id, ID).to_string()));
    known("task_state", error.task_state().map(|state| state.as_str().to_owned()));
    known("next", next(error));
    known("bound_ms", error.bound().map(|bound| bound.as_millis().to_string()));
    known("http_status", error.http_status().map(|status| status.as_str().to_owned()));
    known("region", region.map(str::to_owned));
    known("availableSkills", skills.map(|skills| serde_json::Value::from(skills).to_string()));
    metadata
}

/// The operations to call next, in the order in which to try them.
fn next(error: &CallError) -> Option<String> {
    let (first, others) = error.next_operations().split_first()?;
    let mut text = first.to_string();
    for operation in others {
        let _ = write!(text, ",{operation}");
    }
    Some(text)
}
