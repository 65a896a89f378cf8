//! What came where an event was due: an error, or one document without a frame.

use bytes::Bytes;
use http::{HeaderValue, header::CONTENT_TYPE};

use super::Rest;
use crate::{
    error::{CallError, PeerResponse},
    outcome::{Class, Observe, OutcomeKind},
    terminal_state::{answer::StreamExpected, judging, pieces::event_of, shape},
    wire::{Facts, Judge, MediaType, PeerError, Tolerated, Verdict, sse::event_data},
};

impl<O> Rest<O>
where
    O: Observe,
{
    /// The event that is held is an error.
    pub(super) fn refused(&mut self) {
        let raw = self.held.prefix(self.held.len());
        let data = event_data(&raw);
        self.refuse(&data, raw.slice(..raw.len().min(self.timed.get().limits().max_refusal)), raw.len());
    }

    fn refuse(&mut self, data: &[u8], kept: Bytes, len: usize) {
        let StreamExpected::Events(expected) = self.expected else { return };
        self.note_seen();
        let mut judge = Judge::new(expected);
        judge.feed(data);
        judge.finish(self.timed.get().id());
        self.timed.as_mut().flight().seen.tolerated.insert(judge.facts().tolerated);
        let max = self.timed.get().limits().max_refusal;
        let mut failure = self.timed.get().failure(OutcomeKind::Refused, Class::PeerError, "the peer refused");
        let peer = match data.get(..=max) {
            Some(_) => PeerError::scan(data),
            None => PeerError::parse(data, MediaType::Json),
        };
        failure.peer = peer.map(Box::new);
        failure.seen.retry_after = judging::retry_after(&self.headers);
        failure.response = Some(PeerResponse {
            status: self.timed.get().status(),
            headers: self.headers.clone(),
            truncated: kept.len() < len,
            body: kept,
            trailers: None,
        });
        self.fail(CallError::new(failure));
    }

    /// A JSON document under the media type of streams: an error in it is the peer's answer all the same.
    pub(super) fn unframed(&mut self) {
        let StreamExpected::Events(expected) = self.expected else { return };
        let mut judge = Judge::new(shape::downgraded(expected));
        self.held.iter().for_each(|piece| judge.feed(piece));
        match judge.finish(self.timed.get().id()) {
            Verdict::Error => {
                let kept = self.held.prefix(self.timed.get().limits().max_refusal);
                self.refuse(&kept.clone(), kept, self.held.len());
            }
            Verdict::Valid => self.downgraded(judge.facts()),
            Verdict::Flawed(flaw) => self.flawed(flaw),
        }
    }

    /// One result stands where a stream was asked: refused, or adapted into its one event.
    fn downgraded(&mut self, facts: &Facts) {
        let adapts = self.timed.get().config.adapt_downgrade;
        self.timed.as_mut().flight().note_facts(facts);
        if !adapts {
            let error = self.timed.get().broken(Class::SilentDowngrade, "one JSON result where a stream was asked");
            return self.fail(error);
        }
        let seen = &mut self.timed.as_mut().flight().seen;
        seen.events = 1;
        seen.tolerated.insert(Tolerated::DOWNGRADE_ADAPTED);
        if let Some(head) = &mut self.head {
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        }
        self.out.push(event_of(&self.held));
        self.held.clear();
        self.timed.as_mut().flight().succeed_as_seen();
        self.over = true;
    }
}
