//! Published figures, and those of the algorithm notes, computed again with the code of this project.
//!
//! Results of a formula are compared to the digits given. Measurements on random pages are repeated on pages of our
//! own, and must agree within three standard errors, ours and those of the reference together, in addition to the
//! digits printed: of a thousand such comparisons about three fail by chance. Where a publication gives no numbers, or
//! not its pages, only the order counts.

mod allocation;
mod closed_loop;
mod detection;
mod estimators;
mod grids;
mod histogram;
mod mixing;
mod papers;
mod partitions;
mod renewals;
mod row;
mod schedules;
mod shards;
mod signals;
mod survey;
mod systems;

pub use row::{ReproductionRow, Setting};

use crate::streams::{Purpose, RandomStream};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Share of the replicates, above 0; 1 takes some minutes of one core for everything. With few replicates the
    /// standard errors themselves are uncertain, and some rows fail.
    pub share: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { seed: 1, share: 1.0 }
    }
}

impl Effort {
    /// This share of `full` replicates, and at least `least`.
    fn replicates(&self, full: usize, least: usize) -> usize {
        ((full as f64 * self.share) as usize).max(least)
    }

    /// The random numbers of one replicate.
    fn stream(&self, replicate: usize) -> RandomStream {
        RandomStream::new(self.seed, replicate as u64, Purpose::Policy)
    }
}

/// A published result that can be computed again.
#[derive(Clone, Copy, Debug)]
pub struct Reproduction {
    /// Name of a benchmark of the algorithm notes (R1, R2, ...) or of the section with the table (B12, ...). Large
    /// tables come in several parts with the same name.
    pub id: &'static str,
    pub title: &'static str,
    /// Computes its rows. Takes up to a minute; the same effort gives the same rows.
    pub run: fn(&Effort) -> Vec<ReproductionRow>,
}

const ALL: &[Reproduction] = &[
    Reproduction { id: "R1", title: "Cho & Garcia-Molina: best rates of five pages", run: papers::five_pages },
    Reproduction { id: "R2", title: "Cho & Garcia-Molina: the web in five classes", run: papers::web_classes },
    Reproduction { id: "R3", title: "Cho & Garcia-Molina: three orders of visits", run: papers::visit_orders },
    Reproduction { id: "R4", title: "Cho & Garcia-Molina: changes found", run: detection::changes_found },
    Reproduction { id: "R5", title: "Coffman, Liu & Weber: one server polling", run: papers::polling },
    Reproduction {
        id: "R6",
        title: "Azar et al.: rates for random looks, evenly spaced",
        run: schedules::low_discrepancy,
    },
    Reproduction { id: "R7", title: "Kolobov et al.: binary and harmonic cost of policies", run: papers::lambda_crawl },
    Reproduction { id: "R11", title: "Wen & Lu: ten pages in two classes", run: papers::two_classes },
    Reproduction { id: "B12", title: "Estimators: bias and error", run: estimators::bias_and_error },
    Reproduction { id: "B12", title: "Estimators: freshness by estimated rates", run: allocation::by_estimated_rates },
    Reproduction { id: "B12", title: "Estimators: learning while fetching", run: closed_loop::learning },
    Reproduction {
        id: "B9",
        title: "Cho & Ntoulas; Meng et al.: pages to sample of a group",
        run: survey::sample_sizes,
    },
    Reproduction { id: "C4", title: "Ni, Zou & Ding: sites in ranks 4, 2, 1", run: systems::site_ranks },
    Reproduction { id: "C6", title: "Univ. Chile: orders of pages", run: schedules::orders },
    Reproduction { id: "C7", title: "Edwards, McCurley & Tomlin: buckets and periods", run: systems::webfountain },
    Reproduction { id: "C11", title: "Wolf et al.; Meng et al.: changes of any hazard", run: renewals::stale_shares },
    Reproduction { id: "C12", title: "Carney, Lee & Zdonik: groups of similar pages", run: partitions::groups },
    Reproduction { id: "C16", title: "Busa-Fekete et al.: signals of changes", run: signals::policies },
    Reproduction { id: "C17", title: "One price from a histogram", run: histogram::prices },
    Reproduction { id: "C18", title: "Schedules that realise an allocation", run: schedules::realisations },
    Reproduction { id: "C18", title: "One budget over six shards", run: shards::budget_shares },
    Reproduction { id: "C19", title: "Sequences of seven schedulers", run: schedules::sequences },
    Reproduction { id: "C20", title: "A little harmonic penalty against starvation", run: mixing::thetas },
    Reproduction { id: "D4", title: "Ni, Zou & Ding: link values of four sites", run: systems::link_values },
    Reproduction { id: "D7", title: "Cho, Roy & Adams; Meng et al.: value of young pages", run: survey::young_pages },
    Reproduction { id: "E7", title: "Mirrors by links: comparisons by degree", run: systems::mirrors_by_links },
];

/// All reproductions, in the order of the algorithm notes.
pub fn all() -> &'static [Reproduction] {
    ALL
}

/// The parts of the reproduction with this name, ignoring case. Empty for an unknown name.
pub fn named(id: &str) -> Vec<&'static Reproduction> {
    ALL.iter().filter(|reproduction| reproduction.id.eq_ignore_ascii_case(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs all parts. Rows that do not hold may be off by this share of the reference, plus two in ten thousand.
    fn hold(ids: &[&str], share: f64, off: f64) {
        for id in ids {
            let parts = named(id);
            assert!(!parts.is_empty(), "{id}");
            for part in parts {
                let rows = (part.run)(&Effort { share, ..Effort::default() });
                assert!(!rows.is_empty(), "{id} has no rows");
                let near = |row: &ReproductionRow| {
                    off > 0.0 && (row.ours - row.reference).abs() <= off * row.reference.abs() + 2e-4
                };
                let failed: Vec<&ReproductionRow> = rows.iter().filter(|row| !row.within && !near(row)).collect();
                assert!(failed.is_empty(), "{id}, {}: {failed:#?}", part.title);
            }
        }
    }

    #[test]
    fn what_follows_from_formulas_is_as_published() {
        hold(&["R1", "R2", "R3", "R5", "R7", "R11", "C4", "C7", "C11", "C19", "D4", "D7", "E7"], 1.0, 0.0);
    }

    #[test]
    fn what_is_cheap_to_measure_agrees() {
        hold(&["R4", "R6", "B9", "C20"], 0.25, 0.0);
    }

    // Two replicates hardly show the spread of replicates: their mean is near the reference, but not always within
    // three of their standard errors.
    const FEW: f64 = 0.02;

    #[test]
    fn estimators_are_about_as_good_as_measured() {
        hold(&["B12"], FEW, 0.25);
    }

    #[test]
    fn allocations_and_schedules_are_about_as_good_as_measured() {
        hold(&["C6", "C12", "C16", "C18"], FEW, 0.25);
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(named("b12").len(), 3);
        assert!(named("R99").is_empty());
    }

    #[test]
    fn the_same_effort_gives_the_same_rows() {
        let effort = Effort { seed: 3, share: 0.05 };
        assert_eq!(mixing::thetas(&effort), mixing::thetas(&effort));
        assert_ne!(mixing::thetas(&effort), mixing::thetas(&Effort { seed: 4, ..effort }));
    }
}
