//! Learns sweeps and the pages' own change rates from looks.

mod first_look;
mod kept;
mod priors;
mod removal;
mod reported;

use crate::belief::{CellPriors, OwnEvidence, faded, kept_after, posterior};
use crate::calendar::Calendar;
use crate::group_sizes::GroupSizes;
use crate::look_bins::{LookBins, bin_of};
use crate::members::{GroupNumbers, Members};
use crate::numbers::put_at;
use crate::outlook::{Outlook, trust_of};
use crate::place::PagePlace;
use crate::rules::{LEAD_LEAST, LEAD_MOST, LEAD_START, PRIOR_ALPHA};
use change_rate::{GammaState, GroupSums, LookOutcome, exp_minus};
use std::hint::black_box;

/// A group's hazard is published once it has moved by this fraction of the sum over its live bins …
const SIGNIFICANT_PART: f32 = 0.02;
/// … and a site's lead once it has moved by this.
const SIGNIFICANT_LEAD: f32 = 0.05;
/// No two looks are further apart than 2,700 years.
const LONGEST_DAYS: f64 = 1e6;

/// The expectation before a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looked {
    /// Probability, as believed before the look, of finding the page unchanged.
    pub unchanged_probability: f64,
}

/// The unpublished changes of a group.
#[derive(Clone, Copy, Debug)]
struct Unreported {
    first_bin: i32,
    moved: f32,
    listed: bool,
}

const REPORTED: Unreported = Unreported { first_bin: i32::MAX, moved: 0.0, listed: false };

#[derive(Clone, Copy, Debug)]
struct ModelCell {
    cell: u64,
    site: u64,
    /// The order of discovery. It fixes the order of sums, whatever the numbers of cells.
    order: i64,
    own: GroupSums,
    plain: GroupSums,
    priors: CellPriors,
    reported: bool,
}

#[derive(Clone, Copy, Debug)]
struct SiteScore {
    forecast_lead: f32,
    listed: bool,
}

impl Default for SiteScore {
    fn default() -> Self {
        Self { forecast_lead: LEAD_START as f32, listed: false }
    }
}

/// The calendars of all groups, the sums of all cells and the scores of all sites of a set of pages, and the
/// [`Outlook`] that follows from them. The caller stores the evidence of each page.
#[derive(Clone, Debug)]
pub struct SweepModel {
    outlook: Outlook,
    sizes: GroupSizes,
    /// By group number.
    calendars: Vec<Calendar>,
    unreported: Vec<Unreported>,
    significant: Vec<u32>,
    /// By cell number.
    cells: Vec<ModelCell>,
    next_order: i64,
    unreported_cells: Vec<u32>,
    /// By site number; sites beyond the end have no score yet.
    scores: Vec<SiteScore>,
    significant_sites: Vec<u32>,
    today: i32,
}

impl SweepModel {
    /// An empty model at this time.
    pub fn starting_at(days: f64) -> Self {
        Self {
            outlook: Outlook::default(),
            sizes: GroupSizes::default(),
            calendars: Vec::new(),
            unreported: Vec::new(),
            significant: Vec::new(),
            cells: Vec::new(),
            next_order: 0,
            unreported_cells: Vec::new(),
            scores: Vec::new(),
            significant_sites: Vec::new(),
            today: bin_of(days),
        }
    }

    /// The part of the model that the choice of pages needs.
    pub fn outlook(&self) -> &Outlook {
        &self.outlook
    }

    /// Pages per candidate group.
    pub fn sizes(&self) -> &GroupSizes {
        &self.sizes
    }

    /// The newest bin.
    pub fn today(&self) -> i32 {
        self.today
    }

    pub fn insert(&mut self, place: &PagePlace) {
        self.sizes.insert(place);
        self.resize_groups(place);
        self.members(place);
    }

    fn resize_groups(&mut self, place: &PagePlace) {
        for &group in place.groups.iter().filter(|group| **group != 0) {
            if let Some(number) = self.outlook.group_number(group) {
                self.resize(number);
            }
        }
    }

    /// Takes in a look at a page over (from, to]. Looks may come in any order, but only the newest bins still learn
    /// from them. A part beyond the last [`SweepModel::advance`] teaches the page, but not its groups. A look over an
    /// empty span teaches nothing.
    pub fn look(
        &mut self,
        place: &PagePlace,
        belief: &mut OwnEvidence,
        from_days: f64,
        to_days: f64,
        outcome: LookOutcome,
    ) -> Looked {
        let members = self.members(place);
        self.look_at(&members, belief, from_days, to_days, outcome)
    }

