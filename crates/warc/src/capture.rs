//! The WARC records of a fetch result.

use crate::head::stored_head;
use crate::originals::{Original, Originals};
use crate::record::{RecordId, WarcRecord, WarcRecordKind, labelled};
use messages::{Exchange, FetchOutcome, FetchResult, Sha1, body};
use std::borrow::Cow;

const REQUEST: &str = "application/http;msgtype=request";
const RESPONSE: &str = "application/http;msgtype=response";
/// Profiles of revisits (WARC §6.7).
const SERVER_NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
const IDENTICAL_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// Part of the id of the record of a rendered page.
const CONVERSION: &str = "conversion";
/// Longest body of a robots.txt, a redirect or an error, unpacked, in bytes.
const MAX_OWN_BODY: usize = 1 << 20;

/// Position of a result on the log. Record ids are derived from it and the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition<'a> {
    /// Topic name with prefix.
    pub topic: &'a str,
    pub partition: u32,
    pub offset: u64,
}

impl LogPosition<'_> {
    /// The id of one record of a result.
    fn id(&self, result: &FetchResult, part: &str, number: usize) -> RecordId {
        let Self { topic, partition, offset } = self;
        let fetched_at = result.look.fetched_at.as_micros();
        // Two crawls may use the same position, but hardly fetch the same page in the same microsecond.
        RecordId::of(&format!("{topic} {partition} {offset} {part} {number} {fetched_at} {}", result.look.url))
    }

    /// The id of the record that holds the body.
    pub(crate) fn body_record(&self, result: &FetchResult) -> RecordId {
        let recorded = result.exchanges.iter().filter(|exchange| is_recorded(exchange)).count();
        match recorded.checked_sub(1) {
            Some(_) if result.rendered && result.look.outcome == FetchOutcome::Fetched => {
                self.id(result, CONVERSION, 0)
            }
            Some(last) => self.id(result, "response", last),
            None => self.id(result, "resource", 0),
        }
    }
}

/// The records of a fetch result and its unpacked body, in chronological order.
///
/// Every redirect and the answer give a request and a response. If the page is unchanged, by a 304 or by comparison, a
/// revisit takes the place of the response. A body without recorded heads becomes a resource. Without an answer, or
/// without anything recorded, there are no records.
///
/// Bodies of redirects and errors are there only with `fetch.record_failures`, and so are exchanges for robots.txt.
/// `WARC-Truncated: unspecified` marks the absence of a body.
pub fn capture(
    result: &FetchResult,
    body: Option<&[u8]>,
    position: &LogPosition<'_>,
    originals: &mut Originals,
) -> Vec<WarcRecord> {
    let payload_sha1 = body.map(Sha1::of);
    originals.remember(result, position, payload_sha1);
    let exchanges: Vec<_> = result.exchanges.iter().filter(|exchange| is_recorded(exchange)).collect();
    let Some(last) = exchanges.len().checked_sub(1) else {
        return body.map(|body| resource(result, body, position)).into_iter().collect();
    };
    if result.rendered {
        return rendered(result, body, position, &exchanges);
    }
    let original = originals.of(result);
    let mut records = Vec::with_capacity(2 * exchanges.len());
    for (number, exchange) in exchanges.into_iter().enumerate() {
        let (request, response) = (position.id(result, "request", number), position.id(result, "response", number));
        records.push(requested(exchange, request, response));
        // Without a status the last request got no response, and all exchanges came before it.
        let is_answer = number == last && result.look.status.is_some();
        let record = match result.look.outcome {
            FetchOutcome::NotModified | FetchOutcome::SameContent if is_answer => {
                revisit(result, exchange, response, original)
            }
            _ => match body.filter(|_| is_answer) {
                Some(page) => answered(exchange, response, Some((page, result.truncated)), payload_sha1),
                None => {
                    let own = own_body(exchange);
                    let stored = own.as_deref().map(|body| (body, exchange.body_is_cut));
                    answered(exchange, response, stored, own.as_deref().map(Sha1::of))
                }
            },
        };
        records.push(record.with("WARC-Concurrent-To", request));
    }
    records
}

