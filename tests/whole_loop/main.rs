//! Weeks of the whole loop in seconds: the real scheduler, detector and estimator over a log in memory, with a clock
//! set by hand, a fetcher and a web that are a function of a seed, and crashes at moments drawn from it.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod agreement;
mod at_once;
mod crowded;
mod fetcher;
mod growth;
mod hints;
mod hostile_web;
mod links;
mod listed_web;
mod lists;
mod lived_web;
mod mirrors;
mod policies_spend;
mod refusal;
mod simulation;
mod web;

use messages::{Encoded, FetchOutcome, PageChange, Verdict};
use page::{PageId, Timestamp};
use simulation::{CRAWL_DELAY, History, LEASE_TIMEOUT, MAX_INTERVAL, Plan, TICK, simulate};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A claim about a history: its name and its check.
type Claim = (&'static str, fn(&History));

macro_rules! claims {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name)),*] };
}
pub(crate) use claims;

/// Checks every claim about one history. Making the history takes most of the time, and each test is a process of its own.
fn check(history: &History, claims: &[Claim]) {
    let check = |(name, claim): &Claim| {
        let holds = catch_unwind(AssertUnwindSafe(|| claim(history))).is_ok();
        println!("{name} ... {}", if holds { "ok" } else { "FAILED" });
        (!holds).then_some(*name)
    };
    let broken: Vec<_> = claims.iter().filter_map(check).collect();
    assert!(broken.is_empty(), "{broken:?}, see above");
}

#[test]
fn a_history_with_everything_going_wrong_keeps_every_promise() {
    let history = simulate(Plan { seed: seed(), ..Plan::default() });
    check(
        &history,
        claims![
            the_history_has_seen_every_kind_of_trouble,
            no_page_is_lost_and_none_starves,
            a_lost_request_is_asked_again_when_its_lease_has_run_out_and_nothing_is_stuck,
            every_answer_counts_once_in_every_stage_however_often_it_came,
            a_request_is_issued_once_under_its_number,
            planned_requests_to_a_host_are_a_crawl_delay_apart_through_every_crash,
            the_budget_is_kept_through_every_crash,
            the_product_reports_each_change_once_in_the_order_of_the_web,
            a_page_that_changes_often_is_believed_to_and_looked_at_more,
            the_same_seed_gives_the_same_bytes,
            crashes_change_nothing_but_when_things_are_done,
        ],
    );
}

/// Another seed, for a longer search by hand: `RECRAWL_TEST_SEED=$RANDOM cargo test -p tests --test whole_loop`.
fn seed() -> u64 {
    std::env::var("RECRAWL_TEST_SEED").map_or(3, |seed| seed.parse().expect("RECRAWL_TEST_SEED is a number"))
}

fn the_history_has_seen_every_kind_of_trouble(history: &History) {
    let History { crashes, lost, late_answers, repeated_answers, .. } = history;
    for (what, count) in [
        ("crashes", crashes),
        ("lost requests", &(lost.len() as u32)),
        ("late answers", late_answers),
        ("repeated answers", repeated_answers),
    ] {
        assert!(*count >= 20, "{count} {what} prove little");
    }
}

fn no_page_is_lost_and_none_starves(history: &History) {
    assert_eq!(history.pages.len(), history.web.pages.len());
    // A look may be lost, retried with growing waits, and lost again; the pages wanted next are looked for every 16 ticks.
    let slack = 20 * TICK + 4 * LEASE_TIMEOUT + Duration::from_secs(86_400);
    for (id, page) in &history.pages {
        let looks = history
            .answers
            .iter()
            .filter(|answer| answer.look.page_id == *id && reports_of_content(answer.look.outcome));
        let mut before = history.start;
        for look in looks.map(|answer| answer.look.fetched_at).chain([history.end]) {
            let gap = look.saturating_since(before);
            assert!(gap <= MAX_INTERVAL + slack, "{} was left for {gap:?} after {before}", page.scheduler.url);
            before = look;
        }
    }
}

