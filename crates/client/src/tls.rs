//! Encrypted connections: what is asked of a server's certificate, and its hash, to which authentication is bound.
//!
//! Without verification, as `sslmode=require` means it, whoever listens learns nothing, but nobody knows who answers.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::ObjectIdentifier;

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

/// How connections are encrypted. `authorities`: the file with their certificates, which must be there if anything is to be verified.
pub fn configuration(verify: Verify, authorities: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
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
    Ok(Arc::new(config))
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

/// The hash of a certificate by the algorithm of its signature, SHA-256 in the place of weak ones (RFC 5929).
pub fn endpoint_hash(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let algorithm = Certificate::from_der(certificate).ok()?.signature_algorithm;
    let name = match algorithm.oid.to_string().as_str() {
        // RSASSA-PSS: its parameters name the hash; SHA-1 unless they do.
        "1.2.840.113549.1.1.10" => {
            let parameters =
                algorithm.parameters.as_ref().map(|any| any.value().to_vec()).unwrap_or_default();
            let has = |oid: &str| {
                let oid = ObjectIdentifier::new_unwrap(oid);
                parameters.windows(oid.as_bytes().len()).any(|part| part == oid.as_bytes())
            };
            match () {
                () if has("2.16.840.1.101.3.4.2.2") => "sha384",
                () if has("2.16.840.1.101.3.4.2.3") => "sha512",
                () => "sha256",
            }
        }
        "1.2.840.113549.1.1.4" | "1.2.840.113549.1.1.5" | "1.2.840.10045.4.1" => "sha256",
        "1.2.840.113549.1.1.11" | "1.2.840.10045.4.3.2" => "sha256",
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => "sha384",
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => "sha512",
        "1.2.840.113549.1.1.14" | "1.2.840.10045.4.3.1" => "sha224",
        _ => return None,
    };
    Some(match name {
        "sha224" => Sha224::digest(certificate).to_vec(),
        "sha384" => Sha384::digest(certificate).to_vec(),
        "sha512" => Sha512::digest(certificate).to_vec(),
        _ => Sha256::digest(certificate).to_vec(),
    })
}
