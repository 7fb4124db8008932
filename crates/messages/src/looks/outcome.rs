//! Outcomes of fetches, with one table of their meaning for every stage.

use serde::{Deserialize, Serialize};

/// The outcome of a fetch. A broken web is data: no outcome is an error of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchOutcome {
    /// 2xx with a body.
    Fetched,
    /// 304.
    NotModified,
    /// 2xx with a body whose digest equals the requested one. The body is omitted.
    SameContent,
    /// A redirect that is not followed.
    RedirectedAway,
    /// 404.
    NotFound,
    /// 410.
    Gone,
    /// Another 4xx.
    ClientError,
    /// 429, or 503 with `Retry-After`. Without a status the request was not sent, see
    /// [`Look::was_not_sent`](crate::Look::was_not_sent).
    RateLimited,
    /// Another 5xx.
    ServerError,
    /// No complete response in time.
    TimedOut,
    /// The connection could not be established.
    ConnectFailed,
    /// The host name did not resolve.
    DnsFailed,
    /// The TLS connection could not be established.
    TlsFailed,
    /// The connection ended before the response was complete.
    ConnectionLost,
    /// Invalid HTTP, or a body that cannot be unpacked.
    MalformedResponse,
    /// Larger than the fetcher's limit.
    TooLarge,
    /// More redirects than the fetcher's limit.
    TooManyRedirects,
    /// robots.txt forbids the page.
    RobotsDisallowed,
    /// robots.txt was unreachable, so nothing may be fetched yet.
    RobotsUnavailable,
    /// An address that we do not connect to (private, loopback).
    AddressRefused,
    /// A port that the operator did not allow.
    PortRefused,
    /// Without `crawl.contact` only this machine is asked.
    ContactMissing,
    /// A rule or a filter of the operator leaves the address out.
    OutOfScope,
    /// An unwanted media type.
    ContentRefused,
    /// 402: the host wants to be paid. It never is.
    PaymentRequired,
    /// A puzzle for browsers or people, or a demand for proof of who asks, in place of the page. It is never solved.
    Challenged,
    /// The page has no outcome: requests for it were under way at several crashes of the fetcher, which does not send them any
    /// more, or its result was set aside by the detector.
    SetAside,
    /// An outcome of a newer fetcher that this program does not know. It says nothing about the page.
    Unknown,
}

/// Evidence about the page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentEvidence {
    Body,
    /// The content equals the requester's copy.
    SameAsKnown,
    Missing {
        /// Whether the host says that the page will not come back.
        for_good: bool,
    },
    /// The URL redirects to another page.
    Elsewhere,
    /// No evidence.
    Nothing,
}

/// Whether an outcome shows that the whole host is failing, so that all its pages should wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostTrouble {
    /// Always.
    Yes,
    /// Only with status 503 or a `Retry-After`.
    IfAskedToWait,
    /// Never.
    No,
}

/// When a page may be fetched again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryRule {
    /// When its value justifies it, but not before `policy.min_interval`.
    WhenWorthIt,
    /// When robots.txt is fetched again.
    WhenRobotsRefresh,
    /// After a back-off that doubles with each consecutive failure.
    BackOff,
    /// After a week: the host keeps crawlers out, and asking again soon only burdens it.
    Weekly,
}

/// Meaning of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeMeaning {
    pub content: ContentEvidence,
    pub host_trouble: HostTrouble,
    pub retry: RetryRule,
}

impl FetchOutcome {
    /// Every outcome, in the order of the schema.
    pub const ALL: [Self; 28] = [
        Self::Fetched,
        Self::NotModified,
        Self::SameContent,
        Self::RedirectedAway,
        Self::NotFound,
        Self::Gone,
        Self::ClientError,
        Self::RateLimited,
        Self::ServerError,
        Self::TimedOut,
        Self::ConnectFailed,
        Self::DnsFailed,
        Self::TlsFailed,
        Self::ConnectionLost,
        Self::MalformedResponse,
        Self::TooLarge,
        Self::TooManyRedirects,
        Self::RobotsDisallowed,
        Self::RobotsUnavailable,
        Self::AddressRefused,
        Self::PortRefused,
        Self::ContactMissing,
        Self::OutOfScope,
        Self::ContentRefused,
        Self::PaymentRequired,
        Self::Challenged,
        Self::SetAside,
        Self::Unknown,
    ];

