//! Sets of keys, good and bad.

use super::{
    vectors::{P256_JWK, RSA_JWK},
    *,
};
use crate::signatures::{SignatureAlgorithm, SignatureVerifierError};

fn build(jwks: impl AsRef<[u8]>) -> Result<SignatureVerifier, SignatureVerifierError> {
    SignatureVerifier::builder().jwks(jwks).build()
}

fn refused(jwks: impl AsRef<[u8]>) -> String {
    build(jwks).unwrap_err().to_string()
}

fn refused_key(jwk: &str) -> String {
    refused(set(&[jwk]))
}

#[test]
fn good_ones() {
    let verifier = build(set(&[RSA_JWK, P256_JWK, JWK])).unwrap();
    let names = ["rsa", "ec", "ed"].map(str::to_owned);
    let algorithms = [SignatureAlgorithm::Rs256, SignatureAlgorithm::Es256, SignatureAlgorithm::EdDsa];
    assert_eq!(verifier.keys(), names.into_iter().zip(algorithms).collect::<Vec<_>>());
    assert!(verifier.passed_over().is_empty());
    let several = SignatureVerifier::builder().jwks(set(&[RSA_JWK])).jwks(set(&[JWK])).build().unwrap();
    assert_eq!(several.keys().len(), 2);
    let told = RSA_JWK.replacen('{', r#"{"alg":"RS256","use":"sig","key_ops":["verify"],"x5t":"AA","#, 1);
    assert_eq!(build(set(&[&told])).unwrap().keys().len(), 1);
    // Some software writes a leading zero, though RFC 7518 §6.3.1.1 says not to.
    let n = RSA_JWK.split("\"n\":\"").nth(1).unwrap().split('"').next().unwrap();
    let zero = [&[0][..], &unbase64(n)].concat();
    assert_eq!(build(set(&[&RSA_JWK.replace(n, &base64(zero))])).unwrap().keys().len(), 1);
}

#[test]
fn sets_that_are_none() {
    assert_eq!(SignatureVerifier::builder().build().unwrap_err().to_string(), "jwks has no key");
    for (set, why) in [
        ("", "jwks is no JSON"),
        ("{", "jwks is no JSON"),
        ("[]", "jwks is no JSON object"),
        ("{}", "jwks has no `keys` (RFC 7517 §5.1)"),
        (r#"{"keys":{}}"#, "jwks has `keys` that are no list (RFC 7517 §5.1)"),
        (r#"{"keys":[]}"#, "jwks has no key"),
        (r#"{"keys":[],"keys":[]}"#, "jwks has a name twice in one object"),
        (r#"{"keys":[1]}"#, "jwks: key 1 is no JSON object"),
        (JWK, r#"jwks is a single key; put it into a set: {"keys": [...]}"#),
    ] {
        assert_eq!(refused(set), why, "{set}");
    }
    assert_eq!(refused([0xff]), "jwks is not UTF-8");
}

#[test]
fn keys_that_are_none() {
    let ed = |from: &str, to: &str| JWK.replace(from, to);
    let ec = |from: &str, to: &str| P256_JWK.replace(from, to);
    let off_curve = ec("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI4a0");
    for (jwk, why) in [
        (ed(r#""kty":"OKP","#, ""), "(ed) has no `kty`"),
        (ed(r#""kid":"ed","#, ""), " has no `kid`, by which signatures name it"),
        (ed(r#""ed""#, r#""""#), "() has no `kid`, by which signatures name it"),
        (ed(r#""crv":"Ed25519","#, ""), "(ed) has no `crv`"),
        (ed(r#""x":"#, r#""z":"#), "(ed) has no `x`"),
        (ed("HURo", "HURo=="), "(ed) has a `x` that is not base64url without padding"),
        (ed("HURo", ""), "(ed) has 29 bytes; Ed25519 has 32"),
        (ed("{", r#"{"alg":1,"#), "(ed) has an `alg` that is no text"),
        (ec("x_FEzRu9", ""), "(ec) has a `y` of 26 bytes; P-256 has 32"),
        (off_curve, "(ec) is no point on P-256"),
        (ec(r#""y":"#, r#""z":"#), "(ec) has no `y`"),
        (RSA_JWK.replace("AQAB", "AQAA"), "(rsa) has an exponent that is even, 1, or longer than 33 bits"),
        (RSA_JWK.replace("AQAB", "AQ"), "(rsa) has an exponent that is even, 1, or longer than 33 bits"),
        (RSA_JWK.replace("AQAB", ""), "(rsa) has an exponent that is even, 1, or longer than 33 bits"),
        (RSA_JWK.replace("AQAB", "BAAAAAE"), "(rsa) has an exponent that is even, 1, or longer than 33 bits"),
        (RSA_JWK.replace("XpoQ", "XpoA"), "(rsa) has an even modulus, which is no product of two large primes"),
    ] {
        let why = why.strip_prefix('(').map_or(format!("jwks: key 1{why}"), |why| format!("jwks: key 1 ({why}"));
        assert_eq!(refused_key(&jwk), why, "{jwk}");
    }
}

/// A set that holds what only the signer should have has leaked it.
#[test]
fn secrets_are_no_public_keys() {
    for (jwk, why) in [
        (
            JWK.replacen('{', &format!(r#"{{"d":"{SEED}","#), 1),
            "jwks: key 1 (ed) is a private key: it has `d`; give its public part",
        ),
        (
            RSA_JWK.replacen('{', r#"{"use":"enc","qi":"AA","#, 1),
            "jwks: key 1 (rsa) is a private key: it has `qi`; give its public part",
        ),
        (
            r#"{"kty":"oct","kid":"mac","k":"AA"}"#.to_owned(),
            "jwks: key 1 (mac) is a shared secret: whoever verifies with it can sign with it",
        ),
    ] {
        let error = build(set(&[&jwk])).unwrap_err();
        assert_eq!(error.to_string(), why);
        assert!(!format!("{error:?}").contains(SEED));
    }
}

#[test]
fn weak_keys_are_refused() {
    for (bytes, why) in [
        (128, "jwks: key 1 (rsa) is weak: its modulus has 1024 bits, and RS256 needs 2,048"),
        (255, "jwks: key 1 (rsa) is weak: its modulus has 2040 bits, and RS256 needs 2,048"),
        (1025, "jwks: key 1 (rsa) is too large: its modulus has 8200 bits, and at most 8,192 are verified"),
        (0, "jwks: key 1 (rsa) is weak: its modulus has 0 bits, and RS256 needs 2,048"),
    ] {
        let jwk = format!(r#"{{"kty":"RSA","kid":"rsa","e":"AQAB","n":"{}"}}"#, base64(vec![0xff; bytes]));
        assert_eq!(refused_key(&jwk), why);
    }
    // One bit too few.
    let mut modulus = vec![0xff; 256];
    modulus[0] = 0x7f;
    let jwk = format!(r#"{{"kty":"RSA","kid":"rsa","e":"AQAB","n":"{}"}}"#, base64(modulus));
    assert_eq!(refused_key(&jwk), "jwks: key 1 (rsa) is weak: its modulus has 2047 bits, and RS256 needs 2,048");
    // Points of small order: 32 zeros, the neutral element, and the same with the sign of x.
    let mut one = [0; 32];
    one[0] = 1;
    let mut signed = one;
    signed[31] = 0x80;
    for key in [[0; 32], one, signed] {
        let jwk = format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"{}"}}"#, base64(key));
        assert_eq!(refused_key(&jwk), "jwks: key 1 (ed) is weak: anybody can sign by a point of small order");
    }
}

#[test]
fn two_keys_with_one_name_are_refused() {
    assert_eq!(refused(set(&[JWK, JWK])), "jwks: key 2 (ed) has the `kid` of another key for EdDSA");
    let twice = SignatureVerifier::builder().jwks(set(&[JWK])).jwks(set(&[JWK])).build();
    assert_eq!(twice.unwrap_err().kid(), Some("ed"));
}

/// RFC 7517 §5: keys of kinds that are not understood are ignored, and here nobody has to guess which.
#[test]
fn keys_for_other_ends_are_passed_over() {
    let others = [
        JWK.replace("\"sig\"", "\"enc\""),
        RSA_JWK.replacen('{', r#"{"alg":"RS512","#, 1),
        RSA_JWK.replacen('{', r#"{"alg":"HS256","#, 1),
        P256_JWK.replacen('{', r#"{"key_ops":["deriveBits"],"#, 1),
        r#"{"kty":"EC","crv":"secp256k1"}"#.to_owned(),
        r#"{"kty":"AKP","kid":"pq"}"#.to_owned(),
    ];
    let mut jwks: Vec<_> = others.iter().map(String::as_str).collect();
    let alone = refused(set(&jwks));
    assert_eq!(alone, "jwks has no key to verify with; the first is for another use than signatures");
    let name = JWK.replace("\"ed\"", "\"good\"");
    jwks.push(&name);
    let verifier = build(set(&jwks)).unwrap();
    assert_eq!(verifier.keys(), [("good".to_owned(), SignatureAlgorithm::EdDsa)]);
    let passed: Vec<_> = verifier.passed_over();
    let names: Vec<_> = passed.iter().map(|(kid, _)| kid.as_deref()).collect();
    assert_eq!(names, [Some("ed"), Some("rsa"), Some("rsa"), Some("ec"), None, Some("pq")]);
    assert_eq!(passed[1].1, "is for another algorithm than RS256");
}
