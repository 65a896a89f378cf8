//! How the question for an extended card is put.

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Request, StatusCode, Version,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, TE},
};
use tokio::time::Instant;

use super::{
    Answer, ExtendedCall,
    answer::{of_client, result_of},
};
use crate::{
    call::{Binding, Call, Operation, ProtocolVersion},
    card_consistency::store::{
        CardAsk, Inner,
        exchange::{VERSION, check_media_type, unauthorized},
    },
    error::CardFailure,
    wire::JsonRpcId,
};

/// What the call activates, its question activates too: an agent may insist.
const EXTENSIONS: [HeaderName; 2] =
    [HeaderName::from_static("a2a-extensions"), HeaderName::from_static("x-a2a-extensions")];

impl Inner {
    pub(super) async fn put_question(
        &self,
        ask: &CardAsk,
        call: &ExtendedCall,
        forced: bool,
    ) -> Result<Answer, CardFailure> {
        self.stats.count(&self.stats.requests);
        let sent = self.clock.millis(Instant::now());
        let request = self.extended_request(ask, call, forced);
        let response = self.client.send(request).await.map_err(|error| of_client(error, &call.uri))?;
        let (head, body) = response.into_parts();
        if matches!(head.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(unauthorized(&head, &call.uri));
        }
        if call.binding == Binding::Grpc {
            return self.grpc_answer(call, head, body, sent).await;
        }
        if head.status.is_success() {
            check_media_type(&head, &call.uri, self.settings.strict)?;
        }
        let bytes = self.read(body, &call.uri).await.map_err(|failure| match failure {
            // What a failure has to say may be as long as it likes.
            CardFailure::TooLarge { .. } if !head.status.is_success() => self.of_status(&head, &call.uri, sent),
            failure => failure,
        })?;
        let card = match call.binding {
            _ if !head.status.is_success() => None,
            Binding::JsonRpc => result_of(&bytes),
            _ => Some(bytes.clone()),
        };
        match card {
            Some(card) => Ok(Answer { head, card, sent }),
            None => Err(self.refusal(&head, &bytes, &call.uri, sent)),
        }
    }

    fn extended_request(&self, ask: &CardAsk, call: &ExtendedCall, forced: bool) -> Request<Bytes> {
        let mut request = Request::new(call.body.clone());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = call.uri.clone();
        if call.binding == Binding::Grpc {
            *request.version_mut() = Version::HTTP_2;
        }
        // A guarded client is told what it guards.
        let named = Call::new()
            .with_operation(Operation::GetExtendedAgentCard)
            .with_binding(call.binding)
            .with_version(call.version);
        let named = if call.binding == Binding::JsonRpc { named.with_id(JsonRpcId::Number(1)) } else { named };
        request.extensions_mut().insert(named);
        let headers = request.headers_mut();
        if call.binding == Binding::Grpc {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            headers.insert(TE, HeaderValue::from_static("trailers"));
        } else {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
            if !call.body.is_empty() {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
        }
        if call.version == ProtocolVersion::V1_0 {
            headers.insert(VERSION, HeaderValue::from_static("1.0"));
        }
        if forced {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let keying = self.shelf.keying();
        for name in keying.tenant_headers.iter().chain(&keying.credential_headers).chain(&EXTENSIONS) {
            for value in ask.headers.get_all(name) {
                headers.append(name.clone(), value.clone());
            }
        }
        request
    }
}
