//! Cards to serve.

/// A card of 1.0, put together from what matters to a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Card {
    interfaces: Vec<String>,
    capabilities: Vec<&'static str>,
    extensions: Vec<String>,
    no_skills: bool,
    version: Option<&'static str>,
    modes: Option<&'static str>,
}

impl Card {
    /// What the usual agent has: JSON-RPC 1.0 at `/a2a` of agent.example.com, and no capability.
    pub(crate) fn plain() -> Self {
        Self::default().at("https://agent.example.com/a2a")
    }

    /// The same, and it streams.
    pub(crate) fn streaming() -> Self {
        Self::plain().with("streaming")
    }

    /// The usual agent over HTTP+JSON, at the root.
    pub(crate) fn rest() -> Self {
        Self::default().interface("https://agent.example.com", "HTTP+JSON", "1.0")
    }

    /// One more interface.
    pub(crate) fn interface(mut self, url: &str, binding: &str, version: &str) -> Self {
        let members = format!(r#""url":"{url}","protocolBinding":"{binding}","protocolVersion":"{version}""#);
        self.interfaces.push(members);
        self
    }

    /// One more interface, of JSON-RPC 1.0.
    pub(crate) fn at(self, url: &str) -> Self {
        self.interface(url, "JSONRPC", "1.0")
    }

    /// The last interface is for this tenant.
    pub(crate) fn tenant(mut self, tenant: &str) -> Self {
        if let Some(last) = self.interfaces.last_mut() {
            last.push_str(&format!(r#","tenant":"{tenant}""#));
        }
        self
    }

    /// One more capability.
    pub(crate) fn with(mut self, capability: &'static str) -> Self {
        self.capabilities.push(capability);
        self
    }

    pub(crate) fn requires(mut self, extension: &str) -> Self {
        self.extensions.push(format!(r#"{{"uri":"{extension}","required":true}}"#));
        self
    }

    pub(crate) fn offers(mut self, extension: &str) -> Self {
        self.extensions.push(format!(r#"{{"uri":"{extension}"}}"#));
        self
    }

    /// An extension with parameters, an object.
    pub(crate) fn states(mut self, extension: &str, params: &str) -> Self {
        self.extensions.push(format!(r#"{{"uri":"{extension}","params":{params}}}"#));
        self
    }

    /// The agent's own version. It is `1` otherwise.
    pub(crate) fn version(mut self, version: &'static str) -> Self {
        self.version = Some(version);
        self
    }

    /// The media types that it takes and gives, as a list's members. Otherwise plain text.
    pub(crate) fn modes(mut self, modes: &'static str) -> Self {
        self.modes = Some(modes);
        self
    }

    /// Slightly wrong: the list of skills is empty.
    pub(crate) fn without_skills(mut self) -> Self {
        self.no_skills = true;
        self
    }

    pub(crate) fn json(&self) -> String {
        let interfaces: Vec<_> = self.interfaces.iter().map(|members| format!("{{{members}}}")).collect();
        let flags: Vec<_> = self.capabilities.iter().map(|name| format!(r#""{name}":true,"#)).collect();
        let skill = if self.no_skills { "" } else { r#"{"id":"s","name":"S","description":"s","tags":["t"]}"# };
        let modes = self.modes.unwrap_or(r#""text/plain""#);
        format!(
            r#"{{"name":"A","description":"d","version":"{}","supportedInterfaces":[{}],"capabilities":{{{}"extensions":[{}]}},"defaultInputModes":[{modes}],"defaultOutputModes":[{modes}],"skills":[{skill}]}}"#,
            self.version.unwrap_or("1"),
            interfaces.join(","),
            flags.concat(),
            self.extensions.join(","),
        )
    }
}
