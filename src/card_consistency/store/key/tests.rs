use std::hash::RandomState;

use http::{HeaderMap, HeaderName};
use quick_cache::Equivalent;

use super::*;
use crate::call::ProtocolVersion;

fn keying() -> Keying {
    Keying {
        tenant_headers: [HeaderName::from_static("x-tenant")].into(),
        credential_headers: [http::header::AUTHORIZATION].into(),
        by_tenant: true,
        random: RandomState::new(),
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    use std::hash::DefaultHasher;
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs.iter().map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

/// Whether a call to the second finds what is kept for the first.
fn same(first: CardKeyRef<'_>, second: CardKeyRef<'_>, scope: Scope) -> bool {
    let keying = keying();
    let key = keying.borrow(&first, scope).to_key();
    let borrowed = keying.borrow(&second, scope);
    let found = |borrowed: &Borrowed<'_>| {
        let equivalent = borrowed.equivalent(&key);
        if equivalent {
            assert_eq!(hash_of(borrowed), hash_of(&key));
        }
        equivalent.then_some(())
    };
    let equivalent = borrowed.find(found).is_some();
    assert_eq!(equivalent, borrowed.to_key() == key);
    equivalent
}

#[test]
fn one_target_however_it_is_spelled() {
    let none = HeaderMap::new();
    let first = Uri::from_static("https://Agent.Example.com/a2a/");
    for (other, expected) in [
        ("https://agent.example.com:443/a2a", true),
        ("HTTPS://AGENT.example.COM/a2a", true),
        ("https://user@agent.example.com/a2a?x=1", true),
        ("https://agent.example.com/A2A", false),
        ("https://agent.example.com:444/a2a", false),
        ("http://agent.example.com:443/a2a", false),
        ("https://agent.example.com./a2a", false),
        ("https://agent.example.con/a2a", false),
    ] {
        let other = other.parse().unwrap();
        let is = same(CardKeyRef::new(&first, &none), CardKeyRef::new(&other, &none), Scope::FULL);
        assert_eq!(is, expected, "{other}");
    }
}

#[test]
fn tenant_and_tenant_headers_always_count() {
    let target = Uri::from_static("https://agent.example.com");
    let (a, b) = (headers(&[("x-tenant", "a")]), headers(&[("x-tenant", "b"), ("x-other", "1")]));
    let bare = HeaderMap::new();
    let key = |headers| CardKeyRef::new(&target, headers);
    let none = Scope::default();
    assert!(same(key(&a), key(&a), none));
    assert!(!same(key(&a), key(&b), none));
    assert!(!same(key(&a), key(&bare), none));
    assert!(!same(key(&a).with_tenant("t"), key(&a), none));
}

#[test]
fn every_value_of_a_tenant_header_counts() {
    let target = Uri::from_static("https://agent.example.com");
    let of = |count: usize| -> HeaderMap {
        let mut headers = HeaderMap::new();
        (0..count).for_each(|n| assert_eq!(headers.append("x-tenant", HeaderValue::from(n)), n > 0));
        headers
    };
    for (first, second) in (0..8).flat_map(|first| (0..8).map(move |second| (first, second))) {
        let (a, b) = (of(first), of(second));
        let is = same(CardKeyRef::new(&target, &a), CardKeyRef::new(&target, &b), Scope::default());
        assert_eq!(is, first == second, "{first} {second}");
    }
}

#[test]
fn version_and_credential_count_within_their_scope() {
    let target = Uri::from_static("https://agent.example.com");
    let (a, b) = (headers(&[("authorization", "Bearer a")]), headers(&[("authorization", "Bearer b")]));
    let bare = HeaderMap::new();
    let key = |headers| CardKeyRef::new(&target, headers);
    let credential = Scope { credential: true, ..Scope::default() };
    let version = Scope { version: true, ..Scope::default() };
    assert!(same(key(&a), key(&b), version));
    assert!(same(key(&a), key(&a), credential));
    assert!(!same(key(&a), key(&b), credential));
    assert!(!same(key(&a), key(&bare), credential));
    assert!(same(key(&a).with_version(ProtocolVersion::V1_0), key(&a), credential));
    assert!(!same(key(&a).with_version(ProtocolVersion::V1_0), key(&a), version));
    assert!(!same(key(&a).with_version(ProtocolVersion::V1_0), key(&a).with_version(ProtocolVersion::V0_3), version));
    let every = [None, Some((0, 0)), Some((0, 1)), Some((0, 3)), Some((1, 0)), Some((1, 3)), Some((2, 0))];
    let every = every.map(|version| version.map(|(major, minor)| ProtocolVersion::new(major, minor)));
    for (one, other) in every.iter().flat_map(|one| every.map(|other| (*one, other))) {
        let is = same(key(&a).with_version(one), key(&a).with_version(other), version);
        assert_eq!(is, one == other, "{one:?} {other:?}");
    }
    // "Makes no difference" is a key of its own.
    let keying = keying();
    let any = keying.borrow(&key(&a), Scope::default()).to_key();
    assert_ne!(any, keying.borrow(&key(&a), version).to_key());
    assert_ne!(any, keying.borrow(&key(&bare), credential).to_key());
}

#[test]
fn an_authority_is_found_however_it_is_spelled() {
    let none = HeaderMap::new();
    let long = "a".repeat(300);
    for (kept, asked) in [
        ("https://agent.example.com", "https://AGENT.example.com:443"),
        ("https://agent.example.com:443", "https://u:p@agent.example.com"),
        ("http://agent.example.com:80", "http://agent.example.com"),
        ("http://Agent.example.com:443", "http://agent.example.com:443"),
        ("https://[::1]:8443", "https://[::1]:8443"),
        (&*format!("https://{long}.example.com:8443"), &*format!("https://{long}.EXAMPLE.com:8443")),
    ] {
        let (kept, asked) = (kept.parse::<Uri>().unwrap(), asked.parse::<Uri>().unwrap());
        let found = same(CardKeyRef::new(&kept, &none), CardKeyRef::new(&asked, &none), Scope::default());
        assert!(found, "{kept} {asked}");
        assert!(keying().borrow(&CardKeyRef::new(&kept, &none), Scope::default()).to_key().is_of(&asked));
    }
    for (kept, asked) in [
        ("https://agent.example.com", "http://agent.example.com:443"),
        ("https://agent.example.com:80", "https://agent.example.com"),
        ("https://agent.example.com:8443", "https://agent.example.com:443"),
        ("http://agent.example.com:80", "ws://agent.example.com:80"),
        ("https://agent.example.com/a", "https://agent.example.com/b"),
    ] {
        let (kept, asked) = (Uri::from_static(kept), Uri::from_static(asked));
        assert!(!same(CardKeyRef::new(&kept, &none), CardKeyRef::new(&asked, &none), Scope::default()));
        assert!(!keying().borrow(&CardKeyRef::new(&kept, &none), Scope::default()).to_key().is_of(&asked));
    }
}

#[test]
fn an_extended_card_stands_beside_the_public_one_for_each_tenant() {
    let target = Uri::from_static("https://agent.example.com");
    let none = HeaderMap::new();
    let keying = Keying { by_tenant: false, ..keying() };
    let key = |tenant, scope| keying.borrow(&CardKeyRef::new(&target, &none).with_tenant(tenant), scope).to_key();
    assert_ne!(key(None, Scope::EXTENDED), key(None, Scope::FULL));
    assert_ne!(key(None, Scope::EXTENDED), key(Some("acme"), Scope::EXTENDED));
    assert_eq!(key(None, Scope::FULL), key(Some("acme"), Scope::FULL));
    assert!(key(None, Scope::EXTENDED).is_of(&target));
}

#[test]
fn a_query_tells_extended_cards_apart_and_no_others() {
    let target = Uri::from_static("https://agent.example.com");
    let secret = headers(&[("authorization", "Bearer secret")]);
    let at = |query| CardKeyRef::new(&target, &secret).with_query(query);
    let (one, other) = (at(Some("agent=1")), at(Some("agent=2")));
    for scope in [Scope::default(), Scope::FULL] {
        assert!(same(one, other, scope) && same(one, at(None), scope), "{scope:?}");
    }
    assert!(same(one, one, Scope::EXTENDED));
    assert!(!same(one, other, Scope::EXTENDED) && !same(one, at(None), Scope::EXTENDED));
}

/// Else all calls to one agent would be looked up one by one.
#[test]
fn what_tells_keys_apart_tells_their_hashes_apart() {
    let [a, b, other] = ["https://a.example/x", "https://b.example/x", "https://a.example/y"].map(Uri::from_static);
    let [one, two] = ["1", "2"].map(|token| headers(&[("authorization", token)]));
    let tenant = headers(&[("authorization", "1"), ("x-tenant", "t")]);
    let keying = keying();
    let at = CardKeyRef::new(&a, &one);
    let strict = at.judged_by(Some(keying.judge("strict")));
    let credential = Scope { credential: true, ..Scope::default() };
    let version = Scope { version: true, ..Scope::default() };
    let all = [
        (at, Scope::default()),
        (CardKeyRef::new(&b, &one), Scope::default()),
        (CardKeyRef::new(&other, &one), Scope::default()),
        (CardKeyRef::new(&a, &tenant), Scope::default()),
        (at.with_tenant("t"), Scope::default()),
        (at.with_tenant("u"), Scope::default()),
        (strict, Scope::default()),
        (at.judged_by(Some(keying.judge("lenient"))), Scope::default()),
        (at, credential),
        (CardKeyRef::new(&a, &two), credential),
        (at, version),
        (at.with_version(ProtocolVersion::V1_0), version),
        (at, Scope::EXTENDED),
        (at.with_version(ProtocolVersion::V1_0), Scope::EXTENDED),
    ];
    let mut hashes = all.map(|(at, scope)| hash_of(&keying.borrow(&at, scope)));
    hashes.sort_unstable();
    assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]), "{hashes:?}");
}

#[test]
fn credentials_are_not_kept() {
    let target = Uri::from_static("https://agent.example.com");
    let secret = headers(&[("authorization", "Bearer secret")]);
    let key = keying().borrow(&CardKeyRef::new(&target, &secret), Scope::FULL).to_key();
    assert!(key.is_by_credential());
    assert!(!format!("{key:?}").contains("secret"));
}
