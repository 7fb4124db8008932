//! Learns pages' own rates and the calendars of sweeps: one model in memory for all sites of the partition. A batch of
//! observations touches the same few groups repeatedly, so changed groups are written once, when the batch is complete.

use crate::state::{PageBelief, SWEEPS, SweepKey, SweepRecord};
use crate::sweep_state::{SweepCell, SweepDay, SweepGroup, SweepSite, SweepSize};
use change_rate::{ExtentEvidence, ExtentPrior, Gamma, GammaState, LookOutcome};
use messages::SweepForecast;
use messages::topics::SCHEDULER_EVENTS;
use page::{CanonicalUrl, SiteKey, Timestamp};
use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasherDefault;
use stream::{Context, ProcessError};
use sweeps::{Changes, HashKeys, HashMapByHash, OutlookPart, PagePlace, SweepModel, rules};

/// The estimator's name in the record of a page that the model has counted.
pub(crate) const NAME: &str = "sweeps";
/// After a longer gap, the days before this many are advanced in one step.
const LONGEST_SILENCE_DAYS: i32 = 400;
/// The most numbers per forecast: a record of 200 KB.
const TOTALS_PER_FORECAST: usize = 50_000;

pub(crate) struct SweepLearner {
    model: SweepModel,
    sites: HashMapByHash<KnownSite>,
    touched: Touched,
}

/// A site beside the model of its sweeps.
struct KnownSite {
    key: SiteKey,
    /// The extents of the changes of all its pages.
    extents: ExtentEvidence,
}

/// Hashes of records that differ from the table.
#[derive(Default)]
struct Touched {
    groups: Hashes,
    cells: Hashes,
    sites: Hashes,
    sizes: Hashes,
    /// Hashes of groups, cells and sites without pages, by site.
    gone: BTreeMap<SiteKey, Vec<i64>>,
    today: bool,
}

/// Restored records that can be used only once all are known.
#[derive(Default)]
struct RestoredRecords {
    cells: Vec<SweepCell>,
    sizes: Vec<(u64, u32)>,
    today: Option<i32>,
    /// The earliest last day of any group.
    oldest: i32,
}

/// A set of hashes. Every observation adds its own, mostly repeated; they are sorted when they are written.
type Hashes = HashSet<u64, BuildHasherDefault<HashKeys>>;

fn in_order(hashes: Hashes) -> Vec<u64> {
    let mut hashes: Vec<_> = hashes.into_iter().collect();
    hashes.sort_unstable();
    hashes
}

/// Stores a record, or deletes it where there is none any more.
fn keep(key: SweepKey, record: Option<impl Into<SweepRecord>>, context: &mut Context<'_>) {
    match record {
        Some(record) => context.put(SWEEPS, &key, &record.into()),
        None => context.delete(SWEEPS, &key),
    }
}

pub(crate) fn place_of(url: &CanonicalUrl) -> PagePlace {
    PagePlace::of(url.site_key().as_str(), url.host().as_str(), url.path())
}

/// A look that is evidence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SweepLook {
    /// The page's first look, with a believed date of its last change.
    First {
        /// Time of the look.
        at: Timestamp,
        /// Time of the change.
        changed_at: Timestamp,
    },
    /// A look compared with the one before.
    Later {
        /// Time of the look before.
        from: Timestamp,
        /// Time of the look.
        to: Timestamp,
        /// Whether the page changed between the two, as evidence.
        outcome: LookOutcome,
    },
}

impl SweepLearner {
    /// Loads the model from the table; an empty one if the table is empty.
    pub(crate) fn load(context: &Context<'_>) -> Result<Self, ProcessError> {
        let mut learner = Self {
            model: SweepModel::starting_at(context.now().as_days()),
            sites: HashMapByHash::default(),
            touched: Touched::default(),
        };
        let mut found = RestoredRecords { oldest: i32::MAX, ..RestoredRecords::default() };
        context.scan(SWEEPS, b"", &mut |key, record| {
            learner.restore(key, record, &mut found).map_err(ProcessError::Damaged)
        })?;
        learner.model.restore_sizes(&found.sizes);
        if let Some(today) = found.today {
            // A group is written when an observation touches it. The days since then are replayed.
            learner.model.restore_today(found.oldest.clamp(today - LONGEST_SILENCE_DAYS, today));
            learner.pass_days_until(today);
        }
        found.cells.sort_by_key(|cell| cell.number);
        for cell in &found.cells {
            learner
                .model
                .restore_cell(&cell.state, cell.number)
                .map_err(|error| ProcessError::Damaged(error.to_string()))?;
        }
        // All of it was announced before.
        learner.model.take_changes();
        Ok(learner)
    }

