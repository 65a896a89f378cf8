//! Errors in JSON: JSON-RPC's and HTTP+JSON's, of 1.0 and before.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{problem::Problem, reply::Version};
use crate::wire::{JsonRpcId, grpc::code::name_of_code};

/// An error response (JSON-RPC 2.0 §5.1; A2A 1.0 §9.5).
pub(super) fn json_rpc(problem: &Problem, id: &JsonRpcId, version: Version) -> String {
    let error = code_and_message(problem, version);
    // The id stands there as the caller wrote it, also where it is a number that no integer holds.
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.to_json())
}

/// A `google.rpc.Status` (A2A 1.0 §11.6); before 1.0, a JSON-RPC error object on its own.
pub(super) fn http_json(problem: &Problem, version: Version) -> String {
    match version {
        Version::Old => code_and_message(problem, version).to_string(),
        Version::Current(_) => {
            let status = json!({
                "code": problem.row.http.as_u16(),
                "status": name_of_code(problem.row.grpc),
                "message": problem.message,
                "details": details(problem),
            });
            json!({ "error": status }).to_string()
        }
    }
}

fn code_and_message(problem: &Problem, version: Version) -> Value {
    let data = match version {
        Version::Current(_) => details(problem),
        // An object is what the types of 0.3 have there.
        Version::Old => {
            let mut data = Map::new();
            data.insert("details".to_owned(), details(problem));
            if let Some(region) = &problem.region {
                data.insert("region".to_owned(), region.as_str().into());
            }
            if let Some(skills) = &problem.skills {
                data.insert("availableSkills".to_owned(), skills.as_slice().into());
            }
            data.into()
        }
    };
    json!({ "code": problem.row.code, "message": problem.message, "data": data })
}

fn details(problem: &Problem) -> Value {
    let metadata: Map<_, _> =
        problem.metadata.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    let mut details = vec![json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": problem.row.reason,
        "domain": problem.row.domain,
        "metadata": metadata,
    })];
    if let Some(after) = problem.retry_after {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": duration(after),
        }));
    }
    details.into()
}

/// ProtoJSON writes a duration with three, six or nine digits behind the point, or none.
fn duration(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    match nanos {
        0 => format!("{seconds}s"),
        _ if nanos % 1_000_000 == 0 => format!("{seconds}.{:03}s", nanos / 1_000_000),
        _ if nanos % 1_000 == 0 => format!("{seconds}.{:06}s", nanos / 1_000),
        _ => format!("{seconds}.{nanos:09}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_protojson() {
        let of = |seconds, nanos| duration(Duration::new(seconds, nanos));
        assert_eq!(of(7, 0), "7s");
        assert_eq!(of(1, 500_000_000), "1.500s");
        assert_eq!(of(0, 1_000), "0.000001s");
        assert_eq!(of(0, 1), "0.000000001s");
    }
}
