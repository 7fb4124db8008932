//! The published changes of a page as lives of its versions.

use ::page::Timestamp;
use change_rate::memoryless::{Lifetime, PageLives};
use messages::{PageChange, Verdict};
use scheduler::ListedPage;

/// Changes of a page that are kept, the first ones. Others are counted.
const MOST_CHANGES: usize = 100;

/// A published change, without its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KnownChange {
    pub(super) seen_at: Timestamp,
    previous_seen_at: Option<Timestamp>,
    pub(super) verdict: Verdict,
    pub(super) magnitude: f64,
    pub(super) content: bool,
    pub(super) links: bool,
    pub(super) structure: bool,
    /// Links that came and went, as far as they are listed.
    pub(super) links_added: usize,
    pub(super) links_removed: usize,
}

impl KnownChange {
    /// Whether the page shows something else than before.
    pub(super) fn is_change(&self) -> bool {
        matches!(self.verdict, Verdict::Minor | Verdict::Major)
    }
}

/// The changes of a page.
#[derive(Clone, Debug, Default)]
pub(super) struct PageChanges {
    kept: Vec<KnownChange>,
    pub(super) left_out: u64,
}

/// Versions that follow each other, from a look that saw the first one.
struct Run {
    began_at: Timestamp,
    version_since: Timestamp,
    lives: Vec<Lifetime>,
}

impl Run {
    fn new(began_at: Timestamp) -> Self {
        Self { began_at, version_since: began_at, lives: Vec::new() }
    }

    fn end_version(&mut self, last_seen_at: Timestamp, replaced_at: Option<Timestamp>) {
        let days = |time: Timestamp| time.days_since(self.version_since).max(0.0);
        self.lives.push(Lifetime { at_least_days: days(last_seen_at), at_most_days: replaced_at.map(days) });
        self.version_since = replaced_at.unwrap_or(last_seen_at);
    }

    /// Days from the first look to the last.
    fn days(&self) -> f64 {
        self.version_since.days_since(self.began_at).max(0.0) + self.lives.last().map_or(0.0, |life| life.at_least_days)
    }
}

impl PageChanges {
    pub(super) fn take(&mut self, change: &PageChange) {
        // Nothing that was published before counts any more.
        if change.verdict == Verdict::Forgotten {
            *self = Self::default();
            return;
        }
        if self.kept.len() >= MOST_CHANGES {
            self.left_out += 1;
            return;
        }
        self.kept.push(KnownChange {
            seen_at: change.seen_at,
            previous_seen_at: change.previous_seen_at,
            verdict: change.verdict,
            magnitude: change.magnitude,
            content: change.content_changed,
            links: change.links_changed,
            structure: change.structure_changed,
            links_added: change.links_added.len(),
            links_removed: change.links_removed.len(),
        });
    }

    /// Those by which the page shows something else.
    pub(super) fn changes(&self) -> impl Iterator<Item = &KnownChange> {
        self.kept.iter().filter(|change| change.is_change())
    }

    /// The lives of the page's versions, for the test of their distribution. A page that was gone, or in whose place something else
    /// was served, begins anew. `number` is the page's own.
    pub(super) fn lives(&self, page: &ListedPage, number: u64) -> Vec<PageLives> {
        // A page may have waited for its first look.
        let first_seen_at = match self.kept.first() {
            Some(KnownChange { verdict: Verdict::First, seen_at, .. }) => *seen_at,
            _ => page.discovered_at,
        };
        let Some(days_per_look) = days_per_look(page, first_seen_at) else { return Vec::new() };
        let runs = self.runs(page.last_look_at).into_iter();
        let tested = runs.filter_map(|run| {
            // Looks that found nothing are not kept one by one.
            let (ended, seen_again) = run.lives.iter().fold((0, 0), |(ended, again), life| {
                (ended + u32::from(life.at_most_days.is_some()), again + u32::from(life.at_least_days > 0.0))
            });
            let looks = (run.days() / days_per_look).round().min(f64::from(u32::MAX)) as u32;
            PageLives::new(&run.lives, looks.max(ended + seen_again), number)
        });
        tested.collect()
    }

