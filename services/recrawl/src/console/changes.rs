//! The newest changes, each before and after.

use super::query::Query;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use crate::commands::diff::{html, record_of};
use messages::{ChangeLine, PageChange, topics, word};
use outputs::record::{CHANGES, excerpt, kind_in_words, sentence, without_snippets};
use page::{CanonicalUrl, HostName};
use serde::Serialize;

/// Changes on the screen.
const SHOWN: usize = 50;
/// Newest changes among which those that are wanted are looked for.
pub(super) const SEARCHED: usize = 300;
/// Longest title, in characters.
const TITLE: usize = 120;

#[derive(Serialize)]
pub(super) struct Changes {
    changes: Vec<ChangeCard>,
    verdict: String,
    /// The verdicts that can be chosen.
    verdicts: [&'static str; 12],
    host: String,
    rule: String,
    triggered: bool,
    is_filtered: bool,
    searched: usize,
}

/// A change, as a card shows it.
#[derive(Serialize)]
pub(super) struct ChangeCard {
    sentence: String,
    url: String,
    title: String,
    seen_at: String,
    previous_seen_at: Option<String>,
    verdict: String,
    rule: Option<String>,
    triggers: Vec<String>,
    /// The kind of thing that is served in the page's place.
    looks_like: Option<String>,
    /// HTML table of the changed units, escaped. Empty without any.
    table: String,
    left_out: i32,
}

const VERDICTS: [&str; 12] = [
    "first",
    "minor",
    "major",
    "missing",
    "obscured",
    "redirected",
    "gone",
    "returned",
    "unwatched",
    "watched",
    "failed",
    "forgotten",
];

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Changes, ScreenFailure> {
    let query = Query::read(query, &["verdict", "host", "rule", "triggered"])?;
    let verdict = query.get("verdict").unwrap_or_default().to_owned();
    if !verdict.is_empty() && !VERDICTS.contains(&&*verdict) {
        return Err(CommandFailure::Input(format!("verdict: write one of {}", VERDICTS.join(", "))).into());
    }
    let text = |name: &str| query.get(name).unwrap_or_default().trim().to_owned();
    let (host, rule, triggered) = (text("host"), text("rule"), query.get("triggered").is_some());
    let within = (!host.is_empty()).then(|| HostName::from_name(host.to_lowercase()));
    let is_filtered = !verdict.is_empty() || within.is_some() || !rule.is_empty() || triggered;
    let searched = if is_filtered { SEARCHED } else { SHOWN };
    let newest = newest(source, searched)?;
    let is_wanted = |change: &&ChangeLine| {
        (verdict.is_empty() || word(&change.verdict) == verdict)
            && within.as_ref().is_none_or(|host| is_of(change, host))
            && (rule.is_empty() || change.rule.as_ref() == Some(&rule))
            && (!triggered || !change.triggers.is_empty())
    };
    let changes = newest.iter().filter(is_wanted).take(SHOWN).map(card).collect();
    Ok(Changes { changes, verdict, verdicts: VERDICTS, host, rule, triggered, is_filtered, searched })
}

/// The newest changes of the hosts within the caller's reach, the newest first. For a key of some hosts they are those among the last
/// that a filter looks at, so that no request reads the whole topic.
pub(super) fn newest(source: &Source<'_>, limit: usize) -> Result<Vec<ChangeLine>, CommandFailure> {
    let read = if source.caller.hosts.is_some() { SEARCHED } else { limit };
    let mut reader = source.crawl.reader(topics::PAGE_CHANGES.spec())?;
    let newest = outputs::source::newest(&mut reader, &CHANGES, read, |_| true)?;
    let is_visible = |change: &PageChange| source.caller.includes_host(change.url.host_name());
    let shown = |change| if source.settings.preferences.nosnippet { without_snippets(change) } else { change };
    Ok(newest.records.into_iter().filter(is_visible).take(limit).map(shown).map(ChangeLine::from).collect())
}

/// Whether a change is of a page of a host, or of one below it.
fn is_of(change: &ChangeLine, host: &HostName) -> bool {
    CanonicalUrl::parse(&change.url).is_ok_and(|url| HostName::of(&url).is_at_or_below(host))
}

/// The newest changes.
pub(super) fn cards(source: &Source<'_>, limit: usize) -> Result<Vec<ChangeCard>, ScreenFailure> {
    Ok(newest(source, limit)?.iter().map(card).collect())
}

fn card(change: &ChangeLine) -> ChangeCard {
    let record = record_of(change);
    let title = change.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&change.url);
    ChangeCard {
        sentence: sentence(change),
        url: change.url.clone(),
        title: excerpt(title, TITLE),
        seen_at: change.seen_at.clone(),
        previous_seen_at: change.previous_seen_at.clone(),
        verdict: word(&change.verdict),
        rule: change.rule.clone(),
        triggers: change.triggers.clone(),
        looks_like: change.looks_like.as_deref().map(|kind| kind_in_words(kind).to_owned()),
        table: if record.changes.is_empty() { String::new() } else { html::table(&record) },
        left_out: change.left_out,
    }
}
