//! The extents of changes teach about a page and its site.

use crate::bench::Bench;
use messages::Verdict;

const URL: &str = "http://a.site.test/docs/x.html";

#[test]
fn the_extents_of_changes_are_learned_by_page_and_by_site() {
    let mut bench = Bench::new();
    let ordinary = bench.look(URL, 0.0, Verdict::First).belief.mean_extent;
    assert_eq!(ordinary, change_rate::ORDINARY_EXTENT as f32);
    let quiet = bench.look(URL, 1.0, Verdict::Cosmetic).belief.mean_extent;
    assert_eq!(quiet, ordinary, "only a change has an extent");
    let changed = |bench: &mut Bench, url: &str, magnitude: f64| {
        bench.magnitude = magnitude;
        bench.look(url, 1.0, Verdict::Minor).belief.mean_extent
    };
    let small: Vec<f32> = (0..20).map(|_| changed(&mut bench, URL, 0.02)).collect();
    assert!(small[0] < ordinary && small[19] < 0.04 && small.is_sorted_by(|one, next| one > next), "{small:?}");
    // Its site has taught what a page without a change is believed of.
    let sibling = bench.look("http://a.site.test/docs/y.html", 0.0, Verdict::First).belief.mean_extent;
    let stranger = bench.look("http://b.elsewhere.test/y.html", 0.0, Verdict::First).belief.mean_extent;
    assert!(sibling < 0.06 && stranger == ordinary, "{sibling} {stranger}");
    // Gone is a change of everything, whatever the text was.
    let gone = bench.look(URL, 1.0, Verdict::Gone).belief.mean_extent;
    assert!(gone > small[19] + 0.02, "{gone}");
    bench.restart();
    let again = bench.look(URL, 1.0, Verdict::Unchanged).belief.mean_extent;
    assert_eq!(again, gone, "page and site are restored");
}
