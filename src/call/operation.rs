use std::fmt;

use super::ProtocolVersion;

/// One of A2A's eleven operations (A2A 1.0 §3.1), however a binding spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// `SendMessage`, `message/send`, `POST /message:send` (§3.1.1).
    SendMessage,
    /// `SendStreamingMessage`, `message/stream`, `POST /message:stream` (§3.1.2).
    SendStreamingMessage,
    /// `GetTask`, `tasks/get`, `GET /tasks/{id}` (§3.1.3).
    GetTask,
    /// `ListTasks`, `GET /tasks` (§3.1.4).
    ListTasks,
    /// `CancelTask`, `tasks/cancel`, `POST /tasks/{id}:cancel` (§3.1.5).
    CancelTask,
    /// `SubscribeToTask`, `tasks/resubscribe`, `/tasks/{id}:subscribe` (§3.1.6).
    SubscribeToTask,
    /// `CreateTaskPushNotificationConfig` (§3.1.7).
    CreateTaskPushNotificationConfig,
    /// `GetTaskPushNotificationConfig` (§3.1.8).
    GetTaskPushNotificationConfig,
    /// `ListTaskPushNotificationConfigs` (§3.1.9).
    ListTaskPushNotificationConfigs,
    /// `DeleteTaskPushNotificationConfig` (§3.1.10).
    DeleteTaskPushNotificationConfig,
    /// `GetExtendedAgentCard` (§3.1.11).
    GetExtendedAgentCard,
}

impl Operation {
    pub(crate) const COUNT: usize = 11;

    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::SendMessage,
        Self::SendStreamingMessage,
        Self::GetTask,
        Self::ListTasks,
        Self::CancelTask,
        Self::SubscribeToTask,
        Self::CreateTaskPushNotificationConfig,
        Self::GetTaskPushNotificationConfig,
        Self::ListTaskPushNotificationConfigs,
        Self::DeleteTaskPushNotificationConfig,
        Self::GetExtendedAgentCard,
    ];

    /// The specification's name of the operation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SendMessage => "SendMessage",
            Self::SendStreamingMessage => "SendStreamingMessage",
            Self::GetTask => "GetTask",
            Self::ListTasks => "ListTasks",
            Self::CancelTask => "CancelTask",
            Self::SubscribeToTask => "SubscribeToTask",
            Self::CreateTaskPushNotificationConfig => "CreateTaskPushNotificationConfig",
            Self::GetTaskPushNotificationConfig => "GetTaskPushNotificationConfig",
            Self::ListTaskPushNotificationConfigs => "ListTaskPushNotificationConfigs",
            Self::DeleteTaskPushNotificationConfig => "DeleteTaskPushNotificationConfig",
            Self::GetExtendedAgentCard => "GetExtendedAgentCard",
        }
    }

    /// The capability that the agent's card must declare for this operation (§3.3.4), if any.
    #[must_use]
    pub const fn needs(self) -> Option<Capability> {
        match self {
            Self::SendStreamingMessage | Self::SubscribeToTask => Some(Capability::Streaming),
            Self::CreateTaskPushNotificationConfig
            | Self::GetTaskPushNotificationConfig
            | Self::ListTaskPushNotificationConfigs
            | Self::DeleteTaskPushNotificationConfig => Some(Capability::PushNotifications),
            Self::GetExtendedAgentCard => Some(Capability::ExtendedAgentCard),
            _ => None,
        }
    }

    /// Whether success is a stream of events.
    #[must_use]
    pub const fn is_streaming(self) -> bool {
        matches!(self, Self::SendStreamingMessage | Self::SubscribeToTask)
    }

    /// Whether the operation hands the agent new work.
    #[must_use]
    pub const fn is_send(self) -> bool {
        matches!(self, Self::SendMessage | Self::SendStreamingMessage)
    }

    /// Whether doing it twice does no harm (§3.3.1: reads and `CancelTask` are idempotent, a send need not be).
    ///
    /// Creating a push configuration twice may leave two of them, so it does not count.
    #[must_use]
    pub const fn is_idempotent(self) -> bool {
        !self.is_send() && !matches!(self, Self::CreateTaskPushNotificationConfig)
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A protocol binding (§5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binding {
    /// JSON-RPC 2.0 over HTTP (§9).
    JsonRpc,
    /// HTTP+JSON, also called REST (§11).
    HttpJson,
    /// gRPC (§10).
    Grpc,
}

impl Binding {
    /// The name that an Agent Card uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
            Self::Grpc => "GRPC",
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A flag of the Agent Card that an operation needs (§4.4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// `capabilities.streaming`.
    Streaming,
    /// `capabilities.pushNotifications`.
    PushNotifications,
    /// `capabilities.extendedAgentCard`.
    ExtendedAgentCard,
}

impl Capability {
    /// The flag's name in the card.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::PushNotifications => "pushNotifications",
            Self::ExtendedAgentCard => "extendedAgentCard",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What exactly was asked under a capability: operation, binding, version and media type. Errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub(crate) operation: Option<Operation>,
    pub(crate) binding: Option<Binding>,
    pub(crate) version: Option<ProtocolVersion>,
}

impl Shape {
    /// The operation, if anyone could name it.
    #[must_use]
    pub const fn operation(&self) -> Option<Operation> {
        self.operation
    }

    /// The binding, if it shows.
    #[must_use]
    pub const fn binding(&self) -> Option<Binding> {
        self.binding
    }

    /// The version of the protocol, if it shows.
    #[must_use]
    pub const fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// The media type that a success has.
    #[must_use]
    pub const fn media_type(&self) -> Option<&'static str> {
        match (self.binding, self.operation) {
            (Some(Binding::Grpc), _) => Some("application/grpc"),
            (Some(_), Some(operation)) if operation.is_streaming() => Some("text/event-stream"),
            (Some(Binding::JsonRpc), _) => Some("application/json"),
            (Some(Binding::HttpJson), _) => Some("application/a2a+json"),
            _ => None,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            Some(operation) => f.write_str(operation.as_str())?,
            None => f.write_str("unnamed operation")?,
        }
        if let Some(binding) = self.binding {
            write!(f, " over {binding}")?;
            if let Some(version) = self.version {
                write!(f, " {version}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_reads_as_a_phrase() {
        let shape = Shape {
            operation: Some(Operation::SendStreamingMessage),
            binding: Some(Binding::JsonRpc),
            version: Some(ProtocolVersion::V1_0),
        };
        assert_eq!(shape.to_string(), "SendStreamingMessage over JSONRPC 1.0");
        assert_eq!(shape.media_type(), Some("text/event-stream"));
        let nothing = Shape { operation: None, binding: None, version: None };
        assert_eq!(nothing.to_string(), "unnamed operation");
    }

    #[test]
    fn only_sends_and_config_creation_may_not_be_repeated() {
        assert!(!Operation::SendMessage.is_idempotent());
        assert!(!Operation::CreateTaskPushNotificationConfig.is_idempotent());
        assert!(Operation::CancelTask.is_idempotent());
        assert!(Operation::SubscribeToTask.is_idempotent());
    }
}
