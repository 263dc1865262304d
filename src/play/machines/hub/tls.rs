//! TLS to a server whose certificate is known by its hash.

use async_nats::rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use sha2::{Digest, Sha256};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Accepts one certificate, whatever it says of names and dates, and checks that the server has its private key: a
/// certificate is public, and proves nothing without the signature of the handshake.
#[derive(Debug)]
struct Pinned {
    sha256: [u8; 32],
    provider: Arc<CryptoProvider>,
    refused: Arc<AtomicBool>,
}

/// How to connect to the server with this certificate; and whether another one was shown.
pub(crate) fn pinned(sha256: [u8; 32]) -> (ClientConfig, Arc<AtomicBool>) {
    let provider = Arc::new(ring::default_provider());
    let refused = Arc::new(AtomicBool::new(false));
    let verifier = Pinned { sha256, provider: provider.clone(), refused: refused.clone() };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions of its own library")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    (config, refused)
}

impl Pinned {
    fn refuse(&self, error: Error) -> Error {
        self.refused.store(true, Ordering::Relaxed);
        error
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found: [u8; 32] = Sha256::digest(certificate).into();
        match found == self.sha256 {
            true => Ok(ServerCertVerified::assertion()),
            false => {
                Err(self.refuse(Error::General("its certificate is not the one of the token".to_owned())))
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let schemes = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, schemes).map_err(|error| self.refuse(error))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let schemes = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, schemes).map_err(|error| self.refuse(error))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
