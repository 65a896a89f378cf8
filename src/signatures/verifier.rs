//! Verifies cards by the keys that the user trusts.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::{
    error::SignatureVerifierError,
    fault::{CardFault, SignatureFault},
    form::Form,
    header::{Candidate, address_of},
    jwks::Keys,
    key::SignatureAlgorithm,
    remote::Remote,
    tree::{Node, Object},
};
use crate::{
    card::{AgentCard, Origin},
    card_consistency::{CardEvidence, Verdict, VerifyCard},
    client::{Client, erase},
    error::BoxError,
};

/// Entries of `signatures` that are looked at.
const MAX_ENTRIES: usize = 64;
/// Signatures that are tried. Key rotation has two.
const MAX_TRIED: usize = 8;
/// Addresses that keys are asked of for one card.
const MAX_ADDRESSES: usize = 2;

/// Believes a card if one of its signatures is a valid one by a trusted key. The [module](super) says which.
///
/// It fetches nothing, unless [keys at other places](SignatureVerifierBuilder::allow_jku_origin) are allowed, and its
/// work on a card is bounded by the card's length.
pub struct SignatureVerifier {
    keys: RwLock<Arc<Keys>>,
    pub(super) remote: Option<Arc<Remote>>,
    strict: bool,
}

impl SignatureVerifier {
    /// A verifier with no keys yet.
    pub fn builder() -> SignatureVerifierBuilder {
        SignatureVerifierBuilder { sets: Vec::new(), strict: false, origins: Vec::new(), client: None }
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
        self.judge_by(&self.trusted(), None, bytes)
    }

    /// Goes by the keys at the addresses that the signatures name, as far as they are allowed.
    async fn judge_by_others(&self, remote: &Arc<Remote>, fault: CardFault, bytes: &[u8]) -> Result<(), CardFault> {
        let CardFault::Void(count, mut fault) = fault else { return Err(fault) };
        let allowed = addresses(bytes).into_iter();
        let allowed = allowed.filter_map(|(address, wanted)| Some((remote.allowed(&address)?, address, wanted)));
        for (uri, address, wanted) in allowed.take(MAX_ADDRESSES) {
            let other = match remote.keys(&uri, &wanted).await {
                Ok(keys) => match self.judge_by(&keys, Some(&address), bytes) {
                    Ok(()) => return Ok(()),
                    Err(CardFault::Void(_, fault)) => fault,
                    Err(fault) => return Err(fault),
                },
                Err(why) => SignatureFault::NoKeys { at: address, why },
            };
            fault = fault.nearest(other);
        }
        Err(CardFault::Void(count, fault))
    }

    /// Goes by these keys; if they are those at an address, only of signatures that name it.
    fn judge_by(&self, keys: &Keys, at: Option<&str>, bytes: &[u8]) -> Result<(), CardFault> {
        let text = std::str::from_utf8(bytes).map_err(|_| CardFault::NotUtf8)?;
        // The card's reader passes over it, too.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let card = Node::parse(text).map_err(CardFault::Tree)?;
        let card = card.as_object().ok_or(CardFault::NotAnObject)?;
        let entries = card.get("signatures").and_then(Node::as_list).unwrap_or_default();

        let mut fault: Option<SignatureFault> = None;
        let mut note = |other: SignatureFault| {
            fault = Some(match fault.take() {
                Some(fault) => fault.nearest(other),
                None => other,
            });
        };
        let mut candidates = Vec::new();
        for entry in entries.iter().take(MAX_ENTRIES) {
            match Candidate::read(entry, keys, at) {
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

/// The addresses that a card's signatures name, each with the keys that should be there.
fn addresses(bytes: &[u8]) -> Vec<(String, Vec<String>)> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let card = Node::parse(text.strip_prefix('\u{feff}').unwrap_or(text));
    let Ok(card) = card else { return Vec::new() };
    let entries = card.as_object().and_then(|card| card.get("signatures")).and_then(Node::as_list).unwrap_or_default();
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (address, key) in entries.iter().take(MAX_ENTRIES).filter_map(address_of) {
        match found.iter_mut().find(|(known, _)| *known == address) {
            Some((_, keys)) => keys.push(key),
            None => found.push((address, vec![key])),
        }
    }
    found
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
        match (self.judge(card.bytes), &self.remote) {
            (Err(fault @ CardFault::Void(..)), Some(remote)) => Box::pin(async move {
                self.judge_by_others(remote, fault, card.bytes).await.map_err(|fault| fault.to_string())
            }),
            (verdict, _) => Box::pin(std::future::ready(verdict.map_err(|fault| fault.to_string()))),
        }
    }
}

impl fmt::Debug for SignatureVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureVerifier")
            .field("keys", &self.keys())
            .field("remote", &self.remote)
            .field("strict", &self.strict)
            .finish()
    }
}

