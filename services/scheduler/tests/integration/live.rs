//! Scheduler and estimator together: what one page's look does to its siblings, what every policy does with pages, what
//! hints and audits come to. The tests play the web.

use crate::bench::{Bench, edited, looked, on_host};
use messages::{
    ChangeHint, Encoded, FetchOutcome, FetchReason, FetchRequest, HintKind, Look, LookJudgement, PageObservation,
    SchedulerEvent, Verdict, topics,
};
use page::{CanonicalUrl, DAY, HOUR, MINUTE, Timestamp};
use policies::PolicyKind;
use scheduler::explain::Explanation;
use std::collections::{BTreeMap, BTreeSet};
use stream_testing::MemoryStores;

const SITES: usize = 5;
const PAGES: usize = 30;

fn page_of(site: usize, page: usize) -> String {
    format!("http://www.site-{site}.test/docs/{page}.html")
}

/// Five sites of thirty pages; estimator and scheduler at work.
struct World {
    bench: Bench,
    last_look: BTreeMap<String, Timestamp>,
}

impl World {
    fn new(policy: &str, estimator: &str) -> Self {
        let overrides = [
            ("policy.name", policy),
            ("estimator.name", estimator),
            ("policy.scan_interval", "30m"),
            ("budget.fetches_per_second", "0.00023148"), // 20 a day
            ("budget.burst", "2h"),
        ];
        let mut bench = Bench::new(&overrides);
        bench.driver.add(estimator::stage(&bench.settings, &bench.names), "estimator");
        // Site by site, pages that are looked at in turn would come together by that alone.
        for page in 0..PAGES {
            (0..SITES).for_each(|site| bench.seed(&page_of(site, page)));
        }
        Self { bench, last_look: BTreeMap::new() }
    }

    /// One tick, with every request answered as the web would: `changed` says whether a page changed after a moment.
    fn tick(&mut self, changed: &dyn Fn(&str, Timestamp) -> bool) -> Vec<(FetchRequest, Verdict)> {
        let requests = self.bench.tick();
        requests.into_iter().map(|request| (request.clone(), self.answer(&request, changed))).collect()
    }

    fn answer(&mut self, request: &FetchRequest, changed: &dyn Fn(&str, Timestamp) -> bool) -> Verdict {
        let url = request.url.as_str();
        let previous = self.last_look.insert(url.to_owned(), request.not_before);
        let verdict = match previous {
            None => Verdict::First,
            Some(last) if changed(url, last) => Verdict::Major,
            Some(_) => Verdict::Unchanged,
        };
        let look = Look::new(request.clone(), FetchOutcome::Fetched, request.not_before);
        let observation = PageObservation {
            look: Look { status: Some(200), ..look },
            judgement: LookJudgement { previous_fetched_at: previous, ..LookJudgement::new(verdict) },
        };
        let topic = self.bench.names.topic(topics::PAGE_OBSERVATIONS);
        self.bench.driver.send(&topic, request.site_key.as_str().as_bytes(), observation.encode()).unwrap();
        self.bench.driver.run_until_idle().unwrap();
        verdict
    }

    /// Lives on until a moment; every look with its time.
    fn live_until(
        &mut self,
        until: Timestamp,
        changed: &dyn Fn(&str, Timestamp) -> bool,
    ) -> Vec<(FetchRequest, Verdict)> {
        let mut looks = Vec::new();
        while self.bench.now() < until {
            looks.extend(self.tick(changed));
        }
        looks
    }
}

/// A day on which every page of site 0 changes, after forty days on which nothing did. How many of them were seen in
/// the three days after the first one was, and of all looks in the day after, how many went to the site.
fn swept(policy: &str, estimator: &str) -> (usize, f64) {
    let mut world = World::new(policy, estimator);
    let sweep_at = world.bench.now() + 40 * DAY;
    let changed = |url: &str, last: Timestamp| url.starts_with("http://www.site-0.") && last < sweep_at;
    world.live_until(sweep_at, &|_, _| false);
    let first_at = loop {
        let looks = world.tick(&changed);
        assert!(world.bench.now() < sweep_at + 20 * DAY, "{policy}: the sweep was never noticed");
        if looks.iter().any(|(_, verdict)| *verdict == Verdict::Major) {
            break world.bench.now();
        }
    };
    let day = world.live_until(first_at + DAY, &changed);
    let on_site = day.iter().filter(|(request, _)| request.url.as_str().contains("site-0.")).count();
    let rest = world.live_until(first_at + 3 * DAY, &changed);
    let seen = day.iter().chain(&rest).filter(|(_, verdict)| *verdict == Verdict::Major).count();
    (seen, on_site as f64 / day.len() as f64)
}

