//! What peers and owners try.

use std::time::Duration;

use a2a_guard::{
    Guard,
    directory::{DelegateLayer, Grant, Need, PermissionRules},
};
use http::{HeaderName, HeaderValue, Request};
use http_body_util::Full;
use serde_json::json;
use tower::{Layer, ServiceExt};

use crate::{
    agents::{Agents, Does},
    delegate::{Mesh, SEND, attempts, good, mesh, request},
    host::{Host, card, interface, plain_card, uri},
    spent::Spent,
};

const A: &str = "https://a.example";

/// A skill is as sensitive under a name that reads alike.
#[tokio::test(start_paused = true)]
async fn a_name_that_reads_alike_gets_around_no_rule() {
    for name in ["Pay", "PAY", "ｐａｙ", "pa\u{200d}y", "páy", " pay"] {
        let host = Host::default();
        let rules = PermissionRules::new().sensitive(["pay"]).grant(Grant::of("pay"));
        let (directory, _) = host.directory(|builder| builder.permission(rules));
        host.serve(
            A,
            plain_card(A, &[]).replace(
                r#""skills":[]"#,
                &format!(r#""skills":[{{"id":"{name}","name":"x","description":"Pays invoices","tags":[]}}]"#),
            ),
        );
        directory.vouch(&directory.publish(&uri(A), "o").await.unwrap(), "ops", true);
        for need in [Need::task("pays invoices"), Need::skill(name)] {
            let decision = directory.find(&need);
            assert_eq!(decision.candidates.len(), 1, "{name}");
            assert!(decision.best().is_none(), "{name}: {decision}");
        }
    }
}

/// A query belongs to the caller's own address, and may have keys in it.
#[tokio::test(start_paused = true)]
async fn what_the_callers_own_url_says_stays_behind() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    host.serve(A, card(&[interface(A, "HTTP+JSON", "1.0")], &["x"]));
    directory.vouch(&directory.publish(&uri(A), "o").await.unwrap(), "ops", true);
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.set("a", Does::Work(Duration::ZERO));
    let call =
        Request::post("http://orders.internal/message:send?api_key=secret&historyLength=2&A2A-Version=1.0&sig=s")
            .header("content-type", "application/json")
            .extension(Need::skill("x"))
            .body(Full::from(r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#))
            .unwrap();
    good(mesh.call(call).await);
    assert_eq!(mesh.agents.got()[0].uri, "https://a.example/message:send?historyLength=2&A2A-Version=1.0");
}

/// On whose behalf it is goes along, or nothing does.
#[tokio::test(start_paused = true)]
async fn a_caller_that_cannot_be_named_is_not_left_out() {
    let mesh = mesh(&["a"], |builder| builder).await;
    mesh.set("a", Does::Work(Duration::ZERO));
    let layer = || DelegateLayer::new(mesh.directory.clone()).caller_header(HeaderName::from_static("x-caller"));
    for (caller, travels) in [("orders", true), ("Bestellungen-Köln", true), ("orders\r\nx-admin: yes", false)] {
        let mut call = request(SEND);
        call.extensions_mut().insert(Need::skill("x").caller(caller));
        let answer = mesh.call_with(layer(), call).await;
        let got = mesh.agents.got();
        assert_eq!((answer.is_ok(), got.len()), (travels, usize::from(travels)), "{caller:?}");
        match got.first() {
            Some(got) => assert_eq!(got.headers["x-caller"].as_bytes(), caller.as_bytes()),
            None => {
                let error = answer.unwrap_err().to_string();
                assert!(error.contains("unwritable: the caller"), "{error}");
            }
        }
    }
}

/// Several agents at one host: the one whose interface was called is the one that is doubted.
#[tokio::test(start_paused = true)]
async fn of_agents_at_one_host_the_one_that_was_called_is_doubted() {
    let bases =
        ["https://h.example", "https://h.example/agent", "https://h.example/agent-1", "https://h.example/agent-1/x"];
    for called in bases {
        let host = Host::default();
        let (directory, log) = host.directory(|builder| builder);
        for base in bases {
            host.serve(base, plain_card(base, &["x"]));
            directory.publish(&uri(base), "o").await.unwrap();
        }
        log.audit();
        let agents = Agents::default();
        agents.set("h.example", Does::Status(404, vec![]));
        let guard = Guard::builder().observe(directory.drift()).build().unwrap();
        let call = Request::post(called)
            .header("content-type", "application/json")
            .body(Full::from(r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}"#))
            .unwrap();
        assert!(guard.layer(agents).oneshot(call).await.is_err());
        assert_eq!(log.audit(), [format!("{called} of o: card doubted: endpoint_not_found")]);
    }
    // Over gRPC the path is the operation's.
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    for (name, interfaces) in [
        ("g", [interface("g.example:443", "GRPC", "1.0")]),
        ("other", [interface("https://other.example", "GRPC", "1.0")]),
    ] {
        let base = format!("https://{name}.example/agent");
        host.serve(&base, card(&interfaces, &["x"]));
        directory.publish(&uri(&base), "o").await.unwrap();
    }
    log.audit();
    let agents = Agents::default();
    agents.set("g.example", Does::Status(404, vec![]));
    let guard = Guard::builder().observe(directory.drift()).build().unwrap();
    let call = Request::post("https://g.example/lf.a2a.v1.A2AService/SendMessage")
        .header("content-type", "application/grpc")
        .body(Full::from(&b"\0\0\0\0\0"[..]))
        .unwrap();
    assert!(guard.layer(agents).oneshot(call).await.is_err());
    assert_eq!(log.audit(), ["https://g.example/agent of o: card doubted: endpoint_not_found"]);
}

/// What says that the work may have started is not repeated elsewhere, whatever pause it asks for.
#[tokio::test(start_paused = true)]
async fn a_pause_that_is_asked_for_makes_no_work_undone() {
    for error in [
        json!({"code": -32603, "message": "crashed", "data": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "5s"}]}),
        json!({"code": -32603, "message": "crashed"}),
        json!({"code": -32006, "message": "bad", "data": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "5s"}]}),
    ] {
        let mesh = mesh(&["a", "b"], |builder| builder).await;
        mesh.set("a", Does::Refuse(error.clone())).set("b", Does::Work(Duration::ZERO));
        let failed = mesh.call(request(SEND)).await;
        let decision = mesh.decision();
        assert_eq!(attempts(&decision).len(), 1, "{error}: {decision}");
        assert!(failed.unwrap_err().call_error().work_may_have_started());
        assert_eq!(mesh.agents.begun(), 0);
    }
}

