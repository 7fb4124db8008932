//! The client for web servers that the operator names: receivers of webhooks, and schema registries.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Longest header of an answer, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// How much of an answer is shown when it is a failure, in bytes.
const SHOWN_BYTES: u64 = 300;

/// A client that trusts these authorities. A request takes so long at most.
pub(crate) fn agent(roots: RootCerts, timeout: Duration) -> Agent {
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .root_certs(roots);
    Agent::config_builder()
        .tls_config(tls.build())
        // A redirect could lead what is signed or secret to somebody else.
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_global(Some(timeout))
        .max_response_header_size(MAX_HEAD)
        .user_agent(concat!("recrawl/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// The certificate authorities: those of Mozilla, or instead of them those of a PEM file.
pub(crate) fn authorities(file: Option<&Path>) -> Result<RootCerts, String> {
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

/// The beginning of an answer, for people.
pub(crate) fn said(response: &mut Response<Body>) -> String {
    let mut text = Vec::new();
    let reader = response.body_mut().as_reader();
    // What came before a failure is worth showing.
    let _ = std::io::Read::read_to_end(&mut std::io::Read::take(reader, SHOWN_BYTES), &mut text);
    one_line(&String::from_utf8_lossy(&text))
}

/// A text as it follows a sentence, on one line. Empty for none.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.is_empty() { line } else { format!(": {line}") }
}

/// Reads an answer that the connection can be used again.
pub(crate) fn pass_over(response: &mut Response<Body>) {
    let _ = response.body_mut().with_config().limit(MAX_HEAD as u64).read_to_vec();
}
