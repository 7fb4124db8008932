//! TLS of a port: a certificate and its key from PEM files, read again once they have changed.

use crate::CommandFailure;
use crate::changed_file::{FileStamp, stamp};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use settings::Http;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The files of a certificate and its key.
#[derive(Debug)]
pub struct TlsFiles {
    certificate: PathBuf,
    key: PathBuf,
    read: Mutex<(Stamps, Arc<ServerConfig>)>,
}

type Stamps = [Option<FileStamp>; 2];

impl TlsFiles {
    /// Those that the settings name.
    ///
    /// # Errors
    /// They cannot be used.
    pub fn of(http: &Http) -> Result<Option<Arc<Self>>, CommandFailure> {
        let (Some(certificate), Some(key)) = (&http.tls_certificate, &http.tls_key) else { return Ok(None) };
        let opened = Self::open(certificate.clone(), key.clone());
        let wrong = |problem| CommandFailure::Input(format!("http.tls_certificate and http.tls_key: {problem}"));
        opened.map(|files| Some(Arc::new(files))).map_err(wrong)
    }

    /// Reads a certificate, with those between it and its authority, and its key.
    ///
    /// # Errors
    /// Says what is wrong with them, beginning with the name of a file.
    pub fn open(certificate: PathBuf, key: PathBuf) -> Result<Self, String> {
        let stamps = [stamp(&certificate), stamp(&key)];
        let config = read(&certificate, &key)?;
        Ok(Self { certificate, key, read: Mutex::new((stamps, Arc::new(config))) })
    }

    /// The settings of a new connection. While the files are being replaced, or are faulty, the last good ones count.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        let mut read_before = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = [stamp(&self.certificate), stamp(&self.key)];
        if stamps != read_before.0 {
            read_before.0 = stamps;
            match read(&self.certificate, &self.key) {
                Ok(config) => read_before.1 = Arc::new(config),
                Err(problem) => tracing::error!(problem, "the certificate read before stays in use"),
            }
        }
        read_before.1.clone()
    }
}

fn read(certificate: &Path, key: &Path) -> Result<ServerConfig, String> {
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| format!("{}: {error}", certificate.display()))?;
    if chain.is_empty() {
        return Err(format!("{}: it has no certificate; give a PEM file with one", certificate.display()));
    }
    let private = PrivateKeyDer::from_pem_file(key);
    let private = private.map_err(|error| format!("{}: {error}; give a PEM file with a key", key.display()))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private));
    let mut config = config
        .map_err(|error| format!("{} and {} do not go together: {error}", certificate.display(), key.display()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
