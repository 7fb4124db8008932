//! The ranker as a stage over a log in memory: pages are found once, weights follow the links, and cash is never lost.

use crate::bench::{Bench, PARTITIONS};
use messages::{Answer, Encoded, Question, QuestionKind, RankedPage, topics};
use page::{CanonicalUrl, HOUR};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use stream::Clock;

fn found(ranked: &[RankedPage]) -> Vec<(&str, i32)> {
    ranked.iter().map(|page| (page.url.as_str(), page.depth)).collect()
}

#[test]
fn a_page_is_found_once_whichever_site_links_to_it() {
    let mut bench = Bench::new(&[("ranker.importance", "none")]);
    let ranked = bench.look("http://a.test/", &["/x", "http://b.test/y"]);
    assert_eq!(found(&ranked), [("http://a.test/", 0), ("http://a.test/x", 1), ("http://b.test/y", 1)]);
    assert!(ranked.iter().all(|page| page.importance == 1.0));
    let ranked = bench.look("http://b.test/y", &["http://a.test/x", "http://a.test/", "/z"]);
    assert_eq!(found(&ranked), [("http://b.test/z", 2)]);
    bench.driver.kill(0);
    bench.start();
    assert!(bench.look("http://a.test/x", &["http://b.test/z"]).is_empty());
    assert_eq!((bench.pages().len(), bench.books().iter().map(|(_, _, totals)| totals.pages).sum::<i64>()), (4, 4));
}

#[test]
fn the_page_that_many_link_to_weighs_most_and_its_own_links_do_not_count() {
    let mut bench = Bench::new(&[("ranker.interval", "1h"), ("ranker.min_change", "0.01")]);
    for round in 0..30 {
        for number in 0..9 {
            let next = format!("/{}", (number + 1) % 9);
            bench.send(&format!("http://a.test/{number}"), &["http://b.test/hub", &next], round == 0, number);
        }
        let own: Vec<String> = (0..500).map(|number| format!("/hub#{number}")).collect();
        let own: Vec<&str> = own.iter().map(String::as_str).chain(["http://a.test/0"]).collect();
        bench.send("http://b.test/hub", &own, round == 0, round);
        bench.driver.clock.advance(HOUR);
        bench.ranked();
    }
    // By the links, shares of all cash: the hub h = (1 - h)/3 + v/10, where v = (1 - h)/3 + h/2 is the virtual page's; page 0
    // h/2 + v/10 and a third of page 8's; page 1 v/10 and a third of page 0's.
    let weights = [("http://b.test/hub", 0.2785_f64), ("http://a.test/0", 0.1962), ("http://a.test/1", 0.1034)];
    for (url, share) in weights {
        let (reported, expected) = (bench.reported(url), (10.0 * share).powf(0.7));
        assert!((reported / expected - 1.0).abs() < 0.05, "{url}: {reported}, and {expected} by its links");
    }
}

#[test]
fn small_changes_of_a_weight_are_not_reported() {
    let check = |min_change: &str| {
        let mut bench = Bench::new(&[("ranker.interval", "1h"), ("ranker.min_change", min_change)]);
        let mut reported = 0;
        for round in 0..40 {
            for number in 0..10 {
                let targets = [format!("/{}", (number + 1) % 10), format!("/{}", (number * 3) % 10)];
                let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
                bench.send(&format!("http://a.test/{number}"), &targets, round == 0, round);
            }
            bench.driver.clock.advance(HOUR);
            let ranked = bench.ranked();
            reported += if round > 20 { ranked.len() } else { 0 };
        }
        reported
    };
    let (all, damped) = (check("0"), check("0.2"));
    assert!(damped * 10 < all && all > 300, "{damped} of {all}");
}

#[test]
fn a_form_of_addresses_whose_pages_are_alike_loses_its_worth() {
    let mut bench = Bench::new(&[("ranker.importance", "none")]);
    for day in 0..20 {
        bench.send(&format!("http://a.test/day/{day}"), &[&format!("/day/{}", day + 1)], true, 7);
        bench.send(&format!("http://a.test/story/{day}"), &[&format!("/story/{}", day + 1)], true, 100 + day);
        bench.ranked();
    }
    assert!(bench.reported("http://a.test/day/20") < 0.1, "{}", bench.reported("http://a.test/day/20"));
    assert_eq!(bench.reported("http://a.test/story/20"), 1.0);
}

