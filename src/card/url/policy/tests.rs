use super::*;

fn url(text: &str) -> CardUrl {
    CardUrl::parse(text).unwrap()
}

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

fn strict(text: &str) -> Result<(), UrlFault> {
    UrlPolicy::strict().usable(&url(text), &origin("https://agent.example.com"))
}

#[test]
fn what_a_stranger_may_not_point_to() {
    use UrlFault as F;
    for (text, fault) in [
        ("https://u@agent.example.com/", F::UserInfo),
        ("https://u:p@agent.example.com/", F::UserInfo),
        ("https://@agent.example.com/", F::UserInfo),
        ("http://0.0.0.0:8000/", F::Unspecified),
        ("http://0/", F::Unspecified),
        ("http://[::]/", F::Unspecified),
        ("http://[::ffff:0.0.0.0]/", F::Unspecified),
        ("http://localhost:9999/", F::Loopback),
        ("http://LocalHost./", F::Loopback),
        ("http://x.localhost/", F::Loopback),
        ("http://127.0.0.1/", F::Loopback),
        ("http://127.255.0.3/", F::Loopback),
        ("http://2130706433/", F::Loopback),
        ("http://0177.0.0.1/", F::Loopback),
        ("http://0x7f.1/", F::Loopback),
        ("http://127.1/", F::Loopback),
        ("http://１２７.０.０.１/", F::Loopback),
        ("http://[::1]/", F::Loopback),
        ("http://[::ffff:127.0.0.1]/", F::Loopback),
        ("http://[::127.0.0.1]/", F::Loopback),
        ("http://[64:ff9b::7f00:1]/", F::Loopback),
        ("http://169.254.169.254/latest/meta-data", F::LinkLocal),
        ("http://2852039166/", F::LinkLocal),
        ("http://[fe80::1]/", F::LinkLocal),
        ("http://10.0.0.1/", F::Private),
        ("http://0xa000001/", F::Private),
        ("http://172.16.0.1/", F::Private),
        ("http://192.168.1.1/", F::Private),
        ("http://100.64.0.1/", F::Private),
        ("http://[fd00::1]/", F::Private),
        ("http://[::ffff:192.168.1.1]/", F::Private),
        ("http://224.0.0.1/", F::NotUnicast),
        ("http://255.255.255.255/", F::NotUnicast),
        ("http://134744072/", F::OddAddress),
        ("http://010.8.8.8/", F::OddAddress),
        ("https://agent.example.com/message:send", F::OperationPath),
        ("https://agent.example.com/a2a/agents/x/v1/message:stream", F::OperationPath),
        ("https://agent.example.com/v1/tasks/7", F::OperationPath),
        ("https://agent.example.com/.well-known/agent-card.json", F::CardPath),
        ("https://agent.example.com/x/.well-known/agent.json", F::CardPath),
    ] {
        assert_eq!(strict(text), Err(fault), "{text}");
    }
    for text in [
        "https://agent.example.com",
        "https://agent.example.com/a2a?x=@y",
        "https://other.example.com/",
        "http://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://\u{430}gent.example.com/",
        "https://localhost.example.com/",
    ] {
        assert_eq!(strict(text), Ok(()), "{text}");
    }
}

#[test]
fn each_exception_opens_what_it_names_and_nothing_else() {
    let agent = origin("https://agent.example.com");
    let urls = [
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://169.254.1.1/",
        "https://agent.example.com/tasks/x",
        "http://0.0.0.0/",
        "https://u@a/",
        "http://127.1/",
        "http://224.0.0.1/",
    ];
    for (policy, opened) in [
        (UrlPolicy::strict(), None),
        (UrlPolicy::strict().allow_loopback(), Some(0)),
        (UrlPolicy::strict().allow_private(), Some(1)),
        (UrlPolicy::strict().allow_link_local(), Some(2)),
        (UrlPolicy::strict().allow_operation_paths(), Some(3)),
        (UrlPolicy::strict().allow_plaintext(), None),
        (UrlPolicy::strict().allow_any_origin(), None),
    ] {
        for (index, text) in urls.iter().enumerate() {
            let usable = policy.usable(&url(text), &agent).is_ok();
            assert_eq!(usable, opened == Some(index), "{text} under {policy:?}");
        }
    }
}

