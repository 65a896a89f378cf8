use super::*;
use crate::outcome::Class;

fn card(interfaces: &str) -> AgentCard {
    let text = format!(
        r#"{{"name":"n","description":"d","version":"1","capabilities":{{}},"defaultInputModes":["t"],
        "defaultOutputModes":["t"],"skills":[],"supportedInterfaces":[{interfaces}]}}"#
    );
    AgentCard::read(text.as_bytes()).unwrap()
}

fn entry(url: &str, binding: &str, version: &str, tenant: &str) -> String {
    format!(r#"{{"url":"{url}","protocolBinding":"{binding}","protocolVersion":"{version}","tenant":"{tenant}"}}"#)
}

fn target(uri: &str) -> Target<'static> {
    Target::new(&uri.parse().unwrap()).unwrap()
}

fn find(card: &AgentCard, target: &Target<'_>) -> Result<usize, (MismatchField, String, String)> {
    card.interface_for(target, &UrlPolicy::strict()).map(|found| found.index).map_err(|flaw| match flaw {
        CardFlaw::Mismatch(m) => (m.field(), m.card().to_owned(), m.target().to_owned()),
        other => panic!("{other}"),
    })
}

#[test]
fn an_interface_is_the_target_or_differs_in_a_first_field() {
    use MismatchField as F;
    let card = card(&entry("https://Agent.example.com:443/a%2da?x=1", "JSONRPC", "1.0.2", "acme"));
    let fits = target("https://agent.example.com/a-a?x=1&A2A-Version=1.0")
        .with_binding(Binding::JsonRpc)
        .with_version(ProtocolVersion::V1_0)
        .with_tenant("acme");
    assert_eq!(find(&card, &fits), Ok(0));
    let moved = |uri| Target { url: target(uri).url, ..fits.clone() };
    let cases = [
        (moved("http://other/b"), F::Scheme, "https", "http"),
        (moved("https://other/b"), F::Authority, "agent.example.com", "other"),
        (moved("https://agent.example.com:1/a-a"), F::Authority, "agent.example.com", "agent.example.com:1"),
        (moved("https://agent.example.com/b"), F::Path, "/a-a?x=1", "/b"),
        (moved("https://agent.example.com/a-a/?x=1"), F::Path, "/a-a?x=1", "/a-a/?x=1"),
        (moved("https://agent.example.com/a-a"), F::Path, "/a-a?x=1", "/a-a"),
        (fits.clone().with_binding(Binding::Grpc), F::Binding, "JSONRPC", "GRPC"),
        (fits.clone().with_version(ProtocolVersion::V0_3), F::Version, "1.0", "0.3"),
        (fits.clone().with_tenant("other"), F::Tenant, "acme", "other"),
        (fits.clone().with_tenant("Acme"), F::Tenant, "acme", "Acme"),
    ];
    for (target, field, of_card, of_target) in cases {
        assert_eq!(find(&card, &target), Err((field, of_card.into(), of_target.into())), "{target:?}");
    }
    // What the call does not tell is not compared.
    let vague = fits.clone().with_binding(None).with_version(None).with_tenant(None);
    assert_eq!(find(&card, &vague), Ok(0));
}

#[test]
fn what_stands_in_an_interfaces_query_must_stand_in_the_targets() {
    let card = card(&entry("https://a/rpc?agent=7&x=%2d", "JSONRPC", "1.0", ""));
    for (uri, fits) in [
        ("https://a/rpc?agent=7&x=-", true),
        ("https://a/rpc?x=-&key=s3cret&agent=7&a2a-version=1.0", true),
        ("https://a/rpc?agent=7", false),
        ("https://a/rpc?agent=8&x=-", false),
        ("https://a/rpc?agent=77&x=-", false),
        ("https://a/rpc", false),
    ] {
        assert_eq!(find(&card, &target(uri)).is_ok(), fits, "{uri}");
        assert!(find(&card, &target(uri).with_any_query()).is_ok(), "{uri}");
    }
    let plain = self::card(&entry("https://a/rpc", "JSONRPC", "1.0", ""));
    assert_eq!(find(&plain, &target("https://a/rpc?key=s3cret")), Ok(0));
    assert_eq!(find(&card, &target("https://a/other").with_any_query()).unwrap_err().0, MismatchField::Path);
}

