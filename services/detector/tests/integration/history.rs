//! The versions of a page beside the last one.

use crate::bench::{Bench, FIRST, URL, html, one_sentence_changed};
use detector::VersionFacts;
use messages::{Encoded, FetchOutcome, PageContent, PageRemoval, QuestionKind, Verdict, body, topics};
use page::{CanonicalUrl, DAY};
use proptest::prelude::*;
use std::collections::BTreeMap;
use stream::Clock;

/// The bytes of kept versions, compared with the versions themselves.
#[derive(Debug, Default)]
pub(crate) struct KeptBytes {
    pub(crate) versions: usize,
    texts: usize,
    stored: u64,
}

impl KeptBytes {
    /// Checks that every copy that was ever the page's last comes back, and counts the bytes of those of the past.
    pub(crate) fn add(&mut self, bench: &mut Bench) {
        let listed = versions(bench);
        for (version, bytes) in published(bench) {
            assert_eq!(copy(bench, version).as_ref(), Some(&bytes), "version {version}");
            let facts = listed.iter().find(|facts| facts.number as i32 == version).unwrap();
            if !facts.is_last {
                self.versions += 1;
                self.texts += bytes.len();
                self.stored += facts.stored_bytes;
            }
        }
    }

    pub(crate) fn share(&self) -> f64 {
        self.stored as f64 / self.texts as f64
    }
}

/// Every copy that was published as the page's last, by the number of its version.
fn published(bench: &Bench) -> BTreeMap<i32, Vec<u8>> {
    let records = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
    let copies = records.iter().filter_map(|record| record.value.as_deref());
    let copies = copies.map(|value| PageContent::decode(value).unwrap());
    copies.map(|copy| (copy.version, body::unpack(&copy.content, usize::MAX).unwrap().into_owned())).collect()
}

fn versions(bench: &mut Bench) -> Vec<VersionFacts> {
    bench.ask(QuestionKind::History, None).read_json().unwrap()
}

fn copy(bench: &mut Bench, version: i32) -> Option<Vec<u8>> {
    let answer = bench.ask(QuestionKind::History, Some(version));
    let copy: Option<PageContent> = answer.entry(detector::CONTENTS.name()).unwrap();
    copy.map(|copy| {
        assert_eq!(copy.version, version);
        body::unpack(&copy.content, usize::MAX).unwrap().into_owned()
    })
}

fn numbers(bench: &mut Bench) -> Vec<u32> {
    versions(bench).iter().map(|version| version.number).collect()
}

/// A page with another report in each edition.
fn edition(number: usize) -> String {
    let words = ["bridge", "market", "school", "harbour", "theatre", "garden", "station", "library"];
    let word = |place: usize| words[chance::splitmix64((number * 100 + place) as u64) as usize % words.len()];
    let report: Vec<&str> = (0..20).map(word).collect();
    html(&[FIRST, &[&*format!("Of edition {number}: {}.", report.join(" "))]].concat())
}

/// Records on the changelog of the history: how many, and their bytes.
fn changelog(bench: &Bench) -> (usize, usize) {
    let changelog = detector::HISTORY.spec().changelog("detector");
    let records = bench.driver.contents(&bench.names.topic(changelog)).unwrap();
    (records.len(), records.iter().map(|record| record.value.as_ref().map_or(0, |value| value.len())).sum())
}

