//! A list of seeds that leaves out pages which are known.

use crate::bench::{Bench, ELSEWHERE, SIBLING, URL, looked, urls};
use crate::scope::show;
use messages::CommandKind;
use page::{CanonicalUrl, DAY, MINUTE};
use scheduler::ListedSeeds;
use std::collections::BTreeSet;

const FOUND: &str = "http://a.site.test/found";

/// Starts the crawl anew, with this list.
fn start_with(bench: &mut Bench, urls: Option<&[&str]>, is_all: bool) {
    let ids = |urls: &[&str]| ListedSeeds::new(urls.iter().map(|url| id(url)), is_all);
    bench.seeds = urls.map(ids);
    bench.crash();
    bench.pass(MINUTE);
}

fn id(url: &str) -> page::PageId {
    CanonicalUrl::parse(url).unwrap().page_id()
}

/// The pages that are asked for in a day. Each request is answered.
fn asked(bench: &mut Bench) -> BTreeSet<String> {
    let until = bench.now() + DAY;
    let mut asked = BTreeSet::new();
    while bench.now() < until {
        for request in bench.tick() {
            asked.insert(request.url.to_string());
            bench.answer(looked(&request, 5.0));
        }
    }
    asked
}

fn unlisted(bench: &Bench) -> f64 {
    bench.driver.status(0).figures[metrics::scheduler::UNLISTED_SEEDS]
}

#[test]
fn seeds_that_the_list_leaves_out_are_counted_and_only_asked_to_are_they_left() {
    for policy in ["live", "proportional"] {
        let overrides = [("policy.name", policy), ("policy.scan_interval", "10m"), ("crawl.discover", "same-host")];
        let mut bench = Bench::new(&overrides);
        [URL, SIBLING, ELSEWHERE].iter().for_each(|url| bench.seed(url));
        show(&mut bench, URL, &["/found"]);
        let all: BTreeSet<_> = [URL, SIBLING, ELSEWHERE, FOUND].map(str::to_owned).into();
        assert_eq!(asked(&mut bench), all, "{policy}");
        assert_eq!(unlisted(&bench), 0.0, "there is no list");

        start_with(&mut bench, Some(&[URL]), false);
        assert_eq!(unlisted(&bench), 2.0, "a page that a link led to is no seed");
        assert_eq!(asked(&mut bench), all, "{policy}");

        start_with(&mut bench, Some(&[URL]), true);
        assert_eq!(unlisted(&bench), 2.0);
        assert_eq!(asked(&mut bench), [URL.to_owned()].into(), "{policy}");
        assert_eq!(bench.pages(), 4, "the others stay known");
        let explained = bench.explained(SIBLING, Some(1.0));
        assert_eq!((&*explained.state, &explained.due_at), ("excluded", &None));
        assert!(explained.answer.starts_with("Not fetched: it is not in the list of seeds"), "{}", explained.answer);

        // An operator forgets one, and another comes back into the list.
        bench.command(CommandKind::Forget, ELSEWHERE, 1.0);
        bench.tick();
        assert_eq!(unlisted(&bench), 1.0);
        start_with(&mut bench, Some(&[URL, SIBLING]), true);
        assert_eq!(unlisted(&bench), 0.0);
        assert_eq!(asked(&mut bench), [URL, SIBLING].map(str::to_owned).into(), "{policy}");
        start_with(&mut bench, None, false);
        assert_eq!(asked(&mut bench), [URL, SIBLING, FOUND].map(str::to_owned).into(), "{policy}");
    }
}

#[test]
fn where_only_the_list_is_fetched_nothing_else_is_taken_in_and_nothing_is_asked_for_by_command() {
    let mut bench = Bench::new(&[("crawl.discover", "same-host"), ("policy.lease_timeout", "1h")]);
    [URL, SIBLING].iter().for_each(|url| bench.seed(url));
    start_with(&mut bench, Some(&[URL]), true);
    bench.seed(ELSEWHERE);
    show(&mut bench, URL, &["/found"]);
    bench.command(CommandKind::Refetch, SIBLING, 1.0);
    assert_eq!(urls(&bench.wait(MINUTE)), BTreeSet::from([URL]));
    assert_eq!(bench.pages(), 2);
    assert_eq!(bench.driver.status(0).figures[metrics::scheduler::REFUSED_SEEDS], 1.0, "the log says why");
}
