//! `recrawl diff URL`: a change that a crawl has seen.

use super::context::Context;
use super::html::{self, PageHead, VersionHead};
use super::{DiffArguments, write_page};
use crate::CommandFailure;
use crate::documents;
use crate::kept_copy::unpacked;
use crate::one_fetch::parsed;
use change::{ChangeRecord, ChangedUnit};
use daemon::TopicReader;
use messages::{ChangeLine, CopyKind, PageChange, Verdict, topics};
use operate::state::CrawlState;
use outputs::record::{CHANGES, LineStyle, change_lines, headline, sentence};
use outputs::source::newest_with_key;
use outputs::stdout::{Format, answer_coloured, word};
use page::CanonicalUrl;
use settings::Settings;

/// Prints the last change of a page that the crawl has seen, or the one with a cursor.
pub(super) fn of_crawl(
    arguments: &DiffArguments,
    settings: &Settings,
    address: &str,
    format: Format,
) -> Result<(), CommandFailure> {
    let url = settings.urls.rules().apply(parsed(address)?);
    if settings.crawl.data.is_none() && settings.kafka.brokers.is_none() {
        return Err(CommandFailure::Input(format!(
            "one version is given: {url}; give a second one, or the crawl whose last change of the page is wanted: --data DIR, or --config \
             with kafka.brokers"
        )));
    }
    let mut reader = TopicReader::open(settings, topics::PAGE_CHANGES, "recrawl-diff")?;
    let id = url.page_id();
    // The first version differs from nothing, and that the page was forgotten is no version.
    let is_wanted = |change: &PageChange| {
        change.page_id == id && !matches!(change.verdict, Verdict::First | Verdict::Forgotten | Verdict::Failed)
    };
    let found = newest_with_key(&mut reader, &CHANGES, &id.0, arguments.at.as_ref(), is_wanted)?;
    let Some(change) = found else {
        let at = if arguments.at.is_some() { " before this cursor" } else { "" };
        return Err(CommandFailure::No(format!(
            "no change of {url} is kept{at}; changes are kept for log.retention_changes, and recrawl page {url} says what is known of it"
        )));
    };
    let seen_at = change.seen_at;
    let change = ChangeLine::from(change);
    if let Some(file) = &arguments.html {
        // The stored copy is of the newest version, and shows nothing of what stood beside an earlier change.
        let is_later = |later: &PageChange| later.page_id == id && later.content_changed && later.seen_at > seen_at;
        let is_replaced = newest_with_key(&mut reader, &CHANGES, &id.0, None, is_later)?.is_some();
        let record = record_of(&change);
        let context = match is_replaced {
            true => Context::default(),
            false => {
                let state = operate::state::open(settings, crate::stages::topologies(), *arguments.wait.wait)?;
                context(&*state, &url, &record.changes)?
            }
        };
        let (headline, verdict) = (headline(&change), word(&change.verdict));
        if write_page(file, &html::page(&head(&change, &headline, &verdict), &record, &context))? {
            return Ok(());
        }
    }
    answer_coloured(format, &change, |change| text(change, arguments.color.style()))
}

/// The texts of the stored copy, which is that of the newest version.
fn context(state: &dyn CrawlState, url: &CanonicalUrl, changes: &[ChangedUnit]) -> Result<Context, CommandFailure> {
    let Some(copy) = state.copy(url)? else { return Ok(Context::default()) };
    let content = unpacked(&copy, usize::MAX)?;
    let text = match copy.kind {
        CopyKind::Text => String::from_utf8_lossy(&content).into_owned(),
        CopyKind::Body => documents::text(&content, copy.content_type.as_deref(), Some(url.as_str())).text,
    };
    Ok(Context::of_copy(&text, changes))
}

fn head<'a>(change: &'a ChangeLine, headline: &'a str, verdict: &'a str) -> PageHead<'a> {
    let version = |time| VersionHead { name: None, time };
    PageHead {
        sentence: Some(headline),
        title: change.title.as_deref(),
        url: Some(&change.url),
        versions: [version(change.previous_seen_at.as_deref()), version(Some(&change.seen_at))],
        verdict,
        magnitude: change.magnitude,
        rule: change.rule.as_deref(),
        triggers: &change.triggers,
        not_found: &change.not_found,
        looks_like: change.looks_like.as_deref(),
    }
}

/// The change as the comparison of two versions gives it.
pub(crate) fn record_of(change: &ChangeLine) -> ChangeRecord {
    let unit = |unit: &messages::ChangedUnit| ChangedUnit {
        before: unit.before.clone(),
        after: unit.after.clone(),
        place: unit.place.clone(),
    };
    let count = |number: i32| usize::try_from(number).unwrap_or(0);
    ChangeRecord {
        changes: change.changes.iter().map(unit).collect(),
        added: change.added.clone(),
        removed: change.removed.clone(),
        links_added: change.links_added.clone(),
        links_removed: change.links_removed.clone(),
        passed_over: count(change.passed_over),
        left_out: count(change.left_out),
    }
}

fn text(change: &ChangeLine, style: LineStyle) -> String {
    let before = change.previous_seen_at.as_deref().unwrap_or("an unknown time");
    let head = [
        style.verdict(&sentence(change)),
        format!(
            "{}, magnitude {:.3}, between {before} and {}",
            word(&change.verdict),
            change.magnitude,
            change.seen_at
        ),
        change.url.clone(),
    ];
    head.into_iter().chain(change_lines(change, style)).collect::<Vec<_>>().join("\n")
}
