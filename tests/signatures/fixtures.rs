//! What `fixtures/sign.py` and `fixtures/sign.mjs` wrote.

use std::{fs, path::PathBuf, sync::Arc};

use a2a_guard::{
    CardFailure,
    card_consistency::{CardKeyRef, CardStore},
    signatures::SignatureVerifier,
};
use http::{HeaderMap, Uri};

use crate::support::Cards;

pub(crate) fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/signatures/fixtures").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the signed cards of one SDK.
pub(crate) fn names(sdk: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/signatures/fixtures").join(sdk);
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

pub(crate) fn verifier(strict: bool) -> SignatureVerifier {
    SignatureVerifier::builder().jwks(read("keys/jwks.json")).strict(strict).build().unwrap()
}

/// A store that believes what the test keys signed.
pub(crate) fn store(cards: &Cards, strict: bool) -> CardStore {
    cards.builder().verifier(Arc::new(verifier(strict))).build().unwrap()
}

/// What a store says of a card. One that is refused must not be held.
pub(crate) async fn put(store: &CardStore, card: impl Into<String>) -> Result<(), CardFailure> {
    let target: Uri = "https://agent.example.com/a2a".parse().unwrap();
    store.clear();
    let put = store.put(&target, card.into().into()).await;
    let held = store.peek(&CardKeyRef::new(&target, &HeaderMap::new())).is_some();
    assert_eq!(held, put.is_ok());
    put
}

pub(crate) fn why(failure: CardFailure) -> String {
    match failure {
        CardFailure::Signature { why, .. } => why,
        other => panic!("not for its signature: {other}"),
    }
}
