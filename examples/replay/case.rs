//! A case file: one exchange of an outbound call, and what the layers must make of it.

use std::{fs, path::Path, time::Duration};

use a2a_guard::{
    Binding, Limits, ProtocolVersion,
    card::{ClientSpeaks, Origin},
};
use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    h2_peer,
    peer::{Chunk, End, Framing, Script},
};

/// The agent that a request goes to where the case names none.
const BASE_URL: &str = "https://agent.example.com";
/// Headers that tell `CallLayer` the skill and region of a case that has them.
pub(crate) const SKILL_HEADER: &str = "x-skill-id";
pub(crate) const REGION_HEADER: &str = "x-region";

#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) binding: String,
    version: String,
    request: Request,
    /// The agent's card, where the case has one.
    card: Option<Box<RawValue>>,
    response: Response,
    /// Further exchanges, if the layers make further requests.
    #[serde(default, deserialize_with = "or_default")]
    then: Vec<Exchange>,
    #[serde(default, deserialize_with = "or_default")]
    limits: Bounds,
    pub(crate) expect: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Request {
    method: String,
    path: String,
    #[serde(default, deserialize_with = "or_default")]
    headers: Map<String, Value>,
    /// Sent as it is written in the file; `null` is an empty body.
    body: Option<Box<RawValue>>,
    base_url: Option<String>,
    want: Option<Want>,
    skill: Option<String>,
    region: Option<String>,
}

/// What the caller of a card case can speak.
#[derive(Debug, Deserialize)]
struct Want {
    bindings: Vec<String>,
    versions: Vec<String>,
    operation: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Exchange {
    response: Response,
}

#[derive(Debug, Deserialize)]
struct Response {
    /// `null`: no head ever came.
    status: Option<u16>,
    #[serde(default, deserialize_with = "or_default")]
    headers: Map<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    chunks: Vec<Piece>,
    #[serde(default, deserialize_with = "or_default")]
    end: Ending,
    /// Of an answer over HTTP/2; `{}` is none.
    trailers: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
struct Piece {
    #[serde(default, deserialize_with = "or_default")]
    after_ms: f64,
    data: Data,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Data {
    Text(String),
    Base64 { base64: String },
    Repeat { repeat: String, times: u64 },
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ending {
    #[default]
    Eof,
    Hang,
    Reset,
    Cut,
}

/// The bounds to run a case under. One that is not known here would not be obeyed: an error.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Bounds {
    head_ms: Option<u64>,
    first_event_ms: Option<u64>,
    idle_ms: Option<u64>,
    event_gap_ms: Option<u64>,
    total_ms: Option<u64>,
    linger_ms: Option<u64>,
    auth_wait_ms: Option<u64>,
    max_unary_body: Option<usize>,
    max_event: Option<usize>,
    max_card_bytes: Option<usize>,
}

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Case {
    /// Reads one case file.
    pub(crate) fn read(path: &Path) -> Result<Self, BoxError> {
        let file = fs::read(path)?;
        Ok(serde_json::from_slice(file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file))?)
    }

    /// Why this case cannot be run yet.
    pub(crate) fn skipped(&self) -> Option<&'static str> {
        match (&*self.kind, &*self.binding) {
            ("call", "JSONRPC" | "HTTP+JSON" | "GRPC") | ("card", _) => None,
            _ => Some("of a kind that is not known"),
        }
    }

    /// Whether what is known of a skill is to survive the answer, where the case says so.
    pub(crate) fn keeps_availability(&self) -> Option<bool> {
        let note = self.expect.get("notes")?.get("probe_cache")?.as_str()?;
        Some(note.starts_with("keep"))
    }

    /// Whether the call names a skill.
    pub(crate) fn names_skill(&self) -> bool {
        self.request.skill.is_some()
    }

    /// Whether the card is what the case is about, and no call is made.
    pub(crate) fn is_of_card(&self) -> bool {
        self.kind == "card"
    }

    /// Whether the call travels over HTTP/2.
    pub(crate) fn is_grpc(&self) -> bool {
        self.binding == Binding::Grpc.as_str()
    }

