//! Every misbehaviour of `simweb::hostile` through the real fetcher: each ends as its table says, within its limits.

use crate::bench::{Bench, request};
use crate::server_view::{CRAWL_DELAY, seen_otherwise};
use messages::{Encoded, FetchRequest, FetchResult, body, word};
use page::{CanonicalUrl, PageId};
use simweb::hostile::{
    Expect, HostileWeb, KEPT_BYTES, Misbehaviour, PACKED_BYTES, PIECEMEAL_BYTES, REDIRECTS, misbehaviours, piecemeal,
};
use std::collections::HashMap;

/// Limits that the tables are written for.
pub(crate) fn limits() -> [(&'static str, String); 7] {
    let crawl_delay = format!("{}ms", CRAWL_DELAY.as_millis());
    [
        ("fetch.max_body", format!("{KEPT_BYTES}B")),
        ("fetch.max_packed_body", format!("{PACKED_BYTES}B")),
        ("fetch.max_redirects", REDIRECTS.to_string()),
        ("fetch.max_header", "64KiB".to_owned()),
        ("politeness.crawl_delay", crawl_delay.clone()),
        ("politeness.max_crawl_delay", crawl_delay),
        ("crawl.contact", "https://example.org/crawler".to_owned()),
    ]
}

/// Limits of time for servers that only these end.
pub(crate) const IMPATIENT: [(&str, &str); 3] =
    [("fetch.total_timeout", "4s"), ("fetch.idle_timeout", "400ms"), ("fetch.connect_timeout", "1s")];

/// Fetches all at once, and those with a second look once more; what differs from the tables.
pub(crate) fn differing(bench: &mut Bench, port: u16, cases: &[Misbehaviour]) -> Vec<String> {
    let address = |case: &Misbehaviour| CanonicalUrl::parse(&case.url.replace("{port}", &port.to_string())).unwrap();
    cases.iter().for_each(|case| bench.ask(address(case).as_str()));
    let first = by_page(bench.results(cases.len()));
    let mut differing: Vec<_> = cases
        .iter()
        .filter_map(|case| difference(&case.name, &case.expect, &first[&address(case).page_id()]))
        .collect();
    let again: Vec<_> = cases.iter().filter_map(|case| Some((case, case.again.as_ref()?))).collect();
    for (case, _) in &again {
        let known = &first[&address(case).page_id()];
        let validators = known.look.validators.clone();
        let second = FetchRequest { attempt: 8, validators, ..request(address(case).as_str()) };
        bench.send_bytes(second.encode());
    }
    let results = bench.results(cases.len() + again.len());
    let second = by_page(results.into_iter().filter(|result| result.look.attempt == 8).collect());
    differing.extend(again.iter().filter_map(|(case, expect)| {
        difference(&format!("{} again", case.name), expect, &second[&address(case).page_id()])
    }));
    differing
}

fn by_page(results: Vec<FetchResult>) -> HashMap<PageId, FetchResult> {
    results.into_iter().map(|result| (result.look.page_id, result)).collect()
}

fn difference(name: &str, expect: &Expect, result: &FetchResult) -> Option<String> {
    bounded(name, result);
    let came = Expect {
        outcome: expect.outcome,
        status: expect.status.and(result.look.status),
        body_length: expect.body_length.map(|_| result.look.body_length as u64),
        truncated: result.truncated,
    };
    let outcome = word(&result.look.outcome);
    (came != *expect || outcome != expect.outcome)
        .then(|| format!("{name}: {outcome} {came:?}, expected {expect:?}; {:?}", result.detail))
}

/// Whatever the server did, the answer is as short as the settings say.
fn bounded(name: &str, result: &FetchResult) {
    let short = |text: &Option<String>| text.as_ref().is_none_or(|text| text.len() <= 1 << 10);
    assert!(
        short(&result.detail) && short(&result.look.validators.etag) && short(&result.look.validators.last_modified),
        "{name}: {result:?}"
    );
    assert!(short(&result.content_type) && result.hops.len() <= REDIRECTS + 1, "{name}: {result:?}");
    assert!(result.look.retry_after_s.is_none_or(|wait| (0..=86_400).contains(&wait)), "{name}: {result:?}");
    if let Some(packed) = &result.body {
        let unpacked = body::unpack(packed, KEPT_BYTES as usize).unwrap();
        assert_eq!(unpacked.len() as i64, result.look.body_length, "{name}");
    }
}

#[test]
fn every_misbehaviour_over_http1_ends_as_it_should() {
    let (stalling, ending): (Vec<_>, Vec<_>) = misbehaviours().into_iter().partition(|case| case.stalls);
    let limits = limits();
    let limits: Vec<_> = limits.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let web = HostileWeb::start(misbehaviours()).unwrap();
    let mut bench = Bench::at(web.address(), &limits);
    let mut problems = differing(&mut bench, web.address().port(), &ending);
    let mut bench = Bench::at(web.address(), &[&limits[..], &IMPATIENT].concat());
    problems.extend(differing(&mut bench, web.address().port(), &stalling));
    problems.extend(ending.iter().chain(&stalling).filter_map(|case| seen_otherwise(web.books(), case)));
    assert!(
        problems.is_empty(),
        "{} of the web's misbehaviours end otherwise:\n{}",
        problems.len(),
        problems.join("\n")
    );
}

#[test]
fn long_answers_in_small_pieces_end_as_they_should() {
    let web = HostileWeb::start(piecemeal()).unwrap();
    let limits = limits();
    let limits: Vec<_> = limits.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let max_header = format!("{PIECEMEAL_BYTES}B");
    let mut bench = Bench::at(web.address(), &[&limits[..], &[("fetch.max_header", &max_header)]].concat());
    let mut problems = differing(&mut bench, web.address().port(), &piecemeal());
    problems.extend(piecemeal().iter().filter_map(|case| seen_otherwise(web.books(), case)));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
