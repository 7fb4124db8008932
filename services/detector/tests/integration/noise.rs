//! Noise and news, live: what a second look proves, and what it does not.

use crate::bench::{Bench, FIRST, html};
use messages::FetchOutcome;
use page::Timestamp;

/// Looks at a page once a day, and again at once whenever the detector asks for it. Returns the days on which a change was
/// published and the days of second and third looks.
fn looked_at(days: u32, mut page_at: impl FnMut(u32, bool) -> String) -> (Vec<u32>, Vec<u32>) {
    let mut bench = Bench::new(&[]);
    let (mut reported, mut asked) = (Vec::new(), Vec::new());
    for day in 0..days {
        let mut seen = bench.see(FetchOutcome::Fetched, Some(&page_at(day, false)));
        reported.extend(seen.change.as_ref().map(|_| day));
        while seen.observation.judgement.look_again_after_s == Some(0) {
            asked.push(day);
            let mut again = bench.answer(FetchOutcome::Fetched, Some(&page_at(day, true)));
            again.look.fetched_at = Timestamp::from_micros(seen.observation.look.fetched_at.as_micros() + 30_000_000);
            seen = bench.see_result(&again);
        }
    }
    (reported, asked)
}

fn with_price(number: u32) -> String {
    html(&[FIRST, &[&format!("The ticket of the day costs {number} euro")]].concat())
}

#[test]
fn the_same_bytes_from_a_cache_do_not_make_noise_news() {
    let mut asked = 0;
    // The cache answers the first two of these looks. The third comes when its copy has just expired.
    let (reported, asked_on) = looked_at(40, |day, second| {
        asked += u32::from(second);
        with_price(10 * day + if second && asked >= 3 { asked } else { 0 })
    });
    assert_eq!(asked_on, [5, 7, 23, 23], "asked for until two can tell, and then no more");
    assert_eq!(reported, (0..=23).collect::<Vec<_>>(), "reported while in doubt, and then no more");
}

#[test]
fn most_of_a_page_is_reported_however_often_it_changes() {
    let page = |day: u32, second: bool| {
        let text = |number: usize| {
            let words = ["sentence", "of", "the", "day", "has", "news", "for", "you"];
            words.map(|word| format!("{word}{day}{second}{number}")).join(" ")
        };
        let text: Vec<String> = (0..8).map(text).collect();
        html(&text.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(looked_at(20, page).0.len(), 20);
}

#[test]
fn two_versions_in_turn_are_reported_a_few_times_and_a_third_at_once() {
    let (reported, _) = looked_at(20, |day, _| match day {
        19 => html(&["This", "is", "another", "page", "now", "altogether"]),
        day if day % 2 == 0 => html(FIRST),
        day => html(&["One", "two", "three", "four", "five", if day > 12 { "seven" } else { "six" }]),
    });
    assert_eq!(reported, [0, 1, 2, 3, 13, 19], "the first turns, an edit of one version, a third version");
}
