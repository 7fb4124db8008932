//! Focuses in the ranker: pages are weighed by their relevance and that of the links to them, judged anew when focuses change, and
//! no longer judged when the last focus is removed.

use crate::bench::{Bench, PARTITIONS};
use messages::{Encoded, FocusRelevance, PageFocus, PageRemoval, RankedPage, topics};
use page::{CanonicalUrl, HOUR};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ranker::{FOCUS, FOCUS_TOTALS, FocusTotals, FocusedPage, TotalsKey};
use stream::{TableError, TaskId, TaskTables};

const SAILING: i64 = 1;
const COOKING: i64 = 2;
const THRESHOLD: f64 = 0.3;
const ALIKE: (&str, &str) = ("ranker.importance", "none");

/// The relevance of a page to a focus, and the promises of its links, in order.
fn judged(focus_version: i64, relevance: f64, promises: &[f32]) -> Option<PageFocus> {
    let focus = if focus_version == SAILING { "sailing" } else { "cooking" };
    Some(PageFocus {
        focus_version,
        relevances: vec![FocusRelevance { focus: focus.to_owned(), relevance, threshold: THRESHOLD }],
        is_target: false,
        promises: promises.to_vec(),
    })
}

/// A first look, with what focuses say.
fn look(bench: &mut Bench, source: &str, targets: &[&str], focus: Option<PageFocus>) -> Vec<RankedPage> {
    bench.send_judged(source, targets, true, source.len() as i64, focus);
    bench.ranked()
}

fn tables(bench: &Bench, partition: u32) -> Option<TaskTables> {
    let store = bench.driver.stores.snapshot(&TaskId { stage: "ranker".to_owned(), partition })?;
    Some(TaskTables::new(Box::new(store), &ranker::topology()))
}

/// The stored focus of a page.
fn kept(bench: &Bench, url: &str) -> Option<FocusedPage> {
    let url = CanonicalUrl::parse(url).unwrap();
    let partition = stream::partitioner::partition_for(url.site_key().as_str().as_bytes(), PARTITIONS);
    tables(bench, partition)?.get(FOCUS, &url.page_id()).unwrap()
}

/// The counts of all partitions, each beside what its table holds.
fn counted(bench: &Bench) -> FocusTotals {
    let mut all = FocusTotals::default();
    for tables in (0..PARTITIONS).filter_map(|partition| tables(bench, partition)) {
        let totals = tables.get(FOCUS_TOTALS, &TotalsKey).unwrap().unwrap_or_default();
        let mut held = FocusTotals::default();
        let mut count = |_, page: FocusedPage| {
            held.pages += 1;
            held.judged += i64::from(!page.relevances.is_empty());
            held.in_focus += i64::from(page.is_in_focus());
            held.targets += i64::from(page.is_target);
            Ok::<(), TableError>(())
        };
        tables.scan(FOCUS, b"", &mut count).unwrap();
        assert_eq!(totals, held);
        all.pages += held.pages;
        all.judged += held.judged;
        all.in_focus += held.in_focus;
        all.targets += held.targets;
    }
    all
}

fn reported<'a>(ranked: &'a [RankedPage], url: &str) -> Option<&'a RankedPage> {
    ranked.iter().find(|page| page.url.as_str() == url)
}

