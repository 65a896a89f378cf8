use a2a_guard::wire::{Envelope, JsonRpcId, RequestFacts, RequestScan, SmallText};

use crate::{
    cut::cuts,
    input::Input,
    oracle::tree::{self, Kind, Members, Raw},
};

/// An outgoing request, against serde_json's tree of it.
pub fn request(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let envelope = input.pick(&[Envelope::JsonRpc, Envelope::Bare]);
    let seed = input.word();
    let body = input.rest();

    let is_json = tree::is_json(body) && tree::depth(body) <= a2a_guard::wire::json::JsonScanner::MAX_DEPTH;
    let mut whole = None;
    for pieces in cuts(body, seed) {
        let mut scan = RequestScan::new(envelope, Some("skill"), Some("region"));
        pieces.iter().for_each(|piece| scan.feed(piece));
        scan.finish();
        assert_eq!(scan.is_valid(), is_json);
        let (facts, _) = whole.get_or_insert_with(|| (scan.facts().clone(), ()));
        assert_eq!(facts, scan.facts(), "read otherwise in another cut");
        if is_json {
            assert_read(envelope, tree::root(body).expect("JSON"), scan.facts());
        }
    }
}

fn assert_read(envelope: Envelope, root: Raw<'_>, facts: &RequestFacts) {
    let is_rpc = envelope == Envelope::JsonRpc;
    assert_eq!(facts.is_object, tree::kind(root) == Kind::Object);
    let object = Members::of(root);
    let params = if is_rpc { of(&object, "params") } else { Some(Members::of(root)) };
    // Which of two counts, readers do not agree about.
    let Some(params) = params else { return };
    let (Some(message), Some(configuration)) = (of(&params, "message"), of(&params, "configuration")) else { return };
    let (Some(metadata), Some(own_metadata)) = (of(&params, "metadata"), of(&message, "metadata")) else { return };
    let names = ["jsonrpc", "method", "id", "tenant", "taskId", "contextId", "skill", "region"];
    let flags = ["returnImmediately", "blocking"];
    let objects = [&object, &params, &message, &configuration, &metadata, &own_metadata];
    if objects.into_iter().any(|object| object.repeats(&names) || object.repeats(&flags)) {
        return;
    }

    if is_rpc {
        assert_eq!(facts.jsonrpc, object.text("jsonrpc").as_deref() == Some("2.0"));
        assert_text(&facts.method, object.text("method"));
        assert_id(&facts.id, object.get("id"));
    }
    let filled = |object: &Members<'_>, name| object.text(name).filter(|text| !text.is_empty());
    let first = |texts: [Option<String>; 3]| texts.into_iter().flatten().next();
    assert_text(&facts.tenant, params.text("tenant"));
    let own_id = filled(&params, "id").filter(|_| is_rpc);
    assert_text(&facts.task_id, first([filled(&params, "taskId"), own_id, filled(&message, "taskId")]));
    assert_text(&facts.context_id, first([filled(&message, "contextId"), filled(&params, "contextId"), None]));
    assert_text(&facts.skill, first([filled(&metadata, "skill"), filled(&own_metadata, "skill"), None]));
    assert_text(&facts.region, first([filled(&metadata, "region"), filled(&own_metadata, "region"), None]));
    let flag = |name| configuration.get(name).and_then(|value| value.get().parse::<bool>().ok());
    assert_eq!(facts.return_immediately, flag("returnImmediately"));
    assert_eq!(facts.blocking, flag("blocking"));
}

/// An object within one; empty if it is none. `None` if it stands there twice.
fn of<'a>(object: &Members<'a>, name: &str) -> Option<Members<'a>> {
    (!object.repeats(&[name])).then(|| object.get(name).map(Members::of).unwrap_or_default())
}

fn assert_text(kept: &SmallText, text: Option<String>) {
    let text = text.unwrap_or_default();
    match text.as_bytes().get(..SmallText::MAX) {
        Some(start) if text.len() > SmallText::MAX => assert!(kept.is_truncated() && kept.as_bytes() == start),
        _ => assert!(!kept.is_truncated() && kept.as_str() == text, "{kept:?} {text:?}"),
    }
}

fn assert_id(id: &JsonRpcId, value: Option<Raw<'_>>) {
    let expected = match value.map(|value| (tree::kind(value), value)) {
        None => JsonRpcId::Absent,
        Some((Kind::Null, _)) => JsonRpcId::Null,
        Some((Kind::String, value)) => {
            let text = tree::text(value).expect("a string");
            if text.len() > SmallText::MAX { JsonRpcId::Other } else { JsonRpcId::Text(text.into()) }
        }
        Some((Kind::Number, value)) => match value.get().parse() {
            Ok(number) => JsonRpcId::Number(number),
            Err(_) if value.get().len() > SmallText::MAX => JsonRpcId::Other,
            Err(_) => JsonRpcId::Raw(value.get().into()),
        },
        Some(_) => JsonRpcId::Other,
    };
    assert_eq!(*id, expected);
    // What is echoed is JSON, and the same.
    let echo = id.to_json();
    let echoed: serde_json::Value = serde_json::from_str(&echo).unwrap_or_else(|_| echo.len().into());
    if let JsonRpcId::Text(text) = id {
        assert_eq!(echoed, **text);
    }
}
