//! Answers of the tools that read. Each is bounded, whatever the crawl has.

use super::tools::CrawlTools;
use super::untrusted::Answer;
use crate::CommandFailure;
use crate::commands::diff::ComparedVersions;
use crate::commands::history::kept_versions;
use crate::commands::page::kept_version;
use crate::commands::pages::known_outcome;
use crate::documents;
use crate::kept_copy::unpacked;
use daemon::TopicReader;
use detector::VersionFacts;
use messages::{ChangeLine, CopyKind, PageChange, PageSelection, Verdict, topics, word};
use operate::PageReport;
use outputs::record::{CHANGES, PublishedChange};
use outputs::source::{Cursor, Start, TopicFollower, TopicRecord, newest};
use page::{HostName, Timestamp};
use scheduler::ListedPage;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use stream::partitioner::partition_for;

/// Most changes of an answer.
pub(super) const MOST_CHANGES: usize = 100;
/// Most pages of an answer.
pub(super) const MOST_PAGES: usize = 100;
/// Most characters of a page's text in an answer.
pub(super) const MOST_CHARACTERS: usize = 100_000;
const USUAL_ITEMS: usize = 20;
const USUAL_CHARACTERS: usize = 20_000;
/// Most versions of an answer.
const MOST_VERSIONS: usize = 100;
/// Changes that are read for an answer, if few of them are wanted.
const MOST_READ: usize = 10_000;
/// Copies whose titles are read for an answer.
const MOST_COPIES: usize = 100_000;
/// Bytes after which a list ends. The next answer goes on there.
const MOST_BYTES: usize = 256 << 10;
/// Most bytes of a copy.
const MOST_OF_COPY: usize = 64 << 20;

/// Changes that are wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesQuery {
    cursor: Option<String>,
    limit: Option<usize>,
    host: Option<String>,
    verdicts: Option<Vec<Verdict>>,
}

impl ChangesQuery {
    fn wants(&self, change: &PageChange) -> bool {
        let is_at = |host: &String| HostName::of(&change.url).is_at_or_below(&host_name(host));
        self.host.as_ref().is_none_or(is_at)
            && self.verdicts.as_ref().is_none_or(|verdicts| verdicts.contains(&change.verdict))
    }
}

/// A page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    url: String,
}

/// A part of a page's text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextQuery {
    url: String,
    version: Option<u32>,
    offset: Option<usize>,
    characters: Option<usize>,
}

/// Two versions of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DifferenceQuery {
    url: String,
    from: u32,
    to: Option<u32>,
}

/// Where a text is searched.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Place {
    #[default]
    Address,
    Title,
}

/// A text to search for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    text: String,
    #[serde(default, rename = "in")]
    place: Place,
    limit: Option<usize>,
}

/// Pages that are wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PagesQuery {
    host: Option<String>,
    outcome: Option<String>,
    verdict: Option<Verdict>,
    #[serde(default)]
    never_fetched: bool,
    limit: Option<usize>,
}

/// Items of a list, up to a number and a size.
struct Items {
    values: Vec<Value>,
    bytes: usize,
}

impl Items {
    fn new() -> Self {
        Self { values: Vec::new(), bytes: 0 }
    }

    /// Adds an item. Returns whether it fits.
    fn add(&mut self, item: &impl Serialize) -> Result<bool, CommandFailure> {
        let item = value(item)?;
        let bytes = item.to_string().len();
        // One item is always shown: its texts are cut later.
        let fits = self.values.is_empty() || self.bytes + bytes <= MOST_BYTES;
        if fits {
            self.values.push(item);
            self.bytes += bytes;
        }
        Ok(fits)
    }
}

