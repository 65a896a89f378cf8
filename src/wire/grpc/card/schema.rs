//! The messages that make up an Agent Card: `specification/a2a.proto` of A2A 1.0.0 (package `lf.a2a.v1`) and
//! `specification/grpc/a2a.proto` of 0.3.0 (package `a2a.v1`). What stands in a message is read by it, and what a
//! signature is about is told by it.

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A string. Its default is the empty one.
    Text,
    /// A `bool`. Its default is false.
    Flag,
    /// A message. It has no default: an empty one is not an absent one.
    Message(&'static [Field]),
    /// `repeated`. Its default is the empty list.
    List(&'static Kind),
    /// `map`, by strings. Its default is the empty one.
    Map(&'static Kind),
    /// `google.protobuf.Struct`: any JSON object, all of it data.
    Struct,
}

/// What it means that a field is not there, or is at its default (A2A 1.0 §5.7, §8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// `REQUIRED`: it is always there.
    Required,
    /// `optional`, or a message: it is there if it was set.
    Explicit,
    /// It is left out at its default.
    Implicit,
    /// Of a `oneof`, which is all that its message has: there if it was set, in place of a member that came before.
    Member,
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// In JSON.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) presence: Presence,
}

impl Field {
    /// Whether it is there with its default where the wire has nothing of it: only messages are seen to be absent
    /// there.
    pub(super) fn is_filled_in(&self) -> bool {
        self.presence == Presence::Required && !matches!(self.kind, Message(_))
    }
}

use Kind::{Flag, List, Map, Message, Struct, Text};

const fn required(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Required }
}

const fn explicit(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Explicit }
}

const fn implicit(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Implicit }
}

const fn member(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, presence: Presence::Member }
}

const TEXTS: Kind = List(&Text);
const SCOPES: Kind = Map(&Text);

pub(crate) static V1: [Field; 14] = [
    required(1, "name", Text),
    required(2, "description", Text),
    required(3, "supportedInterfaces", List(&Message(&INTERFACE))),
    explicit(4, "provider", Message(&PROVIDER)),
    required(5, "version", Text),
    explicit(6, "documentationUrl", Text),
    required(7, "capabilities", Message(&CAPABILITIES)),
    implicit(8, "securitySchemes", Map(&Message(&SECURITY_SCHEME))),
    implicit(9, "securityRequirements", List(&Message(&SECURITY_REQUIREMENT))),
    required(10, "defaultInputModes", TEXTS),
    required(11, "defaultOutputModes", TEXTS),
    required(12, "skills", List(&Message(&SKILL))),
    implicit(13, "signatures", List(&Message(&SIGNATURE))),
    explicit(14, "iconUrl", Text),
];

pub(super) static V03: [Field; 18] = [
    implicit(1, "name", Text),
    implicit(2, "description", Text),
    implicit(3, "url", Text),
    explicit(4, "provider", Message(&PROVIDER)),
    implicit(5, "version", Text),
    implicit(6, "documentationUrl", Text),
    explicit(7, "capabilities", Message(&CAPABILITIES_V03)),
    implicit(8, "securitySchemes", Map(&Message(&SECURITY_SCHEME))),
    implicit(9, "security", List(&Message(&SECURITY_REQUIREMENT))),
    implicit(10, "defaultInputModes", TEXTS),
    implicit(11, "defaultOutputModes", TEXTS),
    implicit(12, "skills", List(&Message(&SKILL_V03))),
    implicit(13, "supportsAuthenticatedExtendedCard", Flag),
    implicit(14, "preferredTransport", Text),
    implicit(15, "additionalInterfaces", List(&Message(&INTERFACE_V03))),
    implicit(16, "protocolVersion", Text),
    implicit(17, "signatures", List(&Message(&SIGNATURE))),
    implicit(18, "iconUrl", Text),
];

static INTERFACE: [Field; 4] = [
    required(1, "url", Text),
    required(2, "protocolBinding", Text),
    implicit(3, "tenant", Text),
    required(4, "protocolVersion", Text),
];

static INTERFACE_V03: [Field; 2] = [implicit(1, "url", Text), implicit(2, "transport", Text)];

static PROVIDER: [Field; 2] = [required(1, "url", Text), required(2, "organization", Text)];

static CAPABILITIES: [Field; 4] = [
    explicit(1, "streaming", Flag),
    explicit(2, "pushNotifications", Flag),
    implicit(3, "extensions", List(&Message(&EXTENSION))),
    explicit(4, "extendedAgentCard", Flag),
];