#[test]
fn each_version_is_listed_with_its_times_and_comes_back_also_from_the_log_alone() {
    let mut bench = Bench::new(&[]);
    let began = bench.driver.clock.now();
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    bench.see(FetchOutcome::NotModified, None);
    bench.see(FetchOutcome::TimedOut, None);
    let change = bench.see(FetchOutcome::Fetched, Some(&one_sentence_changed())).change.unwrap();
    bench.see(FetchOutcome::Fetched, Some(&edition(20)));
    bench.see(FetchOutcome::NotModified, None);
    let listed = versions(&mut bench);
    let times: Vec<_> = listed
        .iter()
        .map(|version| [version.seen_at, version.last_seen_at].map(|at| at.saturating_since(began).as_secs() / 86_400))
        .collect();
    assert_eq!(times, [[1, 2], [4, 4], [5, 6]], "days of the first look and of the last that confirmed it");
    let facts: Vec<_> =
        listed.iter().map(|version| (version.number, version.looks, version.verdict, version.is_last)).collect();
    assert_eq!(
        facts,
        [(1, 3, Verdict::First, false), (2, 1, Verdict::Major, false), (3, 2, Verdict::Major, true)],
        "the look that timed out was one, too"
    );
    assert_eq!(listed[1].change_id.as_deref(), Some(change.change_id.as_str()));
    assert!(listed.iter().all(|version| version.title.as_deref() == Some("News")));
    bench.lose_everything_but_the_log();
    assert_eq!(versions(&mut bench), listed);
    KeptBytes::default().add(&mut bench);
    assert_eq!(copy(&mut bench, 4), None);
}

#[test]
fn a_look_without_news_writes_nothing_and_an_edit_writes_its_difference() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&edition(1)));
    bench.see(FetchOutcome::NotModified, None);
    assert_eq!(changelog(&bench), (0, 0));
    bench.see(FetchOutcome::Fetched, Some(&edition(2)));
    let (records, bytes) = changelog(&bench);
    // The times, the title, the ids; and what the first edition said.
    assert!(records == 1 && bytes < 400, "{records} records, {bytes} bytes");
    bench.see(FetchOutcome::SameContent, None);
    assert_eq!(changelog(&bench), (records, bytes));
}

#[test]
fn the_oldest_versions_go_by_number_by_bytes_and_by_age_and_a_rule_says_how_many_stay() {
    let look = |bench: &mut Bench, days: usize| {
        (0..days).for_each(|day| drop(bench.see(FetchOutcome::Fetched, Some(&edition(20 + day)))));
    };
    let mut bench = Bench::new(&[("detector.history", "2")]);
    look(&mut bench, 5);
    assert_eq!(numbers(&mut bench), [3, 4, 5]);
    let mut bench = Bench::configured("[detector]\nhistory = 2\n[[rules]]\npages = [\"www.site.test\"]\nhistory = 3\n");
    look(&mut bench, 6);
    assert_eq!(numbers(&mut bench), [3, 4, 5, 6]);
    bench.restart_with("[[rules]]\npages = [\"www.site.test\"]\nhistory = 0\n");
    look(&mut bench, 1);
    assert_eq!(numbers(&mut bench), [7], "nobody wants the others any longer");
    let mut bench = Bench::new(&[("detector.history_bytes", "4KiB")]);
    look(&mut bench, 29);
    let kept = versions(&mut bench);
    let bytes: u64 = kept.iter().filter(|version| !version.is_last).map(|version| version.stored_bytes).sum();
    assert!((2..29).contains(&kept.len()) && bytes <= 4_096, "{kept:?}");

    let mut bench = Bench::new(&[("detector.history_age", "30d")]);
    look(&mut bench, 3);
    for _ in 0..20 {
        bench.see(FetchOutcome::NotModified, None);
    }
    assert_eq!(numbers(&mut bench), [1, 2, 3]);
    // No look comes any more.
    for _ in 0..20 {
        bench.driver.clock.advance(DAY);
        bench.driver.run_until_idle().unwrap();
    }
    assert_eq!(numbers(&mut bench), [3]);
    let sketch: detector::PageSketch =
        bench.ask(QuestionKind::Page, None).entry(detector::PAGES.name()).unwrap().unwrap();
    let copy: PageContent = bench.ask(QuestionKind::Copy, None).entry(detector::CONTENTS.name()).unwrap().unwrap();
    assert_eq!(sketch.copy_bytes, copy.content.len() as i64);
    let stored = bench.figure(metrics::detector::COPIES_BYTES);
    assert_eq!(stored, copy.content.len() as f64);
}

