//! Choosing the best pages one by one, exactly as if all were scored anew before each choice.
//!
//! The worth of a first look belongs to the groups, not to the page: within one membership every page has it alike, and
//! the first page chosen takes it for all. So two lists suffice: (A) the best pages by their own value, and (B) of every
//! membership the best page, with what a first look adds. Once B's page of a membership is chosen its other pages are
//! worth their own value and nothing else, and those that count are in A.

use super::entry::{NEVER_FETCHED, PageRecord, VACANT};
use super::index::{SLACK, crawl_value_at_most, hazard_at_most, kernel_at_most, live_value};
use super::memberships::Membership;
use super::{Candidate, Index, PageColumns, SECONDS_PER_DAY, Slot, Standing};
use page::Timestamp;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hint::black_box;
use sweeps::rules::PRIOR_ALPHA;
use sweeps::{CellPriors, Groups, Hazard, Outlook, PageBelief};

/// Ages in days, powers of two, for which hazards are summed ahead: bounds on those of pages looked at between.
const AGES: usize = 10;

/// A page in A or B.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    value: f64,
    slot: Slot,
    /// In B.
    probe: bool,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.slot.cmp(&self.slot)).then(self.probe.cmp(&other.probe))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best pages at the moment of a scan, to be taken one by one.
#[derive(Clone, Debug)]
pub struct Selection {
    index: Index,
    floor: f64,
    /// Pages never fetched, the best last.
    never_fetched: Vec<Candidate>,
    /// The others, the best last: values of the scan.
    best: Vec<Entry>,
    /// Those that have given way to better ones: values since.
    again: BinaryHeap<Entry>,
    /// What the last page taken was worth at the scan.
    level: f64,
    /// No page left out was worth more than this; nothing when none was.
    left_out: Option<f64>,
}

/// Once the best page is worth less than this part of what was left out, the selection is over: looks taken meanwhile
/// have shown that the pages chosen were not the best.
const WORSE_THAN_LEFT_OUT: f64 = 0.9;

impl Selection {
    /// Takes the best page out, on a host that is `permitted`, and marks it as in flight and its groups as looked into.
    /// Values are those of this moment, by what is known now: a page that has lost value since the scan gives way to
    /// the next. Pages that have gained since wait for the next scan. Nothing comes once what is left is worth clearly
    /// less than what the scan left out; then [`Selection::is_truncated`].
    pub fn next(
        &mut self,
        columns: &mut PageColumns,
        outlook: &Outlook,
        now: Timestamp,
        permitted: impl Fn(u32) -> bool,
    ) -> Option<Candidate> {
        while let Some(candidate) = self.never_fetched.pop() {
            let ready = columns.flags.get(candidate.slot.index()) == Some(&NEVER_FETCHED);
            if ready && permitted(candidate.host) {
                columns.set_standing(candidate.slot, Standing::InFlight);
                return Some(candidate);
            }
        }
        let now_days = now.as_days();
        self.fetch_ahead(columns, outlook);
        while let Some((entry, at_scan)) = self.pop() {
            let scanned = entry.value;
            let i = entry.slot.index();
            if columns.flags[i] != 0 || !permitted(columns.pages[i].host) {
                continue;
            }
            let mut value = columns.value(i, &self.index, outlook, now_days);
            if let (true, Index::Live { sentinel_weight, .. }) = (entry.probe, self.index) {
                value += sentinel_weight * columns.sentinel(columns.pages[i].membership, outlook, now_days);
            }
            let entry = Entry { value, ..entry };
            if value < self.floor {
                continue;
            }
            if self.best.last().max(self.again.peek()).is_some_and(|next| *next > entry) {
                self.again.push(entry);
                continue;
            }
            if self.left_out.is_some_and(|left_out| value < WORSE_THAN_LEFT_OUT * left_out) {
                self.best.clear();
                self.again.clear();
                return None;
            }
            if matches!(self.index, Index::Live { .. }) {
                columns.memberships.looked(columns.pages[i].membership, now_days);
            }
            if at_scan {
                self.level = scanned;
            }
            columns.set_standing(entry.slot, Standing::InFlight);
            return Some(Candidate { slot: entry.slot, host: columns.pages[i].host, never_fetched: false, value });
        }
        None
    }

