//! The records about one page, as commands show them.

use daemon::CommandFailure;
use detector::{PageSketch, Unread};
use estimator::PageBelief;
use messages::FocusRelevance;
use page::CanonicalUrl;
use ranker::{FocusedPage, NeighbourSites};
use scheduler::explain::Explanation;
use scheduler::{ForgottenPage, HostSchedule, ScheduledPage};
use serde::Serialize;

/// The records that the stages keep of a page.
#[derive(Clone, Debug, Default)]
pub struct PageParts {
    /// The scheduler's record. Absent if the page is not known.
    pub page: Option<ScheduledPage>,
    /// The scheduler's record of the page's host.
    pub host: Option<HostSchedule>,
    /// The scheduler's record if an operator has forgotten the page.
    pub forgotten: Option<ForgottenPage>,
    /// The detector's record.
    pub sketch: Option<PageSketch>,
    /// The estimator's record.
    pub belief: Option<PageBelief>,
    /// The ranker's record, if the crawl has focuses.
    pub focus: Option<FocusedPage>,
    /// The ranker's record of the page's site, where `ranker.spam_shape` is set.
    pub neighbours: Option<NeighbourSites>,
}

/// Why a page is or is not due, and its relevance to focuses.
#[derive(Clone, Debug, Default)]
pub struct ExplanationParts {
    /// The scheduler's answer. Absent if the page is not known.
    pub explanation: Option<Explanation>,
    /// The ranker's record, if the crawl has focuses.
    pub focus: Option<FocusedPage>,
    /// The ranker's record of the page's site, where `ranker.spam_shape` is set.
    pub neighbours: Option<NeighbourSites>,
    /// The scheduler's record if an operator has forgotten the page.
    pub forgotten: Option<ForgottenPage>,
    /// The line of robots.txt that forbids the page. Absent if none does, or the fetcher's rules cannot be asked for.
    pub forbidden_by: Option<String>,
}

/// The failure for a page that is not known. It says what became of the page if an operator has forgotten it.
pub fn not_known(url: &CanonicalUrl, forgotten: Option<ForgottenPage>) -> CommandFailure {
    CommandFailure::No(match forgotten {
        None => format!("page {url} is not known in this crawl; add it with recrawl seed"),
        Some(ForgottenPage { forgotten_at, gone_at: Some(gone_at), .. }) => format!(
            "page {url} was forgotten at {forgotten_at}, and gone at {gone_at} from scheduler, detector and estimator, which have confirmed \
             it; matcher and ranker delete what they keep when they read of it; recrawl seed brings it back"
        ),
        Some(ForgottenPage { forgotten_at, deleted_at: Some(deleted_at), lease_until: Some(until), .. }) => format!(
            "page {url} was forgotten at {forgotten_at}, and detector and estimator had deleted it at {deleted_at}; a request for it is under way until \
             {until} at the latest, and nothing of its answer will be kept"
        ),
        Some(ForgottenPage { forgotten_at, .. }) => {
            format!("page {url} was forgotten at {forgotten_at}, and is being removed")
        }
    })
}

/// Number of places of a page whose changes are passed over as noise, because every token there differs at every look.
///
/// # Errors
/// When what is stored of the page is damaged.
pub fn places_passed_over(url: &CanonicalUrl, sketch: &PageSketch) -> Result<usize, CommandFailure> {
    let looks =
        sketch.look_memory().map_err(|error| CommandFailure::World(format!("the stored looks of {url}: {error}")))?;
    Ok(looks.deaf_places())
}

/// A page's relevance to the focuses of a crawl.
#[derive(Clone, Debug, Serialize)]
pub struct FocusReport {
    /// Whether the page was looked at and is about a focus.
    pub is_in_focus: bool,
    /// By focus; empty if the page was not looked at.
    pub relevances: Vec<FocusRelevance>,
    /// The promise of the links to it, from 0 to 1; counts until the page is looked at.
    pub promise: Option<f64>,
    /// Links between the page and the last one in a focus on the way to it.
    pub hops_out_of_focus: Option<i32>,
}

impl FocusReport {
    pub fn of(page: FocusedPage) -> Self {
        Self {
            is_in_focus: page.is_in_focus(),
            promise: page.promise(&focus::LinkScoring::default()),
            hops_out_of_focus: page.hops,
            relevances: page.relevances,
        }
    }
}

/// Why the site of a page has the shape of spam.
#[derive(Clone, Debug, Serialize)]
pub struct SpamReport {
    /// From 0 to 1: the share of its weight that the page loses, but for a tenth.
    pub score: f64,
    pub reasons: Vec<String>,
}

impl SpamReport {
    /// The report on the site of these neighbours; `None` if its shape is usual.
    pub fn of(neighbours: &NeighbourSites) -> Option<Self> {
        let shape = neighbours.links().shape();
        let reasons: Vec<String> = shape.suspicions().iter().map(ToString::to_string).collect();
        (!reasons.is_empty()).then(|| Self { score: shape.score(), reasons })
    }
}

