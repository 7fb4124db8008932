//! Did the page change, how much, and is the change meaningful?
//!
//! Reads fetch results, drops duplicates (the fetcher delivers at least once), and judges each version by the page's
//! history ([`change::PageState`]). Sends observations to the estimator, changes to the world (`page-changes`, the
//! product), and to the scheduler the links found and the hints of sitemaps and feeds about other pages. Stores the
//! copies (`page-contents`).
//!
//! It never fetches, and never decides what a response means for the next fetch.

mod answers;
mod bands;
mod changes;
mod contents;
mod copy_room;
mod focus;
mod forgetting;
mod history;
mod links;
mod lists;
mod look;
mod owners;
mod presence;
mod read_page;
mod saved_rules;
mod set_aside;
mod state;
mod unread;

pub use crate::history::{PageHistory, VersionFacts};
pub use crate::links::{LINKS_PER_PAGE, link_base, link_target};
pub use crate::state::{
    BLIND, BlindPage, CONTENTS, COPIES, EventsOfHost, HISTORY, HOSTS, PAGES, PageSketch, PageVersion, PastVersion,
    VERSIONS,
};
pub use crate::unread::Unread;

use crate::contents::NewVersion;
use crate::copy_room::CopyRoom;
use crate::focus::WantedFocuses;
use crate::history::{HistoryLimits, HistorySweep};
use crate::lists::{ListRules, ListedPages};
use crate::look::{JudgedLook, PageMemory, dates};
use crate::read_page::{ReadPage, body_of};
use crate::saved_rules::RulesInForce;
use crate::set_aside::{failed_look, page_of_result};
use change::{PageState, VersionMemory};
use document::{Body, ReadConfined};
use messages::topics::{
    ANSWERS, FETCH_RESULTS, FOCUS_ORDERS, PAGE_BANDS, PAGE_CHANGES, PAGE_OBSERVATIONS, RANKER_EVENTS, RULE_SETS,
    SCHEDULER_EVENTS, TopicName,
};
use messages::{
    ChangeForm, ContentEvidence, DetectorEvent, FetchResult, LookJudgement, Message, PageChange, PageObservation,
    QuestionDesk, Verdict,
};
use metrics::{Figure, detector as figure};
use page::{CanonicalUrl, PageId, UrlRules};
use preferences::Use;
use scope::{CrawlRule, Scope};
use settings::{Contents, Discover, RankMethod, Settings};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec, StageTopology, StageWork};
use topology::LogNames;
use watch::{WatchMemory, WatchRule};

/// How often the orders of operators about focuses and rules are read, in real time. On the fast clock of a replay that is longer.
const BROADCAST_EVERY: Duration = Duration::from_secs(1);

/// The detector's settings.
#[derive(Clone, Debug)]
pub struct DetectorRules {
    max_body_bytes: usize,
    contents: Contents,
    max_content_bytes: usize,
    /// The limits of pages whose rules say nothing else.
    history: HistoryLimits,
    /// Most bytes of all copies of the partition.
    max_copies_bytes: Option<u64>,
    listed_changes: usize,
    /// Whether a page is reported as missing before it is certain that it is gone.
    missing: bool,
    /// Which links are followed, so that they are sent to the ranker.
    discover: Discover,
    /// Whether links count at every look at their page, and not only when it is new or has changed.
    counts_every_look: bool,
    scope: Arc<Scope>,
    /// Whether mirrors are searched for, so that bands of new versions are sent to the matcher.
    mirrors: bool,
    /// Whether they are searched for by their links, too.
    mirror_links: bool,
    lists: ListRules,
    /// Which URLs are the same page.
    urls: UrlRules,
    /// The operator's watch rules: parts of single pages that count or do not, and triggers.
    watch: RulesInForce,
    /// The focuses that pages and links are scored by.
    focuses: WantedFocuses,
    /// The crawler's name in robots.txt and `<meta>`.
    product_token: String,
    /// Whether links of pages that say `nofollow` are left alone.
    heeds_nofollow: bool,
    /// How changes are written.
    form: ChangeForm,
    /// Reads documents of confined formats. Without it their digests are compared.
    reader: Option<Arc<dyn ReadConfined>>,
}

/// Why rules that are built have no faults.
const CHECKED: &str = "rules and filters were checked when the settings were loaded";

