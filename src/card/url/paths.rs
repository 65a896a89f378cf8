//! Paths that are no place to send calls to: one operation's, or the card's own.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Whether a path is that of one operation of HTTP+JSON (A2A 1.0 §11.3), under whatever base path.
///
/// Every other operation would fail there. `…/tasks/{id}` and its push notification configurations count; `…/tasks`
/// alone does not, for that may be an agent's name.
pub(super) fn is_operation(path: &str) -> bool {
    let segments = last_segments(path);
    match segments.as_slice() {
        [.., last] if matches!(&**last, "message:send" | "message:stream" | "extendedAgentCard") => return true,
        [.., v1, card] if v1 == "v1" && card == "card" => return true,
        _ => {}
    }
    let below = match segments.iter().rposition(|segment| segment == "tasks") {
        Some(tasks) => segments.get(tasks + 1..).unwrap_or_default(),
        None => return false,
    };
    match below {
        [_] => true,
        [_, configs] | [_, configs, _] => configs == "pushNotificationConfigs",
        _ => false,
    }
}

/// Whether a path is that of an Agent Card (A2A 1.0 §8.2; 0.2 called it `agent.json`).
pub(super) fn is_card(path: &str) -> bool {
    last_segments(path).last().is_some_and(|last| last == "agent-card.json" || last == "agent.json")
}

/// The last few segments, decoded, without empty ones at the end. No operation needs more of them.
fn last_segments(path: &str) -> Vec<Cow<'_, str>> {
    const MOST: usize = 4;

    let last = path.trim_end_matches('/').rsplit('/').take(MOST);
    let mut segments: Vec<_> = last.map(|segment| percent_decode_str(segment).decode_utf8_lossy()).collect();
    segments.reverse();
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_told_from_base_paths() {
        for path in [
            "/message:send",
            "/a2a/agents/x/v1/message:stream",
            "/message%3Asend",
            "/message%3astream/",
            "/tasks/t-1",
            "/rest/v1/tasks/t:cancel",
            "/tasks/%7Bid%7D:subscribe",
            "/tasks/t/pushNotificationConfigs",
            "/tasks/t/pushNotificationConfigs/c",
            "/tasks/send",
            "/extendedAgentCard",
            "/v1/card",
        ] {
            assert!(is_operation(path), "{path}");
        }
        for path in [
            "/",
            "",
            "/a2a",
            "/v1",
            "/v1/",
            "/tasks",
            "/tasks/",
            "/agents/tasks",
            "/tasks/x/y",
            "/tasks/a/b/c/d",
            "/message",
            "/message:sender",
            "/message:send/rpc",
            "/Message:Send",
            "/business/card",
        ] {
            assert!(!is_operation(path), "{path}");
        }
    }

    #[test]
    fn card_paths_are_told_from_agents() {
        for path in ["/.well-known/agent-card.json", "/a/.well-known/agent.json", "/agent%2Djson/agent.json/"] {
            assert!(is_card(path), "{path}");
        }
        for path in ["/", "/agent", "/agent-card", "/.well-known/agent-card.json/rpc", "/.well-known"] {
            assert!(!is_card(path), "{path}");
        }
    }
}
