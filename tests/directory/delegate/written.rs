//! How the request is written that goes to the chosen peer.

use super::*;

#[tokio::test(start_paused = true)]
async fn the_request_goes_to_the_chosen_interface_with_its_tenant_and_version() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let base = "https://a.example/agent";
    let with_tenant = |url: &str, binding: &str| {
        json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0", "tenant": "acme"}).to_string()
    };
    let interfaces = [
        interface("https://a.example/old", "JSONRPC", "0.3"),
        with_tenant("https://a.example/rpc", "JSONRPC"),
        with_tenant("https://a.example/rest", "HTTP+JSON"),
        interface("https://a.example/rest3", "HTTP+JSON", "0.3"),
    ];
    host.serve(base, card(&interfaces, &["x"]));
    directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.set("a", Does::Work(Duration::ZERO));

    let mut rpc = request(SEND);
    rpc.headers_mut().remove("a2a-version");
    let (parts, body) = mesh.call(rpc).await.unwrap();
    let delegated = parts.extensions.get::<Delegated>().unwrap();
    body.unwrap();
    let got = mesh.agents.got().remove(0);
    assert_eq!((&*got.uri, &got.body["params"]["tenant"]), ("https://a.example/rpc", &json!("acme")));
    assert_eq!((delegated.written.to_string(), delegated.tenant.as_deref()), ("JSONRPC 1.0".into(), Some("acme")));
    assert_eq!(got.headers["a2a-version"], "1.0");

    let rest = Request::post("http://nobody.invalid/message:send?historyLength=1")
        .header("content-type", "application/json")
        .extension(Need::skill("x"))
        .body(Full::from(r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#))
        .unwrap();
    good(mesh.call(rest).await);
    let got = mesh.agents.got().remove(0);
    assert_eq!(got.uri, "https://a.example/rest/acme/message:send?historyLength=1");
    assert_eq!(got.headers["a2a-version"], "1.0");

    let old = r#"{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}"#;
    let mut old = request(old);
    old.headers_mut().remove("a2a-version");
    good(mesh.call(old).await);
    let got = mesh.agents.got().remove(0);
    assert_eq!((&*got.uri, got.headers.get("a2a-version")), ("https://a.example/old", None));

    // For another tenant, and in another version, nobody is there; what both speak is told.
    let tenant = SEND.replace(r#""params":{"#, r#""params":{"tenant":"other","#);
    let error = mesh.call(request(Box::leak(tenant.into_boxed_str()))).await.unwrap_err();
    assert!(error.to_string().contains("version: no interface for this tenant: we write JSONRPC 1.0"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn over_grpc_the_operation_goes_to_the_interfaces_authority() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let base = "https://g.example/agent";
    host.serve(base, card(&[interface("https://g.example", "GRPC", "1.0")], &["x"]));
    directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.set("g", Does::Work(Duration::ZERO));
    let call = Request::post("http://nobody.invalid/prefix/lf.a2a.v1.A2AService/SendMessage")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("grpc-timeout", "2S")
        .version(Version::HTTP_2)
        .extension(Need::skill("x"))
        .body(Full::from(&b"\0\0\0\0\0"[..]))
        .unwrap();
    // What it answers is no gRPC, and that is said.
    let error = mesh.call(call).await.unwrap_err();
    assert_eq!(error.call_error().outcome(), OutcomeKind::Broken);
    let got = mesh.agents.got().remove(0);
    assert_eq!(got.uri, "https://g.example:443/lf.a2a.v1.A2AService/SendMessage");
    assert_eq!(got.version, Version::HTTP_2);
    assert_eq!(
        (&got.headers["te"], &got.headers["content-type"]),
        (&"trailers".parse().unwrap(), &"application/grpc".parse().unwrap())
    );
}

/// By which version of HTTP a peer is called the client below knows; that of the caller's connection says nothing of
/// it. gRPC has one alone.
#[tokio::test(start_paused = true)]
async fn the_version_of_the_callers_connection_ends_there() {
    let mesh = mesh(&["a"], |builder| builder).await;
    mesh.set("a", Does::Work(Duration::ZERO));
    let mut call = request(SEND);
    *call.version_mut() = Version::HTTP_2;
    good(mesh.call(call).await);
    assert_eq!(mesh.agents.got()[0].version, Version::default());
}

/// Who can write a request in several ways reaches who speaks but one of them.
#[tokio::test(start_paused = true)]
async fn of_several_ways_to_write_it_the_highest_common_version_is_taken() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let base = "https://a.example";
    host.serve(base, card(&[interface(base, "JSONRPC", "0.3")], &["x"]));
    directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.set("a", Does::Work(Duration::ZERO));
    let error = mesh.call(request(SEND)).await.unwrap_err();
    assert!(error.to_string().contains("no common version: we write JSONRPC 1.0; it speaks JSONRPC 0.3"), "{error}");
    let old = r#"{"jsonrpc":"2.0","id":"other","method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}"#;
    let mut both = request(SEND);
    both.extensions_mut().insert(Alternatives::new().or(Binding::JsonRpc, ProtocolVersion::V0_3, "/", old));
    let (parts, body) = mesh.call(both).await.unwrap();
    assert!(std::str::from_utf8(&body.unwrap()).unwrap().contains(r#""id":"other""#));
    let written = parts.extensions.get::<Delegated>().unwrap().written;
    assert_eq!((written.binding, written.version), (Binding::JsonRpc, ProtocolVersion::V0_3));
    let got = mesh.agents.got().remove(0);
    assert_eq!((got.method(), got.headers.get("a2a-version")), ("message/send", None));
}
