//! The bands that the matcher receives: it has those of each page's last version, and no others.

use crate::bench::{Bench, FIRST, URL, html};
use messages::{Encoded, FetchOutcome, PageBand, PageRemoval, Verdict, topics};
use page::{CanonicalUrl, PageId};
use std::collections::BTreeMap;

const MIRRORS: &str = "[detector]\nmirrors = true\n";
const NO_MIRRORS: &str = "";

const SECOND: &[&str] = &[
    "On Tuesday the baker of the upper village opened a second shop, where nothing but rye bread is sold all day.",
    "Three hundred people walked through the vineyards in the rain to see where the new railway tunnel will begin.",
    "The school's old bell was found in a cellar, wrapped in newspapers that nobody living remembers to have read.",
];
const THIRD: &[&str] = &[
    "Whoever wants to learn how to repair bicycles may come to the fire station every other Thursday after seven.",
    "A flock of cranes rested on the flooded meadows for two nights and left before the photographers had arrived.",
    "The orchard behind the monastery is to be cut down, unless somebody pays for its wall before winter comes.",
];

/// Sketches by band and page.
type Bands = BTreeMap<(mirrors::BandKey, PageId), Vec<u8>>;

/// The bands that the matcher keeps once it has read everything.
fn kept(bench: &Bench) -> Bands {
    let mut kept = BTreeMap::new();
    for PageBand { band, page_id, sketch, .. } in bench.read(topics::PAGE_BANDS) {
        match sketch {
            Some(sketch) => kept.insert((band.0, page_id), sketch),
            None => kept.remove(&(band.0, page_id)),
        };
    }
    kept
}

fn see(bench: &mut Bench, text: &[&str]) {
    bench.see(FetchOutcome::Fetched, Some(&html(text)));
}

/// The bands that the matcher keeps of a page that shows this and nothing else.
fn bands_of(text: &[&str]) -> Bands {
    let mut bench = Bench::configured(MIRRORS);
    see(&mut bench, text);
    let bands = kept(&bench);
    assert!(bands.len() > 2, "{bands:?}");
    bands
}

fn remove(bench: &mut Bench, last_attempt: Option<i64>) {
    let url = CanonicalUrl::parse(URL).unwrap();
    let site = url.site_key();
    let removal = PageRemoval { url, removed_at: stream::Clock::now(&*bench.driver.clock), last_attempt };
    bench.driver.send(&bench.names.topic(topics::FETCH_RESULTS), site.as_str().as_bytes(), removal.encode()).unwrap();
    bench.driver.run_until_idle().unwrap();
}

#[test]
fn bands_are_those_of_the_last_version() {
    let mut bench = Bench::configured(MIRRORS);
    for text in [FIRST, SECOND, THIRD] {
        see(&mut bench, text);
        assert_eq!(kept(&bench), bands_of(text));
    }
    bench.see(FetchOutcome::Gone, None);
    assert_eq!(kept(&bench), Bands::new());
    see(&mut bench, THIRD);
    assert_eq!(kept(&bench), bands_of(THIRD));
}

#[test]
fn bands_of_a_page_that_changes_while_mirrors_are_not_searched_for_are_taken_out() {
    let mut bench = Bench::configured(MIRRORS);
    see(&mut bench, FIRST);
    bench.restart_with(NO_MIRRORS);
    see(&mut bench, FIRST);
    assert_eq!(kept(&bench), bands_of(FIRST), "they are right");
    see(&mut bench, SECOND);
    assert_eq!(kept(&bench), Bands::new());
    let reported = bench.read(topics::PAGE_BANDS).len();
    see(&mut bench, FIRST);
    assert_eq!(bench.read(topics::PAGE_BANDS).len(), reported, "the matcher knows nothing of it");
    bench.restart_with(MIRRORS);
    see(&mut bench, THIRD);
    assert_eq!(kept(&bench), bands_of(THIRD));
}

