//! The web server of a search index: one request at a time.

use crate::sink::Undelivered;
use crate::web_client::{one_line, retry_after};
use daemon::web_client::agent;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Method, Request};
use ureq::tls::RootCerts;

/// Longest answer, in bytes. A bulk answer has some hundred bytes for each update.
const MAX_ANSWER: u64 = 16 << 20;
/// How much of an answer is shown when it is a failure, in characters.
const SHOWN: usize = 300;

/// The server, by the address that all paths are below.
pub struct WebServer {
    base: String,
    agent: Agent,
    timeout: Duration,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// A status and what came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

impl WebServer {
    /// A server at `base`, such as `https://search.test:9200`, with the longest time of a request, the headers of each, and
    /// the authorities of its certificate.
    pub fn new(base: &str, timeout: Duration, headers: Vec<(HeaderName, HeaderValue)>, roots: RootCerts) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), agent: agent(roots, timeout, timeout), timeout, headers }
    }

    /// Sends a request with a body of a media type. Without a body both are empty.
    ///
    /// # Errors
    /// No answer came, or none that can be read.
    pub(super) fn request(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<Answer, Undelivered> {
        // Without this a POST that has no body would be sent in chunks, which not every proxy takes.
        let has_body = matches!(method, Method::POST | Method::PUT);
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if !content_type.is_empty() {
            request = request.header("content-type", content_type);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let wrong = |problem: String| Undelivered::Wrong(format!("--to: {problem}"));
        let answer = if has_body {
            self.agent.run(request.body(body).map_err(|error| wrong(error.to_string()))?)
        } else {
            self.agent.run(request.body(()).map_err(|error| wrong(error.to_string()))?)
        };
        let mut answer = answer.map_err(|error| self.silent(&error))?;
        let (status, after) = (answer.status().as_u16(), retry_after(&answer));
        let body = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        let body = body.map_err(|error| self.silent(&error))?;
        Ok(Answer { status, after, body })
    }

    fn silent(&self, error: &ureq::Error) -> Undelivered {
        let base = &self.base;
        match error {
            ureq::Error::Timeout(_) => {
                let timeout = humantime::format_duration(self.timeout);
                Undelivered::later(format!("{base} did not answer within {timeout}"))
            }
            error => Undelivered::later(format!("{base}: {error}")),
        }
    }
}

impl Answer {
    /// The body of an answer with status 2xx.
    ///
    /// # Errors
    /// Any other answer, by the meaning that its status has with every engine.
    pub(super) fn taken(&self) -> Result<&[u8], Undelivered> {
        let status = self.status;
        let problem = || format!("the index answered {status}{}", self.said());
        match status {
            200..=299 => Ok(&self.body),
            300..=399 => Err(Undelivered::Wrong(format!(
                "--to: the index answered {status}: redirects are not followed; give the address that it leads to"
            ))),
            401 | 403 => Err(Undelivered::Wrong(format!(
                "{}; give a key or login that may write there, as a line of --header-file",
                problem()
            ))),
            404 => Err(Undelivered::Wrong(format!("{}; check the address and the name in --to", problem()))),
            405 | 410 | 501 => Err(Undelivered::Wrong(format!("{}; is --to an index of this engine?", problem()))),
            // Answers about the state of the server.
            408 | 409 | 421 | 423 | 425 | 429 | 500..=599 => {
                Err(Undelivered::Later { problem: problem(), after: self.after })
            }
            _ => Err(Undelivered::Refused(problem())),
        }
    }

    /// The beginning of the body, for people.
    pub(super) fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        one_line(&text.chars().take(SHOWN).collect::<String>())
    }
}

/// An answer that is not of the engine. A proxy may have sent it.
pub(super) fn unreadable(engine: &str, error: &dyn std::fmt::Display, body: &[u8]) -> Undelivered {
    let text: String = String::from_utf8_lossy(body).chars().take(SHOWN).collect();
    Undelivered::later(format!("the answer is not one of {engine} ({error}){}", one_line(&text)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An answer with this status and body.
    pub(in crate::mirror) fn answer(status: u16, body: &str) -> Answer {
        Answer { status, after: None, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn a_status_says_whether_the_same_may_be_sent_again() {
        for (status, expected) in [
            (200, "taken"),
            (202, "taken"),
            (301, "wrong"),
            (400, "refused"),
            (401, "wrong"),
            (404, "wrong"),
            (413, "refused"),
            (429, "later"),
            (500, "later"),
            (503, "later"),
        ] {
            let found = match answer(status, "words\nof it").taken() {
                Ok(body) => {
                    assert_eq!(body, b"words\nof it");
                    "taken"
                }
                Err(Undelivered::Later { .. }) => "later",
                Err(Undelivered::Refused(problem) | Undelivered::SetAside(problem)) => {
                    assert_eq!(problem, format!("the index answered {status}: words of it"));
                    "refused"
                }
                Err(Undelivered::Wrong(_)) => "wrong",
            };
            assert_eq!(found, expected, "{status}");
        }
        let slow = Answer { after: Some(Duration::from_secs(7)), ..answer(503, "") };
        let Err(Undelivered::Later { after, .. }) = slow.taken() else { panic!("{slow:?} is no failure") };
        assert_eq!(after, slow.after);
    }
}
