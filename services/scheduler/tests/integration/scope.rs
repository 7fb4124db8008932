//! The operator's rules, blocks and limits for pages and hosts.

use crate::bench::{Bench, URL, looked, seconds, urls};
use frontier::{Frontier, FrontierRules, SeedRefusal};
use messages::{CommandKind, DetectorEvent, Link, PageLinks, PageRemoval, SchedulerEvent, Verdict, topics};
use page::{CanonicalUrl, DAY, HOUR, MINUTE};
use std::collections::BTreeSet;

const LEASE: (&str, &str) = ("policy.lease_timeout", "1h");

/// Links from a known page.
pub(crate) fn show(bench: &mut Bench, source: &str, targets: &[&str]) {
    let source_url = CanonicalUrl::parse(source).unwrap();
    let link =
        |target: &&str| Link { url: source_url.join(target).unwrap(), anchor: String::new(), rel: String::new() };
    let links = PageLinks {
        source_page_id: source_url.page_id(),
        target_site: source_url.site_key(),
        found_at: bench.now(),
        links: targets.iter().map(link).collect(),
        source_url,
    };
    bench.send("site.test", &SchedulerEvent::Links(links));
}

fn set<'a>(urls: &[&'a str]) -> BTreeSet<&'a str> {
    urls.iter().copied().collect()
}

#[test]
fn what_a_rule_denies_is_neither_taken_in_nor_fetched_when_it_is_known() {
    let rules = "[[rules]]\npages = [\"a.site.test/keep/*\"]\nmax_depth = 1\n\
                 [[rules]]\npages = [\"a.site.test/keep2*\"]\nmax_depth = 0\n\
                 [[rules]]\npages = [\"regex:/x[0-9]\"]\ncrawl = \"deny\"\n";
    let mut bench = Bench::with_rules(rules, 1, &[LEASE, ("crawl.discover", "same-host")]);
    bench.seed(URL);
    bench.seed("http://a.site.test/x1");
    show(&mut bench, URL, &["/keep/x2", "/x3", "/keep2", "/y"]);
    let expected = [URL, "http://a.site.test/keep/x2", "http://a.site.test/y"];
    assert_eq!(urls(&bench.wait(MINUTE)), set(&expected));
    assert_eq!(bench.pages(), 3);
    // The rules change while pages are known.
    let mut bench = Bench::with_rules("", 1, &[LEASE]);
    bench.seed(URL);
    bench.seed("http://a.site.test/x1");
    let denying = Bench::with_rules(rules, 1, &[LEASE]).settings;
    bench.settings.rules = denying.rules;
    bench.driver.kill(0);
    bench.start();
    bench.command(CommandKind::Refetch, "http://a.site.test/x1", 1.0);
    assert_eq!(urls(&bench.wait(MINUTE)), set(&[URL]));
    assert_eq!(bench.pages(), 2);
}

#[test]
fn a_page_of_which_the_rule_is_unknown_is_not_taken_in() {
    let rules = "[[rules]]\npages = ['regex:/((a|aa)+(?<!q))+/secret$']\ncrawl = \"deny\"\n";
    let mut bench = Bench::with_rules(rules, 1, &[LEASE, ("crawl.discover", "same-host")]);
    bench.seed(URL);
    let unknown = format!("/{}!/aaaa/secret", "a".repeat(60));
    show(&mut bench, URL, &[unknown.as_str(), "/aaaa/secret", "/aaaa/public"]);
    bench.seed(&format!("http://a.site.test{unknown}"));
    assert_eq!(urls(&bench.wait(MINUTE)), set(&[URL, "http://a.site.test/aaaa/public"]));
    assert_eq!(bench.pages(), 2);
    let mut frontier = Frontier::new(FrontierRules::new(&bench.settings, 1));
    let seed = CanonicalUrl::parse(&format!("http://a.site.test{unknown}")).unwrap();
    assert!(frontier.discover(seed.clone(), 1.0, 0, bench.now()).is_none());
    assert_eq!(frontier.refusal_of_seed(&seed), SeedRefusal::Undecided);
}

