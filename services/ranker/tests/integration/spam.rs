//! Sites that live on exchanged links, where the setting is on.

use crate::bench::Bench;
use page::{HOUR, SiteKey};
use ranker::{NEIGHBOURS, NeighbourKey};

const ON: (&str, &str) = ("ranker.spam_shape", "true");
const HOURLY: (&str, &str) = ("ranker.interval", "1h");
const FARM: usize = 12;

fn farm(number: usize) -> String {
    format!("http://farm-{}.test/", number % FARM)
}

fn honest(number: usize) -> String {
    format!("http://honest-{}.test/", number % 30)
}

/// Twelve sites that all link each other, and thirty that link some of the others, of which none links back.
fn pages() -> Vec<(String, Vec<String>)> {
    let of_farm = |number| (farm(number), (1..FARM).map(|step| farm(number + step)).collect());
    let of_honest = |number| (honest(number), (1..8).map(|step| honest(number + step)).collect());
    (0..FARM).map(of_farm).chain((0..30).map(of_honest)).collect()
}

fn crawl(bench: &mut Bench, looks: i32) {
    for look in 0..looks {
        for (number, (source, targets)) in pages().iter().enumerate() {
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            bench.send(source, &targets, look == 0, number as i64);
        }
        bench.driver.clock.advance(HOUR);
        bench.ranked();
    }
}

/// The mean weights of the farm and of the honest sites.
fn weights(bench: &Bench) -> (f64, f64) {
    let mean = |count: usize, url: fn(usize) -> String| {
        (0..count).map(|number| bench.reported(&url(number))).sum::<f64>() / count as f64
    };
    (mean(FARM, farm), mean(30, honest))
}

#[test]
fn a_farm_loses_most_of_its_weight_and_honest_sites_weigh_what_they_did() {
    let mut off = Bench::new(&[HOURLY]);
    crawl(&mut off, 6);
    let (farm_before, honest_before) = weights(&off);
    let mut on = Bench::new(&[HOURLY, ON]);
    crawl(&mut on, 6);
    on.check_cash();
    let (farm_now, honest_now) = weights(&on);
    assert!(farm_now < 0.6 * farm_before && farm_now > 0.05, "{farm_before} became {farm_now}");
    assert!((honest_now / honest_before - 1.0).abs() < 0.01, "{honest_before} became {honest_now}");
    assert_eq!(off.pages().len(), on.pages().len(), "no page is left out");
}

#[test]
fn the_judgement_outlives_the_ranker_and_ends_with_the_setting() {
    let mut bench = Bench::new(&[HOURLY, ON]);
    crawl(&mut bench, 4);
    let (demoted, _) = weights(&bench);
    bench.restart(&[HOURLY, ON]);
    // One look is enough: what was seen before is known.
    let (source, targets) = &pages()[0];
    bench.send(source, &targets.iter().map(String::as_str).collect::<Vec<_>>(), false, 0);
    bench.ranked();
    assert!(bench.reported(&farm(1)) < 1.6 * demoted, "{} after {demoted}", bench.reported(&farm(1)));
    bench.restart(&[HOURLY]);
    crawl(&mut bench, 2);
    assert!(weights(&bench).0 > 1.5 * demoted, "{:?} after {demoted}", weights(&bench));
}

#[test]
fn trusted_pages_keep_their_weight() {
    let trusted = ("ranker.trusted", "[\"*.test\"]");
    let mut bench = Bench::new(&[HOURLY, ON, trusted]);
    crawl(&mut bench, 6);
    let mut off = Bench::new(&[HOURLY, trusted]);
    crawl(&mut off, 6);
    let ((farm_on, _), (farm_off, _)) = (weights(&bench), weights(&off));
    assert!((farm_on / farm_off - 1.0).abs() < 0.01, "{farm_off} became {farm_on}");
}

#[test]
fn nothing_is_kept_of_neighbours_while_the_setting_is_off() {
    let mut bench = Bench::new(&[HOURLY]);
    crawl(&mut bench, 2);
    assert_eq!(bench.neighbours(&farm(0)), None);
    let mut bench = Bench::new(&[HOURLY, ON]);
    crawl(&mut bench, 2);
    let (linked, linking) = bench.neighbours(&farm(0)).unwrap();
    assert_eq!((linked, linking), (FARM - 1, FARM - 1));
}

impl Bench {
    /// Number of the sites that the site of a page links to, and of those that link to it.
    fn neighbours(&self, url: &str) -> Option<(usize, usize)> {
        let site = SiteKey::from_domain(url.trim_start_matches("http://").trim_end_matches('/').to_owned());
        let kept =
            self.tables().into_iter().find_map(|tables| tables.get(NEIGHBOURS, &NeighbourKey::of(&site)).unwrap())?;
        Some((kept.linked.len(), kept.linking.len()))
    }
}
