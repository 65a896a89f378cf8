use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parse(body: &Value) -> PeerError {
    PeerError::parse(body.to_string().as_bytes(), MediaType::Json).unwrap()
}

fn info(reason: &str, domain: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain})
}

#[test]
fn json_rpc_errors() {
    let error = parse(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "gone"}}));
    assert_eq!(error.form, ErrorForm::JsonRpc);
    assert_eq!(error.code, Some(-32001));
    assert_eq!(error.message.as_deref(), Some("gone"));
    assert_eq!(error.kind(Some(200)), Some(A2aError::TaskNotFound));

    let error = parse(&json!({"jsonrpc": "2.0", "error": {"code": 502, "message": "Bad Gateway"}}));
    assert_eq!((error.form, error.code, error.kind(Some(200))), (ErrorForm::JsonRpc, Some(502), None));

    let data = json!([info("TASK_NOT_CANCELABLE", "a2a-protocol.org")]);
    let error = parse(&json!({"error": {"code": -32603, "data": data}}));
    assert_eq!(error.reason.as_deref(), Some("TASK_NOT_CANCELABLE"));
    assert_eq!(error.kind(None), Some(A2aError::TaskNotCancelable), "the reason comes before the code");

    for data in [json!(null), json!("text"), json!([]), json!([[[]]])] {
        let error = parse(&json!({"error": {"code": -32005, "data": data}}));
        assert_eq!(error.kind(None), Some(A2aError::ContentTypeNotSupported));
    }
}

/// What a tree cannot be built of hides no reason.
#[test]
fn an_oddity_beside_a_reason_does_not_hide_it() {
    let info = info("TASK_NOT_CANCELABLE", "a2a-protocol.org");
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (message, data) in [("cut \\ud83d", "0"), ("", "1e999"), ("", &deep)] {
        for body in [
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"{message}","data":[{data},{info}]}}}}"#
            ),
            format!(r#"{{"error":{{"code":400,"status":"X","message":"{message}","details":[{data},{info}]}}}}"#),
        ] {
            let error = PeerError::parse(body.as_bytes(), MediaType::Json).unwrap();
            assert_eq!(error.reason.as_deref(), Some("TASK_NOT_CANCELABLE"), "{body}");
            assert_eq!(error.kind(Some(400)), Some(A2aError::TaskNotCancelable), "{body}");
            let marked = PeerError::parse(format!("\u{feff}{body}").as_bytes(), MediaType::Json);
            assert_eq!(marked, Some(error));
        }
    }
}

#[test]
fn a_code_is_a_number_however_it_is_written() {
    for (text, code) in [
        ("-32001", Some(-32001)),
        ("-32001.0", Some(-32001)),
        ("-3.2001e4", Some(-32001)),
        ("-320010E-1", Some(-32001)),
        ("-0", Some(0)),
        ("-32001.5", None),
        ("1e300", None),
        ("99999999999999999999", None),
        ("9007199254740993", Some(9_007_199_254_740_993)),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{text},"message":"no"}}}}"#);
        assert_eq!(PeerError::parse(body.as_bytes(), MediaType::Json).unwrap().code, code, "{text}");
        let scanned = PeerError::scan(body.as_bytes()).and_then(|error| error.code);
        assert_eq!(scanned, code, "{text}, scanned");
    }
    let bare = parse(&json!({"code": -32603.0, "message": "no"}));
    assert_eq!((bare.form, bare.code), (ErrorForm::CodeMessage, Some(-32603)));
}

#[test]
fn an_error_in_an_event_is_read_like_one_that_stands_alone() {
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
    for body in [
        format!("event: error\ndata: {error}\n\n"),
        format!(": hello\r\n\r\ndata: {error}\r\n\r\n"),
        format!("data: {error}"),
        error.replace(",\"error\"", ",\ndata: \"error\"").replacen('{', "data: {", 1),
        error.to_owned(),
    ] {
        let read = PeerError::parse(body.as_bytes(), MediaType::EventStream);
        assert_eq!(read.unwrap().code, Some(-32602), "{body}");
    }
    assert_eq!(PeerError::parse(b": nothing\n\n", MediaType::EventStream), None);
}