    /// Asks memory for what the pages to come need, without waiting for it: one hangs on the other, and all lie far apart.
    #[inline]
    fn fetch_ahead(&self, columns: &PageColumns, outlook: &Outlook) {
        let ahead = |pages: usize| {
            let entry = self.best.get(self.best.len().checked_sub(pages)?)?;
            Some((&columns.pages[entry.slot.index()], entry.slot.index()))
        };
        if let Some((page, i)) = ahead(8) {
            black_box((page.membership, columns.flags[i]));
        }
        let groups = |page: &PageRecord| columns.memberships.rows[page.membership as usize].groups();
        if let Some((page, _)) = ahead(6) {
            black_box(groups(page).len());
        }
        if let Some((page, _)) = ahead(4) {
            groups(page).iter().for_each(|group| {
                black_box(columns.memberships.groups[*group as usize].number);
            });
        }
        if let Some((page, _)) = ahead(2) {
            for &group in groups(page) {
                if let Some(group) = outlook.group_at(columns.memberships.groups[group as usize].number) {
                    group.hazard.fetch_ahead();
                }
            }
        }
    }

    /// The next page, and whether its value is still that of the scan.
    fn pop(&mut self) -> Option<(Entry, bool)> {
        if self.again.peek() > self.best.last() {
            self.again.pop().map(|entry| (entry, false))
        } else {
            self.best.pop().map(|entry| (entry, true))
        }
    }

    /// What the last page taken was worth at the scan: how far down the selection is.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Whether there were more pages than asked for: when nothing is left, another scan may find some.
    pub fn is_truncated(&self) -> bool {
        self.left_out.is_some()
    }
}

/// What all pages of a membership have in common at the moment of a scan.
#[derive(Clone, Copy)]
struct Terms {
    priors: CellPriors,
    trust: f64,
    sweeps_per_day: f64,
    /// What a first look adds.
    sentinel: f64,
    groups: Groups,
}

impl Terms {
    /// The value of a page per weight.
    #[inline]
    fn live_exactly(&self, page: &PageRecord, groups: &[GroupTerms<'_>], days: f64, now_days: f64, theta: f64) -> f64 {
        let last_days = page.last_look_days();
        let groups = self.groups.as_slice().iter().map(|group| &groups[*group as usize]);
        let sweep_hazard = groups.map(|group| group.since(last_days, now_days)).sum();
        let (own, plain) = (self.priors.own(&page.belief), self.priors.plain(&page.belief));
        live_value(own, plain, days, sweep_hazard, self.sweeps_per_day, self.trust, theta)
    }
}

/// As much of it as bounds need, in one line of the processor's cache: most pages are passed over by their bounds alone.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct BoundTerms {
    own_beta_days: f32,
    plain_beta_days: f32,
    trust: f32,
    sweeps_per_day: f32,
    sentinel: f32,
    /// Value of the page in B so far.
    probe: f32,
    /// Summed hazard of the last 1, 2, 4 … days.
    recent: [f32; AGES],
}

impl BoundTerms {
    fn of(terms: &Terms, groups: &[GroupTerms<'_>]) -> Self {
        let mut recent = [0.0; AGES];
        for group in terms.groups.as_slice() {
            recent.iter_mut().zip(groups[*group as usize].recent).for_each(|(sum, more)| *sum += more);
        }
        Self {
            own_beta_days: terms.priors.own_beta_days as f32,
            plain_beta_days: terms.priors.plain_beta_days as f32,
            trust: terms.trust as f32,
            sweeps_per_day: terms.sweeps_per_day as f32,
            sentinel: (SLACK * terms.sentinel) as f32,
            probe: f32::NEG_INFINITY,
            recent,
        }
    }

    /// A bound on the value of a page per weight (times [`SLACK`]) that needs neither logarithm nor exponential, nor any
    /// calendar.
    #[inline]
    fn live_at_most(&self, page: &PageRecord, days: f32, theta: f32) -> f32 {
        // The exponent, rounded up where the number is no power of two.
        let age = ((days.to_bits() + 0x7f_ffff) >> 23).saturating_sub(127);
        let Some(&recent) = self.recent.get(age as usize) else { return f32::INFINITY };
        let PageBelief { own, plain } = page.belief;
        let (alpha, beta_days) = (PRIOR_ALPHA as f32 + own.delta_alpha, self.own_beta_days + own.delta_beta_days);
        let swept = kernel_at_most(hazard_at_most(alpha, beta_days, days) + recent, theta);
        // Over the mean rate: alpha / beta, and sweeps.
        let swept_value = swept * beta_days / (alpha + self.sweeps_per_day * beta_days);
        let plain_rate = (PRIOR_ALPHA as f32 + plain.delta_alpha) / (self.plain_beta_days + plain.delta_beta_days);
        self.trust * swept_value + (1.0 - self.trust) * crawl_value_at_most(plain_rate, days, theta)
    }
}

/// A group at the moment of a scan.
struct GroupTerms<'a> {
    hazard: Option<&'a Hazard>,
    /// [`Hazard::until`] now.
    until_now: f64,
    sentinel: f64,
    recent: [f32; AGES],
}

