//! Which young pages became important: on the model's own web, on a web where the fit and the cited are cited, and on a real manual with
//! the links of all its versions, where the corpora are at hand. `-- --nocapture young` prints the figures.

use archives::Archive;
use page::CanonicalUrl;
use simulate::grow::web::{GrowingWeb, PageKind, WebOptions};
use simulate::young_pages::{CohortRules, LinkHistory, Order, OrderScore, UsersWeb, best_visit_rate, judge};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

/// Chooses the visit rate on the earlier half of the cohorts, and judges on the later half.
fn scores(
    name: &str,
    histories: &[LinkHistory],
    cohorts: &[f64],
    rules: &CohortRules,
) -> [OrderScore; Order::ALL.len()] {
    let (earlier, later) = cohorts.split_at(cohorts.len() / 2);
    let rate = best_visit_rate(histories, earlier, rules);
    let scores = judge(histories, later, rules, rate);
    println!("{name}: {} pages, {} young ones, r {rate}", histories.len(), scores[0].pages);
    for (order, score) in Order::ALL.into_iter().zip(&scores) {
        println!(
            "  {:<24} Spearman {:.3}, Kendall {:.3}, of the best tenth {:.2}",
            order.name(),
            score.spearman,
            score.kendall,
            score.top_tenth_share
        );
    }
    scores
}

#[test]
fn young_pages_where_users_link_what_they_visit() {
    let web = UsersWeb { users: 1_000, births_per_day: 5, days: 700, visits_per_user_day: 0.05, found_per_day: 0.3 };
    let rules = CohortRules { young_days: 120.0, horizon_days: 180.0, look_every_days: 7.0 };
    let cohorts = [200.0, 260.0, 320.0, 380.0, 440.0, 500.0];
    let [popularity, growth, quality, _] = scores("users", &web.histories(1), &cohorts, &rules);
    assert!(popularity.pages > 1_000);
    assert!(quality.spearman > popularity.spearman + 0.05, "{quality:?} {popularity:?}");
    // Its model is not needed for that: in-links a day say as much.
    assert!(growth.spearman > quality.spearman - 0.03, "{quality:?} {growth:?}");
}

#[test]
fn young_pages_where_the_fit_and_the_cited_are_cited() {
    let options = WebOptions { citations: 5, ..WebOptions::default() };
    let web = GrowingWeb::draw(&options, 600.0, 1).expect("the options are valid");
    let articles = web.pages().iter().zip(web.cited_days()).filter(|(page, _)| page.kind == PageKind::Article);
    let history = |(page, days): (&simulate::grow::web::WebPage, Vec<f64>)| {
        LinkHistory::of_events(page.born_days, f64::INFINITY, days.into_iter().map(|days| (days, 1)).collect())
    };
    let histories: Vec<LinkHistory> = articles.map(history).collect();
    let rules = CohortRules { young_days: 120.0, horizon_days: 180.0, look_every_days: 7.0 };
    let cohorts = [180.0, 240.0, 300.0, 360.0, 420.0];
    let [popularity, _, quality, _] = scores("citations", &histories, &cohorts, &rules);
    assert!(popularity.pages > 1_000 && popularity.spearman > 0.3, "{popularity:?}");
    assert!(quality.spearman < popularity.spearman + 0.05, "{quality:?} {popularity:?}");
}

const DAY: f64 = 86_400.0;
const MONTH_S: i64 = 30 * 86_400;

/// The in-links of each page of a manual from its other pages, over all its versions.
fn manual(content: &Path) -> Vec<LinkHistory> {
    let mut archive = Archive::open(content, Some("git-htmldocs")).expect("it can be read");
    let pages = archive.pages().to_vec();
    let address = |address: &str| CanonicalUrl::parse(address).expect("an address of the archive");
    let numbers: HashMap<CanonicalUrl, usize> =
        pages.iter().enumerate().map(|(number, page)| (address(&page.address), number)).collect();
    let by_id: HashMap<u32, usize> = pages.iter().enumerate().map(|(number, page)| (page.page_id, number)).collect();
    let months = |page: &archives::ArchivedPage| -> Vec<i64> {
        let there = page.history().filter(|(_, is_there)| *is_there);
        there.map(|(unix_time, _)| unix_time.div_euclid(MONTH_S)).collect()
    };
    let months: Vec<Vec<i64>> = pages.iter().map(months).collect();
    // By page and version: its links, if it is the last version of its month. Looks are no closer than that.
    let mut versions: Vec<Vec<Option<BTreeSet<usize>>>> = vec![Vec::new(); pages.len()];
    let read = archive.for_each_version(|page, bytes| {
        let source = by_id[&page.page_id];
        let version = versions[source].len();
        if months[source].get(version) == months[source].get(version + 1) {
            versions[source].push(None);
            return ControlFlow::Continue(());
        }
        let base = address(&page.address);
        let html = document::decode(bytes, Some(&page.content_type)).text;
        let read = document::LinkedPage::of_html(&html).page;
        let target = |link: document::RawLink<'_>| numbers.get(&base.join(link.href).ok()?).copied();
        let links = (0..read.links.len()).filter_map(|number| read.links.get(number)).filter_map(target);
        versions[source].push(Some(links.filter(|target| *target != source).collect()));
        ControlFlow::Continue(())
    });
    read.expect("it can be read");
    let mut events: Vec<Vec<(f64, i32)>> = vec![Vec::new(); pages.len()];
    for (page, versions) in pages.iter().zip(versions) {
        let mut versions = versions.into_iter();
        let mut links = BTreeSet::new();
        for (unix_time, is_there) in page.history() {
            let next = if is_there { versions.next().expect("each version was read") } else { Some(BTreeSet::new()) };
            let Some(next) = next else { continue };
            let days = unix_time as f64 / DAY;
            next.difference(&links).for_each(|target| events[*target].push((days, 1)));
            links.difference(&next).for_each(|target| events[*target].push((days, -1)));
            links = next;
        }
    }
    let history = |(page, events): (&archives::ArchivedPage, Vec<(f64, i32)>)| {
        let first = page.history().next().map_or(0, |row| row.0);
        let gone = page.history().last().filter(|(_, is_there)| !is_there);
        let gone_days = gone.map_or(f64::INFINITY, |(unix_time, _)| unix_time as f64 / DAY);
        LinkHistory::of_events(first as f64 / DAY, gone_days, events)
    };
    pages.iter().zip(events).map(history).collect()
}

#[test]
fn young_pages_of_a_real_manual() {
    let Some(content) = corpora::find("content") else { return };
    let histories = manual(&content);
    let first = histories.iter().map(|history| history.born_days).fold(f64::INFINITY, f64::min);
    let rules = CohortRules { young_days: 730.0, horizon_days: 730.0, look_every_days: 30.0 };
    // Every half year, from the third year on.
    let cohorts: Vec<f64> = (4..=33).map(|half| first + 182.5 * f64::from(half)).collect();
    let [popularity, _, quality, _] = scores("manual", &histories, &cohorts, &rules);
    assert!(popularity.pages > 50 && popularity.spearman > 0.7, "{popularity:?}");
    assert!(quality.spearman < popularity.spearman + 0.02, "{quality:?} {popularity:?}");
}