#[test]
fn rpc_statuses() {
    let bad_request = json!({"@type": "type.googleapis.com/google.rpc.BadRequest", "reason": "NO"});
    let error = parse(&json!({"error": {"code": 400, "status": "FAILED_PRECONDITION", "message": "no",
        "details": [bad_request, info("UNSUPPORTED_OPERATION", "a2a-protocol.org")]}}));
    assert_eq!((error.form, error.code), (ErrorForm::RpcStatus, None));
    assert_eq!(error.status.as_deref(), Some("FAILED_PRECONDITION"));
    assert_eq!(error.kind(Some(400)), Some(A2aError::UnsupportedOperation));

    let error = parse(&json!({"error": {"code": 400, "status": "FAILED_PRECONDITION"}}));
    assert_eq!(error.kind(Some(400)), None, "six errors share this status");
    let error = parse(&json!({"error": {"code": 404, "status": "NOT_FOUND"}}));
    assert_eq!(error.kind(Some(404)), Some(A2aError::TaskNotFound));
    let error = parse(&json!({"code": 9, "message": "no", "details": [info("VERSION_NOT_SUPPORTED", "")]}));
    assert_eq!((error.form, error.kind(None)), (ErrorForm::RpcStatus, Some(A2aError::VersionNotSupported)));

    // Any of its members is enough; without them it is a word of somebody's own.
    for (error, form) in [
        (json!({"status": "NOT_FOUND"}), ErrorForm::RpcStatus),
        (json!({"code": 404}), ErrorForm::RpcStatus),
        (json!({"details": []}), ErrorForm::RpcStatus),
        (json!({"status": 404, "details": {}, "code": "no"}), ErrorForm::Text),
        (json!({"message": "no"}), ErrorForm::Text),
    ] {
        assert_eq!(parse(&json!({"error": error})).form, form, "{error}");
    }
}

#[test]
fn reasons_of_other_domains_decide_nothing() {
    let data = json!([info("TASK_NOT_FOUND", "example.com")]);
    let error = parse(&json!({"error": {"code": -32004, "data": data}}));
    assert_eq!(error.reason, None);
    assert_eq!(error.kind(None), Some(A2aError::UnsupportedOperation));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(error.metadata, [pair("domain", "example.com"), pair("reason", "TASK_NOT_FOUND")]);
    let data = json!([info("SOMETHING_NEW", "a2a-protocol.org")]);
    let error = parse(&json!({"error": {"code": -32004, "data": data}}));
    assert_eq!(error.reason.as_deref(), Some("SOMETHING_NEW"));
    assert_eq!(error.kind(None), Some(A2aError::UnsupportedOperation));
}

#[test]
fn errors_without_an_envelope() {
    let error = parse(&json!({"code": -32003, "message": "no push", "data": {"region": "eu"}}));
    assert_eq!((error.form, error.code), (ErrorForm::CodeMessage, Some(-32003)));
    assert_eq!(error.region.as_deref(), Some("eu"));
    assert!(error.is_typed());
    for (body, text) in [
        (json!({"message": "m"}), "m"),
        (json!({"detail": "d"}), "d"),
        (json!({"detail": [{"loc": [], "msg": "first"}, {"msg": "second"}]}), "first"),
        (json!({"error": "e"}), "e"),
        (json!({"error": 5}), "5"),
        (json!({"error": {"message": "m", "type": "t"}}), "m"),
        (json!({"code": 404, "message": "m"}), "m"),
    ] {
        let error = parse(&body);
        assert_eq!((error.form, error.message.as_deref()), (ErrorForm::Text, Some(text)), "{body}");
        assert!(!error.is_typed());
        assert_eq!((error.code, error.kind(Some(404))), (None, None));
    }
}

