//! What a request says of its call.

use super::encode::{about_task, send_text};
use super::*;
use GrpcDialect::V03;

/// What is known of a request, whatever its cut.
fn request(layout: RequestLayout, message: &Message) -> crate::wire::request::RequestFacts {
    let bytes = framed(message.as_bytes());
    let scan = |cut: usize| {
        let mut scan = GrpcRequestScan::new(layout, Some("skillId"), Some("region"));
        for piece in bytes.chunks(cut) {
            assert!(!scan.is_over());
            scan.feed(piece);
        }
        assert!(scan.is_over() && scan.is_valid());
        scan.facts().clone()
    };
    let whole = scan(bytes.len());
    (1..bytes.len()).for_each(|cut| assert_eq!(scan(cut), whole));
    whole
}

#[test]
fn requests_of_both_versions() {
    let facts = request(RequestLayout::V1_TASK, &about_task(V1, "t-1", Some("acme")));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", "acme"));
    let facts = request(RequestLayout::V03_NAME, &about_task(V03, "t-1", None));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", ""));
    let facts = request(RequestLayout::V03_NAME, &Message::new().text(1, "tasks/t-1/pushNotificationConfigs/c"));
    assert_eq!(facts.task_id.as_str(), "t-1");
    assert!(request(RequestLayout::V03_NAME, &Message::new().text(1, "t-1")).task_id.is_empty());
    assert!(!facts.task_id.is_truncated());
    // Of a name only what is of the task may be too long.
    let long = "x".repeat(1100);
    for (name, is_truncated) in
        [("tasks/t-1".to_owned(), false), (format!("tasks/t-1/{long}"), false), (format!("tasks/{long}"), true)]
    {
        let bytes = framed(Message::new().text(1, &name).as_bytes());
        let mut scan = GrpcRequestScan::new(RequestLayout::V03_NAME, None, None);
        scan.feed(&bytes);
        assert_eq!(scan.facts().task_id.is_truncated(), is_truncated, "{name}");
    }
    let facts = request(RequestLayout::V1_LIST_PUSH, &Message::new().text(4, "acme").text(1, "t-1"));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", "acme"));
    let facts = request(RequestLayout::V1_CREATE_PUSH, &Message::new().text(1, "acme").text(2, "c").text(3, "t-1"));
    assert_eq!((facts.task_id.as_str(), facts.tenant.as_str()), ("t-1", "acme"));
}

/// As the table in the module's documentation has it: tenant, task, context.
#[test]
fn fields_of_each_request() {
    let of = |layout| {
        // The third field of a cancellation is a message: its metadata.
        let numbers = (1..6).filter(|number| layout != RequestLayout::V1_CANCEL || *number != 3);
        let all = numbers.fold(Message::new(), |message, number| message.text(number, &format!("tasks/{number}")));
        let facts = request(layout, &all);
        [facts.tenant, facts.task_id, facts.context_id].map(|text| text.as_str().to_owned())
    };
    for (layout, expected) in [
        (RequestLayout::V1_TASK, ["tasks/1", "tasks/2", ""]),
        (RequestLayout::V1_CANCEL, ["tasks/1", "tasks/2", ""]),
        (RequestLayout::V1_LIST_TASKS, ["tasks/1", "", "tasks/2"]),
        (RequestLayout::V1_CREATE_PUSH, ["tasks/1", "tasks/3", ""]),
        (RequestLayout::V1_PUSH, ["tasks/1", "tasks/2", ""]),
        (RequestLayout::V1_LIST_PUSH, ["tasks/4", "tasks/1", ""]),
        (RequestLayout::V1_CARD, ["tasks/1", "", ""]),
        (RequestLayout::V03_NAME, ["", "1", ""]),
        (RequestLayout::V03_CARD, ["", "", ""]),
    ] {
        assert_eq!(of(layout), expected, "{layout:?}");
        assert_eq!(layout.has_tenant(), !expected[0].is_empty(), "{layout:?}");
    }
}

