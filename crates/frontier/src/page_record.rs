//! The stored record of a page.

use crate::PageRequest;
use messages::{AnswerKind, ChangeBelief, FetchOutcome, Look, Message, Validators, Verdict, impl_message};
use mirrors::Ties;
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The first bytes of an encoded page of this version, if its address comes first: the marker of a single object of Avro and the
/// fingerprint of the schema.
static HEADER: LazyLock<Option<[u8; 10]>> = LazyLock::new(|| {
    let record = ScheduledPage::schema_record();
    let (_, fields) = record.json.split_once("\"fields\"")?;
    let (_, first) = fields.split_once("\"name\"")?;
    let begins_with_address = first.trim_start_matches([':', ' ']).starts_with("\"url\"");
    let header = [&[0xC3, 0x01], &record.fingerprint.to_bytes()[..]].concat();
    begins_with_address.then(|| header.try_into().ok())?
});
/// The most bytes of a length. Addresses are shorter than this allows.
const MOST_LENGTH_BYTES: usize = 3;

/// A page of the frontier. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduledPage {
    pub url: CanonicalUrl,
    pub weight: f64,
    pub importance: f64,
    pub depth: i32,
    pub discovered_at: Timestamp,
    pub last_look_at: Option<Timestamp>,
    pub request: PageRequest,
    pub belief: ChangeBelief,
    pub validators: Validators,
    pub fetches: i64,
    pub changes: i64,
    pub last_change_at: Option<Timestamp>,
    pub outcome: Option<FetchOutcome>,
    pub verdict: Option<Verdict>,
    pub status: Option<u16>,
    pub body_length: i64,
    pub bytes_per_fetch: f64,
    pub hint_hazard: f64,
    pub hinted: i32,
    pub audits: i64,
    pub audits_fresh: i64,
    pub audits_expected: f64,
    pub ties: Option<Ties>,
    pub listed: i64,
    pub list_kind: i32,
    pub list_news: f64,
    pub list_days: f64,
    pub listed_by: Option<PageId>,
    pub failure: Option<LastFailure>,
    pub found_on: Option<FoundOn>,
}

/// The page that named a page first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundOn {
    pub page_id: PageId,
    pub site: SiteKey,
}

/// A page, or a site with all its pages, on which others were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageSource {
    Page(PageId),
    Site(SiteKey),
}

/// The last request for a page that said nothing about its content. It is kept when a later one succeeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFailure {
    pub at: Timestamp,
    pub outcome: FetchOutcome,
    pub status: Option<u16>,
    pub is_redirected: bool,
}

impl LastFailure {
    /// The failure that a look reports.
    pub fn of(look: &Look) -> Self {
        let is_redirected = look.final_url.is_some();
        Self { at: look.fetched_at, outcome: look.outcome, status: look.status, is_redirected }
    }

    /// The kind of answer under which status and logs report the failure.
    pub fn kind(&self) -> AnswerKind {
        AnswerKind::of_outcome(self.outcome, self.is_redirected)
    }
}

impl ScheduledPage {
    /// The address in an encoded page of this version, without decoding the rest. `None`: it has to be decoded.
    pub fn address_in(encoded: &[u8]) -> Option<&str> {
        let datum = encoded.strip_prefix(HEADER.as_ref()?)?;
        // A string of Avro is its length as a zigzag varint, and its bytes.
        let mut length = 0usize;
        for (place, byte) in datum.iter().take(MOST_LENGTH_BYTES).enumerate() {
            length |= usize::from(byte & 0x7F) << (7 * place);
            if byte & 0x80 == 0 {
                let text = datum.get(place + 1..)?.get(..length / 2)?;
                return std::str::from_utf8(text).ok();
            }
        }
        None
    }

    /// The kind of answer under which status and logs report the last request. `None` if no request was answered.
    pub fn last_answer(&self) -> Option<AnswerKind> {
        match (self.outcome, &self.failure) {
            (Some(outcome), Some(failure)) if failure.outcome != outcome => Some(AnswerKind::Outcome(outcome)),
            (Some(outcome), None) => Some(AnswerKind::Outcome(outcome)),
            (_, failure) => failure.as_ref().map(LastFailure::kind),
        }
    }

