use a2a_guard::{
    Binding, Capability, Operation, ProtocolVersion,
    card::{
        AgentCard, AgentInterface, CardFlaw, CardVersion, ClientSpeaks, NotJson, Target, Terms, UrlPolicy, negotiate,
    },
};
use http::Uri;

use crate::{
    input::Input,
    oracle::tree::{self, Kind, Members},
};

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];
const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V1_0, ProtocolVersion::V0_3, ProtocolVersion::V0_2];
const OPERATIONS: [Operation; 5] = [
    Operation::SendMessage,
    Operation::SendStreamingMessage,
    Operation::SubscribeToTask,
    Operation::CreateTaskPushNotificationConfig,
    Operation::GetExtendedAgentCard,
];
const CAPABILITIES: [Capability; 3] =
    [Capability::Streaming, Capability::PushNotifications, Capability::ExtendedAgentCard];

/// A card, against serde_json's tree of it; what is chosen from it, against its own interfaces.
pub fn card(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let bindings = subset(&BINDINGS, input.byte());
    let versions = subset(&VERSIONS, input.byte());
    let document = input.rest();
    let read = AgentCard::read(document);
    let card = match &read {
        Ok(card) => card,
        Err(flaw) => return assert_flawed(document, flaw),
    };
    assert_one_line(card.warnings().iter().map(ToString::to_string));
    assert!(card.warnings().len() <= 32);
    assert_read(document, card);
    assert_chosen(card, &ClientSpeaks { bindings, versions });
    for interface in card.interfaces() {
        assert_found(card, interface);
    }
    for operation in OPERATIONS {
        let needed = operation.needs();
        let is_declared = needed.is_none_or(|capability| card.declares(capability));
        assert_eq!(card.check_operation(operation).is_ok(), is_declared);
    }
}

fn subset<T: Copy>(all: &[T], bits: u8) -> Vec<T> {
    all.iter().enumerate().filter(|(place, _)| bits & 1 << place == 0).map(|(_, one)| *one).collect()
}

/// Text of a stranger's never breaks a line of a log.
fn assert_one_line(lines: impl IntoIterator<Item = String>) {
    for line in lines {
        assert!(line.chars().all(|c| !c.is_control()) && line.len() < 4096, "{line:?}");
    }
}

fn text_of(document: &[u8]) -> &[u8] {
    document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(document)
}

fn assert_flawed(document: &[u8], flaw: &CardFlaw) {
    assert_one_line([flaw.to_string()]);
    let is_json = tree::is_json(text_of(document));
    match flaw {
        CardFlaw::NotJson(NotJson::NotUtf8) => assert!(std::str::from_utf8(document).is_err()),
        CardFlaw::NotJson(NotJson::Empty | NotJson::Syntax { .. }) => assert!(!is_json, "JSON all the same"),
        CardFlaw::NotJson(_) => assert!(is_json),
        CardFlaw::RepeatedField { path } => {
            assert!(is_json);
            // Of the card's own ones it is easily seen.
            if !path.contains('.') {
                assert!(members(document).repeats(&[path]), "{path} is there once");
            }
        }
        CardFlaw::MissingField { path, .. } => {
            assert!(is_json);
            let kind = match &**path {
                "name" | "description" | "version" => Kind::String,
                "defaultInputModes" | "defaultOutputModes" | "skills" => Kind::Array,
                _ => return,
            };
            let card = members(document);
            let is_text = card.get(path).is_some_and(|value| serde_json::from_str::<String>(value.get()).is_ok());
            assert!(card.kind(path) != Some(kind) || (kind == Kind::String && !is_text), "{path} is there");
        }
        other => panic!("{other} of a card that nobody uses yet"),
    }
}

fn members(document: &[u8]) -> Members<'_> {
    tree::root(text_of(document)).map(Members::of).unwrap_or_default()
}

