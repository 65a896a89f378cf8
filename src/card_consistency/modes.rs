//! Which media types a send asked for, and whether the card lists them (A2A 1.0 §3.3.2,
//! `ContentTypeNotSupportedError`).

use bytes::Bytes;
use http_body::Body;
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    call::{Binding, Call, CallBody, Operation},
    card::{AgentCard, AgentSkill},
};

/// A larger request is not kept until its answer comes.
const KEPT: usize = 256 << 10;

/// So many media types of a send are looked up in the card; of one that has more nobody tells.
const KINDS: usize = 32;

/// A send. Whoever refuses one that the card covers contradicts it.
#[derive(Debug)]
pub(super) struct Asked {
    body: Bytes,
    in_params: bool,
}

/// The members of a message that tell media types, in 1.0 and before.
#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    message: Message<'a>,
    #[serde(borrow, default)]
    configuration: Option<Configuration<'a>>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Configuration<'a> {
    #[serde(borrow, default)]
    accepted_output_modes: Option<Vec<Text<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default)]
    media_type: Option<Text<'a>>,
    #[serde(default)]
    text: Option<IgnoredAny>,
    #[serde(default)]
    data: Option<IgnoredAny>,
    #[serde(borrow, default)]
    file: Option<File<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(borrow, default)]
    mime_type: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

/// The request of a send, kept until it is known whether the agent takes it, if all of it is at hand. One over gRPC
/// does not tell here.
#[inline]
pub(super) fn kept<B>(call: &Call, body: &CallBody<B>) -> Option<Bytes>
where
    B: Body,
{
    let tells = matches!(call.binding(), Some(Binding::JsonRpc | Binding::HttpJson));
    if !tells || !call.operation().is_some_and(Operation::is_send) {
        return None;
    }
    body.as_bytes().filter(|body| body.len() <= KEPT).cloned()
}

impl Asked {
    /// Of what was [kept](kept) of this call.
    pub(super) fn of(call: &Call, body: Bytes) -> Self {
        Self { body, in_params: call.binding() == Some(Binding::JsonRpc) }
    }

    /// Whether the card lists all that the send consists of, and something of what it accepts.
    ///
    /// What cannot be told is not listed: a part without a type that is neither text nor data, or a type that one skill
    /// takes and another does not, where nobody says which skill the call is for.
    pub(super) fn is_listed(&self, card: &AgentCard, skill: Option<&str>) -> bool {
        let params = if self.in_params {
            serde_json::from_slice::<Request<'_>>(&self.body).map(|request| request.params)
        } else {
            serde_json::from_slice::<Params<'_>>(&self.body)
        };
        let Ok(Params { message, configuration }) = params else { return false };
        let accepted = configuration.and_then(|configuration| configuration.accepted_output_modes).unwrap_or_default();
        let takes = |mode: Option<&str>| {
            mode.is_some_and(|mode| everywhere(card, skill, card.default_input_modes(), AgentSkill::input_modes, mode))
        };
        let gives =
            |mode: &Text<'_>| everywhere(card, skill, card.default_output_modes(), AgentSkill::output_modes, &mode.0);
        // Parts of one kind in a row are looked up once.
        let mut kinds: Vec<_> = message.parts.iter().map(Part::mode).collect();
        kinds.dedup();
        (1..=KINDS).contains(&kinds.len())
            && kinds.into_iter().all(takes)
            && (accepted.is_empty() || accepted.iter().take(KINDS).any(gives))
    }
}

impl Part<'_> {
    fn mode(&self) -> Option<&str> {
        let stated = self.media_type.as_ref().or_else(|| self.file.as_ref()?.mime_type.as_ref());
        match stated {
            Some(stated) => Some(&*stated.0).filter(|mode| !mode.is_empty()),
            None if self.text.is_some() => Some("text/plain"),
            None if self.data.is_some() => Some("application/json"),
            None => None,
        }
    }
}

/// Whether a mode is listed for the skill, or, where that is not known, for each that may be meant.
fn everywhere(
    card: &AgentCard,
    skill: Option<&str>,
    defaults: &[Box<str>],
    own: impl Fn(&AgentSkill) -> &[Box<str>],
    mode: &str,
) -> bool {
    let lists = |modes: &[Box<str>]| modes.iter().any(|listed| covers(listed, mode));
    match skill.and_then(|id| card.skill(id)).map(&own) {
        Some([]) => lists(defaults),
        Some(modes) => lists(modes),
        // Each list once: a card may have thousands of skills, and as many modes.
        None => lists(defaults) && card.skills().iter().map(own).all(|modes| modes.is_empty() || lists(modes)),
    }
}

/// Whether a listed mode is, or covers, another: without case and parameters (RFC 9110 §8.3.1), `text/*` being every
/// `text/…`. Cards older than 1.0 write `text` and `data`.
fn covers(listed: &str, mode: &str) -> bool {
    let (listed, mode) = (essence(listed), essence(mode));
    let Some((kind, subtype)) = listed.split_once('/') else { return listed.eq_ignore_ascii_case(mode) };
    let (mode_kind, mode_subtype) = mode.split_once('/').unwrap_or((mode, ""));
    let is = |pattern: &str, text: &str| pattern == "*" || pattern.eq_ignore_ascii_case(text);
    is(kind, mode_kind) && is(subtype, mode_subtype)
}

