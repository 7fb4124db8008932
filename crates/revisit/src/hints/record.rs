//! How far the hints of a host can be trusted, learned from looks (C16 of the algorithm notes; Busa-Fekete, Zimmert,
//! György et al., WWW 2025).
//!
//! A change found behind a hint proves the hint right only if it would not have been found anyway: at pages that change
//! between any two looks, pure noise would look right. So *precision* counts the changes beyond those that the page's
//! own belief predicts. *Recall* is the share of changes that were announced, less the share of quiet looks that were
//! (Youden's index): a source that announces everything announces nothing.

/// A kind of hint: its place in the counts of a host.
pub type HintNumber = usize;
/// The entry of a sitemap.
pub const SITEMAP: HintNumber = 0;
/// The entry of a feed.
pub const FEED: HintNumber = 1;
/// Word from the operator's own systems or the owner of a site.
pub const PING: HintNumber = 2;
/// The content a WebSub hub sends.
pub const WEBSUB: HintNumber = 3;
pub const KINDS: usize = 4;

/// The looks that count as having proved hints of a kind right and wrong before the host has taught us better. Sitemaps
/// are right one time in five on average; feeds and hubs name the pages that they publish.
const PRIORS: [(f32, f32); KINDS] = [(0.4, 1.6), (1.6, 0.4), (1.0, 0.0), (1.6, 0.4)];
/// Number of looks remembered per kind, so that a host may change its ways.
const REMEMBERED: f32 = 200.0;
/// Prior: unannounced changes counted before the host has taught us better.
const SILENT: f32 = 2.0;
/// Cap on recall: at least one change in fifty is expected to come unannounced.
const MAX_RECALL: f64 = 0.98;

/// One number per kind of hint.
pub type HintCounts = [f32; KINDS];

/// Whether hints of this kind come from lists, which are fetched, and are silent about a page only when they list it.
pub fn comes_from_lists(number: HintNumber) -> bool {
    matches!(number, SITEMAP | FEED)
}

/// Counts of looks at the pages of one host that found its hints right or wrong, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HintRecord {
    /// Changes behind hints, less those expected anyway. May fall below zero by chance.
    pub right: HintCounts,
    /// Looks behind hints that found no change.
    pub wrong: HintCounts,
    /// Changes with a hint.
    pub announced: HintCounts,
    /// Changes without one.
    pub silent: HintCounts,
    /// Looks without a hint that found no change.
    pub quiet: HintCounts,
}

impl HintRecord {
    /// The record of a host without hints.
    pub const NONE: Self = Self {
        right: [0.0; KINDS],
        wrong: [0.0; KINDS],
        announced: [0.0; KINDS],
        silent: [0.0; KINDS],
        quiet: [0.0; KINDS],
    };

    /// Whether no hint was ever judged.
    pub fn is_empty(&self) -> bool {
        (0..KINDS).all(|number| !self.has_received(number))
    }

    /// Whether a hint of this kind was ever judged.
    pub fn has_received(&self, number: usize) -> bool {
        self.announced[number] + self.wrong[number] > 0.0
    }

    /// Probability that a hint of this kind has a change behind it that would not be there without the hint. Only the
    /// share beyond chance counts: otherwise meaningless hints would seem right at every second host.
    pub fn precision(&self, number: usize) -> f64 {
        let (right, wrong) = PRIORS[number];
        let right = f64::from(self.right[number] + right) - self.chance(number);
        let wrong = f64::from(self.wrong[number] + wrong);
        if right <= 0.0 { 0.0 } else { right / (right + wrong) }
    }

    /// Standard deviation of the changes behind hints that mean nothing.
    fn chance(&self, number: usize) -> f64 {
        let (changed, unchanged) = (f64::from(self.announced[number]), f64::from(self.wrong[number]));
        if changed > 0.0 { (changed * unchanged / (changed + unchanged)).sqrt() } else { 0.0 }
    }

    /// Share of changes that hints of this kind announce, discounted by their share of quiet looks.
    pub fn recall(&self, number: usize) -> f64 {
        let of = |counts: &HintCounts| f64::from(counts[number]);
        let announced = of(&self.announced) / (of(&self.announced) + of(&self.silent) + f64::from(SILENT));
        let false_alarms = (of(&self.wrong) + 1.0) / (of(&self.wrong) + of(&self.quiet) + 2.0);
        ((announced - false_alarms) / (1.0 - false_alarms)).clamp(0.0, MAX_RECALL)
    }

    /// The greatest recall of the kinds that are not from lists: how far silence about any page means that it has not
    /// changed.
    pub fn best_recall_of_pings(&self) -> f64 {
        [PING, WEBSUB].map(|number| self.recall(number)).into_iter().fold(0.0, f64::max)
    }

    /// Counts a look behind a hint. `expected_fresh` is the probability that the page had not changed, this hint set
    /// aside.
    pub fn learn_hinted(&mut self, number: HintNumber, changed: bool, expected_fresh: f64) {
        self.forget(number);
        // Where most changes are announced, silence makes a change less likely. For lists, the caller's probability
        // includes that.
        let unannounced = if comes_from_lists(number) { 1.0 } else { 1.0 - self.recall(number) };
        let expected_fresh = expected_fresh.clamp(0.0, 1.0).powf(unannounced);
        if changed {
            self.announced[number] += 1.0;
        } else {
            self.wrong[number] += 1.0;
        }
        self.right[number] += expected_fresh as f32 - f32::from(u8::from(!changed));
    }

