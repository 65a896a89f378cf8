//! The errors that A2A defines, in every binding's spelling (A2A 1.0 §5.4).

/// An error of A2A or of JSON-RPC, whatever binding it came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum A2aError {
    /// No such task, or none that the caller may see.
    TaskNotFound,
    /// The task is in a state in which it cannot be canceled.
    TaskNotCancelable,
    /// The agent sends no push notifications.
    PushNotificationNotSupported,
    /// The operation, or this use of it, is not supported.
    UnsupportedOperation,
    /// A media type that the agent does not take.
    ContentTypeNotSupported,
    /// The agent's own answer was invalid.
    InvalidAgentResponse,
    /// There is no extended card.
    ExtendedAgentCardNotConfigured,
    /// The agent requires an extension that the caller does not support.
    ExtensionSupportRequired,
    /// The agent does not speak this version of A2A.
    VersionNotSupported,
    /// JSON-RPC: the request is no JSON.
    Parse,
    /// JSON-RPC: the request is no valid request.
    InvalidRequest,
    /// JSON-RPC: no such method.
    MethodNotFound,
    /// JSON-RPC: the parameters are invalid.
    InvalidParams,
    /// JSON-RPC: the server failed.
    Internal,
}

/// One error in every spelling.
struct Spelling {
    error: A2aError,
    name: &'static str,
    code: i64,
    http_status: u16,
    grpc_code: u8,
    reason: &'static str,
    /// The end of its problem type, `https://a2a-protocol.org/errors/…`.
    problem: &'static str,
}

const fn spelling(
    error: A2aError,
    name: &'static str,
    code: i64,
    (http_status, grpc_code): (u16, u8),
    reason: &'static str,
    problem: &'static str,
) -> Spelling {
    Spelling { error, name, code, http_status, grpc_code, reason, problem }
}

const SPELLINGS: [Spelling; 14] = [
    spelling(A2aError::TaskNotFound, "TaskNotFoundError", -32001, (404, 5), "TASK_NOT_FOUND", "task-not-found"),
    spelling(
        A2aError::TaskNotCancelable,
        "TaskNotCancelableError",
        -32002,
        (400, 9),
        "TASK_NOT_CANCELABLE",
        "task-not-cancelable",
    ),
    spelling(
        A2aError::PushNotificationNotSupported,
        "PushNotificationNotSupportedError",
        -32003,
        (400, 9),
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
        "push-notification-not-supported",
    ),
    spelling(
        A2aError::UnsupportedOperation,
        "UnsupportedOperationError",
        -32004,
        (400, 9),
        "UNSUPPORTED_OPERATION",
        "unsupported-operation",
    ),
    spelling(
        A2aError::ContentTypeNotSupported,
        "ContentTypeNotSupportedError",
        -32005,
        (400, 3),
        "CONTENT_TYPE_NOT_SUPPORTED",
        "content-type-not-supported",
    ),
    spelling(
        A2aError::InvalidAgentResponse,
        "InvalidAgentResponseError",
        -32006,
        (500, 13),
        "INVALID_AGENT_RESPONSE",
        "invalid-agent-response",
    ),
    spelling(
        A2aError::ExtendedAgentCardNotConfigured,
        "ExtendedAgentCardNotConfiguredError",
        -32007,
        (400, 9),
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
        "extended-agent-card-not-configured",
    ),
    spelling(
        A2aError::ExtensionSupportRequired,
        "ExtensionSupportRequiredError",
        -32008,
        (400, 9),
        "EXTENSION_SUPPORT_REQUIRED",
        "extension-support-required",
    ),
    spelling(
        A2aError::VersionNotSupported,
        "VersionNotSupportedError",
        -32009,
        (400, 9),
        "VERSION_NOT_SUPPORTED",
        "version-not-supported",
    ),
    spelling(A2aError::Parse, "JSONParseError", -32700, (400, 3), "PARSE_ERROR", "parse-error"),
    spelling(A2aError::InvalidRequest, "InvalidRequestError", -32600, (400, 3), "INVALID_REQUEST", "invalid-request"),
    spelling(
        A2aError::MethodNotFound,
        "MethodNotFoundError",
        -32601,
        (404, 12),
        "METHOD_NOT_FOUND",
        "method-not-found",
    ),
    spelling(A2aError::InvalidParams, "InvalidParamsError", -32602, (400, 3), "INVALID_PARAMS", "invalid-params"),
    spelling(A2aError::Internal, "InternalError", -32603, (500, 13), "INTERNAL_ERROR", "internal-error"),
];

const PROBLEM_BASE: &str = "https://a2a-protocol.org/errors/";

impl A2aError {
    fn find(is_it: impl Fn(&Spelling) -> bool) -> Option<Self> {
        SPELLINGS.iter().find(|one| is_it(one)).map(|one| one.error)
    }

    fn spelling(self) -> &'static Spelling {
        const INTERNAL: &Spelling = &SPELLINGS[SPELLINGS.len() - 1];
        SPELLINGS.iter().find(|one| one.error == self).unwrap_or(INTERNAL)
    }

    /// The error with this JSON-RPC code.
    #[must_use]
    pub fn from_code(code: i64) -> Option<Self> {
        Self::find(|one| one.code == code)
    }

    /// The error with this `ErrorInfo.reason` of domain `a2a-protocol.org`.
    #[must_use]
    pub fn from_reason(reason: &str) -> Option<Self> {
        Self::find(|one| one.reason == reason)
    }

    /// The error with this problem type (RFC 9457).
    #[must_use]
    pub fn from_problem_type(uri: &str) -> Option<Self> {
        let name = uri.strip_prefix(PROBLEM_BASE)?;
        Self::find(|one| one.problem == name)
    }

    /// Its name in the specification.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.spelling().name
    }

    /// Its JSON-RPC code.
    #[must_use]
    pub fn code(self) -> i64 {
        self.spelling().code
    }

    /// Its `ErrorInfo.reason`.
    #[must_use]
    pub fn reason(self) -> &'static str {
        self.spelling().reason
    }

    /// Its HTTP status, which others may share.
    #[must_use]
    pub fn http_status(self) -> u16 {
        self.spelling().http_status
    }

    /// Its gRPC code, which others may share.
    #[must_use]
    pub fn grpc_code(self) -> u8 {
        self.spelling().grpc_code
    }
}