/// Builds a [`SignatureVerifier`].
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct SignatureVerifierBuilder {
    sets: Vec<Vec<u8>>,
    strict: bool,
    origins: Vec<Origin>,
    client: Option<Arc<dyn Client>>,
}

impl fmt::Debug for SignatureVerifierBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureVerifierBuilder")
            .field("sets", &self.sets.len())
            .field("strict", &self.strict)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
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

    /// Trusts the keys at any address of this origin that a signature's protected header names (`jku`, RFC 7515
    /// §4.1.2): whoever can put a page there can vouch for any card. Call it once for each origin. Default: none,
    /// and no address is ever asked.
    ///
    /// A set is asked for where none of the keys at hand signed the card, once for all who want it, without credentials
    /// and through [`jku_client`](Self::jku_client). It may have 64 KiB, and 5 s to come; it counts for 300 s, and
    /// 30 s where it lacks the key, or cannot be had. Of one card at most two addresses are asked.
    pub fn allow_jku_origin(mut self, origin: Origin) -> Self {
        self.origins.push(origin);
        self
    }

    /// What keys are fetched through: any HTTP client that follows no redirects, a clone of the store's as a rule.
    /// Needs a tokio runtime when cards are verified.
    pub fn jku_client<S, B, R>(mut self, client: S) -> Self
    where
        S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: From<bytes::Bytes> + Send + 'static,
        R: Body + Send + 'static,
        R::Data: Send,
        R::Error: Into<BoxError>,
    {
        self.client = Some(Arc::new(erase(client)));
        self
    }

    /// The verifier.
    ///
    /// # Errors
    ///
    /// No key that can be used, a set or key that is none, a private key or shared secret, a key without `kid` or with
    /// that of another, an RSA key of less than 2,048 bits, or a point that is not on its curve. Of Ed25519 only length
    /// and small order can be checked here: by 32 bytes that are no point no signature will ever be valid. An origin
    /// for `jku` that is not https, or without a client, and a client without an origin. With both, there need be
    /// no keys.
    pub fn build(self) -> Result<SignatureVerifier, SignatureVerifierError> {
        let remote = match (self.client, self.origins) {
            (None, origins) if origins.is_empty() => None,
            (Some(_), origins) if origins.is_empty() => {
                return Err(SignatureVerifierError::of_origin("names no origin that jku_client may fetch from"));
            }
            (None, _) => {
                return Err(SignatureVerifierError::of_origin("has no client to fetch through: set jku_client"));
            }
            (Some(client), origins) => {
                let remote = Remote::new(client, origins).map_err(SignatureVerifierError::of_origin)?;
                Some(Arc::new(remote))
            }
        };
        let keys = match self.sets.is_empty() && remote.is_some() {
            true => Keys::default(),
            false => Keys::read(self.sets.iter().map(Vec::as_slice))?,
        };
        Ok(SignatureVerifier { keys: RwLock::new(Arc::new(keys)), remote, strict: self.strict })
    }
}
