//! Effects of looks at some pages of a site on the others, for policies that go by a page's whole belief.

use crate::bench::{Bench, edited, looked};
use messages::{ChangeEstimate, FetchRequest, SchedulerEvent, SweepForecast};
use page::{CanonicalUrl, DAY, HOUR};
use sweeps::{CellChange, CellPriors, PagePlace};

const PAGES: usize = 10;

/// A page whose own looks have shown next to nothing.
fn hardly_known(request: &FetchRequest) -> ChangeEstimate {
    edited(looked(request, 0.004), |it| {
        it.belief.alpha = 0.4;
        it.belief.beta_days = 101.0;
        it.belief.own_alpha = 0.0;
        it.belief.own_beta_days = 1.0;
        it.belief.plain_alpha = 0.0;
        it.belief.plain_beta_days = 1.0;
    })
}

fn is_news(request: &FetchRequest) -> bool {
    request.url.as_str().contains("/news/")
}

/// No pages yet; five fetches a day.
fn without_pages(policy: &str, estimator: &str) -> Bench {
    Bench::new(&[
        ("policy.name", policy),
        ("estimator.name", estimator),
        ("policy.scan_interval", "30m"),
        ("budget.fetches_per_second", "0.000057870"),
        ("budget.burst", "2h"),
    ])
}

/// Ten pages of news and ten documents of one site.
fn seed_pages(bench: &mut Bench) {
    for page in 0..PAGES {
        bench.seed(&format!("http://site.test/news/{page}.html"));
        bench.seed(&format!("http://site.test/docs/{page}.html"));
    }
}

/// All pages have been fetched once.
fn bench(policy: &str, estimator: &str) -> Bench {
    let mut bench = without_pages(policy, estimator);
    seed_pages(&mut bench);
    let mut answered = 0;
    while answered < 2 * PAGES {
        for request in bench.tick() {
            bench.answer(hardly_known(&request));
            answered += 1;
        }
    }
    bench
}

fn report(bench: &mut Bench, news_beta_days: f64, docs_beta_days: f64) {
    let cell = |path: &str, beta_days: f64| {
        let place = PagePlace::of("site.test", "site.test", path);
        let priors = CellPriors { own_beta_days: beta_days, plain_beta_days: beta_days };
        CellChange { cell: place.cell, site: place.site, priors }
    };
    let site_key = CanonicalUrl::parse("http://site.test/").unwrap().site_key();
    let cells = vec![cell("/news/0.html", news_beta_days), cell("/docs/0.html", docs_beta_days)];
    let forecast = SweepForecast { cells, ..SweepForecast::new(site_key, bench.now()) };
    bench.send("site.test", &SchedulerEvent::Sweeps(forecast));
}

/// How many of the requests of some days are for news, and for documents.
fn requests(bench: &mut Bench, days: u32) -> (usize, usize) {
    let until = bench.now() + days * DAY;
    let (mut news, mut docs) = (0, 0);
    while bench.now() < until {
        for request in bench.tick() {
            bench.answer(hardly_known(&request));
            if is_news(&request) { news += 1 } else { docs += 1 }
        }
    }
    (news, docs)
}

#[test]
fn news_of_a_cell_reaches_its_pages_without_a_look_at_them() {
    for (policy, estimator) in
        [("crawl-value", "gamma-grouped"), ("crawl-value", "sweeps"), ("optimal-freshness", "gamma-grouped")]
    {
        let (news, docs) = requests(&mut bench(policy, estimator), 8);
        assert!(news.abs_diff(docs) <= 12, "{policy}, nothing told: {news} and {docs}");
        for crash in [false, true] {
            let mut bench = bench(policy, estimator);
            report(&mut bench, 2.0, 1e5);
            if crash {
                bench.crash();
            }
            let (news, docs) = requests(&mut bench, 8);
            assert!(news >= 30 && docs <= 5, "{policy}, {estimator}, crash {crash}: {news} and {docs}");
            // The other way round, when the last forecast says so.
            report(&mut bench, 1e5, 2.0);
            bench.wait(HOUR);
            let (news, docs) = requests(&mut bench, 8);
            assert!(docs >= 30 && news <= 5, "{policy}, {estimator}, crash {crash}, turned: {news} and {docs}");
        }
    }
}

/// Pages without looks take the prior of their cell. Those that change seldom are fetched first, because their copies stay
/// current for longer.
#[test]
fn pages_never_fetched_are_believed_to_be_like_those_of_their_cell() {
    for (policy, estimator) in [("live", "sweeps"), ("crawl-value", "gamma-grouped")] {
        for (news_beta_days, docs_beta_days) in [(0.5, 1e3), (1e3, 0.5)] {
            let mut bench = without_pages(policy, estimator);
            report(&mut bench, news_beta_days, docs_beta_days);
            seed_pages(&mut bench);
            let mut first = Vec::new();
            while first.len() < PAGES {
                for request in bench.tick() {
                    first.push(is_news(&request));
                    bench.answer(hardly_known(&request));
                }
            }
            let news = first.iter().take(PAGES).filter(|is_news| **is_news).count();
            let expected = if news_beta_days < docs_beta_days { 0..=1 } else { PAGES - 1..=PAGES };
            assert!(expected.contains(&news), "{policy}, beta {news_beta_days} and {docs_beta_days}: {first:?}");
        }
    }
}

#[test]
fn an_estimator_that_reports_nothing_of_siblings_is_not_overruled() {
    // Priors that another estimator left behind in the store.
    let mut bench = bench("crawl-value", "gamma");
    report(&mut bench, 2.0, 1e5);
    let (news, docs) = requests(&mut bench, 8);
    assert!(news.abs_diff(docs) <= 12, "{news} and {docs}");
}
