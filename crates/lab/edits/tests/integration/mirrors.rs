//! How many mirrors of real pages are found by texts, by links and by both, where the corpora are at hand.

use edits::{RealPage, measure_mirrors, mirror_total, real_pages};
use mirrors::Threshold;
use settings::Settings;

/// One page of this many is taken, to keep the test short. `examples/mirrors.rs` takes all.
const EVERY: usize = 4;

#[test]
fn links_find_mirrors_that_texts_miss_and_no_other_pages() {
    let Some(pages) = real_pages() else { return };
    let pages: Vec<RealPage> = pages.into_iter().step_by(EVERY).collect();
    let links = Threshold::at_least(9, 10).expect("it is a share");
    let rows = measure_mirrors(&pages, links, &Settings::default().urls.rules());
    rows.iter().for_each(|row| println!("{row:?}"));
    let total = mirror_total(&rows);
    let [by_texts, by_links, by_both] = total.by;
    let recall = |found: usize| found as f64 / total.mirrors as f64;
    assert!(recall(by_texts.found) > 0.86, "{total:?}");
    assert!(recall(by_both.found) > recall(by_texts.found) + 0.03, "{total:?}");
    assert!(by_both.precision() > 0.995, "{total:?}");
    assert!(by_links.precision() < by_both.precision() && by_links.found < by_texts.found, "{total:?}");
    // The same links are no evidence against other words.
    let other_words = rows.iter().find(|row| row.mirrors == 0 && row.name.ends_with("other words")).expect("a row");
    assert!(other_words.by[1].wrong > 20 * other_words.by[2].wrong, "{other_words:?}");
}
