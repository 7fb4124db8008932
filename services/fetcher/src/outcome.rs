//! What an answer, or that there is none, means to the loop.

use crate::exchange::Failure;
use messages::FetchOutcome;

/// Most bytes of a reason.
const MAX_DETAIL: usize = 300;

/// What a status comes to, and why if it is not plain. A host may say when to come back, and a request may have spoken of
/// a copy.
pub(crate) fn outcome_of(status: u16, says_when: bool, is_conditional: bool) -> (FetchOutcome, Option<String>) {
    let (outcome, detail) = match status {
        200..=205 | 207..=299 => (FetchOutcome::Fetched, None),
        206 => (FetchOutcome::ContentRefused, Some("a part of the page that was not asked for")),
        304 if !is_conditional => (FetchOutcome::MalformedResponse, Some("not modified, though no copy was spoken of")),
        304 => (FetchOutcome::NotModified, None),
        300..=399 => (FetchOutcome::RedirectedAway, Some("a redirect that leads nowhere")),
        404 => (FetchOutcome::NotFound, None),
        410 => (FetchOutcome::Gone, None),
        429 => (FetchOutcome::RateLimited, None),
        503 if says_when => (FetchOutcome::RateLimited, None),
        400..=499 => (FetchOutcome::ClientError, None),
        500..=599 => (FetchOutcome::ServerError, None),
        _ => return (FetchOutcome::MalformedResponse, Some(format!("status {status} is not one of HTTP's"))),
    };
    (outcome, detail.map(str::to_owned))
}

/// A reason short enough to travel: parts of it may be the server's words.
pub(crate) fn shortened(mut detail: String) -> String {
    if detail.len() > MAX_DETAIL {
        detail.truncate(detail.floor_char_boundary(MAX_DETAIL));
        detail.push('…');
    }
    detail
}

/// Whether nothing was ever sent: name, address, connection or certificate failed.
pub(crate) fn is_without_connection(failure: &Failure) -> bool {
    use FetchOutcome::{AddressRefused, ConnectFailed, DnsFailed, TlsFailed};
    matches!(failure.outcome, AddressRefused | ConnectFailed | DnsFailed | TlsFailed)
}