static CAPABILITIES_V03: [Field; 3] = [
    implicit(1, "streaming", Flag),
    implicit(2, "pushNotifications", Flag),
    implicit(3, "extensions", List(&Message(&EXTENSION))),
];

static EXTENSION: [Field; 4] = [
    implicit(1, "uri", Text),
    implicit(2, "description", Text),
    implicit(3, "required", Flag),
    explicit(4, "params", Struct),
];

static SKILL: [Field; 8] = [
    required(1, "id", Text),
    required(2, "name", Text),
    required(3, "description", Text),
    required(4, "tags", TEXTS),
    implicit(5, "examples", TEXTS),
    implicit(6, "inputModes", TEXTS),
    implicit(7, "outputModes", TEXTS),
    implicit(8, "securityRequirements", List(&Message(&SECURITY_REQUIREMENT))),
];

static SKILL_V03: [Field; 8] = [
    implicit(1, "id", Text),
    implicit(2, "name", Text),
    implicit(3, "description", Text),
    implicit(4, "tags", TEXTS),
    implicit(5, "examples", TEXTS),
    implicit(6, "inputModes", TEXTS),
    implicit(7, "outputModes", TEXTS),
    implicit(8, "security", List(&Message(&SECURITY_REQUIREMENT))),
];

static SIGNATURE: [Field; 3] =
    [required(1, "protected", Text), required(2, "signature", Text), explicit(3, "header", Struct)];

static SECURITY_REQUIREMENT: [Field; 1] = [implicit(1, "schemes", Map(&Message(&STRING_LIST)))];

static STRING_LIST: [Field; 1] = [implicit(1, "list", TEXTS)];

static SECURITY_SCHEME: [Field; 5] = [
    member(1, "apiKeySecurityScheme", Message(&API_KEY)),
    member(2, "httpAuthSecurityScheme", Message(&HTTP_AUTH)),
    member(3, "oauth2SecurityScheme", Message(&OAUTH2)),
    member(4, "openIdConnectSecurityScheme", Message(&OPEN_ID_CONNECT)),
    member(5, "mtlsSecurityScheme", Message(&MUTUAL_TLS)),
];

static API_KEY: [Field; 3] =
    [implicit(1, "description", Text), required(2, "location", Text), required(3, "name", Text)];

static HTTP_AUTH: [Field; 3] =
    [implicit(1, "description", Text), required(2, "scheme", Text), implicit(3, "bearerFormat", Text)];

static OAUTH2: [Field; 3] =
    [implicit(1, "description", Text), required(2, "flows", Message(&FLOWS)), implicit(3, "oauth2MetadataUrl", Text)];

static OPEN_ID_CONNECT: [Field; 2] = [implicit(1, "description", Text), required(2, "openIdConnectUrl", Text)];

static MUTUAL_TLS: [Field; 1] = [implicit(1, "description", Text)];

/// 0.3 has the first four.
static FLOWS: [Field; 5] = [
    member(1, "authorizationCode", Message(&AUTHORIZATION_CODE)),
    member(2, "clientCredentials", Message(&CLIENT_CREDENTIALS)),
    member(3, "implicit", Message(&IMPLICIT)),
    member(4, "password", Message(&PASSWORD)),
    member(5, "deviceCode", Message(&DEVICE_CODE)),
];

static AUTHORIZATION_CODE: [Field; 5] = [
    required(1, "authorizationUrl", Text),
    required(2, "tokenUrl", Text),
    implicit(3, "refreshUrl", Text),
    required(4, "scopes", SCOPES),
    implicit(5, "pkceRequired", Flag),
];

static CLIENT_CREDENTIALS: [Field; 3] =
    [required(1, "tokenUrl", Text), implicit(2, "refreshUrl", Text), required(3, "scopes", SCOPES)];

static IMPLICIT: [Field; 3] =
    [implicit(1, "authorizationUrl", Text), implicit(2, "refreshUrl", Text), implicit(3, "scopes", SCOPES)];

static PASSWORD: [Field; 3] =
    [implicit(1, "tokenUrl", Text), implicit(2, "refreshUrl", Text), implicit(3, "scopes", SCOPES)];

static DEVICE_CODE: [Field; 4] = [
    required(1, "deviceAuthorizationUrl", Text),
    required(2, "tokenUrl", Text),
    implicit(3, "refreshUrl", Text),
    required(4, "scopes", SCOPES),
];