#[test]
fn what_the_caller_itself_named_is_allowed() {
    let policy = UrlPolicy::strict();
    for (agent, text) in [
        ("http://10.0.0.5:8000", "http://10.0.0.5:9000/"),
        ("http://0.0.0.0:8000", "http://0.0.0.0:8000/"),
        ("http://[fe80::1]", "http://[fe80::1]/x"),
        ("http://127.0.0.1:8000", "http://localhost:8000/"),
        ("http://localhost:8000", "http://[::1]:8000/"),
    ] {
        assert_eq!(policy.usable(&url(text), &origin(agent)), Ok(()), "{text} from {agent}");
    }
    // A neighbour of it is another matter.
    for (agent, text, fault) in [
        ("http://10.0.0.5", "http://10.0.0.6/", UrlFault::Private),
        ("http://169.254.1.1", "http://169.254.169.254/", UrlFault::LinkLocal),
        ("http://127.0.0.1", "http://127.1/", UrlFault::OddAddress),
        ("http://127.0.0.1", "http://0.0.0.0/", UrlFault::Unspecified),
    ] {
        assert_eq!(policy.usable(&url(text), &origin(agent)), Err(fault), "{text} from {agent}");
    }
}

#[test]
fn the_same_origin_and_no_other() {
    let agent = origin("https://agent.example.com/any/path?x");
    let leaves = |policy: &UrlPolicy, text: &str| policy.leaves(&url(text), &agent);
    let strict = UrlPolicy::strict();
    assert_eq!(leaves(&strict, "https://AGENT.example.com:443/other"), None);
    assert_eq!(leaves(&strict, "http://agent.example.com/"), Some(Leaves::Scheme));
    assert_eq!(leaves(&strict, "http://other.example.com/"), Some(Leaves::Scheme));
    for text in [
        "https://agent.example.com:8443/",
        "https://other.example.com/",
        "https://agent.example.com.evil.example/",
        "https://sub.agent.example.com/",
        "https://agent.example.com./",
        "https://\u{430}gent.example.com/",
    ] {
        assert_eq!(leaves(&strict, text), Some(Leaves::Authority), "{text}");
    }

    let plaintext = UrlPolicy::strict().allow_plaintext();
    assert_eq!(leaves(&plaintext, "http://agent.example.com/"), None);
    assert_eq!(leaves(&plaintext, "http://agent.example.com:443/"), Some(Leaves::Authority));
    assert_eq!(leaves(&plaintext, "http://other.example.com/"), Some(Leaves::Authority));

    let any = UrlPolicy::strict().allow_any_origin();
    assert_eq!(leaves(&any, "https://other.example.com:1/"), None);
    assert_eq!(leaves(&any, "http://other.example.com/"), Some(Leaves::Scheme));
    assert_eq!(leaves(&any, "https://\u{430}gent.example.com/"), Some(Leaves::Authority));
}

#[test]
fn a_named_origin_is_allowed_with_its_scheme_and_address() {
    let agent = origin("https://gateway.example.com");
    let policy = UrlPolicy::strict().allow_other_origin(origin("http://10.0.0.5:8080/x"));
    let inside = url("http://10.0.0.5:8080/a2a");
    assert_eq!((policy.usable(&inside, &agent), policy.leaves(&inside, &agent)), (Ok(()), None));
    assert_eq!(policy.usable(&url("http://10.0.0.5:8081/"), &agent), Err(UrlFault::Private));
    assert_eq!(policy.usable(&url("http://u@10.0.0.5:8080/"), &agent), Err(UrlFault::UserInfo));
    assert_eq!(policy.leaves(&url("https://gateway.example.com/"), &agent), None);
    assert_eq!(agent.to_string(), "https://gateway.example.com");
}

#[test]
fn an_upgrade_is_another_origin_too() {
    let agent = origin("http://agent.example.com");
    let upgraded = url("https://agent.example.com/");
    assert_eq!(UrlPolicy::strict().leaves(&upgraded, &agent), Some(Leaves::Scheme));
    assert_eq!(UrlPolicy::strict().allow_any_origin().leaves(&upgraded, &agent), None);
}