#[test]
fn the_last_version_of_a_page_that_is_gone_stays_and_the_numbers_go_on() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&edition(1)));
    bench.see(FetchOutcome::Fetched, Some(&edition(2)));
    bench.see(FetchOutcome::Gone, None);
    let listed = versions(&mut bench);
    assert_eq!(
        listed.iter().map(|version| (version.number, version.is_last)).collect::<Vec<_>>(),
        [(1, false), (2, false)]
    );
    KeptBytes::default().add(&mut bench);
    bench.see(FetchOutcome::Fetched, Some(&edition(3)));
    assert_eq!(numbers(&mut bench), [1, 2, 3]);
    KeptBytes::default().add(&mut bench);
}

#[test]
fn a_version_that_the_changelog_does_not_take_is_left_out_and_the_page_goes_on() {
    let noise = |seed: u64| {
        let words = (0..200_000).map(|word| format!("{:016x}", chance::splitmix64(seed << 32 | word)));
        format!("<title>Noise</title><p>{}", words.collect::<Vec<_>>().join(" "))
    };
    let sets = [("detector.contents", "body"), ("detector.max_content", "7MiB"), ("detector.history_bytes", "16MiB")];
    let mut bench = Bench::new(&sets);
    bench.see(FetchOutcome::Fetched, Some(&edition(1)));
    bench.see(FetchOutcome::Fetched, Some(&noise(1)));
    assert_eq!(numbers(&mut bench), [1, 2]);
    bench.see(FetchOutcome::Fetched, Some(&noise(2)));
    assert_eq!(numbers(&mut bench), [3], "the second, and the first, which is read by it");
    bench.see(FetchOutcome::Gone, None);
    assert!(numbers(&mut bench).is_empty());
    bench.see(FetchOutcome::Fetched, Some(&edition(2)));
    bench.see(FetchOutcome::Fetched, Some(&edition(3)));
    assert_eq!(numbers(&mut bench), [1, 2]);
    KeptBytes::default().add_kept(&mut bench);
}

#[test]
fn settings_of_today_decide_what_the_sweep_leaves() {
    let mut bench = Bench::configured("");
    (0..3).for_each(|number| drop(bench.see(FetchOutcome::Fetched, Some(&edition(number)))));
    let sweep = |bench: &mut Bench| {
        for _ in 0..3 {
            bench.driver.clock.advance(DAY);
            bench.driver.run_until_idle().unwrap();
        }
    };
    sweep(&mut bench);
    assert_eq!(numbers(&mut bench), [1, 2, 3]);
    bench.restart_with("[[rules]]\npages = [\"www.site.test\"]\nhistory = 0\n");
    sweep(&mut bench);
    assert_eq!(numbers(&mut bench), [3]);
}

#[test]
fn a_look_that_shows_something_doubtful_does_not_confirm_the_last_version() {
    let mut bench = Bench::new(&[]);
    let began = bench.driver.clock.now();
    let day = |at: page::Timestamp| at.saturating_since(began).as_secs() / 86_400;
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    bench.see(FetchOutcome::NotModified, None);
    let error = html(&["Just a moment…", "Checking your browser."]);
    bench.see(FetchOutcome::Fetched, Some(&error));
    assert_eq!(day(versions(&mut bench)[0].last_seen_at), 2, "of the looks on the first two days");
    bench.see(FetchOutcome::TimedOut, None);
    assert_eq!(day(versions(&mut bench)[0].last_seen_at), 2, "a request without an answer settles nothing");
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(day(versions(&mut bench)[0].last_seen_at), 5);
}

#[test]
fn nothing_is_left_of_a_page_that_is_forgotten() {
    let mut bench = Bench::new(&[]);
    for number in 0..4 {
        bench.see(FetchOutcome::Fetched, Some(&edition(number)));
    }
    let url = CanonicalUrl::parse(URL).unwrap();
    let last_attempt = Some(bench.attempt);
    let removal = PageRemoval { url, removed_at: bench.driver.clock.now(), last_attempt };
    bench.driver.send(&bench.names.topic(topics::FETCH_RESULTS), b"site.test", removal.encode()).unwrap();
    bench.driver.run_until_idle().unwrap();
    assert!(versions(&mut bench).is_empty());
    let changelog = detector::HISTORY.spec().changelog("detector");
    let records = bench.driver.contents(&bench.names.topic(changelog)).unwrap();
    let last: BTreeMap<_, _> = records.iter().map(|record| (record.key.clone(), record.value.is_some())).collect();
    assert!(last.len() == 3 && last.values().all(|is_kept| !is_kept), "{last:?}");
    assert_eq!(bench.figure(metrics::detector::COPIES_BYTES), 0.0);
}

