//! Answers of search interfaces are asked for rarely.

use crate::bench::{Bench, URL, looked};
use page::MINUTE;

const SEARCH: &str = "http://a.site.test/find?q=bike%20pump";

#[test]
fn an_answer_is_not_asked_for_more_often_than_searches_may_be_whatever_a_rule_says() {
    let rules = "[[rules]]\nname = \"often\"\npages = [\"a.site.test\"]\nmax_interval = \"2m\"\n";
    let settings = [
        ("crawl.discover", "same-site"),
        ("search.templates", "[\"http://a.site.test/find?q={query}\"]"),
        ("search.queries", "[\"bike pump\"]"),
        ("search.interval", "1h"),
    ];
    let mut bench = Bench::with_rules(rules, 1, &settings);
    bench.seed(SEARCH);
    let request = bench.next(MINUTE);
    bench.answer(looked(&request, 1e-4));
    assert!(bench.wait(55 * MINUTE).is_empty());
    let request = bench.next(20 * MINUTE);
    assert_eq!(request.url.as_str(), SEARCH);
    bench.answer(looked(&request, 1e-4));
    // Another page of the host follows the rule.
    bench.seed(URL);
    for _ in 0..2 {
        let request = bench.next(5 * MINUTE);
        assert_eq!(request.url.as_str(), URL);
        bench.answer(looked(&request, 1e-4));
    }
}
