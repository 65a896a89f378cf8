//! How gRPC spells the operations: `/{package}.A2AService/{method}` (A2A 1.0 §10.2).

use http::Extensions;

use super::{Operation, ProtocolVersion};
use crate::wire::grpc::{GrpcDialect, RequestLayout};

const SERVICE_V1: &str = "lf.a2a.v1.A2AService";
const SERVICE_V03: &str = "a2a.v1.A2AService";

/// Operation, its method in 1.0, and in 0.3 if it is there.
const METHODS: [(Operation, &str, Option<&str>); Operation::COUNT] = {
    use Operation as O;
    [
        (O::SendMessage, "SendMessage", Some("SendMessage")),
        (O::SendStreamingMessage, "SendStreamingMessage", Some("SendStreamingMessage")),
        (O::GetTask, "GetTask", Some("GetTask")),
        (O::ListTasks, "ListTasks", None),
        (O::CancelTask, "CancelTask", Some("CancelTask")),
        (O::SubscribeToTask, "SubscribeToTask", Some("TaskSubscription")),
        (
            O::CreateTaskPushNotificationConfig,
            "CreateTaskPushNotificationConfig",
            Some("CreateTaskPushNotificationConfig"),
        ),
        (O::GetTaskPushNotificationConfig, "GetTaskPushNotificationConfig", Some("GetTaskPushNotificationConfig")),
        (O::ListTaskPushNotificationConfigs, "ListTaskPushNotificationConfigs", Some("ListTaskPushNotificationConfig")),
        (
            O::DeleteTaskPushNotificationConfig,
            "DeleteTaskPushNotificationConfig",
            Some("DeleteTaskPushNotificationConfig"),
        ),
        (O::GetExtendedAgentCard, "GetExtendedAgentCard", Some("GetAgentCard")),
    ]
};

/// What a gRPC path says, or what tonic says beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GrpcName {
    /// `None`: a method of the service that is none of A2A's.
    pub(crate) operation: Option<Operation>,
    pub(crate) version: ProtocolVersion,
}

/// What a request is for: by its path, which is what the agent goes by, and else by what tonic's generated clients put
/// into the extensions. Middleware that writes paths anew leaves that as it was.
pub(super) fn name_of(path: &str, extensions: &Extensions) -> Option<GrpcName> {
    match name(path) {
        Some(named) if named.operation.is_some() => Some(named),
        named => beside(extensions).or(named),
    }
}

/// What tonic's `GrpcMethod` says, if it names an operation.
#[cfg(feature = "tonic")]
#[cold]
fn beside(extensions: &Extensions) -> Option<GrpcName> {
    let method = extensions.get::<tonic::GrpcMethod<'static>>()?;
    named(method.service(), method.method()).filter(|named| named.operation.is_some())
}

#[cfg(not(feature = "tonic"))]
const fn beside(_: &Extensions) -> Option<GrpcName> {
    None
}

/// Reads the operation off `path`, whatever stands in front of the service; `None` if it is another service's.
pub(crate) fn name(path: &str) -> Option<GrpcName> {
    let (before, method) = path.split_at_checked(memchr::memrchr(b'/', path.as_bytes())?)?;
    let service = before.get(memchr::memrchr(b'/', before.as_bytes())? + 1..)?;
    named(service, method.get(1..)?)
}

#[inline]
fn named(service: &str, method: &str) -> Option<GrpcName> {
    let (version, is_1) = match service {
        SERVICE_V1 => (ProtocolVersion::V1_0, true),
        SERVICE_V03 => (ProtocolVersion::V0_3, false),
        _ => return None,
    };
    let is_it =
        |&&(_, v1, v03): &&(Operation, &str, Option<&str>)| if is_1 { v1 == method } else { v03 == Some(method) };
    Some(GrpcName { operation: METHODS.iter().find(is_it).map(|&(operation, ..)| operation), version })
}

/// What stands in front of the service, and the rest.
pub(crate) fn split(path: &str) -> (&str, &str) {
    let service = |path: &str| {
        let method = memchr::memrchr(b'/', path.as_bytes())?;
        memchr::memrchr(b'/', path.get(..method)?.as_bytes())
    };
    service(path).and_then(|at| path.split_at_checked(at)).unwrap_or(("", path))
}

/// Whose messages go to `path`: the package says it.
pub(crate) fn dialect_at(path: &str) -> Option<GrpcDialect> {
    name(path).map(|name| dialect_of(Some(name.version)))
}

/// The method of another operation, at the place of `path`.
pub(crate) fn path_beside(path: &str, operation: Operation) -> Option<String> {
    let version = name(path)?.version;
    let method = method_of(operation, version)?;
    let service = path.get(..=memchr::memrchr(b'/', path.as_bytes())?)?;
    Some(format!("{service}{method}"))
}

/// How `version` spells `operation`.
pub(crate) fn method_of(operation: Operation, version: ProtocolVersion) -> Option<&'static str> {
    let &(_, v1, v03) = METHODS.iter().find(|(known, ..)| *known == operation)?;
    if version >= ProtocolVersion::V1_0 { Some(v1) } else { v03 }
}