fn essence(mode: &str) -> &str {
    let essence = mode.split(';').next().unwrap_or_default().trim();
    match essence {
        "text" => "text/plain",
        "data" => "application/json",
        essence => essence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(input: &str, output: &str, skills: &str) -> AgentCard {
        let card = format!(
            r#"{{"url":"https://a.example/","protocolVersion":"0.3.0","defaultInputModes":[{input}],"defaultOutputModes":[{output}],"skills":[{skills}]}}"#
        );
        AgentCard::read(card.as_bytes()).unwrap()
    }

    fn listed(card: &AgentCard, skill: Option<&str>, params: &str) -> bool {
        let rpc = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{params}}}"#);
        let of = |body: &str, binding| {
            let call = Call::new().with_operation(Operation::SendMessage).with_binding(binding);
            let body = CallBody::<http_body_util::Full<Bytes>>::from(Bytes::copy_from_slice(body.as_bytes()));
            Asked::of(&call, kept(&call, &body).unwrap()).is_listed(card, skill)
        };
        let is = of(&rpc, Binding::JsonRpc);
        assert_eq!(of(params, Binding::HttpJson), is, "{params}");
        is
    }

    #[test]
    fn each_part_and_one_of_what_is_accepted() {
        let card = card(r#""text/plain","image/*""#, r#""text/plain","application/pdf""#, "");
        for (params, expected) in [
            (r#"{"message":{"parts":[{"text":"x"}]}}"#, true),
            (r#"{"message":{"parts":[{"text":"x","mediaType":"TEXT/plain; charset=utf-8"}]}}"#, true),
            (r#"{"message":{"parts":[{"text":"x","mediaType":"text/markdown"}]}}"#, false),
            (r#"{"message":{"parts":[{"raw":"AA==","mediaType":"image/png"},{"text":"x"}]}}"#, true),
            (r#"{"message":{"parts":[{"raw":"AA==","mediaType":"audio/ogg"},{"text":"x"}]}}"#, false),
            (r#"{"message":{"parts":[{"url":"https://x"}]}}"#, false),
            (r#"{"message":{"parts":[{"data":{"a":[1]}}]}}"#, false),
            (r#"{"message":{"parts":[{"kind":"file","file":{"mimeType":"image/png","bytes":"AA=="}}]}}"#, true),
            (r#"{"message":{"parts":[{"kind":"file","file":{"uri":"https://x"}}]}}"#, false),
            (r#"{"message":{"parts":[]}}"#, false),
            (r#"{"message":{}}"#, false),
            (r#"{"message":{"parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":["image/png"]}}"#, false),
            (
                r#"{"message":{"parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":["image/png","application/pdf"]}}"#,
                true,
            ),
            (r#"{"message":{"parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":[]}}"#, true),
            (r#"{"message":{"parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":null}}"#, true),
            (
                r#"{"message":{"parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":["t\u0065xt/plain"]}}"#,
                true,
            ),
        ] {
            assert_eq!(listed(&card, None, params), expected, "{params}");
        }
    }

    #[test]
    fn data_is_json_and_of_a_file_without_a_type_nobody_knows() {
        let card = card(r#""application/json""#, "", "");
        for (part, expected) in [
            (r#"{"data":{"a":[1]}}"#, true),
            (r#"{"kind":"data","data":[]}"#, true),
            (r#"{"url":"https://x"}"#, false),
            (r#"{"raw":"AA=="}"#, false),
            (r#"{"kind":"file","file":{"uri":"https://x"}}"#, false),
            (r#"{"text":"x"}"#, false),
        ] {
            let params = format!(r#"{{"message":{{"parts":[{part}]}}}}"#);
            assert_eq!(listed(&card, None, &params), expected, "{part}");
        }
    }

    #[test]
    fn a_skills_own_modes_count_for_it() {
        let skills = r#"{"id":"see","inputModes":["image/png"]},{"id":"read"}"#;
        let card = card(r#""text/plain""#, r#""text""#, skills);
        let text = r#"{"message":{"parts":[{"text":"x"}]}}"#;
        let image = r#"{"message":{"parts":[{"raw":"","mediaType":"image/png"}]}}"#;
        for (skill, params, expected) in [
            (Some("see"), image, true),
            (Some("see"), text, false),
            (Some("read"), text, true),
            (Some("read"), image, false),
            (None, text, false),
            (None, image, false),
        ] {
            assert_eq!(listed(&card, skill, params), expected, "{skill:?} {params}");
        }
    }

    #[test]
    fn only_a_send_of_reasonable_size_is_kept() {
        let send = Call::new().with_operation(Operation::SendMessage).with_binding(Binding::JsonRpc);
        let body = |len| CallBody::<http_body_util::Full<Bytes>>::from(Bytes::from(vec![b' '; len]));
        assert!(kept(&send, &body(KEPT)).is_some());
        assert!(kept(&send, &body(KEPT + 1)).is_none());
        assert!(kept(&send.clone().with_binding(Binding::Grpc), &body(9)).is_none());
        assert!(kept(&send.with_operation(Operation::GetTask), &body(9)).is_none());
    }
}
