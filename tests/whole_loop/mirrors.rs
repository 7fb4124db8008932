//! One site is a mirror of another, and shares its stream of fetches.

use crate::simulation::{History, Mirrors, Plan, simulate};
use crate::web::DIVERGING;
use messages::FetchOutcome;
use page::{CanonicalUrl, DAY, PageId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

const DAYS: u32 = 28;

fn quiet(mirrors: Mirrors, max_interval: Duration) -> History {
    // Half a look a day at every page: more than enough for the slow ones, too little for all.
    let plan = Plan { days: DAYS, crashes: false, trouble: false, ..Plan::default() };
    simulate(Plan { mirrors, fetches_per_day: 36.0, max_interval, ..plan })
}

fn original_of(url: &CanonicalUrl) -> CanonicalUrl {
    CanonicalUrl::parse(&url.as_str().replace("site-1.", "site-0.")).unwrap()
}

fn is_mirror(url: &CanonicalUrl) -> bool {
    url.host().as_str() == "site-1.test"
}

/// Share of the time that the copies of these pages are current. Where a page follows another, the other's copy is its.
fn freshness(history: &History, wanted: impl Fn(&CanonicalUrl) -> bool) -> f64 {
    let mut looks: BTreeMap<PageId, Vec<Timestamp>> = BTreeMap::new();
    for answer in &history.answers {
        looks.entry(answer.look.page_id).or_default().push(answer.look.fetched_at);
    }
    let settled = history.start.plus_days(7.0);
    let (mut fresh, mut all) = (0, 0);
    for page in history.pages.values().filter(|page| wanted(&page.scheduler.url)) {
        let url = &page.scheduler.url;
        let tied = page.scheduler.ties.as_ref().is_some_and(|ties| ties.canonical.is_some());
        let source = if tied { original_of(url) } else { url.clone() };
        let changes = &history.web.page(url).changes;
        for hour in 0..u64::from(24 * (DAYS - 7)) {
            let now = settled.plus_days(hour as f64 / 24.0);
            let last_look = looks[&source.page_id()].iter().filter(|look| **look <= now).max();
            let is_fresh = last_look.is_some_and(|look| !changes.iter().any(|change| look < change && *change <= now));
            (fresh, all) = (fresh + u32::from(is_fresh), all + 1);
        }
    }
    f64::from(fresh) / f64::from(all)
}

fn looks(history: &History, wanted: impl Fn(&CanonicalUrl) -> bool) -> usize {
    history.answers.iter().filter(|answer| wanted(&answer.look.url)).count()
}

/// Checks that both sides of every tie have the same record of it.
fn check_books(history: &History) {
    let ties = |id: &PageId| history.pages[id].scheduler.ties.as_ref();
    for id in history.pages.keys() {
        if let Some(canonical) = ties(id).and_then(|ties| ties.canonical.as_ref()) {
            let followers = &ties(&canonical.peer.page_id).unwrap().followers;
            assert_eq!(followers.iter().filter(|follower| follower.peer.page_id == *id).count(), 1);
        }
        for follower in ties(id).map_or(&[][..], |ties| &ties.followers) {
            let canonical = ties(&follower.peer.page_id).and_then(|ties| ties.canonical.as_ref());
            assert_eq!(canonical.map(|canonical| canonical.peer.page_id), Some(*id));
        }
    }
}

#[test]
fn mirrors_are_looked_at_less_and_everything_is_fresher() {
    let (shared, apart) = (quiet(Mirrors::Shared, 30 * DAY), quiet(Mirrors::Unnoticed, 30 * DAY));
    check_books(&shared);
    let tied = |page: &&crate::simulation::Page| {
        let ties = page.scheduler.ties.as_ref();
        let canonical = ties.and_then(|ties| ties.canonical.as_ref());
        canonical.is_some_and(|canonical| canonical.rank.url == original_of(&page.scheduler.url))
    };
    let mirrors = shared.pages.values().filter(|page| is_mirror(&page.scheduler.url));
    let followers = mirrors.clone().filter(tied).count();
    // One goes its own way, and one may just have been found changed.
    assert!(followers >= 9, "{followers} of 12 pages follow theirs");
    assert!(shared.pages.values().filter(tied).all(|page| is_mirror(&page.scheduler.url)));
    let (few, many) = (looks(&shared, is_mirror), looks(&apart, is_mirror));
    assert!(2 * few < many, "{few} looks at mirrors, {many} on their own");
    let total = |history: &History| looks(history, |_| true) as f64;
    assert!((total(&shared) / total(&apart) - 1.0).abs() < 0.1, "{} and {} looks", total(&shared), total(&apart));
    // What mirrors are spared, all others gain.
    let others = |url: &CanonicalUrl| !is_mirror(url);
    let gain = freshness(&shared, others) - freshness(&apart, others);
    assert!(gain > 0.01, "{gain}");
    let gain = freshness(&shared, |_| true) - freshness(&apart, |_| true);
    assert!(gain > 0.01, "{gain} over all, mirrors by their originals' copies");
}

#[test]
fn a_mirror_that_goes_its_own_way_is_looked_at_on_its_own_again() {
    let history = quiet(Mirrors::Shared, 3 * DAY);
    let url = CanonicalUrl::parse(DIVERGING.0).unwrap();
    let page = &history.pages[&url.page_id()].scheduler;
    let ties = page.ties.as_ref().expect("it had a tie");
    assert!(ties.canonical.is_none() && ties.epoch > 0, "{ties:?}");
    let diverged = history.start.plus_days(DIVERGING.1.into());
    let looks_in = |from: Timestamp, until: Timestamp| {
        let reported =
            |outcome| matches!(outcome, FetchOutcome::Fetched | FetchOutcome::SameContent | FetchOutcome::NotModified);
        history
            .answers
            .iter()
            .filter(|answer| {
                answer.look.url == url
                    && reported(answer.look.outcome)
                    && (from..until).contains(&answer.look.fetched_at)
            })
            .count()
    };
    let before = looks_in(history.start.plus_days(3.0), diverged);
    let after = looks_in(diverged, history.end);
    assert!(after > before, "{before} looks before, {after} after");
}

#[test]
fn ties_survive_every_crash() {
    let plan = Plan { days: DAYS, mirrors: Mirrors::Shared, ..Plan::default() };
    let history = simulate(Plan { seed: crate::seed(), ..plan });
    assert!(history.crashes > 20);
    check_books(&history);
    let followers =
        history.pages.values().filter(|page| page.scheduler.ties.as_ref().is_some_and(|ties| ties.canonical.is_some()));
    assert!(followers.count() >= 6, "mirrors are found through all of it");
}
