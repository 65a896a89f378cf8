//! The messages that make up an Agent Card: `specification/a2a.proto` of A2A 1.0.0 (package `lf.a2a.v1`) and
//! `specification/grpc/a2a.proto` of 0.3.0 (package `a2a.v1`).

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A string.
    Text,
    /// A `bool`.
    Flag,
    /// A message.
    Message(&'static [Field]),
    /// `repeated`.
    List(&'static Kind),
    /// `map`, by strings.
    Map(&'static Kind),
    /// `google.protobuf.Struct`.
    Struct,
}

/// A field of a message, by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// In JSON.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// It is required, and has no presence: where it is not there, it is there with its default (A2A 1.0 §5.7).
    pub(super) always: bool,
    /// Of a `oneof`, which is all that its message has: it stands in for a member that came before.
    pub(super) member: bool,
}

use Kind::{Flag, List, Map, Message, Struct, Text};

const fn field(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, always: false, member: false }
}

const fn always(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, always: true, member: false }
}

const fn member(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, always: false, member: true }
}

const TEXTS: Kind = List(&Text);
const SCOPES: Kind = Map(&Text);

pub(super) static V1: [Field; 14] = [
    always(1, "name", Text),
    always(2, "description", Text),
    always(3, "supportedInterfaces", List(&Message(&INTERFACE))),
    field(4, "provider", Message(&PROVIDER)),
    always(5, "version", Text),
    field(6, "documentationUrl", Text),
    field(7, "capabilities", Message(&CAPABILITIES)),
    field(8, "securitySchemes", Map(&Message(&SECURITY_SCHEME))),
    field(9, "securityRequirements", List(&Message(&SECURITY_REQUIREMENT))),
    always(10, "defaultInputModes", TEXTS),
    always(11, "defaultOutputModes", TEXTS),
    always(12, "skills", List(&Message(&SKILL))),
    field(13, "signatures", List(&Message(&SIGNATURE))),
    field(14, "iconUrl", Text),
];

pub(super) static V03: [Field; 18] = [
    field(1, "name", Text),
    field(2, "description", Text),
    field(3, "url", Text),
    field(4, "provider", Message(&PROVIDER)),
    field(5, "version", Text),
    field(6, "documentationUrl", Text),
    field(7, "capabilities", Message(&CAPABILITIES_V03)),
    field(8, "securitySchemes", Map(&Message(&SECURITY_SCHEME))),
    field(9, "security", List(&Message(&SECURITY_REQUIREMENT))),
    field(10, "defaultInputModes", TEXTS),
    field(11, "defaultOutputModes", TEXTS),
    field(12, "skills", List(&Message(&SKILL_V03))),
    field(13, "supportsAuthenticatedExtendedCard", Flag),
    field(14, "preferredTransport", Text),
    field(15, "additionalInterfaces", List(&Message(&INTERFACE_V03))),
    field(16, "protocolVersion", Text),
    field(17, "signatures", List(&Message(&SIGNATURE))),
    field(18, "iconUrl", Text),
];

static INTERFACE: [Field; 4] = [
    always(1, "url", Text),
    always(2, "protocolBinding", Text),
    field(3, "tenant", Text),
    always(4, "protocolVersion", Text),
];

static INTERFACE_V03: [Field; 2] = [field(1, "url", Text), field(2, "transport", Text)];

static PROVIDER: [Field; 2] = [always(1, "url", Text), always(2, "organization", Text)];

static CAPABILITIES: [Field; 4] = [
    field(1, "streaming", Flag),
    field(2, "pushNotifications", Flag),
    field(3, "extensions", List(&Message(&EXTENSION))),
    field(4, "extendedAgentCard", Flag),
];

static CAPABILITIES_V03: [Field; 3] = [
    field(1, "streaming", Flag),
    field(2, "pushNotifications", Flag),
    field(3, "extensions", List(&Message(&EXTENSION))),
];

