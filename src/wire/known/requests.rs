//! Requests that are like one before, and need not be scanned.

#[cfg(test)]
mod tests;

use super::{Known, is_noted, is_quoted, note};
use crate::wire::id::JsonRpcId;
use crate::wire::json::JsonKind;
use crate::wire::judge::Envelope;
use crate::wire::request::{RequestFacts, RequestScan};

/// What requests look like. All of them were scanned for the same keys of skill and region.
#[derive(Debug, Default)]
pub(crate) struct KnownRequests(Known<Envelope, RequestFacts>);

impl KnownRequests {
    /// What is known of a request that is like one before, with the whole of `document`.
    #[inline]
    pub(crate) fn find(&mut self, envelope: Envelope, document: &[u8]) -> Option<RequestFacts> {
        let (facts, told) = self.0.find(envelope, document, |_| true)?;
        let mut facts = facts.clone();
        if let Some(place) = &told.id {
            facts.id = id_at(document, place);
        }
        note(document, told.task_id.as_ref(), &mut facts.task_id);
        note(document, told.context_id.as_ref(), &mut facts.context_id);
        Some(facts)
    }

    /// Learns of a request that is like no other, if that promises to be worth it. `scan` gives a new one.
    pub(crate) fn learn(&mut self, envelope: Envelope, document: &[u8], scan: impl FnOnce() -> RequestScan) {
        let Some(kind) = self.0.next_to_learn(envelope) else { return };
        let mut scan = scan();
        kind.learn(&mut scan, document);
        scan.finish();
        let is_valid = scan.is_valid();
        let noted = scan.facts();
        // Where the id is told, the one that others are like need not be held.
        let mut says = noted.clone();
        if !matches!(says.id, JsonRpcId::Null | JsonRpcId::Other) {
            says.id = JsonRpcId::Absent;
        }
        kind.settle(document, says, |told| {
            let id = told.id.as_ref().map_or(JsonRpcId::Absent, |place| id_at(document, place));
            is_valid
                && (told.id.is_none() && matches!(noted.id, JsonRpcId::Null | JsonRpcId::Other) || id == noted.id)
                && is_noted(document, told.task_id.as_ref(), &noted.task_id)
                && is_noted(document, told.context_id.as_ref(), &noted.context_id)
        });
    }
}

/// The id that is spelled here.
fn id_at(document: &[u8], place: &std::ops::Range<usize>) -> JsonRpcId {
    let kind = if is_quoted(document, place) { JsonKind::String } else { JsonKind::Number };
    JsonRpcId::from_scalar(kind, document.get(place.clone()).unwrap_or_default(), false)
}
