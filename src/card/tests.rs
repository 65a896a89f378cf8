mod cases;
mod hostile;
mod messages;
mod negotiating;
mod reading;

use super::AgentCard;

/// A whole card of 1.0; the tests change it.
const WHOLE: &str = r#"{
    "name": "Probe agent", "description": "test", "version": "1.0.0",
    "supportedInterfaces": [{
        "url": "https://agent.example.com/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "acme"
    }],
    "provider": {"organization": "o", "url": "https://example.com"},
    "documentationUrl": "https://example.com/docs",
    "capabilities": {
        "streaming": true, "pushNotifications": false, "extendedAgentCard": true,
        "extensions": [{"uri": "https://example.com/x/v1", "description": "x", "required": true, "params": {"a": [1]}}]
    },
    "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
    "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
    "defaultInputModes": ["text/plain", "application/json"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{
        "id": "echo", "name": "Echo", "description": "echoes", "tags": ["t"], "examples": ["say hi"],
        "inputModes": ["text/plain"], "outputModes": ["audio/wav"],
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}]
    }],
    "signatures": [{"protected": "e30", "signature": "AA"}],
    "iconUrl": "https://example.com/icon.png"
}"#;

/// A whole card of 0.3, of an agent with two bindings.
const WHOLE_0_3: &str = r#"{
    "protocolVersion": "0.3.0", "name": "Old", "description": "d", "version": "1",
    "url": "https://agent.example.com/a2a", "preferredTransport": "JSONRPC",
    "additionalInterfaces": [
        {"url": "https://agent.example.com/a2a", "transport": "JSONRPC"},
        {"url": "https://agent.example.com/rest", "transport": "HTTP+JSON"}
    ],
    "capabilities": {"streaming": true, "stateTransitionHistory": false},
    "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
    "security": [{"bearer": []}],
    "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
    "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"], "security": [{"bearer": []}]}],
    "supportsAuthenticatedExtendedCard": true
}"#;

fn read(text: &str) -> AgentCard {
    AgentCard::read(text.as_bytes()).unwrap_or_else(|flaw| panic!("{flaw}: {text}"))
}

/// The card as a tree, changed, and as text again.
fn changed(text: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut card = serde_json::from_str(text).unwrap();
    change(&mut card);
    card.to_string()
}

fn warnings(card: &AgentCard) -> Vec<String> {
    card.warnings().iter().map(ToString::to_string).collect()
}
