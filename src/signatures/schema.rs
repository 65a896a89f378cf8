//! The messages that make up an Agent Card in `a2a.proto` of 1.0: what each field is, and when its value is one that
//! ProtoJSON leaves out (A2A 1.0 §5.7, §8.4.1).

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A string. Its default is the empty one.
    Text,
    /// A `bool`. Its default is false.
    Flag,
    /// A message. It has no default: an empty one is not an absent one.
    Message(&'static [Field]),
    /// `repeated`. Its default is the empty list.
    List(&'static Kind),
    /// `map`. Its default is the empty one.
    Map(&'static Kind),
    /// `google.protobuf.Struct`: any JSON object, all of it data.
    Struct,
}

/// Whether a field at its default is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// `REQUIRED`: never.
    Required,
    /// `optional`, a message or a member of a `oneof`: there if it was set.
    Explicit,
    /// Everything else: always.
    Implicit,
}

/// A field of a message, by its JSON name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) presence: Presence,
}

use Kind::{Flag, List, Map, Message, Struct, Text};

const fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, presence: Presence::Required }
}

const fn explicit(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, presence: Presence::Explicit }
}

const fn implicit(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, presence: Presence::Implicit }
}

const TEXTS: Kind = List(&Text);
const SCOPES: Kind = Map(&Text);

pub(super) static AGENT_CARD: [Field; 14] = [
    required("name", Text),
    required("description", Text),
    required("supportedInterfaces", List(&Message(&AGENT_INTERFACE))),
    explicit("provider", Message(&AGENT_PROVIDER)),
    required("version", Text),
    explicit("documentationUrl", Text),
    required("capabilities", Message(&AGENT_CAPABILITIES)),
    implicit("securitySchemes", Map(&Message(&SECURITY_SCHEME))),
    implicit("securityRequirements", List(&Message(&SECURITY_REQUIREMENT))),
    required("defaultInputModes", TEXTS),
    required("defaultOutputModes", TEXTS),
    required("skills", List(&Message(&AGENT_SKILL))),
    implicit("signatures", List(&Struct)),
    explicit("iconUrl", Text),
];

static AGENT_INTERFACE: [Field; 4] = [
    required("url", Text),
    required("protocolBinding", Text),
    implicit("tenant", Text),
    required("protocolVersion", Text),
];

static AGENT_PROVIDER: [Field; 2] = [required("url", Text), required("organization", Text)];

static AGENT_CAPABILITIES: [Field; 4] = [
    explicit("streaming", Flag),
    explicit("pushNotifications", Flag),
    implicit("extensions", List(&Message(&AGENT_EXTENSION))),
    explicit("extendedAgentCard", Flag),
];

static AGENT_EXTENSION: [Field; 4] =
    [implicit("uri", Text), implicit("description", Text), implicit("required", Flag), explicit("params", Struct)];

static AGENT_SKILL: [Field; 8] = [
    required("id", Text),
    required("name", Text),
    required("description", Text),
    required("tags", TEXTS),
    implicit("examples", TEXTS),
    implicit("inputModes", TEXTS),
    implicit("outputModes", TEXTS),
    implicit("securityRequirements", List(&Message(&SECURITY_REQUIREMENT))),
];

static SECURITY_REQUIREMENT: [Field; 1] = [implicit("schemes", Map(&Message(&STRING_LIST)))];

static STRING_LIST: [Field; 1] = [implicit("list", TEXTS)];

static SECURITY_SCHEME: [Field; 5] = [
    explicit("apiKeySecurityScheme", Message(&API_KEY)),
    explicit("httpAuthSecurityScheme", Message(&HTTP_AUTH)),
    explicit("oauth2SecurityScheme", Message(&OAUTH2)),
    explicit("openIdConnectSecurityScheme", Message(&OPEN_ID_CONNECT)),
    explicit("mtlsSecurityScheme", Message(&MUTUAL_TLS)),
];

static API_KEY: [Field; 3] = [implicit("description", Text), required("location", Text), required("name", Text)];

static HTTP_AUTH: [Field; 3] =
    [implicit("description", Text), required("scheme", Text), implicit("bearerFormat", Text)];

static OAUTH2: [Field; 3] =
    [implicit("description", Text), required("flows", Message(&OAUTH_FLOWS)), implicit("oauth2MetadataUrl", Text)];

static OPEN_ID_CONNECT: [Field; 2] = [implicit("description", Text), required("openIdConnectUrl", Text)];

static MUTUAL_TLS: [Field; 1] = [implicit("description", Text)];

static OAUTH_FLOWS: [Field; 5] = [
    explicit("authorizationCode", Message(&AUTHORIZATION_CODE)),
    explicit("clientCredentials", Message(&CLIENT_CREDENTIALS)),
    explicit("implicit", Message(&IMPLICIT)),
    explicit("password", Message(&PASSWORD)),
    explicit("deviceCode", Message(&DEVICE_CODE)),
];

static AUTHORIZATION_CODE: [Field; 5] = [
    required("authorizationUrl", Text),
    required("tokenUrl", Text),
    implicit("refreshUrl", Text),
    required("scopes", SCOPES),
    implicit("pkceRequired", Flag),
];

static CLIENT_CREDENTIALS: [Field; 3] =
    [required("tokenUrl", Text), implicit("refreshUrl", Text), required("scopes", SCOPES)];

static IMPLICIT: [Field; 3] =
    [implicit("authorizationUrl", Text), implicit("refreshUrl", Text), implicit("scopes", SCOPES)];

static PASSWORD: [Field; 3] = [implicit("tokenUrl", Text), implicit("refreshUrl", Text), implicit("scopes", SCOPES)];

static DEVICE_CODE: [Field; 4] = [
    required("deviceAuthorizationUrl", Text),
    required("tokenUrl", Text),
    implicit("refreshUrl", Text),
    required("scopes", SCOPES),
];
