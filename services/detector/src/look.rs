//! Judges one response by the state of its page, and updates that state.

use crate::DetectorRules;
use crate::focus::WantedFocuses;
use crate::presence;
use crate::read_page::{ReadPage, title_of};
use crate::state::PageSketch;
use change::{
    Absence, Arrival, HostEvents, Judgement, KnownBody, LookMemory, PageState, PartVerdict, Presence, Version,
};
use document::{Body, NotRead, RobotsMeta};
use messages::{ContentEvidence, DateSource, Digest, FetchResult, Look, PageDate, Validators, Verdict};
use page::{CanonicalUrl, Timestamp};
use stream::ProcessError;
use watch::{RuleLook, Shown, SubjectNews, WatchMemory, WatchRule};

/// The stored state of a page and its host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PageMemory {
    pub(crate) sketch: PageSketch,
    pub(crate) state: PageState,
    pub(crate) host: HostEvents,
    pub(crate) watch: WatchMemory,
}

impl PageMemory {
    /// Whether these focuses have judged the page. One without a version has nothing to be judged again.
    fn is_judged_by(&self, focuses: &WantedFocuses) -> bool {
        self.sketch.focus_version == focuses.version() || self.state.is_new()
    }
}

/// The judgement on one response.
pub(crate) struct JudgedLook {
    pub(crate) verdict: Verdict,
    /// The verdict that is published in place of the look's: `missing`, `obscured` or `redirected`, or `returned` after it.
    pub(crate) presence: Option<Verdict>,
    pub(crate) judgement: Judgement,
    /// Whether another page of the host changed in the same words.
    pub(crate) host_event: bool,
    /// Seconds after which another fetch would settle an open question. `None` if the look settled everything.
    pub(crate) look_again_after_s: Option<i64>,
    /// Text and links, if they were read together with the version: a page seen for the first time is always news.
    pub(crate) page: Option<ReadPage>,
    /// When the page says that it was last modified.
    pub(crate) modified_at: Option<Timestamp>,
    /// The `<meta>` elements for robots, if the look brought a body that was read.
    pub(crate) robots_meta: Option<RobotsMeta>,
    pub(crate) watched: WatchedLook,
}

/// The result of the page's watch rule for a look.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedLook {
    /// The triggers that fire.
    pub(crate) triggers: Vec<String>,
    /// The parts that the rule watches and that are not there.
    pub(crate) not_found: Vec<String>,
    /// Values that differ, and parts that the rule has lost or found again.
    pub(crate) news: SubjectNews,
    /// The parts and triggers that see nothing. `None` if the look shows no version of the page.
    pub(crate) blind: Option<Vec<String>>,
}

impl WatchedLook {
    /// The verdict that the rule sees less of the page than before, or sees something again.
    pub(crate) fn sight(&self) -> Option<Verdict> {
        match (self.news.lost.is_empty(), self.news.found_again.is_empty()) {
            (false, _) => Some(Verdict::Unwatched),
            (true, false) => Some(Verdict::Watched),
            (true, true) => None,
        }
    }
}

