//! One line that an operator can act on.

use std::fmt;

use super::{CallError, Failure, chain, place::place};
use crate::{call::Binding, outcome::OutcomeKind, wire::text::escape};

/// At most so many characters of a peer's text in a message.
const PEER_TEXT: usize = 120;
/// The longest of gRPC's names has 19.
const STATUS_NAME: usize = 32;

/// At most so many skills.
const SKILLS: usize = 8;

/// `outcome/class: what happened; shape at target, elapsed in; the task; what to do`.
pub(super) fn line(failure: &Failure, error: &CallError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}/{}: ", failure.kind, failure.class)?;
    cause(failure, error, f)?;
    write!(f, "; {}", failure.call.shape())?;
    if let Some(target) = failure.call.target() {
        write!(f, " at {}", place(target))?;
    }
    write!(f, ", {} ms in", failure.elapsed.as_millis())?;
    if let Some(task_id) = error.task_id() {
        write!(f, "; task {}", escape(task_id, 64))?;
        if let Some(state) = error.task_state() {
            write!(f, " was {state}")?;
        }
    }
    write!(f, "; retry {}", error.retry())?;
    if let Some(after) = error.retry_after() {
        write!(f, " {} s", after.as_secs_f64())?;
    }
    let next = error.next_operations();
    if let Some((first, others)) = next.split_first() {
        write!(f, ", next {first}")?;
        for operation in others {
            write!(f, " or {operation}")?;
        }
    }
    if let Some(mistake) = failure.call.order_mistake() {
        write!(f, "; the layers are out of order: {mistake}")?;
    }
    Ok(())
}

fn cause(failure: &Failure, error: &CallError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(card) = failure.card.as_deref() {
        return write!(f, "{card}");
    }
    if let Some(bound) = failure.bound {
        write!(f, "{} within {} ms", failure.what, bound.as_millis())?;
        return status(failure, f);
    }
    if let Some(peer) = failure.peer.as_deref() {
        match error.a2a_error() {
            Some(a2a) if matches!(failure.kind, OutcomeKind::Refused | OutcomeKind::Stale) => {
                f.write_str(a2a.name())?
            }
            _ => f.write_str(failure.what)?,
        }
        if let Some(code) = peer.code {
            write!(f, " {code}")?;
        } else if let (Some(Binding::Grpc), Some(status)) = (failure.call.binding(), &peer.status) {
            write!(f, " gRPC {}", escape(status, STATUS_NAME))?;
        }
        if let Some(status) = failure.telling_status() {
            write!(f, " under HTTP {}", status.as_u16())?;
        }
        if let Some(message) = &peer.message {
            write!(f, " \"{}\"", escape(message, PEER_TEXT))?;
        }
        return if failure.kind == OutcomeKind::Stale { skill(failure, error, f) } else { Ok(()) };
    }
    f.write_str(failure.what)?;
    if let Some(got) = &failure.got {
        write!(f, " ({})", escape(got, PEER_TEXT))?;
    }
    status(failure, f)?;
    if let Some(source) = failure.source() {
        let (outer, inner) = (source.to_string(), chain(source).last().map(ToString::to_string));
        write!(f, ": {}", escape(&outer, PEER_TEXT))?;
        // What a client says is often not why: that stands at the end of the chain.
        if let Some(inner) = inner.filter(|inner| !outer.contains(inner.as_str())) {
            write!(f, ": {}", escape(&inner, PEER_TEXT))?;
        }
    }
    Ok(())
}

/// Which skill is not here, and which are.
fn skill(failure: &Failure, error: &CallError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(skill) = failure.call.skill() {
        write!(f, ", about skill {}", escape(skill, 64))?;
    }
    if let Some(region) = error.region() {
        write!(f, " in region {}", escape(region, 64))?;
    }
    if let Some(skills) = error.available_skills() {
        f.write_str(", which has ")?;
        match skills.split_first() {
            None => f.write_str("none")?,
            Some((first, others)) => {
                write!(f, "{}", escape(first, 64))?;
                for other in others.iter().take(SKILLS - 1) {
                    write!(f, ", {}", escape(other, 64))?;
                }
                if skills.len() > SKILLS {
                    write!(f, " and {} more", skills.len() - SKILLS)?;
                }
            }
        }
    }
    Ok(())
}

/// A status for who looks for the cause.
fn status(failure: &Failure, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match failure.telling_status() {
        Some(status) => write!(f, ", HTTP {}", status.as_u16()),
        None => Ok(()),
    }
}