#[test]
fn the_closest_interface_is_the_one_of_the_calls_binding_that_came_furthest() {
    let url = "https://agent.example.com";
    let card = card(
        &[
            entry("https://elsewhere.example.com/a", "JSONRPC", "1.0", ""),
            entry(&format!("{url}/rpc"), "JSONRPC", "1.0", ""),
            entry(url, "GRPC", "1.0", ""),
        ]
        .join(","),
    );
    let call = target("https://agent.example.com/wrong").with_binding(Binding::JsonRpc);
    assert_eq!(find(&card, &call), Err((MismatchField::Path, "/rpc".into(), "/wrong".into())));
    let error = card.interface_for(&call, &UrlPolicy::strict()).unwrap_err();
    assert_eq!(error.class(), Class::UrlMismatch);
    assert_eq!(
        error.to_string(),
        "the card's supportedInterfaces[1] is not the target: path \"/rpc\" instead of \"/wrong\" \
         (card https://agent.example.com/rpc, target https://agent.example.com/wrong)"
    );
}

#[test]
fn a_url_that_is_not_called_comes_before_every_difference() {
    let card = card(&entry("http://0.0.0.0:8000/", "JSONRPC", "1.0", ""));
    let error = card.interface_for(&target("https://agent.example.com/"), &UrlPolicy::strict()).unwrap_err();
    assert_eq!(error, CardFlaw::UnusableUrl { url: "http://0.0.0.0:8000/".into(), why: UrlFault::Unspecified });
    assert_eq!(error.class(), Class::UnusableUrl);
    // Also where it is the target's own.
    let card = self::card(&entry("https://a/message:send", "JSONRPC", "1.0", ""));
    let error = card.interface_for(&target("https://a/message:send"), &UrlPolicy::strict()).unwrap_err();
    assert_eq!(error.class(), Class::UnusableUrl);
}

#[test]
fn the_urls_of_other_bindings_are_not_judged() {
    for (url, binding) in [("amqp://bus.example.com/a2a", "ACME-BUS"), ("http://0.0.0.0:50051", "GRPC")] {
        let card = card(&entry(url, binding, "1.0", ""));
        let call = target("https://agent.example.com/").with_binding(Binding::JsonRpc);
        let error = card.interface_for(&call, &UrlPolicy::strict()).unwrap_err();
        assert_eq!(error.class(), Class::NoCompatibleInterface);
        assert_eq!(error.to_string(), format!("the card offers {binding} 1.0; the client speaks JSONRPC"));
    }
}

#[test]
fn plaintext_behind_a_mesh_is_the_same_target_if_allowed() {
    let card = card(&entry("http://agent.example.com/a2a", "JSONRPC", "1.0", ""));
    let call = target("https://agent.example.com/a2a");
    assert_eq!(find(&card, &call).unwrap_err().0, MismatchField::Scheme);
    assert!(card.interface_for(&call, &UrlPolicy::strict().allow_plaintext()).is_ok());
}

#[test]
fn http_json_has_its_prefix_or_its_tenant_behind_the_url() {
    let one = |url, version, tenant| card(&entry(url, "HTTP+JSON", version, tenant));
    let at = |card: &AgentCard, uri: &str| {
        card.interface_for(&target(uri).with_binding(Binding::HttpJson), &UrlPolicy::strict())
            .map(|found| found.tenant_in_path)
            .map_err(|flaw| flaw.field().map(str::to_owned).unwrap_or_default())
    };
    let path = || Err("path".to_owned());
    let bare = one("https://a/rest", "1.0", "");
    assert_eq!(at(&bare, "https://a/rest"), Ok(false));
    assert_eq!(at(&bare, "https://a/rest/"), Ok(false));
    assert_eq!(at(&bare, "https://a/rest?historyLength=1"), Ok(false));
    assert_eq!(at(&bare, "https://a/rest/v1"), path());
    assert_eq!(at(&bare, "https://a/rest/acme"), path());
    assert_eq!(at(&bare, "https://a/restful"), path());
    assert_eq!(at(&bare, "https://a/"), path());
    assert_eq!(at(&one("https://a", "1.0", ""), "https://a"), Ok(false));
    assert_eq!(at(&one("https://a/rest/", "1.0", ""), "https://a/rest"), Ok(false));

    let old = one("https://a/rest", "0.3", "");
    assert_eq!(at(&old, "https://a/rest/v1"), Ok(false));
    assert_eq!(at(&old, "https://a/rest"), Ok(false));
    assert_eq!(at(&old, "https://a/rest/v2"), path());

    let tenant = one("https://a/rest", "1.0", "acme/eu");
    assert_eq!(at(&tenant, "https://a/rest/acme%2feu"), Ok(true));
    assert_eq!(at(&tenant, "https://a/rest"), Ok(false));
    assert_eq!(at(&tenant, "https://a/rest/other"), Err("tenant".into()));
    assert_eq!(at(&tenant, "https://a/rest/acme/eu"), path());
    let error = tenant.interface_for(&target("https://a/rest/other"), &UrlPolicy::strict()).unwrap_err();
    let CardFlaw::Mismatch(mismatch) = error else { panic!("{error}") };
    assert_eq!((mismatch.card(), mismatch.target()), ("acme/eu", "other"));
    let both = target("https://a/rest/acme%2Feu").with_tenant("other");
    assert_eq!(find(&tenant, &both).unwrap_err().2, "other");
}

