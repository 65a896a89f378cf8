//! Requests that are like one before, and need not be scanned.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{Known, Told, is_noted, is_quoted};
use crate::wire::id::JsonRpcId;
use crate::wire::json::JsonKind;
use crate::wire::judge::Envelope;
use crate::wire::request::{RequestFacts, RequestScan};

/// What requests look like. All of them were scanned for the same keys of skill and region.
#[derive(Debug, Default)]
pub(crate) struct KnownRequests(Known<Envelope, RequestFacts>);

/// What is known of a request that is like one before.
#[derive(Debug)]
pub(crate) struct KnownRequest<'a> {
    document: &'a [u8],
    facts: &'a RequestFacts,
    told: Told,
}

impl KnownRequest<'_> {
    /// What it says as well as that one.
    pub(crate) fn facts(&self) -> &RequestFacts {
        self.facts
    }

    /// What it says in the place of what that one said.
    pub(crate) fn own(&self) -> OwnWords<'_> {
        let text = |place: &Option<Range<usize>>| {
            place.as_ref().and_then(|place| std::str::from_utf8(self.document.get(place.clone())?).ok())
        };
        OwnWords {
            id: self.told.id.as_ref().map(|place| id_at(self.document, place)),
            task_id: text(&self.told.task_id),
            context_id: text(&self.told.context_id),
        }
    }
}

/// What a request says otherwise than the one that it is like.
#[derive(Debug, Default)]
pub(crate) struct OwnWords<'a> {
    pub(crate) id: Option<JsonRpcId>,
    pub(crate) task_id: Option<&'a str>,
    pub(crate) context_id: Option<&'a str>,
}

impl KnownRequests {
    /// What is known of a request that is like one before, with the whole of `document`.
    #[inline]
    pub(crate) fn find<'a>(&'a mut self, envelope: Envelope, document: &'a [u8]) -> Option<KnownRequest<'a>> {
        let (facts, told) = self.0.find(envelope, document, |_| true)?;
        Some(KnownRequest { document, facts, told })
    }

    /// Learns of a request that is like no other, if that promises to be worth it. `scan` gives a new one.
    pub(crate) fn learn(&mut self, envelope: Envelope, document: &[u8], scan: impl FnOnce() -> RequestScan) {
        let Some(kind) = self.0.next_to_learn(envelope, document) else { return };
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
fn id_at(document: &[u8], place: &Range<usize>) -> JsonRpcId {
    let kind = if is_quoted(document, place) { JsonKind::String } else { JsonKind::Number };
    JsonRpcId::from_scalar(kind, document.get(place.clone()).unwrap_or_default(), false)
}