#[test]
fn pages_are_weighed_by_what_they_are_about_and_links_by_what_they_promise() {
    let mut bench = Bench::new(&[ALIKE]);
    let targets = ["/much", "http://b.test/little", "http://c.test/nothing"];
    let ranked = look(&mut bench, "http://a.test/", &targets, judged(SAILING, 0.6, &[0.9, 0.4, 0.0]));
    let weight = |url: &str| reported(&ranked, url).map(|page| page.importance);
    // Twice the threshold is as much in a focus as a page can be: 20^(2 (.7 + .3 · .5) - 1).
    assert!((weight("http://a.test/").unwrap() - 20_f64.powf(0.7)).abs() < 1e-4);
    let [much, little, nothing] = ["http://a.test/much", "http://b.test/little", "http://c.test/nothing"].map(weight);
    assert!(much > little && little > nothing && nothing.is_some(), "{much:?} {little:?} {nothing:?}");
    // What it promised counts until it is looked at.
    let ranked = look(&mut bench, "http://a.test/much", &[], judged(SAILING, 0.0, &[]));
    assert!(reported(&ranked, "http://a.test/much").unwrap().importance < 0.2);
    assert_eq!(counted(&bench), FocusTotals { pages: 4, judged: 2, in_focus: 1, targets: 0 });
}

#[test]
fn beyond_the_tunnel_a_page_is_reported_when_a_link_to_it_promises_something() {
    let mut bench = Bench::new(&[ALIKE, ("focus.tunnel_depth", "1")]);
    look(&mut bench, "http://a.test/", &["http://b.test/1"], judged(SAILING, 0.6, &[0.0]));
    // One link away from a page in the focus, and off it: its own links lead two away.
    let ranked = look(&mut bench, "http://b.test/1", &["http://c.test/2", "/2"], judged(SAILING, 0.0, &[0.0, 0.0]));
    assert!(
        reported(&ranked, "http://c.test/2").is_none() && reported(&ranked, "http://b.test/2").is_none(),
        "{ranked:?}"
    );
    let ranked = look(&mut bench, "http://d.test/", &["http://c.test/2"], judged(SAILING, 0.0, &[0.8]));
    assert!(reported(&ranked, "http://c.test/2").is_some(), "{ranked:?}");
}

#[test]
fn other_focuses_judge_anew_and_without_focuses_all_is_forgotten() {
    let mut bench = Bench::new(&[ALIKE]);
    let sail = ("http://a.test/sail", ["http://b.test/both", "http://b.test/sail"]);
    look(&mut bench, "http://b.test/both", &[], None);
    assert_eq!(counted(&bench), FocusTotals::default());
    // Before there are focuses, all pages are alike.
    look(&mut bench, sail.0, &sail.1, None);
    assert_eq!(["http://a.test/sail", "http://b.test/sail"].map(|url| bench.reported(url)), [1.0; 2]);
    // A focus is added: pages are judged when they are looked at again, and links count.
    look(&mut bench, sail.0, &sail.1, judged(SAILING, 0.6, &[0.9, 0.9]));
    look(&mut bench, "http://b.test/both", &[], judged(SAILING, 0.6, &[]));
    assert!(bench.reported(sail.0) > 5.0, "{}", bench.reported(sail.0));
    assert_eq!(kept(&bench, "http://b.test/sail").unwrap().links, 1);
    bench.driver.kill(0);
    bench.start();
    // The page is looked at again: its links do not count twice.
    look(&mut bench, sail.0, &sail.1, judged(SAILING, 0.6, &[0.9, 0.9]));
    assert_eq!(kept(&bench, "http://b.test/sail").unwrap().links, 1);
    // Other focuses: the same page is off them, and what its links promised for those before counts no longer.
    look(&mut bench, sail.0, &sail.1, judged(COOKING, 0.0, &[0.0, 0.0]));
    let unseen = kept(&bench, "http://b.test/sail").unwrap();
    assert_eq!((unseen.focus_version, unseen.links), (COOKING, 1));
    assert!(bench.reported("http://a.test/sail") < 0.2 && bench.reported("http://b.test/sail") < 1.0);
    let both = kept(&bench, "http://b.test/both").unwrap();
    assert_eq!(
        (both.focus_version, both.best().unwrap().focus.as_str()),
        (SAILING, "sailing"),
        "until it is looked at"
    );
    look(&mut bench, "http://b.test/both", &[], judged(COOKING, 0.6, &[]));
    assert_eq!(kept(&bench, "http://b.test/both").unwrap().best().unwrap().focus, "cooking");
    bench.driver.kill(0);
    bench.start();
    // No focuses any more: what is looked at is like any other page, and nothing is kept of it.
    look(&mut bench, sail.0, &sail.1, None);
    look(&mut bench, "http://b.test/both", &[], None);
    look(&mut bench, "http://b.test/sail", &[], None);
    assert_eq!(counted(&bench), FocusTotals::default());
    let reported = [sail.0, sail.1[0], sail.1[1]].map(|url| bench.reported(url));
    assert_eq!(reported, [1.0; 3]);
}

