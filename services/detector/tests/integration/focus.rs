//! Focuses in the detector: a page is judged by those that the operator wants, anew when they change, and no longer when they are
//! gone.

use crate::bench::{Bench, URL};
use messages::{Encoded, FetchOutcome, FocusOrder, PageFocus, PageOutLinks, RankerEvent, topics};
use std::time::Duration;
use stream::Clock;

const SAILING: &str = "format = 1\nname = \"sailing\"\nthreshold = 0.2\nexamples = [\"http://www.site.test/news\"]\n\n\
                       [terms.en]\nsailing = 0.6\nmainsail = 0.5\nregatta = 0.4\nskipper = 0.4\n";
const COOKING: &str =
    "format = 1\nname = \"cooking\"\nthreshold = 0.2\n\n[terms.en]\ncook = 0.6\nonion = 0.5\nparsley = 0.4\n";
const PAGE: &str = "<title>News</title><main><p>The skipper of the sailing boat sets the mainsail before the regatta and goes on \
                    sailing.</p><p><a href=\"/1\">sailing regatta</a> and <a href=\"/2\">tomorrow's weather</a></p></main>";

fn order(bench: &mut Bench, name: &str, text: Option<&str>) {
    let ordered_at = bench.driver.clock.now();
    let order = FocusOrder { name: name.to_owned(), text: text.map(str::to_owned), ordered_at };
    bench.driver.send(&bench.names.topic(topics::FOCUS_ORDERS), name.as_bytes(), order.encode()).unwrap();
    // Orders are read once a second.
    bench.driver.clock.advance(Duration::from_secs(1));
    bench.driver.run_until_idle().unwrap();
}

/// A look that finds the page. Returns the links that the ranker received of it, if any.
fn look(bench: &mut Bench) -> Option<PageOutLinks> {
    see(bench, FetchOutcome::Fetched, Some(PAGE))
}

fn see(bench: &mut Bench, outcome: FetchOutcome, body: Option<&str>) -> Option<PageOutLinks> {
    let received = received(bench).len();
    bench.see(outcome, body);
    self::received(bench).into_iter().nth(received)
}

fn received(bench: &Bench) -> Vec<PageOutLinks> {
    let links = bench.read(topics::RANKER_EVENTS).into_iter().map(|event| match event {
        RankerEvent::Links(links) => links,
        other => panic!("the detector said {other:?}"),
    });
    links.collect()
}

/// The focus that a page is closest to.
fn best(focus: &PageFocus) -> (&str, bool) {
    let best = focus.relevances.iter().max_by(|a, b| a.relevance.total_cmp(&b.relevance)).unwrap();
    (&best.focus, best.relevance >= best.threshold)
}

#[test]
fn a_focus_is_added_changed_and_removed_while_a_page_stays_as_it_is() {
    let mut bench = Bench::new(&[]);
    assert_eq!(look(&mut bench), None, "links and focuses are not wanted");
    order(&mut bench, "sailing", Some(SAILING));
    let first = look(&mut bench).unwrap().focus.unwrap();
    assert_eq!((best(&first), first.is_target), (("sailing", true), true));
    assert!(first.promises.is_empty(), "links are not followed");
    assert_eq!(look(&mut bench), None, "it is judged");
    // Changed under the same name: another set, and another judgement.
    order(&mut bench, "sailing", Some(&SAILING.replace("0.2", "0.99")));
    let second = look(&mut bench).unwrap().focus.unwrap();
    assert_eq!(best(&second), ("sailing", false));
    assert_ne!(first.focus_version, second.focus_version);
    order(&mut bench, "cooking", Some(COOKING));
    let both = look(&mut bench).unwrap().focus.unwrap();
    assert_eq!(both.relevances.iter().map(|it| it.focus.as_str()).collect::<Vec<_>>(), ["cooking", "sailing"]);
    order(&mut bench, "cooking", None);
    let again = look(&mut bench).unwrap().focus.unwrap();
    assert_eq!(again.focus_version, second.focus_version, "the same focuses are the same set");
    // The last focus goes: the ranker receives once that there is nothing to say.
    order(&mut bench, "sailing", None);
    assert_eq!(look(&mut bench).unwrap().focus, None);
    assert_eq!(look(&mut bench), None);
}

#[test]
fn links_promise_by_their_words() {
    let mut bench = Bench::new(&[("crawl.discover", "same-site")]);
    assert_eq!(look(&mut bench).unwrap().focus, None);
    order(&mut bench, "sailing", Some(SAILING));
    let received = look(&mut bench).unwrap();
    let promises = received.focus.unwrap().promises;
    assert_eq!((received.links.len(), promises.len()), (2, 2));
    // Words around a link count half.
    assert_eq!(promises, [1.0, 0.5]);
}

#[test]
fn a_crash_forgets_no_order_and_judges_no_page_twice() {
    let mut bench = Bench::new(&[]);
    look(&mut bench);
    order(&mut bench, "sailing", Some(SAILING));
    let first = look(&mut bench).unwrap().focus.unwrap();
    bench.lose_everything_but_the_log();
    assert_eq!(look(&mut bench), None, "by the same focuses");
    // An order that comes while the stage is down.
    bench.driver.kill(0);
    order(&mut bench, "sailing", None);
    order(&mut bench, "cooking", Some(COOKING));
    bench.restart();
    let second = look(&mut bench).unwrap().focus.unwrap();
    assert_eq!(best(&second), ("cooking", false));
    assert_ne!(first.focus_version, second.focus_version);
}

#[test]
fn a_page_that_answers_without_a_body_is_asked_for_it_before_it_is_judged() {
    let mut bench = Bench::new(&[]);
    look(&mut bench);
    order(&mut bench, "sailing", Some(SAILING));
    let seen = bench.see(FetchOutcome::NotModified, None);
    assert_eq!(seen.observation.judgement.look_again_after_s, Some(0), "{URL}");
    assert!(received(&bench).is_empty());
    assert!(look(&mut bench).unwrap().focus.is_some());
}

#[test]
fn an_order_that_cannot_be_read_leaves_the_focuses_as_they_were_and_is_counted() {
    let mut bench = Bench::new(&[]);
    order(&mut bench, "sailing", Some(SAILING));
    let first = look(&mut bench).unwrap().focus.unwrap();
    order(&mut bench, "sailing", Some("format = 1\nname = \"sailing\"\nthreshold = \"much\"\n"));
    assert_eq!(look(&mut bench), None);
    assert_eq!(
        (bench.figure(metrics::detector::FOCUSES), bench.figure(metrics::detector::BAD_FOCUS_ORDERS)),
        (1.0, 1.0)
    );
    assert_eq!(best(&first), ("sailing", true));
}
