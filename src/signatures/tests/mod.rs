//! The verifier against the RFCs' examples, and against cards that are not what they seem.

mod forms;
mod headers;
mod hostile;
mod keys;
mod remote;
mod vectors;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::Ed25519KeyPair;

use super::{SignatureVerifier, form::Form, tree::Node};

/// RFC 8037 A.1, with a name.
const SEED: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
const JWK: &str =
    r#"{"kty":"OKP","crv":"Ed25519","kid":"ed","use":"sig","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

const HEADER: &str = r#"{"alg":"EdDSA","kid":"ed","typ":"JOSE"}"#;

/// A card in which nothing is at its default.
const CARD: &str = r#"{
    "name": "A", "description": "d", "version": "1",
    "supportedInterfaces": [{"url": "https://agent.example.com/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "S", "description": "s", "tags": ["t"]}]
}"#;

fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn unbase64(text: &str) -> Vec<u8> {
    BASE64_URL_SAFE_NO_PAD.decode(text).unwrap()
}

fn set(keys: &[&str]) -> String {
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

fn verifier() -> SignatureVerifier {
    SignatureVerifier::builder().jwks(set(&[JWK])).build().unwrap()
}

fn strict() -> SignatureVerifier {
    SignatureVerifier::builder().jwks(set(&[JWK])).strict(true).build().unwrap()
}

/// An entry of `signatures`, by the key of RFC 8037.
fn entry(header: &str, payload: impl AsRef<[u8]>) -> String {
    let key = Ed25519KeyPair::from_seed_unchecked(&unbase64(SEED)).unwrap();
    let protected = base64(header);
    let signature = key.sign(format!("{protected}.{}", base64(payload)).as_bytes());
    format!(r#"{{"protected":"{protected}","signature":"{}"}}"#, base64(signature))
}

/// The card with these entries.
fn with(card: &str, entries: &[String]) -> String {
    let members = card.trim_end().strip_suffix('}').unwrap();
    format!("{members}, \"signatures\": [{}]}}", entries.join(","))
}

/// What is signed of a card, as the specification has it.
fn payload(card: &str) -> Vec<u8> {
    let node = Node::parse(card).unwrap();
    Form::SPECIFIED.payload(node.as_object().unwrap(), usize::MAX).unwrap()
}

fn signed(card: &str) -> String {
    with(card, &[entry(HEADER, payload(card))])
}

/// What the verifier says of a card.
fn word(verifier: &SignatureVerifier, card: impl AsRef<[u8]>) -> Result<(), String> {
    verifier.judge(card.as_ref()).map_err(|fault| fault.to_string())
}

fn refusal(card: impl AsRef<[u8]>) -> String {
    word(&verifier(), card).unwrap_err()
}

#[test]
fn a_signed_card_is_believed() {
    assert_eq!(word(&verifier(), signed(CARD)), Ok(()));
    assert_eq!(word(&strict(), signed(CARD)), Ok(()));
    assert_eq!(word(&strict(), format!("\u{feff}{}", signed(CARD))), Ok(()));
}

#[test]
fn one_without_a_signature_is_not() {
    for card in [CARD.to_owned(), with(CARD, &[]), CARD.replacen('{', r#"{"signatures": null,"#, 1)] {
        assert_eq!(refusal(card), "it carries no signature");
    }
}

#[test]
fn one_valid_signature_is_enough() {
    let good = entry(HEADER, payload(CARD));
    let stranger = entry(&HEADER.replace("ed", "someone"), payload(CARD));
    let broken = good.replace("\"signature\":\"", "\"signature\":\"AAAA");
    for entries in [
        vec![stranger.clone(), good.clone()],
        vec![good.clone(), stranger.clone()],
        vec!["null".into(), "{}".into(), broken.clone(), good],
    ] {
        assert_eq!(word(&verifier(), with(CARD, &entries)), Ok(()));
    }
    let none = with(CARD, &[stranger, broken]);
    assert_eq!(refusal(none), "none of its 2 signatures counts: key ed did not sign this content");
}

#[test]
fn the_keys_can_be_replaced() {
    let verifier = verifier();
    let other = JWK.replace("\"ed\"", "\"next\"");
    assert_eq!(word(&verifier, signed(CARD)), Ok(()));
    verifier.replace_jwks(set(&[])).unwrap_err();
    assert_eq!(word(&verifier, signed(CARD)), Ok(()), "a bad set changes nothing");
    verifier.replace_jwks(set(&[&other])).unwrap();
    assert_eq!(word(&verifier, signed(CARD)).unwrap_err(), "its signature does not count: key ed is not trusted");
}
