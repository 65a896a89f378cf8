//! Verifies cards by the keys that the user trusts.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

use super::{
    error::SignatureVerifierError,
    fault::{CardFault, SignatureFault},
    form::Form,
    header::Candidate,
    jwks::Keys,
    key::SignatureAlgorithm,
    tree::{Node, Object},
};
use crate::{
    card::AgentCard,
    card_consistency::{CardEvidence, Verdict, VerifyCard},
};

/// Entries of `signatures` that are looked at.
const MAX_ENTRIES: usize = 64;
/// Signatures that are tried. Key rotation has two.
const MAX_TRIED: usize = 8;

/// Believes a card if one of its signatures is a valid one by a trusted key. The [module](super) says which.
///
/// It fetches nothing, and its work on a card is bounded by the card's length.
pub struct SignatureVerifier {
    keys: RwLock<Arc<Keys>>,
    strict: bool,
}

impl SignatureVerifier {
    /// A verifier with no keys yet.
    pub fn builder() -> SignatureVerifierBuilder {
        SignatureVerifierBuilder { sets: Vec::new(), strict: false }
    }

    /// From now on these keys are trusted, and no others: for keys that rotate or are revoked (A2A 1.0 §8.4.3).
    ///
    /// Cards that a store holds were verified by the keys of their time, and may be used for up to 300 s.
    /// [`CardStore::clear`](crate::card_consistency::CardStore::clear) drops them at once.
    ///
    /// # Errors
    ///
    /// As [`build`](SignatureVerifierBuilder::build). The keys then stay as they were.
    pub fn replace_jwks(&self, jwks: impl AsRef<[u8]>) -> Result<(), SignatureVerifierError> {
        let keys = Arc::new(Keys::read([jwks.as_ref()])?);
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }

    /// The trusted keys: each one's `kid`, and what it is for.
    #[must_use]
    pub fn keys(&self) -> Vec<(String, SignatureAlgorithm)> {
        self.trusted().all().iter().map(|key| (key.id.clone(), key.algorithm())).collect()
    }

    /// The keys of the set that are not used, and why: each one's `kid`, if it has one, and the reason.
    #[must_use]
    pub fn passed_over(&self) -> Vec<(Option<String>, String)> {
        self.trusted().passed_over().iter().map(|key| (key.id.clone(), key.why.clone())).collect()
    }

    fn trusted(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn judge(&self, bytes: &[u8]) -> Result<(), CardFault> {
        let text = std::str::from_utf8(bytes).map_err(|_| CardFault::NotUtf8)?;
        // The card's reader passes over it, too.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let card = Node::parse(text).map_err(CardFault::Tree)?;
        let card = card.as_object().ok_or(CardFault::NotAnObject)?;
        let entries = card.get("signatures").and_then(Node::as_list).unwrap_or_default();

        let keys = self.trusted();
        let mut fault: Option<SignatureFault> = None;
        let mut note = |other: SignatureFault| {
            fault = Some(match fault.take() {
                Some(fault) => fault.nearest(other),
                None => other,
            });
        };
        let mut candidates = Vec::new();
        for entry in entries.iter().take(MAX_ENTRIES) {
            match Candidate::read(entry, &keys) {
                Ok(candidate) if candidates.len() < MAX_TRIED => candidates.push(candidate),
                Ok(_) => note(SignatureFault::Untried),
                Err(fault) => note(fault),
            }
        }
        if entries.len() > MAX_ENTRIES {
            note(SignatureFault::Untried);
        }
        match self.search(card, text.len(), &candidates) {
            Ok(()) => return Ok(()),
            Err(Some(fault)) => note(fault),
            Err(None) => {}
        }
        Err(fault.map_or(CardFault::None, |fault| CardFault::Void(entries.len(), fault)))
    }

    /// Looks for a form of the card that one of the signatures is about.
    fn search(
        &self,
        card: &Object<'_>,
        len: usize,
        candidates: &[Candidate<'_>],
    ) -> Result<(), Option<SignatureFault>> {
        let Some(first) = candidates.first() else {
            return Err(None);
        };
        let mut nearest = SignatureFault::Invalid { key: first.key_id().to_owned() };
        // Fields that are put in, and numbers that are written out, make a form longer than the card, but not by much.
        let max = len.saturating_mul(2).saturating_add(4096);
        let forms = if self.strict { &[Form::SPECIFIED][..] } else { &Form::ALL[..] };
        let mut tried = HashSet::new();
        for form in forms {
            // Of most cards all forms are the same.
            let payload = form.payload(card, max).filter(|payload| tried.insert(hash(payload)));
            let Some(payload) = payload.map(|payload| BASE64_URL_SAFE_NO_PAD.encode(payload)) else {
                continue;
            };
            let Some(valid) = candidates.iter().find(|candidate| candidate.is_valid(&payload)) else {
                continue;
            };
            if form.unknown || reads_the_same_without_unknown(card, max) {
                return Ok(());
            }
            nearest = nearest.nearest(SignatureFault::Partial { key: valid.key_id().to_owned() });
        }
        Err(Some(nearest))
    }
}

fn hash(payload: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    for (to, from) in hash.iter_mut().zip(digest(&SHA256, payload).as_ref()) {
        *to = *from;
    }
    hash
}

/// Whether fields that no signature covers change anything that is believed.
fn reads_the_same_without_unknown(card: &Object<'_>, max: usize) -> bool {
    let read = |unknown| Form::plain(card, unknown, max).and_then(|bytes| AgentCard::read(&bytes).ok());
    match (read(true), read(false)) {
        (Some(whole), Some(signed)) => whole.says_the_same_as(&signed),
        _ => false,
    }
}

impl VerifyCard for SignatureVerifier {
    fn verify<'a>(&'a self, card: CardEvidence<'a>) -> Verdict<'a> {
        let verdict = self.judge(card.bytes).map_err(|fault| fault.to_string());
        Box::pin(std::future::ready(verdict))
    }
}

impl fmt::Debug for SignatureVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureVerifier").field("keys", &self.keys()).field("strict", &self.strict).finish()
    }
}

/// Builds a [`SignatureVerifier`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct SignatureVerifierBuilder {
    sets: Vec<Vec<u8>>,
    strict: bool,
}

impl SignatureVerifierBuilder {
    /// Trusts the keys of a JWK Set (RFC 7517), as JSON; may be called several times. Each key that is used needs a
    /// `kid`. Keys that are for another use, of another kind or for another algorithm are
    /// [passed over](SignatureVerifier::passed_over), as RFC 7517 §5 asks.
    pub fn jwks(mut self, jwks: impl AsRef<[u8]>) -> Self {
        self.sets.push(jwks.as_ref().to_vec());
        self
    }

    /// Accepts the specified form alone, which covers every field of the card. Default: off.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The verifier.
    ///
    /// # Errors
    ///
    /// No key that can be used, a set or key that is none, a private key or shared secret, a key without `kid` or with
    /// that of another, an RSA key of less than 2,048 bits, or a point that is not on its curve. Of Ed25519 only length
    /// and small order can be checked here: by 32 bytes that are no point no signature will ever be valid.
    pub fn build(self) -> Result<SignatureVerifier, SignatureVerifierError> {
        let keys = Keys::read(self.sets.iter().map(Vec::as_slice))?;
        Ok(SignatureVerifier { keys: RwLock::new(Arc::new(keys)), strict: self.strict })
    }
}
