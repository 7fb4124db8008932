//! Fetches a host's robots.txt as RFC 9309 requires, following at most five redirects, across hosts.

use crate::connection::Connection;
use crate::exchange::{Unanswered, get};
use crate::network::Network;
use crate::request::RequestedResource;
use crate::response::{FetchFailure, Response};
use hyper::header;
use page::{CanonicalUrl, Timestamp};
use politeness::{MAX_ROBOTS_REDIRECTS, RobotsCacheEntry, RobotsFetch};

/// Fetches the robots.txt of a URL's authority. Returns the entry valid from `now` on and, without a response, the
/// reason.
pub(crate) async fn refresh(
    url: &CanonicalUrl,
    previous: Option<&RobotsCacheEntry>,
    connection: &mut Option<Connection>,
    network: &Network,
    now: Timestamp,
) -> (RobotsCacheEntry, Option<FetchFailure>) {
    let Ok(mut at) = url.join("/robots.txt") else {
        return (RobotsCacheEntry::after(previous, RobotsFetch::Unreachable, now), None);
    };
    let home = (url.scheme().to_owned(), url.host());
    for _ in 0..=MAX_ROBOTS_REDIRECTS {
        // A redirect to another authority uses a connection of its own.
        let mut elsewhere = None;
        let connection =
            if (at.scheme(), at.host()) == (&home.0, home.1.clone()) { &mut *connection } else { &mut elsewhere };
        let mut answer = get(&at, RequestedResource::Robots, connection, network).await;
        if let Err(Unanswered::Unseen) = answer {
            answer = get(&at, RequestedResource::Robots, connection, network).await;
        }
        let response = match answer {
            Ok(response) => response,
            Err(Unanswered::Unseen) => return (RobotsCacheEntry::after(previous, RobotsFetch::Unreachable, now), None),
            Err(Unanswered::Failed(failure)) => {
                tracing::debug!(host = %home.1, detail = failure.detail, "robots.txt unreachable");
                return (RobotsCacheEntry::after(previous, RobotsFetch::Unreachable, now), Some(failure));
            }
        };
        match redirect(&at, &response) {
            Some(next) => at = next,
            None => {
                let answered = RobotsFetch::Answered { status: response.status.as_u16(), body: &response.body };
                return (RobotsCacheEntry::after(previous, answered, now), None);
            }
        }
    }
    (RobotsCacheEntry::after(previous, RobotsFetch::TooManyRedirects, now), None)
}

/// The redirect target, if the response is a redirect to a URL that can be crawled.
pub(crate) fn redirect(at: &CanonicalUrl, response: &Response) -> Option<CanonicalUrl> {
    let redirects = matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = redirects.then(|| response.headers.get(header::LOCATION)).flatten()?;
    // Many servers send non-ASCII characters unescaped, in UTF-8.
    at.join(str::from_utf8(location.as_bytes()).ok()?).ok()
}
