//! A change as a row of a table: the fields of its line. Lists are JSON.

use crate::encoder::parquet::{Cell, TableRow, json, required, text};
use crate::source::TopicRecord;
use messages::{ChangeLine, PageChange};

/// A row of `recrawl changes --as parquet`.
pub struct ChangeRow {
    cursor: String,
    line: ChangeLine,
    seen_at_us: i64,
    previous_seen_at_us: Option<i64>,
}

impl ChangeRow {
    pub fn new(record: TopicRecord<PageChange>) -> Self {
        let TopicRecord { message: change, cursor, .. } = record;
        Self {
            cursor: cursor.to_string(),
            seen_at_us: change.seen_at.as_micros(),
            previous_seen_at_us: change.previous_seen_at.map(|moment| moment.as_micros()),
            line: change.into(),
        }
    }
}

impl TableRow for ChangeRow {
    const SCHEMA: &'static str = "message change {
        required binary cursor (STRING);
        required binary change_id (STRING);
        required binary url (STRING);
        required binary page_id (STRING);
        required binary verdict (STRING);
        required double magnitude;
        required int64 seen_at (TIMESTAMP(MICROS,true));
        optional int64 previous_seen_at (TIMESTAMP(MICROS,true));
        optional int32 status;
        optional binary content_digest (STRING);
        required binary added (JSON);
        required binary removed (JSON);
        required binary links_added (JSON);
        required binary links_removed (JSON);
        required binary changes (JSON);
        required int32 passed_over;
        required int32 left_out;
        required boolean content_changed;
        required boolean links_changed;
        required boolean structure_changed;
        required boolean host_event;
        required boolean changes_last;
        optional binary rule (STRING);
        required binary triggers (JSON);
        required binary not_found (JSON);
        optional binary title (STRING);
        required binary values (JSON);
        required binary lost (JSON);
        required binary found_again (JSON);
        optional binary leads_to (STRING);
        optional binary looks_like (STRING);
        optional binary failure (STRING);
        required binary preferences (JSON);
    }";

    fn cells(self) -> Vec<Cell> {
        let Self { cursor, line, seen_at_us, previous_seen_at_us } = self;
        vec![
            required(cursor),
            required(line.change_id),
            required(line.url),
            required(line.page_id),
            required(messages::word(&line.verdict)),
            Cell::Double(line.magnitude),
            Cell::Long(Some(seen_at_us)),
            Cell::Long(previous_seen_at_us),
            Cell::Int(line.status.map(i32::from)),
            text(line.content_digest),
            required(json(&line.added)),
            required(json(&line.removed)),
            required(json(&line.links_added)),
            required(json(&line.links_removed)),
            required(json(&line.changes)),
            Cell::Int(Some(line.passed_over)),
            Cell::Int(Some(line.left_out)),
            Cell::Flag(line.content_changed),
            Cell::Flag(line.links_changed),
            Cell::Flag(line.structure_changed),
            Cell::Flag(line.host_event),
            Cell::Flag(line.changes_last),
            text(line.rule),
            required(json(&line.triggers)),
            required(json(&line.not_found)),
            text(line.title),
            required(json(&line.values)),
            required(json(&line.lost)),
            required(json(&line.found_again)),
            text(line.leads_to),
            text(line.looks_like),
            text(line.failure),
            required(json(&line.preferences)),
        ]
    }
}
