//! Judges one response by the state of its page, and updates that state.

use crate::DetectorRules;
use crate::focus::WantedTopics;
use crate::state::PageSketch;
use change::{Absence, HostEvents, Judgement, LookMemory, Noise, PageState, PartVerdict, Presence, Version};
use document::{Body, PageText};
use messages::{ContentEvidence, DateSource, FetchResult, Look, PageDate, Validators, Verdict};
use page::{Timestamp, UrlRules};
use stream::ProcessError;
use watch::{WatchMemory, WatchRule};

/// Seconds until a suspected error in the page's place is fetched again, to see whether it lasts.
const HELD_LOOK_AGAIN_S: i64 = 6 * 3_600;

/// The stored state of a page and its host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PageMemory {
    pub(crate) sketch: PageSketch,
    pub(crate) state: PageState,
    pub(crate) host: HostEvents,
    pub(crate) watch: WatchMemory,
}

impl PageMemory {
    /// Whether these topics have judged the page. One without a version has nothing to be judged again.
    fn is_judged_by(&self, topics: &WantedTopics) -> bool {
        self.sketch.topics_version == topics.version() || self.state.is_new()
    }
}

/// The judgement on one response.
pub(crate) struct JudgedLook {
    pub(crate) verdict: Verdict,
    /// The verdict that is published in place of the look's: `missing`, or `returned` after it.
    pub(crate) presence: Option<Verdict>,
    pub(crate) judgement: Judgement,
    /// Whether another page of the host changed in the same words.
    pub(crate) host_event: bool,
    /// Seconds after which another fetch would settle an open question. `None` if the look settled everything.
    pub(crate) look_again_after_s: Option<i64>,
    /// Text and links, if they were read together with the version: a page seen for the first time is always news.
    pub(crate) page: Option<PageText>,
    /// When the page says that it was last modified.
    pub(crate) modified_at: Option<Timestamp>,
    pub(crate) watched: WatchedLook,
}

/// What the page's watch rule says of a look.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedLook {
    /// The triggers that fire.
    pub(crate) triggers: Vec<String>,
    /// The parts that the rule watches and that are not there.
    pub(crate) not_found: Vec<String>,
}

impl JudgedLook {
    /// Judges a response by the stored state, and updates the state.
    pub(crate) fn of(
        result: &FetchResult,
        body: Option<&[u8]>,
        rule: Option<&WatchRule>,
        rules: &DetectorRules,
        known: &mut PageMemory,
    ) -> Result<Self, ProcessError> {
        let mut look = match result.look.outcome.meaning().content {
            ContentEvidence::Body => {
                let missing = || ProcessError::SetAside("the outcome is fetched, but the body is missing".to_owned());
                Self::of_version(result, body.ok_or_else(missing)?, rule, rules, known)
            }
            // The copy was not read by the page's rule, or not by today's topics: the page is to come with its body.
            ContentEvidence::SameAsKnown if !known.watch.knows(rule) || !known.is_judged_by(&rules.topics) => {
                Self { look_again_after_s: Some(0), ..Self::silent() }
            }
            // The requester's copy is current. Without a stored version, the response says nothing.
            ContentEvidence::SameAsKnown if known.state.is_new() => Self::silent(),
            ContentEvidence::SameAsKnown => {
                let judgement = known.state.observe_unchanged();
                Self::new(judgement, known, result)
            }
            ContentEvidence::Missing { for_good } => Self::of_absence(result, for_good, rules, known),
            ContentEvidence::Elsewhere | ContentEvidence::Nothing => Self::silent(),
        };
        // A page that was published as missing is published as returned, unless it is gone.
        if look.verdict != Verdict::Unknown && known.state.end_missing() && look.verdict != Verdict::Gone {
            look.presence = Some(Verdict::Returned);
        }
        remember(&look, result, &mut known.sketch);
        Ok(look)
    }

    /// The response says nothing about the content.
    fn silent() -> Self {
        let judgement = Judgement::quiet(change::VersionVerdict::Unchanged);
        Self {
            verdict: Verdict::Unknown,
            presence: None,
            judgement,
            host_event: false,
            look_again_after_s: None,
            page: None,
            modified_at: None,
            watched: WatchedLook::default(),
        }
    }

