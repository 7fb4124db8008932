//! Published systems: what the papers on site ranks, on mirrors by links and on WebFountain print.

use super::Effort;
use super::row::ReproductionRow;
use literature::mirrors_by_links::{DegreeBounds, DegreeHistogram, LinkSet, Threshold};
use literature::ranking::{Edge, Graph, Repeats, link_value};
use policies::site_ranks::{Phases, rank, visited};
use policies::webfountain::{Bucket, Cohort, Period, WebFountainModel};

fn exact(id: &'static str, what: impl Into<String>, reference: f64, ours: f64) -> ReproductionRow {
    ReproductionRow::exact(id, what, reference, ours, 1e-9 * reference.abs())
}

/// C4. Ni, Zou & Ding: nine sites in ranks 4, 2, 1.
pub(super) fn site_ranks(_: &Effort) -> Vec<ReproductionRow> {
    const SITES: u64 = 9;
    let rank_of = |site: u64| rank(site as usize + 1, SITES as usize);
    let visits = |site: u64, phases| (1..=4).filter(|&pass| visited(rank_of(site), pass, site, phases)).count();
    let mut rows: Vec<ReproductionRow> = [(0, 4.0, "4"), (3, 2.0, "2"), (6, 1.0, "1")]
        .map(|(site, reference, printed)| {
            let what = format!("visits in four passes, site {} of {SITES}", site + 1);
            exact("C4", what, reference, visits(site, Phases::AsPublished) as f64).published(printed)
        })
        .to_vec();
    for (pass, reference) in (1..).zip([9.0, 3.0, 6.0, 3.0]) {
        let sites = (0..SITES).filter(|&site| visited(rank_of(site), pass, site, Phases::AsPublished)).count();
        rows.push(exact(
            "C4",
            format!("sites visited in pass {pass}, all begin with the first"),
            reference,
            sites as f64,
        ));
    }
    for (phases, name) in [(Phases::AsPublished, "all begin with the first pass"), (Phases::Hashed, "phases by site")] {
        let all: usize = (0..SITES).map(|site| visits(site, phases)).sum();
        rows.push(exact("C4", format!("share of a full pass, {name}"), 7.0 / 12.0, all as f64 / (4 * SITES) as f64));
    }
    rows.into_iter().map(|row| row.policy("site-ranks")).collect()
}

/// D4. The same: link values of four sites, with the published cut of the value that overflows, and with that of all values.
pub(super) fn link_values(_: &Effort) -> Vec<ReproductionRow> {
    let links = [(0, 1), (0, 2), (1, 2), (2, 0), (2, 3), (3, 0), (3, 1)];
    let edges = links.iter().map(|&(from, to)| Edge::plain(from, to)).collect();
    let Ok(graph) = Graph::new(4, edges, Repeats::Once) else { return Vec::new() };
    let published: [(u32, [u32; 4]); 6] = [
        (1, [4, 3, 2, 2]),
        (2, [32, 22, 13, 15]),
        (5, [14318, 9815, 5787, 6658]),
        (6, [330, 273, 44238, 50896]),
        (9, [618, 48251, 48249, 309]),
        (12, [54538, 978, 53883, 327]),
    ];
    let corrected = [
        (5, [14318.0, 9815.0, 5787.0, 6658.0]),
        (6, [330.835_306_459_271, 273.914_220_149_301, 210.328_314_784_291, 225.601_418_435_257]),
    ];
    let mut rows = Vec::new();
    for (passes, values) in published {
        let ours = link_value::after_passes_as_published(&graph, passes);
        rows.extend((0..4).map(|site| {
            let what = format!("value of site {} after pass {passes}, as published", site + 1);
            exact("D4", what, f64::from(values[site]), f64::from(ours[site]))
        }));
    }
    for (passes, values) in corrected {
        let ours = link_value::after_passes(&graph, passes);
        rows.extend((0..4).map(|site| {
            let what = format!("value of site {} after pass {passes}, all values cut", site + 1);
            exact("D4", what, values[site], ours[site])
        }));
    }
    rows
}

