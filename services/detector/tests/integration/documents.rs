//! Documents of confined formats, such as PDF, which a reader from outside makes HTML of.

use crate::bench::Bench;
use document::{NotRead, ReadConfined};
use messages::{FetchOutcome, FetchResult, Verdict};
use std::sync::Arc;

/// Reads the words behind the first line as a paragraph for each line.
#[derive(Debug)]
struct Lines;

impl ReadConfined for Lines {
    fn html(&self, body: &[u8]) -> Result<String, NotRead> {
        let text = String::from_utf8_lossy(body);
        let (_, words) = text.split_once('\n').ok_or(NotRead::Encrypted)?;
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
