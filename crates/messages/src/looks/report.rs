//! Reports on the answers to requests: one table of words for the log, the status and the metrics.

use crate::{FetchOutcome, Look};
use serde::{Deserialize, Serialize};

/// Kind of the answer to a request: the outcome of the page, or the reason why it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerKind {
    Outcome(FetchOutcome),
    /// The page was asked for, but redirected to where nothing may be sent.
    RedirectRefused,
    /// Handed back unsent: the host had just refused another request.
    HostLeftAlone,
    /// Handed back unsent: it had waited for its host until its lease ended.
    LeaseOver,
}

/// How a request went, in one word. The order is that of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    /// There is a new body.
    Fetched,
    /// The known copy is current.
    Unchanged,
    /// The server says that there is no such page.
    Missing,
    /// Sent, without an answer of use.
    Failed,
    /// Nothing was sent for the page. It is no fetch.
    NotSent,
}

/// Report on a kind of answer, for the log, the status and the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerReport {
    /// How the request went.
    pub class: OutcomeClass,
    /// The kind in one word, as in messages and metrics.
    pub name: &'static str,
    /// The kind in words.
    pub words: &'static str,
    /// The setting that would change it, if there is one.
    pub setting: Option<&'static str>,
}

impl AnswerReport {
    /// Words and setting, such as "private address (fetch.allow_private_addresses)".
    pub fn in_words(&self) -> String {
        match self.setting {
            Some(setting) => format!("{} ({setting})", self.words),
            None => self.words.to_owned(),
        }
    }
}

impl AnswerKind {
    pub fn of(look: &Look) -> Self {
        match (look.was_not_sent(), look.outcome, look.retry_after_s) {
            (true, FetchOutcome::RateLimited, Some(_)) => Self::HostLeftAlone,
            (true, FetchOutcome::RateLimited, None) => Self::LeaseOver,
            (true | false, ..) => Self::of_outcome(look.outcome, look.final_url.is_some()),
        }
    }

    /// The kind of an answer with this outcome that was not handed back, and whether it came behind a redirect.
    pub fn of_outcome(outcome: FetchOutcome, is_redirected: bool) -> Self {
        match Self::Outcome(outcome) {
            // No host is to blame.
            kind @ Self::Outcome(FetchOutcome::SetAside) => kind,
            // Redirects were followed, so at least one request was sent.
            kind if is_redirected && kind.report().class == OutcomeClass::NotSent => Self::RedirectRefused,
            kind => kind,
        }
    }

