//! One page: why it is or is not fetched, what is known of it, and its versions.

use super::query::Query;
use super::{ScreenFailure, Source};
use detector::VersionFacts;
use messages::word;
use operate::PageReport;
use page::CanonicalUrl;
use serde::Serialize;
use stream::partitioner::partition_for;

#[derive(Serialize)]
pub(super) struct Page {
    url: String,
    title: String,
    host: String,
    /// Path of this screen.
    back: String,
    is_known: bool,
    /// Why it is or is not fetched, in a sentence.
    answer: Option<String>,
    reasons: Vec<String>,
    due_at: Option<String>,
    forbidden_by: Option<String>,
    facts: Vec<Fact>,
    /// The newest first.
    versions: Vec<VersionLine>,
    /// Whether there are two versions to compare.
    is_comparable: bool,
}

#[derive(Serialize)]
struct Fact {
    name: &'static str,
    value: String,
    is_time: bool,
}

#[derive(Serialize)]
struct VersionLine {
    number: u32,
    /// The version before it, if that is kept.
    before: Option<u32>,
    is_last: bool,
    seen_at: String,
    last_seen_at: String,
    looks: i64,
    verdict: String,
    length: i64,
    title: String,
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Page, ScreenFailure> {
    let url = Query::read(query, &["url"])?.url(source.settings)?;
    source.permit(&url)?;
    let partition = partition_for(url.site_key().as_str().as_bytes(), source.state.partitions().max(1));
    let parts = source.state.page(&url)?;
    let title = parts.sketch.as_ref().and_then(|sketch| sketch.title.clone()).unwrap_or_default();
    let report = PageReport::new(&url, partition, parts)?;
    let explained = source.state.explain(&url)?;
    let history = source.state.history(&url)?;
    let explanation = explained.explanation;
    Ok(Page {
        title: if title.trim().is_empty() { url.to_string() } else { title },
        host: url.host_name().to_owned(),
        back: path_of(&url),
        is_known: explanation.is_some(),
        answer: explanation.as_ref().map(|explanation| explanation.answer.clone()),
        due_at: explanation.as_ref().and_then(|explanation| explanation.due_at.clone()),
        reasons: explanation.map(|explanation| explanation.reasons).unwrap_or_default(),
        forbidden_by: explained.forbidden_by,
        facts: facts(&report),
        is_comparable: history.len() > 1,
        versions: lines(&history),
        url: url.to_string(),
    })
}

/// The path of a page's screen.
fn path_of(url: &CanonicalUrl) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("url", url.as_str()).finish();
    format!("/page?{query}")
}

fn lines(history: &[VersionFacts]) -> Vec<VersionLine> {
    let before = |place: usize| place.checked_sub(1).map(|place| history[place].number);
    let line = |(place, version): (usize, &VersionFacts)| VersionLine {
        number: version.number,
        before: before(place),
        is_last: version.is_last,
        seen_at: version.seen_at.to_string(),
        last_seen_at: version.last_seen_at.to_string(),
        looks: version.looks,
        verdict: word(&version.verdict),
        length: version.length,
        title: version.title.clone().unwrap_or_default(),
    };
    history.iter().enumerate().map(line).rev().collect()
}

fn facts(report: &PageReport) -> Vec<Fact> {
    let mut facts = Vec::new();
    let times = ["Last look", "Last change", "Failed at", "Known since", "Under way until", "Held until"];
    let mut add = |name: &'static str, value: Option<String>| {
        facts.extend(value.map(|value| Fact { name, value, is_time: times.contains(&name) }));
    };
    add("Last look", report.last_look_at.clone());
    add("Last change", report.last_change_at.clone());
    add("Last request", report.outcome.as_ref().map(|outcome| outcome.replace('_', " ")));
    add("Status", report.status.map(|status| status.to_string()));
    add("Verdict", report.verdict.clone());
    add("Last failure", report.last_failure_means.clone());
    add("Failed at", report.last_failure_at.clone());
    add("Cannot be read", report.unread_means.map(str::to_owned));
    let preferences = &report.preferences;
    add("Its owner says", (!preferences.is_empty()).then(|| preferences.join(", ")));
    add("Fetches", Some(report.fetches.to_string()));
    add("Changes", Some(report.changes.to_string()));
    add("Changes a day", Some(format!("{:.4}", report.change_rate_per_day)));
    add("Weight", Some(format!("{:.2}", report.weight)));
    add("Importance by links", Some(format!("{:.2}", report.importance)));
    add("Found on", report.found_on_site.clone());
    add("Known since", Some(report.discovered_at.clone()));
    add("Under way until", report.in_flight_until.clone());
    add("Held until", report.held_until.clone());
    facts
}
