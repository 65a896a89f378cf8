//! One entry of `signatures` (A2A 1.0 §4.4.7, §8.4.2), as far as it can be judged without the card.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

use super::{
    fault::SignatureFault,
    jwks::Keys,
    key::{Key, SignatureAlgorithm},
    tree::{Node, Object, TreeFlaw},
};

/// Characters of a protected header.
const MAX_PROTECTED: usize = 4096;
/// Characters of a signature. That by the largest RSA key has 1,366.
const MAX_SIGNATURE: usize = 2048;

/// A signature that names a trusted key and the algorithm of that key.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    protected: &'a str,
    signature: Vec<u8>,
    key: &'a Key,
}

impl<'a> Candidate<'a> {
    /// `at`: the keys are those at this address, and only signatures that name it go by them.
    pub(super) fn read(entry: &'a Node<'_>, keys: &'a Keys, at: Option<&str>) -> Result<Self, SignatureFault> {
        let form = SignatureFault::Form;
        let entry = entry.as_object().ok_or(form("it is no object"))?;
        let text = |name| entry.get(name).and_then(Node::as_text);
        let protected = text("protected").ok_or(form("it has no protected header"))?;
        let signature = text("signature").ok_or(form("it has no signature value"))?;
        if protected.len() > MAX_PROTECTED || signature.len() > MAX_SIGNATURE {
            return Err(form("it is too long"));
        }
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature);
        let signature = signature.map_err(|_| form("its signature value is not base64url"))?;

        let header = decoded(protected)?;
        let header = parsed(&header)?;
        let header = header.as_object().ok_or(form("its protected header is no object"))?;
        check_unprotected(entry, header)?;
        if header.get("crit").is_some() {
            return Err(SignatureFault::Header("its header has crit, and no extension is known".into()));
        }
        let key = match at {
            Some(at) if header.get("jku").and_then(Node::as_text) != Some(at) => {
                return Err(SignatureFault::UnknownKey(text_of(header, "kid").chars().take(64).collect()));
            }
            _ => key(header, keys)?,
        };
        Ok(Self { protected, signature, key })
    }

    /// The `kid`.
    pub(super) fn key_id(&self) -> &str {
        &self.key.id
    }

    /// Whether the key signed this payload, which is base64url already (RFC 7515 §5.2).
    pub(super) fn is_valid(&self, payload: &str) -> bool {
        let input = [self.protected, ".", payload].concat();
        self.key.verifies(input.as_bytes(), &self.signature)
    }
}

/// The address of its keys that a signature names, and the key: what is not protected names none.
pub(super) fn address_of(entry: &Node<'_>) -> Option<(String, String)> {
    let protected = entry.as_object()?.get("protected").and_then(Node::as_text)?;
    let header = decoded(protected).ok().filter(|_| protected.len() <= MAX_PROTECTED)?;
    let header = parsed(&header).ok()?;
    let header = header.as_object()?;
    let address = header.get("jku").and_then(Node::as_text)?;
    Some((address.to_owned(), text_of(header, "kid").to_owned()))
}

fn decoded(protected: &str) -> Result<Vec<u8>, SignatureFault> {
    let header = BASE64_URL_SAFE_NO_PAD.decode(protected);
    header.map_err(|_| SignatureFault::Form("its protected header is not base64url"))
}

fn parsed(header: &[u8]) -> Result<Node<'_>, SignatureFault> {
    let form = SignatureFault::Form;
    let header = std::str::from_utf8(header).map_err(|_| form("its protected header is not UTF-8"))?;
    Node::parse(header).map_err(|flaw| match flaw {
        TreeFlaw::Repeated(_) => form("its protected header has a name twice"),
        _ => form("its protected header is no JSON"),
    })
}

fn text_of<'h>(header: &'h Object<'_>, name: &str) -> &'h str {
    header.get(name).and_then(Node::as_text).unwrap_or_default()
}

/// What is not protected decides nothing, and must not seem to (RFC 7515 §4, §4.1.11, §7.2.1).
fn check_unprotected(entry: &Object<'_>, protected: &Object<'_>) -> Result<(), SignatureFault> {
    let unprotected = match entry.get("header") {
        None | Some(Node::Null) => return Ok(()),
        Some(Node::Object(header)) => header,
        Some(_) => return Err(SignatureFault::Form("its unprotected header is no object")),
    };
    let misplaced = |name: &str| ["alg", "crit"].contains(&name) || protected.get(name).is_some();
    match unprotected.members().find(|(name, _)| misplaced(name)) {
        Some((name, _)) => {
            let name = super::fault::shown(name);
            Err(SignatureFault::Header(format!("it has {name} outside its protected header")))
        }
        None => Ok(()),
    }
}

fn key<'a>(header: &Object<'_>, keys: &'a Keys) -> Result<&'a Key, SignatureFault> {
    let text = |name| header.get(name).and_then(Node::as_text);
    let named = text("alg").ok_or_else(|| SignatureFault::Header("its protected header has no alg".into()))?;
    let id = text("kid").ok_or_else(|| SignatureFault::Header("its protected header has no kid".into()))?;

    let algorithm = SignatureAlgorithm::named(named);
    let mut other = None;
    for key in keys.all().iter().filter(|key| key.id == id) {
        if Some(key.algorithm()) == algorithm {
            return Ok(key);
        }
        other = Some(key);
    }
    let short = |text: &str| text.chars().take(64).collect();
    Err(match other {
        Some(key) => SignatureFault::Algorithm { key: short(id), named: short(named), right: key.algorithm() },
        None => match keys.passed_over().iter().find(|known| known.id.as_deref() == Some(id)) {
            Some(known) => SignatureFault::PassedOver { key: short(id), why: known.why.clone() },
            None => SignatureFault::UnknownKey(short(id)),
        },
    })
}
