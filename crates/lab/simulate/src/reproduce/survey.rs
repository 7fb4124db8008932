//! The survey of Meng, Wang & Yan: sizes of samples (eq 17) and the value of young pages (eq 18–23).

use super::Effort;
use super::row::ReproductionRow;
use crate::streams::Draws;
use literature::quality;
use literature::sampling::two_stage::{ChangedShares, SampledGroup, greedy_second_stage};

/// B9. Cho & Ntoulas 2002, Meng et al. eq 17: pages to sample of each group.
pub(super) fn sample_sizes(effort: &Effort) -> Vec<ReproductionRow> {
    let mut rows = Vec::new();
    for ([pages, budget, density, threshold, mean_above, mean], printed, best) in [
        ([100.0, 0.25, 1.0, 0.75, 0.875, 0.5], 3.33333333333, 5.0),
        ([400.0, 0.25, 1.0, 0.75, 0.875, 0.5], 6.66666666667, 10.0),
        ([400.0, 0.1, 1.0, 0.9, 0.95, 0.5], 3.8490017946, 6.32455532034),
        ([1000.0, 0.05, 0.8, 0.6, 0.7, 0.2], 3.6514837167, 13.8564064606),
        ([50.0, 0.5, 1.2, 0.4, 0.55, 0.4], 5.7735026919, 6.92820323028),
    ] {
        let shares = ChangedShares { density, threshold, mean_above, mean };
        let setting = format!("{pages} pages a group, {budget} of them fetched");
        let row = |what: &str, reference, ours| {
            ReproductionRow::exact("B9", format!("{what}, {setting}"), reference, ours, 1e-9 * reference)
        };
        rows.push(row("sample as printed", printed, shares.sample_size_as_printed(pages, budget)));
        rows.push(row("best sample", best, shares.sample_size(pages, budget)));
    }
    let what = "sample that finds the most changes, 400 pages a group, 0.25 of them fetched";
    rows.push(ReproductionRow::exact("B9", what, 10.0, f64::from(best_measured(effort)), 2.0).published("7 by eq 17"));
    rows
}

/// Sizes of samples that are tried.
const SIZES: [u32; 8] = [3, 5, 7, 8, 10, 12, 16, 20];
const PAGES: u32 = 400;
const GROUPS: usize = 4_000;

/// The size of sample that finds the most changed pages where a quarter of all pages is fetched and the changed shares of groups
/// are uniform.
fn best_measured(effort: &Effort) -> u32 {
    let mut found = [0.0; SIZES.len()];
    for replicate in 0..effort.replicates(6, 2) {
        let mut stream = effort.stream(replicate);
        let groups: Vec<Vec<u32>> = (0..GROUPS)
            .map(|_| {
                let share = stream.uniform();
                let mut changed = 0;
                // By number of pages looked at: how many of them have changed.
                let mut counts = vec![0];
                counts.extend((0..PAGES).map(|_| {
                    changed += u32::from(stream.uniform() < share);
                    changed
                }));
                counts
            })
            .collect();
        for (found, size) in found.iter_mut().zip(SIZES) {
            let sampled =
                |counts: &Vec<u32>| SampledGroup { sampled: size, changed: counts[size as usize], left: PAGES - size };
            let samples: Vec<SampledGroup> = groups.iter().map(sampled).collect();
            let budget = GROUPS as u64 * u64::from(PAGES / 4 - size);
            let fetches = greedy_second_stage(&samples, budget);
            *found +=
                groups.iter().zip(fetches).map(|(counts, more)| f64::from(counts[(size + more) as usize])).sum::<f64>();
        }
    }
    let best = SIZES.iter().zip(found).max_by(|one, other| one.1.total_cmp(&other.1));
    best.map_or(0, |(size, _)| *size)
}

/// D7. Cho, Roy & Adams 2005, Meng et al. eq 18–23: popularity, and quality from its growth. The survey prints formulas without
/// figures; the signs of eq 19 and the differences of eq 21 are put right.
pub(super) fn young_pages(_: &Effort) -> Vec<ReproductionRow> {
    let near = |what: String, reference: f64, ours| ReproductionRow::exact("D7", what, reference, ours, 1e-10);
    let mut rows = Vec::new();
    for (q, start, rate, t, now, simple, by_logarithm) in [
        (0.8, 0.001, 1.0, 5.0, 0.0511698859994, 0.812736034419, 0.80223748926),
        (0.8, 0.001, 1.0, 10.0, 0.630897591404, 0.799975584717, 0.79595972995),
        (0.4, 0.001, 1.0, 10.0, 0.0481467131461, 0.400851642143, 0.400428279914),
        (0.2, 0.05, 2.0, 3.0, 0.105065047477, 0.199687222267, 0.199966586439),
        (0.9, 0.9, 1.0, 7.0, 0.9, 0.9, 0.9),
    ] {
        let at = |t: f64| quality::popularity(q, start, rate, t);
        let (earlier, later) = (at(t - 0.5), at(t + 0.5));
        let page = format!("quality {q}, from {start}, after {t}");
        rows.push(near(format!("popularity (eq 20), {page}"), now, at(t)));
        rows.push(near(
            format!("quality by differences (eq 21), {page}"),
            simple,
            quality::quality(at(t), later - earlier, rate),
        ));
        let ours = quality::quality_between(earlier, later, 1.0, rate);
        rows.push(near(format!("quality by logarithms, {page}"), by_logarithm, ours));
    }
    for (popularity, start, q, reference) in
        [(0.2, 0.05, 0.5, 68.3761276107), (0.4, 0.05, 0.5, 85.0004070904), (0.3, 0.01, 0.9, 286.850543837)]
    {
        let what = format!("visits by a search engine (eq 23), quality {q}, from {start} to {popularity}");
        let ours = quality::visits_by_search(q, start, popularity);
        rows.push(ReproductionRow::exact("D7", what, reference, ours, 1e-9 * reference));
    }
    rows
}
