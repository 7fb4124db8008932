//! The kinds of hints as they are stored, and the lists among the pages.

use crate::hosts::HostSchedule;
use crate::page_record::ScheduledPage;
use crate::rules::FrontierRules;
use messages::HintKind;
use revisit::hints::{
    FEED, HintCounts, HintNumber, HintRecord, KINDS, List, ListSubject, NewsRate, PING, SITEMAP, WEBSUB,
};

/// Precision from which a hint makes a page wanted next, where the policy cannot value hints.
pub(crate) const LIKELY: f64 = 0.5;

/// The number of a kind: its bit in [`ScheduledPage::hinted`] and its place in the host's counts, so it is kept on disk.
pub(crate) fn number_of(kind: HintKind) -> HintNumber {
    match kind {
        HintKind::Sitemap => SITEMAP,
        HintKind::Feed => FEED,
        HintKind::Ping => PING,
        HintKind::Websub => WEBSUB,
    }
}

/// The kind with a number below [`KINDS`].
pub(crate) fn kind_of(number: HintNumber) -> HintKind {
    match number {
        FEED => HintKind::Feed,
        PING => HintKind::Ping,
        WEBSUB => HintKind::Websub,
        _ => HintKind::Sitemap,
    }
}

/// The record of a host from the stored counts; missing ones are zero.
pub(crate) fn record_of(kept: &HostSchedule) -> HintRecord {
    let counts = |kept: &[f32]| std::array::from_fn(|kind| kept.get(kind).copied().unwrap_or(0.0));
    HintRecord {
        right: counts(&kept.hints_right),
        wrong: counts(&kept.hints_wrong),
        announced: counts(&kept.changes_hinted),
        silent: counts(&kept.changes_unhinted),
        quiet: counts(&kept.rests_unhinted),
    }
}

/// Writes the counts into the stored schedule.
pub(crate) fn keep(record: &HintRecord, kept: &mut HostSchedule) {
    let counts = |counts: &HintCounts| if record.is_empty() { Vec::new() } else { counts.to_vec() };
    kept.hints_right = counts(&record.right);
    kept.hints_wrong = counts(&record.wrong);
    kept.changes_hinted = counts(&record.announced);
    kept.changes_unhinted = counts(&record.silent);
    kept.rests_unhinted = counts(&record.quiet);
}

/// The page as a list, if it is one: a sitemap or feed of known pages, or a page that has shown links to new ones.
/// `share` is the share of its weight that a new page of its site has.
pub(crate) fn list_of(page: &ScheduledPage, rules: &FrontierRules, share: f64) -> Option<List> {
    let kind = usize::try_from(page.list_kind).ok().filter(|kind| *kind < KINDS)?;
    let news = news_of(page);
    match page.listed {
        1.. => Some(List { news, about: ListSubject::KnownPages { pages: page.listed as f64, kind } }),
        _ if page.list_news > 0.0 => {
            Some(List { news, about: ListSubject::NewPages { worth: rules.new_page_worth * share } })
        }
        _ => None,
    }
}

/// The news that a page has had, as a list or by its links.
pub(crate) fn news_of(page: &ScheduledPage) -> NewsRate {
    NewsRate { news: page.list_news.max(0.0), days: page.list_days.max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_hint_has_its_number() {
        for kind in [HintKind::Sitemap, HintKind::Feed, HintKind::Ping, HintKind::Websub] {
            assert_eq!(kind_of(number_of(kind)), kind);
        }
    }

    #[test]
    fn what_is_kept_is_what_was_known() {
        let mut record = HintRecord::default();
        (0..40).for_each(|look| record.learn_hinted(look % 3, look % 7 < 4, 0.6));
        (0..40).for_each(|look| record.learn_silent(look % 3, look % 7 < 2, 0.7));
        let mut kept = HostSchedule {
            next_permitted_at: page::Timestamp::MIN,
            crawl_delay_ms: 0,
            paused: false,
            blocked: false,
            troubles: 0,
            left_alone_until: page::Timestamp::MIN,
            hints_right: Vec::new(),
            hints_wrong: Vec::new(),
            changes_hinted: Vec::new(),
            changes_unhinted: Vec::new(),
            rests_unhinted: Vec::new(),
        };
        assert_eq!(record_of(&kept), HintRecord::default());
        keep(&record, &mut kept);
        assert_eq!(record_of(&kept), record);
    }
}
