use crate::{
    error::{CallError, Retry},
    outcome::Class,
    wire::A2aError,
};

/// Whether the failure may be gone by itself. That a retry is safe is another matter.
pub(super) fn is_transient(error: &CallError) -> bool {
    match error.class() {
        Class::Connect
        | Class::ConnectionLost
        | Class::Ready
        | Class::Head
        | Class::FirstEvent
        | Class::Idle
        | Class::EventGap
        | Class::Empty
        | Class::Truncated
        // A cut body is one too.
        | Class::Malformed
        | Class::RateLimited
        | Class::Unavailable
        | Class::FetchTimeout => true,
        Class::PeerError => error.retry() == Retry::After || error.a2a_error() == Some(A2aError::Internal),
        // A card's status is not in the head of an answer; its host may ask to wait.
        Class::HttpStatus => {
            error.retry() == Retry::After || error.http_status().is_some_and(|status| status.is_server_error())
        }
        // The rest is as it is: what was asked, where and by whom, or what the agent is.
        _ => false,
    }
}
