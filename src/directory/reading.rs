//! What of a card can be used: skills within bounds, and interfaces that may be called.

use std::sync::Arc;

use tokio::time::Instant;

use super::{Verification, bounds::DirectoryBounds, skill::Skill};
use crate::{
    card::{AgentCard, AgentInterface, CardFlaw, Origin, UrlPolicy},
    card_consistency::HeldCard,
};

/// A card, as far as it can be used.
pub(super) struct Read {
    pub(super) skills: Vec<Skill>,
    pub(super) interfaces: Arc<[AgentInterface]>,
    pub(super) verification: Verification,
    pub(super) fresh_until: Instant,
    /// Skills and interfaces that are not used.
    pub(super) left_out: usize,
}

/// Whether a card has an interface that may be called by who was told of an agent at `origin`.
pub(super) fn first_usable(card: &AgentCard, origin: &Origin, urls: &UrlPolicy) -> Result<(), CardFlaw> {
    let mut first = None;
    for interface in card.interfaces() {
        match interface.check(origin, urls) {
            Ok(()) => return Ok(()),
            Err(flaw) => first = first.or(Some(flaw)),
        }
    }
    // A card is not read without an interface.
    first.map_or(Ok(()), Err)
}

pub(super) fn read(
    held: &HeldCard,
    origin: &Origin,
    urls: &UrlPolicy,
    bounds: &DirectoryBounds,
    believed: bool,
) -> Result<Read, CardFlaw> {
    let card = held.card();
    first_usable(card, origin, urls)?;
    let usable = card.interfaces().iter().filter(|interface| interface.check(origin, urls).is_ok());
    let interfaces: Arc<[AgentInterface]> = usable.take(bounds.interfaces).cloned().collect();
    let mut skills: Vec<Skill> = Vec::new();
    let modes = (card.default_input_modes(), card.default_output_modes());
    for skill in card.skills() {
        if skills.len() >= bounds.skills {
            break;
        }
        // Of two with one id, the first counts.
        if !skills.iter().any(|known| *known.id == *skill.id()) {
            skills.extend(Skill::of_card(skill, modes, bounds));
        }
    }
    let left_out = card.skills().len() - skills.len() + card.interfaces().len() - interfaces.len();
    let at_its_host = held.transport().is_some_and(|transport| is_host(transport.host(), origin));
    let verification = match believed {
        true => Verification::Card,
        false if at_its_host => Verification::Transport,
        false => Verification::None,
    };
    Ok(Read { skills, interfaces, verification, fresh_until: held.fresh_until(), left_out })
}

/// Brackets make no difference to an IPv6 address, nor case to a name.
fn is_host(verified: &str, origin: &Origin) -> bool {
    let authority = origin.authority();
    let (host, _) = crate::words::host_and_port(&authority);
    let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    bare(host) == bare(verified)
}
