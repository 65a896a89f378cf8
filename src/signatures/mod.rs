//! Signatures of Agent Cards (A2A 1.0 §8.4): nothing is believed that no trusted key vouches for.
//!
//! [`SignatureVerifier`] is a [`VerifyCard`] for a [`CardStore`]. It holds the public keys that the user trusts, and a
//! card counts only if at least one of its JSON Web Signatures (RFC 7515) is a valid one by one of them. Any other card
//! is as good as none: calls to its target end as `card/signature`, and nothing of it is kept.
//!
//! ```
//! # use std::{convert::Infallible, sync::Arc};
//! # use bytes::Bytes;
//! # use http_body_util::Full;
//! # let client = tower::service_fn(|_: http::Request<Full<Bytes>>| async {
//! #     Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
//! # });
//! use a2a_guard::{card_consistency::CardStore, signatures::SignatureVerifier};
//!
//! // The provider's public keys, by a way that is trusted: a file that is deployed with the program, say.
//! let jwks = r#"{"keys": [{
//!     "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "2026-01",
//!     "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
//! }]}"#;
//! let verifier = SignatureVerifier::builder().jwks(jwks).build()?;
//! let store = CardStore::builder(client).verifier(Arc::new(verifier)).build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which signatures count
//!
//! * The protected header names the key (`kid`) and the algorithm (`alg`). Both count there alone; a header outside the
//!   signature that repeats a name of the protected one, or has `alg` or `crit`, makes the signature void (RFC 7515
//!   §4).
//! * The key is one of the trusted ones, and `alg` is the one algorithm that this key is for: `ES256` for P-256,
//!   `RS256` for RSA of 2,048 to 8,192 bits, `EdDSA` (or its newer name `Ed25519`, RFC 9864) for Ed25519. There is no
//!   `none`, and no algorithm with a shared secret.
//! * `crit` makes a signature void, whatever it lists: no extension is implemented (RFC 7515 §4.1.11).
//! * Keys come from the user alone, unless origins are allowed that `jku` may lead to
//!   ([`allow_jku_origin`](SignatureVerifierBuilder::allow_jku_origin)): nothing is fetched otherwise. `jwk`, `x5u` and
//!   `x5c` are ignored.
//! * The first 64 entries of `signatures` are looked at, and the first 8 among them that name a trusted key are tried;
//!   of at most 4 KiB of protected header.
//!
//! # What is signed
//!
//! The card without its `signatures`, default values removed (§8.4.1), in the canonical form of RFC 8785. Where the
//! same name stands twice in one object, at any depth, the card has no canonical form, and is refused; so it is where a
//! string is no Unicode text, or a number lies outside the range of a double.
//!
//! Signers disagree about what default values are. The payload is therefore sought among a few forms of the same card:
//!
//! | form | what is left out of the payload |
//! | --- | --- |
//! | specified | fields at their default, unless `REQUIRED` or `optional` in `a2a.proto`; a missing `REQUIRED` one is put in |
//! | given | nothing |
//! | unfilled | as specified, but a missing `REQUIRED` field stays out |
//! | ProtoJSON | as specified, and `REQUIRED` fields at their default as well |
//! | cleaned | as ProtoJSON, and then every empty text, list and object, and every null, in all fields of 1.0 and in the parameters of extensions: the official Python and JavaScript SDKs (1.3) sign this one |
//!
//! All but *given* are tried again without the fields that 1.0 does not know. Those SDKs sign 1.0's fields alone, and
//! the Python one then serves the card together with the fields of 0.3. Such a card is believed only if it reads the
//! same without them: what they add is no interface, no capability, and nothing else that [`AgentCard`] tells.
//!
//! So whatever form it was, all that this crate goes by was signed. What a signature in a lenient form does not cover:
//! in the *cleaned* form whether an empty value stood somewhere (`"securityRequirements": [{"schemes": {"x": {}}}]` is
//! one, a scheme without scopes); and fields that 1.0 does not know (the JavaScript SDK 1.3 sends security schemes as
//! such, and does not sign them). Whoever reads these out of the card's bytes, as they are [kept],
//! should insist on the specified form, which covers all: [`strict`](SignatureVerifierBuilder::strict). It refuses
//! what those SDKs sign wherever a value is empty.
//!
//! [`AgentCard`]: crate::card::AgentCard
//! [`CardStore`]: crate::card_consistency::CardStore
//! [kept]: crate::card_consistency::HeldCard::bytes
//! [`VerifyCard`]: crate::card_consistency::VerifyCard

mod canonical;
mod error;
mod fault;
mod form;
mod header;
mod jwks;
mod key;
mod point;
mod remote;
#[cfg(test)]
mod tests;
mod tree;
mod verifier;

pub use self::{
    error::SignatureVerifierError,
    key::SignatureAlgorithm,
    verifier::{SignatureVerifier, SignatureVerifierBuilder},
};