    /// [`SweepModel::look`] for callers that know the memberships of the page.
    ///
    /// # Panics
    /// On a number that this model never assigned.
    pub fn look_at(
        &mut self,
        members: &Members,
        belief: &mut OwnEvidence,
        from_days: f64,
        to_days: f64,
        outcome: LookOutcome,
    ) -> Looked {
        let from_days = from_days.max(to_days - LONGEST_DAYS);
        let changed = outcome.is_change();
        if let LookOutcome::ChangedAt { age_days } = outcome {
            // The last change lies within one bin and there was none after it. Nothing is known of the time before it.
            let expected = self.expected(members, belief, from_days, to_days);
            let age_days = if age_days > 0.0 { age_days } else { 0.0 };
            let at = (to_days - age_days).max(from_days + 1e-6).min(to_days);
            self.absorb(members, belief, from_days.max(at - 1.0), at, true);
            self.absorb(members, belief, at, to_days, false);
            return Looked { unchanged_probability: expected };
        }
        Looked { unchanged_probability: self.absorb(members, belief, from_days, to_days, changed) }
    }

    /// Prefetches what a look at these members needs.
    #[inline]
    pub fn fetch_ahead(&self, members: &Members) {
        for &group in members.groups.as_slice() {
            let calendar = &self.calendars[group as usize];
            black_box(calendar.last);
            black_box(self.unreported[group as usize].listed);
        }
        black_box(self.cells[members.cell as usize].site);
        black_box(self.outlook.sites[members.site as usize].lead);
    }

    fn expected(&self, members: &Members, belief: &OwnEvidence, from_days: f64, to_days: f64) -> f64 {
        let (own, plain) = self.spared(members, belief, from_days, to_days);
        let trust = trust_of(f64::from(self.outlook.sites[members.site as usize].lead));
        trust * own + (1.0 - trust) * plain
    }

    /// Probabilities of no change over (from, to]: with sweeps, and without.
    fn spared(&self, members: &Members, belief: &OwnEvidence, from_days: f64, to_days: f64) -> (f64, f64) {
        let days = (to_days - from_days).max(0.0);
        let priors = &self.cells[members.cell as usize].priors;
        let clear = exp_minus(self.sweep_hazard(members, from_days, to_days));
        (priors.own(belief).fresh_probability(days) * clear, priors.plain(belief).fresh_probability(days))
    }

    fn sweep_hazard(&self, members: &Members, from_days: f64, to_days: f64) -> f64 {
        let groups = members.groups.as_slice().iter();
        groups.map(|&group| self.outlook.groups[group as usize].hazard.between(from_days, to_days)).sum()
    }

    fn absorb(
        &mut self,
        members: &Members,
        belief: &mut OwnEvidence,
        from_days: f64,
        to_days: f64,
        changed: bool,
    ) -> f64 {
        let Some(bins) = LookBins::of(from_days, to_days) else { return 1.0 };
        // The groups of a look lie far apart in memory: wait for all of them at once.
        members.groups.as_slice().iter().for_each(|&group| self.calendars[group as usize].fetch_ahead(&bins));
        let days = to_days - from_days;
        let clear = exp_minus(self.sweep_hazard(members, from_days, to_days));
        let kept = kept_after(days);
        let cell = &mut self.cells[members.cell as usize];
        let learn = |prior_beta_days: f64, evidence: &mut GammaState, sums: &mut GroupSums, clear: f64| {
            let before = faded(*evidence, kept);
            let prior = posterior(prior_beta_days, before);
            let after = prior.after_shared(days, changed, clear);
            *evidence = GammaState {
                delta_alpha: (after.alpha() - PRIOR_ALPHA).max(0.0) as f32,
                delta_beta_days: (after.beta_days() - prior_beta_days).max(0.0) as f32,
            };
            sums.replace(&before, evidence);
            prior.fresh_probability(days) * clear
        };
        let own = learn(cell.priors.own_beta_days, &mut belief.own, &mut cell.own, clear);
        let plain = learn(cell.priors.plain_beta_days, &mut belief.plain, &mut cell.plain, 1.0);
        let trust = self.score(members.site, changed, own, plain);
        for &group in members.groups.as_slice() {
            let number = group as usize;
            let hazard = &mut self.outlook.groups[number].hazard;
            let before = hazard.totals()[hazard.totals().len() - 1];
            if let Some(first_bin) = self.calendars[number].look(hazard, &bins, changed, own) {
                let moved = (hazard.totals()[hazard.totals().len() - 1] - before).abs();
                self.report(group, first_bin, moved);
            }
        }
        trust * own + (1.0 - trust) * plain
    }

    /// Updates the score: which belief predicted the look better? Returns the trust before the look.
    fn score(&mut self, site: u32, changed: bool, own: f64, plain: f64) -> f64 {
        let score = |unchanged: f64| (if changed { 1.0 - unchanged } else { unchanged }).max(1e-4).ln();
        let number = site as usize;
        let lead = &mut self.outlook.sites[number].lead;
        let trust = trust_of(f64::from(*lead));
        *lead = (f64::from(*lead) + score(own) - score(plain)).clamp(LEAD_LEAST, LEAD_MOST) as f32;
        if self.scores.len() <= number {
            self.scores.resize_with(number + 1, SiteScore::default);
        }
        let reported = &mut self.scores[number];
        if !reported.listed && (*lead - reported.forecast_lead).abs() > SIGNIFICANT_LEAD {
            reported.listed = true;
            self.significant_sites.push(site);
        }
        trust
    }

