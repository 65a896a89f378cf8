//! How JSON-RPC spells the operations, version by version.

use super::{Operation, ProtocolVersion};

/// Method, operation, and the version that the spelling belongs to.
///
/// `tasks/get`, `tasks/cancel` and `tasks/resubscribe` are spelled alike in 0.3 and 0.2, and answered alike: they
/// count as 0.3.
const METHODS: [(&str, Operation, ProtocolVersion); 25] = {
    use Operation as O;
    use ProtocolVersion as V;
    [
        ("SendMessage", O::SendMessage, V::V1_0),
        ("SendStreamingMessage", O::SendStreamingMessage, V::V1_0),
        ("GetTask", O::GetTask, V::V1_0),
        ("ListTasks", O::ListTasks, V::V1_0),
        ("CancelTask", O::CancelTask, V::V1_0),
        ("SubscribeToTask", O::SubscribeToTask, V::V1_0),
        ("CreateTaskPushNotificationConfig", O::CreateTaskPushNotificationConfig, V::V1_0),
        ("GetTaskPushNotificationConfig", O::GetTaskPushNotificationConfig, V::V1_0),
        ("ListTaskPushNotificationConfigs", O::ListTaskPushNotificationConfigs, V::V1_0),
        ("DeleteTaskPushNotificationConfig", O::DeleteTaskPushNotificationConfig, V::V1_0),
        ("GetExtendedAgentCard", O::GetExtendedAgentCard, V::V1_0),
        ("message/send", O::SendMessage, V::V0_3),
        ("message/stream", O::SendStreamingMessage, V::V0_3),
        ("tasks/get", O::GetTask, V::V0_3),
        ("tasks/cancel", O::CancelTask, V::V0_3),
        ("tasks/resubscribe", O::SubscribeToTask, V::V0_3),
        ("tasks/pushNotificationConfig/set", O::CreateTaskPushNotificationConfig, V::V0_3),
        ("tasks/pushNotificationConfig/get", O::GetTaskPushNotificationConfig, V::V0_3),
        ("tasks/pushNotificationConfig/list", O::ListTaskPushNotificationConfigs, V::V0_3),
        ("tasks/pushNotificationConfig/delete", O::DeleteTaskPushNotificationConfig, V::V0_3),
        ("agent/getAuthenticatedExtendedCard", O::GetExtendedAgentCard, V::V0_3),
        ("tasks/send", O::SendMessage, V::V0_2),
        ("tasks/sendSubscribe", O::SendStreamingMessage, V::V0_2),
        ("tasks/pushNotification/set", O::CreateTaskPushNotificationConfig, V::V0_2),
        ("tasks/pushNotification/get", O::GetTaskPushNotificationConfig, V::V0_2),
    ]
};

/// The operation that a method names, and the version whose spelling it is.
pub(crate) fn operation_of(method: &str) -> Option<(Operation, ProtocolVersion)> {
    METHODS.iter().find(|(name, ..)| *name == method).map(|&(_, operation, version)| (operation, version))
}

/// How `version` spells `operation`; an older spelling serves where the version has none of its own.
pub(crate) fn method_of(operation: Operation, version: ProtocolVersion) -> Option<&'static str> {
    let spelled = |wanted| METHODS.iter().find(|&&(_, o, v)| o == operation && v == wanted).map(|&(name, ..)| name);
    if version >= ProtocolVersion::V1_0 {
        spelled(ProtocolVersion::V1_0)
    } else if version >= ProtocolVersion::V0_3 {
        spelled(ProtocolVersion::V0_3)
    } else {
        spelled(ProtocolVersion::V0_2).or_else(|| spelled(ProtocolVersion::V0_3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_tells_operation_and_version() {
        assert_eq!(operation_of("SendMessage"), Some((Operation::SendMessage, ProtocolVersion::V1_0)));
        assert_eq!(operation_of("message/stream"), Some((Operation::SendStreamingMessage, ProtocolVersion::V0_3)));
        assert_eq!(operation_of("tasks/sendSubscribe"), Some((Operation::SendStreamingMessage, ProtocolVersion::V0_2)));
        assert_eq!(operation_of("sendMessage"), None);
    }

    #[test]
    fn each_version_has_its_own_spelling() {
        assert_eq!(method_of(Operation::GetTask, ProtocolVersion::V1_0), Some("GetTask"));
        assert_eq!(method_of(Operation::GetTask, ProtocolVersion::V0_3), Some("tasks/get"));
        assert_eq!(method_of(Operation::CancelTask, ProtocolVersion::V0_2), Some("tasks/cancel"));
        assert_eq!(method_of(Operation::ListTasks, ProtocolVersion::V0_3), None);
    }
}