fn a_lost_request_is_asked_again_when_its_lease_has_run_out_and_nothing_is_stuck(history: &History) {
    for page in history.pages.values() {
        let overdue = page.scheduler.request.lease_until().is_some_and(|until| until + TICK < history.end);
        assert!(!overdue, "{} is in flight for ever: {:?}", page.scheduler.url, page.scheduler);
    }
    for (id, attempt) in &history.lost {
        let again = history.requests.iter().any(|request| request.page_id == *id && request.attempt > *attempt);
        let page = &history.pages[id].scheduler;
        assert!(
            again || page.request.lease_until().is_some() || page.request.attempt == *attempt,
            "{} was given up",
            page.url
        );
    }
}

fn every_answer_counts_once_in_every_stage_however_often_it_came(history: &History) {
    let mut latest: BTreeMap<PageId, (i64, i64)> = BTreeMap::new();
    for answer in &history.answers {
        let (attempt, count) = latest.entry(answer.look.page_id).or_default();
        if answer.look.attempt > *attempt {
            (*attempt, *count) = (answer.look.attempt, *count + 1);
        }
    }
    for (id, page) in &history.pages {
        let expected = latest.get(id).map_or(0, |(_, count)| *count);
        let counts = [page.detector_fetches, page.estimator_fetches, page.scheduler.fetches];
        assert_eq!(counts, [expected; 3], "{}", page.scheduler.url);
    }
}

fn a_request_is_issued_once_under_its_number(history: &History) {
    let mut seen = BTreeSet::new();
    for request in &history.requests {
        assert!(seen.insert((request.page_id, request.attempt)), "{} {}", request.url, request.attempt);
    }
}

fn planned_requests_to_a_host_are_a_crawl_delay_apart_through_every_crash(history: &History) {
    let mut next: BTreeMap<String, Timestamp> = BTreeMap::new();
    for request in &history.requests {
        let permitted = next.entry(request.url.host().to_string()).or_insert(Timestamp::MIN);
        assert!(request.not_before >= *permitted, "{} at {}, not before {permitted}", request.url, request.not_before);
        *permitted = request.not_before + CRAWL_DELAY;
    }
}

fn the_budget_is_kept_through_every_crash(history: &History) {
    let days = history.end.days_since(history.start);
    // Unspent budget of up to a day may be spent at once; a restarted partition may spend one request at once.
    let most = (days + 1.0) * simulation::FETCHES_PER_DAY + f64::from(history.crashes * 4);
    assert!(history.requests.len() as f64 <= most, "{} requests, {most} allowed", history.requests.len());
    // … and it is used: pages of this web change so often that there is always something worth a fetch.
    assert!(history.requests.len() as f64 >= 0.8 * days * simulation::FETCHES_PER_DAY, "{}", history.requests.len());
}

fn the_product_reports_each_change_once_in_the_order_of_the_web(history: &History) {
    let mut reported: BTreeMap<PageId, Vec<PageChange>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for record in &history.page_changes {
        let change = PageChange::decode(record.value.as_ref().unwrap()).unwrap();
        assert!(names.insert(change.change_id.clone()), "{} was told twice", change.change_id);
        reported.entry(change.page_id).or_default().push(change);
    }
    assert_eq!(reported.len(), history.pages.len(), "every page is reported at least once, as new");
    for (id, changes) in &reported {
        let page = &history.pages[id];
        let url = page.scheduler.url.as_str();
        // The first request may have failed, which is reported for a seed.
        let changes = match changes.as_slice() {
            [failed, seen @ ..] if failed.verdict == Verdict::Failed => seen,
            all => all,
        };
        assert_eq!(changes[0].verdict, Verdict::First, "{url}");
        assert_eq!(changes.len() as i64 - 1, page.scheduler.changes, "{url}");
        for pair in changes.windows(2) {
            assert!(pair[0].seen_at < pair[1].seen_at, "{url}: {pair:?}");
            let versions = pair.iter().map(|change| history.web.version_of(url, change.content_digest.as_ref()));
            let versions: Vec<Option<usize>> = versions.collect();
            match (versions[0], versions[1]) {
                // Gone, and back: perhaps as it was.
                (_, None) => assert_eq!(pair[1].verdict, Verdict::Gone, "{url}"),
                (None, Some(_)) => assert_eq!(pair[1].verdict, Verdict::Returned, "{url}"),
                (Some(before), Some(after)) => assert!(before < after, "{url}: version {after} told after {before}"),
            }
        }
    }
    let gone = reported.values().flatten().filter(|change| change.verdict == Verdict::Gone).count();
    assert!(gone > 0, "no page was seen to go");
}