    fn runs(&self, last_look_at: Option<Timestamp>) -> Vec<Run> {
        let (mut runs, mut current) = (Vec::new(), None::<Run>);
        let mut end = |run: Option<Run>, last_seen_at: Timestamp| {
            if let Some(mut run) = run {
                run.end_version(last_seen_at, None);
                runs.push(run);
            }
        };
        for change in &self.kept {
            let last_seen_at = change.previous_seen_at.unwrap_or(change.seen_at);
            match change.verdict {
                Verdict::First | Verdict::Returned => {
                    end(current.take(), last_seen_at);
                    current = Some(Run::new(change.seen_at));
                }
                Verdict::Minor | Verdict::Major => match &mut current {
                    Some(run) => run.end_version(last_seen_at, Some(change.seen_at)),
                    None => current = Some(Run::new(change.seen_at)),
                },
                Verdict::Gone | Verdict::Missing | Verdict::Obscured | Verdict::Redirected => {
                    end(current.take(), last_seen_at);
                }
                Verdict::Unchanged
                | Verdict::Cosmetic
                | Verdict::Unknown
                | Verdict::Unwatched
                | Verdict::Watched
                | Verdict::Forgotten
                | Verdict::Failed => {}
            }
        }
        // Where changes were left out, nothing is known of the time after the last one that was not.
        let known_to = if self.left_out == 0 { last_look_at } else { self.kept.last().map(|last| last.seen_at) };
        if let Some(known_to) = known_to {
            end(current, known_to);
        }
        runs
    }
}

/// The mean time between two looks. `None` if there are not two.
fn days_per_look(page: &ListedPage, first_seen_at: Timestamp) -> Option<f64> {
    let days = page.last_look_at?.days_since(first_seen_at);
    (page.fetches > 1 && days > 0.0).then(|| days / (page.fetches - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(verdicts: &[(Verdict, i64, Option<i64>)]) -> PageChanges {
        let day = |day: i64| Timestamp::from_micros(day * 86_400_000_000);
        let known = |(verdict, seen, previous): &(Verdict, i64, Option<i64>)| KnownChange {
            seen_at: day(*seen),
            previous_seen_at: previous.map(day),
            verdict: *verdict,
            magnitude: 0.1,
            content: true,
            links: false,
            structure: false,
            links_added: 0,
            links_removed: 0,
        };
        PageChanges { kept: verdicts.iter().map(known).collect(), left_out: 0 }
    }

    fn lives(changes: &PageChanges, last_look: i64) -> Vec<Vec<(f64, Option<f64>)>> {
        let runs = changes.runs(Some(Timestamp::from_micros(last_look * 86_400_000_000)));
        let of_run = |run: Run| run.lives.iter().map(|life| (life.at_least_days, life.at_most_days)).collect();
        runs.into_iter().map(of_run).collect()
    }

    #[test]
    fn a_version_lives_from_the_look_that_showed_it_until_some_time_between_two_looks() {
        use Verdict::{First, Major, Minor};
        let of_page = changes(&[(First, 1, None), (Minor, 4, Some(3)), (Major, 5, Some(4))]);
        assert_eq!(lives(&of_page, 9), [[(2.0, Some(3.0)), (0.0, Some(1.0)), (4.0, None)]]);
    }

    #[test]
    fn a_page_that_was_away_begins_anew_and_what_is_no_change_ends_nothing() {
        use Verdict::{First, Gone, Minor, Returned, Watched};
        let of_page = changes(&[(First, 1, None), (Watched, 2, Some(1)), (Gone, 5, Some(4)), (Returned, 8, Some(7))]);
        assert_eq!(lives(&of_page, 9), [[(3.0, None)], [(1.0, None)]]);
        // The first changes are no longer kept.
        assert_eq!(lives(&changes(&[(Minor, 3, Some(2)), (Minor, 6, Some(4))]), 6), [[(1.0, Some(3.0)), (0.0, None)]]);
        assert!(lives(&changes(&[]), 6).is_empty());
    }
}
