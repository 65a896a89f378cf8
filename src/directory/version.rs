//! Which interface of a peer a request goes to.

use std::fmt;

use super::need::Written;
use crate::{
    call::ProtocolVersion,
    card::{AgentInterface, Offer},
};

/// At most so many offers stand in a flaw.
const SHOWN: usize = 8;

/// Why a request goes to no interface of a peer. What both sides speak stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionFlaw {
    ours: Box<[Written]>,
    theirs: Box<[Offer]>,
    common: Option<ProtocolVersion>,
    tenant: bool,
}

impl VersionFlaw {
    /// What the request is, or can be, written in.
    #[must_use]
    pub fn ours(&self) -> &[Written] {
        &self.ours
    }

    /// What the peer speaks: the first few.
    #[must_use]
    pub fn theirs(&self) -> &[Offer] {
        &self.theirs
    }

    /// The highest version that both speak, each over bindings that the other does not. A lower one is not taken in its
    /// stead.
    #[must_use]
    pub fn common(&self) -> Option<ProtocolVersion> {
        self.common
    }
}

impl fmt::Display for VersionFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tenant, self.common) {
            (true, _) => f.write_str("no interface for this tenant")?,
            (false, Some(version)) => write!(f, "no common binding of {version}")?,
            (false, None) => f.write_str("no common version")?,
        }
        f.write_str(": we write ")?;
        list(&self.ours, f)?;
        f.write_str("; it speaks ")?;
        list(&self.theirs, f)
    }
}

fn list<T: fmt::Display>(items: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if items.is_empty() {
        return f.write_str("nothing");
    }
    items.iter().enumerate().try_for_each(|(index, item)| write!(f, "{}{item}", if index == 0 { "" } else { ", " }))
}

/// The highest version that both speak, then the first interface of that version, in the card's order, over whose
/// binding the request is written (A2A 1.0 §3.6.3, §8.3.2). There is no fallback to a lower version.
pub(super) fn negotiate<'i>(
    ours: &[Written],
    theirs: &'i [AgentInterface],
    tenant: Option<&str>,
) -> Result<(&'i AgentInterface, Written), VersionFlaw> {
    let for_tenant = |interface: &&AgentInterface| tenant.is_none_or(|tenant| interface.tenant() == Some(tenant));
    let speaks = |version| theirs.iter().filter(for_tenant).filter(move |one| one.understands(version));
    let common = ours.iter().map(|written| written.version).filter(|version| speaks(*version).next().is_some()).max();
    let chosen = common.and_then(|version| {
        let written = |interface: &AgentInterface| {
            let is_it = |ours: &&Written| ours.version == version && interface.binding().known() == Some(ours.binding);
            ours.iter().find(is_it).copied()
        };
        speaks(version).find_map(|interface| Some((interface, written(interface)?)))
    });
    chosen.ok_or_else(|| VersionFlaw {
        ours: ours.into(),
        theirs: theirs
            .iter()
            .take(SHOWN)
            .map(|interface| Offer { binding: interface.binding().clone(), version: interface.version().clone() })
            .collect(),
        common,
        tenant: theirs.iter().all(|interface| !for_tenant(&interface)) && !theirs.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{call::Binding, card::AgentCard};

    fn theirs(interfaces: &[(&str, &str, Option<&str>)]) -> Vec<AgentInterface> {
        let list: Vec<_> = interfaces
            .iter()
            .map(|(binding, version, tenant)| {
                serde_json::json!({"url": "https://a.example", "protocolBinding": binding, "protocolVersion": version,
                    "tenant": tenant})
            })
            .collect();
        let card = serde_json::json!({"name": "a", "description": "d", "version": "1", "capabilities": {}, "skills": [],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "supportedInterfaces": list});
        AgentCard::read(card.to_string().as_bytes()).unwrap().interfaces().to_vec()
    }

    fn ours(list: &[(Binding, ProtocolVersion)]) -> Vec<Written> {
        list.iter().map(|(binding, version)| Written { binding: *binding, version: *version }).collect()
    }

    fn chosen(ours: &[Written], theirs: &[AgentInterface], tenant: Option<&str>) -> Result<usize, String> {
        match negotiate(ours, theirs, tenant) {
            Ok((interface, _)) => Ok(theirs.iter().position(|one| std::ptr::eq(one, interface)).unwrap()),
            Err(flaw) => Err(flaw.to_string()),
        }
    }

    use Binding::{Grpc, HttpJson, JsonRpc};
    use ProtocolVersion as V;

    #[test]
    fn the_highest_common_version_then_the_first_interface_of_it() {
        let both = ours(&[(JsonRpc, V::V0_3), (JsonRpc, V::V1_0), (HttpJson, V::V1_0)]);
        for (interfaces, index) in [
            (vec![("JSONRPC", "0.3", None), ("HTTP+JSON", "1.0", None), ("JSONRPC", "1.0", None)], 1),
            (vec![("JSONRPC", "0.3", None), ("GRPC", "1.0", None), ("JSONRPC", "1.0.2", None)], 2),
            (vec![("GRPC", "2.0", None), ("JSONRPC", "0.3.1", None)], 1),
            (vec![("JSONRPC", "0.2.5", None)], 0),
        ] {
            assert_eq!(chosen(&both, &theirs(&interfaces), None), Ok(index), "{interfaces:?}");
        }
    }

    #[test]
    fn none_fails_with_both_lists_and_nothing_is_downgraded() {
        let both = ours(&[(JsonRpc, V::V1_0), (JsonRpc, V::V0_3)]);
        let flaw = "no common version: we write JSONRPC 1.0, JSONRPC 0.3; it speaks JSONRPC 2.0, ACME \"x\\n\"";
        assert_eq!(
            chosen(&both, &theirs(&[("JSONRPC", "2.0", None), ("ACME", "x\n", None)]), None),
            Err(flaw.to_owned())
        );
        // 1.0 is common, over no common binding. That 0.3 would do is not taken for it.
        let flaw = "no common binding of 1.0: we write JSONRPC 1.0, JSONRPC 0.3; it speaks GRPC 1.0, JSONRPC 0.3";
        assert_eq!(
            chosen(&both, &theirs(&[("GRPC", "1.0", None), ("JSONRPC", "0.3", None)]), None),
            Err(flaw.to_owned())
        );
        assert_eq!(
            chosen(&ours(&[(Grpc, V::V1_0)]), &[], None).unwrap_err().split("; ").last(),
            Some("it speaks nothing")
        );
    }

    #[test]
    fn a_tenant_has_its_own_interface() {
        let one = ours(&[(JsonRpc, V::V1_0)]);
        let interfaces = theirs(&[("JSONRPC", "1.0", None), ("JSONRPC", "1.0", Some("acme"))]);
        assert_eq!(chosen(&one, &interfaces, Some("acme")), Ok(1));
        assert_eq!(chosen(&one, &interfaces, None), Ok(0));
        assert!(chosen(&one, &interfaces, Some("other")).unwrap_err().starts_with("no interface for this tenant"));
    }
}