pub(super) fn changes(tools: &CrawlTools, query: ChangesQuery) -> Result<Answer, CommandFailure> {
    let limit = bounded(query.limit, "limit", USUAL_ITEMS, MOST_CHANGES)?;
    let cursor = match query.cursor.as_deref() {
        Some("first") | None => None,
        Some(cursor) => Some(cursor.parse::<Cursor>().map_err(|why| CommandFailure::Input(format!("cursor: {why}")))?),
    };
    let mut reader = TopicReader::open(&tools.settings, topics::PAGE_CHANGES, "recrawl-mcp")?;
    let mut items = Items::new();
    if query.cursor.is_none() {
        // Changes that come while the newest are read are shown again by the next answer.
        let next_cursor = Cursor::at_end(&mut reader)?.to_string();
        // Of a selection no more is read than of one with a cursor.
        let searched = if query.host.is_some() || query.verdicts.is_some() { MOST_READ } else { limit };
        let found = newest(&mut reader, &CHANGES, searched, |_| true)?.records;
        for change in found.into_iter().filter(|change| query.wants(change)).take(limit) {
            if !items.add(&ChangeLine::from(tools.shown(change)))? {
                break;
            }
        }
        return Ok(list_of_changes(items, &next_cursor, false));
    }
    let mut follower = TopicFollower::open(reader, CHANGES, &Start { cursor, named: "cursor".to_owned() })?;
    let (mut next_cursor, mut has_more) = (follower.cursor().clone(), true);
    for _ in 0..MOST_READ {
        let Some(TopicRecord { message, cursor, .. }) = follower.next()? else {
            (next_cursor, has_more) = (follower.cursor().clone(), false);
            break;
        };
        if query.wants(&message) && !items.add(&PublishedChange::new(tools.shown(message), &cursor))? {
            break;
        }
        next_cursor = cursor;
        if items.values.len() == limit {
            break;
        }
    }
    Ok(list_of_changes(items, &next_cursor.to_string(), has_more))
}

fn list_of_changes(items: Items, next_cursor: &str, has_more: bool) -> Answer {
    let facts = json!({ "next_cursor": next_cursor, "has_more": has_more, "count": items.values.len() });
    Answer::of_pages(facts, json!({ "changes": items.values }))
}

pub(super) fn page(tools: &CrawlTools, query: &PageQuery) -> Result<Answer, CommandFailure> {
    let (url, state) = (tools.page(&query.url)?, tools.state()?);
    let partition = partition_for(url.site_key().as_str().as_bytes(), state.partitions().max(1));
    let parts = state.page(&url)?;
    let title = parts.sketch.as_ref().and_then(|sketch| sketch.title.clone());
    let report = PageReport::new(&url, partition, parts)?;
    let explained = state.explain(&url)?;
    let answer = explained.explanation.map(|explanation| explanation.answer);
    let untrusted =
        json!({ "page": value(&report)?, "title": title, "why": answer, "forbidden_by": explained.forbidden_by });
    Ok(Answer::of_pages(json!({}), untrusted))
}

pub(super) fn text(tools: &CrawlTools, query: &TextQuery) -> Result<Answer, CommandFailure> {
    let most = bounded(query.characters, "characters", USUAL_CHARACTERS, MOST_CHARACTERS)?;
    let url = tools.page(&query.url)?;
    let state = tools.state()?;
    let copy = match query.version {
        Some(number) => kept_version(&*state, &url, number)?,
        None => state.copy(&url)?.ok_or_else(|| {
            CommandFailure::No(format!("no copy of {url} is kept; get_page says what is known of it"))
        })?,
    };
    tools.permits(&copy)?;
    let content = unpacked(&copy, MOST_OF_COPY)?;
    let text = match copy.kind {
        CopyKind::Text => String::from_utf8_lossy(&content).into_owned(),
        CopyKind::Body => documents::text(&content, copy.content_type.as_deref(), Some(url.as_str())).text,
    };
    let (whole, offset) = (text.chars().count(), query.offset.unwrap_or(0));
    let part: String = text.chars().skip(offset).take(most).collect();
    let end = offset.saturating_add(part.chars().count());
    let facts = json!({
        "version": copy.version,
        "seen_at": copy.seen_at.to_string(),
        "verdict": word(&copy.verdict),
        "characters": whole,
        "offset": offset,
        "next_offset": (end < whole).then_some(end),
        "is_only_the_beginning": copy.truncated,
    });
    Ok(Answer::of_pages(facts, json!({ "url": url.as_str(), "text": part })).uncut())
}