impl GroupTerms<'_> {
    /// [`Hazard::between`] then and now.
    #[inline]
    fn since(&self, last_days: f64, now_days: f64) -> f64 {
        match self.hazard {
            Some(hazard) if last_days < now_days => (self.until_now - hazard.until(last_days)).max(0.0),
            _ => 0.0,
        }
    }
}

/// The best `count` of what is pushed, in no order, without keeping much more.
struct Best<T> {
    kept: Vec<T>,
    count: usize,
    truncated: bool,
}

impl<T: Ord> Best<T> {
    fn new(count: usize) -> Self {
        Self { kept: Vec::new(), count, truncated: false }
    }

    /// Returns the least of the best when it has just been worked out.
    fn push(&mut self, item: T) -> Option<&T> {
        self.kept.push(item);
        (self.kept.len() > self.count.saturating_add(self.count / 2 + 64)).then(|| self.cut())?
    }

    fn cut(&mut self) -> Option<&T> {
        if self.kept.len() > self.count {
            self.truncated = true;
            if self.count == 0 {
                self.kept.clear();
                return None;
            }
            self.kept.select_nth_unstable_by(self.count - 1, |a, b| b.cmp(a));
            self.kept.truncate(self.count);
            return self.kept.last();
        }
        None
    }
}

impl PageColumns {
    /// The best pages on hosts that are `permitted`, `count` at least if there are so many: those never fetched, oldest
    /// discovery first, then those whose value is at least `floor`. The outlook matters to [`Index::Live`] only, which wants
    /// [`PageColumns::refresh`] before.
    pub fn scan(
        &self,
        now: Timestamp,
        index: &Index,
        outlook: &Outlook,
        count: usize,
        floor: f64,
        permitted: impl Fn(u32) -> bool,
    ) -> Selection {
        let now_days = now.as_days();
        let now_seconds = now_days * SECONDS_PER_DAY;
        let (groups, terms) = match *index {
            Index::Live { sentinel_weight, .. } => {
                let groups = self.group_terms(outlook, now_days, sentinel_weight);
                let terms = self.terms(outlook, &groups);
                (groups, terms)
            }
            _ => (Vec::new(), Vec::new()),
        };
        let mut bounds: Vec<BoundTerms> = terms.iter().map(|terms| BoundTerms::of(terms, &groups)).collect();
        let mut never_fetched = Best::new(count);
        let mut best = Best::new(count);
        let mut probes = vec![Entry { value: 0.0, slot: Slot(u32::MAX), probe: true }; terms.len()];
        // Pages of lower own value cannot be among the best.
        let mut least = floor;
        for ((slot, &flags), page) in (0..).map(Slot).zip(&self.flags).zip(&self.pages) {
            if flags & !NEVER_FETCHED != 0 {
                continue;
            }
            let days = || (now_days - page.last_look_days()).max(0.0);
            let host = page.host;
            if flags == NEVER_FETCHED {
                if permitted(host) {
                    never_fetched.push(Candidate { slot, host, never_fetched: true, value: days() });
                }
                continue;
            }
            let weight = f64::from(page.weight);
            let value = match *index {
                Index::Uniform => days(),
                Index::CrawlValue { theta } => {
                    let (belief, days) = (page.whole(), days());
                    // U(t) <= mean rate × t² / 2, and nearly equal for most pages that are not yet due.
                    if SLACK * weight * 0.5 * belief.mean() * days * days < least {
                        continue;
                    }
                    weight * belief.crawl_value(days, theta)
                }
                Index::Live { theta, .. } => {
                    let m = page.membership as usize;
                    // Good enough for a bound, without a division.
                    let soon = ((now_seconds - f64::from(page.last_look)) * (1.0 / SECONDS_PER_DAY)).max(0.0);
                    let bound = &mut bounds[m];
                    let at_most = SLACK * weight * f64::from(bound.live_at_most(page, soon as f32, theta as f32));
                    let probe = bound.sentinel > 0.0 && at_most >= f64::from(bound.probe);
                    if at_most < least && (!probe || at_most + f64::from(bound.sentinel) < least) {
                        continue;
                    }
                    let value = weight * terms[m].live_exactly(page, &groups, days(), now_days, theta);
                    if probe && soon > 0.0 && permitted(host) {
                        probes[m] = probes[m].max(Entry { value, slot, probe: true });
                        bound.probe = (probes[m].value / SLACK) as f32;
                    }
                    value
                }
            };
            if value >= least
                && permitted(host)
                && let Some(last) = best.push(Entry { value, slot, probe: false })
            {
                least = least.max(last.value);
            }
        }
        best.cut();
        never_fetched.cut();
        never_fetched.kept.sort_unstable();
        let truncated = best.truncated || never_fetched.truncated;
        if best.truncated {
            least = best.kept.iter().map(|entry| entry.value).fold(f64::INFINITY, f64::min).max(floor);
        }
        let left_out = if best.truncated { least } else { 0.0 };
        let probes = probes.into_iter().zip(&terms).filter(|(probe, _)| probe.slot.0 != u32::MAX);
        let probes = probes.map(|(probe, terms)| Entry { value: probe.value + terms.sentinel, ..probe });
        best.kept.extend(probes.filter(|probe| probe.value >= least));
        best.kept.sort_unstable();
        Selection {
            index: *index,
            floor,
            never_fetched: never_fetched.kept,
            best: best.kept,
            again: BinaryHeap::new(),
            level: f64::INFINITY,
            left_out: truncated.then_some(left_out),
        }
    }

