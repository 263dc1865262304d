//! TLS with a server: trusted certificates, and advice on others.

use plan::client::Trust;
use platform::files;
use std::{io, path::PathBuf, sync::Arc};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        self, ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, InvalidDnsNameError, ServerName, pem, pem::PemObject},
    },
};

/// TLS with a server failed.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificates to trust cannot be read.
    #[error("cannot read the trusted certificates in `{path}`: {1}", path = .0.display())]
    Unreadable(PathBuf, pem::Error),
    /// The file holds none.
    #[error("`{}` holds no certificate", .0.display())]
    Empty(PathBuf),
    /// The system trusts none.
    #[error("this system trusts no certificates; install `ca-certificates`, or name a file with `ca`")]
    NoRoots,
    /// The host cannot be the name of a certificate.
    #[error("`{0}` cannot be the name of a certificate: {1}")]
    Name(String, InvalidDnsNameError),
    /// A trusted certificate is invalid, or TLS is not available.
    #[error(transparent)]
    Config(rustls::Error),
    /// The handshake failed.
    #[error("{0}{hint}", hint = hint(.0))]
    Handshake(io::Error),
}

/// Exchanges the handshake; the server has to show a certificate for `host` that is trusted.
pub async fn shake_hands(
    stream: TcpStream,
    host: &str,
    trust: &Trust,
) -> Result<Box<TlsStream<TcpStream>>, TlsError> {
    let name = ServerName::try_from(host.to_owned()).map_err(|e| TlsError::Name(host.to_owned(), e))?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Config)?
        .with_root_certificates(roots(trust)?)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(name, stream).await.map(Box::new).map_err(TlsError::Handshake)
}

fn roots(trust: &Trust) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::System => {
            // Unreadable certificates are skipped.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() { Err(TlsError::NoRoots) } else { Ok(roots) }
        }
        Trust::File(path) => {
            let unreadable = |error| TlsError::Unreadable(path.clone(), error);
            let held = files::contents(path, files::SMALL).map_err(pem::Error::Io).map_err(unreadable)?;
            for certificate in CertificateDer::pem_slice_iter(&held) {
                roots.add(certificate.map_err(unreadable)?).map_err(TlsError::Config)?;
            }
            if roots.is_empty() { Err(TlsError::Empty(path.clone())) } else { Ok(roots) }
        }
    }
}

/// Advice on a failed handshake.
fn hint(error: &io::Error) -> &'static str {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {
            "; no trusted authority has signed the certificate: ask the host for it and name its file with `ca`"
        }
        Some(rustls::Error::InvalidMessage(_)) => "; does the server speak TLS on this port?",
        _ => "",
    }
}
