//! The estimator as a stage over a log in memory: what each verdict does to a page's rate, and what siblings teach.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use messages::{ChangeEstimate, DeadLetter, FetchOutcome, Message, PageObservation, SchedulerEvent, Verdict, topics};
use page::{CanonicalUrl, Timestamp};
use settings::Settings;
use std::collections::HashMap;
use stream::memory::MemoryStores;
use stream::testing::TestDriver;
use topology::Names;

struct Bench {
    driver: TestDriver,
    names: Names,
    now: Timestamp,
    last_look: HashMap<String, Timestamp>,
    attempt: i64,
}

impl Bench {
    fn new() -> Self {
        let settings = Settings::default();
        let names = Names::new(&settings);
        let now = Timestamp::from_secs(1_700_000_000);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, 2), now);
        driver.add(estimator::stage(&settings, &names), "one");
        Self { driver, names, now, last_look: HashMap::new(), attempt: 0 }
    }

    /// A look at a page, so many days after the last look at any page.
    fn look(&mut self, url: &str, days_later: f64, verdict: Verdict) -> ChangeEstimate {
        self.now = self.now.plus_days(days_later);
        self.attempt += 1;
        let canonical = CanonicalUrl::parse(url).unwrap();
        let observation = PageObservation {
            page_id: canonical.page_id(),
            site_key: canonical.site_key(),
            url: canonical,
            attempt: self.attempt,
            outcome: if verdict == Verdict::Unknown { FetchOutcome::TimedOut } else { FetchOutcome::Fetched },
            status: Some(200),
            fetched_at: self.now,
            previous_fetched_at: self.last_look.get(url).copied(),
            verdict,
            magnitude: 0.0,
            resemblance: 1.0,
            etag: Some("\"tag\"".to_owned()),
            last_modified: None,
            last_modified_at: None,
            content_digest: None,
            body_length: 7,
            latency_ms: 40,
            retry_after_s: Some(3),
            robots_crawl_delay_ms: Some(5_000),
        };
        if verdict != Verdict::Unknown {
            self.last_look.insert(url.to_owned(), self.now);
        }
        let before = self.estimates().len();
        let topic = self.names.topic(topics::PAGE_OBSERVATIONS);
        self.driver.send(&topic, observation.site_key.as_str().as_bytes(), observation.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
        let mut new = self.estimates().split_off(before);
        assert_eq!(new.len(), 1, "each observation gives exactly one estimate");
        let estimate = new.remove(0);
        assert_eq!((estimate.page_id, estimate.attempt), (observation.page_id, observation.attempt));
        assert_eq!((&estimate.etag, estimate.latency_ms), (&observation.etag, observation.latency_ms));
        assert_eq!((estimate.retry_after_s, estimate.robots_crawl_delay_ms), (Some(3), Some(5_000)));
        estimate
    }

    fn estimates(&self) -> Vec<ChangeEstimate> {
        let records = self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let estimate = |value: &[u8]| match SchedulerEvent::decode(value).unwrap() {
            SchedulerEvent::Estimate(estimate) => estimate,
            other => panic!("{other:?}"),
        };
        let mut estimates: Vec<_> = records.iter().map(|record| estimate(record.value.as_deref().unwrap())).collect();
        estimates.sort_by_key(|estimate| estimate.attempt);
        estimates
    }

    /// A crash that also takes the state directory.
    fn lose_everything_but_the_log(&mut self) {
        self.driver.kill(0);
        self.driver.stores = MemoryStores::default();
        self.driver.add(estimator::stage(&Settings::default(), &self.names), "two");
    }
}

const URL: &str = "http://a.site.test/docs/x.html";

#[test]
fn a_page_seen_unchanged_is_believed_slower_and_one_seen_changed_faster() {
    for (verdict, changed) in [
        (Verdict::Unchanged, false),
        (Verdict::Cosmetic, false),
        (Verdict::Minor, true),
        (Verdict::Major, true),
        (Verdict::Gone, true),
        (Verdict::Returned, true),
    ] {
        let mut bench = Bench::new();
        let first = bench.look(URL, 0.0, Verdict::First);
        let next = bench.look(URL, 10.0, verdict);
        let faster = next.change_rate_per_day > first.change_rate_per_day;
        assert_eq!(faster, changed, "{verdict:?}: {} then {}", first.change_rate_per_day, next.change_rate_per_day);
        assert_eq!((next.observations, next.changes), (1, i64::from(changed)), "{verdict:?}");
        assert!((next.change_rate_per_day - next.alpha / next.beta_days).abs() < 1e-9, "{verdict:?}");
    }
}

