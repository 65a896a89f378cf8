//! Judges an event stream event by event, in place: what may be handed on, and how far the task has come.
//!
//! The stream's bytes belong to the caller. [`StreamJudge::step`] is shown them as they come and says, at each
//! boundary, what the bytes up to there were; what belongs to an unfinished event is [`Held`](StepKind::Held) until its
//! end shows whether it may pass.

mod course;
mod memo;
#[cfg(test)]
mod tests;

use super::id::JsonRpcId;
use super::judge::{Expected, Flaw, Judge, PayloadKind, Verdict};
use super::sse::{Frame, Framing, LineEnd};
use super::task_state::{StateKind, TaskState};
use super::tolerated::Tolerated;
pub(super) use course::Course;
use memo::{GoneOn, Memo};

/// What [`StreamJudge::step`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many of the bytes it took.
    pub consumed: usize,
    /// What they were.
    pub kind: StepKind,
}

/// What the bytes up to a [`Step`]'s end are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A valid event ended here.
    Event,
    /// All up to here may be handed on: a comment, a blank line, an event without data.
    Boundary,
    /// All bytes were taken, and the last of them belong to something unfinished.
    Held,
    /// An event that is an error ended here.
    Error,
    /// An event that is neither a result nor an error ended here, or this is no event stream.
    Flawed(Flaw),
}

/// What the end of a body means for the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Nothing was unfinished.
    Clean,
    /// The last event was valid and lacked only its end, which is `missing`, in the stream's own style.
    Event {
        /// The bytes that complete the event.
        missing: &'static [u8],
    },
    /// The last event lacked its end, and is an error.
    Error,
    /// The last event is not whole.
    Cut,
    /// The last event is neither a result nor an error, or the body is no event stream.
    Flawed(Flaw),
    /// The body is JSON without any framing: to be judged as one document.
    Unframed,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Progress {
    /// More is due.
    #[default]
    Open,
    /// The agent waits for input: the stream may end (A2A 1.0 §11.7), or stay silent.
    InputRequired,
    /// The agent waits for a credential: the stream may end, or go on by itself (A2A 1.0 §7.6.1).
    AuthRequired,
    /// The task is in a terminal state, or the one message came (A2A 1.0 §3.1.2). Nothing changes that.
    Done,
}

/// What a body turned out to be, by its first byte that is no white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Undecided,
    Events,
    Json,
    Html,
}

/// What a valid event says that changes how far its stream has come.
#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    None,
    /// The task's state; none if its name is not known.
    State(Option<TaskState>),
}

/// What is known of an event that is like one before.
#[derive(Clone, Copy, Debug)]
struct Known {
    news: News,
    line_end: LineEnd,
}

/// Judges one stream. See the [module](self).
#[derive(Debug)]
pub struct StreamJudge {
    framing: Framing,
    judge: Judge,
    memo: Memo<Known>,
    shape: Shape,
    /// The judge has begun with the event that is going on.
    judging: bool,
    /// Bytes since the last boundary.
    held: usize,
    max_event: usize,
    course: Course,
    flaw: Option<Flaw>,
}

impl StreamJudge {
    /// A judge before the first byte.
    ///
    /// `max_event` bounds the bytes of one event. With `flag_first_event`, a first event that is neither a task nor a
    /// message is noted as [`Tolerated::FIRST_EVENT_NOT_TASK`]; a subscription may begin so.
    #[must_use]
    pub fn new(expected: Expected, max_event: usize, flag_first_event: bool) -> Self {
        Self {
            framing: Framing::new(),
            judge: Judge::new(expected),
            memo: Memo::default(),
            shape: Shape::Undecided,
            judging: false,
            held: 0,
            max_event,
            course: Course::new(flag_first_event),
            flaw: None,
        }
    }

    /// Advances over `bytes` until something can be said. `id` is the request's.
    pub fn step(&mut self, bytes: &[u8], id: &JsonRpcId) -> Step {
        if self.course.progress() == Progress::Done {
            return Step { consumed: bytes.len(), kind: StepKind::Boundary };
        }
        if let Some(flaw) = self.flaw {
            return Step { consumed: 0, kind: StepKind::Flawed(flaw) };
        }
        if let Some(step) = self.step_over_repeated(bytes) {
            return step;
        }
        if self.memo.has_kept()
            && let Some(step) = self.go_on_with_kept(bytes, id)
        {
            return step;
        }
        let blank = self.decide_shape(bytes);
        let step = match self.shape {
            Shape::Json => self.hold(bytes.len()),
            Shape::Html => {
                Step { consumed: bytes.len(), kind: StepKind::Flawed(Flaw::Malformed("HTML where events are due")) }
            }
            Shape::Undecided | Shape::Events => self.step_events(bytes, blank, id),
        };
        if let StepKind::Flawed(flaw) = step.kind {
            self.flaw = Some(flaw);
        }
        step
    }

