//! The estimator as a stage over a log in memory: what each verdict does to a page's rate, and what siblings teach.

use crate::bench::Bench;
use change_rate::EstimatorChoice;
use estimator::{PAGES, PageBelief};
use messages::{
    Answer, ChangeEstimate, DeadLetter, Encoded, PageObservation, Question, QuestionKind, SchedulerEvent, Verdict,
    topics,
};
use settings::Settings;
use std::collections::BTreeMap;
use sweeps::PagePlace;

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
            // Some pages give at their first look the date of their last change.
            let age_days = (round == 0 && page % 2 == 0).then_some(20.0 + page as f64);
            estimates.push(bench.look_dated(&sibling(page), days, verdict, age_days));
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
fn a_sweep_is_reported_to_the_scheduler_as_a_hazard_of_the_groups_and_a_quiet_time_is_not() {
    let mut bench = Bench::new();
    live_through(&mut bench, 0..6);
    let place = PagePlace::of("site.test", "a.site.test", "/docs/0.html");
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
fn a_date_reported_at_the_first_look_teaches_the_page_and_pages_of_one_age_a_past_sweep() {
    let mut bench = Bench::new();
    let undated = bench.look("http://a.site.test/docs/undated.html", 0.0, Verdict::First).belief;
    let beliefs: Vec<_> =
        (0..20).map(|page| bench.look_dated(&sibling(page), 0.0, Verdict::First, Some(10.25)).belief).collect();
    assert!(beliefs[0].alpha > undated.alpha + 0.4 && beliefs[0].beta_days > undated.beta_days + 5.0, "{beliefs:?}");
    assert_eq!((beliefs[0].observations, beliefs[0].changes), (0, 0), "counts are of looks");
    let place = PagePlace::of("site.test", "a.site.test", "/docs/0.html");
    let day = bench.now.as_days() - 10.25;
    let hazard = |bench: &Bench, from: f64, to: f64| {
        let outlook = bench.outlook();
        let groups = outlook.groups_of(&place);
        let groups = groups.as_slice().iter().map(|group| outlook.group(*group).unwrap());
        groups.map(|group| group.hazard.between(from, to)).sum::<f64>()
    };
    let (swept, since) = (hazard(&bench, day - 1.0, day), hazard(&bench, day + 1.0, day + 10.0));
    assert!(swept > 0.5 && swept > 20.0 * since, "{swept} and {since}");
    // An old page is believed to be slow.
    let old = bench.look_dated("http://b.other.test/old.html", 0.0, Verdict::First, Some(2000.0)).belief;
    assert!(old.change_rate_per_day() < 0.5 * undated.change_rate_per_day(), "{old:?}");
}

#[test]
fn dates_of_a_host_that_makes_them_up_are_not_believed() {
    let first = |bench: &mut Bench, page: u32, age_days| {
        bench.look_dated(&sibling(page as usize), 0.0, Verdict::First, Some(age_days)).belief
    };
    // Made up a minute ago: the first look cannot distinguish that from a true date, and believes only older dates.
    let (mut liar, minute) = (Bench::new(), 1.0 / 1440.0);
    let (unknown, made_up) = (liar.look(&sibling(0), 0.0, Verdict::First).belief, first(&mut liar, 1, minute));
    assert_eq!((made_up.alpha, made_up.beta_days), (unknown.alpha, unknown.beta_days));
    // Three looks at unchanged pages give it away; then it is not believed for any page.
    let mut honest = Bench::new();
    first(&mut honest, 1, 50.0);
    for _ in 0..3 {
        liar.look_dated(&sibling(1), 1.0, Verdict::Unchanged, Some(minute));
        honest.look_dated(&sibling(1), 1.0, Verdict::Unchanged, Some(50.0));
    }
    let gained = |bench: &mut Bench| {
        let before = bench.look(&sibling(2), 0.0, Verdict::First).belief;
        let after = first(bench, 3, 0.5);
        after.alpha - before.alpha
    };
    assert_eq!(gained(&mut liar), 0.0);
    assert!(gained(&mut honest) > 0.4);
    // The trust outlives a restart.
    liar.lose_everything_but_the_log();
    let after = first(&mut liar, 4, 0.5);
    assert_eq!(after.alpha, unknown.alpha);
    // A host whose dates never move says that changed pages did not change.
    let mut frozen = Bench::new();
    first(&mut frozen, 1, 50.0);
    for look in 1..=3 {
        frozen.look_dated(&sibling(1), 1.0, Verdict::Major, Some(50.0 + f64::from(look)));
    }
    assert_eq!(gained(&mut frozen), 0.0);
}

#[test]
fn a_date_reports_when_in_the_interval_a_page_changed() {
    let believed = |age_days| {
        let mut bench = Bench::new();
        bench.look(URL, 0.0, Verdict::First);
        bench.look_dated(URL, 40.0, Verdict::Major, age_days).belief
    };
    let (early, late, unknown) = (believed(Some(39.0)), believed(Some(0.5)), believed(None));
    assert!(early.change_rate_per_day() < late.change_rate_per_day(), "{early:?} {late:?}");
    assert_eq!(believed(Some(45.0)), unknown, "a date before the last look does not explain the change");
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
    let dead_letters = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
    let dead_letters: Vec<_> = dead_letters
        .iter()
        .map(|dead_letter| DeadLetter::decode(dead_letter.value.as_deref().unwrap()).unwrap())
        .collect();
    assert_eq!(dead_letters.len(), 1);
    assert_eq!((dead_letters[0].stage.as_str(), dead_letters[0].topic.as_str()), ("estimator", topic.as_str()));
    assert_eq!(dead_letters[0].value.as_deref(), Some(&b"no observation"[..]));
}

#[test]
fn priors_that_moved_are_reported_once_a_day_and_no_others() {
    let mut bench = Bench::with_estimator("gamma-grouped");
    let cell = |path: &str| PagePlace::of("site.test", "a.site.test", path).cell;
    let reported = |bench: &mut Bench| -> Vec<BTreeMap<u64, f64>> {
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
    assert!(reported(&mut bench).is_empty(), "first looks teach nothing");
    look(&mut bench, Verdict::Major);
    let forecasts = reported(&mut bench);
    assert_eq!(forecasts.len(), 1, "both cells in one record");
    let settings = Settings::default().estimator;
    let (news, docs) = (forecasts[0][&cell("/news/0.html")], forecasts[0][&cell("/docs/x.html")]);
    assert!(news < docs && docs < settings.prior_beta_days / 1.1, "{news} {docs}");
    // The forecast of a cell is the prior that a page of it without looks starts from.
    let new = bench.look("http://a.site.test/news/new.html", 0.0, Verdict::First);
    assert!((new.belief.beta_days / news - 1.0).abs() < 1e-6, "{} {news}", new.belief.beta_days);
    assert_eq!(reported(&mut bench).len(), 1, "nothing has moved since");
    look(&mut bench, Verdict::Major);
    bench.restart();
    look(&mut bench, Verdict::Major);
    let forecasts = reported(&mut bench);
    assert_eq!(forecasts.len(), 2);
    assert!(forecasts[1][&cell("/news/0.html")] < news);
}

#[test]
fn a_question_is_answered_with_what_is_kept_of_a_page_and_changes_nothing() {
    let mut bench = Bench::new();
    bench.look(URL, 0.0, Verdict::First);
    bench.look(URL, 10.0, Verdict::Major);
    let url = page::CanonicalUrl::parse(URL).unwrap();
    let asked = Question {
        question_id: "q".to_owned(),
        routing_key: url.site_key().as_str().to_owned(),
        about: QuestionKind::Page,
        url: Some(url),
        hosts: None,
        asked_at: bench.now,
        answer_until: bench.now + page::MINUTE,
        site: None,
        pages: None,
        version: None,
    };
    let topic = bench.names.topic(topics::PAGE_OBSERVATIONS);
    bench.driver.send(&topic, asked.routing_key.as_bytes(), asked.encode()).unwrap();
    bench.driver.run_until_idle().unwrap();
    let answers = bench.driver.contents(&bench.names.topic(topics::ANSWERS)).unwrap();
    assert_eq!(answers.len(), 1);
    let answer = Answer::decode(answers[0].value.as_deref().unwrap()).unwrap();
    let belief: PageBelief = answer.entry(PAGES.name()).unwrap().unwrap();
    assert_eq!((belief.fetches, belief.observations, belief.changes), (2, 1, 1));
    // The next look goes on from there, as if no question had been asked.
    assert_eq!(bench.look(URL, 10.0, Verdict::Unchanged).belief.observations, 2);
}
