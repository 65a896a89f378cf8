//! Error events.

use bytes::Bytes;

/// The event that ends a stream: named as the reference servers name it, and as clients of HTTP+JSON look for it.
/// `document` is JSON on one line.
pub(super) fn error(document: &str) -> Bytes {
    format!("event: error\ndata: {document}\n\n").into()
}
