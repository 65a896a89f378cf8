//! What may be done by whom, and with whose credentials.

use super::*;

/// Nobody gets what was not meant for it, whatever it registered.
#[tokio::test(start_paused = true)]
async fn credentials_go_to_the_peer_they_are_for_and_to_no_other() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    mesh.set("a", Does::Status(401, vec![])).set("b", Does::Work(Duration::ZERO));
    let with_secrets = || {
        let mut request = request(SEND);
        for (name, value) in [
            ("authorization", "Bearer caller"),
            ("proxy-authorization", "Basic caller"),
            ("cookie", "session=caller"),
            ("x-api-key", "caller"),
            ("x-tenant-token", "caller"),
            ("host", "orders.internal"),
            ("x-caller", "somebody-else"),
            ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ] {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        let mut hidden = HeaderValue::from_static("caller");
        hidden.set_sensitive(true);
        request.headers_mut().insert("x-request-id", hidden);
        request
    };
    let layer = DelegateLayer::new(mesh.directory.clone());
    good(mesh.call_with(layer.clone(), with_secrets()).await);
    for got in mesh.agents.got() {
        let names: Vec<_> = got.headers.keys().map(|name| name.as_str()).collect();
        assert_eq!(names, ["content-type", "a2a-version", "traceparent"], "{}", got.uri);
    }

    let asked = |ask: CredentialsAsk| async move {
        assert_eq!(ask.caller.unwrap().as_str(), "orders");
        assert_eq!(ask.origin.to_string(), ask.peer.as_str());
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, format!("Bearer for {}", ask.origin).parse()?);
        Ok::<_, BoxError>(headers)
    };
    let layer = layer
        .credentials(asked)
        .keep_headers([header::COOKIE])
        .caller_header(header::HeaderName::from_static("x-caller"));
    // The one that failed is not the best any more.
    mesh.set("b", Does::Status(401, vec![])).set("a", Does::Work(Duration::ZERO));
    good(mesh.call_with(layer, with_secrets()).await);
    let got = mesh.agents.got();
    assert_eq!(got.len(), 2);
    for got in got {
        let expected = format!("Bearer for {}", got.uri.trim_end_matches('/'));
        assert_eq!(got.headers["authorization"], expected);
        assert!(got.headers["authorization"].is_sensitive());
        assert_eq!(got.headers["cookie"], "session=caller");
        assert_eq!(got.headers["x-caller"], "orders");
        assert!(!got.headers.contains_key("x-api-key") && !got.headers.contains_key("host"));
    }
}

/// A peer that registers the name of another's, or points at it, gets neither its work nor what is meant for it.
#[tokio::test(start_paused = true)]
async fn a_poisoned_registration_gains_nothing() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let bank = "https://bank.example/a2a";
    host.serve(bank, plain_card(bank, &["pay"]));
    directory.vouch(&directory.publish(&uri(bank), "bank").await.unwrap(), "ops", true);
    // Another's host: the card says that its interface is the bank's, or its own beside the bank's.
    let (evil, other) = ("https://evil.example", "https://evil.example/other");
    host.serve(evil, plain_card(bank, &["pay"]));
    assert!(directory.publish(&uri(evil), "mallory").await.is_err());
    host.serve(
        other,
        card(&[interface(bank, "JSONRPC", "1.0"), interface(other, "JSONRPC", "1.0")], &["pay: pay pay pay"]),
    );
    let mallory = directory.publish(&uri(other), "mallory").await.unwrap();
    // Another's registration: it has an owner.
    assert!(directory.publish(&uri(bank), "mallory").await.is_err());
    assert!(directory.withdraw(&peer(bank), "mallory").is_err());
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.agents.set("bank.example", Does::Fail(ErrorKind::ConnectionRefused, Duration::ZERO));
    mesh.agents.set("evil.example", Does::Work(Duration::ZERO));
    let pay = || {
        let mut pay = request(SEND);
        pay.extensions_mut().insert(Need::skill("pay").text("pay"));
        pay
    };
    let credentials = |ask: CredentialsAsk| async move {
        let mut headers = HeaderMap::new();
        if ask.origin.to_string() == "https://bank.example" {
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer bank"));
        }
        Ok::<_, BoxError>(headers)
    };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(credentials);
    // Another's skill: it is on probation, and the bank is down.
    mesh.call_with(layer.clone(), pay()).await.unwrap_err();
    assert_eq!(mesh.agents.asked(), ["bank.example"]);
    let decision = mesh.log.decisions().pop().unwrap();
    assert_eq!(decision.candidates[1].excluded, Some(Exclusion::Probation));
    // Another's credentials: even vouched for, it is called at its own place, with what is for its own origin.
    mesh.directory.vouch(&mallory, "ops", true);
    good(mesh.call_with(layer, pay()).await);
    let got = mesh.agents.got();
    let last = got.last().unwrap();
    assert_eq!(last.uri, other);
    assert!(!last.headers.contains_key("authorization"));
}