#[test]
fn problems() {
    let problem = json!({"type": "https://a2a-protocol.org/errors/task-not-found", "title": "Task", "detail": "no t", "status": 404});
    let read = |media| PeerError::parse(problem.to_string().as_bytes(), media).unwrap();
    let error = read(MediaType::ProblemJson);
    assert_eq!((error.form, error.message.as_deref()), (ErrorForm::Problem, Some("no t")));
    assert_eq!(error.kind(Some(400)), Some(A2aError::TaskNotFound));
    assert_eq!(read(MediaType::Json).form, ErrorForm::Problem);
    let blank = PeerError::parse(br#"{"title":"Bad Request","status":400}"#, MediaType::ProblemJson).unwrap();
    assert_eq!((blank.message.as_deref(), blank.kind(Some(400))), (Some("Bad Request"), None));
}

#[test]
fn what_is_no_error() {
    for body in
        ["", "{", "[]", "null", "\"error\"", "{}", "{\"error\":null}", "{\"error\":true}", "<html>", "{\"detail\":5}"]
    {
        assert_eq!(PeerError::parse(body.as_bytes(), MediaType::Json), None, "{body}");
    }
    let deep = format!("{{\"error\":{{\"data\":{}}}}}", "[".repeat(9999));
    assert_eq!(PeerError::parse(deep.as_bytes(), MediaType::Json), None);
}

#[test]
fn retry_delays() {
    let delay = |delay: Value| {
        let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay});
        parse(&json!({"error": {"code": -32603, "data": [retry]}})).retry_after
    };
    assert_eq!(delay(json!("2s")), Some(Duration::from_secs(2)));
    assert_eq!(delay(json!("1.5s")), Some(Duration::from_millis(1500)));
    assert_eq!(delay(json!("0.000000001s")), Some(Duration::from_nanos(1)));
    assert_eq!(delay(json!({"seconds": "3", "nanos": 5})), Some(Duration::new(3, 5)));
    assert_eq!(delay(json!({"seconds": 3})), Some(Duration::from_secs(3)));
    assert_eq!(delay(json!({"seconds": u64::MAX, "nanos": 999_999_999})), Some(Duration::MAX));
    for odd in [
        json!("2"),
        json!("-1s"),
        json!("1.5e3s"),
        json!("+1s"),
        json!("1.+5s"),
        json!("1.0000000001s"),
        json!("99999999999999999999s"),
        json!({"nanos": 1e9}),
        json!({"nanos": 1_000_000_000}),
        json!({"seconds": u64::MAX, "nanos": 1_000_000_000}),
        json!({"seconds": -1}),
        json!(3),
    ] {
        assert_eq!(delay(odd.clone()), None, "{odd}");
    }
}

#[test]
fn availability() {
    let skills = |data: Value| {
        let error = parse(&json!({"error": {"code": -32004, "data": data}}));
        (error.region, error.available_skills)
    };
    let list = Some(vec!["a".to_owned(), "b".to_owned()]);
    let region = Some("eu".to_owned());
    assert_eq!(skills(json!({"region": "eu", "availableSkills": ["a", "b", 3]})), (region.clone(), list.clone()));
    for text in ["[\"a\",\"b\"]", "a, b,"] {
        let mut info = info("UNSUPPORTED_OPERATION", "a2a-protocol.org");
        info["metadata"] = json!({"region": "eu", "availableSkills": text});
        assert_eq!(skills(json!([info])), (region.clone(), list.clone()));
    }
    let many: Vec<_> = (0..200).map(|skill| skill.to_string()).collect();
    assert_eq!(skills(json!({"availableSkills": many})).1.map(|list| list.len()), Some(64));
    assert_eq!(skills(json!({"availableSkills": [], "region": 3})), (None, Some(vec![])));
}

#[test]
fn texts_are_bounded() {
    let error = parse(&json!({"error": {"code": 1, "message": "é".repeat(2000), "status": "x".repeat(999)}}));
    assert_eq!(error.message.map(|text| text.len()), Some(1024));
    assert_eq!(error.status.map(|text| text.len()), Some(256));
}

