//! One trusted key, and what it is for.
//!
//! `ring` verifies all three algorithms in one small crate, and has each key carry its algorithm, so that no header can
//! have one taken for another's. Of JOSE crates most are about the claims of a JWT, which a card has none of. The `rsa`
//! crate carries RUSTSEC-2023-0071 (up to 0.9 at least): not about verifying, but it would show in every user's audit.

use std::fmt;

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

/// What cards are signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// ECDSA with P-256 and SHA-256 (RFC 7518 §3.4).
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    Rs256,
    /// Ed25519 (RFC 8037 §3.1).
    EdDsa,
}

impl SignatureAlgorithm {
    /// The name in `alg`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "ES256" => Some(Self::Es256),
            "RS256" => Some(Self::Rs256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

impl fmt::Display for SignatureAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A trusted key. Its kind decides on the algorithm, and nothing that a card says does.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) id: String,
    pub(super) material: Material,
}

#[derive(Clone, Debug)]
pub(super) enum Material {
    /// An uncompressed point.
    P256([u8; 65]),
    /// Both big-endian, without leading zeros.
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    Ed25519([u8; 32]),
}

impl Material {
    pub(super) fn algorithm(&self) -> SignatureAlgorithm {
        match self {
            Self::P256(_) => SignatureAlgorithm::Es256,
            Self::Rsa { .. } => SignatureAlgorithm::Rs256,
            Self::Ed25519(_) => SignatureAlgorithm::EdDsa,
        }
    }
}

impl Key {
    pub(super) fn algorithm(&self) -> SignatureAlgorithm {
        self.material.algorithm()
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            Material::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature),
            Material::Rsa { modulus: n, exponent: e } => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            Material::Ed25519(point) => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
        };
        verified.is_ok()
    }
}