static EXTENSION: [Field; 4] =
    [field(1, "uri", Text), field(2, "description", Text), field(3, "required", Flag), field(4, "params", Struct)];

static SKILL: [Field; 8] = [
    always(1, "id", Text),
    always(2, "name", Text),
    always(3, "description", Text),
    always(4, "tags", TEXTS),
    field(5, "examples", TEXTS),
    field(6, "inputModes", TEXTS),
    field(7, "outputModes", TEXTS),
    field(8, "securityRequirements", List(&Message(&SECURITY_REQUIREMENT))),
];

static SKILL_V03: [Field; 8] = [
    field(1, "id", Text),
    field(2, "name", Text),
    field(3, "description", Text),
    field(4, "tags", TEXTS),
    field(5, "examples", TEXTS),
    field(6, "inputModes", TEXTS),
    field(7, "outputModes", TEXTS),
    field(8, "security", List(&Message(&SECURITY_REQUIREMENT))),
];

static SIGNATURE: [Field; 3] = [always(1, "protected", Text), always(2, "signature", Text), field(3, "header", Struct)];

static SECURITY_REQUIREMENT: [Field; 1] = [field(1, "schemes", Map(&Message(&STRING_LIST)))];

static STRING_LIST: [Field; 1] = [field(1, "list", TEXTS)];

static SECURITY_SCHEME: [Field; 5] = [
    member(1, "apiKeySecurityScheme", Message(&API_KEY)),
    member(2, "httpAuthSecurityScheme", Message(&HTTP_AUTH)),
    member(3, "oauth2SecurityScheme", Message(&OAUTH2)),
    member(4, "openIdConnectSecurityScheme", Message(&OPEN_ID_CONNECT)),
    member(5, "mtlsSecurityScheme", Message(&MUTUAL_TLS)),
];

static API_KEY: [Field; 3] = [field(1, "description", Text), always(2, "location", Text), always(3, "name", Text)];

static HTTP_AUTH: [Field; 3] =
    [field(1, "description", Text), always(2, "scheme", Text), field(3, "bearerFormat", Text)];

static OAUTH2: [Field; 3] =
    [field(1, "description", Text), field(2, "flows", Message(&FLOWS)), field(3, "oauth2MetadataUrl", Text)];

static OPEN_ID_CONNECT: [Field; 2] = [field(1, "description", Text), always(2, "openIdConnectUrl", Text)];

static MUTUAL_TLS: [Field; 1] = [field(1, "description", Text)];

/// 0.3 has the first four.
static FLOWS: [Field; 5] = [
    member(1, "authorizationCode", Message(&AUTHORIZATION_CODE)),
    member(2, "clientCredentials", Message(&CLIENT_CREDENTIALS)),
    member(3, "implicit", Message(&IMPLICIT)),
    member(4, "password", Message(&PASSWORD)),
    member(5, "deviceCode", Message(&DEVICE_CODE)),
];

static AUTHORIZATION_CODE: [Field; 5] = [
    always(1, "authorizationUrl", Text),
    always(2, "tokenUrl", Text),
    field(3, "refreshUrl", Text),
    always(4, "scopes", SCOPES),
    field(5, "pkceRequired", Flag),
];

static CLIENT_CREDENTIALS: [Field; 3] =
    [always(1, "tokenUrl", Text), field(2, "refreshUrl", Text), always(3, "scopes", SCOPES)];

static IMPLICIT: [Field; 3] =
    [field(1, "authorizationUrl", Text), field(2, "refreshUrl", Text), field(3, "scopes", SCOPES)];

static PASSWORD: [Field; 3] = [field(1, "tokenUrl", Text), field(2, "refreshUrl", Text), field(3, "scopes", SCOPES)];

static DEVICE_CODE: [Field; 4] = [
    always(1, "deviceAuthorizationUrl", Text),
    always(2, "tokenUrl", Text),
    field(3, "refreshUrl", Text),
    always(4, "scopes", SCOPES),
];
