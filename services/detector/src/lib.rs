//! Did the page change, how much, and does the change mean anything?
//!
//! Takes fetch results, drops repeats (the fetcher is at-least-once by nature), compares what was fetched with the last
//! accepted version ([`change::compare`]) and tells: the estimator what was observed, the world what changed
//! (`page-changes`, the product), and the scheduler which links were found.
//!
//! It never fetches, and never decides what an answer means for the next fetch.

mod look;
mod state;

pub use crate::state::{PAGES, PageSketch, TEXTS};

use crate::look::Look;
use messages::{
    FetchResult, Link, Message, PageChange, PageLinks, PageObservation, SchedulerEvent, Verdict, body, topics,
};
use page::{CanonicalUrl, Timestamp};
use settings::{Discover, Settings};
use std::collections::BTreeMap;
use stream::{Context, InputRecord, OutputId, ProcessError, Processor, StageSpec};
use topology::Names;

const PAGE_OBSERVATIONS: OutputId = OutputId(0);
const PAGE_CHANGES: OutputId = OutputId(1);
const SCHEDULER_EVENTS: OutputId = OutputId(2);

/// Bytes of visible text kept per page, to say later what was added and removed.
pub const KEPT_TEXT_BYTES: usize = 32 << 10;
/// Most links sent on per page.
const LINKS_PER_RECORD: usize = 1_000;

/// What the detector goes by.
#[derive(Clone, Debug)]
pub struct Rules {
    max_body_bytes: usize,
    max_text_bytes: usize,
    passages: usize,
    /// Whether links become pages, so that the scheduler must hear of them.
    links: bool,
}

impl Rules {
    /// The detector's part of the settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            max_body_bytes: usize::try_from(settings.fetch.max_body).unwrap_or(usize::MAX),
            max_text_bytes: usize::try_from(settings.detector.max_text).unwrap_or(usize::MAX),
            passages: settings.detector.passages,
            links: settings.crawl.discover != Discover::None,
        }
    }
}

/// The stage as data.
pub fn stage(settings: &Settings, names: &Names) -> StageSpec {
    let rules = Rules::new(settings);
    StageSpec {
        name: "detector".to_owned(),
        group: names.group("detector"),
        input: names.topic(topics::FETCH_RESULTS).into(),
        outputs: vec![
            names.topic(topics::PAGE_OBSERVATIONS),
            names.topic(topics::PAGE_CHANGES),
            names.topic(topics::SCHEDULER_EVENTS),
        ],
        stores: names.stores("detector", &["pages", "texts"]),
        broadcast: None,
        dead_letters: names.dead_letters(),
        punctuate_every: page::DAY,
        processor: Box::new(move |_| Box::new(Detector::new(rules.clone()))),
    }
}

/// One partition of the detector.
pub struct Detector {
    rules: Rules,
    results: u64,
    repeats: u64,
    changes: u64,
}

impl Detector {
    /// A detector with these rules.
    pub fn new(rules: Rules) -> Self {
        Self { rules, results: 0, repeats: 0, changes: 0 }
    }
}

impl Processor for Detector {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(value) = &record.value else {
            return Err(ProcessError::SetAside("a tombstone is no fetch result".to_owned()));
        };
        let result = FetchResult::decode(value).map_err(|error| ProcessError::SetAside(error.to_string()))?;
        let key = result.page_id.0;
        let mut sketch = match context.get(PAGES, &key)? {
            Some(bytes) => PageSketch::decode(&bytes)
                .map_err(|error| ProcessError::Stop(format!("page {} in the state store: {error}", result.page_id)))?,
            None => PageSketch::default(),
        };
        if result.attempt <= sketch.attempt {
            self.repeats += 1;
            return Ok(());
        }
        let unpacked = result.body.as_deref().map(|packed| body::decompress(packed, self.rules.max_body_bytes));
        let unpacked = unpacked.transpose().map_err(|error| ProcessError::SetAside(error.to_string()))?;
        let look = Look::of(&result, unpacked.as_deref(), &sketch, self.rules.max_text_bytes)?;
        let previous_look_at = sketch.last_look_at;
        sketch.attempt = result.attempt;
        sketch.fetches += 1;
        look.remember(&result, &mut sketch);
        self.observe(&result, &look, &sketch, previous_look_at, context);
        if look.is_news() {
            self.changes += 1;
            self.publish(&result, &look, previous_look_at, context)?;
        }
        if self.rules.links && look.is_news() {
            tell_links(&result, &look, context);
        }
        context.put(PAGES, key, sketch.encode());
        self.results += 1;
        Ok(())
    }

    fn figures(&self, _now: Timestamp) -> Vec<(&'static str, f64)> {
        vec![
            ("results_total", self.results as f64),
            ("repeats_total", self.repeats as f64),
            ("changes_total", self.changes as f64),
        ]
    }
}

