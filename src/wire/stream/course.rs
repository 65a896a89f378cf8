//! How far a stream has come, by what its valid events say: the same over every binding.

use super::{News, Progress, progress_of};
use crate::wire::judge::{Facts, PayloadKind};
use crate::wire::task_state::TaskState;
use crate::wire::text::SmallText;
use crate::wire::tolerated::Tolerated;

#[derive(Debug)]
pub(in crate::wire) struct Course {
    flag_first_event: bool,
    events: u64,
    progress: Progress,
    state: Option<TaskState>,
    task_id: SmallText,
    tolerated: Tolerated,
}

impl Course {
    pub(in crate::wire) fn new(flag_first_event: bool) -> Self {
        Self {
            flag_first_event,
            events: 0,
            progress: Progress::Open,
            state: None,
            task_id: SmallText::default(),
            tolerated: Tolerated::default(),
        }
    }

    #[inline]
    pub(in crate::wire) fn progress(&self) -> Progress {
        self.progress
    }

    #[inline]
    pub(in crate::wire) fn events(&self) -> u64 {
        self.events
    }

    #[inline]
    pub(in crate::wire) fn state(&self) -> Option<TaskState> {
        self.state
    }

    /// An id that was cut is none: it would be another task's.
    #[inline]
    pub(in crate::wire) fn task_id(&self) -> Option<&str> {
        (!self.task_id.is_empty() && !self.task_id.is_truncated()).then(|| self.task_id.as_str())
    }

    #[inline]
    pub(in crate::wire) fn tolerated(&self) -> Tolerated {
        self.tolerated
    }

    pub(in crate::wire) fn tolerate(&mut self, what: Tolerated) {
        self.tolerated.insert(what);
    }

    /// An event that says what one before it said.
    #[inline]
    pub(in crate::wire) fn note_repeated(&mut self, news: News) {
        self.events += 1;
        self.note_news(news);
    }

    /// An event that nobody read.
    pub(in crate::wire) fn note_unread(&mut self, why: Tolerated) {
        self.events += 1;
        self.tolerated.insert(why);
    }

    /// A valid event; what it says is still to be noted.
    pub(in crate::wire) fn note(&mut self, facts: &Facts) -> News {
        self.tolerated.insert(facts.tolerated);
        let is_first = self.events == 0;
        self.events += 1;
        match facts.kind {
            PayloadKind::Message => {
                if self.task_id.is_empty() {
                    self.progress = Progress::Done;
                } else {
                    self.tolerated.insert(Tolerated::MESSAGE_IN_TASK_STREAM);
                }
                return News::None;
            }
            PayloadKind::Task => {}
            _ if is_first && self.flag_first_event => {
                self.tolerated.insert(Tolerated::FIRST_EVENT_NOT_TASK);
            }
            _ => {}
        }
        if self.task_id.is_empty() {
            self.task_id.clone_from(&facts.task_id);
        } else if self.task_id != facts.task_id {
            self.tolerated.insert(Tolerated::OTHER_TASK_ID);
            return News::None;
        }
        match facts.kind {
            PayloadKind::Task | PayloadKind::StatusUpdate => News::State(facts.state),
            _ => News::None,
        }
    }

    #[inline]
    pub(in crate::wire) fn note_news(&mut self, news: News) {
        if let News::State(state) = news {
            self.state = state;
            self.progress = state.map_or(Progress::Open, progress_of);
        }
    }
}
