//! The client for web servers that the operator names: receivers of webhooks, schema registries, collectors of traces.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Longest header of an answer, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// A client that trusts these authorities, with the longest time of a request and that of its connection.
pub fn agent(roots: RootCerts, timeout: Duration, connect_timeout: Duration) -> Agent {
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .root_certs(roots);
    Agent::config_builder()
        .tls_config(tls.build())
        // A redirect could send a signature or a secret to another party.
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_global(Some(timeout))
        .timeout_connect(Some(connect_timeout))
        .max_response_header_size(MAX_HEAD)
        .user_agent(concat!("recrawl/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// The certificate authorities: those of Mozilla, or instead of them those of a PEM file. An error says what is wrong with
/// the file, and begins with its name.
pub fn authorities(file: Option<&Path>) -> Result<RootCerts, String> {
    let Some(file) = file else { return Ok(RootCerts::WebPki) };
    let wrong = |problem: String| format!("{}: {problem}; give a PEM file with certificates", file.display());
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.to_string()))?;
    let certificates: Result<Vec<_>, _> = certificates.collect();
    let certificates = certificates.map_err(|error| wrong(error.to_string()))?;
    if certificates.is_empty() {
        return Err(wrong("it has no certificate".to_owned()));
    }
    // Only these: a server with an authority of its own has no certificate from another.
    let certificates: Vec<_> = certificates.iter().map(|known| Certificate::from_der(known).to_owned()).collect();
    Ok(RootCerts::new_with_certs(&certificates))
}
