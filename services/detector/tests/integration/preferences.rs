//! Preferences of owners: kept with the page, renewed at each look, and in what is published of it.

use crate::bench::{Bench, FIRST, URL, html, one_sentence_changed};
use messages::{Encoded, FetchOutcome, FetchResult, PageContent, topics};
use page::CanonicalUrl;

/// The page with elements in its head.
fn with_head(page: &str, head: &str) -> String {
    page.replace("<head>", &format!("<head>{head}"))
}

struct Owner {
    bench: Bench,
}

impl Owner {
    fn new() -> Self {
        Self { bench: Bench::new(&[("crawl.user_agent", "OurBot/1.0")]) }
    }

    /// An answer with these statements in robots.txt and the headers. Returns the preferences of the page's stored copy after it,
    /// and those of the change, if there is one.
    fn look(
        &mut self,
        outcome: FetchOutcome,
        body: Option<&str>,
        fetched: &[&str],
        edit: impl FnOnce(&mut FetchResult),
    ) -> (String, Option<String>) {
        let mut result = self.bench.answer(outcome, body);
        result.preferences = fetched.iter().map(|statement| (*statement).to_owned()).collect();
        edit(&mut result);
        let seen = self.bench.see_result(&result);
        (self.copy().preferences.join(" "), seen.change.map(|change| change.preferences.join(" ")))
    }

    fn copy(&self) -> PageContent {
        let records = self.bench.driver.contents(&self.bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
        let id = CanonicalUrl::parse(URL).unwrap().page_id();
        let last = records.iter().rfind(|record| record.key == id.0).unwrap();
        PageContent::decode(last.value.as_deref().unwrap()).unwrap()
    }
}

const HEADER: &[&str] = &["index=n@x-robots-tag"];
const ROBOTS: &[&str] = &["train-ai=n@robots.txt:content-usage"];

#[test]
fn a_new_page_has_what_robots_txt_the_headers_and_its_head_say() {
    let mut owner = Owner::new();
    let head = "<meta name=ourbot content=nosnippet><meta name=otherbot content=noarchive><meta name=tdm-reservation content=1>";
    let page = with_head(&html(FIRST), head);
    let (copy, change) = owner.look(FetchOutcome::Fetched, Some(&page), &[HEADER, ROBOTS].concat(), |_| {});
    let all =
        "index=n@x-robots-tag snippet=n@meta:own-name train-ai=n@robots.txt:content-usage tdm=n@meta:tdm-reservation";
    assert_eq!((copy.as_str(), change.as_deref()), (all, Some(all)));
}

#[test]
fn a_robots_txt_that_changes_binds_from_the_next_look_whatever_comes_of_it() {
    let mut owner = Owner::new();
    let page = with_head(&html(FIRST), "<meta name=robots content=nosnippet>");
    let meta = "snippet=n@meta:robots";
    let (copy, _) = owner.look(FetchOutcome::Fetched, Some(&page), &[], |_| {});
    assert_eq!(copy, meta);
    let with_robots = "snippet=n@meta:robots train-ai=n@robots.txt:content-usage";
    let (copy, change) = owner.look(FetchOutcome::NotModified, None, ROBOTS, |result| result.look.status = Some(304));
    assert_eq!((copy.as_str(), change), (with_robots, None), "the copy has it, though the page is the same");
    assert_eq!(owner.copy().version, 1);
    let (copy, _) = owner.look(FetchOutcome::SameContent, None, &[], |_| {});
    assert_eq!(copy, meta, "and no longer when it is gone from robots.txt");
    let (copy, _) = owner.look(FetchOutcome::ServerError, None, &[], |result| result.look.status = Some(500));
    assert_eq!(copy, meta, "a failure says nothing");
    let (copy, change) = owner.look(FetchOutcome::Fetched, Some(&one_sentence_changed()), ROBOTS, |_| {});
    let robots = "train-ai=n@robots.txt:content-usage";
    assert_eq!((copy.as_str(), change.as_deref()), (robots, Some(robots)), "the new version has no element");
}

#[test]
fn an_element_for_robots_counts_also_where_nothing_else_changes() {
    let mut owner = Owner::new();
    owner.look(FetchOutcome::Fetched, Some(&html(FIRST)), &[], |_| {});
    let page = with_head(&html(FIRST), "<meta name=robots content=noai>");
    let (copy, _) = owner.look(FetchOutcome::Fetched, Some(&page), &[], |_| {});
    assert_eq!(copy, "train-ai=n@meta:robots");
}

#[test]
fn a_304_may_leave_out_headers_that_still_hold_and_a_200_takes_them_back() {
    let mut owner = Owner::new();
    owner.look(FetchOutcome::Fetched, Some(&html(FIRST)), HEADER, |_| {});
    let is_304 = |result: &mut FetchResult| result.look.status = Some(304);
    assert_eq!(owner.look(FetchOutcome::NotModified, None, &[], is_304).0, HEADER[0]);
    let other = "archive=n@robots-tag";
    assert_eq!(owner.look(FetchOutcome::NotModified, None, &[other], is_304).0, other);
    assert_eq!(owner.look(FetchOutcome::SameContent, None, &[], |_| {}).0, "");
}
