//! Scores a page and its links by the focuses of the crawl.
//!
//! The focuses of the settings count, and the operator's orders above them. Work is linear in the page, and none if there are no
//! focuses.

use crate::Detector;
use crate::links::{self, LinkingPage, LinksLeftOut};
use crate::look::{JudgedLook, PageMemory};
use crate::read_page::ReadPage;
use crate::state::PageSketch;
use document::LinkedPage;
use focus::{
    Focus, FocusSet, FocusSetRules, IcuSegmenter, LinkPrediction, MAX_FOCUSES, PageTerms, PhraseSegmenter,
    predict_links, read_focus,
};
use messages::topics::FOCUS_ORDERS;
use messages::{FetchResult, FocusOrder, FocusRelevance, Link, PageFocus};
use page::{CanonicalUrl, PageId, UrlRules};
use settings::Settings;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use stream::{Context, InputRecord, ProcessError};

/// The focuses of one partition.
#[derive(Clone, Debug)]
pub(crate) struct WantedFocuses {
    configured: Arc<[Focus]>,
    /// By name, the operator's orders: a focus, or none.
    ordered: BTreeMap<String, Option<Focus>>,
    rules: FocusSetRules,
    set: Arc<FocusSet>,
    /// Focuses beyond the most that a set has.
    left_out: usize,
    /// The pages that the focuses name as examples.
    targets: Arc<HashSet<PageId>>,
    /// Which URLs are the same page.
    urls: UrlRules,
    segmenter: IcuSegmenter,
}

impl WantedFocuses {
    pub(crate) fn new(settings: &Settings) -> Self {
        let least_closeness = settings.focus.link_threshold;
        let rules = FocusSetRules {
            page_threshold: settings.focus.page_threshold,
            prediction: LinkPrediction { least_closeness, ..LinkPrediction::default() },
            ..FocusSetRules::default()
        };
        let segmenter = IcuSegmenter::default();
        let configured = focus::configured(settings, &segmenter);
        let configured = configured.expect("focuses were checked when the settings were loaded");
        let mut focuses = Self {
            configured: configured.into(),
            ordered: BTreeMap::new(),
            rules,
            set: Arc::default(),
            left_out: 0,
            targets: Arc::default(),
            urls: settings.urls.rules(),
            segmenter,
        };
        focuses.collect();
        focuses
    }

    /// Takes in an operator's order.
    ///
    /// # Errors
    /// Says what is wrong with the focus. The focuses stay as they were.
    pub(crate) fn take(&mut self, order: FocusOrder) -> Result<(), String> {
        let focus = order.text.map(|text| read_focus(&text, &self.segmenter)).transpose();
        let focus = focus.map_err(|error| error.to_string())?.map(|focus| Focus { name: order.name.clone(), ..focus });
        self.ordered.insert(order.name, focus);
        self.collect();
        Ok(())
    }

    fn collect(&mut self) {
        let configured = self.configured.iter().filter(|focus| !self.ordered.contains_key(&focus.name));
        let focuses: Vec<Focus> = self.ordered.values().flatten().chain(configured).cloned().collect();
        self.left_out = focuses.len().saturating_sub(MAX_FOCUSES);
        let examples = focuses.iter().flat_map(|focus| &focus.examples);
        let targets = examples.filter_map(|example| CanonicalUrl::parse(example).ok());
        self.targets = Arc::new(targets.map(|url| self.urls.apply(url).page_id()).collect());
        self.set = Arc::new(FocusSet::new(focuses, self.rules, &self.segmenter));
    }

    /// Whether no page is judged.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Number of the set of focuses; 0 without.
    pub(crate) fn version(&self) -> i64 {
        self.set.version()
    }

