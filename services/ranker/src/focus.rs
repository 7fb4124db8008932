//! Weighs pages by the focuses of the crawl, and finds the links worth following.
//!
//! A page that was never looked at is judged by the links to it, and afterwards by its own relevance. Pages are kept
//! only while there are focuses, so that a crawl without them reads and writes nothing here.

use crate::state::TotalsKey;
use focus::{FocusWeight, LinkEvidence, LinkScoring, hops_out_of_focus, standing};
use messages::{FocusRelevance, LinkFocus, PageFocus, impl_message};
use page::PageId;
use serde::{Deserialize, Serialize};
use stream::{Context, ProcessError, Table};

/// Absent: there was no focus when the page was found or looked at.
pub const FOCUS: Table<PageId, FocusedPage> = Table::new("focus")
    .bounded_by("`ranker/accounts`", "the end of the account; the removal of the page; the end of all focuses");
/// Counts of the pages: one record. Absent: there was no focus yet.
pub const FOCUS_TOTALS: Table<TotalsKey, FocusTotals> = Table::new("focus-totals").bounded_by("one record", "nobody");

/// A page's relevance to the focuses, and the evidence of the links to it. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FocusedPage {
    pub focus_version: i64,
    pub links: i32,
    pub of_words: f64,
    pub of_importance: f64,
    pub hops: Option<i32>,
    pub relevances: Vec<FocusRelevance>,
    pub is_target: bool,
}

/// Counts of the pages of a partition. The schema describes the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FocusTotals {
    pub pages: i64,
    pub judged: i64,
    pub in_focus: i64,
    pub targets: i64,
}

impl_message!(FocusedPage, "FocusedPage", include_str!("../../../schemas/state/FocusedPage.avsc"));
impl_message!(FocusTotals, "FocusTotals", include_str!("../../../schemas/state/FocusTotals.avsc"));

impl FocusedPage {
    /// The focus that the page is closest to, seen from its threshold. `None` if the page was not looked at.
    pub fn best(&self) -> Option<&FocusRelevance> {
        let place = |it: &FocusRelevance| standing(it.relevance, it.threshold);
        self.relevances.iter().max_by(|one, other| place(one).total_cmp(&place(other)))
    }

    /// Whether the page was looked at and is about a focus.
    pub fn is_in_focus(&self) -> bool {
        self.relevances.iter().any(|it| it.relevance >= it.threshold)
    }

    /// The evidence of the links to the page so far.
    fn evidence(&self) -> LinkEvidence {
        LinkEvidence {
            links: self.links.max(0).unsigned_abs(),
            relevance: self.of_words,
            importance: self.of_importance,
        }
    }

    /// The promise of the links to it, from 0 to 1, apart from importance. `None` if none promises anything.
    pub fn promise(&self, scoring: &LinkScoring) -> Option<f64> {
        scoring.of_target(&self.evidence(), None)
    }

    /// The links between the page and the last one in a focus.
    fn hops_out_of_focus(&self) -> u32 {
        hops_out_of_focus(self.is_in_focus(), self.hops.map(|hops| hops.max(0).unsigned_abs()))
    }

    /// The page's weight, given that by its links. `None` if no link to it is worth following.
    fn weight(&self, weights: &FocusWeight, by_links: f64) -> Option<f64> {
        match self.best() {
            Some(best) => Some(weights.of_page(standing(best.relevance, best.threshold), by_links)),
            // Nothing is known of it: a seed, or a page found before there were focuses.
            None if self.links == 0 => Some(weights.of_page(0.5, by_links)),
            None => weights.of_target(&self.evidence(), by_links),
        }
    }

    /// Adds a link that a page with this distance from a focus has.
    fn add(&mut self, scoring: &LinkScoring, promise: f64, hops: u32) {
        let mut evidence = self.evidence();
        scoring.add(&mut evidence, promise, hops);
        self.links = i32::try_from(evidence.links).unwrap_or(i32::MAX);
        (self.of_words, self.of_importance) = (evidence.relevance, evidence.importance);
        let hops = i32::try_from(hops).unwrap_or(i32::MAX);
        self.hops = Some(self.hops.map_or(hops, |known| known.min(hops)));
    }

    fn counted(&self) -> [i64; 3] {
        [!self.relevances.is_empty(), self.is_in_focus(), self.is_target].map(i64::from)
    }
}

/// How focuses are applied in a partition.
#[derive(Debug)]
pub(crate) struct Focus {
    weights: FocusWeight,
    pub(crate) totals: FocusTotals,
    is_changed: bool,
}

impl Focus {
    pub(crate) fn new(tunnel_depth: u32) -> Self {
        let scoring = LinkScoring { tunnel_depth, ..LinkScoring::default() };
        let weights = FocusWeight { scoring, ..FocusWeight::default() };
        Self { weights, totals: FocusTotals::default(), is_changed: false }
    }

    pub(crate) fn restore(&mut self, context: &Context<'_>) -> Result<(), ProcessError> {
        self.totals = context.get(FOCUS_TOTALS, &TotalsKey)?.unwrap_or_default();
        Ok(())
    }

    pub(crate) fn flush(&mut self, context: &mut Context<'_>) {
        if std::mem::take(&mut self.is_changed) {
            context.put(FOCUS_TOTALS, &TotalsKey, &self.totals);
        }
    }