/// Looks in random order, links that change, several instances, crashes in the middle of batches.
#[test]
fn no_cash_is_lost_or_made_by_crashes_and_the_weights_are_those_of_the_links() {
    for seed in 0..6 {
        let mut random = Pcg64::seed_from_u64(seed);
        // Half of them trust somebody.
        let trusted = if seed % 2 == 0 { "[]" } else { "[\"site-3.test\", \"site-5.test/1*\"]" };
        let mut bench = Bench::new(&[("ranker.interval", "1h"), ("ranker.trusted", trusted)]);
        let url = |number: usize| format!("http://site-{}.test/{number}", number % 7);
        for round in 0..300 {
            for _ in 0..5 {
                let source = random.random_range(0..60);
                let targets: Vec<_> = (0..random.random_range(0..6)).map(|_| url(random.random_range(0..60))).collect();
                let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
                bench.send(&url(source), &targets, false, round);
            }
            if random.random_bool(0.3) {
                bench.driver.clock.advance(HOUR);
            }
            for _ in 0..random.random_range(0..4) {
                bench.driver.step(0).unwrap();
            }
            if random.random_bool(0.1) {
                bench.driver.kill(0);
                bench.start();
            }
        }
        bench.ranked();
        bench.check_cash();
    }
}

/// As many links as the detector sends, so long that no record of the scheduler's topic takes them all; half of them repeated,
/// and the page itself among them.
#[test]
fn a_page_with_ten_thousand_links_is_followed_and_nothing_is_set_aside() {
    let mut bench = Bench::new(&[]);
    let word = "x".repeat(250);
    let inside: Vec<String> = (0..6_000).map(|number| format!("/{word}/{}", number % 3_000)).collect();
    let outside: Vec<String> = (0..4_000).map(|number| format!("http://b.test/{word}/{}", number % 2_000)).collect();
    let targets: Vec<&str> = inside.iter().chain(&outside).map(String::as_str).chain(["/", "/#part"]).collect();
    let ranked = bench.look("http://a.test/", &targets);
    assert_eq!(ranked.len(), 5_001);
    let characters = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
    assert!(characters.is_empty(), "{} records were set aside", characters.len());
    bench.check_cash();
    bench.driver.kill(0);
    bench.start();
    assert!(bench.look("http://a.test/", &targets).len() < 5_001, "all are known");
    assert_eq!(bench.pages().len(), 5_001);
}

/// Two sites of a hundred pages, and others that link the first page of each. The pages of one link each other, a million links in
/// all when they are first looked at, those of the other are a ring.
#[test]
fn a_site_that_links_itself_a_million_times_gains_nothing_beside_one_that_is_a_ring() {
    const PAGES: usize = 100;
    let repeated: Vec<String> = (0..10_000).map(|number| format!("/{}#{}", number % PAGES, number / PAGES)).collect();
    let repeated: Vec<&str> = repeated.iter().map(String::as_str).collect();
    let weights = |importance: &str, rounds: usize| {
        let mut bench =
            Bench::new(&[("ranker.interval", "1h"), ("ranker.importance", importance), ("ranker.min_change", "0")]);
        let mut links = 0;
        for round in 0..rounds {
            for number in 0..PAGES {
                let own = if round == 0 { &repeated[..] } else { &repeated[..2 * PAGES] };
                links += own.len();
                bench.send(&format!("http://farm.test/{number}"), own, round == 0, number as i64);
                let ring: Vec<String> = (1..=6).map(|step| format!("/{}", (number + step) % PAGES)).collect();
                let ring: Vec<&str> = ring.iter().map(String::as_str).collect();
                bench.send(&format!("http://ring.test/{number}"), &ring, round == 0, number as i64);
                // In the end, the weights that are sent count what all pages have been given.
                if round + 1 < rounds {
                    let other = format!("http://other-{number}.test/");
                    bench.send(&other, &["http://farm.test/0", "http://ring.test/0"], round == 0, number as i64);
                }
            }
            bench.driver.clock.advance(HOUR);
            bench.ranked();
        }
        assert!(links >= 1_000_000);
        ["farm", "ring"]
            .map(|site| (0..PAGES).map(|page| bench.reported(&format!("http://{site}.test/{page}"))).sum::<f64>())
    };
    for (importance, rounds) in [("opic", 30), ("pagerank", 30), ("link-value", 4)] {
        let [farm, ring] = weights(importance, rounds);
        assert!(farm < 1.1 * ring, "{importance}: {farm} beside {ring}");
    }
}

