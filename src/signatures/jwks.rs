//! The trusted keys, out of JWK Sets (RFC 7517 §5).

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

use super::{
    error::SignatureVerifierError as Error,
    key::{Key, Material, SignatureAlgorithm},
    point,
    tree::{Node, Object, TreeFlaw},
};

/// Members of a private or secret key (RFC 7518 §6).
const SECRET: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// What the user trusts.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    keys: Vec<Key>,
    passed_over: Vec<PassedOver>,
}

/// A key that stands in the set, and is no help here.
#[derive(Clone, Debug)]
pub(super) struct PassedOver {
    pub(super) id: Option<String>,
    pub(super) why: String,
}

impl Keys {
    pub(super) fn read<'a>(sets: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, Error> {
        let mut all = Self::default();
        for set in sets {
            all.add(set)?;
        }
        if !all.keys.is_empty() {
            return Ok(all);
        }
        match all.passed_over.first() {
            Some(PassedOver { why, .. }) => Err(Error::of_set(format!("has no key to verify with; the first {why}"))),
            None => Err(Error::of_set("has no key")),
        }
    }

    pub(super) fn all(&self) -> &[Key] {
        &self.keys
    }

    pub(super) fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    fn add(&mut self, set: &[u8]) -> Result<(), Error> {
        let text = std::str::from_utf8(set).map_err(|_| Error::of_set("is not UTF-8"))?;
        let set = Node::parse(text).map_err(|flaw| {
            Error::of_set(match flaw {
                TreeFlaw::Syntax => "is no JSON",
                TreeFlaw::Repeated(_) => "has a name twice in one object",
                TreeFlaw::Surrogate | TreeFlaw::Number => "has a value that is no text and no number",
                TreeFlaw::Depth | TreeFlaw::Size => "is too large",
            })
        })?;
        let set = set.as_object().ok_or_else(|| Error::of_set("is no JSON object"))?;
        let keys = match set.get("keys").map(Node::as_list) {
            Some(Some(keys)) => keys,
            Some(None) => return Err(Error::of_set("has `keys` that are no list (RFC 7517 §5.1)")),
            None if set.get("kty").is_some() => {
                return Err(Error::of_set("is a single key; put it into a set: {\"keys\": [...]}"));
            }
            None => return Err(Error::of_set("has no `keys` (RFC 7517 §5.1)")),
        };
        for (index, jwk) in keys.iter().enumerate() {
            let place = index + 1;
            let jwk = jwk.as_object().ok_or_else(|| Error::of_key(place, None, "is no JSON object"))?;
            let id = jwk.get("kid").and_then(Node::as_text);
            let wrong = |why: String| Error::of_key(place, id, why);
            match read(jwk).map_err(wrong)? {
                Ok(material) => {
                    let id = match id {
                        Some("") | None => return Err(wrong("has no `kid`, by which signatures name it".into())),
                        Some(id) => id.to_owned(),
                    };
                    let key = Key { id, material };
                    if self.keys.iter().any(|known| known.id == key.id && known.algorithm() == key.algorithm()) {
                        return Err(wrong(format!("has the `kid` of another key for {}", key.algorithm())));
                    }
                    self.keys.push(key);
                }
                Err(why) => self.passed_over.push(PassedOver { id: id.map(str::to_owned), why }),
            }
        }
        Ok(())
    }
}

