//! `[serve.tls]` and `[http.tls]`: the addresses on which clients or browsers speak TLS, and what they are shown.

use crate::reader::Table;
use std::{net::SocketAddr, path::PathBuf};

/// A checked `[serve.tls]` or `[http.tls]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsConfig {
    /// Addresses to accept encrypted connections on, beside those of `listen`.
    pub listen: Vec<SocketAddr>,
    /// The certificate with those that lead to a root, in PEM.
    pub certificate: PathBuf,
    /// The private key of the certificate, in PEM.
    pub key: PathBuf,
}

impl TlsConfig {
    /// Reads the table; without `listen` this port of this machine is listened on.
    pub(crate) fn read(table: &Table<'_>, port: u16) -> Option<Self> {
        if !table.is_given() {
            return None;
        }
        table.require(
            "certificate",
            "name the file of the certificate, in PEM, such as certbot's `fullchain.pem`",
        );
        table.require(
            "key",
            "name the file of the certificate's private key, in PEM, such as certbot's `privkey.pem`",
        );
        let listen = super::read::listen(table);
        let config = Self {
            listen: listen.unwrap_or_else(|| vec![SocketAddr::from(([127, 0, 0, 1], port))]),
            certificate: table.path("certificate").unwrap_or_default(),
            key: table.path("key").unwrap_or_default(),
        };
        table.refuse_unknown();
        Some(config)
    }
}
