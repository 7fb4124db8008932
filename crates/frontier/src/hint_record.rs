//! How far the hints of a host can be trusted, learned from looks (C16 of the algorithm notes; Busa-Fekete, Zimmert,
//! György et al., WWW 2025).
//!
//! A change found behind a hint proves the hint right only if it would not have been found anyway: at pages that change
//! between any two looks, pure noise would look right. So *precision* counts the changes beyond those that the page's
//! own belief predicts. *Recall* is the share of changes that were announced, less the share of quiet looks that were
//! (Youden's index): a source that announces everything announces nothing.

use crate::hosts::HostSchedule;
use messages::HintKind;

/// Kinds of hints, each with its prior: the looks that count as having proved such hints right and wrong before the
/// host has taught us better. Sitemaps are right one time in five on average; feeds and hubs tell what they publish.
/// The index of a kind is its bit in [`crate::ScheduledPage::hinted`] and its place in the host's counts, so the order
/// is kept on disk.
pub(crate) const KINDS: [(HintKind, f32, f32); 4] = [
    (HintKind::Sitemap, 0.4, 1.6),
    (HintKind::Feed, 1.6, 0.4),
    (HintKind::Ping, 1.0, 0.0),
    (HintKind::Websub, 1.6, 0.4),
];
/// Number of looks remembered per kind, so that a host may change its ways.
const REMEMBERED: f32 = 200.0;
/// Prior: unannounced changes counted before the host has taught us better.
const SILENT: f32 = 2.0;
/// Cap on recall: at least a tenth of the changes is expected to come unannounced.
const MAX_RECALL: f64 = 0.9;

type HintCounts = [f32; KINDS.len()];

/// What looks at the pages of one host have shown about its hints, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HintRecord {
    /// Changes behind hints, less those expected anyway. May fall below zero by chance.
    right: HintCounts,
    /// Looks behind hints that found no change.
    wrong: HintCounts,
    /// Changes with a hint.
    announced: HintCounts,
    /// Changes without one.
    silent: HintCounts,
    /// Looks without a hint that found no change.
    quiet: HintCounts,
}

impl HintRecord {
    /// From the stored counts; missing ones are zero.
    pub(crate) fn from_kept(kept: &HostSchedule) -> Self {
        let counts = |kept: &[f32]| std::array::from_fn(|kind| kept.get(kind).copied().unwrap_or(0.0));
        Self {
            right: counts(&kept.hints_right),
            wrong: counts(&kept.hints_wrong),
            announced: counts(&kept.changes_hinted),
            silent: counts(&kept.changes_unhinted),
            quiet: counts(&kept.rests_unhinted),
        }
    }

    /// Writes the counts into the stored schedule.
    pub(crate) fn keep(&self, kept: &mut HostSchedule) {
        let counts = |counts: &HintCounts| if self.is_empty() { Vec::new() } else { counts.to_vec() };
        kept.hints_right = counts(&self.right);
        kept.hints_wrong = counts(&self.wrong);
        kept.changes_hinted = counts(&self.announced);
        kept.changes_unhinted = counts(&self.silent);
        kept.rests_unhinted = counts(&self.quiet);
    }

    /// Whether no hint was ever judged.
    pub(crate) fn is_empty(&self) -> bool {
        (0..KINDS.len()).all(|number| !self.has_heard(number))
    }

    /// Whether a hint of this kind was ever judged.
    pub(crate) fn has_heard(&self, number: usize) -> bool {
        self.announced[number] + self.wrong[number] > 0.0
    }

    /// Probability that a hint of this kind has a change behind it that would not be there without the hint.
    pub(crate) fn precision(&self, number: usize) -> f64 {
        let (_, right, wrong) = KINDS[number];
        let (right, wrong) = (f64::from(self.right[number] + right), f64::from(self.wrong[number] + wrong));
        if right <= 0.0 { 0.0 } else { right / (right + wrong) }
    }

    /// Share of changes that hints of this kind announce, discounted by their share of quiet looks.
    pub(crate) fn recall(&self, number: usize) -> f64 {
        let of = |counts: &HintCounts| f64::from(counts[number]);
        let announced = of(&self.announced) / (of(&self.announced) + of(&self.silent) + f64::from(SILENT));
        let false_alarms = (of(&self.wrong) + 1.0) / (of(&self.wrong) + of(&self.quiet) + 2.0);
        ((announced - false_alarms) / (1.0 - false_alarms)).clamp(0.0, MAX_RECALL)
    }

    /// The greatest recall of any kind: how far silence means that nothing has changed.
    pub(crate) fn best_recall(&self) -> f64 {
        (0..KINDS.len()).map(|number| self.recall(number)).fold(0.0, f64::max)
    }