    /// The agent that the caller was told of.
    pub(crate) fn base(&self) -> &str {
        self.request.base_url.as_deref().unwrap_or(BASE_URL)
    }

    /// The same, as what the URLs in its card are held against.
    pub(crate) fn origin(&self) -> Result<Origin, BoxError> {
        Ok(Origin::parse(self.base()).map_err(|fault| fault.to_string())?)
    }

    /// The headers of the caller's request.
    pub(crate) fn headers(&self) -> Result<http::HeaderMap, BoxError> {
        header_map(&self.request.headers)
    }

    /// What the caller can speak; where the case does not say, what it is written in.
    pub(crate) fn speaks(&self) -> Result<ClientSpeaks, BoxError> {
        let (bindings, versions) = match &self.request.want {
            Some(want) => (&want.bindings[..], &want.versions[..]),
            None => (std::slice::from_ref(&self.binding), std::slice::from_ref(&self.version)),
        };
        let bindings = bindings.iter().map(|name| binding(name)).collect::<Result<Vec<_>, _>>()?;
        let version = |text: &String| ProtocolVersion::parse(text).ok_or("no version");
        Ok(ClientSpeaks::new(bindings, versions.iter().map(version).collect::<Result<Vec<_>, _>>()?))
    }

    /// What the caller of a card case is about to do, however it is spelled.
    pub(crate) fn operation(&self) -> Option<&str> {
        self.request.want.as_ref()?.operation.as_deref()
    }

    /// The card that a called agent shows to everybody.
    pub(crate) fn card(&self) -> Option<Script> {
        self.card.as_ref().map(|card| Script::json(card.get().to_owned()))
    }

    pub(crate) fn max_card_bytes(&self) -> Option<usize> {
        self.limits.max_card_bytes
    }

    /// The caller's request, to the agent's own URI.
    pub(crate) fn request(&self) -> Result<http::Request<Bytes>, BoxError> {
        let Request { method, path, .. } = &self.request;
        let base = self.base().trim_end_matches('/');
        let mut request = http::Request::builder().method(method.as_str()).uri(format!("{base}{path}"));
        for (name, value) in headers(&self.request.headers)? {
            request = request.header(name, value);
        }
        if let Some(skill) = &self.request.skill {
            request = request.header(SKILL_HEADER, skill);
        }
        if let Some(region) = &self.request.region {
            request = request.header(REGION_HEADER, region);
        }
        let body = match &self.request.body {
            None => Bytes::new(),
            Some(json) => match serde_json::from_str(json.get()) {
                Ok(Data::Base64 { base64 }) => decode(&base64)?,
                _ => Bytes::copy_from_slice(json.get().as_bytes()),
            },
        };
        Ok(request.body(body)?)
    }

    /// What the peer answers, one script per request that it may see.
    pub(crate) fn scripts(&self) -> Result<Vec<Script>, BoxError> {
        let then = self.then.iter().map(|exchange| &exchange.response);
        let responses = [&self.response].into_iter().chain(then);
        responses.map(Response::script).collect()
    }

    /// The same for a peer that speaks HTTP/2.
    pub(crate) fn h2_scripts(&self) -> Result<Vec<h2_peer::Script>, BoxError> {
        let then = self.then.iter().map(|exchange| &exchange.response);
        let responses = [&self.response].into_iter().chain(then);
        responses.map(Response::h2_script).collect()
    }

    /// The bounds of the case, the documented defaults where it names none.
    pub(crate) fn limits(&self) -> Limits {
        let bounds = &self.limits;
        let total = self.total();
        let within = |ms: Option<u64>, otherwise| {
            // More than the total would contradict it, and nothing is no bound.
            Duration::from_millis(ms.unwrap_or(otherwise)).min(total).max(Duration::from_millis(1))
        };
        let head = within(bounds.head_ms, 500);
        let mut limits = Limits::within(total)
            .head(head)
            .blocking_head(head)
            .first_event(within(bounds.first_event_ms, 500))
            .idle(within(bounds.idle_ms, 500))
            .event_gap(within(bounds.event_gap_ms, 500))
            .linger(self.linger().max(Duration::from_millis(1)))
            .auth_wait(within(bounds.auth_wait_ms, 800));
        if let Some(bytes) = bounds.max_unary_body {
            limits = limits.max_unary_body(bytes);
        }
        if let Some(bytes) = bounds.max_event {
            limits = limits.max_event(bytes);
        }
        limits
    }

