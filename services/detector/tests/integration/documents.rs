//! Documents of confined formats, such as PDF, which a reader from outside makes HTML of.

use crate::bench::{Bench, Seen};
use document::{NotRead, ReadConfined};
use messages::{FetchOutcome, FetchResult, Verdict, topics};
use std::sync::Arc;

/// Reads the words behind the first line as a paragraph for each line. A document may say there that it is late, or that no process
/// could be started.
#[derive(Debug)]
struct Lines;

impl ReadConfined for Lines {
    fn html(&self, body: &[u8]) -> Result<String, NotRead> {
        let text = String::from_utf8_lossy(body);
        let (first, words) = text.split_once('\n').ok_or(NotRead::Encrypted)?;
        match first {
            "%PDF-1.7 late" => return Err(NotRead::OverLimits),
            "%PDF-1.7 busy" => return Err(NotRead::NoReader),
            _ => {}
        }
        Ok(format!(
            "<main><h2>Fees</h2>{}</main>",
            words.lines().map(|line| format!("<p>{line}</p>")).collect::<String>()
        ))
    }
}

fn pdf(bench: &mut Bench, body: &str) -> FetchResult {
    let content_type = Some("application/pdf".to_owned());
    FetchResult { content_type, ..bench.answer(FetchOutcome::Fetched, Some(body)) }
}

const FEES: &str = "Mooring up to 8 m costs 12 EUR a night.\nMooring up to 12 m costs 19 EUR a night.";

#[test]
fn a_document_is_compared_by_its_words() {
    let mut bench = Bench::with_reader(Arc::new(Lines));
    let mut see = |body: String| {
        let result = pdf(&mut bench, &body);
        let seen = bench.see_result(&result);
        (seen.observation.judgement.verdict, seen.change)
    };
    assert_eq!(see(format!("%PDF-1.7 of Monday\n{FEES}")).0, Verdict::First);
    // Its bytes differ, and no word does.
    assert_eq!(see(format!("%PDF-1.7 of Tuesday\n{FEES}")).0, Verdict::Cosmetic);
    let (verdict, change) = see(format!("%PDF-1.7 of Wednesday\n{}", FEES.replace("19", "21")));
    assert!(matches!(verdict, Verdict::Minor | Verdict::Major), "{verdict:?}");
    let change = format!("{:?}", change.unwrap().changes);
    assert!(change.contains("21 EUR") && !change.contains("12 EUR") && !change.contains("digest"), "{change}");
    assert_eq!(bench.figure(metrics::detector::DOCUMENTS_READ), 3.0);
    assert_eq!(bench.figure(metrics::detector::DOCUMENTS_NOT_READ), 0.0);
}

#[test]
fn a_document_that_is_not_read_is_counted_and_compared_by_its_digest() {
    for mut bench in [Bench::with_reader(Arc::new(Lines)), Bench::new(&[])] {
        for (body, expected) in [("%PDF-1.7 one", Verdict::First), ("%PDF-1.7 two", Verdict::Major)] {
            let result = pdf(&mut bench, body);
            assert_eq!(bench.see_result(&result).observation.judgement.verdict, expected);
        }
        assert_eq!(bench.figure(metrics::detector::DOCUMENTS_NOT_READ), 2.0);
        assert_eq!(bench.figure(metrics::detector::UNREAD_PAGES), 1.0);
    }
}

#[test]
fn a_document_that_is_late_once_has_not_changed() {
    let mut bench = Bench::with_reader(Arc::new(Lines));
    let mut see = |first: &str, words: &str| {
        let result = pdf(&mut bench, &format!("%PDF-1.7 {first}\n{words}"));
        let Seen { observation, change, validators } = bench.see_result(&result);
        let copies = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap().len();
        (observation.judgement.verdict, change.is_some(), validators.content_digest.is_some(), copies)
    };
    assert_eq!(see("of Monday", FEES), (Verdict::First, true, true, 1));
    for reason in ["late", "busy"] {
        assert_eq!(see(reason, FEES), (Verdict::Unknown, false, false, 1), "{reason}");
        assert_eq!(see(&format!("after {reason}"), FEES), (Verdict::Cosmetic, false, true, 1), "{reason}");
    }
    // An edit that was late is reported by its words when it is read.
    let edited = FEES.replace("19", "21");
    assert_eq!(see("late", &edited).0, Verdict::Unknown);
    let (verdict, is_reported, ..) = see("of Friday", &edited);
    assert!(matches!(verdict, Verdict::Minor | Verdict::Major) && is_reported, "{verdict:?}");
    assert_eq!(bench.figure(metrics::detector::HELD), 3.0);
}

#[test]
fn a_document_that_is_late_for_days_is_compared_by_its_digest() {
    let mut bench = Bench::with_reader(Arc::new(Lines));
    let mut see = |first: &str| {
        let result = pdf(&mut bench, &format!("%PDF-1.7 {first}\n{FEES}"));
        bench.see_result(&result).observation.judgement.verdict
    };
    assert_eq!(see("of Monday"), Verdict::First);
    let verdicts: Vec<_> = (0..4).map(|_| see("late")).collect();
    assert_eq!(verdicts[..3], [Verdict::Unknown; 3]);
    assert!(matches!(verdicts[3], Verdict::Minor | Verdict::Major), "{:?}", verdicts[3]);
}