impl DetectorRules {
    /// Extracts the detector's part of the settings, for one of this many partitions. Changes are written in this form.
    pub fn new(settings: &Settings, partitions: u32, form: ChangeForm) -> Self {
        let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        Self {
            max_body_bytes: bytes(settings.fetch.max_body),
            contents: settings.detector.contents,
            max_content_bytes: bytes(settings.detector.max_content),
            history: HistoryLimits::new(settings),
            max_copies_bytes: settings.detector.max_contents.map(|all| all / u64::from(partitions)),
            listed_changes: settings.detector.listed_changes,
            missing: settings.detector.missing,
            discover: settings.crawl.discover,
            counts_every_look: settings.ranker.importance == RankMethod::LinkValue
                && settings.crawl.discover != Discover::None,
            scope: Arc::new(scope::configured(settings).expect(CHECKED)),
            mirrors: settings.detector.mirrors,
            mirror_links: settings.detector.mirrors && settings.detector.mirror_links.is_some(),
            lists: ListRules::new(settings),
            urls: settings.urls.rules(),
            watch: RulesInForce::new(watch::configured(settings).expect(CHECKED)),
            focuses: WantedFocuses::new(settings),
            product_token: settings.crawl.product_token().to_owned(),
            heeds_nofollow: settings.preferences.nofollow,
            form,
            reader: None,
        }
    }

    /// How much is kept of the earlier versions of a page.
    fn history_limits(&self, url: &CanonicalUrl) -> HistoryLimits {
        match self.contents {
            Contents::None => HistoryLimits::NONE,
            Contents::Text | Contents::Body => self.history.with(self.scope.rule(url).map(CrawlRule::orders)),
        }
    }

    /// Whether links become pages.
    fn follows_links(&self) -> bool {
        self.discover != Discover::None
    }
}

/// The topics and tables of the stage.
pub fn topology() -> StageTopology {
    let tables = StageTopology::new("detector", FETCH_RESULTS);
    let tables =
        tables.keeps(PAGES).keeps(CONTENTS).keeps(HISTORY).keeps(COPIES).keeps(VERSIONS).keeps(HOSTS).keeps(BLIND);
    tables
        .writes(PAGE_OBSERVATIONS)
        .writes(PAGE_CHANGES)
        .writes(SCHEDULER_EVENTS)
        .writes(PAGE_BANDS)
        .writes(RANKER_EVENTS)
        .writes(ANSWERS)
        .takes_broadcasts_of(FOCUS_ORDERS)
        .takes_broadcasts_of(RULE_SETS)
}

/// The stage, ready to run with this many partitions. It writes changes in this form, and compares PDF documents by their digests.
pub fn stage(settings: &Settings, names: &LogNames, partitions: u32, form: ChangeForm) -> StageSpec {
    stage_of(DetectorRules::new(settings, partitions, form), settings, names)
}

/// As [`stage`], with a reader of documents whose formats are confined, such as PDF.
pub fn stage_with_reader(
    settings: &Settings,
    names: &LogNames,
    partitions: u32,
    form: ChangeForm,
    reader: Arc<dyn ReadConfined>,
) -> StageSpec {
    let rules = DetectorRules { reader: Some(reader), ..DetectorRules::new(settings, partitions, form) };
    stage_of(rules, settings, names)
}

fn stage_of(rules: DetectorRules, settings: &Settings, names: &LogNames) -> StageSpec {
    let form = rules.form;
    let work = StageWork::Processors(Box::new(move |task| Box::new(Detector::new(rules.clone(), task.partition))));
    let mut stage = names.stage(&topology(), BROADCAST_EVERY.mul_f64(settings.clock.speed.clamp(1.0, 86_400.0)), work);
    if let (ChangeForm::Confluent { schema_id }, Some(schemas)) = (form, &mut stage.schemas) {
        // Our own readers find the id's schema on the topic of schemas, and need no registry.
        schemas.registered.push((schema_id, PageChange::schema_record()));
    }
    // In an embedded crawl results are in memory: after a crash the page is fetched again.
    stage.subject = Some(page_of_result);
    stage.stand_in = Some(failed_look);
    stage
}