pub(super) fn versions(tools: &CrawlTools, query: &PageQuery) -> Result<Answer, CommandFailure> {
    let url = tools.page(&query.url)?;
    let kept = kept_versions(&*tools.state()?, &url)?;
    let shown: Vec<Value> = kept.iter().rev().take(MOST_VERSIONS).map(version_line).collect();
    let facts = json!({ "count": kept.len(), "left_out": kept.len() - shown.len() });
    Ok(Answer::of_pages(facts, json!({ "url": url.as_str(), "versions": shown })))
}

fn version_line(version: &VersionFacts) -> Value {
    json!({
        "number": version.number,
        "is_last": version.is_last,
        "seen_at": version.seen_at.to_string(),
        "last_seen_at": version.last_seen_at.to_string(),
        "looks": version.looks,
        "verdict": word(&version.verdict),
        "title": version.title,
        "length": version.length,
    })
}

pub(super) fn difference(tools: &CrawlTools, query: &DifferenceQuery) -> Result<Answer, CommandFailure> {
    let url = tools.page(&query.url)?;
    let same = |number: u32| CommandFailure::Input(format!("from and to are both {number}: two versions are needed"));
    if query.to == Some(query.from) {
        return Err(same(query.from));
    }
    let state = tools.state()?;
    let to = match query.to {
        Some(to) => to,
        None => kept_versions(&*state, &url)?.last().map_or(query.from, |version| version.number),
    };
    if to == query.from {
        return Err(same(to));
    }
    let (older, newer) = (query.from.min(to), query.from.max(to));
    state.copy(&url)?.map_or(Ok(()), |copy| tools.permits(&copy))?;
    let compared = ComparedVersions::of(&*state, &tools.settings, &url, [older, newer])?;
    let times = compared.times.map(|time| time.to_string());
    let facts = json!({ "from": older, "to": newer, "seen_at": times });
    Ok(Answer::of_pages(facts, json!({ "url": url.as_str(), "difference": value(&compared.reported)? })))
}

pub(super) fn search(tools: &CrawlTools, query: &SearchQuery) -> Result<Answer, CommandFailure> {
    let limit = bounded(query.limit, "limit", USUAL_ITEMS, MOST_PAGES)?;
    if query.text.trim().is_empty() {
        return Err(CommandFailure::Input("text: write some".to_owned()));
    }
    match query.place {
        Place::Address => {
            let selection = PageSelection { address_part: Some(query.text.clone()), ..PageSelection::default() };
            listed(tools, selection, limit)
        }
        Place::Title => with_title(tools, &query.text, limit),
    }
}

