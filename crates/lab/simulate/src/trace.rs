//! Recorded change times of pages of real sites, cut to a window of two years per source.
//!
//! The first year of a window is for learning, the second for scoring. Sources cover different periods, so each window
//! ends with the last row of its source, and all windows are aligned: day 0 is the start of a window. The judged pages
//! are those that live through all of it: present before it starts, and never gone within.

mod foresight;
mod read;
mod recording;
mod replay;

pub use self::read::{RecordingError, TraceTable};
pub use self::recording::{RecordedPage, RecordedState, Recording, RecordingEvent};
pub use self::replay::{Knowledge, TraceReplay};

use page::CanonicalUrl;
use std::collections::HashMap;
use sweeps::PagePlace;

/// Days that policies may learn from.
pub const LEARNING_DAYS: f64 = 365.0;
/// Days of the whole window; the days after the learning days are scored.
pub const WINDOW_DAYS: f64 = 2.0 * LEARNING_DAYS;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The selection of judged pages from a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Sources to take; empty takes all.
    pub sources: Vec<String>,
    /// Maximum of pages per source: those with the smallest hash of source and path.
    pub max_pages_per_source: usize,
    /// Seed of the selection of pages.
    pub draw: u64,
}

/// A judged page.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePage {
    /// Position of its source in [`JudgedTrace::sources`].
    pub source: u32,
    /// Number of its host; pages of one host share it.
    pub host: u32,
    /// Its place on its site.
    pub place: PagePlace,
    /// Its changes, in days since the start of its window: rising, in (0, [`WINDOW_DAYS`]].
    pub changes_days: Vec<f64>,
    /// The extents of these changes; empty where the recording has none.
    pub extents: Vec<f32>,
    /// Its last change or its appearance before that, not above 0; `None` when the recording begins later.
    pub changed_before_days: Option<f64>,
}

/// A source without judged pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub source: String,
    /// The reason, as text.
    pub reason: String,
}

/// The judged pages of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgedTrace {
    /// By source, then by the hash that selected them.
    pub pages: Vec<TracePage>,
    /// Names of the sources with judged pages.
    pub sources: Vec<String>,
    /// Sources without judged pages.
    pub left_out: Vec<LeftOut>,
}

impl TracePage {
    /// All known changes, the one before the window included.
    fn all_changes_days(&self) -> Vec<f64> {
        self.changed_before_days.into_iter().chain(self.changes_days.iter().copied()).collect()
    }

    /// Their extents; a change of unknown extent counts as one of everything.
    fn all_extents(&self) -> impl Iterator<Item = f32> {
        let before = self.changed_before_days.map(|_| 1.0);
        let within = (0..self.changes_days.len()).map(|change| self.extents.get(change).copied().unwrap_or(1.0));
        before.into_iter().chain(within)
    }

    /// Number of changes in (`from_days`, `until_days`].
    pub fn changes_between(&self, from_days: f64, until_days: f64) -> usize {
        let count = |days: f64| self.changes_days.partition_point(|at| *at <= days);
        count(until_days).saturating_sub(count(from_days))
    }

    /// Change rate of the learning year, (n + 0.5) / (T + 30 d): the belief of a static policy with a fixed prior.
    pub fn smoothed_rate_per_day(&self) -> f64 {
        foresight::smoothed_per_day(self.changes_between(0.0, LEARNING_DAYS))
    }

    /// True change rate of these days, which no policy can know before they are over.
    pub fn rate_per_day(&self, from_days: f64, until_days: f64) -> f64 {
        self.changes_between(from_days, until_days) as f64 / (until_days - from_days)
    }
}