/// Whose messages a version's are.
pub(crate) fn dialect_of(version: Option<ProtocolVersion>) -> GrpcDialect {
    match version {
        Some(version) if version < ProtocolVersion::V1_0 => GrpcDialect::V03,
        _ => GrpcDialect::V1,
    }
}

/// Which fields the request of an operation has.
pub(crate) fn layout_of(operation: Operation, version: Option<ProtocolVersion>) -> RequestLayout {
    use Operation as O;
    match (dialect_of(version), operation) {
        (GrpcDialect::V1, O::SendMessage | O::SendStreamingMessage) => RequestLayout::V1_SEND,
        (GrpcDialect::V1, O::GetTask | O::SubscribeToTask) => RequestLayout::V1_TASK,
        (GrpcDialect::V1, O::CancelTask) => RequestLayout::V1_CANCEL,
        (GrpcDialect::V1, O::ListTasks) => RequestLayout::V1_LIST_TASKS,
        (GrpcDialect::V1, O::CreateTaskPushNotificationConfig) => RequestLayout::V1_CREATE_PUSH,
        (GrpcDialect::V1, O::GetTaskPushNotificationConfig | O::DeleteTaskPushNotificationConfig) => {
            RequestLayout::V1_PUSH
        }
        (GrpcDialect::V1, O::ListTaskPushNotificationConfigs) => RequestLayout::V1_LIST_PUSH,
        (GrpcDialect::V1, O::GetExtendedAgentCard) => RequestLayout::V1_CARD,
        (GrpcDialect::V03, O::SendMessage | O::SendStreamingMessage) => RequestLayout::V03_SEND,
        // 0.3 lists no tasks.
        (GrpcDialect::V03, O::GetExtendedAgentCard | O::ListTasks) => RequestLayout::V03_CARD,
        (GrpcDialect::V03, _) => RequestLayout::V03_NAME,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<(Option<Operation>, ProtocolVersion)> {
        name(path).map(|name| (name.operation, name.version))
    }

    #[test]
    fn the_service_tells_the_version_and_the_method_the_operation() {
        use Operation as O;
        let (v1, v03) = (ProtocolVersion::V1_0, ProtocolVersion::V0_3);
        assert_eq!(read("/lf.a2a.v1.A2AService/SendMessage"), Some((Some(O::SendMessage), v1)));
        assert_eq!(read("/a2a.v1.A2AService/SendMessage"), Some((Some(O::SendMessage), v03)));
        assert_eq!(read("/a2a.v1.A2AService/TaskSubscription"), Some((Some(O::SubscribeToTask), v03)));
        assert_eq!(read("/a2a.v1.A2AService/GetAgentCard"), Some((Some(O::GetExtendedAgentCard), v03)));
        assert_eq!(
            read("/a2a.v1.A2AService/ListTaskPushNotificationConfig"),
            Some((Some(O::ListTaskPushNotificationConfigs), v03))
        );
        // One version's names are not the other's.
        assert_eq!(read("/a2a.v1.A2AService/SubscribeToTask"), Some((None, v03)));
        assert_eq!(read("/lf.a2a.v1.A2AService/TaskSubscription"), Some((None, v1)));
        assert_eq!(read("/a2a.v1.A2AService/ListTasks"), Some((None, v03)));
        assert_eq!(read("/behind/a/proxy/lf.a2a.v1.A2AService/GetTask"), Some((Some(O::GetTask), v1)));
        for other in [
            "",
            "/",
            "/SendMessage",
            "/no.Such/Method",
            "lf.a2a.v1.A2AService/GetTask",
            "/x.lf.a2a.v1.A2AService/GetTask",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_proxys_path_stands_in_front() {
        assert_eq!(split("/lf.a2a.v1.A2AService/GetTask"), ("", "/lf.a2a.v1.A2AService/GetTask"));
        assert_eq!(split("/a/b/lf.a2a.v1.A2AService/GetTask"), ("/a/b", "/lf.a2a.v1.A2AService/GetTask"));
        for odd in ["", "/", "/GetTask", "GetTask", "a/b"] {
            assert_eq!(split(odd), ("", odd));
        }
    }

    #[test]
    fn every_operation_reads_back() {
        for (operation, v1, v03) in METHODS {
            assert_eq!(read(&format!("/{SERVICE_V1}/{v1}")), Some((Some(operation), ProtocolVersion::V1_0)));
            if let Some(v03) = v03 {
                assert_eq!(read(&format!("/{SERVICE_V03}/{v03}")), Some((Some(operation), ProtocolVersion::V0_3)));
            }
        }
    }

    #[test]
    fn other_operations_stand_beside() {
        let beside = |path, operation| path_beside(path, operation);
        assert_eq!(
            beside("/x/lf.a2a.v1.A2AService/SendMessage", Operation::GetTask).as_deref(),
            Some("/x/lf.a2a.v1.A2AService/GetTask")
        );
        assert_eq!(
            beside("/a2a.v1.A2AService/SendMessage", Operation::SubscribeToTask).as_deref(),
            Some("/a2a.v1.A2AService/TaskSubscription")
        );
        assert_eq!(beside("/a2a.v1.A2AService/SendMessage", Operation::ListTasks), None);
        assert_eq!(beside("/no.Such/Method", Operation::GetTask), None);
    }
}