impl JudgedLook {
    /// Judges a response by the stored state, and updates the state.
    pub(crate) fn of(
        result: &FetchResult,
        body: Option<&Body<'_>>,
        rule: Option<&WatchRule>,
        rules: &DetectorRules,
        known: &mut PageMemory,
    ) -> Result<Self, ProcessError> {
        let lead = presence::lead(&result.look, rules, known);
        let mut look = match result.look.outcome.meaning().content {
            ContentEvidence::Body => {
                let missing = || ProcessError::SetAside("the outcome is fetched, but the body is missing".to_owned());
                Self::of_version(result, body.ok_or_else(missing)?, rule, rules, known)
            }
            // The copy was not read by the page's rule, or not by today's focuses: the page is to come with its body.
            ContentEvidence::SameAsKnown if !known.watch.knows(rule) || !known.is_judged_by(&rules.focuses) => {
                Self { look_again_after_s: Some(0), ..Self::silent() }
            }
            // The requester's copy is current. Without a stored version, the response says nothing.
            ContentEvidence::SameAsKnown if known.state.is_new() => Self::silent(),
            ContentEvidence::SameAsKnown => {
                let since = known.sketch.last_look_at.map(|last| result.look.fetched_at.as_secs() - last.as_secs());
                let judgement = known.state.observe_unchanged(since);
                Self::new(judgement, known, result)
            }
            ContentEvidence::Missing { for_good } => Self::of_absence(result, for_good, rules, known),
            ContentEvidence::Elsewhere | ContentEvidence::Nothing => Self::silent(),
        };
        presence::decide(&mut look, lead, rules, known);
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
            robots_meta: None,
            watched: WatchedLook::default(),
        }
    }

    fn new(judgement: Judgement, known: &mut PageMemory, result: &FetchResult) -> Self {
        let (page, now_s) = (page_number(result), result.look.fetched_at.as_secs());
        let is_edit = judgement.meaningful
            && matches!(judgement.verdict, change::VersionVerdict::Minor | change::VersionVerdict::Major);
        let host_event = is_edit && known.host.observe_change(page, now_s, &judgement);
        let look_again_after_s = judgement.look_again_after_s();
        if judgement.held {
            return Self { judgement, look_again_after_s, ..Self::silent() };
        }
        known.host.observe_present(page);
        Self {
            verdict: word(judgement.verdict),
            presence: None,
            host_event,
            look_again_after_s,
            judgement,
            page: None,
            modified_at: None,
            robots_meta: None,
            watched: WatchedLook::default(),
        }
    }

    fn of_version(
        result: &FetchResult,
        body: &Body<'_>,
        rule: Option<&WatchRule>,
        rules: &DetectorRules,
        known: &mut PageMemory,
    ) -> Self {
        let digest = result.look.validators.content_digest;
        let PageMemory { sketch, state, host, watch } = known;
        // A body that was read by another rule is not known.
        let known_digest = sketch.content_digest.filter(|_| watch.knows(rule));
        let mut known_body =
            KnownBody { digest: known_digest.map(|it| it.0), looked_at_s: sketch.last_look_at.map(Timestamp::as_secs) };
        let was_read = !state.is_new() && sketch.unread.is_none();
        let judge = |state: &mut PageState, since_last_look_s| {
            let is_unread = was_read && is_over_limits(body);
            judge_body(result, (body, rule, is_unread), rules, (state, host, watch), since_last_look_s)
        };
        let (judgement, read) = known_body.look(state, digest.map(|it| it.0), result.look.fetched_at.as_secs(), judge);
        sketch.content_digest = known_body.digest.map(Digest);
        sketch.last_look_at = Some(result.look.fetched_at);
        let Some((version, page)) = read else { return Self::new(judgement, known, result) };
        let modified_at = version.blocks().modified.as_deref().and_then(moment);
        let robots_meta = Some(version.blocks().robots_meta.clone());
        let mut look = Self { page, modified_at, robots_meta, ..Self::new(judgement, known, result) };
        if !look.judgement.held {
            known.watch.begin(rule);
        } else if was_read && is_over_limits(body) {
            // A rule can say nothing of words that were not read.
            return look;
        }
        // What is served in the page's place is published as that, not once more as something that the rule has lost.
        if let Some(rule) = rule.filter(|_| look.judgement.looks_like.is_some()) {
            look.watched.not_found = rule.not_found(version.blocks());
        } else if let Some(rule) = rule {
            let shown = match look.judgement.held && !is_under_known_title(body, rule, &version, &known.sketch) {
                true => Shown::Doubtful,
                false => Shown::Page,
            };
            look.take_in(rule, &version, shown, &mut known.watch);
        }
        look
    }

    /// Takes in the findings of the page's rule. A trigger that fires is news, whatever was learned of the place. No
    /// trigger looks at a version that may be an error in the page's place.
    fn take_in(&mut self, rule: &WatchRule, version: &Version<'_>, shown: Shown, memory: &mut WatchMemory) {
        let RuleLook { triggers, not_found, news, blind } =
            rule.look_at(version.blocks(), memory, shown, !self.judgement.held);
        let blind = Some(blind).filter(|_| shown == Shown::Page || !news.lost.is_empty());
        self.watched = WatchedLook { triggers, not_found, news, blind };
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
                let is_reported = rules.missing && !host_is_missing && known.state.report_missing();
                let presence = is_reported.then_some(Verdict::Missing);
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

    /// Whether an edit says no more than that watched parts went or came back, or that all are away, which was published when
    /// they went.
    pub(crate) fn says_no_more_than_sight(&self, rule: Option<&WatchRule>) -> bool {
        let units = &self.judgement.record.changes;
        let [went, came] =
            [units.iter().all(|unit| unit.after.is_none()), units.iter().all(|unit| unit.before.is_none())];
        match self.watched.sight() {
            Some(Verdict::Unwatched) => went && self.watched.news.found_again.is_empty(),
            Some(_) => came,
            None => went && rule.is_some_and(|rule| rule.lacks_all_parts(&self.watched.not_found)),
        }
    }

    /// Whether a part of the page differs.
    pub(crate) fn differs(part: PartVerdict) -> bool {
        part == PartVerdict::Changed
    }
}