    /// Shows every page that may be chosen, in the order of slots, with its value but for that of a first look.
    pub fn visit(&self, now: Timestamp, index: &Index, outlook: &Outlook, mut visitor: impl FnMut(Candidate)) {
        let ready = |flags: u8| flags & !NEVER_FETCHED == 0;
        self.each_value(now, index, outlook, ready, &mut visitor);
    }

    pub(super) fn each_value(
        &self,
        now: Timestamp,
        index: &Index,
        outlook: &Outlook,
        wanted: impl Fn(u8) -> bool,
        visitor: &mut dyn FnMut(Candidate),
    ) {
        let now_days = now.as_days();
        let (groups, terms) = match index {
            Index::Live { .. } => {
                let groups = self.group_terms(outlook, now_days, 0.0);
                let terms = self.terms(outlook, &groups);
                (groups, terms)
            }
            _ => (Vec::new(), Vec::new()),
        };
        for i in 0..self.flags.len() {
            if self.flags[i] & VACANT != 0 || !wanted(self.flags[i]) {
                continue;
            }
            let page = &self.pages[i];
            let days = (now_days - page.last_look_days()).max(0.0);
            let never_fetched = self.flags[i] & NEVER_FETCHED != 0;
            let value = match *index {
                _ if never_fetched => days,
                Index::Live { theta, .. } => {
                    let terms = &terms[page.membership as usize];
                    f64::from(page.weight) * terms.live_exactly(page, &groups, days, now_days, theta)
                }
                _ => self.value(i, index, outlook, now_days),
            };
            visitor(Candidate { slot: Slot(i as u32), host: page.host, never_fetched, value });
        }
    }

    fn group_terms<'a>(&self, outlook: &'a Outlook, now_days: f64, sentinel_weight: f64) -> Vec<GroupTerms<'a>> {
        let terms = |group: u32| {
            let hazard = outlook.group_at(self.memberships.groups[group as usize].number).map(|known| &known.hazard);
            let (mut recent, mut until_now) = ([0.0; AGES], 0.0);
            if let Some(hazard) = hazard {
                until_now = hazard.until(now_days);
                for (k, sum) in recent.iter_mut().enumerate() {
                    *sum = (until_now - hazard.until(now_days - f64::from(1_u32 << k))).max(0.0) as f32;
                }
            }
            let mut sentinel = 0.0;
            if sentinel_weight > 0.0 {
                sentinel = sentinel_weight * self.group_sentinel(group, outlook, now_days);
            }
            GroupTerms { hazard, until_now, sentinel, recent }
        };
        (0..self.memberships.groups.len() as u32).map(terms).collect()
    }

    fn terms(&self, outlook: &Outlook, groups: &[GroupTerms<'_>]) -> Vec<Terms> {
        let terms = |membership: &Membership| {
            let mut terms = Terms {
                priors: CellPriors::default(),
                trust: 0.0,
                sweeps_per_day: 0.0,
                sentinel: 0.0,
                groups: Groups::default(),
            };
            if membership.is_vacant() {
                return terms;
            }
            terms.priors = self.priors(membership, outlook);
            terms.trust = self.trust(membership, outlook);
            terms.groups = membership.groups;
            for &group in membership.groups() {
                let group = &groups[group as usize];
                terms.sweeps_per_day += group.hazard.map_or(0.0, Hazard::per_day);
                terms.sentinel += group.sentinel;
            }
            terms
        };
        self.memberships.rows.iter().map(terms).collect()
    }
}