/// Everything stored about one page. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize)]
pub struct PageReport {
    pub url: String,
    pub page_id: String,
    pub host: String,
    pub site_key: String,
    pub partition: u32,
    pub weight: f64,
    /// Its weight by the links that lead to it; 1 is average. Counts if no other weight is given.
    pub importance: f64,
    /// Its relevance to the focuses of the crawl; absent without focuses.
    pub focus: Option<FocusReport>,
    /// Why its site has the shape of spam; absent if it has not, and without `ranker.spam_shape`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spam_shape: Option<SpamReport>,
    pub depth: i32,
    /// The id of the page that named it first, and its site. Absent for a seed.
    pub found_on_page_id: Option<String>,
    pub found_on_site: Option<String>,
    pub discovered_at: String,
    pub last_look_at: Option<String>,
    pub last_change_at: Option<String>,
    pub in_flight_until: Option<String>,
    pub held_until: Option<String>,
    pub fetches: i64,
    pub changes: i64,
    pub failures_in_a_row: i32,
    pub outcome: Option<String>,
    pub status: Option<u16>,
    pub verdict: Option<String>,
    /// The last request that said nothing about the content, in one word, and when it was.
    pub last_failure: Option<String>,
    pub last_failure_at: Option<String>,
    pub last_failure_status: Option<u16>,
    /// The same in words, with the setting that would change it.
    pub last_failure_means: Option<String>,
    pub change_rate_per_day: f64,
    pub alpha: f64,
    pub beta_days: f64,
    pub own_alpha: f32,
    pub own_beta_days: f32,
    pub hint_probability: f64,
    pub audits: i64,
    pub audits_fresh: i64,
    pub content_digest: Option<String>,
    pub body_length: i64,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub host_next_permitted_at: Option<String>,
    pub host_crawl_delay_ms: Option<i64>,
    pub host_paused: Option<bool>,
    pub host_blocked: Option<bool>,
    /// Number of fetches that the detector has processed.
    pub results: i64,
    /// Number of places whose changes are passed over as noise, because every token there differs at every look.
    pub places_passed_over: usize,
    /// Why no text of the page is read, in one word and in words. Absent if some is.
    pub unread: Option<Unread>,
    pub unread_means: Option<&'static str>,
    /// The owner's preferences on the use of the page at its last look, one for each use of which something is said, with the statement
    /// that decides: `train-ai=n@content-usage`.
    pub preferences: Vec<String>,
    /// Number of fetches that the estimator has processed, and of those that were informative about changes.
    pub observations: i64,
    pub informative_observations: i64,
}

impl PageReport {
    /// The report on a page.
    ///
    /// # Errors
    /// When the page is not known, or what is stored of it is damaged.
    pub fn new(url: &CanonicalUrl, partition: u32, parts: PageParts) -> Result<Self, CommandFailure> {
        let PageParts { page, host, forgotten, sketch, belief, focus, neighbours } = parts;
        let page = page.ok_or_else(|| not_known(url, forgotten))?;
        let moment = |moment: Option<page::Timestamp>| moment.map(|moment| moment.to_string());
        let places_passed_over = sketch.as_ref().map_or(Ok(0), |sketch| places_passed_over(url, sketch))?;
        let unread = sketch.as_ref().and_then(|sketch| sketch.unread);
        let looked_at = page.last_look_at.unwrap_or(page.discovered_at);
        let preferences =
            sketch.as_ref().map(|sketch| sketch.preferences().to_decisions(looked_at)).unwrap_or_default();
        Ok(Self {
            url: url.to_string(),
            page_id: url.page_id().to_string(),
            host: url.host().to_string(),
            site_key: url.site_key().to_string(),
            partition,
            weight: page.weight,
            importance: page.importance,
            focus: focus.map(FocusReport::of),
            spam_shape: neighbours.as_ref().and_then(SpamReport::of),
            depth: page.depth,
            found_on_page_id: page.found_on.as_ref().map(|found_on| found_on.page_id.to_string()),
            found_on_site: page.found_on.as_ref().map(|found_on| found_on.site.to_string()),
            discovered_at: page.discovered_at.to_string(),
            last_look_at: moment(page.last_look_at),
            last_change_at: moment(page.last_change_at),
            in_flight_until: moment(page.request.lease_until()),
            held_until: moment(page.request.held_until()),
            fetches: page.fetches,
            changes: page.changes,
            failures_in_a_row: page.request.failures,
            outcome: page.outcome.as_ref().map(messages::word),
            status: page.status,
            verdict: page.verdict.as_ref().map(messages::word),
            last_failure: page.failure.as_ref().map(|failure| failure.kind().report().name.to_owned()),
            last_failure_at: moment(page.failure.as_ref().map(|failure| failure.at)),
            last_failure_status: page.failure.as_ref().and_then(|failure| failure.status),
            last_failure_means: page.failure.map(|failure| failure.kind().report().in_words()),
            change_rate_per_day: page.belief.change_rate_per_day(),
            alpha: page.belief.alpha,
            beta_days: page.belief.beta_days,
            own_alpha: page.belief.own_alpha,
            own_beta_days: page.belief.own_beta_days,
            hint_probability: -(-page.hint_hazard).exp_m1(),
            audits: page.audits,
            audits_fresh: page.audits_fresh,
            content_digest: page.validators.content_digest.map(|digest| digest.to_string()),
            body_length: page.body_length,
            etag: page.validators.etag,
            last_modified: page.validators.last_modified,
            host_next_permitted_at: host.as_ref().map(|host| host.next_permitted_at.to_string()),
            host_crawl_delay_ms: host.as_ref().map(|host| host.crawl_delay_ms),
            host_paused: host.as_ref().map(|host| host.paused),
            host_blocked: host.as_ref().map(|host| host.blocked),
            results: sketch.map_or(0, |sketch| sketch.fetches),
            places_passed_over,
            unread,
            unread_means: unread.map(Unread::in_words),
            preferences,
            observations: belief.as_ref().map_or(0, |belief| belief.fetches),
            informative_observations: belief.map_or(0, |belief| belief.observations),
        })
    }
}
