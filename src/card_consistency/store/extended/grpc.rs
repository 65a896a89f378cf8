//! The answer to `GetExtendedAgentCard` over gRPC: one message, and how the call ended.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header::CONTENT_TYPE, response::Parts};

use super::{Answer, ExtendedCall, answer::is_none_there};
use crate::{
    call::grpc_dialect_of,
    card_consistency::store::{Inner, exchange::not_json},
    client::AnyBody,
    clock::Millis,
    error::CardFailure,
    wire::{
        A2aError, MediaType,
        grpc::{
            GrpcStatus,
            card::{CardMessageError, to_json},
        },
    },
};

impl Inner {
    pub(super) async fn grpc_answer(
        &self,
        call: &ExtendedCall,
        head: Parts,
        body: AnyBody,
        sent: Millis,
    ) -> Result<Answer, CardFailure> {
        let uri = &call.uri;
        if !head.status.is_success() {
            return Err(self.refusal(&head, &Bytes::new(), uri, sent));
        }
        let media = MediaType::of(head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes));
        if media != MediaType::Grpc {
            return Err(not_json(&head, uri, "another media type than gRPC's"));
        }
        // A head may be the end as well.
        fine(&head.headers, uri)?;
        let (bytes, trailers) = self.read_all(body, uri).await?;
        if !fine(&trailers, uri)? && GrpcStatus::of(&head.headers).is_none() {
            return Err(not_json(&head, uri, "an answer without its grpc-status"));
        }
        let limit = self.settings.max_card_bytes;
        match to_json(&bytes, grpc_dialect_of(Some(call.version)), limit) {
            Ok(card) => Ok(Answer { head, card: card.into(), sent }),
            Err(CardMessageError::TooLarge) => Err(CardFailure::TooLarge { limit, location: Box::new(uri.clone()) }),
            Err(why) => Err(not_json(&head, uri, why)),
        }
    }
}

/// Whether a status is there, and says that all is well.
fn fine(fields: &HeaderMap, uri: &Uri) -> Result<bool, CardFailure> {
    match GrpcStatus::of(fields) {
        Some(status) if !status.is_ok() => {
            let error = status.to_error();
            Err(of_code(status.code().into(), error.kind(None), error.retry_after, uri))
        }
        status => Ok(status.is_some()),
    }
}

/// What a refusal comes to. Its status is that of HTTP which `google.rpc.Code` gives for its code.
pub(super) fn of_code(
    code: i32,
    kind: Option<A2aError>,
    retry_after: Option<std::time::Duration>,
    uri: &Uri,
) -> CardFailure {
    let status = match code {
        5 => StatusCode::NOT_FOUND,
        7 => StatusCode::FORBIDDEN,
        3 | 9 | 11 => StatusCode::BAD_REQUEST,
        4 => StatusCode::GATEWAY_TIMEOUT,
        6 | 10 => StatusCode::CONFLICT,
        8 => StatusCode::TOO_MANY_REQUESTS,
        12 => StatusCode::NOT_IMPLEMENTED,
        14 => StatusCode::SERVICE_UNAVAILABLE,
        16 => StatusCode::UNAUTHORIZED,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let location = Box::new(uri.clone());
    match status {
        _ if kind.is_some_and(is_none_there) => CardFailure::NotFound { tried: vec![uri.clone()] },
        // There is no such method.
        StatusCode::NOT_FOUND | StatusCode::NOT_IMPLEMENTED => CardFailure::NotFound { tried: vec![uri.clone()] },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            CardFailure::Unauthorized { status, location, www_authenticate: None }
        }
        status => CardFailure::HttpStatus { status, location, retry_after },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_told_as_its_status_of_http() {
        let uri = Uri::from_static("https://agent.example.com");
        let none = |failure: &CardFailure| matches!(failure, CardFailure::NotFound { .. });
        for code in [5, 12] {
            assert!(none(&of_code(code, None, None, &uri)), "{code}");
        }
        assert!(none(&of_code(9, Some(A2aError::UnsupportedOperation), None, &uri)));
        for (code, status) in [
            (1, 500),
            (2, 500),
            (3, 400),
            (4, 504),
            (6, 409),
            (7, 403),
            (8, 429),
            (9, 400),
            (10, 409),
            (11, 400),
            (13, 500),
            (14, 503),
            (15, 500),
            (16, 401),
            (99, 500),
        ] {
            let failure = of_code(code, None, Some(std::time::Duration::from_secs(7)), &uri);
            assert_eq!(failure.status().unwrap().as_u16(), status, "{code}");
            let is_no = matches!(failure, CardFailure::Unauthorized { .. });
            assert_eq!(is_no, matches!(code, 7 | 16), "{code}");
            assert_eq!(failure.retry_after().is_some(), !is_no, "{code}");
        }
    }
}
