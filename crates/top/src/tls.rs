//! Encrypted connections: `rustls` under the client library.
//!
//! Without verification, as `sslmode=require` means it, whoever listens learns nothing, but nobody knows who answers.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// What is asked of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing.
    Nothing,
    /// That an authority signed it.
    Authority,
    /// That an authority signed it for the host's name.
    Full,
}

/// Makes connections encrypted.
#[derive(Clone)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// `authorities`: the file with their certificates, which must be there if anything is to be verified.
    pub fn new(verify: Verify, authorities: Option<&Path>) -> Result<Tls, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let checker = match verify {
            Verify::Nothing => None,
            Verify::Authority | Verify::Full => Some(checker(authorities, &provider)?),
        };
        let verifier = Verifier { verify, checker, provider: provider.clone() };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Tls(Arc::new(config)))
    }
}

/// What server certificates are compared with.
#[derive(Debug)]
struct Checker {
    /// The certificates of the file.
    trusted: Vec<CertificateDer<'static>>,
    signatures: Arc<WebPkiServerVerifier>,
}

fn checker(file: Option<&Path>, provider: &Arc<CryptoProvider>) -> Result<Checker, String> {
    let file = file.ok_or("sslmode verify-ca and verify-full need sslrootcert")?;
    if !file.exists() {
        return Err(format!("root certificate file \"{}\" does not exist", file.display()));
    }
    let unreadable = |error: &dyn std::fmt::Display| {
        format!("could not read root certificate file \"{}\": {error}", file.display())
    };
    let (mut roots, mut trusted) = (RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate.clone()).map_err(|error| unreadable(&error))?;
        trusted.push(certificate);
    }
    let signatures = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| unreadable(&error))?;
    Ok(Checker { trusted, signatures })
}

#[derive(Debug)]
struct Verifier {
    verify: Verify,
    /// There if anything is verified.
    checker: Option<Checker>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(checker) = &self.checker else { return Ok(ServerCertVerified::assertion()) };
        match checker.signatures.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is looked at last, so all else was well.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verify == Verify::Authority => {}
            // One that signed itself is an authority's by its form, and no server's. Its dates were looked at before.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if checker.trusted.iter().any(|trusted| trusted == certificate) =>
            {
                if self.verify == Verify::Full {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                }
            }
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Connect, io::Error> {
        Ok(Connect { connector: TlsConnector::from(self.0.clone()), host: host.to_string() })
    }
}

/// What encrypts one connection.
pub struct Connect {
    connector: TlsConnector,
    host: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connect {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            self.connector.connect(name, stream).await.map(Encrypted)
        })
    }
}

/// An encrypted connection.
pub struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
