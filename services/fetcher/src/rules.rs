//! The fetcher's part of the settings, in the units it works with.

use crate::identity::Identity;
use browser::{BrowserError, BrowserRules, find_browser};
use hyper::header::HeaderValue;
use page::CanonicalUrl;
use politeness::{BackoffRule, CrawlDelay, DelayRule};
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use scope::Scope;
use settings::Settings;
use std::sync::Arc;
use std::time::Duration;

/// Number of hosts whose TLS sessions are cached: a resumed handshake costs half as much. A host takes about 5 kB, most
/// of it certificates.
const REMEMBERED_SESSIONS_HOSTS: usize = 2_048;
/// Ticket slots that rustls reserves per host.
const TICKETS_PER_HOST: usize = 8;

/// Upper bound of the buffer for a head, whatever `fetch.max_header` says.
const MOST_HEAD: usize = 16 << 20;

/// The fetcher's configuration.
#[derive(Clone)]
pub struct FetcherRules {
    pub(crate) user_agent: HeaderValue,
    /// The user agent up to the slash; it is matched against robots.txt.
    pub(crate) product_token: String,
    /// Whether a contact for site owners is configured. Without it only loopback is visited.
    pub(crate) has_contact: bool,
    pub(crate) fetch: settings::Fetch,
    /// The operator's rules for single pages and hosts.
    pub(crate) scope: Arc<Scope>,
    pub(crate) delay: DelayRule,
    /// Least time between the starts of two requests to one address.
    pub(crate) address_delay: Duration,
    /// Rest of a host that refuses without a `retry-after`. It is no longer than the scheduler's least back-off, so
    /// that the scheduler's next request is sent.
    pub(crate) refusal_rest: Duration,
    pub(crate) robots_refresh: Duration,
    /// Whether each site has one fetcher that asks it, so that a redirect to another site is sent on to it.
    pub(crate) sites_have_owners: bool,
    /// The key by which requests are signed, if there is one.
    pub(crate) identity: Option<Arc<Identity>>,
    /// The browser that renders pages, if a rule asks for one.
    pub(crate) browser: Option<BrowserRules>,
    /// TLS client configuration: trust roots, ALPN, session cache.
    pub(crate) tls: Arc<ClientConfig>,
}

/// Why the fetcher cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// The file of additional certificate authorities is unusable.
    #[error("fetch.extra_ca: {path}: {problem}; give a PEM file with certificates")]
    ExtraCa {
        /// Path of the file.
        path: String,
        problem: String,
    },
    /// The file of the keys that sign requests is unusable.
    #[error("identity.key_file: {path}: {problem}; make one with `recrawl identity new FILE`")]
    Identity {
        /// Path of the file.
        path: String,
        problem: String,
    },
    /// A rule asks for a browser, and there is none.
    #[error("a rule has pages rendered, and {0}")]
    Browser(#[from] BrowserError),
    /// A rule or a filter of addresses is wrong.
    #[error(transparent)]
    Scope(#[from] settings::Faults),
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
}

impl FetcherRules {
    /// Takes the fetcher's part from the settings.
    pub fn new(settings: &Settings) -> Result<Self, RulesError> {
        let politeness = &settings.politeness;
        let identity = Identity::configured(&settings.identity).map_err(|problem| {
            let path = settings.identity.key_file.as_ref().map(|path| path.display().to_string());
            RulesError::Identity { path: path.unwrap_or_default(), problem }
        })?;
        let backoff = BackoffRule::at_most_a_week(politeness.backoff_base, politeness.backoff_max);
        let scope = Arc::new(scope::configured(settings)?);
        let browser = scope.renders_some().then(|| browser_rules(&settings.fetch)).transpose()?;
        Ok(Self {
            browser,
            user_agent: HeaderValue::from_str(&settings.crawl.user_agent_header())
                .expect("the settings keep its parts printable"),
            product_token: settings.crawl.product_token().to_owned(),
            has_contact: settings.crawl.contact.is_some(),
            delay: DelayRule::try_new(
                CrawlDelay::at_most_a_day(politeness.crawl_delay),
                CrawlDelay::at_most_a_day(politeness.max_crawl_delay),
                politeness.response_time_factor,
            )
            .expect("the settings keep the factor in range"),
            address_delay: politeness.address_delay,
            refusal_rest: backoff.least_pause(),
            robots_refresh: politeness.robots_refresh,
            sites_have_owners: false,
            identity: identity.map(Arc::new),
            tls: Arc::new(tls(&settings.fetch)?),
            fetch: settings.fetch.clone(),
            scope,
        })
    }

    pub(crate) fn delay_of(&self, host_name: &str) -> DelayRule {
        match self.scope.host_rule(host_name).and_then(|rule| rule.orders().crawl_delay) {
            Some(delay) => self.delay.with_configured(CrawlDelay::at_most_a_day(delay)),
            None => self.delay,
        }
    }

    /// The headers that the operator adds to requests for a page.
    pub(crate) fn headers_of(&self, url: &CanonicalUrl) -> &[(String, String)] {
        self.scope.headers(url)
    }

    /// Most bytes of a response's head.
    pub(crate) fn max_head(&self) -> usize {
        usize::try_from(self.fetch.max_header).unwrap_or(usize::MAX).clamp(8 << 10, MOST_HEAD)
    }
}

fn browser_rules(fetch: &settings::Fetch) -> Result<BrowserRules, BrowserError> {
    let program = match &fetch.browser {
        Some(program) => program.clone(),
        None => find_browser(&std::env::var_os("PATH").unwrap_or_default())?,
    };
    Ok(BrowserRules { program })
}

fn tls(fetch: &settings::Fetch) -> Result<ClientConfig, RulesError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| RulesError::Tls(error.to_string()))?;
    let mut config = if fetch.tls_verify {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        if let Some(path) = &fetch.extra_ca {
            let problem = |problem: String| RulesError::ExtraCa { path: path.display().to_string(), problem };
            let certificates = CertificateDer::pem_file_iter(path).map_err(|error| problem(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| problem(error.to_string()))?;
                roots.add(certificate).map_err(|error| problem(error.to_string()))?;
            }
        }
        builder.with_root_certificates(roots).with_no_client_auth()
    } else {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(unverified::Anyone(provider)))
            .with_no_client_auth()
    };
    let offered: &[&[u8]] = if fetch.http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
    config.resumption = Resumption::in_memory_sessions(REMEMBERED_SESSIONS_HOSTS * TICKETS_PER_HOST);
    config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}

/// Accepts any certificate, for operators who set `fetch.tls_verify = false`.
mod unverified {
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{DigitallySignedStruct, Error, SignatureScheme};
    use std::sync::Arc;

    #[derive(Debug)]
    pub(super) struct Anyone(pub(super) Arc<CryptoProvider>);

    impl ServerCertVerifier for Anyone {
        fn verify_server_cert(
            &self,
            _end_entity: &CertificateDer<'_>,
            _intermediates: &[CertificateDer<'_>],
            _server_name: &ServerName<'_>,
            _ocsp_response: &[u8],
            _now: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.signature_verification_algorithms.supported_schemes()
        }
    }
}
