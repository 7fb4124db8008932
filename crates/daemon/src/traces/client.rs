//! The HTTP client that spans are sent with.

use crate::web_client::{agent, authorities};
use anyhow::anyhow;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::future::{Future, ready};
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;
use ureq::Agent;

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
        let roots = authorities(ca_file).map_err(|problem| anyhow!("trace.otlp_ca_file: {problem}"))?;
        Ok(Self(agent(roots, TIMEOUT, CONNECT_TIMEOUT)))
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