#[test]
fn one_sibling_seen_changed_brings_the_others_next() {
    let (seen, share) = swept("live", "sweeps");
    assert!(seen >= 24 && share > 0.7, "{seen} of 29 in three days; {share} of the first day's looks");
    // By each page's own looks alone.
    let (seen_without, share_without) = swept("crawl-value", "gamma");
    assert!(seen_without < seen / 2 && share_without < 0.5, "{seen_without} without siblings, {share_without}");
}

#[test]
fn an_explanation_shows_sweeps_and_is_the_same_after_everything_but_the_log_was_lost() {
    let mut world = World::new("live", "sweeps");
    let sweep_at = world.bench.now() + 30 * DAY;
    let changed = |url: &str, last: Timestamp| url.starts_with("http://www.site-0.") && last < sweep_at;
    world.live_until(sweep_at, &|_, _| false);
    let mut seen = 0;
    while seen < 4 {
        seen += world.tick(&changed).iter().filter(|(_, verdict)| *verdict == Verdict::Major).count();
    }
    let last_look = world.last_look;
    let bench = &mut world.bench;
    // A page of the site without a look since.
    let stale = (0..PAGES).map(|page| page_of(0, page)).find(|url| last_look[url] < sweep_at).unwrap();
    let elsewhere = page_of(1, 0);
    let before = [&stale, &elsewhere].map(|url| bench.explained(url, Some(1.0)));
    let [swept, other] = &before;
    assert!(swept.crawl_value > other.crawl_value, "{before:?}");
    assert!(!swept.sweep_hazards.is_empty() && swept.trust.is_some_and(|trust| trust > 0.0 && trust < 1.0));
    let hazard = |explanation: &Explanation| explanation.sweep_hazards.iter().map(|sweep| sweep.hazard).sum::<f64>();
    assert!(hazard(swept) > 10.0 * hazard(other), "{before:?}");
    assert!(swept.expected_freshness < other.expected_freshness);
    assert!(swept.reasons.iter().any(|reason| reason.contains("have changed since")), "{:?}", swept.reasons);
    let rate = other.change_rate_per_day;
    assert!(rate.p05 < rate.mean && rate.mean < rate.p95);
    // Due when its value reaches the price: at once for a low one, later for a higher one.
    let due = |price| bench.explained(&elsewhere, Some(price)).due_at.unwrap();
    assert_eq!(due(1e-9), bench.now().to_string());
    assert!(due(1.5 * other.crawl_value.unwrap()) > due(1e-9));
    assert_eq!(bench.explained(&elsewhere, None).price, None);

    bench.driver.kill(0);
    bench.driver.kill(0);
    bench.driver.stores = MemoryStores::default();
    bench.start();
    let after = [&stale, &elsewhere].map(|url| bench.explained(url, Some(1.0)));
    let json = |explanations: &[Explanation; 2]| {
        explanations
            .each_ref()
            .map(|explanation| format!("{:?}{:?}", explanation.crawl_value, explanation.sweep_hazards))
    };
    assert_eq!(json(&after), json(&before));
}

