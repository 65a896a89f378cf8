//! The agent over gRPC, served connection by connection: they end with the server, as they would with its process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_grpc::GrpcHandler;
use a2a_pb::proto::a2a_service_server::A2aServiceServer;
use a2a_server::DefaultRequestHandler;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub(crate) async fn serve(listener: TcpListener, handler: Arc<DefaultRequestHandler>, asked: Arc<AtomicUsize>) {
    let agent = TowerToHyperService::new(A2aServiceServer::new(GrpcHandler::new(handler)));
    let agent = service_fn(move |request: Request<Incoming>| {
        asked.fetch_add(1, Ordering::Relaxed);
        agent.call(request)
    });
    // Dropped with this future.
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let agent = agent.clone();
        connections.spawn(http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), agent));
    }
}
