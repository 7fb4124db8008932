//! One request and its response, bounded in time and size.

use crate::connection::{Connection, Protocol, most_bytes};
use crate::meter::TOO_MUCH;
use crate::network::Network;
use crate::request::RequestedResource;
use crate::response::{FailedExchange, FetchFailure, Response, Seen, late};
use crate::{over_http1, over_http2, request};
use messages::FetchOutcome;
use page::CanonicalUrl;
use std::time::{Duration, Instant};

/// Why a request has no answer.
pub(crate) enum Unanswered {
    /// The host closed the idle connection just as the request went out. It may be sent again, in its turn.
    Unseen(FetchFailure),
    /// The host said that it did not look at the request (RFC 9113 §8.7). It may be sent again, in its turn, but not for
    /// ever.
    Refused(FetchFailure),
    Failed(FetchFailure),
}

/// Sends one GET over the host's connection and opens one if needed. Keeps the connection if it can be reused. `connecting`
/// becomes how long a new one took.
pub(crate) async fn get(
    url: &CanonicalUrl,
    wanted: RequestedResource<'_>,
    connection: &mut Option<Connection>,
    network: &Network,
    connecting: &mut Option<Duration>,
) -> Result<Response, Unanswered> {
    let rules = &*network.rules;
    let limit = Instant::now() + rules.fetch.total_timeout;
    if let Some(mut open) = connection.take()
        && open.is_in_order().await
    {
        match exchange(url, wanted, &mut open, network, limit).await {
            Ok(response) => {
                *connection = reusable(open, &response);
                return Ok(response);
            }
            Err(broken) => return Err(unanswered(broken, url, open.used, network)),
        }
    }
    // Boxed because it is rare: it would enlarge the future of every request.
    let opening = tokio::time::timeout_at(limit.into(), Box::pin(Connection::open(url, network)));
    let began = Instant::now();
    let opened = opening.await.unwrap_or_else(|_| Err(late(rules)));
    *connecting = Some(began.elapsed());
    let mut open = opened.map_err(Unanswered::Failed)?;
    let answer = exchange(url, wanted, &mut open, network, limit).await;
    let response = answer.map_err(|broken| unanswered(broken, url, open.used, network))?;
    *connection = reusable(open, &response);
    Ok(response)
}

/// Why a failed exchange has no answer. A new connection that ends at once is not tried again: the next may, too.
fn unanswered(broken: FailedExchange, url: &CanonicalUrl, was_used: bool, network: &Network) -> Unanswered {
    match broken.seen {
        Seen::RefusedOverHttp2 => {
            network.without_http2.borrow_mut().note(url.origin());
            Unanswered::Refused(broken.failure)
        }
        Seen::Refused => Unanswered::Refused(broken.failure),
        Seen::Nothing if was_used => Unanswered::Unseen(broken.failure),
        Seen::Nothing | Seen::Perhaps => Unanswered::Failed(broken.failure),
    }
}

/// A connection is reusable if the whole body was read from it.
fn reusable(mut connection: Connection, response: &Response) -> Option<Connection> {
    connection.used = true;
    (!response.truncated).then_some(connection)
}

/// Sends a request and reads its response, until `limit` at most. All bytes that came over the connection are counted,
/// those of TLS and those before the request included.
async fn exchange(
    url: &CanonicalUrl,
    wanted: RequestedResource<'_>,
    connection: &mut Connection,
    network: &Network,
    limit: Instant,
) -> Result<Response, FailedExchange> {
    let wire_meter = connection.wire_meter.clone();
    if let Some(wire_meter) = &wire_meter {
        wire_meter.allow(most_bytes(&network.rules.fetch));
    }
    let answer = answered(url, wanted, connection, network, limit).await;
    let Some(wire_meter) = wire_meter else { return answer };
    let is_too_much = wire_meter.is_exceeded();
    let wire_bytes = wire_meter.take();
    match answer {
        Ok(response) => Ok(Response { wire_bytes, ..response }),
        Err(broken) if is_too_much => {
            let failure = FetchFailure::new(FetchOutcome::MalformedResponse, TOO_MUCH.to_owned());
            Err(FailedExchange { failure: FetchFailure { wire_bytes, ..failure }, ..broken })
        }
        Err(broken) => Err(FailedExchange { failure: FetchFailure { wire_bytes, ..broken.failure }, ..broken }),
    }
}

async fn answered(
    url: &CanonicalUrl,
    wanted: RequestedResource<'_>,
    connection: &mut Connection,
    network: &Network,
    limit: Instant,
) -> Result<Response, FailedExchange> {
    let refused = |error| FailedExchange::after(0, FetchFailure::new(FetchOutcome::ClientError, error));
    let signature = network.signer.signature(url);
    let signature = signature.as_deref();
    let Connection { protocol, target, common, address, .. } = connection;
    match protocol {
        Protocol::Http1(connection) => {
            let request = request::head(url, wanted, target, common, signature).map_err(refused)?;
            over_http1::exchange(request, wanted, connection, address.as_deref(), network, limit).await
        }
        Protocol::Http2(connection) => {
            let request = request::request(url, wanted, common, signature).map_err(refused)?;
            Box::pin(over_http2::exchange(request, wanted, connection, address.as_deref(), network, limit)).await
        }
    }
}
