//! How a call has to end, by the whole of what its peer does: written down without a thought for how the layers find it
//! out.

use std::time::Duration;

use a2a_guard::wire::{Payload, Progress};

use super::plan::{Caps, Coding, End, Head, Plan, Readiness, Trailers};
use crate::oracle::{
    answer::{Ruling, rule},
    course::{self, Course},
    events::by_the_standard,
    messages::{Messages, Reading, Rest, read},
};

/// What is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The peer did what was asked, in time.
    Success,
    /// It did not, or nobody can say that it did.
    Failed,
    /// Either may be right: time decides, or an option.
    Either,
}

use Expect::{Either, Failed, Success};

/// Who waits no longer than this, all in all, reaches no bound.
const IN_TIME: Duration = Duration::from_millis(1500);
const ID: &str = "1";

impl Expect {
    /// How the call of a plan ends whose caller reads at once and to the end.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        if matches!(plan.readiness, Readiness::Never | Readiness::Fails) {
            return Failed;
        }
        let Head::Comes { after, status, media, coding, length } = plan.head else { return Failed };
        if after > Duration::from_secs(300) {
            return Failed;
        }
        if plan.ask.expected(plan.dialect).is_none() && plan.ask.grpc_expected(plan.dialect).is_none() {
            return Either;
        }
        if !(200..300).contains(&status) {
            return Failed;
        }
        let waits = after + plan.waits() + plan.caller.pause * (plan.chunks.len() as u32 + 2);
        let in_time = waits < IN_TIME && plan.caller.pause.is_zero();
        let by_bytes = if plan.dialect.is_grpc() {
            Self::of_grpc(plan, status, media, coding)
        } else {
            Self::of_json(plan, media, coding)
        };
        match by_bytes {
            // Over HTTP/1 and HTTP/2 a body of another length is an error already.
            Success if !in_time || plan.strict || length.is_some_and(|off| off != 0) || status != 200 => Either,
            Success if plan.caps == Caps::Small => Either,
            // What came too late to be seen makes no failure, if the stream could have ended before.
            Failed if plan.ask.is_stream() && !in_time => Self::of_a_late_one(plan),
            by_bytes => by_bytes,
        }
    }

    /// A failure that shows only after a pause: whether the stream could have ended in it.
    fn of_a_late_one(plan: &Plan) -> Self {
        let body = plan.body();
        let rests = ["required", "REQUIRED", "ompleted", "COMPLETED"];
        let may_rest = rests.iter().any(|word| body.windows(word.len()).any(|part| part == word.as_bytes()));
        // Escaped, or as a number, states are spelled otherwise.
        if may_rest || plan.dialect.is_grpc() || body.contains(&b'\\') || body.iter().any(u8::is_ascii_digit) {
            Either
        } else {
            Failed
        }
    }

    fn of_json(plan: &Plan, media: Option<&str>, coding: Coding) -> Self {
        let expected = plan.ask.expected(plan.dialect).expect("an operation with a name");
        let body = plan.body();
        if coding == Coding::Gzip {
            return Failed;
        }
        let media = media.map(|media| media.split(';').next().unwrap_or_default().trim());
        let id = serde_json::from_str(ID).ok();
        if plan.ask.is_stream() {
            return match media {
                Some("text/event-stream") if plan.adapt && is_document(&body) => Either,
                Some("text/event-stream") => {
                    let course = Course::of_events(&by_the_standard(&body), expected, id, &body);
                    Self::of_course(plan, &course)
                }
                // One document where a stream is due is a downgrade, or an error.
                Some("application/json" | "application/a2a+json") | None if plan.adapt => Either,
                None => Either,
                _ => Failed,
            };
        }
        match media {
            Some("application/json" | "application/a2a+json") => {}
            // Mere words; a page; a picture; and a problem is none of a success.
            Some("application/problem+json") | None => return Either,
            Some("application/x-ndjson" | "text/event-stream") => return Either,
            _ if expected.payload == Payload::Anything => return Either,
            _ => return Failed,
        }
        match plan.end {
            End::Clean => {}
            _ => return Failed,
        }
        match rule(expected, id, &body) {
            Ruling::Valid(_) => Success,
            // Who was told to delete something may say nothing about it.
            Ruling::Empty if expected.payload == Payload::Anything => Either,
            _ => Failed,
        }
    }

    /// A stream that goes so, and ends as the plan says.
    fn of_course(plan: &Plan, course: &Course) -> Self {
        if course.progress == Progress::Done {
            // An event without its end is one by the end of its body only.
            let is_sure = course.end == course::End::Clean || plan.end == End::Clean;
            return if is_sure { Success } else { Either };
        }
        let is_rest = |progress| matches!(progress, Progress::InputRequired | Progress::AuthRequired);
        let rests = is_rest(course.progress);
        if is_rest(course.before_unterminated) && plan.end != End::Clean {
            return Either;
        }
        match (course.end, plan.end) {
            (course::End::Error | course::End::Failed | course::End::ErrorOrFailed, _) => match plan.end {
                // What is cut behind a rest is no failure, but what is wrong there is.
                End::Clean if rests => Either,
                End::Clean => Failed,
                // With more behind it, what is cut off here may be something else.
                _ if rests => Either,
                End::Reset | End::Hang => Failed,
                _ => Either,
            },
            (course::End::Unframed, _) => Failed,
            (_, End::Clean) if rests => Success,
            (_, End::Clean | End::Trailers(_)) => {
                if rests {
                    Either
                } else {
                    Failed
                }
            }
            (course::End::Clean, End::Hang) if rests => Success,
            (_, End::Reset | End::Hang) => {
                if rests {
                    Either
                } else {
                    Failed
                }
            }
            // Whatever is said without end says nothing of a task, but what went before it may be completed by it.
            (_, End::Endless(..) | End::Flood(..)) => Either,
        }
    }

    fn of_grpc(plan: &Plan, status: u16, media: Option<&str>, coding: Coding) -> Self {
        let expected = plan.ask.grpc_expected(plan.dialect).expect("an operation with a name");
        let body = plan.body();
        if status != 200 || media.is_some_and(|media| !media.starts_with("application/grpc")) {
            return Failed;
        }
        if media.is_none() {
            return Either;
        }
        // Nobody looks into compressed messages.
        if coding == Coding::Gzip {
            return Either;
        }
        let messages = Messages::of(&body);
        let code = match plan.trailers {
            // Of two both have to say so.
            Trailers::Status("0") | Trailers::Statuses("0", "0") => Some(true),
            Trailers::Status(_) | Trailers::Statuses(..) => Some(false),
            Trailers::InHead("0") => return if body.is_empty() { Failed } else { Either },
            Trailers::InHead(_) => return Failed,
            Trailers::None | Trailers::Other => None,
        };
        let readings: Vec<_> = messages.whole.iter().map(|(flag, message)| (*flag, read(expected, message))).collect();
        if readings.iter().any(|(flag, _)| *flag) {
            return Either;
        }
        if !plan.ask.is_stream() {
            return match (&readings[..], &messages.rest, code, plan.end) {
                ([(_, Reading::Valid(_))], Rest::Nothing, Some(true), End::Clean) => Success,
                _ => Failed,
            };
        }
        let mut course = Course::BEGIN;
        for (_, reading) in &readings {
            match reading {
                Reading::Valid(said) => course.take_message(said),
                _ => return Failed,
            }
            if course.progress == Progress::Done {
                break;
            }
        }
        let is_done = course.progress == Progress::Done;
        let rests = is_done || course.progress != Progress::Open;
        match (&messages.rest, plan.end, code) {
            // Behind the end of the task nothing that the transport does counts, but a message that is not whole, or
            // too large.
            (Rest::Nothing, End::Clean, Some(true)) if rests => Success,
            (Rest::Nothing, End::Clean | End::Hang, None) if is_done => Success,
            _ if rests => Either,
            (_, End::Endless(..) | End::Flood(..), _) => Either,
            _ => Failed,
        }
    }
}

fn is_document(body: &[u8]) -> bool {
    let first = body.iter().find(|byte| !b" \t\r\n\xef\xbb\xbf".contains(byte));
    matches!(first, None | Some(b'{' | b'['))
}