    /// Whether the request brought neither a body nor a confirmation. A request that was handed back does not count: it is
    /// sent again, and the cause is logged by then.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Outcome(_) => !matches!(self.report().class, OutcomeClass::Fetched | OutcomeClass::Unchanged),
            Self::RedirectRefused => true,
            Self::HostLeftAlone | Self::LeaseOver => false,
        }
    }

    pub fn all() -> impl Iterator<Item = Self> {
        let further = [Self::RedirectRefused, Self::HostLeftAlone, Self::LeaseOver];
        FetchOutcome::ALL.into_iter().map(Self::Outcome).chain(further)
    }

    /// The report on this kind of answer, from the one table of the words.
    pub fn report(self) -> AnswerReport {
        use OutcomeClass::{Failed, Fetched, Missing, NotSent, Unchanged};
        let (class, name, words, setting) = match self {
            Self::Outcome(outcome) => match outcome {
                FetchOutcome::Fetched => (Fetched, "fetched", "new content", None),
                FetchOutcome::NotModified => (Unchanged, "not_modified", "not modified (304)", None),
                FetchOutcome::SameContent => (Unchanged, "same_content", "same content", None),
                FetchOutcome::RedirectedAway => (Missing, "redirected_away", "redirect without a usable target", None),
                FetchOutcome::NotFound => (Missing, "not_found", "not found (404)", None),
                FetchOutcome::Gone => (Missing, "gone", "gone (410)", None),
                FetchOutcome::ClientError => (Failed, "client_error", "refused by the server (4xx)", None),
                FetchOutcome::RateLimited => (Failed, "rate_limited", "rate limited (429, 503)", None),
                FetchOutcome::ServerError => (Failed, "server_error", "server error (5xx)", None),
                FetchOutcome::TimedOut => (Failed, "timed_out", "timed out", None),
                FetchOutcome::ConnectFailed => (Failed, "connect_failed", "no connection", None),
                FetchOutcome::DnsFailed => (NotSent, "dns_failed", "host name does not resolve", None),
                FetchOutcome::TlsFailed => (Failed, "tls_failed", "TLS failed", Some("fetch.extra_ca")),
                FetchOutcome::ConnectionLost => (Failed, "connection_lost", "connection lost", None),
                FetchOutcome::MalformedResponse => (Failed, "malformed_response", "invalid response", None),
                FetchOutcome::TooLarge => (Failed, "too_large", "too large", None),
                FetchOutcome::TooManyRedirects => {
                    (Failed, "too_many_redirects", "too many redirects", Some("fetch.max_redirects"))
                }
                FetchOutcome::RobotsDisallowed => (NotSent, "robots_disallowed", "robots.txt forbids it", None),
                FetchOutcome::RobotsUnavailable => (NotSent, "robots_unavailable", "robots.txt unreachable", None),
                FetchOutcome::AddressRefused => {
                    (NotSent, "address_refused", "private address", Some("fetch.allow_private_addresses"))
                }
                FetchOutcome::PortRefused => (NotSent, "port_refused", "port not allowed", Some("fetch.ports")),
                FetchOutcome::ContactMissing => {
                    (NotSent, "contact_missing", "no contact configured", Some("crawl.contact"))
                }
                FetchOutcome::OutOfScope => (NotSent, "out_of_scope", "left out by a rule or a filter", None),
                FetchOutcome::ContentRefused => {
                    (Failed, "content_refused", "unwanted content", Some("fetch.content_types"))
                }
                FetchOutcome::PaymentRequired => (Failed, "payment_required", "payment wanted (402)", None),
                FetchOutcome::Challenged => (Failed, "challenged", "challenge in place of the page", None),
                FetchOutcome::SetAside => (NotSent, "set_aside", "set aside after failures of recrawl itself", None),
                FetchOutcome::Unknown => (Failed, "unknown", "outcome of a newer version", None),
            },
            Self::RedirectRefused => (Failed, "redirect_refused", "redirect to where nothing may be sent", None),
            Self::HostLeftAlone => (NotSent, "host_left_alone", "host left alone after a refusal", None),
            Self::LeaseOver => (NotSent, "lease_over", "waited too long for its host", Some("policy.lease_timeout")),
        };
        AnswerReport { class, name, words, setting }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentEvidence, FetchRequest};
    use page::{CanonicalUrl, Timestamp};

    #[test]
    fn a_page_set_aside_is_not_refused_by_a_redirect() {
        for is_redirected in [false, true] {
            let kind = AnswerKind::of_outcome(FetchOutcome::SetAside, is_redirected);
            assert_eq!(kind, AnswerKind::Outcome(FetchOutcome::SetAside));
        }
        let refused = AnswerKind::of_outcome(FetchOutcome::AddressRefused, true);
        assert_eq!(refused, AnswerKind::RedirectRefused);
    }

    #[test]
    fn every_kind_has_a_name_of_its_own_which_messages_use() {
        let mut names: Vec<_> = AnswerKind::all().map(|kind| kind.report().name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for outcome in FetchOutcome::ALL {
            assert_eq!(AnswerKind::Outcome(outcome).report().name, crate::word(&outcome));
        }
    }

    #[test]
    fn the_class_agrees_with_what_the_stages_make_of_an_outcome() {
        for outcome in FetchOutcome::ALL {
            let expected: &[OutcomeClass] = match outcome.meaning().content {
                ContentEvidence::Body => &[OutcomeClass::Fetched],
                ContentEvidence::SameAsKnown => &[OutcomeClass::Unchanged],
                ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere => &[OutcomeClass::Missing],
                ContentEvidence::Nothing => &[OutcomeClass::Failed, OutcomeClass::NotSent],
            };
            assert!(expected.contains(&AnswerKind::Outcome(outcome).report().class), "{outcome:?}");
        }
    }

    #[test]
    fn only_what_went_over_the_wire_is_a_fetch() {
        let url = CanonicalUrl::parse("http://a.example/").unwrap();
        let now = Timestamp::from_secs(0);
        let look = |outcome| Look::new(FetchRequest::first(url.clone(), now), outcome, now);
        let check = |look: Look, kind, is_fetch| {
            assert_eq!((AnswerKind::of(&look), look.is_fetch()), (kind, is_fetch), "{look:?}");
        };
        let refused = look(FetchOutcome::AddressRefused);
        check(refused.clone(), AnswerKind::Outcome(FetchOutcome::AddressRefused), false);
        check(Look { final_url: Some(url.clone()), ..refused }, AnswerKind::RedirectRefused, true);
        let unsent = look(FetchOutcome::RateLimited);
        check(unsent.clone(), AnswerKind::LeaseOver, false);
        check(Look { retry_after_s: Some(9), ..unsent.clone() }, AnswerKind::HostLeftAlone, false);
        let limited = Look { status: Some(429), ..unsent };
        check(limited, AnswerKind::Outcome(FetchOutcome::RateLimited), true);
        check(look(FetchOutcome::RobotsDisallowed), AnswerKind::Outcome(FetchOutcome::RobotsDisallowed), false);
        check(look(FetchOutcome::Fetched), AnswerKind::Outcome(FetchOutcome::Fetched), true);
    }
}
