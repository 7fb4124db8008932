//! Every misbehaviour of `simweb::hostile` through the real fetcher: each ends as its table says, within its limits.

use crate::bench::{Bench, request};
use crate::server_view::{CRAWL_DELAY, seen_otherwise};
use messages::{Encoded, FetchRequest, FetchResult, body, word};
use page::{CanonicalUrl, PageId};
use simweb::hostile::{
    Expect, HostileWeb, KEPT_BYTES, Misbehaviour, PACKED_BYTES, PIECEMEAL_BYTES, REDIRECTS, misbehaviours, piecemeal,
    proxy_misbehaviours,
};
use std::collections::HashMap;
use std::net::SocketAddr;

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

/// Plays cases, and all that comes of them otherwise than their tables say.
fn problems(cases: fn() -> Vec<Misbehaviour>, settings: impl Fn(SocketAddr) -> Vec<(&'static str, String)>) -> String {
    let (stalling, ending): (Vec<_>, Vec<_>) = cases().into_iter().partition(|case| case.stalls);
    let web = HostileWeb::start(cases()).unwrap();
    let settings: Vec<_> = limits().into_iter().chain(settings(web.address())).collect();
    let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let port = web.address().port();
    let (mut bench, mut impatient) = (Bench::new(&settings), Bench::new(&[&settings[..], &IMPATIENT].concat()));
    let mut problems = differing(&mut bench, port, &ending);
    problems.extend(differing(&mut impatient, port, &stalling));
    problems.extend(ending.iter().chain(&stalling).filter_map(|case| seen_otherwise(web.books(), case)));
    problems.join("\n")
}

fn directly(address: SocketAddr) -> (&'static str, String) {
    ("fetch.resolve", format!("*.test={address}"))
}

#[test]
fn every_misbehaviour_over_http1_ends_as_it_should() {
    let problems = problems(misbehaviours, |address| vec![directly(address)]);
    assert!(problems.is_empty(), "these end otherwise:\n{problems}");
}

#[test]
fn every_misbehaviour_of_a_proxy_ends_as_it_should() {
    let problems = problems(proxy_misbehaviours, |address| {
        let absent = "198.51.101.1:80".parse().unwrap();
        vec![directly(absent), ("fetch.proxy", format!("*.test=http://{address}"))]
    });
    assert!(problems.is_empty(), "these end otherwise:\n{problems}");
}

#[test]
fn long_answers_in_small_pieces_end_as_they_should() {
    let max_header = || ("fetch.max_header", format!("{PIECEMEAL_BYTES}B"));
    let problems = problems(piecemeal, |address| vec![directly(address), max_header()]);
    assert!(problems.is_empty(), "these end otherwise:\n{problems}");
}