#[test]
fn a_first_look_and_a_failure_teach_nothing_but_are_passed_on() {
    let mut bench = Bench::new();
    let settings = Settings::default().estimator;
    for (days, verdict) in [(0.0, Verdict::Unknown), (1.0, Verdict::First), (400.0, Verdict::Unknown)] {
        let estimate = bench.look(URL, days, verdict);
        assert_eq!((estimate.alpha, estimate.beta_days), (settings.prior_alpha, settings.prior_beta_days));
        assert_eq!((estimate.observations, estimate.verdict), (0, verdict));
    }
    let learned = bench.look(URL, 10.0, Verdict::Major);
    let failed = bench.look(URL, 100.0, Verdict::Unknown);
    let failed_again = bench.look(URL, 100.0, Verdict::Unknown);
    assert_eq!((failed.observations, failed.changes), (learned.observations, learned.changes));
    assert_eq!((failed_again.alpha, failed_again.beta_days), (failed.alpha, failed.beta_days));
}

#[test]
fn a_page_never_seen_to_change_still_has_a_positive_rate() {
    let mut bench = Bench::new();
    bench.look(URL, 0.0, Verdict::First);
    let mut rate = f64::INFINITY;
    for _ in 0..200 {
        let next = bench.look(URL, 30.0, Verdict::Unchanged).change_rate_per_day;
        assert!(next > 0.0 && next <= rate, "{next} after {rate}");
        rate = next;
    }
    assert!(rate < 0.001, "{rate}");
}

#[test]
fn a_page_that_changes_at_every_look_is_believed_to_change_at_least_as_often_as_it_is_looked_at() {
    let mut bench = Bench::new();
    bench.look(URL, 0.0, Verdict::First);
    let last = (0..60).map(|_| bench.look(URL, 2.0, Verdict::Major)).last().unwrap();
    assert!(last.change_rate_per_day > 0.5, "{}", last.change_rate_per_day);
}

#[test]
fn a_new_page_of_a_busy_directory_starts_faster_than_one_of_a_quiet_directory() {
    let mut bench = Bench::new();
    for round in 0..10 {
        for page in 0..8 {
            for (directory, verdict) in [("news", Verdict::Major), ("archive", Verdict::Unchanged)] {
                let verdict = if round == 0 { Verdict::First } else { verdict };
                let days = if (page, directory) == (0, "news") { 2.0 } else { 0.0 };
                bench.look(&format!("http://a.site.test/{directory}/{page}.html"), days, verdict);
            }
        }
    }
    let rate = |bench: &mut Bench, url: &str| bench.look(url, 0.0, Verdict::First).change_rate_per_day;
    let busy = rate(&mut bench, "http://a.site.test/news/new.html");
    let quiet = rate(&mut bench, "http://a.site.test/archive/new.html");
    let stranger = rate(&mut bench, "http://b.elsewhere.test/news/new.html");
    assert!(busy > 3.0 * quiet, "{busy} and {quiet}");
    assert!(busy > stranger, "another site's directory of the same name learned nothing: {busy} and {stranger}");
}

#[test]
fn beliefs_of_pages_and_of_groups_are_restored_after_the_stores_were_lost() {
    let story = [
        (0.0, Verdict::First),
        (3.0, Verdict::Major),
        (3.0, Verdict::Unchanged),
        (5.0, Verdict::Minor),
        (8.0, Verdict::Unknown),
    ];
    let after = |crash: bool| {
        let mut bench = Bench::new();
        for (days, verdict) in story {
            bench.look(URL, days, verdict);
        }
        if crash {
            bench.lose_everything_but_the_log();
        }
        (bench.look(URL, 4.0, Verdict::Unchanged), bench.look("http://a.site.test/docs/y.html", 0.0, Verdict::First))
    };
    assert_eq!(after(true), after(false));
}

#[test]
fn what_cannot_be_read_is_set_aside_and_the_rest_goes_on() {
    let mut bench = Bench::new();
    let topic = bench.names.topic(topics::PAGE_OBSERVATIONS);
    bench.driver.send(&topic, b"site.test", b"no observation".to_vec()).unwrap();
    bench.driver.run_until_idle().unwrap();
    bench.look(URL, 0.0, Verdict::First);
    let letters = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
    let letters: Vec<_> =
        letters.iter().map(|letter| DeadLetter::decode(letter.value.as_deref().unwrap()).unwrap()).collect();
    assert_eq!(letters.len(), 1);
    assert_eq!((letters[0].stage.as_str(), letters[0].topic.as_str()), ("estimator", topic.as_str()));
    assert_eq!(letters[0].value.as_deref(), Some(&b"no observation"[..]));
}
