//! The rules that watch something: their pages, what they saw last, and a form to try one.

use super::changes::{SEARCHED, newest};
use super::curve::{Curve, Curves};
use super::draft::Draft;
use super::query::Query;
use super::saved_rules::{self, SetLine};
use super::{ScreenFailure, Source, may_save_rules};
use crate::CommandFailure;
use messages::{PageSelection, RuleSet};
use page::CanonicalUrl;
use serde::Serialize;
use std::collections::BTreeSet;
use watch::{LastValue, WatchMemory, WatchRule};

/// Pages on the screen, of all rules together. Their state is read one by one.
const SHOWN: usize = 50;

#[derive(Serialize)]
pub(super) struct Watches {
    rules: Vec<RuleLine>,
    /// Pages that have a rule which watches something.
    pages: usize,
    has_more: bool,
    draft: Draft,
    /// Number of the newest set of saved rules; 0 without.
    after: i64,
    sets: Vec<SetLine>,
    /// Number of the sets that are kept.
    kept_sets: i64,
}

#[derive(Serialize)]
struct RuleLine {
    name: String,
    patterns: Vec<String>,
    watch: Vec<String>,
    ignore: Vec<String>,
    triggers: Vec<String>,
    only_triggers: bool,
    /// The longest time between two fetches, if the rule orders it.
    every: Option<String>,
    /// Whether an operator has saved it. Otherwise it is of the configuration.
    is_saved: bool,
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
    /// Its last numbers, if there are several.
    curve: Option<Curve>,
}

fn shown(url: &CanonicalUrl, last: LastValue, curves: &Curves) -> Shown {
    Shown { value: last.to_string(), curve: curves.get(url.as_str(), &last.subject), subject: last.subject }
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Watches, ScreenFailure> {
    let query = Query::read(query, &["url"])?;
    let sets = source.state.saved_rules()?;
    let saved = sets.watch_rules()?;
    let rules = watch::configured(source.settings).map_err(CommandFailure::from)?.below(&saved);
    let draft = match query.get("url") {
        None => Draft::default(),
        Some(_) => {
            let url = query.url(source.settings)?;
            source.permit(&url)?;
            let draft = Draft::of(&url, rules.find(&url));
            if source.caller.hosts.is_none() { draft } else { draft.without_pages() }
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
    let curves = Curves::of(&newest(source, SEARCHED)?);
    let mut lines: Vec<(String, WatchedLine)> = Vec::new();
    source.state.watched(&urls, &mut |url, watched| {
        let Some(rule) = rules.find(url) else { return Ok(()) };
        // A memory that cannot be read says nothing of the page; `recrawl rules --check` names the fault.
        let memory = WatchMemory::decode(&watched.sketch.watch).unwrap_or_default();
        let values = memory.last_values(rule).into_iter();
        let line = WatchedLine {
            url: url.to_string(),
            last_look_at: watched.sketch.last_look_at.map(|at| at.to_string()),
            values: values.map(|last| shown(url, last, &curves)).collect(),
            sees_nothing: watched.blind.map(|blind| blind.parts).unwrap_or_default(),
        };
        lines.push((rule.name().to_owned(), line));
        Ok(())
    })?;
    let sees_all = source.caller.hosts.is_none();
    // Patterns name hosts. A key of some hosts is shown the rules of their pages, without the patterns.
    let is_shown = |rule: &&WatchRule| sees_all || lines.iter().any(|(name, _)| name == rule.name());
    let watching: Vec<&WatchRule> = watching.into_iter().filter(is_shown).collect();
    let line = |rule: &WatchRule| RuleLine {
        name: rule.name().to_owned(),
        patterns: if sees_all { rule.patterns().to_vec() } else { Vec::new() },
        watch: rule.written().watch.clone(),
        ignore: rule.written().ignore.clone(),
        triggers: rule.written().trigger.clone(),
        every: rule.written().orders.max_interval.map(|every| humantime::format_duration(every).to_string()),
        is_saved: saved.iter().any(|other| other.name() == rule.name()),
        only_triggers: rule.reports_only_triggers(),
        pages: lines.extract_if(.., |(name, _)| *name == rule.name()).map(|(_, line)| line).collect(),
    };
    let rules = watching.into_iter().map(line).collect();
    let may_save = may_save_rules(source.caller);
    Ok(Watches {
        rules,
        pages,
        has_more,
        draft,
        after: sets.number(),
        sets: if may_save { saved_rules::lines(&sets) } else { Vec::new() },
        kept_sets: RuleSet::KEPT,
    })
}