impl Detector {
    fn observe(
        &self,
        result: &FetchResult,
        look: &Look,
        sketch: &PageSketch,
        previous_fetched_at: Option<Timestamp>,
        context: &mut Context<'_>,
    ) {
        let named = sketch.last_modified.as_deref().and_then(|text| httpdate::parse_http_date(text).ok());
        let last_modified_at = named
            .and_then(|moment| moment.duration_since(std::time::UNIX_EPOCH).ok())
            .map(|since| Timestamp::MIN.max(Timestamp::from_secs(since.as_secs() as i64)))
            // A date in the future tells nothing about the past.
            .filter(|moment| *moment <= result.fetched_at);
        let observation = PageObservation {
            page_id: result.page_id,
            url: result.url.clone(),
            site_key: result.site_key.clone(),
            attempt: result.attempt,
            outcome: result.outcome,
            status: result.status,
            fetched_at: result.fetched_at,
            previous_fetched_at,
            verdict: look.verdict,
            magnitude: look.magnitude,
            resemblance: look.resemblance,
            etag: sketch.etag.clone(),
            last_modified: sketch.last_modified.clone(),
            last_modified_at,
            content_digest: sketch.content_digest,
            body_length: sketch.body_length,
            latency_ms: result.latency_ms,
            retry_after_s: result.retry_after_s,
            robots_crawl_delay_ms: result.robots_crawl_delay_ms,
        };
        context.emit(PAGE_OBSERVATIONS, result.site_key.as_str(), observation.encode());
    }

    /// Tells the world, with what was added and removed, and keeps the text for the next time.
    fn publish(
        &self,
        result: &FetchResult,
        look: &Look,
        previous_seen_at: Option<Timestamp>,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let key = result.page_id.0;
        let mut passages = change::Passages::default();
        if self.rules.passages > 0 {
            let new = look.page.as_ref().map(|page| cut(&page.text)).unwrap_or_default();
            let old = context.get(TEXTS, &key)?.map(|packed| body::decompress(&packed, KEPT_TEXT_BYTES)).transpose();
            let old = old.map_err(|error| ProcessError::Stop(format!("kept text of {}: {error}", result.url)))?;
            if let Some(old) = &old {
                passages = change::passages(&String::from_utf8_lossy(old), new);
            }
            if new.is_empty() {
                context.delete(TEXTS, key);
            } else {
                context.put(TEXTS, key, body::compress(new.as_bytes()));
            }
        }
        passages.added.truncate(self.rules.passages);
        passages.removed.truncate(self.rules.passages);
        let change = PageChange {
            change_id: context.output_id().expect("a change follows from an input record"),
            page_id: result.page_id,
            url: result.url.clone(),
            verdict: look.verdict,
            magnitude: look.magnitude,
            seen_at: result.fetched_at,
            previous_seen_at,
            status: result.status,
            content_digest: result.content_digest,
            added: passages.added,
            removed: passages.removed,
        };
        context.emit(PAGE_CHANGES, key, change.encode());
        Ok(())
    }
}

/// The links of a page to its own site: those that can become pages.
fn tell_links(result: &FetchResult, look: &Look, context: &mut Context<'_>) {
    let Some(page) = look.page.as_ref().filter(|page| !page.robots.nofollow) else { return };
    let address = result.final_url.as_ref().unwrap_or(&result.url);
    let base = page.base.as_deref().and_then(|base| address.join(base).ok());
    let base = base.as_ref().unwrap_or(address);
    let mut links: BTreeMap<CanonicalUrl, &change::Link> = BTreeMap::new();
    for link in page.links.iter().filter(|link| !link.is_nofollow()) {
        if let Ok(url) = base.join(&link.href)
            && url.site_key() == result.site_key
        {
            links.entry(url).or_insert(link);
        }
    }
    if links.is_empty() {
        return;
    }
    let links = links.into_iter().take(LINKS_PER_RECORD);
    let links = links.map(|(url, link)| Link { url, anchor: link.anchor.clone(), rel: link.rel.clone() }).collect();
    let record = PageLinks {
        source_page_id: result.page_id,
        source_url: result.url.clone(),
        target_site: result.site_key.clone(),
        found_at: result.fetched_at,
        links,
    };
    context.emit(SCHEDULER_EVENTS, result.site_key.as_str(), SchedulerEvent::Links(record).encode());
}

/// The beginning of a text, cut between two characters.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(KEPT_TEXT_BYTES)]
}

/// Whether a verdict is told to the world: a new page, a change a reader notices, a page gone or back.
fn is_news(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::First | Verdict::Minor | Verdict::Major | Verdict::Gone | Verdict::Returned)
}