#[test]
fn grpc_is_compared_by_host_and_port() {
    let card = card(
        &[
            entry("https://a/x", "GRPC", "1.0", ""),
            entry("b:50051", "GRPC", "1.0", ""),
            entry("http://c:50051", "GRPC", "0.3", ""),
        ]
        .join(","),
    );
    for (uri, index) in [
        ("https://a/lf.a2a.v1.A2AService/SendMessage", 0),
        ("http://b:50051/lf.a2a.v1.A2AService/SendMessage", 1),
        ("https://b:50051/", 1),
        ("http://c:50051/a2a.v1.A2AService/SendMessage", 2),
    ] {
        assert_eq!(find(&card, &target(uri).with_binding(Binding::Grpc)), Ok(index), "{uri}");
    }
    let other = target("https://b/").with_binding(Binding::Grpc);
    assert_eq!(find(&card, &other).unwrap_err().0, MismatchField::Authority);
    // The path of a call says nothing of another binding's interface, wherever on that host it is.
    let rpc = self::card(&entry("https://a/rpc", "JSONRPC", "1.0", ""));
    let call = target("https://a/").with_binding(Binding::Grpc);
    assert_eq!(find(&rpc, &call), Err((MismatchField::Binding, "JSONRPC".into(), "GRPC".into())));
}

#[test]
fn a_call_without_a_tenant_takes_the_interface_without_one_first() {
    let url = "https://a/";
    let tenants = |names: &[&str]| {
        card(&names.iter().map(|name| entry(url, "JSONRPC", "1.0", name)).collect::<Vec<_>>().join(","))
    };
    let found = |card: &AgentCard, target: Target<'_>| {
        let found = card.interface_for(&target, &UrlPolicy::strict()).unwrap();
        (found.index, found.tenant_by_order)
    };
    let card = tenants(&["acme", "", "zeta"]);
    assert_eq!(found(&card, target(url)), (1, false));
    assert_eq!(found(&card, target(url).with_tenant("")), (1, false));
    assert_eq!(found(&card, target(url).with_tenant("zeta")), (2, false));
    assert_eq!(found(&tenants(&["acme", "zeta"]), target(url)), (0, true));
    assert_eq!(found(&tenants(&["acme", "acme"]), target(url)), (0, false));
    assert_eq!(find(&tenants(&[""]), &target(url).with_tenant("x")).unwrap_err().0, MismatchField::Tenant);
}

#[test]
fn an_interface_is_checked_against_the_agents_origin() {
    let agent = Origin::parse("https://agent.example.com").unwrap();
    let check = |url: &str| {
        let card = card(&entry(url, "JSONRPC", "1.0", ""));
        card.interfaces()[0]
            .check(&agent, &UrlPolicy::strict())
            .map_err(|flaw| (flaw.class(), flaw.field().unwrap_or_default().to_owned()))
    };
    assert_eq!(check("https://agent.example.com/any/path"), Ok(()));
    for (url, class, field) in [
        ("/a2a", Class::UnusableUrl, ""),
        ("http://localhost:9999/", Class::UnusableUrl, ""),
        ("http://agent.example.com/a2a", Class::UrlMismatch, "scheme"),
        ("http://other.example.com/a2a", Class::UrlMismatch, "scheme"),
        ("https://other.example.com/a2a", Class::UrlMismatch, "authority"),
        ("https://agent.example.com:8443/a2a", Class::UrlMismatch, "authority"),
    ] {
        assert_eq!(check(url), Err((class, field.into())), "{url}");
    }
}

#[test]
fn an_older_card_understands_the_newer_spelling_that_it_had_first() {
    let card = AgentCard::read(br#"{"url":"https://a/","protocolVersion":"0.2.5"}"#).unwrap();
    for (version, fits) in
        [(ProtocolVersion::V0_2, true), (ProtocolVersion::V0_3, true), (ProtocolVersion::V1_0, false)]
    {
        assert_eq!(find(&card, &target("https://a/").with_version(version)).is_ok(), fits, "{version}");
    }
}
