//! The HTTP client of the library for object storage: ureq, as for all servers that the operator names.

use super::problem::{Failure, LastFailure};
use async_trait::async_trait;
use bytes::Bytes;
use daemon::web_client::agent;
use http_body_util::BodyExt;
use object_store::ClientConfigKey::{AllowHttp, ConnectTimeout};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use std::io::ErrorKind;
use std::time::Duration;
use ureq::http::{Method, Request, Response};
use ureq::tls::RootCerts;
use ureq::{Agent, Timeout};

/// Longest time of one request. A part takes that long at 600 kbit/s.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Longest time for its connection, where the library says none.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer that is read. A list of a thousand objects has less than 1 MiB.
const MAX_ANSWER: u64 = 16 << 20;

/// Makes clients that trust these authorities and note how their last request failed.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) roots: RootCerts,
    pub(super) last: LastFailure,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let connect_timeout = options.get_config_value(&ConnectTimeout);
        let connect_timeout = connect_timeout.and_then(|text| text.parse::<humantime::Duration>().ok());
        let agent = agent(self.roots.clone(), TIMEOUT, connect_timeout.map_or(CONNECT_TIMEOUT, Into::into));
        let may_be_plain = options.get_config_value(&AllowHttp).is_some_and(|value| value == "true");
        Ok(HttpClient::new(Client { agent, may_be_plain, last: self.last.clone() }))
    }
}

#[derive(Debug)]
struct Client {
    agent: Agent,
    /// Whether requests may go without TLS.
    may_be_plain: bool,
    last: LastFailure,
}

#[async_trait]
impl HttpService for Client {
    /// Blocks: the only caller is the thread that waits for the answer.
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let server = parts.uri.authority().map_or_else(String::new, ToString::to_string);
        if parts.uri.scheme_str() == Some("http") && !self.may_be_plain {
            let error = ureq::Error::RequireHttpsOnly(server.clone());
            self.last.note(Failure::NoAnswer { server, problem: error.to_string(), may_pass: false });
            return Err(HttpError::new(HttpErrorKind::Unknown, error));
        }
        let method = parts.method.clone();
        match self.send(Request::from_parts(parts, body)) {
            Ok(answer) => {
                self.last.judge(server, &method, &answer);
                let (parts, body) = answer.into_parts();
                Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(body)))
            }
            Err(error) => {
                let kind = kind(&error);
                let may_pass = kind != HttpErrorKind::Unknown;
                self.last.note(Failure::NoAnswer { server, problem: error.to_string(), may_pass });
                Err(HttpError::new(kind, error))
            }
        }
    }
}

impl Client {
    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (parts, body) = request.into_parts();
        let has_body = parts.method == Method::PUT || parts.method == Method::POST;
        let answer = match has_body {
            true => self.agent.run(Request::from_parts(parts, &body[..])),
            false => self.agent.run(Request::from_parts(parts, ())),
        };
        let (parts, mut body) = answer?.into_parts();
        let body = body.with_config().limit(MAX_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(parts, body.into()))
    }
}

/// The kind of a failure, by which the library decides whether to try again. `Unknown` is not tried again.
fn kind(error: &ureq::Error) -> HttpErrorKind {
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => {
            HttpErrorKind::Connect
        }
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                HttpErrorKind::Connect
            }
            // rustls reports a certificate that it refuses so.
            ErrorKind::InvalidData => HttpErrorKind::Unknown,
            _ => HttpErrorKind::Interrupted,
        },
        // An answer that broke off, or none before the connection ended.
        ureq::Error::Protocol(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    }
}
