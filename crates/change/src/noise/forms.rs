//! Texts that move by themselves from look to look. They are known by the form of the text around them: `# ago`, `# likes`,
//! `token=#`. The forms are learned from ordinary looks, because two looks within a minute find them quiet.

use super::runs::{Run, RunKind};
use crate::second_looks::is_back_to_back;
use chance::splitmix64;
use document::passage_hash;
use std::collections::BTreeMap;

/// The most forms of a page that are remembered. The ones with the least evidence are dropped.
const MAX_FORMS: usize = 64;
/// A form follows the clock if at least this many of its changes matched the elapsed time.
const CLOCK_FITS: u8 = 2;
/// At least this many changes must match for each one that does not.
const CLOCK_FITS_PER_MISFIT: u8 = 3;
/// The most evidence for the clock that a single look adds, because a list of news has many ages.
const MAX_FITS_PER_LOOK: u8 = 3;
/// A number only grows if it grew at at least this many looks.
const GROWTH_FITS: u8 = 4;
/// It must have grown at this many looks for each at which it fell.
const GROWTH_FITS_PER_MISFIT: u8 = 8;
/// A form never rests if it changed at at least this many looks.
const RESTLESS_LOOKS: u8 = 6;
/// It must have changed at this many looks for each that found it quiet.
const RESTLESS_LOOKS_PER_QUIET: u8 = 6;
/// A number is drawn anew if it rose and fell at at least this many looks each.
const DRAWN_LOOKS: u8 = 2;
/// A date that is not the day of the look moves daily if it moved with the clock at at least this many looks, and at no look
/// otherwise.
const DAYS: u8 = 3;
/// Evidence is halved when it exceeds this, so that a page may come to differ.
const MAX_EVIDENCE: u8 = 100;
/// The bit of forms whose quiet looks are counted.
const STEADY: u32 = 1 << 31;

/// The form of a text that may move with the clock: its neighbour, and the side on which that stands.
pub(super) fn clock_form(side: &str, neighbour: &str) -> u32 {
    let hash = splitmix64(passage_hash(side.as_bytes()) ^ passage_hash(neighbour.as_bytes()).rotate_left(1));
    (hash >> 32) as u32 & !STEADY
}

/// The form of a text that may change at each look.
pub(super) fn steady_form(side: &str, neighbour: &str) -> u32 {
    clock_form(side, neighbour) | STEADY
}

/// The evidence of one form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormEvidence {
    fits: u8,
    misfits: u8,
    /// Looks that found it quiet. Counted for steady forms only.
    quiet: u8,
}

/// The forms of one page, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forms(BTreeMap<u32, FormEvidence>);

