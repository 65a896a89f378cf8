//! Extensions that an agent requires (§4.6) have to be activated by the call (§3.2.6).

use a2a_guard::{CardFailure, card::Party};

use crate::{
    mock::Dialect,
    support::{Card, failure, once},
};

use Dialect::V1;

const ONE: &str = "https://ext.example.com/one";
const TWO: &str = "https://ext.example.com/two";

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_use_one_is_refused() {
    for (card, used, missing) in [
        (Card::plain().requires(ONE), None, ONE),
        (Card::plain().requires(ONE).requires(TWO), Some(ONE), TWO),
        (Card::plain().requires(ONE), Some("https://ext.example.com/one-more"), ONE),
        (Card::plain().requires(ONE), Some("https://EXT.example.com/one"), ONE),
    ] {
        let mut request = V1.send();
        if let Some(used) = used {
            request.headers_mut().insert("a2a-extensions", used.parse().unwrap());
        }
        let (ended, sent) = once(card, request).await;
        assert_eq!(ended.word(), "card/extension_missing");
        assert_eq!(ended.error().a2a_error().unwrap().name(), "ExtensionSupportRequiredError");
        let CardFailure::ExtensionMissing { uri, by, .. } = failure(&ended) else { panic!("{ended:?}") };
        assert_eq!((uri.as_str(), *by), (missing, Party::Agent));
        assert!(sent.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_uses_all_of_them_is_sent_as_it_is() {
    let both = || Card::plain().requires(ONE).requires(TWO);
    for lines in [vec![format!("{ONE}, {TWO}")], vec![TWO.to_owned(), ONE.to_owned()], vec![format!(" {TWO} ,{ONE},")]]
    {
        let mut request = V1.send();
        for line in &lines {
            request.headers_mut().append("a2a-extensions", line.parse().unwrap());
        }
        let (ended, sent) = once(both(), request).await;
        assert_eq!(ended.word(), "success/success", "{lines:?}");
        let sent = sent.unwrap();
        let arrived: Vec<_> =
            sent.headers().get_all("a2a-extensions").iter().map(|value| value.to_str().unwrap()).collect();
        assert_eq!(arrived, lines);
    }
    let mut request = V1.send();
    request.headers_mut().append("x-a2a-extensions", format!("{ONE},{TWO}").parse().unwrap());
    assert_eq!(once(both(), request).await.0.word(), "success/success", "the header's name in 0.3");
}

#[tokio::test(start_paused = true)]
async fn what_is_offered_or_not_known_refuses_nothing() {
    assert_eq!(once(Card::plain().offers(ONE), V1.send()).await.0.word(), "success/success");
    let mut request = V1.send();
    request.headers_mut().insert("a2a-extensions", TWO.parse().unwrap());
    assert_eq!(once(Card::plain().offers(ONE), request).await.0.word(), "success/success");
}