#[tokio::test(start_paused = true)]
async fn permission_is_asked_again_right_before() {
    let second_thoughts = |ask: &PermissionAsk<'_>| match (ask.stage, ask.peer.as_str()) {
        (Stage::Dispatch, "https://a.example") => Permit::Deny("second thoughts".into()),
        _ => Permit::Allow,
    };
    let mesh = mesh(&["a", "b"], |builder| builder.permission(second_thoughts)).await;
    mesh.set("a", Does::Work(Duration::ZERO)).set("b", Does::Work(Duration::ZERO));
    good(mesh.call(request(SEND)).await);
    assert_eq!(mesh.agents.asked(), ["b.example"]);
    assert_eq!(attempts(&mesh.decision())[0], "https://a.example not asked: denied: second thoughts");
}

/// Revoked, withdrawn or expired between the choice and the call: while its credentials are fetched, say.
#[tokio::test(start_paused = true)]
async fn what_changes_while_something_is_waited_for_counts() {
    let mesh = mesh(&["a", "b", "c"], |builder| builder).await;
    for name in ["a", "b", "c"] {
        mesh.set(name, Does::Work(Duration::ZERO));
    }
    let directory = mesh.directory.clone();
    let revoking = move |ask: CredentialsAsk| {
        let directory = directory.clone();
        async move {
            match ask.peer.as_str() {
                "https://a.example" => directory.revoke(&ask.peer, "now"),
                "https://b.example" => directory.withdraw(&ask.peer, "o")?,
                _ => {}
            }
            Ok::<_, BoxError>(HeaderMap::new())
        }
    };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(revoking);
    good(mesh.call_with(layer, request(SEND)).await);
    assert_eq!(mesh.agents.asked(), ["c.example"]);
    assert_eq!(
        attempts(&mesh.decision())[..2],
        ["https://a.example not asked: gone", "https://b.example not asked: gone"]
    );
    let refusing = |_: CredentialsAsk| async { Err::<HeaderMap, BoxError>("the vault\nis closed".into()) };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(refusing);
    let error = mesh.call_with(layer, request(SEND)).await.unwrap_err();
    assert!(error.to_string().contains("no_credentials: the vault\\nis closed"), "{error}");
    assert_eq!(mesh.agents.asked(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn work_of_high_value_goes_to_who_passed_a_test() {
    let mesh = mesh(&["a", "b"], |builder| builder.permission(PermissionRules::new().test_high_value())).await;
    mesh.set("a", Does::Work(Duration::ZERO)).set("b", Does::Work(Duration::ZERO));
    mesh.agents.set_probed("a.example", Does::Refuse(json!({"code": -32004, "message": "no"})));
    let valuable = || {
        let mut request = request(SEND);
        request.extensions_mut().insert(Need::skill("x").high_value());
        request
    };
    good(mesh.call(valuable()).await);
    tokio::time::sleep(SECOND).await;
    let got = mesh.agents.got();
    let told: Vec<_> = got.iter().map(|got| (&*got.uri, got.method(), got.is_probe())).collect();
    assert_eq!(
        told,
        [
            ("https://a.example/", "SendMessage", true),
            ("https://b.example/", "SendMessage", true),
            ("https://b.example/", "CancelTask", false),
            ("https://b.example/", "SendMessage", false),
        ]
    );
    let decision = mesh.decision();
    assert!(attempts(&decision)[0].starts_with("https://a.example not asked: test_failed: "), "{decision}");
    // Tested once, until it says something else.
    good(mesh.call(valuable()).await);
    assert_eq!(mesh.agents.got().len(), 1);
    // A test takes no longer than it may.
    mesh.agents.set_probed("a.example", Does::Hang);
    mesh.directory.revoke(&peer("https://b.example"), "gone");
    let began = Instant::now();
    let layer = DelegateLayer::new(mesh.directory.clone()).test_timeout(2 * SECOND);
    let error = mesh.call_with(layer, valuable()).await.unwrap_err();
    assert_eq!(began.elapsed(), 2 * SECOND);
    assert!(error.to_string().contains("test_failed: no answer in time"), "{error}");
}