fn a_page_that_changes_often_is_believed_to_and_looked_at_more(history: &History) {
    let mean = |rate_per_day: f64, value: &dyn Fn(&scheduler::ScheduledPage) -> f64| {
        let pages = history.web.pages.iter().filter(|page| page.rate_per_day == rate_per_day);
        let values: Vec<f64> = pages.map(|page| value(&history.pages[&page.url.page_id()].scheduler)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let believed = |page: &scheduler::ScheduledPage| page.belief.alpha / page.belief.beta_days;
    assert!(mean(1.0, &believed) > 3.0 * mean(0.1, &believed) && mean(0.1, &believed) > mean(0.0, &believed));
    let looks = |page: &scheduler::ScheduledPage| page.fetches as f64;
    assert!(mean(1.0, &looks) > 1.5 * mean(0.0, &looks), "{} {}", mean(1.0, &looks), mean(0.0, &looks));
}

fn the_same_seed_gives_the_same_bytes(history: &History) {
    let again = simulate(Plan { seed: seed(), ..Plan::default() });
    assert_eq!(history.requests, again.requests);
    assert_eq!(history.page_changes, again.page_changes);
    assert_eq!(history.stores, again.stores);
    let other = simulate(Plan { seed: seed() + 1, days: 2, ..Plan::default() });
    assert_ne!(history.page_changes[..10], other.page_changes[..10]);
}

fn crashes_change_nothing_but_when_things_are_done(history: &History) {
    let calm = simulate(Plan { seed: seed(), crashes: false, ..Plan::default() });
    assert_eq!(calm.crashes, 0);
    let known = |history: &History| history.pages.keys().copied().collect::<Vec<_>>();
    assert_eq!(known(&calm), known(history));
    // What a crash costs is a few fetches, made again.
    let (calm, troubled) = (calm.answers.len() as f64, history.answers.len() as f64);
    assert!((calm - troubled).abs() < 0.15 * calm, "{calm} answers without crashes, {troubled} with them");
}

#[test]
fn a_page_forgotten_and_seeded_again_is_fetched_soon_and_its_answers_count() {
    let plan = Plan { seed: seed(), days: 6, crashes: false, trouble: false, ..Plan::default() };
    let history = simulate(Plan { forget_on_day: Some(5), ..plan });
    let url = &history.web.pages[0].url;
    let taken_at = history.start.plus_days(5.0);
    let page = &history.pages[&url.page_id()];
    let look = page.scheduler.last_look_at.unwrap_or(Timestamp::MIN);
    assert!(look >= taken_at, "{url} was last seen {look}, asked for again at {taken_at}: {:?}", page.scheduler);
    let first = history
        .answers
        .iter()
        .find(|answer| answer.look.page_id == url.page_id() && answer.look.fetched_at >= taken_at);
    let waited = first.expect("it is fetched again").look.fetched_at.saturating_since(taken_at);
    // The budget is two fetches a tick for all partitions together, and there are other pages.
    assert!(waited <= 12 * TICK, "{waited:?}");
    let asked = history.requests.iter().filter(|request| request.page_id == url.page_id());
    let asked_again = asked.filter(|request| request.issued_at >= taken_at).count() as i64;
    assert_eq!(page.scheduler.fetches, asked_again, "answers to its second life are taken for repeats of the first");
}

fn reports_of_content(outcome: FetchOutcome) -> bool {
    matches!(
        outcome,
        FetchOutcome::Fetched | FetchOutcome::NotModified | FetchOutcome::SameContent | FetchOutcome::NotFound
    )
}
