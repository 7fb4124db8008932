//! What a fetch came to, and what that means to every stage: one table.

use serde::{Deserialize, Serialize};

/// What a fetch came to. The broken web is data: none of these is an error of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchOutcome {
    /// 200 with a body.
    Fetched,
    /// 304.
    NotModified,
    /// 200 whose body has the digest the request carried, and is left out.
    SameContent,
    /// A redirect to another page, which is not followed.
    RedirectedAway,
    /// 404.
    NotFound,
    /// 410.
    Gone,
    /// Another 4xx.
    ClientError,
    /// 429, or a 503 that says when to come back. Without a status: nothing was sent, see [`Look::was_not_sent`](crate::Look::was_not_sent).
    RateLimited,
    /// Another 5xx.
    ServerError,
    /// No complete answer in time.
    TimedOut,
    /// No connection.
    ConnectFailed,
    /// The host's name did not resolve.
    DnsFailed,
    /// No secure connection.
    TlsFailed,
    /// The connection ended before the response did.
    ConnectionLost,
    /// Not HTTP, or a body that does not unpack.
    MalformedResponse,
    /// Larger than the fetcher takes.
    TooLarge,
    /// More redirects than the fetcher follows.
    TooManyRedirects,
    /// robots.txt forbids the page.
    RobotsDisallowed,
    /// robots.txt could not be read, so nothing may be fetched yet.
    RobotsUnavailable,
    /// The host's address is one we do not connect to (private, loopback).
    AddressRefused,
    /// A kind of content that is not kept.
    ContentRefused,
    /// What a newer fetcher says, and this program does not know. It tells nothing of the page.
    Unknown,
}

/// What an outcome tells of the page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentEvidence {
    /// There is a body.
    Body,
    /// The content is what the requester has.
    SameAsKnown,
    /// The page is not there; `for_good` when the host says that it will not come back.
    Missing {
        /// Whether it was said to be final.
        for_good: bool,
    },
    /// The page's name leads to another page.
    Elsewhere,
    /// Nothing.
    Nothing,
}

/// Whether an outcome says that the host as a whole is in trouble, so that all of its pages should wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostTrouble {
    /// It does.
    Yes,
    /// Only with status 503, or when the host says when to come back.
    IfAskedToWait,
    /// It does not.
    No,
}

/// When a page may be asked for again after an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryRule {
    /// When it is worth it, but not before `policy.min_interval`.
    WhenWorthIt,
    /// When robots.txt is read again.
    WhenRobotsRefresh,
    /// After a pause that doubles with each failure in a row.
    BackOff,
}

/// What an outcome means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeMeaning {
    /// What it tells of the page's content.
    pub content: ContentEvidence,
    /// What it tells of the host.
    pub host_trouble: HostTrouble,
    /// When the page may be asked for again.
    pub retry: RetryRule,
    /// The fetcher's counter of such answers.
    pub counter: &'static str,
}

impl FetchOutcome {
    /// What it means to the detector, the scheduler and the fetcher's counters. Whoever adds an outcome decides all of it
    /// here.
    pub fn meaning(self) -> OutcomeMeaning {
        use ContentEvidence::{Body, Elsewhere, Missing, Nothing, SameAsKnown};
        use HostTrouble::{IfAskedToWait, No, Yes};
        use RetryRule::{BackOff, WhenRobotsRefresh, WhenWorthIt};
        let (content, host_trouble, retry, counter) = match self {
            Self::Fetched => (Body, No, WhenWorthIt, "fetched_total"),
            Self::NotModified => (SameAsKnown, No, WhenWorthIt, "not_modified_total"),
            Self::SameContent => (SameAsKnown, No, WhenWorthIt, "same_content_total"),
            Self::NotFound => (Missing { for_good: false }, No, WhenWorthIt, "not_found_total"),
            Self::Gone => (Missing { for_good: true }, No, WhenWorthIt, "not_found_total"),
            Self::RedirectedAway => (Elsewhere, No, WhenWorthIt, "failed_total"),
            Self::ClientError => (Nothing, No, BackOff, "failed_total"),
            Self::RateLimited => (Nothing, Yes, BackOff, "rate_limited_total"),
            Self::ServerError => (Nothing, IfAskedToWait, BackOff, "failed_total"),
            Self::TimedOut | Self::ConnectFailed | Self::DnsFailed | Self::TlsFailed => {
                (Nothing, Yes, BackOff, "failed_total")
            }
            Self::ConnectionLost | Self::MalformedResponse | Self::TooManyRedirects | Self::ContentRefused => {
                (Nothing, No, BackOff, "failed_total")
            }
            Self::TooLarge => (Nothing, No, BackOff, "too_large_total"),
            Self::RobotsDisallowed => (Nothing, No, WhenRobotsRefresh, "robots_refused_total"),
            Self::RobotsUnavailable => (Nothing, Yes, BackOff, "robots_refused_total"),
            Self::AddressRefused => (Nothing, No, BackOff, "address_refused_total"),
            Self::Unknown => (Nothing, No, BackOff, "failed_total"),
        };
        OutcomeMeaning { content, host_trouble, retry, counter }
    }
}

impl HostTrouble {
    /// Whether an answer with this status and Retry-After shows trouble.
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

    /// The scheduler forgets failures and learns from whatever tells of the content: then nothing may be backed off from.
    #[test]
    fn what_tells_of_the_content_is_no_failure() {
        let schema: Value = serde_json::from_str(include_str!("../../../schemas/parts/FetchOutcome.avsc")).unwrap();
        let symbols = &schema["symbols"];
        let all: Vec<FetchOutcome> = serde_json::from_value(symbols.clone()).unwrap();
        assert!(all.contains(&FetchOutcome::Fetched));
        for outcome in all {
            let meaning = outcome.meaning();
            let tells = meaning.content != ContentEvidence::Nothing;
            assert_eq!(tells, meaning.retry == RetryRule::WhenWorthIt, "{outcome:?}");
            assert!(!tells || meaning.host_trouble == HostTrouble::No, "{outcome:?}");
        }
    }

    #[test]
    fn a_server_error_is_the_hosts_trouble_when_the_host_says_so() {
        let trouble = FetchOutcome::ServerError.meaning().host_trouble;
        let shown = |status, retry_after_s| trouble.is_shown_by(Some(status), retry_after_s);
        assert_eq!([shown(500, None), shown(503, None), shown(500, Some(60))], [false, true, true]);
    }
}