#[test]
fn every_policy_asks_for_every_page_and_loses_none() {
    for (name, policy) in PolicyKind::for_operators() {
        let overrides = [
            ("policy.name", name),
            ("policy.scan_interval", "30m"),
            ("policy.lease_timeout", "1h"),
            ("budget.fetches_per_second", "0.0005"),
            ("budget.burst", "2h"),
            ("policy.audit_share", "0.05"),
        ];
        let mut bench = Bench::new(&overrides);
        (0..24).for_each(|page| bench.seed(&format!("{}{page}", on_host(page % 6))));
        let rate = |url: &str| 0.02 * url.len() as f64;
        let mut visits: BTreeMap<String, u64> = BTreeMap::new();
        let (mut audits, mut requests) = (0, 0);
        for round in 0..(12 * 48) {
            for request in bench.tick() {
                requests += 1;
                audits += u64::from(request.reason == FetchReason::Audit);
                *visits.entry(request.url.as_str().to_owned()).or_default() += 1;
                let verdict = if requests % 3 == 0 { Verdict::Minor } else { Verdict::Unchanged };
                // One in ten is never answered, one in ten fails.
                match requests % 10 {
                    0 => {}
                    1 => bench.answer(crate::bench::failed(&request, FetchOutcome::TimedOut, None)),
                    _ => bench.answer(edited(looked(&request, rate(request.url.as_str())), |it| {
                        it.judgement.verdict = verdict
                    })),
                }
            }
            if round == 5 * 48 {
                bench.crash();
            }
        }
        assert_eq!(visits.len(), 24, "{name}: {visits:?}");
        assert_eq!(bench.pages(), 24, "{name}");
        assert!(audits > 0, "{name}");
        let budget = 0.0005 * 86_400.0 * 12.0;
        assert!((requests as f64) < budget + 8.0, "{name}: {requests} of {budget}");
        let spends_all = matches!(
            policy,
            PolicyKind::Live | PolicyKind::CrawlValue | PolicyKind::Uniform | PolicyKind::Proportional
        );
        assert!(!spends_all || requests as f64 > 0.9 * budget, "{name}: {requests} of {budget}");
    }
}

#[test]
fn what_the_budget_has_earned_is_spent_whatever_the_price_says() {
    for policy in ["live", "crawl-value", "uniform"] {
        let overrides = [
            ("policy.name", policy),
            ("policy.scan_interval", "1m"),
            ("budget.fetches_per_second", "0.01"),
            ("budget.burst", "10m"),
        ];
        let mut bench = Bench::new(&overrides);
        (0..10).for_each(|host| bench.seed(&on_host(host)));
        // Pages that hardly change, fetched a moment ago: nothing is worth much.
        let visits: u64 = bench.live(6 * HOUR, |_| 0.001).values().sum();
        let budget = 0.01 * 6.0 * 3_600.0;
        assert!((0.95..1.01).contains(&(visits as f64 / budget)), "{policy}: {visits} of {budget}");
    }
}

pub(crate) fn hint(bench: &mut Bench, url: &str, kind: HintKind) {
    let url = CanonicalUrl::parse(url).unwrap();
    let hint = ChangeHint {
        page_id: url.page_id(),
        kind,
        hinted_at: bench.now(),
        changed_at: Some(bench.now()),
        source: "http://www.site-1.test/sitemap.xml".to_owned(),
        url: url.clone(),
    };
    bench.send(url.site_key().as_str(), &SchedulerEvent::Hint(hint));
}

#[test]
fn a_hint_raises_what_a_look_is_worth_by_as_much_as_such_hints_were_right() {
    let overrides = [("policy.scan_interval", "30m"), ("budget.fetches_per_second", "0.0001"), ("budget.burst", "2h")];
    let mut bench = Bench::new(&overrides);
    (0..20).for_each(|host| bench.seed(&on_host(host)));
    bench.live(10 * DAY, |_| 0.05);
    let value = |bench: &Bench, url: &str| bench.explained(url, Some(1.0)).crawl_value.unwrap();
    let url = on_host(3);
    let before = value(&bench, &url);
    hint(&mut bench, &url, HintKind::Sitemap);
    let unproven = value(&bench, &url);
    assert!(unproven > before, "{unproven} after {before}");
    hint(&mut bench, &url, HintKind::Sitemap);
    let twice = value(&bench, &url);
    assert!((twice / unproven - 1.0).abs() < 0.01, "saying it twice does not make it truer: {twice} and {unproven}");
    hint(&mut bench, &url, HintKind::Ping);
    assert!(value(&bench, &url) > 3.0 * unproven);
    // What is certain comes next.
    let next = bench.next(DAY);
    assert_eq!(next.url.as_str(), url);
    bench.answer(edited(looked(&next, 0.05), |it| it.judgement.verdict = Verdict::Minor));
    let page = bench.page(&url).unwrap();
    assert_eq!((page.hinted, page.hint_hazard), (0, 0.0), "the look has answered them");
    let stale = ChangeHint {
        page_id: next.page_id,
        kind: HintKind::Feed,
        hinted_at: bench.now(),
        changed_at: Some(next.not_before - HOUR),
        source: String::new(),
        url: next.url.clone(),
    };
    bench.send(next.site_key.as_str(), &SchedulerEvent::Hint(stale));
    assert_eq!(bench.page(&url).unwrap().hinted, 0, "what happened before the last look is no news");
}