/// A test goes where the work would: to the same tenant, on the same caller's behalf.
#[tokio::test(start_paused = true)]
async fn a_test_is_made_as_the_tenant_that_the_work_would_be_for() {
    for (binding, url) in [("JSONRPC", "https://a.example/rpc"), ("HTTP+JSON", "https://a.example/rest")] {
        let host = Host::default();
        let (directory, log) = host.directory(|builder| builder.permission(PermissionRules::new().test_high_value()));
        let with_tenant =
            json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0", "tenant": "acme"}).to_string();
        host.serve(A, card(&[with_tenant], &["x"]));
        directory.vouch(&directory.publish(&uri(A), "o").await.unwrap(), "ops", true);
        let mesh = Mesh { agents: Agents::default(), directory, log };
        mesh.set("a", Does::Work(Duration::ZERO));
        let mut valuable = match binding {
            "JSONRPC" => request(SEND),
            _ => Request::post("/message:send")
                .header("content-type", "application/json")
                .body(Full::from(r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#))
                .unwrap(),
        };
        valuable.extensions_mut().insert(Need::skill("x").high_value().caller("orders"));
        valuable.headers_mut().insert("x-shard", HeaderValue::from_static("7"));
        let (caller, shard) = (HeaderName::from_static("x-caller"), HeaderName::from_static("x-shard"));
        let layer =
            DelegateLayer::new(mesh.directory.clone()).caller_header(caller).keep_headers([shard.clone(), shard]);
        good(mesh.call_with(layer, valuable).await);
        let got = mesh.agents.got();
        let once = |name| got.iter().find(|got| got.is_probe()).unwrap().headers.get_all(name).iter().count();
        assert_eq!((once("x-shard"), once("x-caller")), (1, 1));
        let probe = got.iter().find(|got| got.is_probe()).unwrap();
        assert_eq!(
            (&probe.headers["x-caller"], &probe.headers["x-shard"]),
            (&"orders".parse().unwrap(), &"7".parse().unwrap())
        );
        match binding {
            "JSONRPC" => assert_eq!(probe.body["params"]["tenant"], json!("acme")),
            _ => assert_eq!(probe.uri, "https://a.example/rest/acme/message:send"),
        }
    }
}

/// Cards and lists that are made to be expensive are read in a moment.
#[tokio::test]
async fn what_is_made_to_be_expensive_is_not() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder);
    let modes = vec![r#""a""#; 28_000].join(",");
    let skill = r#"{"id":"s","name":"","description":"","tags":[]}"#;
    let skills = vec![skill; 2_500].join(",");
    let giant = plain_card(A, &[])
        .replace(r#""skills":[]"#, &format!(r#""skills":[{skills}]"#))
        .replace(r#"["text/plain"]"#, &format!("[{modes}]"));
    let giant = giant.replacen(&format!("[{modes}]"), r#"["text/plain"]"#, 1);
    assert!(giant.len() < 256 << 10, "{}", giant.len());
    host.serve(A, giant);
    let began = Spent::from_now();
    let id = directory.publish(&uri(A), "o").await.unwrap();
    let took = began.so_far();
    assert_eq!(directory.peer(&id).unwrap().skills.len(), 1);
    assert!(took < Duration::from_secs(3), "{took:?}");

    let tool = |n| format!(r#"{{"name":"t{n}","description":"{}"}}"#, "lorem ipsum dolor sit amet ".repeat(30));
    let page = format!(r#"{{"tools":[{}]}}"#, (0..1200).map(tool).collect::<Vec<_>>().join(","));
    assert!(page.len() < 1 << 20, "{}", page.len());
    let began = Spent::from_now();
    directory.publish_tools(&uri(A), "o", &vec![page; 12]).unwrap();
    let took = began.so_far();
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// What is changed and taken out is found no longer, and all else is.
#[tokio::test]
async fn what_many_have_is_found_at_each_of_them() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder);
    let shared: Vec<_> = (0..15).map(|n| format!(r#"{{"name":"shared-{n}"}}"#)).collect();
    let base = |n: usize| uri(&format!("https://agent-{n}.example"));
    let publish = |n: usize, own: &str| {
        let page = format!(r#"{{"tools":[{{"name":"{own}-{n}"}},{}]}}"#, shared.join(","));
        directory.publish_tools(&base(n), "o", &[page]).unwrap()
    };
    (0..200).for_each(|n| _ = publish(n, "own"));
    let all = |skill: &str| {
        let decision = directory.find(&Need::skill(skill));
        decision.candidates.len() + decision.omitted
    };
    assert_eq!((all("shared-7"), all("own-199"), directory.len()), (200, 1, 200));
    let ids: Vec<_> = (0..20).map(|n| publish(n, "other")).collect();
    ids.iter().take(10).for_each(|id| directory.withdraw(id, "o").unwrap());
    assert_eq!((all("shared-7"), all("own-5"), all("other-5"), all("other-15"), all("own-199")), (190, 0, 0, 1, 1));
    assert_eq!((directory.len(), directory.generation()), (190, 230));
}
