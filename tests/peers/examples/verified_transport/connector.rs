//! A connector that says what it verified of its peer: rustls and tokio, and nothing of this crate but the marker.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use a2a_guard::card_consistency::{TransportProof, VerifiedTransport};
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Connects over TLS. What its `ClientConfig` lets pass is what was verified, so that it knows what to say.
#[derive(Clone)]
pub(crate) struct Connector {
    tls: TlsConnector,
    proof: TransportProof,
    /// Where all hosts are, for want of a name server.
    at: SocketAddr,
}

impl Connector {
    /// Trusts certificates of these issuers that have the host among their subject alternative names. rustls verifies
    /// both before the handshake is over.
    pub(crate) fn by_name(issuers: RootCertStore, at: SocketAddr) -> Result<Self, rustls::Error> {
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(issuers)
            .with_no_client_auth();
        Ok(Self { tls: Arc::new(config).into(), proof: TransportProof::SubjectAltName, at })
    }

    /// Trusts this certificate alone, whoever issued it and whatever names stand in it.
    pub(crate) fn by_pin(certificate: CertificateDer<'static>, at: SocketAddr) -> Result<Self, rustls::Error> {
        let provider = provider();
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(PinnedCertificate { certificate, provider }))
            .with_no_client_auth();
        Ok(Self { tls: Arc::new(config).into(), proof: TransportProof::Pinned, at })
    }

    async fn connect(self, uri: Uri) -> io::Result<Verified> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        // The marker must not be put on anything else.
        if uri.scheme_str() != Some("https") {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this connector speaks TLS alone"));
        }
        let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
        let stream = self.tls.connect(name, TcpStream::connect(self.at).await?).await?;
        Ok(Verified { io: TokioIo::new(stream), transport: VerifiedTransport::new(host, self.proof) })
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

impl tower::Service<Uri> for Connector {
    type Response = Verified;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Verified>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// A connection whose peer was verified.
pub(crate) struct Verified {
    io: TokioIo<TlsStream<TcpStream>>,
    transport: VerifiedTransport,
}

impl Connection for Verified {
    /// hyper-util puts what is extra into the extensions of every response that comes over the connection.
    fn connected(&self) -> Connected {
        Connected::new().extra(self.transport.clone())
    }
}

impl Read for Verified {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl Write for Verified {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// Takes one certificate and no other. That the peer has its key, the handshake's signature proves.
#[derive(Debug)]
struct PinnedCertificate {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinnedCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *end_entity == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::InvalidCertificate(rustls::CertificateError::ApplicationVerificationFailure))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
