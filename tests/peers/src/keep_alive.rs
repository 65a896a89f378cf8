//! Keep-alive comments, as the server writes them, at an interval that a test can wait for.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::unfold;
use tokio::time::timeout;

/// What an SSE comment without text looks like.
const COMMENT: &[u8] = b":\n\n";

/// Adds comments to the silence of an event stream; any other response stays as it is.
pub(crate) async fn add(response: Response, interval: Duration) -> Response {
    if response.headers().get(CONTENT_TYPE).is_none_or(|media| media != "text/event-stream") {
        return response;
    }
    response.map(|body| {
        // The server writes each event as a frame of its own, so that a comment between two frames is between two
        // events. `next` may be dropped: a stream loses nothing by it.
        let frames = body.into_data_stream();
        Body::from_stream(unfold(frames, move |mut frames| async move {
            match timeout(interval, frames.next()).await {
                Ok(frame) => Some((frame?, frames)),
                Err(_) => Some((Ok(Bytes::from_static(COMMENT)), frames)),
            }
        }))
    })
}