    fn new(judgement: Judgement, known: &mut PageMemory, result: &FetchResult) -> Self {
        let (page, now_s) = (page_number(result), result.look.fetched_at.as_secs());
        let is_edit = judgement.meaningful
            && matches!(judgement.verdict, change::VersionVerdict::Minor | change::VersionVerdict::Major);
        let host_event = is_edit && known.host.observe_change(page, now_s, &judgement);
        if judgement.held {
            // The next fetches show whether the error is the page's or the host's.
            return Self { judgement, look_again_after_s: Some(HELD_LOOK_AGAIN_S), ..Self::silent() };
        }
        known.host.observe_present(page);
        Self {
            verdict: word(judgement.verdict),
            presence: None,
            host_event,
            look_again_after_s: judgement.wants_second_look.then_some(0),
            judgement,
            page: None,
            modified_at: None,
            watched: WatchedLook::default(),
        }
    }

    fn of_version(
        result: &FetchResult,
        body: &[u8],
        rule: Option<&WatchRule>,
        rules: &DetectorRules,
        known: &mut PageMemory,
    ) -> Self {
        let is_known = !known.state.is_new() && result.look.validators.content_digest.is_some();
        let is_same = is_known && result.look.validators.content_digest == known.sketch.content_digest;
        if is_same && known.watch.knows(rule) {
            let judgement = known.state.observe_unchanged();
            return Self::new(judgement, known, result);
        }
        let body = Body::new(body, result.content_type.as_deref(), Some(result.look.answered_by().as_str()));
        let body = result.look.validators.content_digest.map_or(body, |digest| body.with_digest(digest.0));
        let selected = rule.map_or(body, |rule| body.with_selection(rule.selection()));
        let (version, page) = match known.state.is_new() {
            true => {
                let (version, page) = Version::and_text(&selected, &rules.urls);
                (version, Some(page))
            }
            false => (Version::of_body(&selected, &rules.urls), None),
        };
        let is_new = known.state.is_new();
        let judgement = match is_new || known.watch.is_of(rule) {
            true => judge(result, &version, known),
            false => judge_by_another_rule(result, (&body, &version), &rules.urls, known),
        };
        let modified_at = version.blocks().modified.as_deref().and_then(moment);
        let mut look = Self { page, modified_at, ..Self::new(judgement, known, result) };
        if !look.judgement.held {
            known.watch.begin(rule);
        }
        if let Some(rule) = rule {
            look.take_in(rule, &version, &mut known.watch);
        }
        look
    }

    /// Takes in what the page's rule says. A trigger that fires is news, whatever was learned of the place. None looks at a
    /// version that may be an error in the page's place.
    fn take_in(&mut self, rule: &WatchRule, version: &Version<'_>, memory: &mut WatchMemory) {
        self.watched.not_found = rule.not_found(version.blocks());
        if self.judgement.held {
            return;
        }
        self.watched.triggers = rule.look(version.blocks(), memory);
        if !self.watched.triggers.is_empty() && matches!(self.verdict, Verdict::Unchanged | Verdict::Cosmetic) {
            self.verdict = Verdict::Minor;
        }
    }

    fn of_absence(result: &FetchResult, for_good: bool, rules: &DetectorRules, known: &mut PageMemory) -> Self {
        // Never seen, so it cannot be gone: there is nothing to report.
        if known.state.is_new() {
            return Self::silent();
        }
        let now_s = result.look.fetched_at.as_secs();
        let sketch = &mut known.sketch;
        if !known.state.is_gone() {
            let host_is_missing = known.host.observe_missing(page_number(result), now_s);
            let earlier =
                sketch.missing_since.map(|since| Absence { since: since.as_secs(), looks: sketch.missing_looks });
            let (absence, presence) = Absence::observe(earlier, now_s, for_good, host_is_missing);
            sketch.missing_since = Some(Timestamp::from_secs(absence.since));
            sketch.missing_looks = absence.looks;
            if let Presence::Missing { look_again_after_s } = presence {
                // Once the host counts as missing, no more pages are reported.
                let is_told = rules.missing && !host_is_missing && known.state.tell_missing();
                let presence = is_told.then_some(Verdict::Missing);
                return Self { presence, look_again_after_s: Some(look_again_after_s), ..Self::silent() };
            }
        }
        let judgement = known.state.observe_gone();
        Self { verdict: word(judgement.verdict), judgement, ..Self::silent() }
    }

    /// Whether the content is news: a new page, a change a reader notices, a page gone or returned.
    pub(crate) fn is_news(&self) -> bool {
        use Verdict::{First, Gone, Major, Minor, Returned};
        matches!(self.verdict, First | Minor | Major | Gone | Returned)
    }

    /// Whether a part of the page differs.
    pub(crate) fn differs(part: PartVerdict) -> bool {
        part == PartVerdict::Changed
    }
}

/// The moment of a date as written; the middle of a date without a time.
fn moment(written: &str) -> Option<Timestamp> {
    let (first_s, open_s) = sitemaps::date(written)?;
    Some(Timestamp::from_secs(first_s.saturating_add(open_s / 2)))
}

