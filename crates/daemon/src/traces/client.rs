//! The HTTP client that spans are sent with.

use anyhow::anyhow;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fmt::Display;
use std::future::{Future, ready};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Longest time for one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for its connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Most bytes of an answer that are read.
const MAX_ANSWER: u64 = 64 << 10;

/// Sends requests to a collector, one after the other.
#[derive(Clone, Debug)]
pub(super) struct CollectorClient(Agent);

impl CollectorClient {
    /// A client that trusts Mozilla's authorities, or instead those of a file.
    pub(super) fn new(ca_file: Option<&Path>) -> anyhow::Result<Self> {
        let roots = ca_file.map(authorities).transpose()?.unwrap_or(RootCerts::WebPki);
        let tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .root_certs(roots);
        let agent = Agent::config_builder()
            .tls_config(tls.build())
            // A redirect could lead the headers, which may be secrets, to somebody else.
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .build()
            .new_agent();
        Ok(Self(agent))
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let answer = self.0.run(Request::from_parts(parts, body.to_vec()))?;
        let (parts, mut body) = answer.into_parts();
        let body = body.with_config().limit(MAX_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(parts, body.into()))
    }
}

impl HttpClient for CollectorClient {
    /// Blocks: the only caller is the thread that does nothing else.
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(ready(self.send(request)))
    }
}

fn authorities(file: &Path) -> anyhow::Result<RootCerts> {
    let wrong = |problem: &dyn Display| {
        anyhow!("trace.otlp_ca_file: {}: {problem}; give a PEM file with certificates", file.display())
    };
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| wrong(&error))?;
    if certificates.is_empty() {
        return Err(wrong(&"it has no certificate"));
    }
    let certificates: Vec<_> = certificates.iter().map(|known| Certificate::from_der(known).to_owned()).collect();
    Ok(RootCerts::new_with_certs(&certificates))
}
