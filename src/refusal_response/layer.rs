use std::{fmt, sync::Arc};

use tower_layer::Layer;

use super::RefusalResponseService;
use crate::call::Order;

/// Renders every failure as the binding's own error: its service cannot fail.
///
/// It belongs below [`CallLayer`](crate::CallLayer), whose [`Call`](crate::Call) says how to answer (id, binding,
/// version), and above everything that can fail. Without a `Call` in the request's extensions it goes by path and
/// headers, as far as they tell; a POST about which they say nothing is answered as JSON-RPC.
///
/// A rendered response carries the [`CallError`](crate::CallError) in its extensions, for logging above. A body that
/// fails when no error can be written any more (a unary one, or one with a content coding) fails with a `CallError`, so
/// that the connection breaks off instead of looking finished.
///
/// ```
/// use std::convert::Infallible;
/// use a2a_guard::{CallBody, CallLayer, RefusalResponseLayer, TerminalStateLayer};
/// use bytes::Bytes;
/// use http_body_util::{BodyExt, Full};
/// use tower::{Service, ServiceBuilder, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // An agent behind a proxy that answers with a page.
/// let agent = service_fn(|_: http::Request<CallBody<Full<Bytes>>>| async {
///     let page = http::Response::builder().status(500).header("content-type", "text/html");
///     Ok::<_, Infallible>(page.body(Full::<Bytes>::from("<html>")).unwrap())
/// });
/// let mut stack = ServiceBuilder::new()
///     .layer(CallLayer::new())
///     .layer(RefusalResponseLayer::new())
///     .layer(TerminalStateLayer::new())
///     .service(agent);
///
/// let body = r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-1"}}"#;
/// let request = http::Request::post("http://agent.example.com/a2a").body(Full::from(body))?;
/// let Ok(response) = stack.call(request).await; // there is no other way for it to end
/// assert_eq!(response.status(), 200);
/// let body: serde_json::Value = serde_json::from_slice(&response.into_body().collect().await?.to_bytes())?;
/// assert_eq!((&body["id"], &body["error"]["code"]), (&7.into(), &(-32006).into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct RefusalResponseLayer {
    order: Arc<Order>,
}

impl RefusalResponseLayer {
    /// The layer. There is nothing to set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl fmt::Debug for RefusalResponseLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefusalResponseLayer")
    }
}

impl<S> Layer<S> for RefusalResponseLayer {
    type Service = RefusalResponseService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RefusalResponseService::new(inner, Arc::clone(&self.order))
    }
}
