//! A line of the table: a server, the profile that it runs, and the version in which it is called.

use a2a_guard::{Binding, ProtocolVersion};

use crate::sdk::{Ports, Sdk};

/// The lines whose cells are every verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Line {
    /// Official Rust, 1.0.
    Lf,
    /// Python a2a-sdk 1.3, 1.0.
    Py1,
    /// The same where it also serves 0.3, called in 0.3.
    Py1Old,
    /// Python a2a-sdk 0.3.
    Py03,
    /// @a2a-js/sdk 1.3, 1.0.
    Js1,
    /// The same where it also serves 0.3, called in 0.3.
    Js1Old,
    /// @a2a-js/sdk 0.3.
    Js03,
}

impl Line {
    pub(crate) const ALL: [Self; 7] =
        [Self::Lf, Self::Py1, Self::Py1Old, Self::Py03, Self::Js1, Self::Js1Old, Self::Js03];

    pub(crate) fn sdk(self) -> Sdk {
        match self {
            Self::Lf => Sdk::Rust,
            Self::Py1 | Self::Py1Old => Sdk::Python1,
            Self::Py03 => Sdk::Python03,
            Self::Js1 | Self::Js1Old => Sdk::Js1,
            Self::Js03 => Sdk::Js03,
        }
    }

    /// The profile in which every verb is run.
    pub(crate) fn profile(self) -> &'static str {
        match self {
            Self::Py1Old | Self::Js1Old => "compat",
            _ => "full",
        }
    }

    pub(crate) fn version(self) -> ProtocolVersion {
        match self {
            Self::Lf | Self::Py1 | Self::Js1 => ProtocolVersion::V1_0,
            Self::Py1Old | Self::Py03 | Self::Js1Old | Self::Js03 => ProtocolVersion::V0_3,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Lf => "a2a-server-lf (official Rust), called in 1.0",
            Self::Py1 => "Python a2a-sdk 1.3, called in 1.0",
            Self::Py1Old => "Python a2a-sdk 1.3 serving 1.0 and 0.3 at one URL, called in 0.3",
            Self::Py03 => "Python a2a-sdk 0.3, called in 0.3",
            Self::Js1 => "@a2a-js/sdk 1.3, called in 1.0",
            Self::Js1Old => "@a2a-js/sdk 1.3 serving 1.0 and 0.3 at one URL, called in 0.3",
            Self::Js03 => "@a2a-js/sdk 0.3, called in 0.3",
        }
    }

    /// Where its agent is called.
    pub(crate) fn endpoint(self, ports: Ports) -> Endpoint {
        let origin = format!("http://127.0.0.1:{}", ports.http);
        let rpc = if self == Self::Py03 { format!("{origin}/") } else { format!("{origin}/rpc") };
        let old = self.version() == ProtocolVersion::V0_3;
        let rest = if old { format!("{origin}/rest/v1") } else { format!("{origin}/rest") };
        // A server of both versions is told which one is meant; one that only knows 0.3 has never heard of the header.
        let header = match self {
            Self::Py03 | Self::Js03 => None,
            Self::Py1Old | Self::Js1Old => Some("0.3"),
            Self::Lf | Self::Py1 | Self::Js1 => Some("1.0"),
        };
        let grpc_port = ports.old_grpc.filter(|_| old).unwrap_or(ports.grpc);
        let grpc = format!("http://127.0.0.1:{grpc_port}");
        Endpoint { version: self.version(), header, origin, rpc, rest, grpc }
    }
}

/// An agent's URLs, and the version in which it is called there.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) version: ProtocolVersion,
    /// What is sent as `A2A-Version`.
    pub(crate) header: Option<&'static str>,
    /// Of the HTTP bindings, and of the card.
    pub(crate) origin: String,
    pub(crate) rpc: String,
    pub(crate) rest: String,
    pub(crate) grpc: String,
}

impl Endpoint {
    /// What stands in front of the operation, or is the whole URL.
    pub(crate) fn base(&self, binding: Binding) -> &str {
        match binding {
            Binding::JsonRpc => &self.rpc,
            Binding::Grpc => &self.grpc,
            _ => &self.rest,
        }
    }

    /// The bindings over which it is called.
    pub(crate) fn bindings(&self) -> &'static [Binding] {
        &[Binding::JsonRpc, Binding::HttpJson, Binding::Grpc]
    }
}