#[test]
fn a_rule_sets_the_delay_of_its_hosts_below_and_above_the_general_one() {
    let check = |rule: &str, expected_s: f64| {
        let rules = format!("[[rules]]\npages = [\"*.test\"]\n{rule}\n");
        let mut bench = Bench::with_rules(&rules, 1, &[LEASE, ("politeness.crawl_delay", "30s")]);
        (0..3).for_each(|number| bench.seed(&format!("http://a.site.test/{number}")));
        let mut requests = bench.wait(HOUR / 2);
        requests.sort_by_key(|request| request.not_before);
        let gaps: Vec<f64> = requests.windows(2).map(|pair| seconds(pair[0].not_before, pair[1].not_before)).collect();
        assert!(gaps.iter().all(|gap| (gap - expected_s).abs() < 0.5), "{rule}: {gaps:?}");
        assert_eq!(requests[0].crawl_delay_ms, Some((expected_s * 1e3) as i64));
    };
    check("crawl_delay = \"5s\"", 5.0);
    check("crawl_delay = \"90s\"", 90.0);
    check("weight = 2.0", 30.0);
}

#[test]
fn a_rule_sets_the_intervals_and_the_weight_of_its_pages() {
    let rules = "[[rules]]\npages = [\"a.site.test/often\"]\nmax_interval = \"2h\"\n\
                 [[rules]]\npages = [\"a.site.test/seldom\"]\nmin_interval = \"20h\"\nweight = 1e6\n";
    let mut bench = Bench::with_rules(
        rules,
        1,
        &[("policy.scan_interval", "1m"), ("budget.fetches_per_second", "0.05"), ("policy.max_interval", "100d")],
    );
    let (often, seldom) = ("http://a.site.test/often", "http://a.site.test/seldom");
    [URL, often, seldom].iter().for_each(|url| bench.seed(url));
    let mut counts = [0, 0];
    let until = bench.now() + DAY;
    while bench.now() < until {
        for request in bench.tick() {
            counts[0] += usize::from(request.url.as_str() == often);
            counts[1] += usize::from(request.url.as_str() == seldom);
            let verdict = if request.url.as_str() == seldom { Verdict::Major } else { Verdict::Unchanged };
            bench.answer(crate::bench::edited(looked(&request, 0.05), |it| it.judgement.verdict = verdict));
        }
    }
    assert!(counts[0] >= 10, "{counts:?}");
    assert!(counts[1] <= 2, "{counts:?}");
    let weight = bench.explained(seldom, Some(1.0)).weight;
    assert_eq!(weight, 1e6);
}

#[test]
fn a_blocked_host_is_asked_for_nothing_and_its_pages_stay_known() {
    let mut bench = Bench::new(&[LEASE, ("crawl.discover", "same-site")]);
    bench.seed(URL);
    bench.command(CommandKind::BlockHost, URL, 1.0);
    show(&mut bench, URL, &["/1", "http://b.site.test/2"]);
    assert_eq!(urls(&bench.wait(MINUTE)), set(&["http://b.site.test/2"]));
    bench.crash();
    show(&mut bench, URL, &["/1"]);
    assert!(bench.wait(MINUTE).is_empty());
    bench.command(CommandKind::UnblockHost, URL, 1.0);
    show(&mut bench, URL, &["/1"]);
    assert_eq!(urls(&bench.wait(MINUTE)), set(&[URL, "http://a.site.test/1"]));
    // Fetchers receive the stops, so that requests that are handed out already are not sent.
    let stops = bench.read(topics::HOST_STOPS);
    let reported: Vec<_> = stops.iter().map(|stop| (stop.host.as_str(), stop.stopped)).collect();
    assert_eq!(reported, [("a.site.test", true), ("a.site.test", false)]);
    bench.command(CommandKind::BlockHost, URL, 1.0);
    bench.command(CommandKind::PauseHost, URL, 1.0);
    bench.command(CommandKind::UnblockHost, URL, 1.0);
    assert!(bench.read(topics::HOST_STOPS).pop().unwrap().stopped, "it is paused still");
}

