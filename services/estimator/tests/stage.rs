//! The estimator as a stage over a log in memory: what each verdict does to a page's rate, and what siblings teach.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use change_rate::EstimatorChoice;
use messages::{
    ChangeEstimate, DeadLetter, Encoded, FetchOutcome, FetchRequest, Look, LookJudgement, PageObservation,
    SchedulerEvent, Validators, Verdict, topics,
};
use page::{CanonicalUrl, Timestamp};
use settings::{Layers, Settings};
use std::collections::{BTreeMap, HashMap};
use stream::memory::MemoryStores;
use stream::testing::TestDriver;
use stream::{Log, TopicPartition};
use sweeps::{Changes, Outlook, Place, SiteState};
use topology::Names;

struct Bench {
    driver: TestDriver,
    names: Names,
    settings: Settings,
    now: Timestamp,
    last_look: HashMap<String, Timestamp>,
    attempt: i64,
    /// Scheduler events read so far, by partition.
    read: [u64; 2],
}

impl Bench {
    fn new() -> Self {
        Self::with_estimator("sweeps")
    }

    fn with_estimator(name: &str) -> Self {
        let settings = settings(name);
        let names = Names::new(&settings);
        let now = Timestamp::from_secs(1_700_000_000);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, &[estimator::topology()], 2), now);
        driver.add(estimator::stage(&settings, &names), "one");
        Self { driver, names, settings, now, last_look: HashMap::new(), attempt: 0, read: [0; 2] }
    }

    /// A look at a page, so many days after the last look at any page.
    fn look(&mut self, url: &str, days_later: f64, verdict: Verdict) -> ChangeEstimate {
        self.now = self.now.plus_days(days_later);
        self.driver.clock.advance(std::time::Duration::from_secs_f64(86_400.0 * days_later));
        self.attempt += 1;
        let canonical = CanonicalUrl::parse(url).unwrap();
        let outcome = if verdict == Verdict::Unknown { FetchOutcome::TimedOut } else { FetchOutcome::Fetched };
        let request = FetchRequest { attempt: self.attempt, ..FetchRequest::first(canonical, self.now) };
        let observation = PageObservation {
            look: Look {
                status: Some(200),
                validators: Validators { etag: Some("\"tag\"".to_owned()), ..Validators::default() },
                ..Look::new(request, outcome, self.now)
            },
            judgement: LookJudgement {
                previous_fetched_at: self.last_look.get(url).copied(),
                look_again_after_s: Some(60),
                ..LookJudgement::new(verdict)
            },
        };
        if verdict != Verdict::Unknown {
            self.last_look.insert(url.to_owned(), self.now);
        }
        let topic = self.names.topic(topics::PAGE_OBSERVATIONS);
        self.driver.send(&topic, observation.look.site_key.as_str().as_bytes(), observation.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
        let mut new = self.new_estimates();
        assert_eq!(new.len(), 1, "each observation gives exactly one estimate");
        let estimate = new.remove(0);
        assert_eq!((&estimate.look, &estimate.judgement), (&observation.look, &observation.judgement));
        estimate
    }

    /// Estimates since one asked last.
    fn new_estimates(&mut self) -> Vec<ChangeEstimate> {
        let topic = self.names.topic(topics::SCHEDULER_EVENTS);
        let mut reader = self.driver.log.reader().unwrap();
        let mut new = Vec::new();
        for (partition, next) in self.read.iter_mut().enumerate() {
            let place = TopicPartition::new(topic.as_str(), partition as u32);
            for record in reader.read(&place, *next, usize::MAX).unwrap().0 {
                *next = record.offset + 1;
                if let SchedulerEvent::Estimate(estimate) =
                    SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap()
                {
                    new.push(estimate);
                }
            }
        }
        new
    }

    fn estimates(&self) -> Vec<ChangeEstimate> {
        let records = self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let estimate = |value: &[u8]| match SchedulerEvent::decode(value).unwrap() {
            SchedulerEvent::Estimate(estimate) => Some(estimate),
            SchedulerEvent::Sweeps(_) => None,
            other => panic!("{other:?}"),
        };
        let estimates = records.iter().filter_map(|record| estimate(record.value.as_deref().unwrap()));
        let mut estimates: Vec<_> = estimates.collect();
        estimates.sort_by_key(|estimate| estimate.look.attempt);
        estimates
    }

    /// A crash that also takes the state directory.
    fn lose_everything_but_the_log(&mut self) {
        self.driver.kill(0);
        self.driver.stores = MemoryStores::default();
        self.driver.add(estimator::stage(&self.settings, &self.names), "two");
    }

    /// A crash that leaves the state directory.
    fn restart(&mut self) {
        self.driver.kill(0);
        self.driver.add(estimator::stage(&self.settings, &self.names), "two");
    }

    /// What the store of sweeps holds, by key: the letter and the hash.
    fn sweeps(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let records = self.driver.contents(&self.names.topic(estimator::SWEEPS.spec().changelog("estimator"))).unwrap();
        records.into_iter().filter_map(|record| Some((record.key, record.value?))).collect()
    }

    /// All forecasts put together, as the scheduler has them.
    fn outlook(&self) -> Outlook {
        let mut outlook = Outlook::default();
        for record in self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap() {
            let SchedulerEvent::Sweeps(forecast) = SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap()
            else {
                continue;
            };
            let site = Place::of(forecast.site_key.as_str(), "", "/").site;
            let sites = forecast.lead.map(|lead| SiteState { site, lead });
            let changes = Changes { groups: forecast.groups, sites: sites.into_iter().collect(), ..Changes::default() };
            outlook.apply(&changes).unwrap();
        }
        outlook
    }
}

