//! One exchange over HTTP/1.1.

use crate::body::{DRAINED_WITHIN, Drain, Intake, TakenBody};
use crate::codings::More;
use crate::heads::Heads;
use crate::http1::{Http1Connection, Http1Error, ReadHead, ResponseHead};
use crate::network::Network;
use crate::request;
use crate::request::RequestedResource;
use crate::response::{ExchangeRecord, FailedExchange, FetchFailure, Response, Seen, late, silent};
use bytes::Bytes;
use hyper::Version;
use messages::FetchOutcome;
use std::cell::Cell;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

/// Sends a request and reads its response, until `limit` at most.
pub(crate) async fn exchange(
    request: request::RequestHead,
    wanted: RequestedResource<'_>,
    connection: &mut Http1Connection,
    address: Option<&str>,
    network: &Network,
    limit: Instant,
) -> Result<Response, FailedExchange> {
    let rules = &*network.rules;
    let idle = rules.fetch.idle_timeout;
    let until = limit.min(Instant::now() + idle.max(rules.fetch.connect_timeout));
    let records = rules.fetch.record_heads;
    let answered = match connection.write(&request.bytes, until).await {
        Ok(()) => connection.head(records, until).await,
        Err(problem) => Err(problem),
    };
    let failure = |problem| match problem {
        Http1Error::Late if Instant::now() >= limit => late(rules),
        problem => failure_of(problem, idle),
    };
    let ReadHead { head, raw } = answered.map_err(|problem| {
        // A host that is silent may be at work on the request.
        let is_unseen = connection.received_bytes() == 0 && !matches!(problem, Http1Error::Late);
        let seen = if is_unseen { Seen::Nothing } else { Seen::Perhaps };
        FailedExchange { seen, ..FailedExchange::after(connection.received_bytes(), failure(problem)) }
    })?;
    let mut body_bytes = 0;
    // While the body waits for memory, the host waits for us.
    let waited = Cell::new(Duration::ZERO);
    let mut recorded = None;
    let (body, truncated, memory) = if head.status.is_success() {
        let announced = head.framing.announced().unwrap_or(0);
        let add_wait = |since: Instant| waited.set(waited.get() + since.elapsed());
        let begun = Instant::now();
        if network.memory.is_short() {
            connection.keep_only_unread();
        }
        let body = Intake::begin(&head.headers, announced, wanted, rules, &network.memory).await;
        let mut body = body.map_err(|failure| FailedExchange::after(connection.received_bytes(), failure))?;
        add_wait(begun);
        let mut problem = None;
        let taken = connection.body(
            &head,
            || (limit + waited.get()).min(Instant::now() + idle),
            async |piece: &[u8]| {
                body_bytes += piece.len() as u64;
                let begun = Instant::now();
                let more = body.take(piece).await;
                add_wait(begun);
                more.unwrap_or_else(|failure| {
                    problem = Some(failure);
                    More::Cut
                })
            },
        );
        let taken = taken.await.map_err(failure);
        let taken = taken.and_then(|is_whole| problem.map_or(Ok(is_whole), Err));
        let failed = |failure| FailedExchange::after(connection.received_bytes(), failure);
        let is_whole = taken.map_err(failed)?;
        let is_broken_off = !is_whole && !body.is_cut();
        let TakenBody { body, is_cut, memory } = body.finish(is_broken_off, rules).map_err(failed)?;
        if is_broken_off && body.is_empty() {
            // Without a length, a body that ends before it has begun is no empty page.
            return Err(failed(failure_of(Http1Error::Closed, idle)));
        }
        (body, is_cut, Some(memory))
    } else {
        let limit = limit.min(Instant::now() + idle.min(DRAINED_WITHIN));
        let mut drain = Drain::begin(&head.headers, head.framing.announced(), rules, &network.memory);
        let drained = connection.body(&head, || limit, async |piece: &[u8]| drain.take(piece)).await;
        let is_whole = drained.is_ok_and(|is_whole| is_whole);
        body_bytes = drain.bytes;
        recorded = drain.finish(is_whole);
        (Bytes::new(), !is_whole, None)
    };
    let record = raw.map(|raw| ExchangeRecord {
        heads: Heads::sent(request, raw),
        protocol: if head.version == Version::HTTP_10 { "http/1.0" } else { "http/1.1" },
        address: address.map(str::to_owned),
        received_bytes: body_bytes,
        body: recorded,
    });
    let ResponseHead { status, headers, .. } = *head;
    let (wire_bytes, waited) = (connection.received_bytes(), waited.get());
    Ok(Response { status, headers, body, truncated, wire_bytes, record, memory, waited })
}

fn failure_of(problem: Http1Error, idle: Duration) -> FetchFailure {
    let lost = |detail| FetchFailure::new(FetchOutcome::ConnectionLost, detail);
    match problem {
        Http1Error::Late => silent(idle),
        Http1Error::Malformed(detail) => FetchFailure::new(FetchOutcome::MalformedResponse, detail),
        Http1Error::Closed => lost("the connection was closed before the answer was complete".to_owned()),
        Http1Error::Broken(error) => {
            let outcome = match error.kind() {
                ErrorKind::TimedOut => FetchOutcome::TimedOut,
                // The peer's bytes are not valid TLS.
                ErrorKind::InvalidData | ErrorKind::InvalidInput => FetchOutcome::MalformedResponse,
                _ => FetchOutcome::ConnectionLost,
            };
            FetchFailure::new(outcome, error.to_string())
        }
    }
}