/// The records of a page that a browser has rendered: what was received, and the document as a conversion (WARC §6.8).
fn rendered(
    result: &FetchResult,
    body: Option<&[u8]>,
    position: &LogPosition<'_>,
    exchanges: &[&Exchange],
) -> Vec<WarcRecord> {
    let mut records = Vec::with_capacity(2 * exchanges.len() + 1);
    let page = result.exchange_of_page();
    let mut of_page = None;
    for (number, &exchange) in exchanges.iter().enumerate() {
        let (request, response) = (position.id(result, "request", number), position.id(result, "response", number));
        let own = own_body(exchange);
        let stored = own.as_deref().map(|body| (body, exchange.body_is_cut));
        records.push(requested(exchange, request, response));
        let answer = answered(exchange, response, stored, own.as_deref().map(Sha1::of));
        records.push(answer.with("WARC-Concurrent-To", request));
        if page.is_some_and(|page| std::ptr::eq(page, exchange)) {
            of_page = Some(response);
        }
    }
    records.extend(body.map(|body| {
        let id = position.id(result, CONVERSION, 0);
        let content_type = result.content_type.as_deref().unwrap_or("text/html");
        WarcRecord::new(WarcRecordKind::Conversion, id, result.look.fetched_at, content_type, body.to_vec())
            .with("WARC-Target-URI", result.look.answered_by())
            .with_some("WARC-Refers-To", of_page)
            .with("WARC-Payload-Digest", labelled(Sha1::of(body)))
            .with_some("WARC-Truncated", result.truncated.then_some("length"))
    }));
    records
}

/// The record of a request.
fn requested(exchange: &Exchange, request: RecordId, response: RecordId) -> WarcRecord {
    about(exchange, WarcRecordKind::Request, request, REQUEST, ended(&exchange.request_head))
        .with("WARC-Concurrent-To", response)
        .with_some("WARC-Truncated", exchange.is_cut.then_some("length"))
}

/// The record with what else is known of the answer (WARC §6.6). `None` if there is nothing.
///
/// It has a line `preference: …` for each of these preferences of the page's owner, and a line `response: …` for each line of the
/// head of a response that says that the page is unchanged: its revisit has no head.
pub fn metadata_record(result: &FetchResult, preferences: &[String], position: &LogPosition<'_>) -> Option<WarcRecord> {
    let line = |name: &str, value: &str| format!("{name}: {}\r\n", value.replace(char::is_control, " "));
    let last = result.exchanges.iter().rfind(|exchange| is_recorded(exchange));
    let head = last.filter(|_| is_not_modified(result)).map(|exchange| &*exchange.response_head);
    let head = String::from_utf8_lossy(head.unwrap_or_default());
    let responses = head.lines().map(str::trim_end).filter(|text| !text.is_empty()).map(|text| line("response", text));
    let preferences = preferences.iter().map(|preference| line("preference", preference));
    let block = responses.chain(preferences).collect::<String>().into_bytes();
    let (id, of) = (position.id(result, "metadata", 0), position.body_record(result));
    let date = result.exchanges.last().map_or(result.look.fetched_at, |exchange| exchange.requested_at);
    (!block.is_empty()).then(|| {
        WarcRecord::new(WarcRecordKind::Metadata, id, date, "application/warc-fields", block)
            .with("WARC-Target-URI", result.look.answered_by())
            .with("WARC-Refers-To", of)
            .with("WARC-Concurrent-To", of)
    })
}

/// Whether the server has said that the page is unchanged.
fn is_not_modified(result: &FetchResult) -> bool {
    result.look.outcome == FetchOutcome::NotModified && result.look.status.is_some()
}

/// Whether both heads were recorded, at least their first lines.
fn is_recorded(exchange: &Exchange) -> bool {
    !exchange.request_head.is_empty() && !exchange.response_head.is_empty()
}

