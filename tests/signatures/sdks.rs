//! Whatever the SDKs sign and serve is believed.

use a2a_guard::CardFailure;

use crate::{
    fixtures::{names, put, read, store, why},
    support::Cards,
};

/// The Python SDK leaves out required fields that are empty, and what lacks them is no card.
fn is_no_card(sdk: &str, name: &str) -> bool {
    sdk == "python" && name.starts_with("blank.")
}

#[tokio::test]
async fn every_card_is_believed() {
    let store = store(&Cards::default(), false);
    for (sdk, count) in [("python", 19), ("js", 20)] {
        let names = names(sdk);
        assert_eq!(names.len(), count, "{names:?}");
        for name in names {
            let put = put(&store, read(&format!("{sdk}/{name}"))).await;
            if is_no_card(sdk, &name) {
                assert!(matches!(put, Err(CardFailure::MissingField { .. })), "{sdk} {name}: {put:?}");
            } else {
                assert!(put.is_ok(), "{sdk} {name}: {put:?}");
            }
        }
    }
}

/// What they sign is the specified form only where nothing is empty, no parameter is null, and no field is unknown.
#[tokio::test]
async fn strictly_those_count_that_the_specified_form_covers() {
    let store = store(&Cards::default(), true);
    for sdk in ["python", "js"] {
        for name in names(sdk).iter().filter(|name| !is_no_card(sdk, name)) {
            let put = put(&store, read(&format!("{sdk}/{name}"))).await;
            let covered = name.starts_with("plain.") || name.starts_with("unicode.");
            assert_eq!(put.is_ok(), covered, "{sdk} {name}: {put:?}");
        }
    }
}

#[tokio::test]
async fn none_of_them_is_believed_without_its_key() {
    let only =
        r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"other","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    // Its name does not make a key the right one.
    for kid in ["other", "test-es256", "test-rs256", "test-eddsa"] {
        let verifier =
            a2a_guard::signatures::SignatureVerifier::builder().jwks(only.replace("other", kid)).build().unwrap();
        let store = Cards::default().builder().verifier(std::sync::Arc::new(verifier)).build().unwrap();
        for sdk in ["python", "js"] {
            for name in names(sdk).iter().filter(|name| !is_no_card(sdk, name)) {
                let failure = put(&store, read(&format!("{sdk}/{name}"))).await.unwrap_err();
                assert!(why(failure).contains("does not count") || name.ends_with(".two.json"), "{kid} {sdk} {name}");
            }
        }
    }
}

/// A signature is about one card: those of two cards cannot be swapped.
#[tokio::test]
async fn a_signature_of_another_card_is_none() {
    let store = store(&Cards::default(), false);
    for algorithm in ["es256", "rs256", "eddsa"] {
        let plain = read(&format!("python/plain.{algorithm}.json"));
        let numbers = read(&format!("python/numbers.{algorithm}.json"));
        let signature = |card: &str| {
            let card: serde_json::Value = serde_json::from_str(card).unwrap();
            card["signatures"][0]["signature"].as_str().unwrap().to_owned()
        };
        let swapped = plain.replace(&signature(&plain), &signature(&numbers));
        let failure = put(&store, swapped).await.unwrap_err();
        assert_eq!(
            why(failure),
            format!("its signature does not count: key test-{algorithm} did not sign this content")
        );
    }
}