#[test]
fn every_spelling_of_an_error_leads_back_to_it() {
    for code in (-32009..=-32001).chain(-32603..=-32600).chain([-32700]) {
        let error = A2aError::from_code(code).unwrap();
        assert_eq!(error.code(), code);
        assert_eq!(A2aError::from_reason(error.reason()), Some(error));
        assert!(error.name().ends_with("Error"));
        let http_and_grpc = (error.http_status(), error.grpc_code());
        assert!([(404, 5), (400, 9), (400, 3), (500, 13), (404, 12)].contains(&http_and_grpc));
    }
    assert_eq!(A2aError::from_code(-32000), None);
    assert_eq!(A2aError::from_reason("task_not_found"), None);
    assert_eq!(A2aError::from_problem_type("https://example.com/task-not-found"), None);
}

proptest! {
    #[test]
    fn no_bytes_harm(bytes: Vec<u8>) {
        let _ = PeerError::parse(&bytes, MediaType::ProblemJson);
    }
}

#[test]
fn bad_requests_say_which_fields() {
    let violation = |nth: usize| json!({"field": format!("f{nth}"), "description": format!("d{nth}"), "reason": "R"});
    let of = |violations: Value| {
        let detail = json!({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations});
        parse(&json!({"error": {"code": -32602, "data": [detail]}})).field_violations
    };
    let pair = |field: &str, description: &str| (field.to_owned(), description.to_owned());
    let some = json!([violation(1), "odd", {"field": "alone"}, {"description": 5}]);
    assert_eq!(of(some), [pair("f1", "d1"), pair("alone", ""), pair("", "")]);
    assert_eq!(of(json!((0..40).map(violation).collect::<Vec<_>>())).len(), 32);
    assert_eq!(of(json!("none")), []);
    // Other details have fields of their own.
    let other = json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "fieldViolations": [violation(1)]});
    assert_eq!(parse(&json!({"error": {"code": -32602, "data": [other]}})).field_violations, []);
}

#[test]
fn metadata_are_kept_as_text_and_not_without_end() {
    let of = |metadata: Value| {
        let mut info = info("UNSUPPORTED_OPERATION", "a2a-protocol.org");
        info["metadata"] = metadata;
        parse(&json!({"error": {"code": -32004, "data": info}})).metadata
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(of(json!({"a": "b", "c": [1], "d": null})), [pair("a", "b"), pair("c", "[1]"), pair("d", "null")]);
    let many: Map<String, Value> = (0..40).map(|nth| (format!("m{nth}"), "x".into())).collect();
    assert_eq!(of(many.into()).len(), 32);
    let long = of(json!({"n": "é".repeat(300), "é".repeat(200): "v"}));
    assert!(long.iter().all(|(name, value)| name.len() <= 256 && value.len() <= 256), "{long:?}");
}

#[test]
fn details_one_level_deeper_and_the_first_of_each() {
    let retry = |delay: &str| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay});
    let list = json!([retry("1s"), info("TASK_NOT_FOUND", ""), retry("2s"), info("TASK_NOT_CANCELABLE", "")]);
    for data in [list.clone(), json!({"region": "eu", "details": list})] {
        let deeper = data.is_object();
        let error = parse(&json!({"error": {"code": -32603, "message": "no", "data": data}}));
        assert_eq!(
            (error.reason.as_deref(), error.retry_after),
            (Some("TASK_NOT_FOUND"), Some(Duration::from_secs(1)))
        );
        assert_eq!(error.region.is_some(), deeper);
    }
    // Of a list without end no more than the beginning is looked at.
    let mut many = vec![json!({}); 64];
    many.push(info("TASK_NOT_FOUND", ""));
    assert_eq!(parse(&json!({"error": {"code": -32603, "data": many}})).reason, None);
    assert_eq!(parse(&json!({"error": {"code": -32603, "data": many[1..]}})).reason.as_deref(), Some("TASK_NOT_FOUND"));
}