/// One partition of the detector.
pub struct Detector {
    rules: DetectorRules,
    partition: u32,
    counts: DetectorCounts,
    /// Number of entries in [`BLIND`].
    blind_pages: u64,
    /// All pages of [`BLIND`], so that the looks at others read nothing, and pages that a look has taken out since.
    maybe_blind: HashSet<PageId>,
    copies: CopyRoom,
    sweep: HistorySweep,
    questions: QuestionDesk,
}

/// Counts of a detector since its start.
#[derive(Debug, Default)]
struct DetectorCounts {
    results: u64,
    repeats: u64,
    changes: u64,
    held: u64,
    lists: u64,
    hints: u64,
    foreign_entries: u64,
    triggers: u64,
    watch_misses: u64,
    untriggered: u64,
    links_left_out: u64,
    undecided_links: u64,
    removed: u64,
    unread: u64,
    documents_read: u64,
    documents_not_read: u64,
    bad_focus_orders: u64,
    bad_rule_sets: u64,
    copies_left_out: u64,
}

impl Detector {
    /// A detector of a partition, with these rules.
    pub fn new(rules: DetectorRules, partition: u32) -> Self {
        let (counts, questions) = (DetectorCounts::default(), QuestionDesk::default());
        let copies = CopyRoom::new(rules.max_copies_bytes);
        let (maybe_blind, sweep) = (HashSet::new(), HistorySweep::default());
        Self { rules, partition, counts, blind_pages: 0, maybe_blind, copies, sweep, questions }
    }

    /// Sends the hints and links of a body that is a list, unless the body is unchanged. Returns whether it is a list.
    fn receive(
        &mut self,
        result: &FetchResult,
        body: Option<&[u8]>,
        before: &PageMemory,
        look: &mut JudgedLook,
        context: &mut Context<'_>,
    ) -> Result<bool, ProcessError> {
        let is_same = result.look.validators.content_digest.is_some()
            && result.look.validators.content_digest == before.sketch.content_digest;
        let Some(body) = body.filter(|_| !is_same && !look.judgement.held) else { return Ok(false) };
        let address = result.look.answered_by();
        let Some(list) = ListedPages::read(body, address, &self.rules.lists) else { return Ok(false) };
        let reported = lists::report(&list, result, before.sketch.last_look_at, &self.rules, context)?;
        look.judge_list(&reported);
        self.counts.lists += 1;
        self.counts.hints += reported.hints;
        self.counts.foreign_entries += reported.foreign;
        self.counts.links_left_out += reported.left_out;
        Ok(true)
    }
}