#[test]
fn at_the_limit_of_a_host_the_page_worth_least_makes_room_and_seeds_stay() {
    let rules = "[[rules]]\npages = [\"a.site.test/good/*\"]\nweight = 3.0\n";
    let overrides = [LEASE, ("crawl.discover", "same-site"), ("crawl.max_pages_per_host", "3")];
    let mut bench = Bench::with_rules(rules, 1, &overrides);
    bench.seed(URL);
    show(&mut bench, URL, &["/1", "/2", "/3", "http://b.site.test/4"]);
    assert_eq!(bench.pages(), 4, "the third has no room");
    show(&mut bench, URL, &["/good/5", "/good/6", "/good/7"]);
    assert_eq!(bench.pages(), 4);
    let known = |bench: &Bench, url: &str| bench.page(url).is_some();
    assert!(known(&bench, URL) && known(&bench, "http://a.site.test/good/6"));
    assert!(!known(&bench, "http://a.site.test/1") && !known(&bench, "http://a.site.test/good/7"));
    bench.seed("http://a.site.test/seeded");
    assert!(known(&bench, "http://a.site.test/seeded"), "a seed is always taken");
    bench.crash();
    assert_eq!(bench.pages(), 5);
    show(&mut bench, URL, &["/good/8"]);
    assert_eq!(bench.pages(), 5);
}

#[test]
fn a_page_makes_no_room_while_an_answer_about_it_may_come() {
    let rules = "[[rules]]\npages = [\"a.site.test/good/*\"]\nweight = 3.0\n";
    let overrides = [LEASE, ("crawl.discover", "same-site"), ("crawl.max_pages_per_host", "2")];
    let mut bench = Bench::with_rules(rules, 1, &overrides);
    let (least, better) = ("http://a.site.test/1", "http://a.site.test/good/2");
    bench.seed(URL);
    show(&mut bench, URL, &["/1"]);
    let requests = bench.wait(MINUTE);
    let request = requests.iter().find(|request| request.url.as_str() == least).unwrap();
    let may_go = |bench: &mut Bench| {
        show(bench, URL, &["/good/2"]);
        let known = (bench.page(least).is_some(), bench.page(better).is_some());
        assert_eq!(removals(bench).len(), usize::from(!known.0));
        known == (false, true)
    };
    assert!(!may_go(&mut bench), "a request is under way");
    bench.crash();
    assert!(!may_go(&mut bench), "it still is");
    bench.command(CommandKind::PauseHost, URL, 1.0);
    bench.wait(2 * HOUR);
    assert_eq!(bench.page(least).unwrap().request.lease_until(), None);
    assert!(!may_go(&mut bench), "its lease is over, and the answer may come late");
    bench.answer(looked(request, 1.0));
    assert!(may_go(&mut bench));

    // It comes back as a new page, whose answers count.
    bench.command(CommandKind::ResumeHost, URL, 1.0);
    bench.seed(least);
    let requests = bench.wait(MINUTE);
    let again = requests.iter().find(|request| request.url.as_str() == least).unwrap();
    assert!(again.attempt > request.attempt);
    bench.answer(looked(again, 1.0));
    assert_eq!(bench.page(least).unwrap().fetches, 1);
}

/// Removals sent to the detector.
fn removals(bench: &Bench) -> Vec<PageRemoval> {
    let removal = |event| if let DetectorEvent::Removal(removal) = event { Some(removal) } else { None };
    bench.read(topics::FETCH_RESULTS).into_iter().filter_map(removal).collect()
}
