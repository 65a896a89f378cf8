use super::*;

fn at(target: &'static str, template: Option<&str>, tenant: Option<&str>) -> Vec<(String, bool, bool)> {
    let template = template.map(|text| Template::Pattern(Pattern::parse(text).unwrap()));
    let target = Uri::from_static(target);
    locations(CardTarget { uri: &target, tenant }, template.as_ref(), true)
        .unwrap()
        .into_iter()
        .map(|location| (location.uri.to_string(), location.legacy, location.own))
        .collect()
}

fn uris(target: &'static str, template: Option<&str>, tenant: Option<&str>) -> Vec<String> {
    at(target, template, tenant).into_iter().map(|(uri, ..)| uri).collect()
}

#[test]
fn the_current_name_everywhere_before_the_legacy_one() {
    assert_eq!(
        at("https://u:p@agents.example.com:8443/agents/foo/?x=1", None, None),
        [
            ("https://agents.example.com:8443/agents/foo/.well-known/agent-card.json".to_owned(), false, true),
            ("https://agents.example.com:8443/.well-known/agent-card.json".to_owned(), false, true),
            ("https://agents.example.com:8443/agents/foo/.well-known/agent.json".to_owned(), true, true),
            ("https://agents.example.com:8443/.well-known/agent.json".to_owned(), true, true),
        ]
    );
    assert_eq!(
        uris("http://[::1]:80", None, None),
        ["http://[::1]:80/.well-known/agent-card.json", "http://[::1]:80/.well-known/agent.json"]
    );
}

#[test]
fn a_configured_location_comes_first_and_is_not_the_targets_own_unless_it_is() {
    let found =
        at("https://a.example/x", Some("https://cards.example/{host}{path}.json?tenant={tenant}"), Some("a b&/é"));
    assert_eq!(found[0], ("https://cards.example/a.example/x.json?tenant=a%20b%26%2F%C3%A9".to_owned(), false, false));
    assert_eq!(found.len(), 5);
    let found = at("https://a.example/x", Some("{scheme}://{authority}:443/cards"), None);
    assert_eq!(found[0], ("https://a.example:443/cards".to_owned(), false, true));
    let found = at("https://a.example/x", Some("http://{host}/cards"), None);
    assert_eq!(found[0], ("http://a.example/cards".to_owned(), false, false));
    for (target, port) in [("https://a.example/x", 443), ("http://a.example/x", 80), ("https://a.example:8443/x", 8443)]
    {
        let found = uris(target, Some("https://cards.example/{host}/{port}"), None);
        assert_eq!(found[0], format!("https://cards.example/a.example/{port}"));
    }
}

#[test]
fn without_a_tenant_a_location_by_tenant_is_left_out() {
    assert_eq!(uris("https://a.example", Some("https://cards.example/{tenant}"), None).len(), 2);
    assert_eq!(uris("https://a.example", Some("https://cards.example/{tenant}"), Some("")).len(), 2);
}

#[test]
fn a_tenant_cannot_step_out_of_its_place() {
    let template = Template::Pattern(Pattern::parse("https://cards.example/tenants/{tenant}/card").unwrap());
    let uri = Uri::from_static("https://a.example");
    for tenant in [".", ".."] {
        let target = CardTarget { uri: &uri, tenant: Some(tenant) };
        assert!(matches!(locations(target, Some(&template), true), Err(CardFailure::UnusableUrl { .. })));
    }
    let target = CardTarget { uri: &uri, tenant: Some("../x") };
    assert_eq!(locations(target, Some(&template), true).unwrap()[0].uri, "https://cards.example/tenants/..%2Fx/card");
}

#[test]
fn nor_can_a_path() {
    let located = |pattern, path: &str| {
        let template = Template::Pattern(Pattern::parse(pattern).unwrap());
        let uri = format!("https://a.example{path}").parse().unwrap();
        locations(CardTarget { uri: &uri, tenant: None }, Some(&template), true).map(|found| found[0].uri.to_string())
    };
    let (inside, behind) = ("https://cards.example/a{path}/card", "https://cards.example/card?of={path}");
    for steps in ["/../x", "/x/..", "/./x", "/x/%2e%2E/y", "/%2e", "/.%2e/x"] {
        assert!(matches!(located(inside, steps), Err(CardFailure::UnusableUrl { .. })), "{steps}");
        assert!(located(behind, steps).is_ok(), "{steps} in a query");
    }
    for none in ["/x", "/...", "/..x/y", "/x./.y", "/.well-known"] {
        assert_eq!(located(inside, none).unwrap(), format!("https://cards.example/a{none}/card"));
    }
}

#[test]
fn patterns_that_cannot_be_are_refused() {
    for (text, why) in [
        ("cards.example/{host}", "has no scheme"),
        ("ftp://cards.example/", "must begin with"),
        ("https://{tenant}.example/", "may only have"),
        ("https://{path}/", "may only have"),
        ("https://me@cards.example/", "must not have user information"),
        ("https://cards.example/{skill}", "unknown placeholder {skill}"),
        ("https://cards.example/{host", "brace"),
        ("https://cards.example/host}", "brace"),
        ("https://cards.example/#x", "is no URL"),
        ("https:///x", "is no URL"),
        ("https://cards.example/a b", "is no URL"),
    ] {
        let error = Pattern::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn targets_must_be_absolute() {
    for target in ["/a2a", "agent.example.com:443", "ftp://agent.example.com/"] {
        let uri = target.parse().unwrap();
        let failure = locations(CardTarget { uri: &uri, tenant: None }, None, true).unwrap_err();
        assert!(matches!(failure, CardFailure::UnusableUrl { .. }), "{target}");
    }
}
