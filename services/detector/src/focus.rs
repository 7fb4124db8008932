//! Scores a page and its links by the topics of the crawl.
//!
//! The topics of the settings count, and the operator's orders above them. Work is linear in the page, and none if there are no
//! topics.

use crate::Detector;
use crate::links;
use crate::look::{JudgedLook, PageMemory};
use document::{ContentKind, Format, PageText};
use messages::topics::TOPIC_ORDERS;
use messages::{FetchResult, Link, PageFocus, TopicOrder, TopicRelevance};
use page::{CanonicalUrl, PageId, UrlRules};
use settings::Settings;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use stream::{Context, InputRecord};
use topic::{
    IcuSegmenter, LinkPrediction, MAX_TOPICS, PageTerms, Topic, TopicSet, TopicSetRules, predict_links, read_topic,
};

/// The topics of one partition.
#[derive(Clone, Debug)]
pub(crate) struct WantedTopics {
    configured: Arc<[Topic]>,
    /// By name, the operator's orders: a topic, or none.
    ordered: BTreeMap<String, Option<Topic>>,
    rules: TopicSetRules,
    set: Arc<TopicSet>,
    /// Topics beyond the most that a set has.
    left_out: usize,
    /// The pages that the topics name as examples.
    targets: Arc<HashSet<PageId>>,
    /// Which URLs are the same page.
    urls: UrlRules,
    segmenter: IcuSegmenter,
}

impl WantedTopics {
    /// The topics of the settings.
    pub(crate) fn new(settings: &Settings) -> Self {
        let least_closeness = settings.topics.link_threshold;
        let rules = TopicSetRules {
            page_threshold: settings.topics.page_threshold,
            prediction: LinkPrediction { least_closeness, ..LinkPrediction::default() },
            ..TopicSetRules::default()
        };
        let segmenter = IcuSegmenter::default();
        let configured = topic::configured(settings, &segmenter);
        let configured = configured.expect("topics were checked when the settings were loaded");
        let mut topics = Self {
            configured: configured.into(),
            ordered: BTreeMap::new(),
            rules,
            set: Arc::default(),
            left_out: 0,
            targets: Arc::default(),
            urls: settings.urls.rules(),
            segmenter,
        };
        topics.collect();
        topics
    }

    /// Takes in an operator's order.
    ///
    /// # Errors
    /// Says what is wrong with the topic. The topics stay as they were.
    pub(crate) fn take(&mut self, order: TopicOrder) -> Result<(), String> {
        let topic = order.text.map(|text| read_topic(&text, &self.segmenter)).transpose();
        let topic = topic.map_err(|error| error.to_string())?.map(|topic| Topic { name: order.name.clone(), ..topic });
        self.ordered.insert(order.name, topic);
        self.collect();
        Ok(())
    }

    fn collect(&mut self) {
        let configured = self.configured.iter().filter(|topic| !self.ordered.contains_key(&topic.name));
        let topics: Vec<Topic> = self.ordered.values().flatten().chain(configured).cloned().collect();
        self.left_out = topics.len().saturating_sub(MAX_TOPICS);
        let examples = topics.iter().flat_map(|topic| &topic.examples);
        let targets = examples.filter_map(|example| CanonicalUrl::parse(example).ok());
        self.targets = Arc::new(targets.map(|url| self.urls.apply(url).page_id()).collect());
        self.set = Arc::new(TopicSet::new(topics, self.rules));
    }

    /// Whether no page is judged.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Number of the set of topics; 0 without.
    pub(crate) fn version(&self) -> i64 {
        self.set.version()
    }

    /// Numbers of topics, of topics left out because there are too many, and of pages that the topics name as examples.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        (self.set.topics().len(), self.left_out, self.targets.len())
    }

    /// Judges a page and its links. `None` without topics.
    pub(crate) fn judge(&self, result: &FetchResult, body: &[u8], links: &[Link]) -> Option<PageFocus> {
        if self.is_empty() {
            return None;
        }
        let address = result.look.answered_by().as_str();
        let reading = reading::read(body, result.content_type.as_deref(), Some(address));
        let terms = PageTerms::read(&self.segmenter, &reading.title, &reading.text);
        let judged = self.set.judge(&terms);
        let is_on_topic = judged.iter().any(|it| it.relevance >= it.threshold);
        let promises = match reading.kind {
            ContentKind::Html if !links.is_empty() => self.promises(result, body),
            _ => HashMap::new(),
        };
        let promise = |link: &Link| match link.rel.as_str() {
            // A copy and its original are about the same.
            "canonical" => f32::from(u8::from(is_on_topic)),
            _ => promises.get(&link.url.page_id()).copied().unwrap_or(0.0),
        };
        let relevance = |it: topic::TopicJudgement| TopicRelevance {
            topic: it.topic,
            relevance: it.relevance,
            threshold: it.threshold,
        };
        Some(PageFocus {
            topics_version: self.set.version(),
            relevances: judged.into_iter().map(relevance).collect(),
            is_target: self.targets.contains(&result.look.page_id),
            promises: links.iter().map(promise).collect(),
        })
    }

    /// How well the words of each link fit the topics, by target. A page with several addresses has the highest score of them.
    fn promises(&self, result: &FetchResult, body: &[u8]) -> HashMap<PageId, f32> {
        let content_type = result.content_type.as_deref();
        let html = Format::of(content_type, body).decode(body, content_type).map(|decoded| decoded.text);
        let html = html.unwrap_or_default();
        let address = Some(result.look.answered_by().as_str());
        let mut promises: HashMap<PageId, f32> = HashMap::new();
        for link in predict_links(&self.set.rules().prediction, &*self.set, &self.segmenter, &html, address) {
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
    /// Takes in an operator's order about a topic.
    pub(crate) fn hear_order(&mut self, record: &InputRecord) {
        let order = record.read(TOPIC_ORDERS).map_err(|error| (String::new(), error.to_string()));
        let taken = order.and_then(|order| {
            let name = order.name.clone();
            self.rules.topics.take(order).map_err(|problem| (name, problem))
        });
        if let Err((topic, problem)) = taken {
            self.counts.bad_topic_orders += 1;
            tracing::warn!(topic, problem, "cannot read the order about a topic; the topics stay as they were");
        }
        let left_out = self.rules.topics.left_out;
        if left_out > 0 {
            tracing::warn!(
                left_out,
                most = MAX_TOPICS,
                "there are too many topics; remove some with recrawl topic remove"
            );
        }
    }

    /// Whether the page's last version was judged by other topics than those of today.
    pub(crate) fn is_unjudged(&self, before: &PageMemory, look: &JudgedLook) -> bool {
        before.sketch.topics_version != self.rules.topics.version() && !look.judgement.held
    }

    /// Sends the ranker the links of a page, and what the topics say, if somebody wants either.
    pub(crate) fn tell_links(
        &mut self,
        result: &FetchResult,
        (page, body): (&PageText, Option<&[u8]>),
        before: &PageMemory,
        context: &mut Context<'_>,
    ) {
        let was_judged = before.sketch.topics_version != 0;
        if !self.rules.follows_links() && self.rules.topics.is_empty() && !was_judged {
            return;
        }
        let is_first_look = before.sketch.last_look_at.is_none();
        let page = (page, body.unwrap_or_default());
        self.counts.links_left_out += links::tell_links(result, page, is_first_look, &self.rules, context);
    }
}