impl Processor for Detector {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.blind_pages = 0;
        context.scan(BLIND, b"", &mut |id, _| {
            self.blind_pages += 1;
            self.maybe_blind.insert(id);
            Ok(())
        })?;
        self.sweep = HistorySweep::default();
        self.copies = CopyRoom::new(self.rules.max_copies_bytes);
        context.scan(COPIES, b"", &mut |site, copies| {
            self.copies.set(&site, copies.bytes as u64);
            Ok(())
        })
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let result = match record.read(FETCH_RESULTS)? {
            DetectorEvent::Result(result) => result,
            DetectorEvent::Removal(removal) => return self.remove(removal, context),
            DetectorEvent::SeedFailure(failure) => {
                self.publish_failure(&failure, context);
                return Ok(());
            }
            DetectorEvent::Question(question) => return self.answer(&question, context),
        };
        self.heed_saved_rules();
        let watch_rules = Arc::clone(self.rules.watch.rules());
        let rule = watch_rules.find(&result.look.url);
        let before = load(&result, rule, context)?;
        if result.look.attempt <= before.sketch.attempt {
            self.counts.repeats += 1;
            if before.sketch.forgotten {
                Self::pass_over(result, &before.sketch, context);
            }
            return Ok(());
        }
        let reader = self.rules.reader.clone();
        let unpacked = result.body.as_deref().map(|packed| messages::body::unpack(packed, self.rules.max_body_bytes));
        let unpacked = unpacked.transpose().map_err(|error| ProcessError::SetAside(error.to_string()))?;
        let body = unpacked.as_deref().map(|bytes| body_of(&result, bytes, rule, reader.as_deref()));
        let mut known = before.clone();
        let mut look = JudgedLook::of(&result, body.as_ref(), rule, &self.rules, &mut known)?;
        let is_list = self.receive(&result, unpacked.as_deref(), &before, &mut look, context)?;
        links::send_sitemaps(&result, &self.rules, context);
        known.sketch.attempt = result.look.attempt;
        (known.sketch.forgotten, known.sketch.forgotten_at) = (false, None);
        known.sketch.fetches += i64::from(result.look.is_fetch());
        known.sketch.doubted_since = match result.look.outcome.meaning().content {
            _ if look.judgement.held => before.sketch.version_seen_at(),
            ContentEvidence::Body | ContentEvidence::SameAsKnown => None,
            ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere | ContentEvidence::Nothing => {
                before.sketch.doubted_since
            }
        };
        known.sketch.preferences = owners::after(&before.sketch, &result, &look, &self.rules.product_token);
        observe(&result, &look, &before.sketch, context);
        let mut links = None;
        if look.is_news() {
            let body = body.as_ref();
            let page = look.page.take();
            let page = page.or_else(|| body.map(|body| ReadPage::of_body(body, !self.rules.focuses.is_empty())));
            if let Some(page) = &page {
                known.sketch.title = read_page::title_of(page.text());
                let reading = body.and_then(Body::confined_reading);
                known.sketch.unread = Unread::of(page.text(), reading).filter(|_| !is_list);
                self.note_unread(look.verdict, &result, &known.sketch);
            }
            let change_id = self.publish(&result, &look, rule, (&before.sketch, &known.sketch), context);
            let version = NewVersion {
                result: &result,
                page: page.as_ref(),
                body,
                verdict: look.verdict,
                change_id,
                before: &before.sketch,
            };
            let is_left_out = version.store(&mut known.sketch, &mut self.copies, &self.rules, context)?;
            self.counts.copies_left_out += u64::from(is_left_out);
            links = Some(page.as_ref().filter(|_| !is_list).and_then(|page| self.link_sketch(&result, page)));
            if let Some(page) = page.as_ref().filter(|_| !is_list) {
                links::send_feeds(&result, page.text(), &known.sketch, &self.rules, context);
                self.send_links(&result, page, &before, &mut known.sketch, context)?;
            }
        } else {
            self.publish(&result, &look, rule, (&before.sketch, &known.sketch), context);
            let says_otherwise = owners::says_otherwise(&before.sketch, &known.sketch, result.look.fetched_at);
            if let Some(body) =
                body.as_ref().filter(|_| !is_list && (self.is_unjudged(&before, &look) || says_otherwise))
            {
                let page = ReadPage::of_body(body, !self.rules.focuses.is_empty());
                self.send_links(&result, &page, &before, &mut known.sketch, context)?;
            } else if self.rules.counts_every_look
                && !is_list
                && matches!(look.verdict, Verdict::Unchanged | Verdict::Cosmetic)
            {
                known.sketch.is_unwanted =
                    known.sketch.copy_of.is_some() || known.sketch.disallows(Use::Index, result.look.fetched_at);
                links::repeat_links(&result, &known.sketch, context);
            }
        }
        owners::renew_copy(&result, &before.sketch, &known.sketch, context)?;
        // A version that another rule reads is quiet, and has other words.
        if look.is_news() || known.state.shingles() != before.state.shingles() {
            self.send_bands(&result, rule, links, &mut known, context)?;
        }
        if body.is_some() && !look.judgement.held {
            known.sketch.focus_version = self.rules.focuses.version();
        }
        // A version that waits for another look at once has no error in its place.
        self.counts.held += u64::from(look.judgement.held && !look.judgement.wants_second_look);
        self.counts.triggers += look.watched.triggers.len() as u64;
        self.counts.watch_misses += u64::from(!look.watched.not_found.is_empty());
        self.note_blind(&result, &look, rule, context)?;
        match body.as_ref().and_then(Body::confined_reading) {
            Some(Ok(())) => self.counts.documents_read += 1,
            Some(Err(_)) => self.counts.documents_not_read += 1,
            None => {}
        }
        save(&result, &before, known, context);
        self.counts.results += 1;
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.heed_saved_rules();
        self.sweep.step(&self.rules, &mut self.copies, context)
    }

    fn broadcast(&mut self, topic: TopicName, record: &InputRecord, _: &mut Context<'_>) -> Result<(), ProcessError> {
        if topic == RULE_SETS.name() {
            self.take_rule_set(record);
        } else {
            self.take_order(record);
        }
        Ok(())
    }

    fn figures(&self) -> Vec<Figure> {
        let counts = &self.counts;
        // All partitions know the same focuses, and figures are added up.
        let of_one = |count: u64| if self.partition == 0 { count } else { 0 };
        let (focuses, left_out, targets) = self.rules.focuses.counts();
        let counted = [
            (figure::RESULTS, counts.results),
            (figure::REPEATS, counts.repeats),
            (figure::CHANGES, counts.changes),
            (figure::HELD, counts.held),
            (figure::LISTS, counts.lists),
            (figure::HINTS, counts.hints),
            (figure::FOREIGN_ENTRIES, counts.foreign_entries),
            (figure::TRIGGERS_FIRED, counts.triggers),
            (figure::WATCH_MISSES, counts.watch_misses),
            (figure::BLIND_PAGES, self.blind_pages),
            (figure::UNTRIGGERED_CHANGES, counts.untriggered),
            (figure::LINKS_LEFT_OUT, counts.links_left_out),
            (figure::UNDECIDED_LINKS, counts.undecided_links),
            (figure::PAGES_REMOVED, counts.removed),
            (figure::UNREAD_PAGES, counts.unread),
            (figure::DOCUMENTS_READ, counts.documents_read),
            (figure::DOCUMENTS_NOT_READ, counts.documents_not_read),
            (figure::COPIES_BYTES, self.copies.used()),
            (figure::COPIES_LEFT_OUT, counts.copies_left_out),
            (figure::BAD_FOCUS_ORDERS, of_one(counts.bad_focus_orders)),
            (figure::BAD_RULE_SETS, of_one(counts.bad_rule_sets)),
            (figure::SAVED_RULES, of_one(self.rules.watch.saved() as u64)),
            (figure::FOCUSES, of_one(focuses as u64)),
            (figure::FOCUSES_LEFT_OUT, of_one(left_out as u64)),
            (figure::FOCUS_TARGETS, of_one(targets as u64)),
        ];
        let counted = counted.into_iter().map(|(name, count)| (name, count as f64));
        counted.chain(self.questions.figures()).collect()
    }
}

