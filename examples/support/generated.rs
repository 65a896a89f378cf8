//! What tonic-prost-build generates from the protocol's `a2a.proto`, as far as it is needed here.

use a2a_guard::BoxError;
use bytes::Bytes;
use http::uri::PathAndQuery;
use http_body::Body;
use tonic::{
    IntoRequest, Response, Status, Streaming,
    client::{Grpc, GrpcService},
};
use tonic_prost::ProstCodec;

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SendMessageRequest {
    #[prost(message, optional, tag = 2)]
    pub(crate) message: Option<Message>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Message {
    #[prost(string, tag = 1)]
    pub(crate) message_id: String,
    #[prost(int32, tag = 4)]
    pub(crate) role: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StreamResponse {
    #[prost(bytes = "vec", optional, tag = 1)]
    pub(crate) task: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = 3)]
    pub(crate) status_update: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
pub(crate) struct A2aServiceClient<T> {
    inner: Grpc<T>,
}

impl<T> A2aServiceClient<T>
where
    T: GrpcService<tonic::body::Body>,
    T::Error: Into<BoxError>,
    T::ResponseBody: Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as Body>::Error: Into<BoxError> + Send,
{
    pub(crate) fn new(inner: T) -> Self {
        Self { inner: Grpc::new(inner) }
    }

    pub(crate) async fn send_streaming_message(
        &mut self,
        request: impl IntoRequest<SendMessageRequest>,
    ) -> Result<Response<Streaming<StreamResponse>>, Status> {
        self.inner.ready().await.map_err(|error| Status::unknown(format!("not ready: {}", error.into())))?;
        let path = PathAndQuery::from_static("/lf.a2a.v1.A2AService/SendStreamingMessage");
        self.inner.server_streaming(request.into_request(), path, ProstCodec::default()).await
    }
}
