//! What to do with an answer, by its head.

use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use std::time::{Duration, SystemTime};

use super::shape;
use crate::{
    call::{Binding, Call},
    outcome::Class,
    times,
    wire::{Expected, MediaType},
};

/// How an answer is to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Nobody named the call: the answer passes, bounded. What may be a JSON-RPC answer is still read along the way,
    /// for the outcome.
    Pass { read_along: Option<Expected> },
    /// An error status: head and the first of the body decide.
    ErrorBody,
    /// A whole body decides.
    Whole(Expected),
    /// One JSON document where a stream was asked.
    Downgrade(Expected),
    /// Event by event.
    Stream(Expected),
    /// The head alone says that this is no answer.
    Broken(Class, &'static str),
}

/// Where a decompression layer belongs, told to who needs one.
pub(super) const CODED: &str =
    "the body has a content coding that nobody decoded: put a decompression layer directly below this one";

pub(super) const MEDIA: &str = "the answer is of a media type that no success has";

pub(super) fn plan(call: &Call, status: StatusCode, headers: &HeaderMap) -> Plan {
    let (media, coding) = declares(headers);
    let Some(expected) = shape::expected(call) else {
        // Of a request that nobody could read, its answer may say as much.
        let may_be = matches!(call.binding(), None | Some(Binding::JsonRpc)) && media.is_json() && coding.is_none();
        return Plan::Pass { read_along: may_be.then(shape::foreign_method) };
    };
    if !status.is_success() {
        return match coding {
            Some(_) if super::status::leaves_word_to(media, status) => Plan::Broken(Class::ContentEncoding, CODED),
            _ => Plan::ErrorBody,
        };
    }
    let streaming = call.is_streaming();
    let plan = match media {
        // Problem details are never a result, whatever the status says.
        MediaType::ProblemJson => Plan::ErrorBody,
        MediaType::EventStream if streaming => Plan::Stream(expected),
        MediaType::EventStream => Plan::Broken(Class::WrongMediaType, "an event stream answers a unary call"),
        // Nobody said what it is, so its bytes do: an unframed JSON document shows as one.
        MediaType::Absent if streaming && status != StatusCode::NO_CONTENT => Plan::Stream(expected),
        MediaType::Json | MediaType::Absent if streaming => Plan::Downgrade(shape::downgraded(expected)),
        MediaType::Json | MediaType::Absent => Plan::Whole(expected),
        _ => Plan::Broken(Class::WrongMediaType, MEDIA),
    };
    match plan {
        Plan::Broken(..) => plan,
        _ if coding.is_some() => Plan::Broken(Class::ContentEncoding, CODED),
        _ => plan,
    }
}

/// Media type and content coding, found in one pass: most heads are short, and a look-up costs as much as a few
/// headers.
#[inline]
fn declares(headers: &HeaderMap) -> (MediaType, Option<&str>) {
    let (mut media, mut has_coding) = (None, false);
    for (name, value) in headers {
        if *name == CONTENT_TYPE {
            media = media.or(Some(value));
        } else if *name == CONTENT_ENCODING {
            has_coding = true;
        }
    }
    (MediaType::of(media.map(HeaderValue::as_bytes)), if has_coding { coding(headers) } else { None })
}

pub(super) fn media_type(headers: &HeaderMap) -> MediaType {
    MediaType::of(headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes))
}

/// The content coding, if there is one.
pub(super) fn coding(headers: &HeaderMap) -> Option<&str> {
    let codings = headers
        .get_all(CONTENT_ENCODING)
        .into_iter()
        .flat_map(|value| value.to_str().unwrap_or("unreadable").split(','));
    codings.map(str::trim).find(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
}

/// What the head declares, for a message about it.
pub(super) fn declared(class: Class, headers: &HeaderMap) -> Option<Box<str>> {
    let name = match class {
        Class::ContentEncoding => CONTENT_ENCODING,
        Class::WrongMediaType => CONTENT_TYPE,
        _ => return None,
    };
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into())
}

/// `Retry-After` of an answer that has just come.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    times::retry_after(headers, SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn without_its_date_an_answer_is_dated_when_it_comes() {
        let past = ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(retry_after(&headers(&[past])), Some(Duration::ZERO));
        assert_eq!(retry_after(&headers(&[past, ("date", "today")])), Some(Duration::ZERO));
        let far = retry_after(&headers(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]));
        assert!(far.is_some_and(|far| far > Duration::from_secs(1 << 30)));
    }

    #[test]
    fn identity_is_no_coding() {
        assert_eq!(coding(&headers(&[("content-encoding", "Identity")])), None);
        assert_eq!(coding(&headers(&[("content-encoding", "identity, identity")])), None);
        assert_eq!(coding(&headers(&[("content-encoding", "gzip")])), Some("gzip"));
        let mut two = headers(&[("content-encoding", "identity")]);
        two.append(CONTENT_ENCODING, "br".parse().unwrap());
        assert_eq!(coding(&two), Some("br"));
    }
}