/// Pages with a text in the title of their kept copy.
fn with_title(tools: &CrawlTools, text: &str, limit: usize) -> Result<Answer, CommandFailure> {
    if tools.settings.crawl.data.is_none() {
        return Err(CommandFailure::No(
            "titles are searched in the data directory of an embedded crawl; over Kafka search in addresses".to_owned(),
        ));
    }
    let wanted = text.to_lowercase();
    let (mut found, mut read) = (Vec::new(), 0_usize);
    let flow = tools.state()?.each_copy(&mut |copy, title| {
        read += 1;
        if let Some(title) = title.filter(|title| title.to_lowercase().contains(&wanted)) {
            let (seen_at, verdict) = (copy.seen_at.to_string(), word(&copy.verdict));
            found.push(json!({ "url": copy.url.as_str(), "title": title, "seen_at": seen_at, "verdict": verdict }));
        }
        let is_enough = found.len() == limit || read == MOST_COPIES;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    let facts = json!({ "count": found.len(), "has_more": flow.is_break(), "titles_read": read });
    Ok(Answer::of_pages(facts, json!({ "pages": found })))
}

pub(super) fn pages(tools: &CrawlTools, query: PagesQuery) -> Result<Answer, CommandFailure> {
    let limit = bounded(query.limit, "limit", USUAL_ITEMS, MOST_PAGES)?;
    let selection = PageSelection {
        host: query.host.as_deref().map(host_name),
        outcome: query.outcome.as_deref().map(known_outcome).transpose()?,
        verdict: query.verdict,
        never_fetched: query.never_fetched,
        ..PageSelection::default()
    };
    listed(tools, selection, limit)
}

/// The selected pages. One more is asked for, which says whether there are more.
fn listed(tools: &CrawlTools, selection: PageSelection, limit: usize) -> Result<Answer, CommandFailure> {
    let selection = PageSelection { at_most: i32::try_from(limit + 1).unwrap_or(i32::MAX), ..selection };
    let mut found = Vec::new();
    tools.state()?.list_pages(&selection, &mut |page| found.push(page))?;
    let mut has_more = found.len() > limit;
    found.truncate(limit);
    found.sort_by(|one, other| one.url.cmp(&other.url));
    let mut items = Items::new();
    for page in &found {
        if !items.add(&page_line(page))? {
            has_more = true;
            break;
        }
    }
    let facts = json!({ "count": items.values.len(), "has_more": has_more });
    Ok(Answer::of_pages(facts, json!({ "pages": items.values })))
}

fn page_line(page: &ListedPage) -> Value {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    json!({
        "url": page.url.as_str(),
        "last_look_at": time(page.last_look_at),
        "last_change_at": time(page.last_change_at),
        "outcome": page.outcome,
        "status": page.status,
        "verdict": page.verdict.as_ref().map(word),
        "fetches": page.fetches,
        "changes": page.changes,
    })
}

pub(super) fn status(tools: &CrawlTools) -> Result<Answer, CommandFailure> {
    let (status, complete) = tools.state()?.status()?;
    let facts = json!({ "is_complete": complete.is_ok() });
    // Its messages may quote servers.
    Ok(Answer::of_pages(facts, json!({ "status": value(&status)? })))
}

fn host_name(host: &str) -> HostName {
    HostName::from_name(host.to_lowercase())
}

fn value(shown: &impl Serialize) -> Result<Value, CommandFailure> {
    serde_json::to_value(shown).map_err(|error| CommandFailure::World(error.to_string()))
}

/// A number of an argument, which has a usual value and a bound.
fn bounded(number: Option<usize>, name: &str, usual: usize, most: usize) -> Result<usize, CommandFailure> {
    match number.unwrap_or(usual) {
        number if (1..=most).contains(&number) => Ok(number),
        _ => Err(CommandFailure::Input(format!("{name}: write a number from 1 to {most}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_before_it_is_too_large_and_has_one_item_at_least() {
        let large = "x".repeat(MOST_BYTES);
        let mut items = Items::new();
        assert!(items.add(&large).unwrap() && !items.add(&"y").unwrap());
        let mut items = Items::new();
        assert!(items.add(&"y").unwrap() && !items.add(&large).unwrap() && items.add(&"z").unwrap());
        assert_eq!(items.values, [json!("y"), json!("z")]);
    }

    #[test]
    fn a_number_is_usual_or_within_its_bound() {
        assert_eq!(bounded(None, "limit", 20, 100).unwrap(), 20);
        assert_eq!(bounded(Some(100), "limit", 20, 100).unwrap(), 100);
        for wrong in [0, 101, usize::MAX] {
            let problem = bounded(Some(wrong), "limit", 20, 100).unwrap_err();
            assert_eq!(problem.to_string(), "limit: write a number from 1 to 100");
        }
    }
}
