//! Judges a stream message by message, in place.

use super::answer::{AnswerReader, GrpcExpected};
use super::frame::{Framing, PREFIX, Part, Prefix};
use super::unary::{NO_CODING, NO_GRPC};
use super::walk::{Walk, walk_whole};
use crate::wire::judge::{Facts, Flaw};
use crate::wire::stream::{Course, Progress, Step, StepKind};
use crate::wire::task_state::TaskState;
use crate::wire::tolerated::Tolerated;

/// Judges one stream of messages. [`step`](Self::step) is shown its bytes as they come, as that of a
/// [`StreamJudge`](crate::wire::StreamJudge) is.
///
/// Behind the end of the task messages are no longer judged, but still told apart: what is handed on must be whole
/// ones.
#[derive(Debug)]
pub struct GrpcStreamJudge {
    framing: Framing,
    walk: Walk,
    reader: AnswerReader,
    course: Course,
    max_message: usize,
    has_coding: bool,
    compressed: bool,
    flaw: Option<Flaw>,
}

impl GrpcStreamJudge {
    /// A judge before the first byte.
    ///
    /// `max_message` bounds a message by what its prefix says. With `flag_first_event`, a first message that is neither
    /// a task nor a message is noted as [`Tolerated::FIRST_EVENT_NOT_TASK`].
    #[must_use]
    pub fn new(expected: GrpcExpected, max_message: usize, flag_first_event: bool) -> Self {
        Self {
            framing: Framing::new(),
            walk: Walk::new(0),
            reader: AnswerReader::new(expected),
            course: Course::new(flag_first_event),
            max_message,
            has_coding: false,
            compressed: false,
            flaw: None,
        }
    }

    /// The head has a `grpc-encoding` that is none of `identity`: messages may be compressed. They are not inspected.
    pub fn allow_compressed(&mut self) {
        self.has_coding = true;
    }

    /// Advances over `bytes` until something can be said.
    #[inline]
    pub fn step(&mut self, bytes: &[u8]) -> Step {
        if let Some(flaw) = self.flaw {
            return Step { consumed: 0, kind: StepKind::Flawed(flaw) };
        }
        if let Some(step) = self.step_over_whole(bytes) {
            return step;
        }
        let mut at = 0;
        let kind = loop {
            let (used, part) = self.framing.next(bytes.get(at..).unwrap_or_default());
            at += used;
            let judged = match part {
                Part::Begin(prefix) => self.begin(prefix),
                Part::Data(piece) if self.is_walked() => {
                    self.walk.feed(piece, &mut self.reader).map_err(Flaw::Malformed)
                }
                Part::Data(_) => Ok(()),
                Part::End if self.course.progress() == Progress::Done => break StepKind::Boundary,
                Part::End => match self.end() {
                    Ok(()) => break StepKind::Event,
                    Err(flaw) => Err(flaw),
                },
                Part::More => break StepKind::Held,
                Part::Bad => Err(NO_GRPC),
            };
            if let Err(flaw) = judged {
                self.flaw = Some(flaw);
                break StepKind::Flawed(flaw);
            }
        };
        Step { consumed: at, kind }
    }

    /// A message that is there whole.
    #[inline(always)]
    fn step_over_whole(&mut self, bytes: &[u8]) -> Option<Step> {
        let (prefix, message) = self.framing.whole(bytes)?;
        if prefix.compressed || message.len() > self.max_message || self.course.progress() == Progress::Done {
            return None;
        }
        self.compressed = false;
        self.reader.begin();
        let walked = walk_whole(message, &mut self.reader).map_err(Flaw::Malformed);
        let kind = match walked.and_then(|()| self.judge()) {
            Ok(()) => StepKind::Event,
            Err(flaw) => {
                self.flaw = Some(flaw);
                StepKind::Flawed(flaw)
            }
        };
        Some(Step { consumed: PREFIX + message.len(), kind })
    }

    /// True if the body ended between two messages.
    #[must_use]
    pub fn is_between(&self) -> bool {
        self.framing.is_between()
    }

    /// True if nobody can say whether the stream may end here: its last message is compressed.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.compressed && self.course.progress() == Progress::Open
    }

    /// How far the stream has come.
    #[must_use]
    #[inline]
    pub fn progress(&self) -> Progress {
        self.course.progress()
    }

    /// How many valid messages came, up to the one after which nothing is judged any more.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.course.events()
    }

    /// The task's last state, if it has a known number.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        self.course.state()
    }

    /// The id of the stream's task, once a message named it.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        self.course.task_id()
    }

    /// What was accepted although it is not quite right.
    #[must_use]
    pub fn tolerated(&self) -> Tolerated {
        self.course.tolerated()
    }

    /// What the message that is going on, or the last one, says of its task.
    #[must_use]
    pub fn last(&mut self) -> &Facts {
        self.reader.facts()
    }

    fn is_walked(&self) -> bool {
        !self.compressed && self.course.progress() != Progress::Done
    }

    #[inline]
    fn begin(&mut self, prefix: Prefix) -> Result<(), Flaw> {
        if usize::try_from(prefix.len).is_ok_and(|len| len > self.max_message) {
            return Err(Flaw::TooLarge);
        }
        if self.course.progress() == Progress::Done {
            return Ok(());
        }
        if prefix.compressed && !self.has_coding {
            return Err(NO_CODING);
        }
        self.compressed = prefix.compressed;
        self.reader.begin();
        self.walk.begin(prefix.len);
        Ok(())
    }

    #[inline]
    fn end(&mut self) -> Result<(), Flaw> {
        if self.compressed {
            self.course.note_unread(Tolerated::COMPRESSED_MESSAGE);
            return Ok(());
        }
        self.walk.finish(&mut self.reader).map_err(Flaw::Malformed)?;
        self.judge()
    }

    /// The message was walked to its end.
    #[inline]
    fn judge(&mut self) -> Result<(), Flaw> {
        self.reader.judge()?;
        let news = self.course.note(self.reader.judged_facts());
        self.course.note_news(news);
        Ok(())
    }
}