    /// Counts a look at a page that no hint of this kind named. `covered` is the probability that a source which announces
    /// everything would have named it: of a list, that it was read since the change, or else the share of the time it covers.
    pub fn learn_silent(&mut self, number: HintNumber, changed: bool, covered: f64) {
        if !self.has_received(number) {
            return;
        }
        self.forget(number);
        let count = if changed { &mut self.silent } else { &mut self.quiet };
        count[number] += covered.clamp(0.0, 1.0) as f32;
    }

    fn forget(&mut self, number: HintNumber) {
        let Self { right, wrong, announced, silent, quiet } = self;
        if wrong[number] + announced[number] + silent[number] + quiet[number] >= REMEMBERED {
            [right, wrong, announced, silent, quiet].into_iter().for_each(|counts| counts[number] *= 0.5);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::{Draws, Lcg};

    impl HintRecord {
        fn learn(&mut self, number: HintNumber, hinted: bool, changed: bool, expected_fresh: f64) {
            match hinted {
                true => self.learn_hinted(number, changed, expected_fresh),
                false => self.learn_silent(number, changed, 1.0),
            }
        }
    }

    #[test]
    fn precision_follows_what_looks_have_shown_by_kind() {
        let mut record = HintRecord::default();
        let precision = |record: &HintRecord, kind| record.precision(kind);
        assert!((precision(&record, SITEMAP) - 0.2).abs() < 1e-6);
        assert!((precision(&record, FEED) - 0.8).abs() < 1e-6);
        assert_eq!(precision(&record, PING), 1.0);
        (0..500).for_each(|look| record.learn(SITEMAP, true, look % 10 != 0, 1.0));
        assert!((record.precision(SITEMAP) - 0.9).abs() < 0.02, "{}", record.precision(SITEMAP));
        assert!((precision(&record, FEED) - 0.8).abs() < 1e-6, "kinds are judged apart");
        (0..500).for_each(|_| record.learn(SITEMAP, true, false, 1.0));
        assert!(record.precision(SITEMAP) < 0.05, "a host may change its ways");
    }

    #[test]
    fn hints_that_are_always_there_lose_their_weight_also_where_pages_change_at_most_looks() {
        // 60 of 100 looks find a change, with or without a hint, and the belief says the same.
        let mut record = HintRecord::default();
        (0..150).for_each(|look| record.learn(SITEMAP, true, look % 5 < 3, 0.4));
        assert!(record.precision(SITEMAP) < 0.05, "{}", record.precision(SITEMAP));
        assert_eq!(record.recall(SITEMAP), 0.0, "to announce everything is to announce nothing");
    }

    #[test]
    fn hints_that_mean_nothing_seldom_seem_right_by_chance() {
        let mut random = Lcg(1);
        let mut records = vec![HintRecord::default(); 200];
        for record in &mut records {
            for _ in 0..150 {
                record.learn(SITEMAP, true, (random.bits() >> 33) % 10 < 4, 0.6);
            }
        }
        let precisions: Vec<f64> = records.iter().map(|record| record.precision(SITEMAP)).collect();
        let believed = precisions.iter().filter(|precision| **precision > 0.05).count();
        assert!(believed <= 10, "{believed} of 200 by more than 0.05");
    }

    #[test]
    fn recall_is_the_share_of_changes_that_were_announced() {
        let mut record = HintRecord::default();
        assert_eq!(record.recall(SITEMAP), 0.0, "nothing is known of a host's silence at first");
        for look in 0..190 {
            // Half of the looks find a change. Three of four changes were announced, and nothing else was.
            let changed = look % 2 == 0;
            record.learn(SITEMAP, changed && look % 8 != 0, changed, 0.5);
        }
        assert!((record.recall(SITEMAP) - 0.75).abs() < 0.04, "{}", record.recall(SITEMAP));
        assert_eq!(record.best_recall_of_pings(), 0.0);
        (0..1_000).for_each(|look| record.learn(SITEMAP, look % 2 == 0, look % 2 == 0, 0.5));
        assert!(record.recall(SITEMAP) <= MAX_RECALL);
    }

    #[test]
    fn looks_without_hints_count_only_where_hints_were_ever_received() {
        let mut record = HintRecord::default();
        (0..50).for_each(|_| record.learn(SITEMAP, false, true, 0.5));
        assert!(record.is_empty() && record == HintRecord::default());
    }

    #[test]
    fn a_change_that_no_list_could_have_reported_is_not_held_against_it() {
        let mut record = HintRecord::default();
        (0..60).for_each(|_| record.learn_hinted(SITEMAP, true, 0.9));
        (0..60).for_each(|_| record.learn_silent(SITEMAP, false, 1.0));
        let trusted = record.recall(SITEMAP);
        (0..60).for_each(|_| record.learn_silent(SITEMAP, true, 0.0));
        assert_eq!(record.recall(SITEMAP), trusted);
        (0..60).for_each(|_| record.learn_silent(SITEMAP, true, 1.0));
        assert!(record.recall(SITEMAP) < 0.7 * trusted, "{} {trusted}", record.recall(SITEMAP));
    }
}