fn load(result: &FetchResult, rule: Option<&WatchRule>, context: &Context<'_>) -> Result<PageMemory, ProcessError> {
    let id = &result.look.page_id;
    let sketch: PageSketch = context.get(PAGES, id)?.unwrap_or_default();
    let looks = sketch
        .look_memory()
        .map_err(|error| ProcessError::Damaged(format!("the stored looks of page {id}: {error}")))?;
    let watch = WatchMemory::decode(&sketch.watch)
        .map_err(|error| ProcessError::Damaged(format!("the stored watch of page {id}: {error}")))?;
    let is_rule_known = watch.knows(rule);
    let version = match look::needs_version(result, &sketch, &looks, is_rule_known) {
        true => context.get(VERSIONS, id)?.unwrap_or_default().0,
        false => VersionMemory::default(),
    };
    let host = context.get(HOSTS, &result.look.url.host())?.unwrap_or_default().0;
    Ok(PageMemory { sketch, state: PageState::new(looks, version), host, watch })
}

/// Writes the tables that changed; most fetches change only the sketch.
fn save(result: &FetchResult, before: &PageMemory, mut known: PageMemory, context: &mut Context<'_>) {
    known.sketch.looks = known.state.looks().encode();
    known.sketch.watch = known.watch.encode();
    context.put(PAGES, &result.look.page_id, &known.sketch);
    if known.state.version() != before.state.version() {
        context.put(VERSIONS, &result.look.page_id, &PageVersion(known.state.into_version()));
    }
    if known.host != before.host {
        let host = result.look.url.host();
        if known.host.is_empty() {
            context.delete(HOSTS, &host);
        } else {
            context.put(HOSTS, &host, &EventsOfHost(known.host));
        }
    }
}

/// Sends the observation to the estimator.
fn observe(result: &FetchResult, look: &JudgedLook, before: &PageSketch, context: &mut Context<'_>) {
    let judgement = LookJudgement {
        previous_fetched_at: before.last_look_at,
        verdict: look.verdict,
        magnitude: look.judgement.magnitude,
        resemblance: look.judgement.resemblance,
        dates: dates(&result.look, look.modified_at, before.listed_change_at),
        look_again_after_s: look.look_again_after_s,
    };
    context.emit(PAGE_OBSERVATIONS, PageObservation { look: result.look.clone(), judgement });
}
