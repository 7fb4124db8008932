//! A fetch as a row of a table: the fields of its line, with the body as it was received. Lists are JSON.

use super::fetch::{FetchLine, unpacked_body};
use super::owners::fetch_preferences;
use crate::encoder::parquet::{Cell, TableRow, json, required, text};
use crate::source::TopicRecord;
use document::Format;
use messages::FetchResult;

/// A row of `recrawl export parquet`.
pub struct FetchRow {
    line: FetchLine,
    fetched_at_us: i64,
    body: Option<Vec<u8>>,
}

impl FetchRow {
    /// The row of a fetch, with or without its body. Its preferences are those for this crawler.
    pub fn new(record: TopicRecord<FetchResult>, with_body: bool, product_token: &str) -> Self {
        let TopicRecord { message: result, cursor, .. } = record;
        let body = unpacked_body(&result);
        let preferences = fetch_preferences(&result, body.as_deref(), product_token);
        let body = body.filter(|_| with_body);
        let fetched_at_us = result.look.fetched_at.as_micros();
        let mut line = FetchLine::new(result, None, &preferences, &cursor);
        line.charset = body.as_deref().and_then(|body| charset(body, line.content_type.as_deref()));
        Self { line, fetched_at_us, body }
    }
}

impl TableRow for FetchRow {
    const SCHEMA: &'static str = "message fetch {
        required binary cursor (STRING);
        required binary url (STRING);
        required binary page_id (STRING);
        required int64 attempt;
        required int64 fetched_at (TIMESTAMP(MICROS,true));
        required binary outcome (STRING);
        optional int32 status;
        optional binary final_url (STRING);
        required binary hops (JSON);
        optional binary headers (JSON);
        optional binary protocol (STRING);
        optional binary address (STRING);
        optional binary content_type (STRING);
        optional binary content_digest (STRING);
        optional binary body;
        optional binary charset (STRING);
        required int64 body_length;
        required boolean truncated;
        required int64 wire_bytes;
        required int32 latency_ms;
        optional int64 retry_after_s;
        optional binary detail (STRING);
        required binary preferences (JSON);
    }";
    // Bodies hardly repeat, and no query searches them by their order.
    const PLAIN_COLUMN: Option<&'static str> = Some("body");

    fn cells(self) -> Vec<Cell> {
        let Self { line, fetched_at_us, body } = self;
        vec![
            required(line.cursor),
            required(line.url),
            required(line.page_id),
            Cell::Long(Some(line.attempt)),
            Cell::Long(Some(fetched_at_us)),
            required(messages::word(&line.outcome)),
            Cell::Int(line.status.map(i32::from)),
            text(line.final_url),
            required(json(&line.hops)),
            text(line.headers.as_ref().map(json)),
            text(line.protocol),
            text(line.address),
            text(line.content_type),
            text(line.content_digest),
            Cell::Bytes(body.map(Into::into)),
            text(line.charset.map(str::to_owned)),
            Cell::Long(Some(line.body_length)),
            Cell::Flag(line.truncated),
            Cell::Long(Some(line.wire_bytes)),
            Cell::Int(Some(line.latency_ms)),
            Cell::Long(line.retry_after_s),
            text(line.detail),
            required(json(&line.preferences)),
        ]
    }
}

/// The charset of a body that is text.
fn charset(body: &[u8], content_type: Option<&str>) -> Option<&'static str> {
    let format = Format::of(content_type, body);
    format.is_text.then(|| format.decode(body, content_type)).flatten().map(|decoded| decoded.charset)
}
