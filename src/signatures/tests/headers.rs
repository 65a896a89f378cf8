//! Which signatures count: what their headers say, and where.

use super::{
    vectors::{P256_JWK, RSA_JWK},
    *,
};

/// A card whose only signature has this header. The signature itself is right.
fn headed(header: &str) -> String {
    with(CARD, &[entry(header, payload(CARD))])
}

fn one(why: &str) -> String {
    format!("its signature does not count: {why}")
}

#[test]
fn both_names_of_ed25519_are_known() {
    for name in ["EdDSA", "Ed25519"] {
        for jwk in
            [JWK.to_owned(), JWK.replacen('{', r#"{"alg":"EdDSA","#, 1), JWK.replacen('{', r#"{"alg":"Ed25519","#, 1)]
        {
            let verifier = SignatureVerifier::builder().jwks(set(&[&jwk])).build().unwrap();
            let header = format!(r#"{{"alg":"{name}","kid":"ed"}}"#);
            assert_eq!(word(&verifier, headed(&header)), Ok(()), "{name} {jwk}");
        }
    }
}

#[test]
fn the_algorithm_is_the_keys_own() {
    for name in ["none", "HS256", "RS256", "ES256", "eddsa", "Ed448", "ES384", "PS256", ""] {
        let why = refusal(headed(&format!(r#"{{"alg":"{name}","kid":"ed"}}"#)));
        assert_eq!(why, one(&format!("key ed is for EdDSA, not for {name}")), "{name}");
    }
}

/// A public key is no secret, so that a MAC by it proves nothing; nor does an empty signature.
#[test]
fn a_mac_by_a_public_key_counts_for_nothing() {
    use ring::hmac;
    let verifier = SignatureVerifier::builder().jwks(set(&[RSA_JWK, P256_JWK, JWK])).build().unwrap();
    for (kid, right, jwk) in [("rsa", "RS256", RSA_JWK), ("ec", "ES256", P256_JWK), ("ed", "EdDSA", JWK)] {
        for secret in [jwk.as_bytes(), &unbase64("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")] {
            for alg in ["HS256", right] {
                let protected = base64(format!(r#"{{"alg":"{alg}","kid":"{kid}"}}"#));
                let input = format!("{protected}.{}", base64(payload(CARD)));
                let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), input.as_bytes());
                for value in [base64(tag), String::new()] {
                    let entry = format!(r#"{{"protected":"{protected}","signature":"{value}"}}"#);
                    assert!(word(&verifier, with(CARD, &[entry])).is_err(), "{alg} {kid}");
                }
            }
        }
    }
}

/// One `kid` may name keys of several algorithms (RFC 7517 §4.5): then `alg` chooses among them.
#[test]
fn a_shared_name_is_told_apart_by_algorithm() {
    let rsa = RSA_JWK.replace("\"rsa\"", "\"ed\"");
    let verifier = SignatureVerifier::builder().jwks(set(&[&rsa, JWK])).build().unwrap();
    assert_eq!(word(&verifier, signed(CARD)), Ok(()));
    let other = headed(r#"{"alg":"RS256","kid":"ed"}"#);
    assert_eq!(word(&verifier, other).unwrap_err(), one("key ed did not sign this content"));
}

#[test]
fn what_is_missing_or_odd_in_the_header_is_told() {
    for (header, why) in [
        (r#"{"kid":"ed"}"#, "its protected header has no alg"),
        (r#"{"alg":"EdDSA"}"#, "its protected header has no kid"),
        (r#"{"alg":["EdDSA"],"kid":"ed"}"#, "its protected header has no alg"),
        (r#"{"alg":"EdDSA","kid":null}"#, "its protected header has no kid"),
        (r#"{"alg":"EdDSA","kid":"ED"}"#, "key ED is not trusted"),
        (r#"{"alg":"EdDSA","kid":""}"#, "key  is not trusted"),
        (r#"{"alg":"EdDSA","alg":"EdDSA","kid":"ed"}"#, "its protected header has a name twice"),
        (r#"{"alg":"none","\u0061lg":"EdDSA","kid":"ed"}"#, "its protected header has a name twice"),
        (r#"{"alg":"EdDSA","kid":"ed","x":{"a":1,"a":1}}"#, "its protected header has a name twice"),
        (r#"["EdDSA"]"#, "its protected header is no object"),
        (r#"{"alg":"EdDSA","kid":"ed"} "x""#, "its protected header is no JSON"),
        ("", "its protected header is no JSON"),
        (r#"{"alg":"EdDSA","kid":"ed","crit":["exp"],"exp":0}"#, "its header has crit, and no extension is known"),
        (r#"{"alg":"EdDSA","kid":"ed","crit":["b64"],"b64":false}"#, "its header has crit, and no extension is known"),
        (r#"{"alg":"EdDSA","kid":"ed","crit":[]}"#, "its header has crit, and no extension is known"),
        (r#"{"alg":"EdDSA","kid":"ed","crit":null}"#, "its header has crit, and no extension is known"),
    ] {
        assert_eq!(refusal(headed(header)), one(why), "{header}");
    }
}

/// Keys come from the user, whatever a card brings along: a key in the header vouches for nothing but itself.
#[test]
fn keys_in_headers_are_ignored() {
    let stranger =
        r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"other","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}]}"#;
    let other = SignatureVerifier::builder().jwks(stranger).build().unwrap();
    for extra in [
        format!(r#""jwk":{JWK}"#),
        r#""jku":"https://evil.example.com/jwks.json""#.to_owned(),
        r#""x5u":"https://evil.example.com/cert""#.to_owned(),
        r#""x5c":["MIIB"]"#.to_owned(),
    ] {
        let named = headed(&format!(r#"{{"alg":"EdDSA","kid":"other",{extra}}}"#));
        assert_eq!(word(&other, &named).unwrap_err(), one("key other did not sign this content"), "{extra}");
        let unnamed = headed(&format!(r#"{{"alg":"EdDSA","kid":"ed",{extra}}}"#));
        assert_eq!(word(&other, &unnamed).unwrap_err(), one("key ed is not trusted"), "{extra}");
        assert_eq!(word(&verifier(), &unnamed), Ok(()), "by a trusted key they do no harm: {extra}");
    }
}

fn beside(header: &str, unprotected: &str) -> String {
    let entry = entry(header, payload(CARD)).replacen('{', &format!(r#"{{"header":{unprotected},"#), 1);
    with(CARD, &[entry])
}

#[test]
fn an_unprotected_header_decides_nothing() {
    for harmless in ["null", "{}", r#"{"note":"x"}"#, r#"{"jwk":{},"jku":"https://evil.example.com"}"#] {
        assert_eq!(word(&verifier(), beside(HEADER, harmless)), Ok(()), "{harmless}");
    }
    for (header, unprotected, why) in [
        (HEADER, r#"{"alg":"EdDSA"}"#, "it has alg outside its protected header"),
        (HEADER, r#"{"kid":"ed"}"#, "it has kid outside its protected header"),
        (HEADER, r#"{"crit":["x"]}"#, "it has crit outside its protected header"),
        (r#"{"kid":"ed"}"#, r#"{"alg":"EdDSA"}"#, "it has alg outside its protected header"),
        (r#"{"alg":"EdDSA"}"#, r#"{"kid":"ed"}"#, "its protected header has no kid"),
        (HEADER, "[]", "its unprotected header is no object"),
        (HEADER, "\"\"", "its unprotected header is no object"),
    ] {
        assert_eq!(refusal(beside(header, unprotected)), one(why), "{header} {unprotected}");
    }
}

#[test]
fn an_entry_that_is_no_signature_is_none() {
    let good = entry(HEADER, payload(CARD));
    let padded = good.replacen(&base64(HEADER), &format!("{}==", base64(HEADER)), 1);
    let long = format!(r#"{{"protected":"{}","signature":"AA"}}"#, "A".repeat(4097));
    let longer = format!(r#"{{"protected":"{}","signature":"{}"}}"#, base64(HEADER), "A".repeat(2049));
    for (entry, why) in [
        ("7".to_owned(), "it is no object"),
        ("{}".to_owned(), "it has no protected header"),
        (r#"{"protected":1,"signature":"AA"}"#.to_owned(), "it has no protected header"),
        (format!(r#"{{"protected":"{}"}}"#, base64(HEADER)), "it has no signature value"),
        (r#"{"protected":"{\"alg\":\"EdDSA\"}","signature":"AA"}"#.to_owned(), "its protected header is not base64url"),
        (padded, "its protected header is not base64url"),
        (good.replacen("\"signature\":\"", "\"signature\":\"+/", 1), "its signature value is not base64url"),
        (r#"{"protected":"_w","signature":"AA"}"#.to_owned(), "its protected header is not UTF-8"),
        (long, "it is too long"),
        (longer, "it is too long"),
    ] {
        assert_eq!(refusal(with(CARD, std::slice::from_ref(&entry))), one(why), "{entry}");
    }
    let no_list = CARD.replacen('{', &format!("{{\"signatures\": {good},"), 1);
    assert_eq!(refusal(no_list), "it carries no signature");
}

/// The nearest to counting is told, whatever its place.
#[test]
fn the_most_telling_reason_is_told() {
    let wrong = entry(HEADER, "{}");
    let other = entry(&HEADER.replace("EdDSA", "RS256"), payload(CARD));
    let stranger = entry(&HEADER.replace("\"ed\"", "\"x\\\"\\n\""), payload(CARD));
    let all = |entries: &[&String]| {
        let entries: Vec<_> = entries.iter().map(|entry| (*entry).clone()).collect();
        refusal(with(CARD, &entries))
    };
    assert_eq!(all(&[&stranger, &"1".into()]), r#"none of its 2 signatures counts: key x\"\n is not trusted"#);
    assert_eq!(all(&[&stranger, &other]), "none of its 2 signatures counts: key ed is for EdDSA, not for RS256");
    assert_eq!(all(&[&wrong, &stranger, &other]), "none of its 3 signatures counts: key ed did not sign this content");
}

#[test]
fn a_key_that_is_passed_over_is_named() {
    let p384 = r#"{"kty":"EC","crv":"P-384","kid":"big"}"#;
    let verifier = SignatureVerifier::builder().jwks(set(&[p384, JWK])).build().unwrap();
    let card = headed(r#"{"alg":"ES384","kid":"big"}"#);
    let why = one("key big is of a kind that is not verified here: P-256, RSA and Ed25519 are");
    assert_eq!(word(&verifier, card).unwrap_err(), why);
}
