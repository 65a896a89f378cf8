//! Frames come, and what is good of them goes out.

use bytes::Bytes;
use http::HeaderMap;

use super::Rest;
use crate::{
    outcome::{Class, Observe},
    wire::StepKind,
};

impl<O> Rest<O>
where
    O: Observe,
{
    /// What goes out next of what was collected.
    pub(super) fn next_out(&mut self) -> Option<Bytes> {
        let bytes = self.out.pop()?;
        if !self.event_in_out {
            self.timed.as_mut().flight().hand_out_without_event();
        }
        if self.out.is_empty() {
            self.event_in_out = false;
        }
        Some(bytes)
    }

    /// A frame came. True if it goes on as it is; else all of it was taken.
    #[inline(always)]
    pub(super) fn frame_came(&mut self, data: &mut Bytes) -> bool {
        self.timed.as_mut().flight().note_frame(data.len());
        let passes = self.take_in(data);
        if !self.over
            && self.rescue.is_none()
            && let Some(due) = self.timed.as_mut().flight().check_bounds()
        {
            if passes {
                self.keep(std::mem::take(data));
            }
            self.bound_reached(due);
            return false;
        }
        passes
    }

    /// A frame that could go on as it is has to wait after all.
    pub(super) fn keep(&mut self, data: Bytes) {
        self.out.push(data);
        self.event_in_out = true;
    }

    pub(super) fn trailers_came(&mut self, trailers: Option<HeaderMap>) {
        self.trailers = trailers;
        self.timed.as_mut().flight().note_frame(0);
        if self.is_grpc() {
            return self.messages_ended();
        }
        if let Some(due) = self.timed.as_mut().flight().check_bounds() {
            self.bound_reached(due);
        }
    }

    /// Judges a frame: what is found good goes out, what is unfinished is held. True if the whole of it is good events,
    /// with nothing before it to wait for: then it is left where it is.
    fn take_in(&mut self, data: &mut Bytes) -> bool {
        let mut at = 0;
        let mut good = 0;
        let mut event_end = 0;
        while at < data.len() && !self.judge.passes_all() {
            let step = self.judge.step(&data[at..], self.timed.get().id());
            at += step.consumed;
            match step.kind {
                StepKind::Event => {
                    if self.strict
                        && let Some(error) = self.strictly()
                    {
                        self.let_out(data.split_to(good));
                        self.fail(error);
                        return false;
                    }
                    good = at;
                    event_end = at;
                    self.event_ended();
                }
                StepKind::Boundary => {
                    good = at;
                    if self.is_prelude_too_long(&data[..at]) {
                        let error = self.timed.get().broken(Class::TooLarge, "comments without end, and no event");
                        self.fail(error);
                        return false;
                    }
                }
                StepKind::Held => break,
                StepKind::Error => {
                    self.let_out(data.split_to(good));
                    self.held.push(data.split_to(at - good));
                    self.refused();
                    return false;
                }
                StepKind::Flawed(flaw) => {
                    self.let_out(data.split_to(good));
                    self.held.push(data.split_to(at - good));
                    self.flawed(flaw);
                    return false;
                }
            }
        }
        self.prelude = self.prelude.saturating_add(data.len());
        if event_end > 0 && event_end == data.len() && self.held.is_empty() && self.out.is_empty() {
            self.event_in_out = false;
            return true;
        }
        if event_end > 0 && event_end < data.len() {
            self.timed.as_mut().flight().note_bytes_behind_event();
        }
        let mut data = std::mem::take(data);
        // Behind the end of the task nothing is judged any more, and all of it passes.
        if good == data.len() || self.judge.passes_all() {
            self.let_out(data);
        } else {
            self.let_out(data.split_to(good));
            self.held.push(data);
        }
        false
    }

    /// Comments that come before the first event are kept for the caller, but not without end. A line feed at the end
    /// does not count: a cut may have separated it from its carriage return.
    fn is_prelude_too_long(&self, frame: &[u8]) -> bool {
        let comments = frame.strip_suffix(b"\n").unwrap_or(frame).len();
        self.timed.get().seen.events == 0 && self.prelude.saturating_add(comments) > self.timed.get().limits().max_event
    }

    /// What was held and `data` behind it may go out.
    fn let_out(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        if !self.held.is_empty() {
            self.held.append_to(&mut self.out);
        }
        self.out.push(data);
    }
}
