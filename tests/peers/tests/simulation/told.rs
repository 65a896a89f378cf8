//! What a gateway says befell it, in the refusals that it renders.

use a2a_guard::CallError;
use serde_json::Value;
use tonic::Status;
use tonic_types::StatusExt;

/// `outcome/class` of the gateway's own failure.
pub(crate) fn word(error: &CallError) -> Option<String> {
    let response = error.response()?;
    let trailers = response.trailers.as_ref().unwrap_or(&response.headers);
    if let Some(status) = Status::from_header_map(trailers) {
        let info = status.get_details_error_info()?;
        return Some(format!("{}/{}", info.metadata.get("outcome")?, info.metadata.get("class")?));
    }
    // A document, or an event.
    let text = std::str::from_utf8(&response.body).ok()?;
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    lines.filter_map(|line| serde_json::from_str(line).ok()).find_map(|document: Value| find(&document))
}

fn find(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => {
            let word = |name| members.get(name).and_then(Value::as_str);
            match (word("outcome"), word("class")) {
                (Some(outcome), Some(class)) => Some(format!("{outcome}/{class}")),
                _ => members.values().find_map(find),
            }
        }
        Value::Array(values) => values.iter().find_map(find),
        _ => None,
    }
}
