//! One exchange over HTTP/2.

use crate::body::{DRAINED_WITHIN, Drain, Intake, TakenBody};
use crate::codings::More;
use crate::connection::Http2Connection;
use crate::heads::Heads;
use crate::meter::Meter;
use crate::network::Network;
use crate::request::RequestedResource;
use crate::response::{ExchangeRecord, FailedExchange, FetchFailure, Response, Seen, late, silent};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::{Body, Incoming};
use messages::FetchOutcome;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// Why half a body is none.
const ENDED_EARLY: &str = "the stream was reset before the answer was complete";

/// Sends a request and reads its response, until `limit` at most.
pub(crate) async fn exchange(
    request: Request<Empty<Bytes>>,
    wanted: RequestedResource<'_>,
    connection: &mut Http2Connection,
    address: Option<&str>,
    network: &Network,
    limit: Instant,
) -> Result<Response, FailedExchange> {
    let rules = &*network.rules;
    let idle = rules.fetch.idle_timeout;
    let too_late = |limit| if Instant::now() >= limit { late(rules) } else { silent(idle) };
    let Http2Connection { sender, meter, .. } = connection;
    meter.reset();
    let recorded = rules.fetch.record_heads.then(|| request.clone());
    let sent = async {
        sender.ready().await?;
        sender.send_request(request).await
    };
    let response = within(idle.max(rules.fetch.connect_timeout), limit, sent).await;
    let response = response.ok_or_else(|| FailedExchange::after(meter.received_bytes(), too_late(limit)))?;
    let response = response.map_err(|error| FailedExchange {
        seen: seen(&error, meter),
        ..FailedExchange::after(meter.received_bytes(), failure_of(&error))
    })?;
    let heads = recorded.map(|request| Heads::in_words(&request, &response));
    let (head, mut frames) = response.into_parts();
    let mut received_bytes = 0;
    let mut waited = Duration::ZERO;
    let mut recorded = None;
    let (body, truncated, memory) = if head.status.is_success() {
        let received = async {
            let announced = frames.size_hint().lower();
            // While the body waits for memory, the host waits for us.
            let mut since = Instant::now();
            let mut body = Intake::begin(&head.headers, announced, wanted, rules, &network.memory).await?;
            waited += since.elapsed();
            while let Some(frame) =
                within(idle, limit + waited, frames.frame()).await.ok_or_else(|| too_late(limit + waited))?
            {
                let Ok(data) = frame.map_err(|error| failure_of(&error))?.into_data() else { continue };
                received_bytes += data.len() as u64;
                since = Instant::now();
                if body.take(&data).await? == More::Cut {
                    break;
                }
                waited += since.elapsed();
            }
            // A reset without an error ends the frames like the end of the stream, also in the midst of a body.
            let is_whole = body.is_cut() || frames.is_end_stream() || announced > 0 && received_bytes == announced;
            if !is_whole && (announced > 0 || received_bytes == 0) {
                return Err(FetchFailure::new(FetchOutcome::ConnectionLost, ENDED_EARLY.to_owned()));
            }
            body.finish(!is_whole, rules)
        };
        let taken = received.await.map_err(|failure| FailedExchange::after(meter.received_bytes(), failure))?;
        let TakenBody { body, is_cut, memory } = taken;
        (body, is_cut, Some(memory))
    } else {
        let mut drain = Drain::begin(&head.headers, frames.size_hint().exact(), rules, &network.memory);
        let is_whole = within(idle.min(DRAINED_WITHIN), limit, drained(frames, &mut drain)).await == Some(true);
        received_bytes = drain.bytes;
        recorded = drain.finish(is_whole);
        (Bytes::new(), !is_whole, None)
    };
    let record = heads.map(|heads| ExchangeRecord {
        heads,
        protocol: "h2",
        address: address.map(str::to_owned),
        received_bytes,
        body: recorded,
    });
    Ok(Response {
        status: head.status,
        headers: head.headers,
        body,
        truncated,
        wire_bytes: meter.received_bytes(),
        record,
        memory,
        waited,
    })
}

async fn drained(mut frames: Incoming, drain: &mut Drain) -> bool {
    while let Some(frame) = frames.frame().await {
        let Ok(frame) = frame else { return false };
        if frame.data_ref().is_some_and(|data| drain.take(data) == More::Cut) {
            return false;
        }
    }
    true
}

/// Waits so long, and until `limit` at most.
async fn within<T>(most: Duration, limit: Instant, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout_at(limit.min(Instant::now() + most).into(), work).await.ok()
}

fn failure_of(error: &hyper::Error) -> FetchFailure {
    let outcome = if breaks_the_protocol(error) {
        FetchOutcome::MalformedResponse
    } else if error.is_timeout() {
        FetchOutcome::TimedOut
    } else {
        FetchOutcome::ConnectionLost
    };
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    FetchFailure::new(outcome, format!("{error}{cause}"))
}

/// Whether the host may have seen a request that failed.
fn seen(error: &hyper::Error, meter: &Meter) -> Seen {
    let cause = error.source();
    match cause.and_then(|cause| cause.downcast_ref::<h2::Error>()) {
        Some(error) if error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM) => Seen::Refused,
        Some(error) if is_remote(error) && error.reason() == Some(h2::Reason::HTTP_1_1_REQUIRED) => {
            Seen::RefusedOverHttp2
        }
        // The host closes, and did not look at this stream, which came after the last that it names.
        Some(error) if error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR) => Seen::Refused,
        Some(_) => Seen::Perhaps,
        // It was not sent, or the connection broke.
        None => {
            let is_broken = cause.is_some_and(|cause| cause.is::<io::Error>());
            let is_unseen = error.is_canceled() || error.is_closed() || is_broken && meter.received_bytes() == 0;
            if is_unseen { Seen::Nothing } else { Seen::Perhaps }
        }
    }
}

/// Whether the server sent the error.
fn is_remote(error: &h2::Error) -> bool {
    error.is_remote() && (error.is_reset() || error.is_go_away())
}

/// Whether the server violated the protocol, as opposed to a lost connection.
fn breaks_the_protocol(error: &hyper::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            // A protocol error that our side detected. An RST_STREAM or GOAWAY from the server is a lost connection.
            return error.is_library();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            // The peer's bytes are not valid TLS.
            return matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
        }
        cause = error.source();
    }
    false
}