    /// Counts a look. `expected_fresh` is the probability that the page had not changed, hints set aside.
    pub(crate) fn learn(&mut self, number: usize, hinted: bool, changed: bool, expected_fresh: f64) {
        if !hinted && !self.has_heard(number) {
            return;
        }
        // Where most changes are announced, silence makes a change less likely.
        let unannounced = 1.0 - self.recall(number);
        let counts = [&mut self.right, &mut self.wrong, &mut self.announced, &mut self.silent, &mut self.quiet];
        let mut counts = counts.map(|counts| &mut counts[number]);
        if counts[1..].iter().map(|count| **count).sum::<f32>() >= REMEMBERED {
            counts.iter_mut().for_each(|count| **count *= 0.5);
        }
        let [right, wrong, announced, silent, quiet] = counts;
        match (hinted, changed) {
            (true, true) => *announced += 1.0,
            (true, false) => *wrong += 1.0,
            (false, true) => *silent += 1.0,
            (false, false) => *quiet += 1.0,
        }
        if hinted {
            let expected_fresh = expected_fresh.clamp(0.0, 1.0).powf(unannounced);
            *right += expected_fresh as f32 - f32::from(u8::from(!changed));
        }
    }
}

/// Index of a kind in [`KINDS`].
pub(crate) fn place_of(kind: HintKind) -> usize {
    KINDS.iter().position(|known| known.0 == kind).expect("every kind is in the table, as a test holds")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITEMAP: usize = 0;

    #[test]
    fn every_kind_of_hint_has_its_place() {
        for kind in [HintKind::Sitemap, HintKind::Feed, HintKind::Ping, HintKind::Websub] {
            assert_eq!(KINDS[place_of(kind)].0, kind);
        }
    }

    #[test]
    fn precision_follows_what_looks_have_shown_by_kind() {
        let mut record = HintRecord::default();
        let precision = |record: &HintRecord, kind| record.precision(place_of(kind));
        assert!((precision(&record, HintKind::Sitemap) - 0.2).abs() < 1e-6);
        assert!((precision(&record, HintKind::Feed) - 0.8).abs() < 1e-6);
        assert_eq!(precision(&record, HintKind::Ping), 1.0);
        (0..500).for_each(|look| record.learn(SITEMAP, true, look % 10 != 0, 1.0));
        assert!((record.precision(SITEMAP) - 0.9).abs() < 0.02, "{}", record.precision(SITEMAP));
        assert!((precision(&record, HintKind::Feed) - 0.8).abs() < 1e-6, "kinds are judged apart");
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
    fn recall_is_the_share_of_changes_that_were_announced() {
        let mut record = HintRecord::default();
        assert_eq!(record.best_recall(), 0.0, "nothing is known of a host's silence at first");
        for look in 0..190 {
            // Half of the looks find a change. Three of four changes were announced, and nothing else was.
            let changed = look % 2 == 0;
            record.learn(SITEMAP, changed && look % 8 != 0, changed, 0.5);
        }
        assert!((record.recall(SITEMAP) - 0.75).abs() < 0.04, "{}", record.recall(SITEMAP));
        assert_eq!(record.best_recall(), record.recall(SITEMAP));
        (0..1_000).for_each(|look| record.learn(SITEMAP, look % 2 == 0, look % 2 == 0, 0.5));
        assert!(record.recall(SITEMAP) <= MAX_RECALL);
    }

    #[test]
    fn looks_without_hints_count_only_where_hints_were_ever_heard() {
        let mut record = HintRecord::default();
        (0..50).for_each(|_| record.learn(SITEMAP, false, true, 0.5));
        assert!(record.is_empty() && record == HintRecord::default());
    }

    #[test]
    fn what_is_kept_is_what_was_known() {
        let mut record = HintRecord::default();
        (0..40).for_each(|look| record.learn(look % 3, look % 4 != 0, look % 7 < 4, 0.6));
        let mut kept = HostSchedule {
            next_permitted_at: page::Timestamp::MIN,
            crawl_delay_ms: 0,
            paused: false,
            troubles: 0,
            left_alone_until: page::Timestamp::MIN,
            hints_right: Vec::new(),
            hints_wrong: Vec::new(),
            changes_hinted: Vec::new(),
            changes_unhinted: Vec::new(),
            rests_unhinted: Vec::new(),
        };
        assert_eq!(HintRecord::from_kept(&kept), HintRecord::default());
        record.keep(&mut kept);
        assert_eq!(HintRecord::from_kept(&kept), record);
    }
}