fn settings(estimator: &str) -> Settings {
    let overrides = [("policy.name", "crawl-value"), ("estimator.name", estimator)];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap()
}

const URL: &str = "http://a.site.test/docs/x.html";

/// The same with something else in it.
fn edited<T>(mut it: T, edit: impl FnOnce(&mut T)) -> T {
    edit(&mut it);
    it
}

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
        let faster = next.belief.change_rate_per_day() > first.belief.change_rate_per_day();
        assert_eq!(
            faster,
            changed,
            "{verdict:?}: {} then {}",
            first.belief.change_rate_per_day(),
            next.belief.change_rate_per_day()
        );
        assert_eq!((next.belief.observations, next.belief.changes), (1, i64::from(changed)), "{verdict:?}");
        assert!(
            (next.belief.change_rate_per_day() - next.belief.alpha / next.belief.beta_days).abs() < 1e-9,
            "{verdict:?}"
        );
    }
}

#[test]
fn a_first_look_and_a_failure_teach_nothing_but_are_passed_on() {
    let mut bench = Bench::new();
    let settings = Settings::default().estimator;
    for (days, verdict) in [(0.0, Verdict::Unknown), (1.0, Verdict::First), (400.0, Verdict::Unknown)] {
        let estimate = bench.look(URL, days, verdict);
        assert_eq!(estimate.belief.alpha, settings.prior_alpha);
        assert!((estimate.belief.beta_days - settings.prior_beta_days).abs() < 1e-6, "{}", estimate.belief.beta_days);
        assert_eq!((estimate.belief.observations, estimate.judgement.verdict), (0, verdict));
    }
    let learned = bench.look(URL, 10.0, Verdict::Major);
    let failed = bench.look(URL, 100.0, Verdict::Unknown);
    let failed_again = bench.look(URL, 100.0, Verdict::Unknown);
    assert_eq!(
        (failed.belief.observations, failed.belief.changes),
        (learned.belief.observations, learned.belief.changes)
    );
    assert_eq!(
        (failed_again.belief.alpha, failed_again.belief.beta_days),
        (failed.belief.alpha, failed.belief.beta_days)
    );
}

