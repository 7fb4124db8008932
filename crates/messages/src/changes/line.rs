//! A change in plain words, and as JSON.

use crate::{ChangedUnit, DecodeError, Digest, Message, PageChange, Verdict, WatchedValue};
use page::{CanonicalUrl, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};
use std::time::UNIX_EPOCH;

/// A change as `recrawl changes` prints it, webhooks deliver it, and the topic carries it in the form JSON. Ids are
/// in hexadecimal, times in RFC 3339 to the millisecond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeLine {
    pub change_id: String,
    pub url: String,
    pub page_id: String,
    #[serde(deserialize_with = "verdict")]
    pub verdict: Verdict,
    #[serde(default)]
    pub magnitude: f64,
    pub seen_at: String,
    #[serde(default)]
    pub previous_seen_at: Option<String>,
    #[serde(default)]
    pub status: Option<u16>,
    #[serde(default)]
    pub content_digest: Option<String>,
    #[serde(default)]
    pub added: Vec<String>,
    #[serde(default)]
    pub removed: Vec<String>,
    #[serde(default)]
    pub links_added: Vec<String>,
    #[serde(default)]
    pub links_removed: Vec<String>,
    #[serde(default)]
    pub changes: Vec<ChangedUnit>,
    #[serde(default)]
    pub passed_over: i32,
    #[serde(default)]
    pub left_out: i32,
    #[serde(default)]
    pub content_changed: bool,
    #[serde(default)]
    pub links_changed: bool,
    #[serde(default)]
    pub structure_changed: bool,
    #[serde(default)]
    pub host_event: bool,
    #[serde(default)]
    pub changes_last: bool,
    #[serde(default)]
    pub rule: Option<String>,
    #[serde(default)]
    pub triggers: Vec<String>,
    #[serde(default)]
    pub not_found: Vec<String>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub values: Vec<ValueLine>,
    #[serde(default)]
    pub lost: Vec<String>,
    #[serde(default)]
    pub found_again: Vec<String>,
    #[serde(default)]
    pub leads_to: Option<String>,
    #[serde(default)]
    pub looks_like: Option<String>,
    #[serde(default)]
    pub failure: Option<String>,
    #[serde(default)]
    pub preferences: Vec<String>,
}

/// A value of a watch rule before and after the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueLine {
    pub watch: String,
    /// Null: it was never seen.
    pub before: Option<NumberOrText>,
    /// Null: it is not on the page any more.
    pub after: Option<NumberOrText>,
    pub unit: Option<String>,
}

/// One side of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NumberOrText {
    Number(f64),
    Text(String),
}

impl NumberOrText {
    fn of(number: Option<f64>, text: Option<String>) -> Option<Self> {
        number.map(Self::Number).or(text.map(Self::Text))
    }

    fn parts(side: Option<Self>) -> (Option<f64>, Option<String>) {
        match side {
            None => (None, None),
            Some(Self::Number(number)) => (Some(number), None),
            Some(Self::Text(text)) => (None, Some(text)),
        }
    }
}

impl From<WatchedValue> for ValueLine {
    fn from(value: WatchedValue) -> Self {
        Self {
            watch: value.watch,
            before: NumberOrText::of(value.number_before, value.text_before),
            after: NumberOrText::of(value.number_after, value.text_after),
            unit: value.unit,
        }
    }
}

impl From<ValueLine> for WatchedValue {
    fn from(line: ValueLine) -> Self {
        let (number_before, text_before) = NumberOrText::parts(line.before);
        let (number_after, text_after) = NumberOrText::parts(line.after);
        Self { watch: line.watch, number_before, number_after, text_before, text_after, unit: line.unit }
    }
}

/// A verdict of a newer detector is unknown, as it is in Avro.
fn verdict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Verdict, D::Error> {
    let word = String::deserialize(deserializer)?;
    Ok(serde_json::from_value(word.into()).unwrap_or(Verdict::Unknown))
}

impl From<PageChange> for ChangeLine {
    fn from(change: PageChange) -> Self {
        Self {
            change_id: change.change_id,
            url: change.url.to_string(),
            page_id: change.page_id.to_string(),
            verdict: change.verdict,
            magnitude: change.magnitude,
            seen_at: change.seen_at.to_string(),
            previous_seen_at: change.previous_seen_at.map(|moment| moment.to_string()),
            status: change.status,
            content_digest: change.content_digest.map(|digest| digest.to_string()),
            added: change.added,
            removed: change.removed,
            links_added: change.links_added,
            links_removed: change.links_removed,
            changes: change.changes,
            passed_over: change.passed_over,
            left_out: change.left_out,
            content_changed: change.content_changed,
            links_changed: change.links_changed,
            structure_changed: change.structure_changed,
            host_event: change.host_event,
            changes_last: change.changes_last,
            rule: change.rule,
            triggers: change.triggers,
            not_found: change.not_found,
            title: change.title,
            values: change.values.into_iter().map(Into::into).collect(),
            lost: change.lost,
            found_again: change.found_again,
            leads_to: change.leads_to,
            looks_like: change.looks_like,
            failure: change.failure,
            preferences: change.preferences,
        }
    }
}

impl TryFrom<ChangeLine> for PageChange {
    type Error = DecodeError;

    fn try_from(line: ChangeLine) -> Result<Self, DecodeError> {
        Ok(PageChange {
            change_id: line.change_id,
            page_id: line.page_id.parse().map_err(corrupt)?,
            url: CanonicalUrl::parse(&line.url).map_err(corrupt)?,
            verdict: line.verdict,
            magnitude: line.magnitude,
            seen_at: moment(&line.seen_at)?,
            previous_seen_at: line.previous_seen_at.as_deref().map(moment).transpose()?,
            status: line.status,
            content_digest: line.content_digest.as_deref().map(digest).transpose()?,
            added: line.added,
            removed: line.removed,
            links_added: line.links_added,
            links_removed: line.links_removed,
            changes: line.changes,
            passed_over: line.passed_over,
            left_out: line.left_out,
            content_changed: line.content_changed,
            links_changed: line.links_changed,
            structure_changed: line.structure_changed,
            host_event: line.host_event,
            changes_last: line.changes_last,
            rule: line.rule,
            triggers: line.triggers,
            not_found: line.not_found,
            title: line.title,
            values: line.values.into_iter().map(Into::into).collect(),
            lost: line.lost,
            found_again: line.found_again,
            leads_to: line.leads_to,
            looks_like: line.looks_like,
            failure: line.failure,
            preferences: line.preferences,
        })
    }
}

/// Decodes the JSON of a change.
pub(crate) fn decode(json: &[u8]) -> Result<PageChange, DecodeError> {
    serde_json::from_slice::<ChangeLine>(json).map_err(corrupt)?.try_into()
}

fn corrupt(problem: impl std::fmt::Display) -> DecodeError {
    DecodeError::corrupt(PageChange::NAME, problem)
}

fn moment(text: &str) -> Result<Timestamp, DecodeError> {
    let moment = humantime::parse_rfc3339(text).map_err(corrupt)?;
    let since = moment.duration_since(UNIX_EPOCH).map_err(corrupt)?;
    Ok(Timestamp::from_micros(since.as_micros() as i64))
}

fn digest(text: &str) -> Result<Digest, DecodeError> {
    let wrong = || corrupt("the digest is not 64 hexadecimal digits");
    let bytes = data_encoding::HEXLOWER.decode(text.as_bytes()).map_err(|_| wrong())?;
    bytes.try_into().map(Digest).map_err(|_| wrong())
}
