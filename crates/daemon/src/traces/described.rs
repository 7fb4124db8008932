//! Describes the work on a record by its content, under the names of OpenTelemetry's conventions where they have one.

use messages::topics::{FETCH_REQUESTS, FETCH_RESULTS, PAGE_CHANGES, PAGE_OBSERVATIONS, SCHEDULER_EVENTS};
use messages::{
    AnswerKind, DetectorEvent, Encoded, EstimatorEvent, FetchRequest, Look, LookJudgement, OutcomeClass, PageChange,
    SchedulerEvent, word,
};
use page::{CanonicalUrl, PageId};
use std::sync::Arc;
use stream::{Attribute, Describe, RecordFacts};
use topology::LogNames;

/// Describes the records of the topics with these names.
pub(super) fn by(names: &LogNames) -> Arc<Describe> {
    let (requests, results) = (names.topic(FETCH_REQUESTS), names.topic(FETCH_RESULTS));
    let (observations, events) = (names.topic(PAGE_OBSERVATIONS), names.topic(SCHEDULER_EVENTS));
    let changes = names.topic(PAGE_CHANGES);
    Arc::new(move |topic, value| {
        // A record that cannot be read says nothing here; the stage says why it cannot.
        let facts = match topic {
            _ if topic == requests => FetchRequest::decode(value).ok().map(|request| of_request(&request)),
            _ if topic == results => match DetectorEvent::decode(value) {
                Ok(DetectorEvent::Result(result)) => Some(of_result(&result.look, result.detail)),
                _ => None,
            },
            _ if topic == observations => match EstimatorEvent::decode(value) {
                Ok(EstimatorEvent::Observation(observation)) => {
                    Some(of_judged(&observation.look, &observation.judgement))
                }
                _ => None,
            },
            _ if topic == events => match SchedulerEvent::decode(value) {
                Ok(SchedulerEvent::Estimate(estimate)) => {
                    let mut facts = of_judged(&estimate.look, &estimate.judgement);
                    facts.attributes.push(("recrawl.changes_per_day", estimate.belief.change_rate_per_day().into()));
                    Some(facts)
                }
                _ => None,
            },
            _ if topic == changes => PageChange::decode(value).ok().map(|change| {
                let mut attributes = of_page(change.page_id, &change.url);
                attributes.push(("recrawl.verdict", word(&change.verdict).into()));
                RecordFacts { attributes, error: None }
            }),
            _ => None,
        };
        facts.unwrap_or_default()
    })
}

fn of_page(id: PageId, url: &CanonicalUrl) -> Vec<Attribute> {
    vec![("url.full", url.as_str().into()), ("recrawl.page.id", id.to_string().into())]
}

fn of_request(request: &FetchRequest) -> RecordFacts {
    let mut attributes = of_page(request.page_id, &request.url);
    attributes.extend([("recrawl.attempt", request.attempt.into()), ("recrawl.reason", word(&request.reason).into())]);
    RecordFacts { attributes, error: None }
}

fn of_look(look: &Look) -> Vec<Attribute> {
    let mut attributes = of_page(look.page_id, &look.url);
    attributes.extend([
        ("recrawl.attempt", look.attempt.into()),
        ("recrawl.outcome", AnswerKind::of(look).report().name.into()),
    ]);
    attributes.extend(look.status.map(|status| ("http.response.status_code", i64::from(status).into())));
    attributes
}

/// An answer of no use is a failure of the fetch, and of nothing that is done with it.
fn of_result(look: &Look, detail: Option<String>) -> RecordFacts {
    let report = AnswerKind::of(look).report();
    let error = (report.class == OutcomeClass::Failed).then(|| detail.unwrap_or_else(|| report.in_words()));
    RecordFacts { attributes: of_look(look), error }
}

fn of_judged(look: &Look, judgement: &LookJudgement) -> RecordFacts {
    let mut attributes = of_look(look);
    attributes.push(("recrawl.verdict", word(&judgement.verdict).into()));
    RecordFacts { attributes, error: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::{FetchOutcome, FetchResult};
    use page::Timestamp;
    use settings::Settings;
    use stream::AttributeValue;

    #[test]
    fn a_record_says_what_page_it_is_about_and_what_came_of_it() {
        let names = LogNames::new(&Settings::default());
        let url = CanonicalUrl::parse("http://a.example/x").unwrap();
        let request = FetchRequest::first(url, Timestamp::from_secs(5));
        let mut look = Look::new(request.clone(), FetchOutcome::ServerError, Timestamp::from_secs(6));
        look.status = Some(500);
        let result = FetchResult { detail: Some("it says 500".to_owned()), ..FetchResult::new(look) };
        let reported = |topic: String, value: Vec<u8>| by(&names)(&topic, &value);
        let facts = reported(names.topic(FETCH_REQUESTS), request.encode());
        let expected: &Attribute = &("url.full", AttributeValue::Text("http://a.example/x".to_owned()));
        assert!(facts.attributes.contains(expected) && facts.error.is_none(), "{facts:?}");
        assert!(facts.attributes.contains(&("recrawl.reason", "new".into())), "{facts:?}");
        let facts = reported(names.topic(FETCH_RESULTS), DetectorEvent::Result(result.clone()).encode());
        assert_eq!(facts.error.as_deref(), Some("it says 500"));
        assert!(facts.attributes.contains(&("http.response.status_code", 500.into())), "{facts:?}");
        assert_eq!(reported(names.topic(FETCH_RESULTS), b"nonsense".to_vec()), RecordFacts::default());
        assert_eq!(reported("another".to_owned(), request.encode()), RecordFacts::default());
    }
}
