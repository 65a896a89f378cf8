//! What a request needs, or why it is none that can be delegated.

use http::request::Parts;

use crate::{
    call::{Call, Operation, ProtocolVersion},
    directory::{Need, delegate::Alternatives},
};

/// What is needed, completed by what the request is.
pub(super) fn need_of(parts: &Parts, call: &Call) -> Result<Need, &'static str> {
    let need = match (parts.extensions.get::<Need>(), call.skill()) {
        (Some(need), _) => need.clone(),
        (None, Some(skill)) => Need::skill(skill),
        (None, None) => return Err("it names no need: put a Need into its extensions, or the skill into its Call"),
    };
    let Some(binding) = call.binding() else {
        return Err("nobody can tell what it is written in: put CallLayer above, or a Call into its extensions");
    };
    if !call.operation().is_some_and(Operation::is_send) || !call.begins_task() {
        return Err("it is about a task, and belongs to whoever has that: call the URI in Delegated");
    }
    let version = call.version().unwrap_or(ProtocolVersion::V1_0);
    // What the user's need says of it, only the request can know.
    let mut need = need.rewritten().written(binding, version);
    if let Some(alternatives) = parts.extensions.get::<Alternatives>() {
        for one in &alternatives.list {
            need = need.written(one.written.binding, one.written.version);
        }
    }
    if let Some(tenant) = call.tenant() {
        need = need.tenant(tenant);
    }
    Ok(need)
}
