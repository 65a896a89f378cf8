//! The agent over gRPC, served connection by connection: they end with the server, as they would with its process.

use std::sync::Arc;

use a2a_grpc::GrpcHandler;
use a2a_pb::proto::a2a_service_server::A2aServiceServer;
use a2a_server::DefaultRequestHandler;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub(crate) async fn serve(listener: TcpListener, handler: Arc<DefaultRequestHandler>) {
    let agent = A2aServiceServer::new(GrpcHandler::new(handler));
    // Dropped with this future.
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let agent = TowerToHyperService::new(agent.clone());
        connections.spawn(http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), agent));
    }
}