    /// Numbers of focuses, of focuses left out because there are too many, and of pages that the focuses name as examples.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        (self.set.focuses().len(), self.left_out, self.targets.len())
    }

    /// Cuts the words of pages, those of the focuses whole.
    fn segmenter(&self) -> PhraseSegmenter<'_> {
        PhraseSegmenter::new(&self.segmenter, self.set.phrases())
    }

    /// Judges a page and its links. `None` without focuses.
    pub(crate) fn judge(&self, result: &FetchResult, page: &ReadPage, links: &[Link]) -> Option<PageFocus> {
        let reading = page.main_text()?;
        let terms = PageTerms::read(&self.segmenter(), &reading.title, &reading.text);
        let judged = self.set.judge(&terms);
        let is_in_focus = judged.iter().any(|it| it.relevance >= it.threshold);
        let promises = if links.is_empty() { HashMap::new() } else { self.promises(result, &reading.linked) };
        let promise = |link: &Link| match link.rel.as_str() {
            // A copy and its original are about the same.
            "canonical" => f32::from(u8::from(is_in_focus)),
            _ => promises.get(&link.url.page_id()).copied().unwrap_or(0.0),
        };
        let relevance = |it: focus::FocusJudgement| FocusRelevance {
            focus: it.focus,
            relevance: it.relevance,
            threshold: it.threshold,
        };
        Some(PageFocus {
            focus_version: self.set.version(),
            relevances: judged.into_iter().map(relevance).collect(),
            is_target: self.targets.contains(&result.look.page_id),
            promises: links.iter().map(promise).collect(),
        })
    }

    /// How well the words of each link fit the focuses, by target. A page with several addresses has the highest score of them.
    fn promises(&self, result: &FetchResult, page: &LinkedPage) -> HashMap<PageId, f32> {
        let address = Some(result.look.answered_by().as_str());
        let mut promises: HashMap<PageId, f32> = HashMap::new();
        for link in predict_links(&self.set.rules().prediction, &*self.set, &self.segmenter(), page, address) {
            if link.relevance > 0.0
                && let Ok(url) = CanonicalUrl::parse(&link.url)
            {
                let most = promises.entry(self.urls.apply(url).page_id()).or_default();
                *most = most.max(link.relevance as f32);
            }
        }
        promises
    }
}

impl Detector {
    /// Takes in an operator's order about a focus.
    pub(crate) fn take_order(&mut self, record: &InputRecord) {
        let order = record.read(FOCUS_ORDERS).map_err(|error| (String::new(), error.to_string()));
        let taken = order.and_then(|order| {
            let name = order.name.clone();
            self.rules.focuses.take(order).map_err(|problem| (name, problem))
        });
        if let Err((focus, problem)) = taken {
            self.counts.bad_focus_orders += 1;
            tracing::warn!(focus, problem, "cannot read the order about a focus; the focuses stay as they were");
        }
        let left_out = self.rules.focuses.left_out;
        if left_out > 0 {
            tracing::warn!(
                left_out,
                most = MAX_FOCUSES,
                "there are too many focuses; remove some with recrawl focus remove"
            );
        }
    }

    /// Whether the page's last version was judged by other focuses than those of today.
    pub(crate) fn is_unjudged(&self, before: &PageMemory, look: &JudgedLook) -> bool {
        before.sketch.focus_version != self.rules.focuses.version() && !look.judgement.held
    }

    /// Counts links of which the rule is unknown. One is logged each time that their number has doubled.
    fn note_undecided(&mut self, left_out: &LinksLeftOut) {
        let before = self.counts.undecided_links;
        self.counts.undecided_links += left_out.undecided;
        if let Some(undecided) = &left_out.example
            && before.leading_zeros() != self.counts.undecided_links.leading_zeros()
        {
            tracing::warn!(undecided, "a link is not followed because its rule is unknown; simplify the expression");
        }
    }

    /// Sends the ranker the links of a page and the judgements of the focuses, if links are followed, focuses judge the
    /// page, or they judged it before.
    pub(crate) fn send_links(
        &mut self,
        result: &FetchResult,
        page: &ReadPage,
        before: &PageMemory,
        known: &mut PageSketch,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let was_judged = before.sketch.focus_version != 0;
        if !self.rules.follows_links() && self.rules.focuses.is_empty() && !was_judged {
            return Ok(());
        }
        let is_first_look = before.sketch.last_look_at.is_none();
        let canonical = links::canonical(result, page.text(), &self.rules);
        known.copy_of = links::copied_page(&result.look.url, canonical.as_ref(), &self.rules, context)?;
        let place = LinkingPage { canonical, is_copy: known.copy_of.is_some(), is_first_look };
        let left_out = links::send_links(result, page, (&place, &*known), &self.rules, context);
        self.counts.links_left_out += left_out.too_many;
        self.note_undecided(&left_out);
        (known.linked_sites, known.is_unwanted) = (left_out.linked_sites, left_out.is_unwanted);
        Ok(())
    }
}
