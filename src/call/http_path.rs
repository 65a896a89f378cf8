//! How HTTP+JSON spells the operations: the end of a path, whatever base path, `/v1` or `/{tenant}` stands in front
//! (A2A 1.0 §11.3).

use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{Operation, ProtocolVersion, naming::tenant_in};

/// What the end of a path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathName<'a> {
    /// `None`: the path has the binding's form, but the verb is nobody's.
    pub(crate) operation: Option<Operation>,
    /// The task's id, percent-encoded as it stands.
    pub(crate) task_id: Option<&'a str>,
    /// What stands in front of the operation, without a slash at its end: base path, `/v1`, tenant.
    pub(crate) prefix: &'a str,
}

/// Reads the operation off `path`; `None` if the path is no HTTP+JSON one.
pub(crate) fn name<'a>(method: &Method, path: &'a str) -> Option<PathName<'a>> {
    // These ask about a resource; they exercise nothing.
    if matches!(*method, Method::HEAD | Method::OPTIONS) {
        return None;
    }
    let (before, last) = split_last_segment(path)?;
    if let Some(verb) = after_colon(last, "message") {
        let operation = match verb {
            "send" => Some(Operation::SendMessage),
            "stream" => Some(Operation::SendStreamingMessage),
            _ => None,
        };
        return Some(PathName { operation, task_id: None, prefix: before });
    }
    let named = |operation, task_id, prefix| Some(PathName { operation: Some(operation), task_id, prefix });
    match (last, method) {
        ("tasks", &Method::GET) => return named(Operation::ListTasks, None, before),
        ("extendedAgentCard", &Method::GET) => return named(Operation::GetExtendedAgentCard, None, before),
        ("card", &Method::GET) if before.ends_with("/v1") => {
            return named(Operation::GetExtendedAgentCard, None, before);
        }
        _ => {}
    }
    let (above, parent) = split_last_segment(before)?;
    if parent == "tasks" && !last.is_empty() {
        return Some(on_task(method, last, above));
    }
    if last == "pushNotificationConfigs" {
        let (root, tasks) = split_last_segment(above)?;
        let operation = match *method {
            Method::GET => Operation::ListTaskPushNotificationConfigs,
            _ => Operation::CreateTaskPushNotificationConfig,
        };
        return (tasks == "tasks").then_some(PathName {
            operation: Some(operation),
            task_id: Some(parent),
            prefix: root,
        });
    }
    if parent == "pushNotificationConfigs" {
        let (over, task) = split_last_segment(above)?;
        let (root, tasks) = split_last_segment(over)?;
        let operation = match *method {
            Method::DELETE => Operation::DeleteTaskPushNotificationConfig,
            _ => Operation::GetTaskPushNotificationConfig,
        };
        return (tasks == "tasks").then_some(PathName {
            operation: Some(operation),
            task_id: Some(task),
            prefix: root,
        });
    }
    None
}

/// A path without its last segment, and that. (`rsplit_once` does the same, at several times the cost.)
fn split_last_segment(path: &str) -> Option<(&str, &str)> {
    let (before, last) = path.split_at_checked(memchr::memrchr(b'/', path.as_bytes())?)?;
    Some((before, last.get(1..)?))
}

/// What stands in front of the operation in a path that [`name`] understands.
pub(crate) fn operation_prefix<'a>(method: &Method, path: &'a str) -> Option<&'a str> {
    name(method, path).map(|named| named.prefix)
}

/// The tenant of a call, if neither its path nor its query say it: then it stood in the body, as it may since 1.0.
pub(crate) fn tenant_of_body<'a>(
    tenant: Option<&'a str>,
    version: ProtocolVersion,
    prefix: &str,
    query: Option<&str>,
) -> Option<&'a str> {
    let is_elsewhere = |tenant| is_in_path(prefix, tenant) || query.and_then(tenant_in).is_some();
    tenant.filter(|tenant| version >= ProtocolVersion::V1_0 && !is_elsewhere(tenant))
}

/// Of several that were named, which are nobody's together, the path's stands first.
fn is_in_path(prefix: &str, tenant: &str) -> bool {
    prefix.split('/').filter(|segment| !segment.is_empty()).any(|segment| {
        let rest = tenant.strip_prefix(&*percent_decode_str(segment).decode_utf8_lossy());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
    })
}

/// A path with its query, and a tenant in that.
pub(crate) fn with_query(path: String, query: Option<&str>, tenant: Option<&str>) -> String {
    let tenant = tenant.map(|tenant| format!("tenant={}", utf8_percent_encode(tenant, NON_ALPHANUMERIC)));
    let pairs: Vec<_> = query.into_iter().chain(tenant.as_deref()).collect();
    if pairs.is_empty() { path } else { format!("{path}?{}", pairs.join("&")) }
}

