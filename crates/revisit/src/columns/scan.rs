//! Scores all pages at one time.

use super::bounds::{BoundTerms, LANES, SLACK, ValueBounds, crawl_value_at_most};
use super::entry::{NEVER_FETCHED, PageRecord, VACANT};
use super::index::first_copy_value;
use super::selection::{Selection, SelectionEntry};
use super::{Candidate, Index, PageColumns, SECONDS_PER_DAY, Slot};
use page::Timestamp;
use sweeps::Outlook;

impl PageColumns {
    /// The best pages on hosts that are `permitted` that are worth at least `floor`, at least `count` if there are that
    /// many. Only [`Index::Live`] uses the outlook, and
    /// needs [`PageColumns::refresh`] before.
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
        let mut found =
            ScanFindings { best: BestItems::new(count, self.slots()), least: floor, now_days, permitted: &permitted };
        let mut probes = Vec::new();
        match *index {
            Index::Uniform => self.scan_each(&mut found, index, |_, days, _| Some(days)),
            Index::CrawlValue { theta } => self.scan_each(&mut found, index, |page, days, least| {
                let (belief, weight) = (page.whole(), f64::from(page.weight));
                let (alpha, beta_days) = (belief.alpha() as f32, belief.beta_days() as f32);
                let at_most = f64::from(crawl_value_at_most(alpha, beta_days, days as f32, theta as f32));
                (SLACK * weight * at_most >= least).then(|| weight * belief.crawl_value(days, theta))
            }),
            Index::Live { theta, sentinel_weight } => {
                probes = self.scan_live(&mut found, outlook, theta, sentinel_weight);
            }
        }
        let (mut best, least, left_out) = found.finish(floor);
        best.extend(probes.into_iter().filter(|probe| probe.value >= least));
        best.sort_unstable();
        Selection::new(*index, floor, best, left_out)
    }

    /// Finds the best pages by values that depend on the page alone. `value` gets the page, the days since its last
    /// look, and a threshold below which the value need not be computed.
    fn scan_each(
        &self,
        found: &mut ScanFindings<'_, impl Fn(u32) -> bool>,
        index: &Index,
        value: impl Fn(&PageRecord, f64, f64) -> Option<f64>,
    ) {
        for ((slot, &flags), page) in (0..).map(Slot).zip(self.flags.iter()).zip(self.pages.iter()) {
            let days = (found.now_days - page.last_look_days()).max(0.0);
            if flags == NEVER_FETCHED {
                found.push(slot, page.host, self.value(slot.index(), index, &Outlook::default(), found.now_days));
            } else if flags == 0
                && let Some(value) = value(page, days, found.least)
            {
                found.push(slot, page.host, value);
            }
        }
    }

    /// Finds the best pages by their own value. Returns the best page of every membership, with the value of a first
    /// look added.
    fn scan_live(
        &self,
        found: &mut ScanFindings<'_, impl Fn(u32) -> bool>,
        outlook: &Outlook,
        theta: f64,
        sentinel_weight: f64,
    ) -> Vec<SelectionEntry> {
        let now_days = found.now_days;
        let groups = self.group_terms(outlook, now_days, sentinel_weight);
        let terms = self.terms(outlook, &groups);
        let mut bound_terms: Vec<BoundTerms> = terms.iter().map(|terms| BoundTerms::of(terms, &groups)).collect();
        let mut probes = vec![SelectionEntry { value: 0.0, slot: Slot(u32::MAX), probe: true }; terms.len()];
        let chunks = self.flags.chunks(LANES).zip(self.pages.chunks(LANES));
        for (chunk, (flags, pages)) in chunks.enumerate() {
            let bounds = ValueBounds::of(pages, &bound_terms, now_days * SECONDS_PER_DAY, theta as f32);
            for (i, (&flags, page)) in flags.iter().zip(pages).enumerate() {
                let slot = Slot((chunk * LANES + i) as u32);
                let days = || (now_days - page.last_look_days()).max(0.0);
                if flags == NEVER_FETCHED {
                    let first_days = terms[page.membership as usize].first_copy_days;
                    found.push(slot, page.host, f64::from(page.weight) * first_copy_value(first_days, days()));
                }
                if flags != 0 || f64::from(bounds.first[i]) < found.least {
                    continue;
                }
                let m = page.membership as usize;
                let probe = bound_terms[m].sentinel > 0.0 && bounds.own[i] >= bound_terms[m].probe;
                if !probe && f64::from(bounds.own[i]) < found.least {
                    continue;
                }
                let value = f64::from(page.weight) * terms[m].live_exactly(page, &groups, days(), now_days, theta);
                if probe && bounds.days[i] > 0.0 && (found.permitted)(page.host) {
                    probes[m] = probes[m].max(SelectionEntry { value, slot, probe: true });
                    bound_terms[m].probe = (probes[m].value / SLACK) as f32;
                }
                found.push(slot, page.host, value);
            }
        }
        let probes = probes.into_iter().zip(&terms).filter(|(probe, _)| probe.slot.0 != u32::MAX);
        probes.map(|(probe, terms)| SelectionEntry { value: probe.value + terms.sentinel, ..probe }).collect()
    }

    /// Visits every page that may be chosen, in the order of slots, with its value without that of a first look.
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
                Index::Live { .. } if never_fetched => {
                    f64::from(page.weight) * first_copy_value(terms[page.membership as usize].first_copy_days, days)
                }
                Index::Live { theta, .. } => {
                    let terms = &terms[page.membership as usize];
                    f64::from(page.weight) * terms.live_exactly(page, &groups, days, now_days, theta)
                }
                _ => self.value(i, index, outlook, now_days),
            };
            visitor(Candidate { slot: Slot(i as u32), host: page.host, never_fetched, value });
        }
    }
}

