//! Results that cannot be processed: by what they are recognised, and the record in their place.

use messages::topics::FETCH_RESULTS;
use messages::{DetectorEvent, Encoded, FetchOutcome, FetchResult};
use stream::{InputRecord, Subject};

/// A failed look in place of a result that is set aside. Without one the page would be asked for again at each end of its lease.
pub(crate) fn failed_look(record: &InputRecord) -> Option<InputRecord> {
    let Ok(DetectorEvent::Result(result)) = record.read(FETCH_RESULTS) else { return None };
    let mut look = result.look;
    (look.outcome, look.status, look.body_length) = (FetchOutcome::SetAside, None, 0);
    look.validators.content_digest = None;
    let failed = FetchResult { sitemaps: result.sitemaps, ..FetchResult::new(look) };
    let value = DetectorEvent::Result(failed).encode();
    Some(InputRecord { value: Some(value.into()), ..record.clone() })
}

/// The page of a fetch result. A removal of the page is another matter.
pub(crate) fn page_of_result(record: &InputRecord) -> Option<Subject> {
    match record.read(FETCH_RESULTS) {
        Ok(DetectorEvent::Result(result)) => {
            Some(Subject { id: result.look.page_id.0, name: result.look.url.to_string() })
        }
        _ => None,
    }
}