    /// The meaning for the detector and the scheduler: the one place that says what an outcome leads to.
    /// [`AnswerKind::report`](crate::AnswerKind::report) has the words for the log, the status and the metrics.
    pub fn meaning(self) -> OutcomeMeaning {
        use ContentEvidence::{Body, Elsewhere, Missing, Nothing, SameAsKnown};
        use HostTrouble::{IfAskedToWait, No, Yes};
        use RetryRule::{BackOff, Weekly, WhenRobotsRefresh, WhenWorthIt};
        let (content, host_trouble, retry) = match self {
            Self::Fetched => (Body, No, WhenWorthIt),
            Self::NotModified | Self::SameContent => (SameAsKnown, No, WhenWorthIt),
            Self::NotFound => (Missing { for_good: false }, No, WhenWorthIt),
            Self::Gone => (Missing { for_good: true }, No, WhenWorthIt),
            Self::RedirectedAway => (Elsewhere, No, WhenWorthIt),
            Self::RateLimited => (Nothing, Yes, BackOff),
            Self::ServerError => (Nothing, IfAskedToWait, BackOff),
            Self::TimedOut | Self::ConnectFailed | Self::DnsFailed | Self::TlsFailed => (Nothing, Yes, BackOff),
            Self::ClientError
            | Self::ConnectionLost
            | Self::MalformedResponse
            | Self::TooManyRedirects
            | Self::ContentRefused
            | Self::TooLarge
            | Self::AddressRefused
            | Self::PortRefused
            | Self::ContactMissing
            | Self::OutOfScope
            | Self::SetAside
            | Self::Unknown => (Nothing, No, BackOff),
            Self::RobotsDisallowed => (Nothing, No, WhenRobotsRefresh),
            Self::RobotsUnavailable => (Nothing, Yes, BackOff),
            Self::PaymentRequired | Self::Challenged => (Nothing, Yes, Weekly),
        };
        OutcomeMeaning { content, host_trouble, retry }
    }
}

impl HostTrouble {
    /// Whether a response with this status and Retry-After shows that the host is failing.
    pub fn is_shown_by(self, status: Option<u16>, retry_after_s: Option<i64>) -> bool {
        match self {
            Self::Yes => true,
            Self::IfAskedToWait => status == Some(503) || retry_after_s.is_some(),
            Self::No => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The scheduler resets failures and learns from every outcome with evidence of the content. So such an outcome
    /// must not cause a back-off.
    #[test]
    fn what_reports_of_the_content_is_no_failure() {
        let schema: Value = serde_json::from_str(include_str!("../../../../schemas/parts/FetchOutcome.avsc")).unwrap();
        let symbols = &schema["symbols"];
        let all: Vec<FetchOutcome> = serde_json::from_value(symbols.clone()).unwrap();
        assert_eq!(all, FetchOutcome::ALL);
        for outcome in all {
            let meaning = outcome.meaning();
            let reports = meaning.content != ContentEvidence::Nothing;
            assert_eq!(reports, meaning.retry == RetryRule::WhenWorthIt, "{outcome:?}");
            assert!(!reports || meaning.host_trouble == HostTrouble::No, "{outcome:?}");
        }
    }

    #[test]
    fn a_server_error_is_the_hosts_trouble_when_the_host_says_so() {
        let trouble = FetchOutcome::ServerError.meaning().host_trouble;
        let shown = |status, retry_after_s| trouble.is_shown_by(Some(status), retry_after_s);
        assert_eq!([shown(500, None), shown(503, None), shown(500, Some(60))], [false, true, true]);
    }
}
