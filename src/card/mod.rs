//! The Agent Card as read: what an agent says of itself, kept apart from what is believed of it.
//!
//! Everything here is pure: bytes in, values out. No byte of a card makes it panic or recurse, its work grows with the
//! card's length and no faster, and so does the memory it keeps.
//!
//! | step | by |
//! | --- | --- |
//! | read a card of 1.0, 0.3 or 0.2 | [`AgentCard::read`], or a [`CardFlaw`] |
//! | see what was odd about it | [`AgentCard::warnings`], [`AgentCard::strict`] |
//! | choose an interface | [`AgentCard::select`] |
//! | judge its URL | [`AgentInterface::check`] under a [`UrlPolicy`] |
//! | find the interface that a call goes to | [`AgentCard::interface_for`] |
//! | match what the call needs | [`AgentCard::check_operation`], [`AgentCard::check_extensions`] |
//! | compare both sides as values | [`negotiate()`] |
//!
//! ```
//! use a2a_guard::card::AgentCard;
//! use a2a_guard::{Binding, Capability};
//!
//! let card = AgentCard::read(
//!     br#"{"name":"translator","description":"translates","version":"1","skills":[],"defaultInputModes":["text/plain"],
//!         "defaultOutputModes":["text/plain"],"capabilities":{"streaming":true},"supportedInterfaces":[
//!         {"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#,
//! )?;
//! assert!(card.declares(Capability::Streaming) && !card.declares(Capability::PushNotifications));
//! assert!(card.interfaces().iter().any(|interface| interface.binding().known() == Some(Binding::JsonRpc)));
//! // It says less than it should, and is understood all the same.
//! assert!(!card.warnings().is_empty());
//! // A page is none.
//! assert!(AgentCard::read(b"<html>").is_err());
//! # Ok::<(), a2a_guard::card::CardFlaw>(())
//! ```

mod agent_card;
mod details;
mod flaw;
mod interface;
mod json;
mod mismatch;
mod negotiate;
mod read;
mod select;
mod target;
#[cfg(test)]
mod tests;
mod url;
mod warning;

pub use self::{
    agent_card::AgentCard,
    details::{AgentExtension, AgentSkill},
    flaw::{Absence, CardFlaw, NotJson, Party},
    interface::{AgentInterface, Authority, CardBinding, CardVersion, Dialect, Place},
    json::JsonType,
    mismatch::{Mismatch, MismatchField},
    negotiate::{Negotiation, Terms, negotiate},
    select::{ClientSpeaks, Offer, SelectFlaw},
    target::{Found, Target},
    url::{CardUrl, Origin, Scheme, UrlFault, UrlPolicy},
    warning::{Warning, WarningKind},
};