/// The findings of a scan so far.
struct ScanFindings<'a, P> {
    best: BestItems<SelectionEntry>,
    /// Pages of lower own value cannot be among the best.
    least: f64,
    now_days: f64,
    permitted: &'a P,
}

impl<P: Fn(u32) -> bool> ScanFindings<'_, P> {
    fn push(&mut self, slot: Slot, host: u32, value: f64) {
        if value >= self.least
            && (self.permitted)(host)
            && let Some(last) = self.best.push(SelectionEntry { value, slot, probe: false })
        {
            self.least = self.least.max(last.value);
        }
    }

    /// Returns the best, unordered; the value below which there may be more; and the highest value left out, if any was.
    fn finish(mut self, floor: f64) -> (Vec<SelectionEntry>, f64, Option<f64>) {
        self.best.cut();
        let (mut least, mut left_out) = (self.least, None);
        if self.best.truncated {
            least = self.best.kept.iter().map(|entry| entry.value).fold(f64::INFINITY, f64::min).max(floor);
            left_out = Some(least);
        }
        (self.best.kept, least, left_out)
    }
}

/// Collects the best `count` items, unordered, and keeps few more than these.
struct BestItems<T> {
    kept: Vec<T>,
    count: usize,
    /// Maximum number of items.
    all: usize,
    truncated: bool,
}

impl<T: Ord> BestItems<T> {
    fn new(count: usize, all: usize) -> Self {
        Self { kept: Vec::new(), count, all, truncated: false }
    }

    /// Adds an item. Returns the least of the best when that was just computed.
    fn push(&mut self, item: T) -> Option<&T> {
        let most = self.count.saturating_add(self.count / 8 + 64);
        if self.kept.capacity() == 0 {
            // There are millions of pages: growing by doubling could take twice the memory.
            self.kept.reserve_exact(self.all.min(most.saturating_add(1)));
        }
        self.kept.push(item);
        (self.kept.len() > most).then(|| self.cut())?
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