/// Judges a version by those before.
fn judge(result: &FetchResult, version: &Version<'_>, known: &mut PageMemory) -> Judgement {
    let (page_number, now_s) = (page_number(result), result.look.fetched_at.as_secs());
    let replacement = known.state.replacement_by(version);
    let is_wall =
        replacement.is_some_and(|replacement| known.host.observe_replacement(page_number, now_s, replacement));
    known.state.observe_on_host(version, noise(result, &known.sketch), is_wall)
}

/// Judges a version by those before, which were read by another selection, and takes it as what the next ones are compared
/// with. If nothing was selected before, the version is judged as it would be without the rule, so that no change is
/// missed. Otherwise the two cannot be compared, and the look is quiet.
fn judge_by_another_rule(
    result: &FetchResult,
    (body, selected): (&Body<'_>, &Version<'_>),
    urls: &UrlRules,
    known: &mut PageMemory,
) -> Judgement {
    if known.watch.is_without_selection() {
        let judgement = judge(result, &Version::of_body(body, urls), known);
        if !judgement.held {
            known.state.begin_anew(selected);
        }
        return judgement;
    }
    known.state.begin_anew(selected)
}

/// Whether judging the response needs the page's stored version. A response without a new body does not, unless the
/// page was gone: then its bands are published again. Nor does one whose page has another rule than before.
pub(crate) fn needs_version(
    result: &FetchResult,
    sketch: &PageSketch,
    looks: &LookMemory,
    is_rule_known: bool,
) -> bool {
    let is_same = result.look.validators.content_digest.is_some()
        && result.look.validators.content_digest == sketch.content_digest;
    match result.look.outcome.meaning().content {
        ContentEvidence::Body => !is_same || looks.is_gone() || !is_rule_known,
        ContentEvidence::SameAsKnown => looks.is_gone(),
        ContentEvidence::Missing { .. } => true,
        ContentEvidence::Elsewhere | ContentEvidence::Nothing => false,
    }
}

fn noise(result: &FetchResult, sketch: &PageSketch) -> Noise {
    let since = sketch.last_look_at.map(|last| result.look.fetched_at.as_secs() - last.as_secs());
    Noise::ByDoubleFetch { since_last_look_s: since }
}

fn page_number(result: &FetchResult) -> u64 {
    u64::from_be_bytes(*result.look.page_id.0.first_chunk().expect("a page id has 16 bytes"))
}

fn word(verdict: change::VersionVerdict) -> Verdict {
    match verdict {
        change::VersionVerdict::First => Verdict::First,
        change::VersionVerdict::Unchanged => Verdict::Unchanged,
        change::VersionVerdict::Cosmetic => Verdict::Cosmetic,
        change::VersionVerdict::Minor => Verdict::Minor,
        change::VersionVerdict::Major => Verdict::Major,
        change::VersionVerdict::Gone => Verdict::Gone,
        change::VersionVerdict::Returned => Verdict::Returned,
    }
}

/// Updates the page's sketch from the response.
fn remember(look: &JudgedLook, result: &FetchResult, sketch: &mut PageSketch) {
    let known = Validators { content_digest: sketch.content_digest, ..Validators::default() };
    sketch.content_digest = known.after(&result.look, look.verdict).content_digest;
    match result.look.outcome.meaning().content {
        ContentEvidence::Body | ContentEvidence::SameAsKnown => {
            (sketch.missing_since, sketch.missing_looks) = (None, 0);
            sketch.last_look_at = Some(result.look.fetched_at);
        }
        ContentEvidence::Missing { .. } if look.verdict != Verdict::Unknown => {
            sketch.last_look_at = Some(result.look.fetched_at);
        }
        ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere | ContentEvidence::Nothing => {}
    }
}

/// What is claimed about the time of the page's last change. A date in the future says nothing about the past.
pub(crate) fn dates(look: &Look, modified_at: Option<Timestamp>, listed_change_at: Option<Timestamp>) -> Vec<PageDate> {
    let claims = [
        (DateSource::LastModified, last_modified_at(look)),
        (DateSource::Page, modified_at),
        (DateSource::Listed, listed_change_at),
    ];
    let known = claims.into_iter().filter_map(|(source, at)| Some(PageDate { source, at: at? }));
    known.filter(|date| date.at <= look.fetched_at).collect()
}

/// The time in the response's Last-Modified header.
fn last_modified_at(look: &Look) -> Option<Timestamp> {
    let date = httpdate::parse_http_date(look.validators.last_modified.as_deref()?).ok()?;
    let since_1970 = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_secs(since_1970.as_secs() as i64))
}
