//! The certificate that clients are shown who speak TLS. It is read again when its files change, because certificates are
//! renewed every few weeks and games must not be broken off for that.

use parking_lot::Mutex;
use plan::serve::TlsConfig;
use platform::files::{self, Identity, Stamp};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// Time between two looks at the files.
pub const GLANCE: Duration = Duration::from_secs(1);

/// Reason why TLS cannot be spoken.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read, or is no PEM.
    #[error("the {what} `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// What the file should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: pem::Error,
    },
    /// The file holds no certificate.
    #[error("`{}` holds no certificate; name the file that begins with `-----BEGIN CERTIFICATE-----`", .0.display())]
    Empty(PathBuf),
    /// The two do not fit together, or TLS cannot be spoken with them.
    #[error("the certificate `{}` and the key `{}` cannot be used together: {why}", certificate.display(), key.display())]
    Unfit {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why.
        why: rustls::Error,
    },
}

/// The certificate in use, and the files that it comes from.
#[derive(Debug)]
pub struct Certificates {
    certificate: PathBuf,
    key: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    in_use: Arc<ServerConfig>,
    /// How the files were when they were last read.
    seen: [Option<Version>; 2],
}

/// What tells that a file has changed: its number, size and time of change.
type Version = (Identity, u64, (i64, i64));

impl Certificates {
    /// Reads certificate and key.
    ///
    /// # Errors
    /// When they cannot be read, or do not fit together.
    pub fn open(config: &TlsConfig) -> Result<Self, CertificateError> {
        let (certificate, key) = (config.certificate.clone(), config.key.clone());
        let seen = [version(&certificate), version(&key)];
        let in_use = read(&certificate, &key)?;
        Ok(Self { certificate, key, state: Mutex::new(State { in_use, seen }) })
    }

    /// A line for the operator, if other users of the machine can read the key.
    pub fn warning(&self) -> Option<String> {
        files::exposure(&self.key).ok()?.everybody_reads.then(|| {
            let key = self.key.display();
            format!("every user of this machine can read the key `{key}`, and with it pretend to be this host: chmod 600")
        })
    }

    /// What a new connection is served with.
    pub fn in_use(&self) -> Arc<ServerConfig> {
        self.state.lock().in_use.clone()
    }

    /// Reads the files again if they have changed. Broken ones leave the certificate as it was, and the operator is told
    /// once.
    pub fn look(&self) {
        let seen = [version(&self.certificate), version(&self.key)];
        if seen == self.state.lock().seen {
            return;
        }
        let read = read(&self.certificate, &self.key);
        let mut state = self.state.lock();
        state.seen = seen;
        match read {
            Ok(config) => {
                state.in_use = config;
                tracing::warn!(target: "tls", "the certificate has changed on the disk: new connections are shown the new one");
            }
            Err(why) => tracing::warn!(target: "tls", "the old certificate stays in use: {why}"),
        }
    }

    /// Looks at the files, for ever.
    pub async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(GLANCE).await;
            self.look();
        }
    }
}

fn version(path: &Path) -> Option<Version> {
    let found = Stamp::at(path).ok()?;
    Some((found.identity, found.bytes, found.modified))
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, CertificateError> {
    let unreadable = |what: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source| CertificateError::Unreadable { what, path, source }
    };
    let held = |path| files::contents(path, files::SMALL).map_err(pem::Error::Io);
    let chain = held(certificate).and_then(|pem| CertificateDer::pem_slice_iter(&pem).collect());
    let chain: Vec<_> = chain.map_err(unreadable("certificate", certificate))?;
    if chain.is_empty() {
        return Err(CertificateError::Empty(certificate.to_owned()));
    }
    let secret =
        held(key).and_then(|pem| PrivateKeyDer::from_pem_slice(&pem)).map_err(unreadable("key", key))?;
    let unfit =
        |why| CertificateError::Unfit { certificate: certificate.to_owned(), key: key.to_owned(), why };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret));
    config.map(Arc::new).map_err(unfit)
}

impl From<CertificateError> for io::Error {
    fn from(error: CertificateError) -> Self {
        Self::other(error)
    }
}