fn assert_read(document: &[u8], card: &AgentCard) {
    let root = members(document);
    assert!(!card.interfaces().is_empty());
    for (name, read) in [("name", card.name()), ("description", card.description()), ("version", card.version())] {
        let text = root.get(name).map(|value| serde_json::from_str::<String>(value.get()));
        match text.transpose() {
            Ok(text) => assert_eq!(text.unwrap_or_default(), read),
            // Half a character: serde_json reads nothing of such a text.
            Err(_) => assert!(root.kind(name) != Some(Kind::String) || read.contains('\u{fffd}')),
        }
    }
    let capabilities = root.get("capabilities").map(Members::of).unwrap_or_default();
    let is_set = |object: &Members<'_>, name| object.get(name).is_some_and(|value| value.get() == "true");
    assert_eq!(card.declares(Capability::Streaming), is_set(&capabilities, "streaming"));
    assert_eq!(card.declares(Capability::PushNotifications), is_set(&capabilities, "pushNotifications"));
    // Interfaces of 1.0, in their order, before those of older versions.
    let listed = root
        .get("supportedInterfaces")
        .and_then(|list| serde_json::from_str::<Vec<&serde_json::value::RawValue>>(list.get()).ok());
    let listed = listed.unwrap_or_default();
    assert!(card.interfaces().len() >= listed.len());
    for (value, interface) in listed.into_iter().zip(card.interfaces()) {
        let members = Members::of(value);
        assert_eq!(members.text("url").as_deref(), Some(interface.url()));
        let tenant = members.text("tenant").filter(|tenant| !tenant.is_empty());
        assert_eq!(tenant.as_deref(), interface.tenant());
        let version = members.text("protocolVersion").expect("required");
        if let CardVersion::Known(known) = interface.version() {
            let mut parts = version.split('.').map(|part| part.trim().parse());
            let (major, minor) = (parts.next(), parts.next());
            assert_eq!((major, minor), (Some(Ok(known.major())), Some(Ok(known.minor()))), "{version}");
        }
    }
}

fn assert_chosen(card: &AgentCard, client: &ClientSpeaks) {
    let speaks = |interface: &AgentInterface| {
        interface.binding().known().is_some_and(|binding| client.bindings.contains(&binding))
            && interface.version().known().is_some_and(|version| client.versions.contains(&version))
    };
    let first = card.interfaces().iter().position(speaks);
    let chosen = card.select(client);
    match &chosen {
        Ok((index, interface)) => {
            assert_eq!(Some(*index), first);
            assert_eq!(*interface, &card.interfaces()[*index]);
        }
        Err(flaw) => {
            assert_eq!(first, None);
            assert_one_line([flaw.to_string()]);
        }
    }
    let terms = Terms::of_client(client).with_capabilities(CAPABILITIES);
    let negotiation = negotiate(card, terms);
    match (negotiation.interface(), &chosen) {
        (Some(offer), Ok((_, interface))) => {
            assert_eq!((&offer.binding, &offer.version), (interface.binding(), interface.version()));
        }
        (None, Err(_)) => {}
        (offer, chosen) => panic!("{offer:?} {chosen:?}"),
    }
    for capability in CAPABILITIES {
        assert_eq!(negotiation.common.capabilities.contains(&capability), card.declares(capability));
    }
}

/// A call to an interface finds that interface, or one before it that is the same.
fn assert_found(card: &AgentCard, interface: &AgentInterface) {
    let Ok(url) = interface.parsed_url() else { return };
    let text = match url.scheme() {
        Some(_) => interface.url().to_owned(),
        None => format!("https://{}", interface.url()),
    };
    let Ok(uri) = text.parse::<Uri>() else { return };
    let Ok(target) = Target::new(&uri) else { return };
    let policy = UrlPolicy::strict().allow_loopback().allow_private().allow_link_local().allow_operation_paths();
    let is_usable = policy.usable(url, &target.origin()).is_ok();
    let version = interface.version().known();
    let target = target.with_binding(interface.binding().known()).with_version(version).with_tenant(interface.tenant());
    match card.interface_for(&target, &policy) {
        Ok(found) => {
            assert_eq!(found.interface, &card.interfaces()[found.index]);
            assert!(found.interface.check(&target.origin(), &policy).is_ok());
            if let (Some(version), true) = (version, found.interface.version().known().is_some()) {
                assert!(found.interface.understands(version));
            }
            if interface.tenant().is_some() {
                assert_eq!(found.interface.tenant(), interface.tenant());
            }
        }
        Err(flaw) => {
            assert_one_line([flaw.to_string()]);
            let is_odd = interface.binding().known().is_none() || version.is_none();
            assert!(!is_usable || is_odd, "{flaw}: {}", interface.url());
        }
    }
}