/// Whether a version without watched parts has the title that the page had before. Then it is the page, in another form.
fn is_under_known_title(body: &Body<'_>, rule: &WatchRule, version: &Version<'_>, sketch: &PageSketch) -> bool {
    let is_lacking = !rule.not_found(version.blocks()).is_empty();
    is_lacking && sketch.title.is_some() && title_of(&body.text()) == sketch.title
}

/// The moment of a date as written; the middle of a date without a time.
fn moment(written: &str) -> Option<Timestamp> {
    let (first_s, open_s) = sitemaps::date(written)?;
    Some(Timestamp::from_secs(first_s.saturating_add(open_s / 2)))
}

/// Whether a body is a document that its reader had not the time, the memory or a process for. The next look may well read it.
fn is_over_limits(body: &Body<'_>) -> bool {
    let is_unread = body.decoded().is_none();
    is_unread && matches!(body.confined_reading(), Some(Err(NotRead::OverLimits | NotRead::NoReader)))
}

/// Reads a body by the page's rule and judges it by the versions before. Text and links of a first version are read with
/// it.
fn judge_body<'r>(
    result: &FetchResult,
    (body, rule, is_unread): (&Body<'_>, Option<&WatchRule>, bool),
    rules: &'r DetectorRules,
    (state, host, watch): (&mut PageState, &mut HostEvents, &WatchMemory),
    since_last_look_s: Option<i64>,
) -> (Judgement, (Version<'r>, Option<ReadPage>)) {
    let is_new = state.is_new();
    let (version, page) = match is_new {
        true => {
            let (page, blocks) = ReadPage::and_blocks(body, !rules.focuses.is_empty());
            (Version::of_blocks(body, blocks, &rules.urls), Some(page))
        }
        false => (Version::of_body(body, &rules.urls), None),
    };
    let seen_at_s = result.look.fetched_at.as_secs();
    let version = version.seen_at(seen_at_s);
    let mut judge = |state: &mut PageState, version: &Version<'_>| {
        let leads_to = presence::leads_to(&result.look, &rules.urls).map(CanonicalUrl::as_str);
        let mut arrival = Arrival { status: result.look.status, leads_to, is_unread, ..Arrival::default() };
        if let Some(replacement) = state.replacement_by(version).filter(|_| !is_unread) {
            arrival.is_wall = host.observe_replacement(page_number(result), seen_at_s, replacement);
            arrival.is_everywhere = host.is_everywhere(replacement);
        }
        state.observe_arrival(version, since_last_look_s, arrival)
    };
    let judgement = match is_new || is_unread || watch.is_of(rule) {
        true => judge(state, &version),
        // The versions before were read by another selection. If nothing was selected, this one is judged as it would be
        // without the rule, so that no change is missed. Otherwise the two cannot be compared, and the look is quiet.
        false if watch.is_without_selection() => {
            let judgement =
                judge(state, &Version::of_body(&body.clone().without_selection(), &rules.urls).seen_at(seen_at_s));
            if !judgement.held {
                state.begin_anew(&version);
            }
            judgement
        }
        false => state.begin_anew(&version),
    };
    (judgement, (version, page))
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

/// Updates the page's sketch from the response. The effect of a body was noted when the body was judged.
fn remember(look: &JudgedLook, result: &FetchResult, sketch: &mut PageSketch) {
    let content = result.look.outcome.meaning().content;
    if content != ContentEvidence::Body {
        let known = Validators { content_digest: sketch.content_digest, ..Validators::default() };
        sketch.content_digest = known.after(&result.look, look.verdict).content_digest;
    }
    match content {
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

/// The claimed times of the page's last change. A date in the future says nothing about the past.
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