#[test]
fn a_question_is_answered_by_the_partition_of_the_page_alone() {
    let mut bench = Bench::new(&[]);
    let url = CanonicalUrl::parse("http://a.test/").unwrap();
    let asked_at = bench.driver.clock.now();
    let asked = Question {
        question_id: "q".to_owned(),
        routing_key: url.site_key().as_str().to_owned(),
        about: QuestionKind::Page,
        url: Some(url),
        hosts: None,
        asked_at,
        answer_until: asked_at + HOUR,
        site: None,
        pages: None,
        version: None,
    };
    bench.driver.send(&bench.names.topic(topics::RANKER_EVENTS), asked.routing_key.as_bytes(), asked.encode()).unwrap();
    bench.driver.run_until_idle().unwrap();
    let answers = bench.driver.contents(&bench.names.topic(topics::ANSWERS)).unwrap();
    let answers: Vec<_> =
        answers.iter().map(|record| Answer::decode(record.value.as_deref().unwrap()).unwrap()).collect();
    let partition = stream::partitioner::partition_for(asked.routing_key.as_bytes(), PARTITIONS);
    assert_eq!(answers.len(), 1);
    assert_eq!((&*answers[0].stage, answers[0].partition), ("ranker", partition as i32));
    // The crawl has no topics.
    assert_eq!(answers[0].entry::<ranker::FocusedPage>(ranker::FOCUS.name()).unwrap(), None);
}

/// Each look finds thousands of addresses that no other page links to; some of them come back.
#[test]
fn endless_links_leave_the_accounts_within_their_limit_and_the_cash_whole() {
    let mut bench =
        Bench::new(&[("crawl.max_pages", "1000"), ("ranker.interval", "1h"), ("ranker.trusted", "[\"a.test\"]")]);
    let good: Vec<String> = (0..40).map(|number| format!("http://a.test/good/{number}")).collect();
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    for round in 0..12 {
        bench.send("http://a.test/", &good, round == 0, 0);
        let endless: Vec<String> = (0..6_000).map(|number| format!("/{}", round * 5_000 + number)).collect();
        let endless: Vec<&str> = endless.iter().map(String::as_str).collect();
        bench.send(&format!("http://endless.test/{}", round * 5_000), &endless, true, round);
        bench.driver.clock.advance(HOUR);
        bench.driver.run_until_idle().unwrap();
        if round == 7 {
            bench.driver.kill(0);
            bench.start();
        }
    }
    bench.ranked();
    assert_eq!(bench.books().iter().map(|(_, accounts, _)| accounts.len()).max(), Some(1 << 14));
    bench.check_cash();
    let kept = bench.pages();
    assert!(good.iter().all(|url| kept.contains_key(&CanonicalUrl::parse(url).unwrap().page_id())), "the richest stay");
}

#[test]
fn forms_of_addresses_are_bounded_and_those_that_are_seen_most_stay() {
    let mut bench = Bench::new(&[("crawl.max_pages", "1000"), ("ranker.interval", "1h")]);
    let word = |number: usize| -> String {
        (0..4).map(|place| char::from(b'a' + (number / 26_usize.pow(place) % 26) as u8)).collect()
    };
    (0..30).for_each(|day| bench.send(&format!("http://a.test/{day}"), &[], true, 7));
    (0..17_000).for_each(|number| bench.send(&format!("http://a.test/{}", word(number)), &[], true, 8));
    bench.driver.clock.advance(HOUR);
    bench.driver.run_until_idle().unwrap();
    bench.driver.clock.advance(HOUR);
    bench.driver.run_until_idle().unwrap();
    let forms = bench.forms();
    assert_eq!(forms.len(), 1 << 14, "one goes for each that is new");
    assert_eq!(forms.iter().filter(|form| form.looks >= 30.0).count(), 1);
}