#[test]
fn of_a_forgotten_page_nothing_stays_that_focuses_made_of_it() {
    let mut bench = Bench::new(&[ALIKE]);
    let page = "http://a.test/";
    look(&mut bench, page, &["http://b.test/"], judged(SAILING, 0.6, &[0.9]));
    assert!(kept(&bench, page).is_some());
    let url = CanonicalUrl::parse(page).unwrap();
    let site = url.site_key();
    let removal = PageRemoval { url, removed_at: stream::Clock::now(&*bench.driver.clock), last_attempt: Some(1) };
    for _ in 0..2 {
        let focus = bench.names.topic(topics::RANKER_EVENTS);
        bench.driver.send(&focus, site.as_str().as_bytes(), removal.encode()).unwrap();
        bench.ranked();
        assert_eq!(kept(&bench, page), None);
        assert_eq!(counted(&bench), FocusTotals { pages: 1, judged: 0, in_focus: 0, targets: 0 });
    }
    // It is judged like a new page when it is seeded again.
    look(&mut bench, page, &["http://b.test/"], judged(SAILING, 0.6, &[0.9]));
    assert_eq!(counted(&bench), FocusTotals { pages: 2, judged: 1, in_focus: 1, targets: 0 });
}

/// Looks and changes of focuses in random order, with crashes in the middle of batches: what is kept in the end is what is kept
/// without crashes, and the counts are those of the table.
#[test]
fn crashes_change_nothing_of_what_is_kept() {
    for seed in 0..6 {
        let run = |crashes: f64| {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut accidents = Pcg64::seed_from_u64(seed + 100);
            let mut bench = Bench::new(&[ALIKE, ("ranker.interval", "1h")]);
            let url = |number: usize| format!("http://site-{}.test/{number}", number % 7);
            let mut killed = 0;
            for round in 0..150 {
                // Sailing, then cooking, then nothing, then sailing again.
                let focuses = [Some(SAILING), Some(COOKING), None, Some(SAILING)][round * 4 / 150];
                let source = random.random_range(0..40);
                // All links are of one site, whose partition receives them in the order of the looks.
                let targets: Vec<_> = (0..4).map(|step| url((source + 7 * step) % 35)).collect();
                let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
                let relevance = random.random_range(0.0..0.6);
                let promises: Vec<f32> = targets.iter().map(|_| random.random_range(0.0..1.0)).collect();
                let focus = focuses.and_then(|version| judged(version, relevance, &promises));
                bench.send_judged(&url(source), &targets, true, round as i64, focus);
                if round % 10 == 0 {
                    bench.driver.clock.advance(HOUR);
                }
                for _ in 0..accidents.random_range(0..3) {
                    bench.driver.step(0).unwrap();
                }
                if accidents.random_bool(crashes) {
                    killed += 1;
                    bench.driver.kill(0);
                    bench.start();
                }
            }
            bench.ranked();
            let pages: Vec<_> = (0..40).map(|number| kept(&bench, &url(number))).collect();
            (pages, counted(&bench), killed)
        };
        let (pages, totals, killed) = run(0.2);
        let (expected, expected_totals, _) = run(0.0);
        assert!(killed > 10 && totals.judged > 5, "seed {seed}: {killed} crashes, {totals:?}");
        assert_eq!((pages, totals), (expected, expected_totals), "seed {seed}");
    }
}