impl Forms {
    /// Records the runs of a look.
    pub(crate) fn observe<'r>(&mut self, runs: impl Iterator<Item = &'r Run>, since_last_look_s: Option<i64>) {
        if is_back_to_back(since_last_look_s) {
            return;
        }
        let mut seen: BTreeMap<u32, FormEvidence> = BTreeMap::new();
        for run in runs {
            for form in run.forms.into_iter().flatten() {
                let fits = match run.kind {
                    RunKind::Words => continue,
                    RunKind::Id => true,
                    RunKind::Count { has_grown } | RunKind::NamingNumber { has_grown } => has_grown,
                    RunKind::Age { fits_clock } => fits_clock,
                    RunKind::Day { is_today, has_moved } => {
                        if is_steady(form) {
                            has_moved
                        } else {
                            is_today
                        }
                    }
                };
                if is_steady(form) && !run.is_in_place {
                    continue;
                }
                let evidence = seen.entry(form).or_default();
                let count = if fits { &mut evidence.fits } else { &mut evidence.misfits };
                *count = count.saturating_add(1);
            }
        }
        self.pass_quiet_counts(|form| seen.contains_key(&form));
        for (form, seen) in seen {
            self.0.entry(form).or_default().add(form, seen);
        }
        self.forget_the_least();
    }

    /// Gives a form the evidence of the one that it replaces, if it has none.
    pub(crate) fn carry(&mut self, [old, new]: [u32; 2]) {
        if let (Some(evidence), None) = (self.0.get(&old).copied(), self.0.get(&new)) {
            self.0.insert(new, evidence);
        }
    }

    /// Forgets the forms with the least evidence, if there are too many.
    fn forget_the_least(&mut self) {
        let surplus = self.0.len().saturating_sub(MAX_FORMS);
        if surplus == 0 {
            return;
        }
        let mut least: Vec<(u8, u32)> = self.0.iter().map(|(form, evidence)| (evidence.fits, *form)).collect();
        least.sort_unstable();
        for (_, form) in &least[..surplus] {
            self.0.remove(form);
        }
    }

    /// Records a look that found the page unchanged.
    pub(crate) fn observe_quiet(&mut self, since_last_look_s: Option<i64>) {
        if !is_back_to_back(since_last_look_s) {
            self.pass_quiet_counts(|_| false);
        }
    }

    fn pass_quiet_counts(&mut self, is_seen: impl Fn(u32) -> bool) {
        for (form, evidence) in self.0.iter_mut().filter(|(form, _)| is_steady(**form) && !is_seen(**form)) {
            evidence.add(*form, FormEvidence { quiet: 1, ..FormEvidence::default() });
        }
        self.0.retain(|_, evidence| evidence.fits > 0 || evidence.misfits > 0);
    }

    /// Whether the form of a run is known to move by itself in this way.
    pub(crate) fn explains(&self, run: &Run) -> bool {
        let [first, second] =
            run.forms.map(|form| form.and_then(|form| self.0.get(&form)).copied().unwrap_or_default());
        match run.kind {
            RunKind::Words => false,
            RunKind::Id => run.is_in_place && first.never_rests(),
            RunKind::Count { has_grown } => run.is_in_place && (first.never_rests() || has_grown && first.only_grows()),
            RunKind::NamingNumber { .. } => run.is_in_place && first.never_rests() && first.is_drawn(),
            RunKind::Age { fits_clock } => fits_clock && (first.follows_clock() || second.follows_clock()),
            RunKind::Day { is_today, has_moved } => {
                is_today && first.follows_clock() || has_moved && second.moves_daily()
            }
        }
    }

    /// The forms as numbers, ascending.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = u64> {
        self.0.iter().map(|(form, evidence)| {
            let FormEvidence { fits, misfits, quiet } = *evidence;
            u64::from(*form) << 32 | u64::from(u32::from_le_bytes([fits, misfits, quiet, 0]))
        })
    }

    /// Rebuilds the forms from the result of [`entries`](Self::entries).
    pub(crate) fn from_entries(entries: impl Iterator<Item = u64>) -> Self {
        let form = |entry: u64| {
            let [fits, misfits, quiet, _] = (entry as u32).to_le_bytes().map(|count| count.min(MAX_EVIDENCE));
            ((entry >> 32) as u32, FormEvidence { fits, misfits, quiet })
        };
        Self(entries.take(MAX_FORMS).map(form).collect())
    }
}

impl FormEvidence {
    fn add(&mut self, form: u32, seen: Self) {
        if is_steady(form) {
            // One look is one piece of evidence, however many numbers have the form.
            self.misfits += u8::from(seen.misfits > 0);
            self.fits += u8::from(seen.fits > 0 && seen.misfits == 0);
            self.quiet += seen.quiet;
        } else {
            self.fits += seen.fits.min(MAX_FITS_PER_LOOK);
            self.misfits += seen.misfits.min(MAX_FITS_PER_LOOK);
        }
        if self.fits.max(self.misfits).max(self.quiet) > MAX_EVIDENCE {
            *self = Self { fits: self.fits / 2, misfits: self.misfits / 2, quiet: self.quiet / 2 };
        }
    }

    fn follows_clock(&self) -> bool {
        self.fits >= CLOCK_FITS && self.fits >= CLOCK_FITS_PER_MISFIT * self.misfits.min(MAX_EVIDENCE / 4)
    }

    fn only_grows(&self) -> bool {
        self.fits >= GROWTH_FITS
            && self.fits >= GROWTH_FITS_PER_MISFIT * self.misfits.min(MAX_EVIDENCE / GROWTH_FITS_PER_MISFIT)
            && self.quiet <= self.fits
    }

    fn never_rests(&self) -> bool {
        let changes = self.fits + self.misfits;
        changes >= RESTLESS_LOOKS
            && changes >= RESTLESS_LOOKS_PER_QUIET * self.quiet.min(MAX_EVIDENCE / RESTLESS_LOOKS_PER_QUIET)
    }

    /// Whether a number rises and falls: that of the newest document rises.
    fn is_drawn(&self) -> bool {
        self.fits.min(self.misfits) >= DRAWN_LOOKS
    }

    fn moves_daily(&self) -> bool {
        self.fits >= DAYS && self.misfits == 0 && self.quiet <= self.fits / DAYS
    }
}

fn is_steady(form: u32) -> bool {
    form & STEADY != 0
}
