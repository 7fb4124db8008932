//! Maps an HTTP response, or its absence, to a `FetchOutcome`.

use crate::response::FetchFailure;
use messages::{AnswerKind, FetchOutcome, OutcomeClass};

/// Longest detail, in bytes.
const MAX_DETAIL: usize = 300;

/// The outcome of a status, with a detail if the status alone does not explain it. `says_when` means that the host sent
/// `retry-after`, `is_conditional` that the request had validators.
pub(crate) fn outcome_of(status: u16, says_when: bool, is_conditional: bool) -> (FetchOutcome, Option<String>) {
    let (outcome, detail) = match status {
        200..=205 | 207..=299 => (FetchOutcome::Fetched, None),
        206 => (FetchOutcome::ContentRefused, Some("the server sent a part of the page without a request for a range")),
        304 if !is_conditional => {
            (FetchOutcome::MalformedResponse, Some("the server answered 304 to a request without validators"))
        }
        304 => (FetchOutcome::NotModified, None),
        300..=399 => (FetchOutcome::RedirectedAway, Some("the redirect has no usable location")),
        404 => (FetchOutcome::NotFound, None),
        410 => (FetchOutcome::Gone, None),
        429 | 999 => (FetchOutcome::RateLimited, None),
        503 if says_when => (FetchOutcome::RateLimited, None),
        400..=499 => (FetchOutcome::ClientError, None),
        500..=599 => (FetchOutcome::ServerError, None),
        _ => return (FetchOutcome::MalformedResponse, Some(format!("status {status} is not an HTTP status"))),
    };
    (outcome, detail.map(str::to_owned))
}

/// Whether a status asks to be left alone for a while. Some sites answer 999 for 429.
pub(crate) fn is_refusal(status: u16) -> bool {
    matches!(status, 429 | 503 | 999)
}

/// Shortens a detail, which may quote the server, so that it fits into a message.
pub(crate) fn shortened(mut detail: String) -> String {
    if detail.len() > MAX_DETAIL {
        detail.truncate(detail.floor_char_boundary(MAX_DETAIL));
        detail.push('…');
    }
    detail
}

/// Whether the rules of this crawler forbid to ask the host at all.
pub(crate) fn is_refused_by_rules(failure: &FetchFailure) -> bool {
    use FetchOutcome::{AddressRefused, ContactMissing, OutOfScope, PortRefused};
    [AddressRefused, PortRefused, ContactMissing, OutOfScope].contains(&failure.outcome)
}

/// Whether nothing was sent to the host, not even to connect.
pub(crate) fn is_unsent(failure: &FetchFailure) -> bool {
    AnswerKind::Outcome(failure.outcome).report().class == OutcomeClass::NotSent
}

/// Whether the failure came before any request was sent: name, address, connection or certificate.
pub(crate) fn is_without_connection(failure: &FetchFailure) -> bool {
    use FetchOutcome::{ConnectFailed, DnsFailed, TlsFailed};
    is_refused_by_rules(failure) || [ConnectFailed, DnsFailed, TlsFailed].contains(&failure.outcome)
}