    fn restore(&mut self, key: SweepKey, record: SweepRecord, found: &mut RestoredRecords) -> Result<(), String> {
        match (key, record) {
            (SweepKey::Group(hash), SweepRecord::Group(SweepGroup(state))) if state.group == hash => {
                found.oldest = found.oldest.min(state.last_bin);
                self.model.restore_group(state).map_err(|error| error.to_string())?;
            }
            (SweepKey::Cell(hash), SweepRecord::Cell(cell)) if cell.state.cell == hash => {
                found.cells.push(cell);
            }
            (SweepKey::Site(hash), SweepRecord::Site(site)) => {
                let state = sweeps::SiteState { site: hash, lead: site.lead };
                self.model.restore_site(&state).map_err(|error| error.to_string())?;
                let extents = ExtentEvidence { sum: site.extent_sum, changes: site.extent_changes };
                self.sites.insert(hash, KnownSite { key: site.site_key, extents });
            }
            (SweepKey::Size(hash), SweepRecord::Size(size)) => {
                let pages = u32::try_from(size.pages).map_err(|_| format!("a group with {} pages", size.pages))?;
                found.sizes.push((hash, pages));
            }
            (SweepKey::Today, SweepRecord::Today(day)) => found.today = Some(day.today),
            (key, _) => return Err(format!("the record under {key:?} belongs to another key")),
        }
        Ok(())
    }

    /// Number of known groups.
    pub(crate) fn groups(&self) -> usize {
        self.model.outlook().group_count()
    }