#[test]
fn sends_of_both_versions() {
    let message = || Message::new().text(1, "m").text(2, "ctx").text(3, "t-1");
    let configuration = |on| Message::new().number(4, on);
    let facts = request(RequestLayout::V1_SEND, &Message::new().message(2, message()).message(3, configuration(1)));
    assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), ("t-1", "ctx"));
    assert_eq!((facts.return_immediately, facts.blocking), (Some(true), None));
    let facts = request(RequestLayout::V03_SEND, &Message::new().message(1, message()).message(2, configuration(1)));
    assert_eq!((facts.task_id.as_str(), facts.return_immediately, facts.blocking), ("t-1", None, Some(true)));
    // Without a configuration nobody says; with one, a boolean that is not there is false.
    assert_eq!(request(RequestLayout::V03_SEND, &Message::new().message(1, message())).blocking, None);
    let quick = Message::new().message(2, Message::new().text(1, "text/plain"));
    assert_eq!(request(RequestLayout::V03_SEND, &quick).blocking, Some(false));
}

fn metadata(pairs: &[(&str, &str)]) -> Message {
    pairs.iter().fold(Message::new(), |metadata, (key, value)| {
        // The value first: a map's entry is a message like any other.
        metadata.message(1, Message::new().message(2, Message::new().text(3, value)).text(1, key))
    })
}

#[test]
fn skill_and_region_stand_in_metadata() {
    let own = metadata(&[("other", "x"), ("skillId", "translate"), ("region", "eu")]);
    let of_message = Message::new().message(6, metadata(&[("skillId", "no"), ("region", "us")]));
    let facts = request(RequestLayout::V1_SEND, &Message::new().message(2, of_message.clone()));
    assert_eq!((facts.skill.as_str(), facts.region.as_str()), ("no", "us"));
    for request_ in [
        Message::new().message(2, of_message.clone()).message(4, own.clone()),
        Message::new().message(4, own.clone()).message(2, of_message),
    ] {
        let facts = request(RequestLayout::V1_SEND, &request_);
        assert_eq!((facts.skill.as_str(), facts.region.as_str()), ("translate", "eu"));
    }
    let facts = request(RequestLayout::V03_SEND, &Message::new().message(3, own));
    assert_eq!((facts.skill.as_str(), facts.region.as_str()), ("translate", "eu"));
    let probe = send_text(V1, "m", "__probe__", &[("a2a_probe", true)], Some("acme"));
    assert_eq!(request(RequestLayout::V1_SEND, &probe).tenant.as_str(), "acme");
}

#[test]
fn one_key_of_metadata_is_enough() {
    let own = metadata(&[("skillId", "translate"), ("region", "eu")]);
    let bytes = framed(Message::new().message(4, own).as_bytes());
    for (skill, region, expected) in
        [(Some("skillId"), None, ("translate", "")), (None, Some("region"), ("", "eu")), (None, None, ("", ""))]
    {
        let mut scan = GrpcRequestScan::new(RequestLayout::V1_SEND, skill, region);
        scan.feed(&bytes);
        assert_eq!((scan.facts().skill.as_str(), scan.facts().region.as_str()), expected);
    }
    // What nobody asks about is not looked into.
    let bytes = framed(Message::new().bytes(4, b"\xff").text(1, "acme").as_bytes());
    for (key, is_valid) in [(Some("skillId"), false), (None, true)] {
        let mut scan = GrpcRequestScan::new(RequestLayout::V1_SEND, key, None);
        scan.feed(&bytes);
        assert_eq!((scan.is_valid(), scan.facts().tenant.as_str()), (is_valid, if is_valid { "acme" } else { "" }));
    }
}

/// A key that is longer than what is kept of it is none that was asked for.
#[test]
fn a_key_of_metadata_is_compared_to_its_end() {
    for (more, found) in [("", "translate"), ("k", "")] {
        let key = "k".repeat(1024);
        let metadata = metadata(&[(&format!("{key}{more}"), "translate")]);
        let mut scan = GrpcRequestScan::new(RequestLayout::V1_SEND, Some(&key), Some(&key));
        scan.feed(&framed(Message::new().message(4, metadata).as_bytes()));
        assert_eq!((scan.facts().skill.as_str(), scan.facts().region.as_str()), (found, found));
    }
}

#[test]
fn a_request_that_is_no_plain_message_names_nothing() {
    for bytes in [&b"\x01\0\0\0\x03abc"[..], b"\x01\0\0\0\x05\x12\x03t-1", b"{\"a\":1}", b"\0\0\0\0\x02\xff\xff"] {
        let mut scan = GrpcRequestScan::new(RequestLayout::V1_TASK, None, None);
        scan.feed(bytes);
        assert!(scan.is_over() && !scan.is_valid());
        assert_eq!(*scan.facts(), crate::wire::request::RequestFacts::default());
    }
}