#[test]
fn hints_of_a_host_that_were_right_count_more_than_those_of_one_that_were_wrong() {
    let overrides = [("policy.scan_interval", "1m"), ("budget.fetches_per_second", "1")];
    let mut bench = Bench::new(&overrides);
    let (honest, liar) = (on_host(1), on_host(2));
    [&honest, &liar].into_iter().for_each(|url| bench.seed(url));
    for round in 0..12 {
        for request in bench.wait(20 * MINUTE) {
            let verdict = if round > 0 && request.url.as_str() == honest { Verdict::Minor } else { Verdict::Unchanged };
            bench.answer(edited(looked(&request, 5.0), |it| it.judgement.verdict = verdict));
        }
        hint(&mut bench, &honest, HintKind::Sitemap);
        hint(&mut bench, &liar, HintKind::Sitemap);
    }
    let hazard = |url: &str| bench.page(url).unwrap().hint_hazard;
    assert!(hazard(&honest) > 4.0 * hazard(&liar), "{} and {}", hazard(&honest), hazard(&liar));
}

#[test]
fn audits_are_a_share_of_the_budget_spread_over_all_pages_and_measure_freshness() {
    let overrides = [
        ("policy.audit_share", "0.2"),
        ("policy.scan_interval", "30m"),
        ("budget.fetches_per_second", "0.001"),
        ("budget.burst", "2h"),
    ];
    let mut bench = Bench::new(&overrides);
    (0..30).for_each(|host| bench.seed(&on_host(host)));
    let (mut looks, mut audited) = (0, Vec::new());
    let until = bench.now() + 40 * DAY;
    while bench.now() < until {
        for request in bench.tick() {
            looks += 1;
            let audit = request.reason == FetchReason::Audit;
            // Random looks find three copies in four current, the others none.
            let stale = !audit || audited.len() % 4 == 0;
            if audit {
                audited.push(request.url.clone());
            }
            let verdict = if stale { Verdict::Minor } else { Verdict::Unchanged };
            bench.answer(edited(looked(&request, 1.0), |it| it.judgement.verdict = verdict));
        }
    }
    let share = audited.len() as f64 / f64::from(looks);
    assert!((0.17..0.21).contains(&share), "{share}");
    let distinct: BTreeSet<_> = audited.iter().collect();
    assert_eq!(distinct.len(), 30);
    let (audits, fresh) = (0..30)
        .map(|host| bench.page(&on_host(host)).unwrap())
        .fold((0, 0), |sum, page| (sum.0 + page.audits, sum.1 + page.audits_fresh));
    assert!((audits - audited.len() as i64).abs() <= 1, "{audits} of {}", audited.len());
    let freshness = fresh as f64 / audits as f64;
    assert!((freshness - 0.75).abs() < 0.01, "{freshness}");
    // Each audit keeps what was expected of it. A page that changes once a day and is looked at every `interval` days is
    // current with this probability at a random time.
    let expected: f64 = (0..30).map(|host| bench.page(&on_host(host)).unwrap().audits_expected).sum();
    let interval = 30.0 / (0.001 * 86_400.0);
    let probability = -f64::exp_m1(-interval) / interval;
    assert!((expected / audits as f64 - probability).abs() < 0.05, "{expected} of {audits}, not {probability}");
    let most = |url: &CanonicalUrl| audited.iter().filter(|other| *other == url).count();
    let most = audited.iter().map(most).max().unwrap();
    assert!(most < 4 * audited.len() / 30, "{most} of {} on one page", audited.len());
}
