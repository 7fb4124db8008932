//! Settings of search interfaces.

use super::{faults_of, layered};
use crate::{Search, Secrets, Settings};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

fn search(text: &str) -> Search {
    layered(&format!("[crawl]\ndiscover = \"anywhere\"\n[search]\n{text}\n"), &[], &[]).unwrap().search
}

#[test]
fn each_query_is_asked_once_at_each_interface_with_its_words_encoded() {
    let search = search(
        "templates = [\"https://a.test/s?q={query}&n=9\", \"http://b.test/find/{query}/\"]\n\
         queries = [\"bike pump\", \"a&b=c/d?\", \"车\", \" bike pump\"]",
    );
    let pages: Vec<_> = search.pages().iter().map(|url| url.as_str().to_owned()).collect();
    assert_eq!(
        pages,
        [
            "https://a.test/s?q=bike%20pump&n=9",
            "https://a.test/s?q=a%26b%3Dc%2Fd%3F&n=9",
            "https://a.test/s?q=%E8%BD%A6&n=9",
            "http://b.test/find/bike%20pump/",
            "http://b.test/find/a%26b%3Dc%2Fd%3F/",
            "http://b.test/find/%E8%BD%A6/",
        ]
    );
    assert!(Settings::default().search.pages().is_empty());
}

#[test]
fn many_answers_are_asked_more_rarely_so_that_all_keep_to_their_share() {
    let search = |queries: usize| Search {
        templates: vec!["https://a.test/{query}".to_owned()],
        queries: (0..queries).map(|number| number.to_string()).collect(),
        interval: 2 * DAY,
        budget_share: 0.01,
        weight: 1.0,
    };
    // At one fetch a second the share is 864 answers a day.
    assert_eq!(search(10).effective_interval(1.0), 2 * DAY);
    assert_eq!(search(8_640).effective_interval(1.0), 10 * DAY);
    assert_eq!(search(8_640).effective_interval(1e-9), 365 * DAY, "a year at most");
}

#[test]
fn what_cannot_work_is_refused_with_the_next_step() {
    let both = "queries = [\"x\"]\ntemplates = [\"https://a.test/?q={query}\"]\n";
    let faults = faults_of(&format!("[search]\n{both}"));
    assert!(faults.contains("the links of answers are not followed; write crawl.discover = "), "{faults}");
    let faults = faults_of("[search]\nqueries = [\"x\"]\n");
    assert!(faults.contains("need each other; write both or neither"), "{faults}");
    // Without a place, no address, and words that choose the host.
    for template in
        ["https://a.test/?q=", "{query}", "https://{query}.test/", "ftp://a.test/{query}", "https://a.test/#{query}"]
    {
        let faults = faults_of(&format!("[search]\ntemplates = [{template:?}]\n"));
        assert!(faults.contains("search.templates: cannot contain"), "{template}: {faults}");
    }
    let many: Vec<_> = (0..10_001).map(|number| format!("\"{number}\"")).collect();
    let many = format!("queries = [{}]\ntemplates = [\"https://a.test/{{query}}\"]\n", many.join(","));
    let faults = faults_of(&format!("[crawl]\ndiscover = \"anywhere\"\n[search]\n{many}"));
    assert!(faults.contains("10001 searches are more than the 10000 of a crawl"), "{faults}");
}

#[test]
fn searches_are_printed_as_they_are_read() {
    let text =
        "[crawl]\ndiscover = \"same-site\"\n[search]\ntemplates = [\"https://a.test/{query}\"]\nqueries = [\"x y\"]\n";
    let settings = layered(text, &[], &[("search.interval", "1d")]).unwrap();
    assert_eq!(settings.search.interval, DAY);
    assert_eq!(layered(&settings.to_toml(Secrets::Masked), &[], &[]).unwrap(), settings);
}