fn ended(head: &[u8]) -> Vec<u8> {
    [head, b"\r\n"].concat()
}

/// A record of an exchange, with the fields common to requests and responses.
fn about(exchange: &Exchange, kind: WarcRecordKind, id: RecordId, content_type: &str, block: Vec<u8>) -> WarcRecord {
    WarcRecord::new(kind, id, exchange.requested_at, content_type, block)
        .with("WARC-Target-URI", &exchange.url)
        .with_some("WARC-IP-Address", exchange.address.as_ref())
        .with("WARC-Protocol", &exchange.protocol)
}

/// The body of a robots.txt, a redirect or an error, if it was kept.
fn own_body(exchange: &Exchange) -> Option<Cow<'_, [u8]>> {
    body::unpack(exchange.body.as_deref()?, MAX_OWN_BODY).ok()
}

/// A response with its body, and whether that was cut; or without it if it was not kept.
fn answered(exchange: &Exchange, id: RecordId, body: Option<(&[u8], bool)>, payload_sha1: Option<Sha1>) -> WarcRecord {
    let stored = body.map(|(body, _)| body).unwrap_or_default();
    let mut block = stored_head(&exchange.response_head, Some(stored.len() as u64));
    block.extend(stored);
    let truncated = match body {
        _ if exchange.is_cut => Some("length"),
        Some((_, is_cut)) => is_cut.then_some("length"),
        None => (exchange.received_bytes > 0).then_some("unspecified"),
    };
    let digest = match body {
        Some(_) => payload_sha1,
        // There is no digest for a body that was not kept.
        None => (exchange.received_bytes == 0).then(|| Sha1::of(b"")),
    };
    about(exchange, WarcRecordKind::Response, id, RESPONSE, block)
        .with_some("WARC-Payload-Digest", digest.map(labelled))
        .with_some("WARC-Truncated", truncated)
}

/// A response whose body is that of the original record.
///
/// It has no head if the server has said that the page is unchanged. Replay tools would show that response, which is empty, and
/// not the page: pywb for any head with a status of 3xx, ReplayWeb.page for 304.
fn revisit(result: &FetchResult, exchange: &Exchange, id: RecordId, original: Option<&Original>) -> WarcRecord {
    let is_same_content = result.look.outcome == FetchOutcome::SameContent;
    let block = match is_same_content {
        true => stored_head(&exchange.response_head, Some(result.look.body_length.max(0) as u64)),
        false => Vec::new(),
    };
    let truncated = (is_same_content && exchange.is_cut).then_some("length");
    let profile = if is_same_content { IDENTICAL_PAYLOAD } else { SERVER_NOT_MODIFIED };
    let payload_sha1 = result.payload_sha1.or_else(|| original?.payload_sha1);
    let page = result.look.url.as_str();
    about(exchange, WarcRecordKind::Revisit, id, RESPONSE, block)
        .with("WARC-Profile", profile)
        .with_some("WARC-Payload-Digest", payload_sha1.map(labelled))
        .with_some("WARC-Refers-To", original.map(|original| original.id))
        .with_some("WARC-Refers-To-Target-URI", original.map(|original| original.moved_to.as_deref().unwrap_or(page)))
        .with_some("WARC-Refers-To-Date", original.map(|original| original.date))
        .with_some("WARC-Truncated", truncated)
}

/// A body without a recorded exchange.
fn resource(result: &FetchResult, body: &[u8], position: &LogPosition<'_>) -> WarcRecord {
    let id = position.body_record(result);
    let content_type = result.content_type.as_deref().unwrap_or("application/octet-stream");
    WarcRecord::new(WarcRecordKind::Resource, id, result.look.fetched_at, content_type, body.to_vec())
        .with("WARC-Target-URI", result.look.answered_by())
        .with("WARC-Payload-Digest", labelled(Sha1::of(body)))
        .with_some("WARC-Truncated", result.truncated.then_some("length"))
}

#[cfg(test)]
mod tests;