/// E7. Mirrors by links: the rows of Table 1 and the bound on the degrees of mirrors.
pub(super) fn mirrors_by_links(_: &Effort) -> Vec<ReproductionRow> {
    // The numbers of pages by out-degree that the table uses.
    let tail = [12, 9, 16, 22, 12, 9, 21, 10, 9, 10, 11, 17, 15, 10, 9];
    let counts = [(10, 3171), (11, 2748), (12, 2445)].into_iter().chain((136..=150).zip(tail));
    let histogram: DegreeHistogram = counts.flat_map(|(degree, pages)| std::iter::repeat_n(degree, pages)).collect();
    let Some(above) = Threshold::above(9, 10) else { return Vec::new() };
    let pairs = [
        (10, 10, 5_026_035.0, "(3171 * 3170)/2"),
        (11, 10, 8_713_908.0, "2748 * 3171"),
        (11, 11, 3_774_378.0, "(2748 * 2747)/2"),
        (12, 11, 6_718_860.0, "2445 * 2748"),
        (150, 136, 108.0, "9 * 12"),
        (150, 139, 198.0, "9 * 22"),
        (150, 149, 90.0, "9 * 10"),
        (150, 150, 36.0, "(9 * 8)/2"),
    ];
    let mut rows: Vec<ReproductionRow> = pairs
        .map(|(m, n, reference, printed)| {
            let what = format!("comparisons of degree {m} with {n}");
            exact("E7", what, reference, histogram.pairs(m, n) as f64).published(printed)
        })
        .to_vec();
    let until = |greatest| histogram.comparisons(DegreeBounds { least: 10, greatest }, above) as f64;
    rows.push(exact("E7", "comparisons of degree 150 with 136 to 150", 1683.0, until(150) - until(149)));
    let all: DegreeHistogram = std::iter::repeat_n(10, 270_000).collect();
    let what = "comparisons of all 270,000 pages with each other";
    rows.push(exact("E7", what, 36_449_865_000.0, all.pairs(10, 10) as f64).published("36450000000"));
    for (degree, reference, printed) in [(11, 1.0, "1"), (12, 1.0, "1"), (150, 14.0, "16")] {
        let below = degree - above.lowest_partner_degree(degree);
        let what = format!("degrees below {degree} that are compared");
        rows.push(exact("E7", what, reference, below as f64).published(printed));
    }
    // The theorem, by trial: one page has the first links of the other.
    for (degree, (numerator, denominator), reference) in
        [(150, (9, 10), 136.0), (100, (8, 10), 81.0), (40, (95, 100), 39.0)]
    {
        let first_links = |links: u64| LinkSet::from_hashes((0..links).map(chance::splitmix64).collect());
        let whole = first_links(degree);
        let is_mirror = |links: &u64| {
            Threshold::above(numerator, denominator).is_some_and(|above| first_links(*links).resembles(&whole, above))
        };
        let fewest = (1..=degree).find(is_mirror).unwrap_or(0);
        let what = format!("fewest links of a mirror of {degree} links, resemblance above {numerator}/{denominator}");
        rows.push(exact("E7", what, reference, fewest as f64));
    }
    rows
}

/// C7. Edwards, McCurley & Tomlin: the reference model of the algorithm notes, as the paper prints no parameters. Five buckets,
/// eight periods of 20 fetches.
pub(super) fn webfountain(_: &Effort) -> Vec<ReproductionRow> {
    let model = |capacity: f64, last_weight: f64| {
        let buckets = [(0.05, 40.0), (0.2, 30.0), (0.5, 20.0), (1.0, 15.0), (3.0, 10.0)];
        let bucket = |(change_rate_per_period, pages)| Bucket {
            change_rate_per_period,
            weight: 1.0,
            cost: 1.0,
            cohorts: vec![Cohort { age_periods: 0.0, pages }],
        };
        let period = |number| Period { capacity, weight: if number == 8 { last_weight } else { 1.0 }, arrivals: 0.0 };
        WebFountainModel {
            buckets: buckets.map(bucket).to_vec(),
            periods: (1..=8).map(period).collect(),
            new_pages: None,
        }
    };
    // A program that the solver cannot solve agrees with nothing.
    let objective = |model: &WebFountainModel| model.solve().map_or(f64::NAN, |plan| plan.objective);
    let even = model(20.0, 1.0);
    let greedy = even.myopic().map_or(f64::NAN, |plan| plan.objective);
    let sprint = model(20.0, 20.0);
    let near = |what: &str, reference, ours, tolerance| ReproductionRow::exact("C7", what, reference, ours, tolerance);
    let mut rows = vec![
        near("obsolete pages, all periods alike", 289.564_052_580_1, objective(&even), 1e-6),
        near("obsolete pages, the most valuable fetch first", 314.859_538, greedy, 1e-5),
        near("obsolete pages, nothing fetched", 515.136_044, objective(&model(0.0, 1.0)), 1e-5),
        near("obsolete pages, the last period counts 20 times", 905.885_516_801_8, objective(&sprint), 1e-6),
    ];
    let last = sprint.solve().map(|plan| plan.fetches).unwrap_or_default();
    for (bucket, reference) in [0.0, 0.0, 0.0, 10.0, 10.0].into_iter().enumerate() {
        let fetches = last.get(bucket).and_then(|periods| periods.last()).copied().unwrap_or(f64::NAN);
        let what = format!("fetches of bucket {} in a last period that counts 20 times", bucket + 1);
        rows.push(ReproductionRow::exact("C7", what, reference, fetches, 1e-6));
    }
    rows.into_iter().map(|row| row.policy("webfountain").estimator("known")).collect()
}