    /// Takes in a look at a page. Returns the focus that its links carry on, or `None` if there are no focuses.
    pub(crate) fn take_page(
        &mut self,
        id: PageId,
        focus: Option<PageFocus>,
        context: &mut Context<'_>,
    ) -> Result<Option<LinkFocus>, ProcessError> {
        let Some(PageFocus { focus_version, relevances, is_target, promises }) = focus else {
            self.remove(id, context)?;
            return Ok(None);
        };
        let known = self.load(id, context)?;
        let is_known = known.is_some();
        let before = known.unwrap_or_default();
        let is_first = before.focus_version != focus_version || before.relevances.is_empty();
        if is_known {
            self.count(&before, -1);
        }
        let page = FocusedPage { focus_version, relevances, is_target, ..before };
        self.count(&page, 1);
        let hops = i32::try_from(page.hops_out_of_focus()).unwrap_or(i32::MAX);
        context.put(FOCUS, &id, &page);
        Ok(Some(LinkFocus { focus_version, hops, is_first, promises }))
    }

    /// Forgets a page and its relevance.
    pub(crate) fn remove(&mut self, id: PageId, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if let Some(known) = self.load(id, context)? {
            self.count(&known, -1);
            context.delete(FOCUS, &id);
        }
        Ok(())
    }

    /// Takes in a link to a page, with its promise. Returns the page's weight, or `None` if no link to it is worth
    /// following.
    pub(crate) fn take_link(
        &mut self,
        id: PageId,
        focus: Option<&LinkFocus>,
        promise: Option<f32>,
        by_links: f64,
        context: &mut Context<'_>,
    ) -> Result<Option<f64>, ProcessError> {
        let Some(focus) = focus else { return Ok(Some(by_links)) };
        let known = self.load(id, context)?;
        let is_known = known.is_some();
        let mut page = known.unwrap_or_default();
        let is_of_others = page.focus_version != focus.focus_version && page.relevances.is_empty();
        if is_of_others {
            let hops = page.hops;
            page = FocusedPage { focus_version: focus.focus_version, hops, ..FocusedPage::default() };
        }
        // A page that is looked at again repeats most of its links.
        if page.relevances.is_empty() && (focus.is_first || page.links == 0) {
            let promise = f64::from(promise.unwrap_or(0.0));
            page.add(&self.weights.scoring, promise, focus.hops.max(0).unsigned_abs());
            context.put(FOCUS, &id, &page);
            if !is_known {
                self.count(&page, 1);
            }
        }
        Ok(page.weight(&self.weights, by_links))
    }

    /// The weight of a page that was looked at.
    pub(crate) fn weight(&self, id: PageId, by_links: f64, context: &Context<'_>) -> Result<f64, ProcessError> {
        let page = self.load(id, context)?;
        Ok(page.and_then(|page| page.weight(&self.weights, by_links)).unwrap_or(by_links))
    }

    /// Reads nothing while no page was ever kept.
    fn load(&self, id: PageId, context: &Context<'_>) -> Result<Option<FocusedPage>, ProcessError> {
        if self.totals.pages == 0 { Ok(None) } else { Ok(context.get(FOCUS, &id)?) }
    }

    fn count(&mut self, page: &FocusedPage, sign: i64) {
        let [judged, in_focus, targets] = page.counted();
        let totals = &mut self.totals;
        totals.pages += sign;
        totals.judged += sign * judged;
        totals.in_focus += sign * in_focus;
        totals.targets += sign * targets;
        self.is_changed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDINARY: f64 = 1.0;

    fn judged(best: f64) -> FocusedPage {
        let of = |focus: &str, relevance: f64| FocusRelevance { focus: focus.to_owned(), relevance, threshold: 0.3 };
        FocusedPage { relevances: vec![of("a", 0.01), of("b", best)], ..FocusedPage::default() }
    }

    fn weight(page: &FocusedPage) -> Option<f64> {
        page.weight(&FocusWeight::default(), ORDINARY)
    }

    #[test]
    fn a_pages_own_relevance_replaces_what_links_promised() {
        let mut promised = FocusedPage::default();
        promised.add(&LinkScoring::default(), 1.0, 0);
        let sunk = FocusedPage { relevances: judged(0.0).relevances, ..promised.clone() };
        assert!(
            weight(&promised) > Some(1.0) && weight(&sunk) < Some(0.2),
            "{:?} {:?}",
            weight(&promised),
            weight(&sunk)
        );
        assert_eq!(weight(&sunk), weight(&judged(0.0)));
        assert!((weight(&judged(0.3)).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(judged(0.3).best().unwrap().focus, "b");
    }

    #[test]
    fn a_page_of_which_nothing_is_known_is_ordinary_and_one_without_promise_is_not_followed() {
        assert_eq!(weight(&FocusedPage::default()), Some(1.0));
        let mut page = FocusedPage::default();
        page.add(&LinkScoring::default(), 0.0, 2);
        assert_eq!(weight(&page), None);
        page.add(&LinkScoring::default(), 0.0, 1);
        assert!(weight(&page).is_some());
        assert_eq!((page.links, page.hops), (2, Some(1)));
    }

    #[test]
    fn tunnels_begin_at_pages_on_a_focus_and_at_seeds() {
        let with_hops = |hops, best| FocusedPage { hops, ..judged(best) }.hops_out_of_focus();
        assert_eq!((with_hops(Some(4), 0.3), with_hops(None, 0.0), with_hops(Some(0), 0.0)), (0, 0, 1));
    }
}