#[test]
fn a_page_never_seen_to_change_still_has_a_positive_rate() {
    let mut bench = Bench::new();
    bench.look(URL, 0.0, Verdict::First);
    let mut rate = f64::INFINITY;
    for _ in 0..200 {
        let next = bench.look(URL, 30.0, Verdict::Unchanged).belief.change_rate_per_day();
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
    assert!(last.belief.change_rate_per_day() > 0.5, "{}", last.belief.change_rate_per_day());
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
    let rate = |bench: &mut Bench, url: &str| bench.look(url, 0.0, Verdict::First).belief.change_rate_per_day();
    let busy = rate(&mut bench, "http://a.site.test/news/new.html");
    let quiet = rate(&mut bench, "http://a.site.test/archive/new.html");
    let stranger = rate(&mut bench, "http://b.elsewhere.test/news/new.html");
    assert!(busy > 3.0 * quiet, "{busy} and {quiet}");
    assert!(busy > stranger, "another site's directory of the same name learned nothing: {busy} and {stranger}");
}

fn sibling(page: usize) -> String {
    format!("http://a.site.test/docs/{page}.html")
}

/// Twelve pages looked at in turn for months, with sweeps, changes of their own, errors and silent weeks.
fn live_through(bench: &mut Bench, rounds: std::ops::Range<usize>) -> Vec<ChangeEstimate> {
    let mut estimates = Vec::new();
    for round in rounds {
        for page in 0..12 {
            let verdict = match (round, page) {
                (0, _) => Verdict::First,
                (6 | 13, _) => Verdict::Major,
                (_, 3) => Verdict::Minor,
                (_, 7) if round % 3 == 0 => Verdict::Unknown,
                _ => Verdict::Unchanged,
            };
            let days = if page == 0 { [1.7, 0.4, 9.0][round % 3] } else { 0.05 };
            estimates.push(bench.look(&sibling(page), days, verdict));
        }
    }
    estimates
}

#[test]
fn what_was_learned_is_the_same_after_a_restart_bit_by_bit() {
    for (name, _) in EstimatorChoice::for_operators() {
        let undisturbed = {
            let mut bench = Bench::with_estimator(name);
            (live_through(&mut bench, 0..20), bench.sweeps())
        };
        for lose_disk in [false, true] {
            let mut bench = Bench::with_estimator(name);
            let mut estimates = live_through(&mut bench, 0..11);
            if lose_disk {
                bench.lose_everything_but_the_log()
            } else {
                bench.restart()
            }
            estimates.extend(live_through(&mut bench, 11..20));
            assert_eq!(estimates, undisturbed.0, "{name}, disk lost: {lose_disk}");
            assert!(bench.sweeps() == undisturbed.1, "{name}: the calendars differ, disk lost: {lose_disk}");
        }
        let has_calendars = undisturbed.1.keys().any(|key| key[0] == b'g');
        assert_eq!(has_calendars, name == "sweeps", "{name}");
        assert!(undisturbed.0.iter().all(|estimate| estimate.belief.change_rate_per_day() > 0.0), "{name}");
    }
}

#[test]
fn a_sweep_is_told_to_the_scheduler_as_a_hazard_of_the_groups_and_a_quiet_time_is_not() {
    let mut bench = Bench::new();
    live_through(&mut bench, 0..6);
    let place = Place::of("site.test", "a.site.test", "/docs/0.html");
    let today = |bench: &Bench| bench.now.as_micros() as f64 / 86_400e6;
    let hazard = |bench: &Bench, from: f64| {
        let outlook = bench.outlook();
        let groups = outlook.groups_of(&place);
        assert!(!groups.as_slice().is_empty(), "twelve pages make a group");
        let groups = groups.as_slice().iter().map(|group| outlook.group(*group).unwrap());
        groups.map(|group| group.hazard.between(from, today(bench))).sum::<f64>()
    };
    let quiet_from = today(&bench) - 5.0;
    let quiet = hazard(&bench, quiet_from);
    let from = today(&bench);
    // Round 6: every page has changed.
    live_through(&mut bench, 6..7);
    let swept = hazard(&bench, from);
    assert!(swept > 0.5 && swept > 20.0 * quiet, "{swept} after {quiet}");
}

#[test]
fn calendars_are_written_once_per_batch() {
    let mut bench = Bench::new();
    live_through(&mut bench, 0..2);
    let topic = bench.names.topic(estimator::SWEEPS.spec().changelog("estimator"));
    let groups = |bench: &Bench| {
        let records = bench.driver.contents(&topic).unwrap();
        records.iter().filter(|record| record.key[0] == b'g').count()
    };
    let known = bench.sweeps().keys().filter(|key| key[0] == b'g').count();
    let before = groups(&bench);
    let input = bench.names.topic(topics::PAGE_OBSERVATIONS);
    let last = bench.driver.contents(&input).unwrap().into_iter().next_back().unwrap();
    let seen = PageObservation::decode(last.value.as_deref().unwrap()).unwrap();
    for look in 1..=10 {
        let fetched_at = seen.look.fetched_at.plus_days(0.01 * f64::from(look));
        let (attempt, previous_fetched_at) = (seen.look.attempt + i64::from(look), Some(fetched_at.plus_days(-0.01)));
        let verdict = Verdict::Unchanged;
        let again = edited(seen.clone(), |it| {
            it.look.attempt = attempt;
            it.look.fetched_at = fetched_at;
            it.judgement.previous_fetched_at = previous_fetched_at;
            it.judgement.verdict = verdict;
        });
        bench.driver.send(&input, &last.key, again.encode()).unwrap();
    }
    bench.driver.run_until_idle().unwrap();
    assert!(groups(&bench) - before <= known, "{} writes of {known} groups", groups(&bench) - before);
    assert_eq!(bench.estimates().len(), 34);
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

#[test]
fn priors_that_moved_are_told_once_a_day_and_no_others() {
    let mut bench = Bench::with_estimator("gamma-grouped");
    let cell = |path: &str| Place::of("site.test", "a.site.test", path).cell;
    let told = |bench: &mut Bench| -> Vec<BTreeMap<u64, f64>> {
        // Punctuated hourly: the day turns without a look.
        bench.now = bench.now.plus_days(1.0);
        bench.driver.clock.advance(page::DAY);
        bench.driver.run_until_idle().unwrap();
        let records = bench.driver.contents(&bench.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let forecasts = records.iter().filter_map(|record| {
            match SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap() {
                SchedulerEvent::Sweeps(forecast) => Some(forecast),
                _ => None,
            }
        });
        forecasts
            .map(|forecast| {
                assert_eq!((forecast.site_key.as_str(), forecast.lead, forecast.groups.len()), ("site.test", None, 0));
                forecast.cells.iter().map(|cell| (cell.cell, cell.priors.plain_beta_days)).collect()
            })
            .collect()
    };
    let look = |bench: &mut Bench, verdict| {
        for page in 0..8 {
            bench.look(&format!("http://a.site.test/news/{page}.html"), 0.01, verdict);
        }
    };
    look(&mut bench, Verdict::First);
    bench.look("http://a.site.test/docs/x.html", 0.0, Verdict::First);
    assert!(told(&mut bench).is_empty(), "first looks teach nothing");
    look(&mut bench, Verdict::Major);
    let forecasts = told(&mut bench);
    assert_eq!(forecasts.len(), 1, "both cells in one record");
    let settings = Settings::default().estimator;
    let (news, docs) = (forecasts[0][&cell("/news/0.html")], forecasts[0][&cell("/docs/x.html")]);
    assert!(news < docs && docs < settings.prior_beta_days / 1.1, "{news} {docs}");
    // What it told is what a page of the cell that was never looked at would be believed to start from.
    let new = bench.look("http://a.site.test/news/new.html", 0.0, Verdict::First);
    assert!((new.belief.beta_days / news - 1.0).abs() < 1e-6, "{} {news}", new.belief.beta_days);
    assert_eq!(told(&mut bench).len(), 1, "nothing has moved since");
    look(&mut bench, Verdict::Major);
    bench.restart();
    look(&mut bench, Verdict::Major);
    let forecasts = told(&mut bench);
    assert_eq!(forecasts.len(), 2);
    assert!(forecasts[1][&cell("/news/0.html")] < news);
}