impl JudgedTrace {
    /// Cuts each source's last two years and selects its pages.
    ///
    /// # Errors
    /// When a requested source is not in the recording, and when no page is judged at all.
    pub fn cut(recording: &Recording, cut: &Cut) -> Result<JudgedTrace, RecordingError> {
        if let Some(unknown) = cut.sources.iter().find(|wanted| !recording.sources.contains(wanted)) {
            let known = recording.sources.join(", ");
            return Err(RecordingError::UnknownSource { name: unknown.clone(), known });
        }
        let mut trace = JudgedTrace::default();
        let mut hosts = HashMap::new();
        let spans = spans_seconds(recording);
        let mut candidates: Vec<Vec<(u64, usize, Judged)>> = vec![Vec::new(); recording.sources.len()];
        for (index, page) in recording.pages.iter().enumerate() {
            let source = page.source as usize;
            let wanted = cut.sources.is_empty() || cut.sources.contains(&recording.sources[source]);
            if let (true, Some((_, last))) = (wanted, spans[source])
                && let Some(judged) = judged_changes(recording.states(page), last)
            {
                let name = recording.sources[source].bytes().chain(page.path.bytes());
                candidates[source].push((chance::salted_hash(cut.draw, name), index, judged));
            }
        }
        for (source, mut candidates) in candidates.into_iter().enumerate() {
            let name = &recording.sources[source];
            if !cut.sources.is_empty() && !cut.sources.contains(name) {
                continue;
            }
            if candidates.is_empty() {
                trace.left_out.push(LeftOut { source: name.clone(), reason: why_left_out(spans[source]) });
                continue;
            }
            candidates.sort_by_key(|(hash, index, _)| (*hash, *index));
            candidates.truncate(cut.max_pages_per_source);
            let number = trace.sources.len() as u32;
            trace.sources.push(name.clone());
            for (_, index, Judged { changes_days, extents, changed_before_days }) in candidates {
                let page = &recording.pages[index];
                let next = hosts.len() as u32;
                let host = *hosts.entry(page.host).or_insert(next);
                let place = place_of(&recording.hosts[page.host as usize], &page.path);
                trace.pages.push(TracePage { source: number, host, place, changes_days, extents, changed_before_days });
            }
        }
        if trace.pages.is_empty() {
            let reasons: Vec<_> = trace.left_out.iter().map(|it| format!("{}: {}", it.source, it.reason)).collect();
            return Err(RecordingError::NothingJudged { reasons: reasons.join("; ") });
        }
        Ok(trace)
    }
}

/// First and last second of each source's rows; `None` for a source without rows.
fn spans_seconds(recording: &Recording) -> Vec<Option<(i64, i64)>> {
    let mut spans: Vec<Option<(i64, i64)>> = vec![None; recording.sources.len()];
    for page in &recording.pages {
        if let [first, .., last] | [first @ last] = recording.states(page) {
            let span = spans[page.source as usize].get_or_insert((first.unix_time, last.unix_time));
            *span = (span.0.min(first.unix_time), span.1.max(last.unix_time));
        }
    }
    spans
}

/// The change times of a judged page, as in [`TracePage`].
#[derive(Clone, Debug)]
struct Judged {
    changes_days: Vec<f64>,
    extents: Vec<f32>,
    changed_before_days: Option<f64>,
}

/// Change times in days since the start of the window; `None` when the page does not live through all of it. Of several
/// rows at one second the last counts.
fn judged_changes(states: &[RecordedState], last_seconds: i64) -> Option<Judged> {
    let opens = last_seconds as f64 - WINDOW_DAYS * SECONDS_PER_DAY;
    let before = states.partition_point(|state| state.unix_time as f64 <= opens);
    let (before, within) = states.split_at(before);
    let mut changes = Vec::with_capacity(within.len());
    let mut extents: Vec<Option<f32>> = Vec::new();
    let last_before = before.last()?;
    let days = |state: &RecordedState| (state.unix_time as f64 - opens) / SECONDS_PER_DAY;
    let changed_before_days = match last_before.kind {
        RecordingEvent::Gone => return None,
        RecordingEvent::Initial => None,
        RecordingEvent::Appeared | RecordingEvent::Modified => Some(days(last_before)),
    };
    for (index, state) in within.iter().enumerate() {
        if within.get(index + 1).is_some_and(|next| next.unix_time == state.unix_time) {
            continue;
        }
        if state.kind == RecordingEvent::Gone {
            return None;
        }
        changes.push(days(state));
        extents.push(state.extent);
    }
    // A change of an unknown extent among others counts as one of everything.
    let has_extents = states.iter().any(|state| state.extent.is_some());
    let extents = extents.into_iter().filter(|_| has_extents).map(|extent| extent.unwrap_or(1.0)).collect();
    Some(Judged { changes_days: changes, extents, changed_before_days })
}

fn why_left_out(span: Option<(i64, i64)>) -> String {
    match span {
        None => "no rows".to_owned(),
        Some((first, last)) => {
            let days = (last as f64 - first as f64) / SECONDS_PER_DAY;
            match days < WINDOW_DAYS {
                true => format!("its rows span {days:.0} days, but a window needs {WINDOW_DAYS:.0}"),
                false => "no page exists through its last two years".to_owned(),
            }
        }
    }
}

/// The place as the running system sees it. An address that it cannot parse gets its groups from the raw spelling.
fn place_of(host: &str, path: &str) -> PagePlace {
    match CanonicalUrl::parse(&format!("https://{host}{path}")) {
        Ok(url) => PagePlace::of(url.site_key().as_str(), url.host().as_str(), url.path()),
        Err(_) => PagePlace::of(host, host, path.split(['?', '#']).next().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