#[test]
fn where_there_is_little_room_versions_of_the_past_make_way_for_last_ones() {
    // Words that do not compress, so that each version takes its whole length.
    let page = |seed: u64| {
        let words = (0..30_000).map(|word| format!("{:016x}", chance::splitmix64(seed << 32 | word)));
        format!("<title>Noise</title><p>{}", words.collect::<Vec<_>>().join(" "))
    };
    let mut bench = Bench::new(&[("detector.max_contents", "1MiB"), ("detector.history_bytes", "16MiB")]);
    for seed in 0..4 {
        bench.see(FetchOutcome::Fetched, Some(&page(seed)));
        let last = *numbers(&mut bench).last().unwrap();
        assert_eq!(last as u64, seed + 1, "the last version is kept");
        let stored = bench.figure(metrics::detector::COPIES_BYTES);
        assert!(stored <= f64::from(1 << 20), "{stored}");
        KeptBytes::default().add_kept(&mut bench);
    }
    assert_eq!(bench.figure(metrics::detector::COPIES_LEFT_OUT), 0.0);
}

impl KeptBytes {
    /// The same for the versions that are kept.
    fn add_kept(&mut self, bench: &mut Bench) {
        let published = published(bench);
        for facts in versions(bench) {
            let version = facts.number as i32;
            assert_eq!(copy(bench, version).as_ref(), Some(&published[&version]), "version {version}");
        }
    }
}

/// Something that happens to a page.
#[derive(Clone, Debug)]
enum Event {
    Edition(usize),
    Rewritten(u64),
    Unchanged,
    Gone,
    Restart,
    Lost,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0_usize..50).prop_map(Event::Edition),
        2 => (0_u64..5).prop_map(Event::Rewritten),
        1 => Just(Event::Unchanged),
        1 => Just(Event::Gone),
        1 => Just(Event::Restart),
        1 => Just(Event::Lost),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_happens_to_a_page_the_kept_versions_are_the_newest_and_come_back(
        events in prop::collection::vec(event(), 1..24),
        most in 0_usize..6,
        contents in prop::sample::select(vec!["text", "body"]),
    ) {
        let mut bench = Bench::new(&[("detector.history", &most.to_string()), ("detector.contents", contents)]);
        for event in events {
            match event {
                Event::Edition(number) => drop(bench.see(FetchOutcome::Fetched, Some(&edition(number)))),
                Event::Rewritten(seed) => {
                    let text: Vec<String> =
                        (0..12).map(|line| format!("Line {line} says {:x}.", chance::splitmix64(seed * 100 + line))).collect();
                    let page = html(&text.iter().map(String::as_str).collect::<Vec<_>>());
                    bench.see(FetchOutcome::Fetched, Some(&page));
                }
                Event::Unchanged => drop(bench.see(FetchOutcome::NotModified, None)),
                Event::Gone => drop(bench.see(FetchOutcome::Gone, None)),
                Event::Restart => {
                    bench.driver.kill(0);
                    bench.restart();
                }
                Event::Lost => bench.lose_everything_but_the_log(),
            }
        }
        KeptBytes::default().add_kept(&mut bench);
        let kept = versions(&mut bench);
        let newest = published(&bench).keys().last().copied().unwrap_or(0) as u32;
        let past = kept.iter().filter(|version| !version.is_last).count();
        let is_gone = kept.last().is_none_or(|version| !version.is_last);
        // The last version is no version of the past until the page is gone.
        let expected = (newest as usize).saturating_sub(usize::from(!is_gone)).min(most);
        prop_assert_eq!(past, expected, "{:?}", kept);
        prop_assert!(kept.windows(2).all(|pair| pair[0].number + 1 == pair[1].number), "{:?}", kept);
    }
}