#[test]
fn bands_of_a_removed_page_are_taken_out_whether_or_not_mirrors_are_searched_for() {
    for (settings, last_attempt) in [(MIRRORS, None), (NO_MIRRORS, None), (MIRRORS, Some(7)), (NO_MIRRORS, Some(7))] {
        let mut bench = Bench::configured(MIRRORS);
        see(&mut bench, FIRST);
        bench.restart_with(settings);
        remove(&mut bench, last_attempt);
        assert_eq!(kept(&bench), Bands::new(), "{settings:?} {last_attempt:?}");
    }
}

#[test]
fn bands_follow_the_rule_that_a_page_is_read_by() {
    let ruled = |rule: &str| format!("{MIRRORS}[[rules]]\npages = [\"www.site.test/*\"]\n{rule}\n");
    let mut bench = Bench::configured(&ruled("ignore = [\".menu\"]"));
    see(&mut bench, FIRST);
    bench.restart_with(&ruled("ignore = [\".teaser\"]"));
    let seen = bench.see(FetchOutcome::Fetched, Some(&html(SECOND)));
    assert_eq!(seen.observation.judgement.verdict, Verdict::Cosmetic, "the two cannot be compared");
    assert_eq!(kept(&bench), bands_of(SECOND));
    // What is watched is compared with no other page.
    bench.restart_with(&ruled("watch = [\"p\"]"));
    see(&mut bench, THIRD);
    assert_eq!(kept(&bench), Bands::new());
}

const BY_LINKS: &str = "[detector]\nmirrors = true\nmirror_links = 0.8\n";

/// The page with links to these pages of its host and one elsewhere.
fn linking(text: &[&str], links: std::ops::Range<u32>) -> String {
    let links: String = links.map(|number| format!("<a href=\"/{number}\">{number}</a> ")).collect();
    html(text).replace("</body>", &format!("<p>{links}<a href=\"http://other.test/\">other</a></p></body>"))
}

fn see_linking(bench: &mut Bench, text: &[&str], links: std::ops::Range<u32>) {
    bench.see(FetchOutcome::Fetched, Some(&linking(text, links)));
}

/// The numbers of the links in the sketches that the matcher keeps, without repetitions.
fn degrees(bench: &Bench) -> Vec<Option<usize>> {
    let decode = |bytes: Vec<u8>| mirrors::MirrorSketch::decode(&bytes).unwrap();
    let mut degrees: Vec<_> =
        kept(bench).into_values().map(|bytes| decode(bytes).links().map(mirrors::LinkSketch::degree)).collect();
    degrees.dedup();
    degrees
}

#[test]
fn bands_of_links_are_those_of_the_last_version() {
    let mut bench = Bench::configured(BY_LINKS);
    let link_bands = |bench: &Bench| kept(bench).into_keys().filter(|(band, _)| band[0] >= 128).count();
    see_linking(&mut bench, FIRST, 0..20);
    assert_eq!((link_bands(&bench), degrees(&bench)), (12, vec![Some(21)]));
    see_linking(&mut bench, SECOND, 30..60);
    assert_eq!((link_bands(&bench), degrees(&bench)), (12, vec![Some(31)]));
    // Too few links are no evidence.
    see_linking(&mut bench, THIRD, 0..8);
    assert_eq!((link_bands(&bench), degrees(&bench)), (0, vec![None]));
    see_linking(&mut bench, FIRST, 0..20);
    assert_eq!(link_bands(&bench), 12);
    bench.restart_with(MIRRORS);
    see_linking(&mut bench, SECOND, 0..20);
    assert_eq!((link_bands(&bench), degrees(&bench)), (0, vec![None]), "links are not wanted any more");
    bench.restart_with(BY_LINKS);
    see_linking(&mut bench, THIRD, 0..20);
    assert_eq!(link_bands(&bench), 12);
    remove(&mut bench, None);
    assert_eq!(kept(&bench), Bands::new());
}

#[test]
fn a_page_of_many_links_is_compared_by_its_text_alone() {
    let mut bench = Bench::configured(BY_LINKS);
    see_linking(&mut bench, FIRST, 0..1_100);
    assert_eq!(degrees(&bench), [None]);
}
