//! The rules that watch something: their pages, what they saw last, and a form to try one.

use super::query::Query;
use super::{ScreenFailure, Source};
use document::select::PartUse;
use messages::PageSelection;
use page::CanonicalUrl;
use serde::Serialize;
use std::collections::BTreeSet;
use watch::{WatchMemory, WatchRule};

/// Pages on the screen, of all rules together. Their state is read one by one.
const SHOWN: usize = 200;

#[derive(Serialize)]
pub(super) struct Watches {
    rules: Vec<RuleLine>,
    /// Pages that have a rule which watches something.
    pages: usize,
    has_more: bool,
    draft: Draft,
}

/// A rule as the form has it, an entry on each line.
#[derive(Default, Serialize)]
pub(super) struct Draft {
    pub(super) url: String,
    pub(super) watch: String,
    pub(super) ignore: String,
    pub(super) trigger: String,
    pub(super) only_triggers: bool,
}

#[derive(Serialize)]
struct RuleLine {
    name: String,
    patterns: Vec<String>,
    watch: Vec<String>,
    ignore: Vec<String>,
    triggers: Vec<String>,
    only_triggers: bool,
    pages: Vec<WatchedLine>,
}

#[derive(Serialize)]
struct WatchedLine {
    url: String,
    last_look_at: Option<String>,
    values: Vec<Shown>,
    sees_nothing: Vec<String>,
}

#[derive(Serialize)]
struct Shown {
    subject: String,
    value: String,
}

/// The entries of a rule for one purpose.
fn parts(rule: &WatchRule, purpose: PartUse) -> Vec<String> {
    let parts = rule.selection().parts().iter().filter(|part| part.purpose == purpose);
    parts.map(|part| part.text.clone()).collect()
}

fn triggers(rule: &WatchRule) -> Vec<String> {
    rule.triggers().iter().map(|trigger| trigger.text().to_owned()).collect()
}

impl Draft {
    /// The rule of a page, or an empty one.
    fn of(url: &CanonicalUrl, rule: Option<&WatchRule>) -> Self {
        let lines = |entries: Vec<String>| entries.join("\n");
        let Some(rule) = rule else { return Self { url: url.to_string(), ..Self::default() } };
        Self {
            url: url.to_string(),
            watch: lines(parts(rule, PartUse::Watch)),
            ignore: lines(parts(rule, PartUse::Ignore)),
            trigger: lines(triggers(rule)),
            only_triggers: rule.reports_only_triggers(),
        }
    }
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Watches, ScreenFailure> {
    let query = Query::read(query, &["url"])?;
    let rules = watch::configured(source.settings).map_err(crate::CommandFailure::from)?;
    let draft = match query.get("url") {
        None => Draft::default(),
        Some(_) => {
            let url = query.url(source.settings)?;
            source.permit(&url)?;
            Draft::of(&url, rules.find(&url))
        }
    };
    let watching: Vec<&WatchRule> = rules.iter().filter(|rule| rule.is_watching()).collect();
    // The first of them, by their addresses.
    let (mut urls, mut pages) = (BTreeSet::new(), 0);
    if !watching.is_empty() {
        let all = PageSelection { at_most: i32::MAX, ..PageSelection::default() };
        source.state.list_pages(&all, &mut |page| {
            if rules.find(&page.url).is_some() && source.caller.includes_host(page.url.host_name()) {
                pages += 1;
                urls.insert(page.url);
                if urls.len() > SHOWN {
                    urls.pop_last();
                }
            }
        })?;
    }
    let has_more = pages > urls.len();
    let urls: Vec<CanonicalUrl> = urls.into_iter().collect();
    let mut lines: Vec<(String, WatchedLine)> = Vec::new();
    source.state.watched(&urls, &mut |url, watched| {
        let Some(rule) = rules.find(url) else { return Ok(()) };
        // A memory that cannot be read says nothing of the page; `recrawl rules --check` names the fault.
        let memory = WatchMemory::decode(&watched.sketch.watch).unwrap_or_default();
        let values = memory.last_values(rule).into_iter();
        let line = WatchedLine {
            url: url.to_string(),
            last_look_at: watched.sketch.last_look_at.map(|at| at.to_string()),
            values: values.map(|last| Shown { value: last.to_string(), subject: last.subject }).collect(),
            sees_nothing: watched.blind.map(|blind| blind.parts).unwrap_or_default(),
        };
        lines.push((rule.name().to_owned(), line));
        Ok(())
    })?;
    let line = |rule: &WatchRule| RuleLine {
        name: rule.name().to_owned(),
        patterns: rule.patterns().to_vec(),
        watch: parts(rule, PartUse::Watch),
        ignore: parts(rule, PartUse::Ignore),
        triggers: triggers(rule),
        only_triggers: rule.reports_only_triggers(),
        pages: lines.extract_if(.., |(name, _)| *name == rule.name()).map(|(_, line)| line).collect(),
    };
    let rules = watching.into_iter().map(line).collect();
    Ok(Watches { rules, pages, has_more, draft })
}