    /// Whether it is a seed of which no request has brought a copy yet, though one was answered. A copy that is deleted because
    /// the page is gone was counted as a change.
    pub fn is_failed_seed(&self) -> bool {
        self.depth == 0 && self.was_answered() && self.validators.content_digest.is_none() && self.changes == 0
    }

    /// Whether the page was found first on this source, and is no seed.
    pub fn was_found_on(&self, source: &PageSource) -> bool {
        self.depth > 0
            && self.found_on.as_ref().is_some_and(|found_on| match source {
                PageSource::Page(id) => found_on.page_id == *id,
                PageSource::Site(site) => found_on.site == *site,
            })
    }

    /// Whether any request was answered. A refused request is an answer, but no fetch.
    pub fn was_answered(&self) -> bool {
        self.outcome.is_some() || self.failure.is_some()
    }

    /// A newly discovered page. Its requests are counted from `attempt`.
    pub fn new(
        url: CanonicalUrl,
        weight: f64,
        depth: i32,
        prior: ChangeBelief,
        attempt: i64,
        discovered_at: Timestamp,
    ) -> Self {
        Self {
            url,
            weight,
            importance: 1.0,
            depth,
            discovered_at,
            last_look_at: None,
            request: PageRequest::new(attempt),
            belief: prior,
            validators: Validators::default(),
            fetches: 0,
            changes: 0,
            last_change_at: None,
            outcome: None,
            verdict: None,
            status: None,
            body_length: 0,
            bytes_per_fetch: 0.0,
            hint_hazard: 0.0,
            hinted: 0,
            audits: 0,
            audits_fresh: 0,
            audits_expected: 0.0,
            ties: None,
            listed: 0,
            list_kind: 0,
            list_news: 0.0,
            list_days: 0.0,
            listed_by: None,
            failure: None,
            found_on: None,
        }
    }
}

impl_message!(ScheduledPage, "ScheduledPage", include_str!("../../../schemas/state/ScheduledPage.avsc"));

#[cfg(test)]
mod tests {
    use super::*;
    use messages::{DecodeError, Encoded};

    #[test]
    fn the_address_of_an_encoded_page_is_read_without_the_rest() {
        for length in [1, 40, 100, 2_000] {
            let url = CanonicalUrl::parse(&format!("http://a.test/{}", "x".repeat(length))).unwrap();
            let belief = ChangeBelief::new(1.0, 10.0);
            let page = ScheduledPage::new(url.clone(), 1.0, 0, belief, 7, Timestamp::from_micros(7));
            let encoded = page.encode();
            assert_eq!(ScheduledPage::address_in(&encoded), Some(url.as_str()));
            assert_eq!(ScheduledPage::address_in(&encoded[..20.min(10 + length)]), None, "it is cut off");
            let mut other = encoded;
            other[5] ^= 1;
            assert_eq!(ScheduledPage::address_in(&other), None, "it is of another version");
        }
        assert_eq!(ScheduledPage::address_in(b""), None);
    }

    #[test]
    fn a_page_that_a_newer_scheduler_kept_is_read_once_its_schema_was_learned() {
        let page = ScheduledPage {
            ties: Some(Ties { epoch: 4, ..Ties::default() }),
            outcome: Some(FetchOutcome::Fetched),
            ..ScheduledPage::new(
                CanonicalUrl::parse("http://a.example/").unwrap(),
                1.0,
                0,
                ChangeBelief::new(1.0, 10.0),
                7,
                Timestamp::from_micros(7),
            )
        };
        let field = r#""fields":[{"name": "from_later", "type": "int", "default": 0},"#;
        let json = ScheduledPage::schema_record().json.replacen("\"fields\":[", field, 1);
        // The new field comes first, and zero is a zero byte.
        let datum = [&[0], &page.encode()[10..]].concat();
        let unreceived = [&[0xC3, 0x01, 1, 2, 3, 4, 5, 6, 7, 8], &datum[..]].concat();
        assert!(matches!(ScheduledPage::decode(&unreceived), Err(DecodeError::UnknownSchema { .. })));
        let fingerprint = messages::schemas::learn(json.as_bytes(), None).unwrap();
        let newer = [&[0xC3, 0x01], &fingerprint.to_bytes()[..], &datum].concat();
        assert_eq!(ScheduledPage::decode(&newer), Ok(page));
    }
}
