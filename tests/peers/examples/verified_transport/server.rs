//! An agent behind TLS that shows its card, at `https://agent.example.com`, wherever that is.

use std::{io, net::SocketAddr, sync::Arc};

use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

const CARD: &str = r#"{"name":"Agent","description":"behind TLS","version":"1","supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;

/// Its certificate. Made for this place; the key beside it opens nothing.
pub(crate) fn certificate() -> CertificateDer<'static> {
    CertificateDer::from(&include_bytes!("agent.der")[..])
}

/// Who issued it.
pub(crate) fn issuers() -> Result<RootCertStore, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(&include_bytes!("issuer.der")[..]))?;
    Ok(roots)
}

/// Serves the card to whoever asks, for as long as the runtime runs.
pub(crate) async fn serve() -> io::Result<SocketAddr> {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(&include_bytes!("agent.key.der")[..]));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(vec![certificate()], key))
        .map_err(io::Error::other)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await?;
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") && stream.read_buf(&mut request).await? > 0 {}
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: max-age=300\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n",
                    CARD.len()
                );
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(CARD.as_bytes()).await?;
                stream.shutdown().await
            });
        }
    });
    Ok(address)
}
