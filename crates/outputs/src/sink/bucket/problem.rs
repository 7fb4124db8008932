//! Failures of object storage, in words that say what to do.

use crate::web_client::one_line;
use bytes::Bytes;
use daemon::CommandFailure;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use ureq::http::{Method, Response, StatusCode};

/// Most bytes of an answer that are shown.
const SHOWN_BYTES: usize = 300;
/// Where clouds give out credentials. Requests go there if the environment has none.
const CREDENTIAL_SERVERS: [&str; 3] = ["169.254.169.254", "169.254.170.2", "169.254.170.23"];

/// How a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// `may_pass`: the library tries again.
    NoAnswer {
        server: String,
        problem: String,
        may_pass: bool,
    },
    Refused(Refusal),
}

/// An answer that is not the wanted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    server: String,
    method: Method,
    status: StatusCode,
    /// The word of S3 for it: `NoSuchBucket`. Empty where an answer has no body, as to HEAD.
    code: String,
    message: String,
    /// Where the bucket is, if the server says so.
    region: Option<String>,
}

/// How the last request failed, if it did. The library's errors have this only as text.
#[derive(Clone, Debug, Default)]
pub(super) struct LastFailure(Arc<Mutex<Option<Failure>>>);

impl LastFailure {
    /// Notes a failure. Says once that a server does not answer, because the library tries again in silence.
    pub(super) fn note(&self, failure: Failure) {
        let mut last = self.lock();
        let is_first = last.is_none();
        match &failure {
            Failure::NoAnswer { server, problem, may_pass: true } if is_first => {
                eprintln!("recrawl: {server} does not answer ({problem}); trying again");
            }
            Failure::Refused(Refusal { server, status, .. }) if is_first && status.is_server_error() => {
                eprintln!("recrawl: {server} answered {}; trying again", status.as_u16());
            }
            Failure::NoAnswer { .. } | Failure::Refused(_) => {}
        }
        *last = Some(failure);
    }

    /// Begins with a call that has not failed yet.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    /// Keeps the failure that an answer reports, or forgets the last one if it succeeded.
    pub(super) fn judge(&self, server: String, method: &Method, answer: &Response<Bytes>) {
        let status = answer.status();
        let text = String::from_utf8_lossy(answer.body());
        let code = element(&text, "Code");
        // S3 reports some failures below status 200.
        if status.is_success() && !text.contains("<Error>") {
            self.forget();
            return;
        }
        let message = match element(&text, "Message") {
            message if message.is_empty() && code.is_empty() => text.chars().take(SHOWN_BYTES).collect(),
            message => message,
        };
        let region = answer.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
        let region = region.map(str::to_owned);
        self.note(Failure::Refused(Refusal { server, method: method.clone(), status, code, message, region }));
    }

    /// The last failure in words for the operator. `error` is the library's own word, for failures without a request.
    pub(super) fn explain(&self, address: &str, bucket: &str, error: &object_store::Error) -> CommandFailure {
        match self.lock().clone() {
            Some(Failure::NoAnswer { server, problem, .. }) => no_answer(address, &server, &problem),
            Some(Failure::Refused(refusal)) => refusal.explain(address, bucket),
            None => CommandFailure::Input(format!("{address}{}", one_line(&error.to_string()))),
        }
    }