    /// The body ended cleanly: an unterminated last event is judged, if it is whole.
    pub fn finish(&mut self, id: &JsonRpcId) -> Finish {
        if self.course.progress() == Progress::Done {
            return Finish::Clean;
        }
        if let Some(flaw) = self.flaw {
            return Finish::Flawed(flaw);
        }
        if self.shape == Shape::Json {
            return Finish::Unframed;
        }
        self.read_kept(id);
        self.framing.finish();
        if self.framing.has_junk() && self.course.events() == 0 && !self.judging {
            return Finish::Flawed(Flaw::Malformed("no event stream"));
        }
        if !self.framing.in_event() {
            return Finish::Clean;
        }
        if !self.judging || !self.framing.has_data() || self.judge.is_unfinished() {
            return Finish::Cut;
        }
        let missing = self.framing.missing();
        match self.judge_event(id) {
            StepKind::Event => {
                self.course.tolerate(Tolerated::UNTERMINATED_EVENT);
                Finish::Event { missing }
            }
            StepKind::Error => Finish::Error,
            StepKind::Flawed(flaw) => Finish::Flawed(flaw),
            StepKind::Boundary | StepKind::Held => Finish::Cut,
        }
    }

    /// How far the stream has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.course.progress()
    }

    /// How many valid events came, up to the one after which nothing is judged any more.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.course.events()
    }

    /// The task's last state, if it has a known name.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        self.course.state()
    }

    /// The id of the stream's task, once an event named it.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        self.course.task_id()
    }

    /// What was accepted although it is not quite right.
    #[must_use]
    pub fn tolerated(&self) -> Tolerated {
        self.course.tolerated()
    }

    /// How many bytes were taken since the last boundary.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Looks for the first significant byte of the body, and gives the number of blank ones before it.
    fn decide_shape(&mut self, bytes: &[u8]) -> usize {
        if self.shape != Shape::Undecided {
            return 0;
        }
        // A byte order mark is passed over like white space; the framing knows where it may stand.
        let is_blank = |byte: &u8| b" \t\r\n\xef\xbb\xbf".contains(byte);
        let blank = bytes.iter().take_while(|byte| is_blank(byte)).count();
        self.shape = match bytes.get(blank) {
            None => Shape::Undecided,
            Some(b'{' | b'[') => Shape::Json,
            Some(b'<') => Shape::Html,
            Some(_) => Shape::Events,
        };
        blank
    }

    /// Steps over an event that is like one before.
    #[inline]
    fn step_over_repeated(&mut self, bytes: &[u8]) -> Option<Step> {
        if !self.framing.is_between_events() || self.memo.has_kept() {
            return None;
        }
        let consumed = self.memo.repeated(bytes)?;
        self.pass(consumed)
    }

    /// Passes over the event that was found to be like one before, if it is not too large.
    #[inline]
    fn pass(&mut self, consumed: usize) -> Option<Step> {
        let known = self.memo.last_news()?;
        if self.held.saturating_add(consumed) > self.max_event {
            return None;
        }
        self.framing.pass_plain_event(known.line_end);
        self.held = 0;
        self.course.note_repeated(known.news);
        Some(Step { consumed, kind: StepKind::Event })
    }

    /// Goes on with an event whose beginning was kept, as long as that may be like one before.
    fn go_on_with_kept(&mut self, bytes: &[u8], id: &JsonRpcId) -> Option<Step> {
        match self.memo.go_on(bytes) {
            GoneOn::Repeated(consumed) => {
                if let Some(step) = self.pass(consumed) {
                    self.memo.forget_kept();
                    return Some(step);
                }
            }
            GoneOn::Kept => {
                let step = self.hold(bytes.len());
                if let StepKind::Flawed(flaw) = step.kind {
                    self.flaw = Some(flaw);
                }
                return Some(step);
            }
            GoneOn::Other => {}
        }
        self.read_kept(id);
        None
    }

    /// Reads what was kept, as it was not before. It is the beginning of an event, and its bytes are counted already.
    fn read_kept(&mut self, id: &JsonRpcId) {
        let kept = self.memo.take_kept();
        let held = self.held;
        if !kept.is_empty() {
            let step = self.read_events(&kept, 0, id);
            debug_assert!(
                step.consumed == kept.len() && matches!(step.kind, StepKind::Held | StepKind::Flawed(Flaw::TooLarge))
            );
        }
        self.held = held;
        self.memo.give_back(kept);
    }

    /// The first `blank` bytes, before the body's first significant one, are not handed on by themselves: they may turn
    /// out to stand before something that is no event.
    fn step_events(&mut self, bytes: &[u8], blank: usize, id: &JsonRpcId) -> Step {
        if let Some(event) = self.framing.plain_event(bytes) {
            if let Some(consumed) = self.memo.repeated_widely(bytes)
                && let Some(step) = self.pass(consumed)
            {
                return step;
            }
            self.framing.pass_plain_event(event.line_end);
            self.memo.read(&mut self.judge, bytes, &event);
            return self.boundary(bytes, event.length, Frame::End, id);
        }
        if self.framing.is_between_events() && self.memo.keep(bytes) {
            return self.hold(bytes.len());
        }
        self.read_events(bytes, blank, id)
    }

    /// Reads bytes as they come, whatever the events in them look like.
    fn read_events(&mut self, bytes: &[u8], blank: usize, id: &JsonRpcId) -> Step {
        let mut at = 0;
        loop {
            let (used, frame) = self.framing.next(bytes.get(at..).unwrap_or_default());
            at += used;
            match frame {
                Frame::Data(piece) if self.judging => self.judge.feed(piece),
                Frame::Data(piece) => {
                    self.judging = true;
                    self.judge.reset();
                    self.judge.feed(piece);
                }
                Frame::More => return self.hold(at),
                Frame::Between | Frame::End if at <= blank => {}
                Frame::Between | Frame::End => return self.boundary(bytes, at, frame, id),
            }
        }
    }

    /// All bytes belong to something unfinished.
    fn hold(&mut self, consumed: usize) -> Step {
        self.held = self.held.saturating_add(consumed);
        let kind = if self.held > self.max_event { StepKind::Flawed(Flaw::TooLarge) } else { StepKind::Held };
        Step { consumed, kind }
    }

    /// A blank line or a comment ends at `at`.
    fn boundary(&mut self, bytes: &[u8], at: usize, frame: Frame<'_>, id: &JsonRpcId) -> Step {
        let taken = bytes.get(..at).unwrap_or_default();
        // The carriage return ends the line; a cut may separate the line feed from it, so it does not count.
        let counted = taken.strip_suffix(b"\n").filter(|line| line.ends_with(b"\r"));
        let size = counted.unwrap_or(taken).len();
        let is_event = frame == Frame::End && self.framing.has_data();
        let kind = if self.held.saturating_add(size) > self.max_event {
            StepKind::Flawed(Flaw::TooLarge)
        } else if is_event {
            self.judge_event(id)
        } else {
            StepKind::Boundary
        };
        if frame == Frame::End {
            self.judging = false;
        }
        self.held = 0;
        Step { consumed: at, kind }
    }

    /// An event with data is at its end.
    fn judge_event(&mut self, id: &JsonRpcId) -> StepKind {
        match self.judge.finish(id) {
            Verdict::Valid => {
                let news = self.course.note(self.judge.facts());
                self.course.note_news(news);
                self.memo.judged(&self.judge, Known { news, line_end: self.framing.line_end() });
                StepKind::Event
            }
            Verdict::Error => StepKind::Error,
            // Whatever object stands in an event of that name is meant as an error, if it is this call's.
            Verdict::Flawed(flaw @ Flaw::Violation(_))
                if self.framing.is_error()
                    && flaw != Flaw::OTHER_CALL
                    && self.judge.is_object()
                    && self.judge.facts().kind == PayloadKind::None =>
            {
                StepKind::Error
            }
            Verdict::Flawed(Flaw::Empty) => StepKind::Flawed(Flaw::Malformed("white space where JSON is due")),
            Verdict::Flawed(flaw) => StepKind::Flawed(flaw),
        }
    }
}

fn progress_of(state: TaskState) -> Progress {
    match state.kind() {
        StateKind::InputRequired => Progress::InputRequired,
        StateKind::AuthRequired => Progress::AuthRequired,
        _ if state.is_terminal() => Progress::Done,
        _ => Progress::Open,
    }
}