    /// How long a stream may be left open behind its terminal event.
    pub(crate) fn linger(&self) -> Duration {
        Duration::from_millis(self.limits.linger_ms.unwrap_or(200)).min(self.total())
    }

    /// The bound that ends every call.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_millis(self.limits.total_ms.unwrap_or(5_000))
    }
}

impl Response {
    fn script(&self) -> Result<Script, BoxError> {
        let mut script = match self.status {
            Some(status) => Script::new(status),
            None => Script::silent(End::Eof),
        };
        for (name, value) in headers(&self.headers)? {
            // A length that the case states is sent as stated, true or not.
            if name.eq_ignore_ascii_case("content-length") {
                script = script.framing(Framing::Bare);
            }
            if !name.eq_ignore_ascii_case("transfer-encoding") {
                script = script.header(name, value);
            }
        }
        for piece in &self.chunks {
            script = script.chunk(piece.chunk()?);
        }
        Ok(script.end(match self.end {
            Ending::Eof => End::Eof,
            Ending::Hang => End::Hang,
            Ending::Reset => End::Reset,
            Ending::Cut => End::Cut,
        }))
    }

    fn h2_script(&self) -> Result<h2_peer::Script, BoxError> {
        let mut script = match self.status {
            Some(status) => h2_peer::Script::new(status),
            None => h2_peer::Script::silent(h2_peer::End::Eof),
        };
        script.headers = header_map(&self.headers)?;
        for piece in &self.chunks {
            script = script.chunk(piece.chunk()?);
        }
        let trailers = self.trailers.as_ref().map(header_map).transpose()?.filter(|trailers| !trailers.is_empty());
        Ok(script.end(match (self.end, trailers) {
            (Ending::Eof, Some(trailers)) => h2_peer::End::Trailers(trailers),
            (Ending::Eof, None) => h2_peer::End::Eof,
            (Ending::Hang, _) => h2_peer::End::Hang,
            (Ending::Reset, _) => h2_peer::End::Reset(h2_peer::Reason::INTERNAL_ERROR),
            (Ending::Cut, _) => h2_peer::End::Cut,
        }))
    }
}

impl Piece {
    fn chunk(&self) -> Result<Chunk, BoxError> {
        let (data, times) = match &self.data {
            Data::Text(text) => (Bytes::from(text.clone()), 1),
            Data::Base64 { base64 } => (decode(base64)?, 1),
            Data::Repeat { repeat, times } => (Bytes::from(repeat.clone()), *times),
        };
        Ok(Chunk::new(data).times(times).after(Duration::try_from_secs_f64(self.after_ms / 1e3)?))
    }
}

fn header_map(map: &Map<String, Value>) -> Result<http::HeaderMap, BoxError> {
    let mut all = http::HeaderMap::new();
    for (name, value) in headers(map)? {
        all.append(name.parse::<http::HeaderName>()?, http::HeaderValue::from_bytes(value.as_bytes())?);
    }
    Ok(all)
}

fn binding(name: &str) -> Result<Binding, BoxError> {
    let known = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];
    Ok(known.into_iter().find(|known| known.as_str() == name).ok_or("no binding")?)
}

/// Each header with its value, or with each of its values where they are a list.
fn headers(headers: &Map<String, Value>) -> Result<Vec<(&str, String)>, BoxError> {
    let mut pairs = Vec::new();
    for (name, value) in headers {
        for value in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return Err("a header is text".into()),
            };
            pairs.push((name.as_str(), text));
        }
    }
    Ok(pairs)
}

/// What `null` stands for is the same as what is left out.
fn or_default<'de, D, T>(value: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

/// Standard base64, padded or not.
fn decode(text: &str) -> Result<Bytes, BoxError> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err("not base64".into()),
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8); // the six bits above these eight have been taken
        }
    }
    Ok(bytes.into())
}
