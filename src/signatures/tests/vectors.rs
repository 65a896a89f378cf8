//! Examples out of RFC 7515, RFC 8037 and RFC 8785.

use super::*;
use crate::signatures::{canonical::Output, jwks::Keys, key::SignatureAlgorithm};

/// Header and payload of RFC 7515 A.1 to A.3.
const JOE: &str = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

pub(super) const RSA_JWK: &str = r#"{"kty":"RSA","kid":"rsa","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}"#;
const RSA_SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

pub(super) const P256_JWK: &str = r#"{"kty":"EC","crv":"P-256","kid":"ec","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
const P256_SIGNATURE: &str = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

const ED25519_SIGNATURE: &str =
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

#[test]
fn signatures() {
    for (jwk, algorithm, input, signature) in [
        (RSA_JWK, SignatureAlgorithm::Rs256, format!("eyJhbGciOiJSUzI1NiJ9.{JOE}"), RSA_SIGNATURE),
        (P256_JWK, SignatureAlgorithm::Es256, format!("eyJhbGciOiJFUzI1NiJ9.{JOE}"), P256_SIGNATURE),
        (
            JWK,
            SignatureAlgorithm::EdDsa,
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".to_owned(),
            ED25519_SIGNATURE,
        ),
    ] {
        let keys = Keys::read([set(&[jwk]).as_bytes()]).unwrap();
        let [key] = keys.all() else { panic!("{keys:?}") };
        let signature = unbase64(signature);
        assert_eq!(key.algorithm(), algorithm);
        assert!(key.verifies(input.as_bytes(), &signature), "{algorithm}");
        assert!(!key.verifies(format!("{input}A").as_bytes(), &signature), "{algorithm}");
        for place in [0, signature.len() / 2, signature.len() - 1] {
            let mut signature = signature.clone();
            signature[place] ^= 1;
            assert!(!key.verifies(input.as_bytes(), &signature), "{algorithm}");
        }
        assert!(!key.verifies(input.as_bytes(), &[]), "{algorithm}");
        assert!(!key.verifies(input.as_bytes(), &vec![0; signature.len()]), "{algorithm}");
    }
}

/// The text of a value below a card's extension parameters, where all is data.
fn canonical(value: &str) -> String {
    let card = format!(r#"{{"x": {value}}}"#);
    let node = Node::parse(&card).unwrap();
    let bytes = Form::SPECIFIED.payload(node.as_object().unwrap(), usize::MAX).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (_, value) = text.rsplit_once(r#","x":"#).unwrap();
    value.strip_suffix('}').unwrap().to_owned()
}

/// RFC 8785 §3.2.2.
#[test]
fn the_sample_of_rfc_8785() {
    let given = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(canonical(given), expected);
}

/// RFC 8785 §3.2.3.
#[test]
fn names_are_sorted_by_code_units() {
    let given = r#"{
        "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let expected = [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ];
    let text = canonical(given);
    let values: Vec<_> = text.split("\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(values, expected);
}

/// RFC 8785 appendix B.
#[test]
fn numbers_are_written_as_ecmascript_does() {
    for (bits, expected) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let mut out = Output::new(usize::MAX);
        out.number(f64::from_bits(bits));
        assert_eq!(String::from_utf8(out.finish().unwrap()).unwrap(), expected);
        // And back: what was read is the number that was written.
        assert_eq!(canonical(expected), expected);
    }
}

/// Neither too exact nor not exact enough: these are where careless readers are off by one.
#[test]
fn numbers_are_read_to_the_nearest_double() {
    for (given, expected) in [
        ("9007199254740993", "9007199254740992"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("2.2250738585072011e-308", "2.225073858507201e-308"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("0.1e1", "1"),
        ("-0.0", "0"),
        ("1e-400", "0"),
        ("8.41e21", "8.41e+21"),
        ("5.0e-324", "5e-324"),
        ("6.631236846766476e-316", "6.63123685e-316"),
        ("3.0975990503226654e35", "3.0975990503226654e+35"),
    ] {
        assert_eq!(canonical(given), expected);
    }
}

#[test]
fn text_is_escaped_where_it_must_be_and_nowhere_else() {
    let given = "\"\\u0000\\u001F\\u007f\\u2028\\b\\f\\t\\n\\r\\/ e\u{301} \u{e9} \\ud83d\\ude00\"";
    let expected = "\"\\u0000\\u001f\u{7f}\u{2028}\\b\\f\\t\\n\\r/ e\u{301} \u{e9} \u{1f600}\"";
    assert_eq!(canonical(given), expected);
}
