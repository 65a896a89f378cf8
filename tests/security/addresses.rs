//! URLs out of a card, end to end: where nobody may be sent, nothing is sent to, neither a call nor the question for a
//! card.

use a2a_guard::{card::UrlPolicy, card_consistency::Route};

use crate::{
    mock::Dialect,
    support::{Card, Cards, Page, ROOT, layer, through},
};

use Dialect::{Rest, V1};

const NOWHERE: [&str; 46] = [
    // Another origin, however it is dressed up.
    "https://evil.example.net/a2a",
    "https://agent.example.com@evil.example.net/a2a",
    "https://agent.example.com:443@evil.example.net/a2a",
    "https://agent.example.com%40evil.example.net/a2a",
    "https://evil.example.net/@agent.example.com",
    "https://evil.example.net?@agent.example.com/",
    "https://evil.example.net#@agent.example.com/",
    "https://evil.example.net\\@agent.example.com/",
    "https://agent.example.com.evil.example.net/a2a",
    "https://agent.example.com./a2a",
    "https://agent.example.com:8443/a2a",
    "https://\u{430}gent.example.com/a2a",
    "https://xn--gent-43d.example.com/a2a",
    "https://\u{ff41}gent.example.com/a2a",
    "https://agent.example\u{3002}com/a2a",
    "https://agent\u{200b}.example.com/a2a",
    "https://agent\u{ad}.example.com/a2a",
    // Credentials of the card's own.
    "https://user:pw@agent.example.com/a2a",
    "https://@agent.example.com/a2a",
    // No encryption any longer.
    "http://agent.example.com/a2a",
    // Other schemes, and none.
    "ftp://agent.example.com/a2a",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "//evil.example.net/a2a",
    "/a2a",
    "https:///a2a",
    "https:agent.example.com/a2a",
    // What clients repair.
    "https://agent.example.com\t/a2a",
    " https://agent.example.com/a2a",
    "https://agent.example.com/a2a\r\nHost: evil.example.net",
    "ht\ntps://agent.example.com/a2a",
    // The caller's own machine and network.
    "https://127.0.0.1/a2a",
    "https://localhost/a2a",
    "https://localhost./a2a",
    "https://2130706433/a2a",
    "https://0x7f000001/a2a",
    "https://0177.0.0.1/a2a",
    "https://127.1/a2a",
    "https://[::1]/a2a",
    "https://[::ffff:127.0.0.1]/a2a",
    "https://[fe80::1%25eth0]/a2a",
    "https://[fe80::1%eth0]/a2a",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/a2a",
    "https://[fd00::1]/a2a",
    "https://0.0.0.0/a2a",
];

async fn routed(url: &str, urls: UrlPolicy) -> (String, Vec<String>, Option<String>) {
    let text = serde_json::Value::from(url).to_string();
    let json = Card::default().at("X").interface("X", "HTTP+JSON", "1.0").json().replace(r#""X""#, &text);
    let mut reached = None;
    let mut words = Vec::new();
    let mut asked = Vec::new();
    for mut request in [V1.send(), Rest.send()] {
        request.headers_mut().insert("authorization", "Bearer s3cret".parse().unwrap());
        let cards = Cards::default().put(ROOT, Page::text(json.clone(), "application/json"));
        let route = Route::new(cards.store(), "https://agent.example.com".parse().unwrap()).urls(urls.clone());
        let (ended, sent) = through(layer(&cards).resolver(route), request).await;
        words.push(ended.word());
        asked.extend(cards.urls().into_iter().filter(|url| url != ROOT));
        reached = reached.or(sent.map(|request| request.uri().to_string()));
    }
    (words.join(" "), asked, reached)
}

#[tokio::test(start_paused = true)]
async fn a_hint_leads_nowhere_else() {
    for url in NOWHERE {
        let (word, asked, reached) = routed(url, UrlPolicy::strict()).await;
        assert_eq!((asked, reached), (vec![], None), "{url:?}: {word}");
        for word in word.split(' ') {
            assert!(matches!(word, "card/unusable_url" | "card/url_mismatch"), "{url:?}: {word}");
        }
    }
    // The measure can tell.
    let (word, asked, reached) = routed("https://agent.example.com/a2a", UrlPolicy::strict()).await;
    assert!(asked.len() == 2 && reached.is_some(), "{word}");
}

/// Who allows every origin still allows no disguise, no downgrade and no address of its own.
#[tokio::test(start_paused = true)]
async fn any_origin_is_not_any_place() {
    for url in NOWHERE {
        let open = [
            "https://evil.example.net/a2a",
            "https://evil.example.net/@agent.example.com",
            "https://evil.example.net?@agent.example.com/",
            "https://evil.example.net#@agent.example.com/",
            "https://agent.example.com.evil.example.net/a2a",
            "https://agent.example.com./a2a",
            "https://agent.example.com:8443/a2a",
            "https://xn--gent-43d.example.com/a2a",
        ];
        let (word, asked, reached) = routed(url, UrlPolicy::strict().allow_any_origin()).await;
        if open.contains(&url) {
            let host = reached.unwrap_or_default();
            assert!(!host.contains('@') || host.starts_with("https://evil.example.net"), "{url:?}: {host}");
        } else {
            assert_eq!((asked, reached), (vec![], None), "{url:?}: {word}");
        }
    }
}

/// A redirect is an answer like any other: of an agent, of a card's host, and of a probe.
#[tokio::test(start_paused = true)]
async fn redirects_are_not_followed_anywhere() {
    use crate::{mock::Answer, probing};
    for status in [301, 302, 303, 307, 308] {
        let away = move || {
            let body = crate::mock::MockBody::new();
            Answer::new(status, "text/plain", body).header("location", "https://evil.example.net/a2a")
        };
        let agent = probing::Agent::new(move |_| away());
        let (mut service, _) = probing::usual(&agent);
        let mut request = V1.send();
        request.headers_mut().insert("authorization", "Bearer s3cret".parse().unwrap());
        let ended = probing::call(&mut service, request).await;
        assert_eq!(ended.word(), "refused/redirected", "{status}");
        assert!(agent.asked().iter().all(|asked| asked.uri.host() == Some("agent.example.com")));

        let cards = Cards::of(Page::status(status).header("location", "https://evil.example.net/card.json"));
        let (ended, sent) = through(layer(&cards), V1.send()).await;
        assert_eq!((ended.word().as_str(), sent.is_some()), ("card/http_status", false), "{status}");
        assert!(cards.urls().iter().all(|url| url.starts_with("https://agent.example.com/")));
    }
}