/// The key; or in the inner error why it is passed over, as RFC 7517 §5 asks for keys of unknown kinds.
fn read(jwk: &Object<'_>) -> Result<Result<Material, String>, String> {
    let kty = jwk.get("kty").and_then(Node::as_text).ok_or("has no `kty`")?;
    if kty == "oct" {
        return Err("is a shared secret: whoever verifies with it can sign with it".into());
    }
    if let Some(secret) = SECRET.into_iter().find(|name| jwk.get(name).is_some()) {
        return Err(format!("is a private key: it has `{secret}`; give its public part"));
    }
    if let Some(why) = other_use(jwk) {
        return Ok(Err(why));
    }
    let curve = jwk.get("crv").and_then(Node::as_text);
    let material = match (kty, curve) {
        ("EC", Some("P-256")) => p256(jwk)?,
        ("RSA", _) => rsa(jwk)?,
        ("OKP", Some("Ed25519")) => ed25519(jwk)?,
        ("EC" | "OKP", None) => return Err("has no `crv`".into()),
        _ => return Ok(Err("is of a kind that is not verified here: P-256, RSA and Ed25519 are".into())),
    };
    let ours = material.algorithm();
    match jwk.get("alg") {
        None => Ok(Ok(material)),
        Some(Node::Text(name)) if SignatureAlgorithm::named(name) == Some(ours) => Ok(Ok(material)),
        Some(Node::Text(_)) => Ok(Err(format!("is for another algorithm than {ours}"))),
        Some(_) => Err("has an `alg` that is no text".into()),
    }
}

/// `use` and `key_ops` (RFC 7517 §4.2, §4.3).
fn other_use(jwk: &Object<'_>) -> Option<String> {
    let for_signatures = jwk.get("use").is_none_or(|of| of.as_text() == Some("sig"));
    let verify = |ops: &[Node<'_>]| ops.iter().any(|op| op.as_text() == Some("verify"));
    let may_verify = jwk.get("key_ops").is_none_or(|ops| ops.as_list().is_some_and(verify));
    (!for_signatures || !may_verify).then(|| "is for another use than signatures".into())
}

fn bytes(jwk: &Object<'_>, name: &str) -> Result<Vec<u8>, String> {
    let text = jwk.get(name).and_then(Node::as_text).ok_or_else(|| format!("has no `{name}`"))?;
    BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| format!("has a `{name}` that is not base64url without padding"))
}

/// RFC 7518 §6.2.1.
fn p256(jwk: &Object<'_>) -> Result<Material, String> {
    let mut point = [4; 65];
    for (name, place) in ["x", "y"].into_iter().zip(point[1..].chunks_exact_mut(32)) {
        let coordinate = bytes(jwk, name)?;
        if coordinate.len() != place.len() {
            return Err(format!("has a `{name}` of {} bytes; P-256 has 32", coordinate.len()));
        }
        place.copy_from_slice(&coordinate);
    }
    match point::is_on_p256(&point) {
        Some(true) => Ok(Material::P256(point)),
        Some(false) => Err("is no point on P-256".into()),
        None => Err("cannot be checked: the system has no randomness".into()),
    }
}

/// RFC 7518 §6.3.1. Below 2,048 bits RS256 must not be used (§3.3).
fn rsa(jwk: &Object<'_>) -> Result<Material, String> {
    let modulus = without_zeros(bytes(jwk, "n")?);
    let exponent = without_zeros(bytes(jwk, "e")?);
    let bits = bits(&modulus);
    if bits < 2048 {
        return Err(format!("is weak: its modulus has {bits} bits, and RS256 needs 2,048"));
    }
    if bits > 8192 {
        return Err(format!("is too large: its modulus has {bits} bits, and at most 8,192 are verified"));
    }
    let is_even = |number: &[u8]| number.last().is_none_or(|byte| byte % 2 == 0);
    if is_even(&modulus) {
        return Err("has an even modulus, which is no product of two large primes".into());
    }
    if is_even(&exponent) || exponent == [1] || self::bits(&exponent) > 33 {
        return Err("has an exponent that is even, 1, or longer than 33 bits".into());
    }
    Ok(Material::Rsa { modulus, exponent })
}

/// RFC 8037 §2.
fn ed25519(jwk: &Object<'_>) -> Result<Material, String> {
    let key = bytes(jwk, "x")?;
    let key: [u8; 32] = key.as_slice().try_into().map_err(|_| format!("has {} bytes; Ed25519 has 32", key.len()))?;
    if point::is_of_small_order(&key) {
        return Err("is weak: anybody can sign by a point of small order".into());
    }
    Ok(Material::Ed25519(key))
}

fn without_zeros(mut number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.drain(..zeros);
    number
}

fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}