#[test]
fn each_member_makes_a_problem() {
    let read = |body: Value| PeerError::parse(body.to_string().as_bytes(), MediaType::ProblemJson);
    for name in ["type", "title", "detail", "status"] {
        assert_eq!(read(json!({name: "x"})).unwrap().form, ErrorForm::Problem, "{name}");
    }
    assert_eq!(read(json!({"instance": "/x"})), None);
    let details = [info("UNSUPPORTED_OPERATION", "a2a-protocol.org")];
    let problem = json!({"title": "no", "region": "eu", "availableSkills": ["a"], "details": details});
    let error = read(problem).unwrap();
    assert_eq!((error.region.as_deref(), error.reason.as_deref()), (Some("eu"), Some("UNSUPPORTED_OPERATION")));
    assert_eq!(error.available_skills, Some(vec!["a".to_owned()]));
}

#[test]
fn the_codes_that_are_json_rpcs() {
    for (code, form) in [
        (-32769, ErrorForm::Text),
        (-32768, ErrorForm::CodeMessage),
        (-32000, ErrorForm::CodeMessage),
        (-31999, ErrorForm::Text),
    ] {
        let error = parse(&json!({"code": code, "message": "no"}));
        assert_eq!((error.form, error.code.is_some()), (form, form == ErrorForm::CodeMessage), "{code}");
        let is_json_rpc = form == ErrorForm::CodeMessage;
        let error = parse(&json!({"error": {"code": code, "message": "no"}}));
        assert_eq!(error.form == ErrorForm::JsonRpc, is_json_rpc, "{code}");
        // The same of what cannot be read as a tree.
        let scan = |body: String| PeerError::scan(body.as_bytes()).map(|error| (error.form, error.code));
        let bare = scan(format!(r#"{{"code":{code},"message":"no","data":"#));
        assert_eq!(bare, is_json_rpc.then_some((ErrorForm::CodeMessage, Some(code))));
        let (form, kept) = if is_json_rpc { (ErrorForm::JsonRpc, Some(code)) } else { (ErrorForm::RpcStatus, None) };
        assert_eq!(scan(format!(r#"{{"error":{{"code":{code},"message":"no""#)), Some((form, kept)));
        let in_envelope = scan(format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":"no""#));
        assert_eq!(in_envelope, Some((ErrorForm::JsonRpc, Some(code))));
    }
    // Above this one may read as its neighbour: 9007199254740991.0 did.
    for (text, code) in [
        ("4294967296.0", Some(4_294_967_296)),
        ("4503599627370496.0", None),
        ("9007199254740991.0", None),
        ("-4503599627370496.0", None),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","error":{{"code":{text},"message":"no"}}}}"#);
        assert_eq!(PeerError::parse(body.as_bytes(), MediaType::Json).unwrap().code, code, "{text}");
    }
}

#[test]
fn statuses_that_decide_and_those_that_do_not() {
    let kind = |form, status: &str| PeerError { status: Some(status.to_owned()), ..PeerError::new(form) }.kind(None);
    assert_eq!(kind(ErrorForm::RpcStatus, "UNIMPLEMENTED"), Some(A2aError::MethodNotFound));
    assert_eq!(kind(ErrorForm::Grpc, "UNIMPLEMENTED"), None);
    assert_eq!(kind(ErrorForm::Grpc, "NOT_FOUND"), Some(A2aError::TaskNotFound));
    assert_eq!(kind(ErrorForm::JsonRpc, "NOT_FOUND"), None);
    assert_eq!(kind(ErrorForm::Text, "NOT_FOUND"), None);
}

#[test]
fn texts_are_never_cut_within_a_character() {
    let text = format!("a{}", "é".repeat(2000));
    let error = parse(&json!({"error": {"code": 1, "message": text, "status": text}}));
    assert_eq!((error.message.map(|text| text.len()), error.status.map(|text| text.len())), (Some(1023), Some(255)));
}
