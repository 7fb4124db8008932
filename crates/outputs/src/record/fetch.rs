//! A fetch as it is published: a line of `recrawl export jsonl`.

use crate::source::{Cursor, FollowedTopic};
use base64::prelude::{BASE64_STANDARD, Engine};
use document::Format;
use messages::{FetchOutcome, FetchResult, Hop, body};
use preferences::Preferences;
use serde::Serialize;

/// Longest body that is unpacked. `fetch.max_body` cannot exceed it.
const MAX_BODY: usize = 1 << 30;

/// A fetch as it is written for other programs.
#[derive(Debug, Serialize)]
pub struct FetchLine {
    /// Cursor that resumes after this fetch.
    pub cursor: String,
    pub url: String,
    pub page_id: String,
    pub attempt: i64,
    pub fetched_at: String,
    pub outcome: FetchOutcome,
    pub status: Option<u16>,
    pub final_url: Option<String>,
    pub hops: Vec<Hop>,
    /// Headers of the last response, in order and with names as received. Null if they were not recorded.
    pub headers: Option<Vec<(String, String)>>,
    pub protocol: Option<String>,
    pub address: Option<String>,
    pub content_type: Option<String>,
    pub content_digest: Option<String>,
    /// Null if the answer has no body, if bodies are omitted, or if it equals that of the previous fetch (`same_content`).
    pub body: Option<String>,
    pub body_form: Option<BodyForm>,
    pub charset: Option<&'static str>,
    pub body_length: i64,
    pub truncated: bool,
    pub wire_bytes: i64,
    pub latency_ms: i32,
    pub retry_after_s: Option<i64>,
    pub detail: Option<String>,
    /// The owner's preferences on the use of the page, each with the statement that decides.
    pub preferences: Vec<String>,
}

/// Encoding of a body in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyForm {
    /// Decoded from its charset.
    Text,
    /// Raw bytes, for a body that is not text or does not decode without loss.
    Base64,
}

/// How the topic of fetch results is read. Few at a time, because they include bodies.
pub const FETCHES: FollowedTopic<FetchResult> = FollowedTopic {
    noun: "results",
    retention: "log.retention_results",
    batch: 50,
    moment: |result| result.look.fetched_at,
};

/// The unpacked body of a result, if it has one. A body that does not unpack is reported and treated as absent.
pub fn unpacked_body(result: &FetchResult) -> Option<Vec<u8>> {
    match body::unpack(result.body.as_deref()?, MAX_BODY) {
        Ok(body) => Some(body.into_owned()),
        Err(error) => {
            eprintln!("recrawl: body of {} at {}: {error}", result.look.url, result.look.fetched_at);
            None
        }
    }
}

impl FetchLine {
    /// The line of a result with this body and these preferences.
    pub fn new(result: FetchResult, body: Option<&[u8]>, preferences: &Preferences, cursor: &Cursor) -> Self {
        let answer = result.exchange_of_page();
        let (body, body_form, charset) = match body.map(|body| encoded(body, result.content_type.as_deref())) {
            Some((body, form, charset)) => (Some(body), Some(form), charset),
            None => (None, None, None),
        };
        Self {
            cursor: cursor.to_string(),
            url: result.look.url.to_string(),
            page_id: result.look.page_id.to_string(),
            attempt: result.look.attempt,
            fetched_at: result.look.fetched_at.to_string(),
            outcome: result.look.outcome,
            status: result.look.status,
            final_url: result.look.final_url.as_ref().map(ToString::to_string),
            headers: answer.map(|answer| ::warc::header_lines(&answer.response_head)),
            protocol: answer.map(|answer| answer.protocol.clone()),
            address: answer.and_then(|answer| answer.address.clone()),
            hops: result.hops,
            content_type: result.content_type,
            content_digest: result.look.validators.content_digest.map(|digest| digest.to_string()),
            body,
            body_form,
            charset,
            body_length: result.look.body_length,
            truncated: result.truncated,
            wire_bytes: result.look.wire_bytes,
            latency_ms: result.look.latency_ms,
            retry_after_s: result.look.retry_after_s,
            detail: result.detail,
            preferences: preferences.to_decisions(result.look.fetched_at),
        }
    }
}

/// Encodes a body for a line, as text only if nothing is lost.
fn encoded(bytes: &[u8], content_type: Option<&str>) -> (String, BodyForm, Option<&'static str>) {
    let format = Format::of(content_type, bytes);
    let decoded = format.is_text.then(|| format.decode(bytes, content_type)).flatten();
    if let Some(decoded) = decoded
        && !decoded.text.contains(char::REPLACEMENT_CHARACTER)
    {
        return (decoded.text.into_owned(), BodyForm::Text, Some(decoded.charset));
    }
    (BASE64_STANDARD.encode(bytes), BodyForm::Base64, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_text_if_nothing_is_lost_by_it() {
        let check = |bytes: &[u8], content_type, expected: (&str, BodyForm, Option<&'static str>)| {
            let (text, form, charset) = encoded(bytes, Some(content_type));
            assert_eq!((text.as_str(), form, charset), expected);
        };
        let latin = "text/plain; charset=windows-1252";
        check(b"caf\xe9", latin, ("café", BodyForm::Text, Some("windows-1252")));
        check("{\"é\": 1}".as_bytes(), "application/json", ("{\"é\": 1}", BodyForm::Text, Some("UTF-8")));
        check(b"caf\xe9", "text/plain; charset=utf-8", ("Y2Fm6Q==", BodyForm::Base64, None));
        check(b"\x89PNG", "image/png", ("iVBORw==", BodyForm::Base64, None));
    }
}