    /// Advances the time. Days that have begun get their bins. Every new day, priors and frequencies are learned again
    /// from bins older than `lag_bins` ([`crate::rules::SETTLED_BINS`], or 1 while a history is imported).
    pub fn advance(&mut self, now_days: f64, lag_bins: i32) {
        let bin = bin_of(now_days);
        if bin <= self.today {
            return;
        }
        self.today = bin;
        for number in self.groups_in_use() {
            let hazard = &mut self.outlook.groups[number].hazard;
            let end = hazard.end_bin();
            let all = self.calendars[number].extend(hazard, bin);
            let first_bin = if all { hazard.first_bin() } else { end };
            self.calendars[number].refit(hazard, lag_bins);
            self.report(number as u32, first_bin, f32::INFINITY);
            self.resize(number as u32);
        }
        self.refit_priors();
    }

    /// Restarts the calendars at this time, before the import of a history that begins there.
    pub fn restart_calendars(&mut self, days: f64) {
        self.today = bin_of(days);
        for number in self.groups_in_use() {
            let (calendar, hazard) = Calendar::starting_at(self.today);
            self.calendars[number] = calendar;
            self.outlook.groups[number].hazard = hazard;
            self.report(number as u32, self.today, f32::INFINITY);
        }
    }

    /// Scales the evidence down to the fraction `keep`: the cells' sums, the groups' frequencies and the sites' leads.
    /// The caller tempers the evidence of pages ([`OwnEvidence::tempered`]).
    pub fn temper(&mut self, keep: f64, lag_bins: i32) {
        for cell in &mut self.cells {
            for sums in [&mut cell.own, &mut cell.plain] {
                sums.changes *= keep;
                sums.page_days *= keep;
            }
        }
        for number in self.groups_in_use() {
            let hazard = &mut self.outlook.groups[number].hazard;
            self.calendars[number].temper(keep);
            self.calendars[number].refit(hazard, lag_bins);
            let end = hazard.end_bin();
            self.report(number as u32, end, f32::INFINITY);
        }
        // A lead gained or lost over daily looks is weaker evidence about looks that are far apart.
        for site in &mut self.outlook.sites {
            site.lead = (LEAD_START + keep * (f64::from(site.lead) - LEAD_START)) as f32;
        }
        self.refit_priors();
    }

    /// The page's groups, cell and site; new ones are added.
    pub fn members(&mut self, place: &PagePlace) -> Members {
        let set = self.sizes.groups_of(place);
        let groups = set.as_slice().iter().map(|&group| match self.outlook.group_number(group) {
            Some(number) => number,
            None => self.add_group(group, place.site),
        });
        let groups = GroupNumbers::new(groups);
        let cell = match self.outlook.cell_number(place.cell) {
            Some(number) => number,
            None => self.add_cell(place),
        };
        Members { groups, cell, site: self.outlook.number_site(place.site) }
    }

    fn add_group(&mut self, group: u64, site: u64) -> u32 {
        let (calendar, hazard) = Calendar::starting_at(self.today);
        let number = self.outlook.add_group(group, site, self.sizes.get(group), hazard);
        put_at(&mut self.calendars, number, calendar);
        put_at(&mut self.unreported, number, REPORTED);
        self.report(number, self.today, f32::INFINITY);
        number
    }

    fn add_cell(&mut self, place: &PagePlace) -> u32 {
        // The operator's prior until the next day: the sums of the site are not at hand.
        let cell = ModelCell {
            cell: place.cell,
            site: place.site,
            order: self.next_order,
            own: GroupSums::default(),
            plain: GroupSums::default(),
            priors: CellPriors::default(),
            reported: true,
        };
        self.next_order += 1;
        let number = self.outlook.number_cell(place.cell);
        put_at(&mut self.cells, number, cell);
        number
    }

    fn groups_in_use(&self) -> impl Iterator<Item = usize> + use<> {
        self.outlook.group_numbers.in_use().into_iter().map(|number| number as usize)
    }

    fn resize(&mut self, number: u32) {
        let pages = self.sizes.get(self.outlook.groups[number as usize].group);
        if pages != self.outlook.groups[number as usize].pages {
            let moved = if self.outlook.resize(number, pages) { f32::INFINITY } else { 0.0 };
            let end = self.outlook.groups[number as usize].hazard.end_bin();
            self.report(number, end, moved);
        }
    }

    fn report(&mut self, number: u32, first_bin: i32, moved: f32) {
        let unreported = &mut self.unreported[number as usize];
        unreported.first_bin = unreported.first_bin.min(first_bin);
        unreported.moved += moved;
        if !unreported.listed {
            let totals = self.outlook.groups[number as usize].hazard.totals();
            let live = totals[totals.len() - 1] - totals[totals.len().saturating_sub(crate::rules::LIVE_BINS + 1)];
            if unreported.moved > SIGNIFICANT_PART * live {
                unreported.listed = true;
                self.significant.push(number);
            }
        }
    }
}