    /// The last refusal's word.
    pub(super) fn code(&self) -> String {
        match &*self.lock() {
            Some(Failure::Refused(refusal)) => refusal.code.clone(),
            Some(Failure::NoAnswer { .. }) | None => String::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Failure>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_answer(address: &str, server: &str, problem: &str) -> CommandFailure {
    let host = server.split(':').next().unwrap_or(server);
    if CREDENTIAL_SERVERS.contains(&host) {
        return CommandFailure::Input(format!(
            "{address}: there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where the cloud \
             gives them to programs ({server} does not answer: {problem})"
        ));
    }
    CommandFailure::World(format!(
        "{address}: {server} does not answer: {problem}; see that it runs and that AWS_ENDPOINT_URL and AWS_REGION lead to \
         it, then start again: the export goes on behind what is complete"
    ))
}

impl Refusal {
    fn explain(&self, address: &str, bucket: &str) -> CommandFailure {
        let Self { server, method, status, code, message, region } = self;
        let said = format!("{server} answered {}{}{}", status.as_u16(), one_line(code), one_line(message));
        let input = |problem: String| CommandFailure::Input(format!("{address}: {problem} ({said})"));
        match (code.as_str(), status.as_u16()) {
            ("NoSuchBucket", _) => input(format!(
                "there is no bucket {bucket} at {server}: create it, or correct --to or AWS_ENDPOINT_URL"
            )),
            ("InvalidAccessKeyId" | "InvalidClientTokenId", _) => {
                input(format!("{server} does not know this access key: correct AWS_ACCESS_KEY_ID"))
            }
            ("SignatureDoesNotMatch", _) => input(
                "the secret does not fit the access key: correct AWS_SECRET_ACCESS_KEY, and AWS_REGION if it is wrong"
                    .to_owned(),
            ),
            ("ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired" | "InvalidToken", _) => input(
                "the credentials have expired: get new ones (AWS_SESSION_TOKEN belongs to them) and start again; the \
                 export goes on behind what is complete"
                    .to_owned(),
            ),
            ("RequestTimeTooSkewed", _) => input("the clock of this machine is wrong: set it".to_owned()),
            ("PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException", _)
            | (_, 301 | 307) => {
                let region = region.as_deref().map(|region| format!(", {region}")).unwrap_or_default();
                input(format!("bucket {bucket} is in another region{region}: set AWS_REGION to it"))
            }
            (_, 401 | 403) => input(format!(
                "these credentials may not do this ({method}): they need s3:PutObject, s3:GetObject and \
                 s3:AbortMultipartUpload below {address}, and s3:ListBucket for bucket {bucket}"
            )),
            (_, 501) => input(
                "the server lacks something that S3 has; if it is conditional writing (If-Match), set \
                 AWS_CONDITIONAL_PUT=disabled and see to it that one export runs at a time"
                    .to_owned(),
            ),
            _ => CommandFailure::World(format!("{address}: {said}")),
        }
    }
}

/// The text of the first element of this name, or nothing. The answer is only shown to people, and selects the sentence
/// that explains it.
fn element(xml: &str, name: &str) -> String {
    let text = xml.split_once(&format!("<{name}>")).and_then(|(_, rest)| rest.split_once('<'));
    let text = text.map_or("", |(text, _)| text);
    htmlize::unescape(text).chars().take(SHOWN_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The failure that an answer is reported as.
    fn explained(status: u16, body: &str) -> CommandFailure {
        let last = LastFailure::default();
        let answer = Response::builder().status(status).header("x-amz-bucket-region", "eu-north-1");
        let answer = answer.body(Bytes::from(body.to_owned())).expect("an answer");
        last.judge("s3.example:9000".to_owned(), &Method::PUT, &answer);
        let error = object_store::Error::NotImplemented { operation: "x".to_owned(), implementer: "y".to_owned() };
        last.explain("s3://archive/a", "archive", &error)
    }

    #[test]
    fn refusals_name_what_is_wrong_and_what_to_do() {
        let check = |status: u16, code: &str, exit: u8, parts: &[&str]| {
            let body =
                format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>It&apos;s so.</Message></Error>");
            let failure = explained(status, if code.is_empty() { "" } else { &body });
            let text = failure.to_string();
            assert_eq!(failure.status(), exit, "{text}");
            for part in parts {
                assert!(text.contains(part), "nothing of {part:?} in {text}");
            }
            assert!(text.starts_with("s3://archive/a: "), "{text}");
        };
        check(404, "NoSuchBucket", 2, &["no bucket archive at s3.example:9000", "--to", "404: NoSuchBucket: It's so."]);
        check(403, "InvalidAccessKeyId", 2, &["AWS_ACCESS_KEY_ID"]);
        check(403, "SignatureDoesNotMatch", 2, &["AWS_SECRET_ACCESS_KEY"]);
        check(400, "ExpiredToken", 2, &["have expired", "AWS_SESSION_TOKEN", "behind what is complete"]);
        check(403, "RequestTimeTooSkewed", 2, &["the clock of this machine"]);
        check(301, "PermanentRedirect", 2, &["in another region, eu-north-1", "AWS_REGION"]);
        check(403, "AccessDenied", 2, &["may not do this (PUT)", "s3:AbortMultipartUpload", "s3:ListBucket"]);
        check(403, "", 2, &["may not do this (PUT)"]);
        check(501, "NotImplemented", 2, &["AWS_CONDITIONAL_PUT=disabled"]);
        check(503, "SlowDown", 3, &["answered 503: SlowDown: It's so."]);
        check(200, "InternalError", 3, &["answered 200: InternalError"]);
    }

    #[test]
    fn a_server_that_is_away_is_the_worlds_fault_and_missing_credentials_are_not() {
        let away = no_answer("s3://archive", "s3.example:9000", "connection refused");
        assert_eq!(away.status(), 3);
        assert!(away.to_string().contains("s3.example:9000 does not answer: connection refused"), "{away}");
        let bare = no_answer("s3://archive", "169.254.169.254", "timeout: connect");
        assert_eq!(bare.status(), 2);
        assert!(bare.to_string().contains("there are no credentials"), "{bare}");
    }

    #[test]
    fn an_answer_that_is_wanted_leaves_no_failure() {
        let last = LastFailure::default();
        last.note(Failure::NoAnswer { server: "a".to_owned(), problem: "b".to_owned(), may_pass: false });
        let answer = Response::new(Bytes::from_static(b"<ListBucketResult></ListBucketResult>"));
        last.judge("a".to_owned(), &Method::GET, &answer);
        assert_eq!(*last.lock(), None);
    }
}
