//! The steps of a job that belongs to a trace: waits, connections, exchanges.

use crate::exchange::Unanswered;
use crate::response::Response;
use page::{CanonicalUrl, Timestamp};
use std::time::Duration;
use stream::{Attribute, SpanKind, Step};

/// The steps of a job so far. Times are those of the web.
pub(crate) struct JobSteps {
    /// Since when the job waits for its host; `None` while a request of it is under way.
    waits_since: Option<Timestamp>,
    done: Vec<Step>,
}

/// A request that went out for a job.
#[derive(Clone, Copy)]
pub(crate) struct SentFor<'a> {
    pub(crate) url: &'a CanonicalUrl,
    /// Whether it asks for a robots.txt on the way.
    pub(crate) is_robots: bool,
    pub(crate) sent_at: Timestamp,
}

impl JobSteps {
    /// A job that begins to wait.
    pub(crate) fn begin(now: Timestamp) -> Self {
        Self { waits_since: Some(now), done: Vec::new() }
    }

    /// Notes the result of a request. `connecting` is how long its connection took, if it needed a new one.
    pub(crate) fn came_of(
        &mut self,
        sent: SentFor<'_>,
        connecting: Option<Duration>,
        answer: &Result<Response, Unanswered>,
        now: Timestamp,
    ) {
        self.end_wait(sent.sent_at);
        let connected_at = connecting.map(|took| (sent.sent_at + took).min(now));
        if let Some(connected_at) = connected_at {
            let attributes = vec![("server.address", sent.url.host_name().into())];
            self.push("connect", SpanKind::Internal, (sent.sent_at, connected_at), attributes, None);
        }
        let mut attributes: Vec<Attribute> =
            vec![("http.request.method", "GET".into()), ("url.full", sent.url.as_str().into())];
        let error = match answer {
            Ok(response) => {
                attributes.push(("http.response.status_code", i64::from(response.status.as_u16()).into()));
                None
            }
            Err(Unanswered::Unseen(failure) | Unanswered::Refused(failure) | Unanswered::Failed(failure)) => {
                Some(failure.detail.clone())
            }
        };
        let name = if sent.is_robots { "GET robots.txt" } else { "GET" };
        self.push(name, SpanKind::Client, (connected_at.unwrap_or(sent.sent_at), now), attributes, error);
        self.waits_since = Some(now);
    }

    /// All steps of a job that ends now.
    pub(crate) fn end(mut self, now: Timestamp) -> Vec<Step> {
        self.end_wait(now);
        self.done
    }

    fn end_wait(&mut self, now: Timestamp) {
        if let Some(since) = self.waits_since.take().filter(|since| *since < now) {
            self.push("wait for the host", SpanKind::Internal, (since, now), Vec::new(), None);
        }
    }

    fn push(
        &mut self,
        name: &'static str,
        kind: SpanKind,
        (start, end): (Timestamp, Timestamp),
        attributes: Vec<Attribute>,
        error: Option<String>,
    ) {
        self.done.push(Step { name, kind, start, end, attributes, error });
    }
}