    /// Advances the model to the day of `now`.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let today = now.as_days().floor() as i32;
        if today > self.model.today() {
            if today - self.model.today() > LONGEST_SILENCE_DAYS {
                self.model.advance(f64::from(today - LONGEST_SILENCE_DAYS), rules::SETTLED_BINS);
            }
            self.pass_days_until(today);
            self.touched.today = true;
        }
    }

    /// Advances day by day, so that the result does not depend on when and how often this is called.
    fn pass_days_until(&mut self, today: i32) {
        for day in self.model.today() + 1..=today {
            self.model.advance(f64::from(day), rules::SETTLED_BINS);
        }
    }

    /// Processes an observation of a page, with its look and the extent of a change if they are evidence. Returns the belief
    /// about the page's change rate from all causes, and what its site says of the extents of its changes.
    pub(crate) fn observe(
        &mut self,
        url: &CanonicalUrl,
        belief: &mut PageBelief,
        look: Option<SweepLook>,
        extent: Option<f64>,
    ) -> (Gamma, ExtentPrior) {
        let place = place_of(url);
        if belief.estimator != NAME {
            NAME.clone_into(&mut belief.estimator);
            belief.numbers.clear();
            self.model.insert(&place);
            self.touched.sizes.extend(place.counted());
            self.touch(url, &place);
        }
        let state = |delta_alpha, delta_beta_days| GammaState { delta_alpha, delta_beta_days };
        let mut page = sweeps::OwnEvidence {
            own: state(belief.own_alpha, belief.own_beta_days),
            plain: state(belief.delta_alpha, belief.delta_beta_days),
        };
        if let Some(look) = look {
            match look {
                SweepLook::First { at, changed_at } => {
                    self.model.first_look(&place, &mut page, at.as_days(), at.days_since(changed_at));
                }
                SweepLook::Later { from, to, outcome } => {
                    self.model.look(&place, &mut page, from.as_days(), to.as_days(), outcome);
                }
            }
            self.touch(url, &place);
            (belief.own_alpha, belief.own_beta_days) = (page.own.delta_alpha, page.own.delta_beta_days);
            (belief.delta_alpha, belief.delta_beta_days) = (page.plain.delta_alpha, page.plain.delta_beta_days);
        }
        let extents = ExtentPrior::default();
        let extents = self.sites.get_mut(&place.site).map_or(extents, |site| {
            // A change is a look, which has the site written.
            extent.into_iter().for_each(|extent| site.extents.observe(extent));
            extents.learned_from(&site.extents)
        });
        (self.model.outlook().priors(place.cell).plain(&page), extents)
    }

    /// Counts a page no more. What is without pages then is deleted, here and in the scheduler.
    pub(crate) fn remove(&mut self, url: &CanonicalUrl, belief: &PageBelief) {
        if belief.estimator != NAME {
            return;
        }
        let place = place_of(url);
        let removed = self.model.remove(&place);
        self.touched.sizes.extend(place.counted());
        self.touched.today = true;
        for part in &removed {
            match *part {
                OutlookPart::Group(hash) => _ = self.touched.groups.insert(hash),
                OutlookPart::Cell(hash) => _ = self.touched.cells.insert(hash),
                OutlookPart::Site(hash) => {
                    self.touched.sites.insert(hash);
                    self.sites.remove(&hash);
                }
            }
        }
        if !removed.is_empty() {
            let hashes = removed.into_iter().map(|part| part.hash().cast_signed());
            self.touched.gone.entry(url.site_key()).or_default().extend(hashes);
        }
    }

    fn touch(&mut self, url: &CanonicalUrl, place: &PagePlace) {
        self.touched.groups.extend(self.model.sizes().groups_of(place).as_slice());
        self.touched.cells.insert(place.cell);
        self.touched.sites.insert(place.site);
        self.touched.today = true;
        let new = || KnownSite { key: url.site_key(), extents: ExtentEvidence::default() };
        self.sites.entry(place.site).or_insert_with(new);
    }

    /// Writes the records the batch has changed, and sends the scheduler the significant changes.
    pub(crate) fn flush(&mut self, context: &mut Context<'_>) {
        if !std::mem::take(&mut self.touched.today) {
            return;
        }
        let changes = self.model.take_significant_changes();
        let touched = std::mem::take(&mut self.touched);
        let cells = touched.cells.into_iter().chain(changes.cells.iter().map(|cell| cell.cell)).collect();
        for hash in in_order(touched.groups) {
            let group = self.model.group_state(hash).map(SweepGroup);
            keep(SweepKey::Group(hash), group, context);
        }
        for hash in in_order(cells) {
            let order = self.model.cell_order(hash);
            let cell = order.zip(self.model.cell_state(hash)).map(|(number, state)| SweepCell { number, state });
            keep(SweepKey::Cell(hash), cell, context);
        }
        for hash in in_order(touched.sites) {
            let site = self.sites.get(&hash).map(|KnownSite { key, extents }| {
                let lead = self.model.site_state(hash).map_or(sweeps::rules::LEAD_START as f32, |state| state.lead);
                let ExtentEvidence { sum: extent_sum, changes: extent_changes } = *extents;
                SweepSite { site_key: key.clone(), lead, extent_sum, extent_changes }
            });
            keep(SweepKey::Site(hash), site, context);
        }
        for hash in in_order(touched.sizes) {
            let pages = i64::from(self.model.sizes().get(hash));
            keep(SweepKey::Size(hash), (pages > 0).then_some(SweepSize { pages }), context);
        }
        context.put(SWEEPS, &SweepKey::Today, &SweepDay { today: self.model.today() }.into());
        self.report(touched.gone, changes, context);
    }

    /// Sends one forecast per site, or several if it would grow too large.
    fn report(&self, gone: BTreeMap<SiteKey, Vec<i64>>, changes: Changes, context: &mut Context<'_>) {
        let made_at = context.now();
        for (site_key, gone) in gone {
            context.emit(SCHEDULER_EVENTS, SweepForecast { gone, ..SweepForecast::new(site_key, made_at) });
        }
        let mut forecasts: BTreeMap<u64, SweepForecast> = BTreeMap::new();
        let mut add = |site: u64, add: &mut dyn FnMut(&mut SweepForecast)| {
            let Some(site_key) = self.sites.get(&site).map(|site| site.key.clone()) else { return };
            add(forecasts.entry(site).or_insert_with(|| SweepForecast::new(site_key, made_at)));
        };
        for change in changes.sites {
            add(change.site, &mut |forecast| forecast.lead = Some(change.lead));
        }
        for change in changes.cells {
            add(change.site, &mut |forecast| forecast.cells.push(change));
        }
        for change in changes.groups {
            let site = change.site;
            let mut change = Some(change);
            add(site, &mut |forecast| forecast.groups.extend(change.take()));
        }
        for mut forecast in forecasts.into_values() {
            let mut size = 0;
            while let Some(end) = forecast.groups.iter().position(|group| {
                size += group.totals.len() + 20;
                size > TOTALS_PER_FORECAST
            }) {
                let groups = forecast.groups.split_off(end.max(1));
                let site_key = forecast.site_key.clone();
                let rest = SweepForecast { groups, ..SweepForecast::new(site_key, made_at) };
                context.emit(SCHEDULER_EVENTS, std::mem::replace(&mut forecast, rest));
                size = 0;
            }
            context.emit(SCHEDULER_EVENTS, forecast);
        }
    }
}