/// `tasks/{id}` and `tasks/{id}:{verb}`. An id may hold colons of its own, so only a known verb ends it on a GET.
fn on_task<'a>(method: &Method, last: &'a str, prefix: &'a str) -> PathName<'a> {
    let verb = split_last_colon(last);
    let (operation, task_id) = match verb {
        Some((id, "cancel")) => (Some(Operation::CancelTask), id),
        Some((id, "subscribe")) => (Some(Operation::SubscribeToTask), id),
        _ if *method == Method::GET => (Some(Operation::GetTask), last),
        Some((id, _)) => (None, id),
        None => (None, last),
    };
    PathName { operation, task_id: Some(task_id), prefix }
}

/// The verb of `word:verb`, the colon also as `%3A`.
fn after_colon<'a>(segment: &'a str, word: &str) -> Option<&'a str> {
    let rest = segment.strip_prefix(word)?;
    rest.strip_prefix(':').or_else(|| rest.strip_prefix("%3A")).or_else(|| rest.strip_prefix("%3a"))
}

fn split_last_colon(segment: &str) -> Option<(&str, &str)> {
    segment.rsplit_once(':').or_else(|| segment.rsplit_once("%3A")).or_else(|| segment.rsplit_once("%3a"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(method: &str, path: &'a str) -> Option<(Option<Operation>, Option<&'a str>, &'a str)> {
        let method = Method::from_bytes(method.as_bytes()).ok()?;
        name(&method, path).map(|n| (n.operation, n.task_id, n.prefix))
    }

    #[test]
    fn the_end_of_the_path_names_the_operation() {
        use Operation as O;
        let table = [
            ("POST", "/message:send", Some(O::SendMessage), None, ""),
            ("POST", "/rest/v1/message:stream", Some(O::SendStreamingMessage), None, "/rest/v1"),
            ("POST", "/acme/message%3Asend", Some(O::SendMessage), None, "/acme"),
            ("PUT", "/message:send", Some(O::SendMessage), None, ""),
            ("POST", "/message:frobnicate", None, None, ""),
            ("GET", "/tasks", Some(O::ListTasks), None, ""),
            ("GET", "/a/b/tasks/t-1", Some(O::GetTask), Some("t-1"), "/a/b"),
            ("GET", "/tasks/urn:task:7", Some(O::GetTask), Some("urn:task:7"), ""),
            ("POST", "/tasks/urn:task:7:cancel", Some(O::CancelTask), Some("urn:task:7"), ""),
            ("POST", "/tasks/t:subscribe", Some(O::SubscribeToTask), Some("t"), ""),
            ("GET", "/tasks/t%3asubscribe", Some(O::SubscribeToTask), Some("t"), ""),
            ("POST", "/tasks/x:frobnicate", None, Some("x"), ""),
            (
                "POST",
                "/v1/tasks/t/pushNotificationConfigs",
                Some(O::CreateTaskPushNotificationConfig),
                Some("t"),
                "/v1",
            ),
            ("GET", "/tasks/t/pushNotificationConfigs", Some(O::ListTaskPushNotificationConfigs), Some("t"), ""),
            ("GET", "/tasks/t/pushNotificationConfigs/c", Some(O::GetTaskPushNotificationConfig), Some("t"), ""),
            ("DELETE", "/tasks/t/pushNotificationConfigs/c", Some(O::DeleteTaskPushNotificationConfig), Some("t"), ""),
            ("GET", "/extendedAgentCard", Some(O::GetExtendedAgentCard), None, ""),
            ("GET", "/rest/v1/card", Some(O::GetExtendedAgentCard), None, "/rest/v1"),
        ];
        for (method, path, operation, task, prefix) in table {
            assert_eq!(read(method, path), Some((operation, task, prefix)), "{method} {path}");
        }
    }

    #[test]
    fn a_tenant_that_neither_path_nor_query_name_stood_in_the_body() {
        let of = |tenant, prefix, query| tenant_of_body(Some(tenant), ProtocolVersion::V1_0, prefix, query);
        for (prefix, query, in_body) in [
            ("/acme", None, false),
            ("/base/a%63me", None, false),
            ("", Some("x=1&tenant=acme"), false),
            ("", Some("ten%61nt=other"), false),
            ("", None, true),
            ("", Some("tenant="), true),
            ("/acmes", Some("tenants=acme"), true),
            ("/base", Some("x=acme"), true),
        ] {
            assert_eq!(of("acme", prefix, query), in_body.then_some("acme"), "{prefix} {query:?}");
        }
        assert!(of("acme,evil", "/acme", None).is_none() && of("acme,evil", "/ac", None).is_some());
        assert!(tenant_of_body(Some("acme"), ProtocolVersion::V0_3, "", None).is_none());
    }

    #[test]
    fn other_paths_are_not_named() {
        for (method, path) in [
            ("POST", "/"),
            ("POST", "/a2a"),
            ("GET", "/.well-known/agent-card.json"),
            ("POST", "/tasks"),
            ("GET", "/tasks/"),
            ("GET", "/business/card"),
            ("GET", "/x/pushNotificationConfigs"),
            ("OPTIONS", "*"),
            ("OPTIONS", "/message:send"),
            ("HEAD", "/tasks/t"),
        ] {
            assert_eq!(read(method, path), None, "{method} {path}");
        }
    }
}
