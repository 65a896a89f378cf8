use super::*;

#[test]
fn urls_are_compared_by_what_is_the_same_in_every_reading() {
    for (text, normal) in [
        ("https://agent.example.com", "https://agent.example.com/"),
        ("HTTPS://Agent.Example.COM:443/A2A", "https://agent.example.com/A2A"),
        ("http://a:80", "http://a/"),
        ("http://a:443/", "http://a:443/"),
        ("https://a:/x", "https://a/x"),
        ("https://a:0443/x", "https://a/x"),
        ("https://a/%7euser/%2fx/%c3%a9", "https://a/~user/%2Fx/%C3%A9"),
        ("https://a/é", "https://a/%C3%A9"),
        ("https://a/%zz%", "https://a/%zz%"),
        // With what stands before it, what it escapes would be an escape of something else.
        ("https://a/%%663", "https://a/%%663"),
        ("https://a/%%36%36", "https://a/%%366"),
        ("https://a/%3%33", "https://a/%3%33"),
        ("https://a/%%7e%4%7a", "https://a/%~%4z"),
        ("https://a?x=%41", "https://a/?x=A"),
        ("https://a/b/#frag?no", "https://a/b/"),
        ("https://a/b/../c", "https://a/b/../c"),
        ("https://[2001:DB8::0:1]:8443/", "https://[2001:db8::1]:8443/"),
    ] {
        assert_eq!(CardUrl::parse(text).unwrap().to_string(), normal, "{text}");
        // Normalising again changes nothing.
        assert_eq!(CardUrl::parse(normal).unwrap().to_string(), normal);
    }
}

#[test]
fn a_slash_at_the_end_and_an_escaped_slash_make_another_path() {
    let path = |text| CardUrl::parse(text).unwrap().path_and_query();
    assert_ne!(path("https://a/x"), path("https://a/x/"));
    assert_ne!(path("https://a/x%2Fy"), path("https://a/x/y"));
    assert_ne!(path("https://a/x?agent=b"), path("https://a/x"));
    assert_eq!(path("https://a/x?A2A-Version=1.0"), path("https://a/x"));
    assert_eq!(path("https://a/x?agent=b&a2a-version=1.0"), path("https://a/x?agent=b"));
}

#[test]
fn what_is_no_url_and_why() {
    use UrlFault as F;
    for (text, fault) in [
        ("", F::Relative),
        ("/a2a", F::Relative),
        ("a2a", F::Relative),
        ("//agent.example.com/a2a", F::Relative),
        ("agent.example.com/a2a", F::Relative),
        ("localhost:8000", F::Relative),
        ("https:/agent.example.com", F::Relative),
        ("https:agent.example.com", F::Relative),
        ("mailto:a@b", F::Relative),
        ("/x?u=https://a", F::Relative),
        ("ftp://a/", F::NotHttp),
        ("file:///etc/passwd", F::NotHttp),
        ("ws://a/", F::NotHttp),
        ("grpc://a:50051", F::NotHttp),
        ("https://", F::BadHost),
        ("https:///x", F::BadHost),
        ("https://:8080/", F::BadHost),
        ("https://?x", F::BadHost),
        ("https://2001:db8::1/", F::BadHost),
        ("https://a%2eb/", F::BadHost),
        ("https://a:x/", F::BadPort),
        ("https://a:65536/", F::BadPort),
        ("https://a:0/", F::BadPort),
        ("https://a:+80/", F::BadPort),
        ("https://a:-1/", F::BadPort),
        (" https://a/", F::BadCharacter),
        ("https://a/\n", F::BadCharacter),
        ("https://a\t.b/", F::BadCharacter),
        ("https:\\\\a/", F::BadCharacter),
        ("https://good.example.com\\@evil.example.com/", F::BadCharacter),
        ("https://a/\u{2003}", F::BadCharacter),
    ] {
        assert_eq!(CardUrl::parse(text), Err(fault), "{text:?}");
    }
}

#[test]
fn the_host_is_what_stands_behind_the_last_at_sign() {
    let url = CardUrl::parse("https://agent.example.com:443@evil.example.com/").unwrap();
    assert_eq!(url.host(), "evil.example.com");
    assert!(url.user_info);
    let url = CardUrl::parse("https://a@b@c/").unwrap();
    assert_eq!(url.host(), "c");
    // An at sign behind the authority is an ordinary character.
    assert!(!CardUrl::parse("https://c/@b").unwrap().user_info);
    assert_eq!(CardUrl::parse("https://c#@evil.example.com/").unwrap().host(), "c");
}

#[test]
fn grpc_targets_with_and_without_a_scheme() {
    let url = |text| CardUrl::parse_grpc(text).unwrap();
    assert_eq!(url("grpc.example.com:443").authority(), "grpc.example.com:443");
    assert_eq!(url("grpc.example.com").scheme(), None);
    assert_eq!(url("https://grpc.example.com/a2a").scheme(), Some(Scheme::Https));
    assert!(url("grpc.example.com:443").same_authority(&url("https://grpc.example.com")));
    assert!(url("grpc.example.com").same_authority(&url("https://grpc.example.com")));
    assert!(url("grpc.example.com").same_authority(&url("http://grpc.example.com")));
    assert!(!url("grpc.example.com:443").same_authority(&url("http://grpc.example.com")));
    assert!(!url("grpc.example.com:50051").same_authority(&url("https://grpc.example.com")));
    for text in ["", "/x", "dns:///a:1", "dns:a:1", "unix:/run/x"] {
        assert!(CardUrl::parse_grpc(text).is_err(), "{text}");
    }
}

#[test]
fn a_requests_uri_is_the_same_url() {
    let uri: Uri = "https://Agent.example.com:443/a2a?x=1".parse().unwrap();
    assert_eq!(CardUrl::of(&uri), CardUrl::parse("https://agent.example.com/a2a?x=1"));
    assert_eq!(CardUrl::of(&Uri::from_static("/a2a")), Err(UrlFault::Relative));
    assert_eq!(CardUrl::of(&Uri::from_static("a2a.example.com:443")), Err(UrlFault::Relative));
}
