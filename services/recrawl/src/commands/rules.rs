//! `recrawl rules URL [FILE]`: the rule of a page: whether and how it is crawled, and what is watched on it. `recrawl rules
//! --check`: which rules see nothing on the pages of a crawl. `--saved` and `--save`: the rules that operators have saved.

mod check;
mod saved;

use crate::commands::{SettingsArguments, WaitArguments};
use crate::one_fetch::{Given, file_or_address, parsed};
use crate::stages::topologies;
use crate::{CommandFailure, documents};
use clap::Args;
use document::select::{PartUse, SelectedPart, Selection};
use document::{Body, ContentKind};
use operate::RuleSets;
use outputs::stdout::{Format, answer, word};
use page::CanonicalUrl;
use scope::Decision;
use serde::Serialize;
use std::path::PathBuf;
use watch::{Sight, Trigger, WatchRule};

/// The most texts listed of one part of a page, and the most bytes of each.
const MAX_LISTED: usize = 20;
const MAX_TEXT_BYTES: usize = 200;

/// Arguments of `recrawl rules`.
#[derive(Args, Debug)]
pub struct RulesArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// URL of the page.
    #[arg(required_unless_present_any = ["check", "saved", "save"])]
    url: Option<String>,
    /// The page: a file ("-" is stdin). Without it the page is fetched.
    file: Option<String>,
    /// Content-Type that the file was sent with.
    #[arg(long, requires = "file")]
    content_type: Option<String>,
    /// Tries all rules on the pages of a crawl, and lists those on which a rule sees nothing, a trigger holds
    /// already, a text is masked as noise, or no text is read, and the headers of rules that are not sent to a page. Exit status
    /// 1 if a rule sees nothing.
    #[arg(long, conflicts_with = "url")]
    check: bool,
    /// Prints the rules that operators have saved while the crawl runs, as --save reads them; or those of an earlier save, by its
    /// number.
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, conflicts_with_all = ["url", "check"])]
    saved: Option<Option<i64>>,
    /// Saves the rules of this file ("-" is stdin) in place of all that were saved before. They count at once, above those of the
    /// configuration.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["url", "check", "saved"])]
    save: Option<PathBuf>,
    /// State directory of a `recrawl run`, which may be running. With a page: the rules that operators have saved there count, too.
    /// Over Kafka --saved shows these.
    #[arg(long)]
    data: Option<PathBuf>,
    #[command(flatten)]
    wait: WaitArguments,
}

/// The operator's rule for a page, and its effect.
#[derive(Debug, Serialize)]
struct RuleReport {
    url: String,
    /// Name of the rule, or its number. Null if no rule names the page.
    rule: Option<String>,
    /// The pattern of this rule that matches the page.
    pattern: Option<String>,
    /// Whether the page is crawled.
    crawled: bool,
    /// The rule or the line of a filter that decides whether it is crawled, in words.
    decided_by: String,
    /// The rule's orders to the crawl, as lines of settings.
    orders: Vec<String>,
    /// The headers of the rule that are not sent to the page, and what to write. Left out if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    headers_not_sent: Option<String>,
    /// The watched parts and triggers. Absent if nothing on the page is watched.
    #[serde(flatten)]
    watching: Option<WatchReport>,
}

/// The parts that the rule of a page finds on it, and the state of its triggers.
#[derive(Debug, Serialize)]
pub(crate) struct WatchReport {
    /// Whether changes that fire no trigger are left unpublished.
    only_triggers: bool,
    /// The kind of content that the page is read as. Selectors select in HTML, pointers in JSON.
    read_as: String,
    watch: Vec<PartReport>,
    ignore: Vec<PartReport>,
    triggers: Vec<TriggerReport>,
}

/// The texts that a part of the rule selects.
#[derive(Debug, Serialize)]
struct PartReport {
    part: String,
    /// Number of elements, values or facts.
    found: u32,
    /// Their texts, as far as listed.
    texts: Vec<String>,
    /// Number of texts that are not listed.
    left_out: usize,
}

/// The number or words that a trigger sees, and whether its condition holds.
#[derive(Debug, Serialize)]
struct TriggerReport {
    trigger: String,
    /// The number it is about; of a range the end that it compares. Null if it is about words, or sees no number.
    number: Option<f64>,
    /// Both ends, if it sees a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    /// Whether its words are there. Null if it is about a number, or sees no text.
    words: Option<bool>,
    /// Whether it sees nothing because the page has several equal things and no main one. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    several: bool,
    /// Whether words for it are there and it is not understood whether the page means them. Then `words` and `holds` are null.
    /// Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unknown: bool,
    /// Whether its condition holds now. It fires when it did not hold at the look before. Null if it sees nothing that it is
    /// about; false for a number that is to fall or rise, which is an event.
    holds: Option<bool>,
}

/// Prints the rule of a page. Exit status 1 if no rule names it and no filter decides about it.
pub fn rules(arguments: &RulesArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    if let Some(file) = &arguments.save {
        return saved::save(&settings, file, format);
    }
    let open = || operate::state::open(&settings, topologies(), *arguments.wait.wait);
    if let Some(number) = arguments.saved {
        return saved::print(&*open()?, number, format);
    }
    let Some(url) = &arguments.url else { return check::check(&settings, &*open()?, format) };
    let url = settings.urls.rules().apply(parsed(url)?);
    let sets = if settings.crawl.data.is_some() { open()?.saved_rules()? } else { RuleSets::default() };
    let (scope, watch_rules) = (scope::configured(&settings)?, sets.in_force(&settings)?);
    let saved = sets.crawl_rules()?;
    // The orders of a saved rule are intervals; all others are those of the configuration.
    let orders: Vec<_> = saved.rule(&url).into_iter().chain(scope.rule(&url)).collect();
    let rule = orders.first().copied();
    let decision = scope.decide(&url);
    if rule.is_none() && decision == Decision::Nothing {
        let known = match settings.rules.len() + saved.rules().len() {
            0 => "there are no rules; write [[rules]] in the configuration, and name it with --config".to_owned(),
            count => format!("none of the {count} rules names {url}"),
        };
        return Err(CommandFailure::No(known));
    }
    let watching = match watch_rules.find(&url) {
        Some(rule) => {
            let source = arguments.file.as_deref().unwrap_or(url.as_str());
            let given = file_or_address(&settings, source)?;
            let content_type = arguments.content_type.as_deref().or(given.content_type.as_deref());
            Some(watch_report(rule, &url, &given, content_type))
        }
        None => None,
    };
    let report = RuleReport {
        url: url.to_string(),
        rule: rule.map(|rule| rule.name().to_owned()),
        pattern: rule.and_then(|rule| rule.pattern_for(&url)).map(str::to_owned),
        crawled: decision.allows(),
        decided_by: decision.to_string(),
        orders: orders.iter().flat_map(|rule| settings::lines_of_orders(rule.orders())).collect(),
        headers_not_sent: scope.withheld_headers([&url]).pop().map(|headers| headers.to_string()),
        watching,
    };
    answer(format, &report, text)
}

pub(crate) fn watch_report(
    rule: &WatchRule,
    url: &CanonicalUrl,
    given: &Given,
    content_type: Option<&str>,
) -> WatchReport {
    let body = documents::body(&given.bytes, content_type, Some(url.as_str()));
    let parts = |purpose| {
        let parts = rule.selection().parts().iter().filter(move |part| part.purpose == purpose);
        parts.map(|part| part_report(part, &body)).collect()
    };
    let blocks = body.clone().with_selection(rule.selection()).blocks();
    WatchReport {
        only_triggers: rule.reports_only_triggers(),
        read_as: word(&body.decoded().map_or(ContentKind::Opaque, |_| body.kind())),
        watch: parts(PartUse::Watch),
        ignore: parts(PartUse::Ignore),
        triggers: rule.sights(&blocks).into_iter().map(trigger_report).collect(),
    }
}

/// The texts that a part selects by itself, whatever the other parts of the rule are.
fn part_report(part: &SelectedPart, body: &Body<'_>) -> PartReport {
    let mut alone = Selection::default();
    alone.add(PartUse::Watch, &part.text).expect("a part of a rule is one by itself");
    let blocks = body.clone().with_selection(&alone).blocks();
    let mut texts: Vec<String> = Vec::new();
    let mut left_out = 0;
    for block in blocks.list.iter().filter(|block| block.watched && block.byte_length() > 0) {
        match texts.len() < MAX_LISTED {
            true => texts.push(shortened(blocks.text(block))),
            false => left_out += 1,
        }
    }
    PartReport { part: part.text.clone(), found: blocks.found.first().copied().unwrap_or_default(), texts, left_out }
}

fn shortened(text: &str) -> String {
    let shown = document::prefix(text, MAX_TEXT_BYTES);
    if shown.len() < text.len() { format!("{shown}…") } else { text.to_owned() }
}

fn trigger_report((trigger, sight): (&Trigger, Sight)) -> TriggerReport {
    TriggerReport {
        trigger: trigger.text().to_owned(),
        number: trigger.number(sight),
        range: if let Sight::Range { low, high } = sight { Some([low, high]) } else { None },
        words: if let Sight::Words(there) = sight { Some(there) } else { None },
        several: sight == Sight::Several,
        unknown: sight == Sight::Unclear,
        holds: trigger.holds(sight),
    }
}

fn text(report: &RuleReport) -> String {
    let mut lines = vec![report.url.clone()];
    lines.push(match (&report.rule, &report.pattern) {
        (Some(rule), Some(pattern)) => format!("rule {rule}, because of {pattern:?}"),
        _ => "no rule names it".to_owned(),
    });
    let crawled = if report.crawled { "crawled" } else { "not crawled" };
    lines.push(format!("{crawled}: {}", report.decided_by));
    lines.extend(report.orders.iter().chain(&report.headers_not_sent).cloned());
    let Some(report) = &report.watching else { return lines.join("\n") };
    lines.push(format!("the page is read as {}", report.read_as));
    for (purpose, parts) in [("watch", &report.watch), ("ignore", &report.ignore)] {
        for part in parts {
            let found = match part.found {
                0 => "nothing on this page".to_owned(),
                1 => "1 place".to_owned(),
                found => format!("{found} places"),
            };
            lines.push(format!("{purpose:<8} {}: {found}", part.part));
            lines.extend(part.texts.iter().map(|text| format!("    {text}")));
            lines.extend((part.left_out > 0).then(|| format!("    and {} more", part.left_out)));
        }
    }
    for trigger in &report.triggers {
        let sees = match (trigger.number, trigger.words) {
            _ if trigger.several => {
                "sees several equal things and none that the page is about; name one in brackets".to_owned()
            }
            (Some(number), _) => match trigger.range {
                Some([low, high]) => format!("sees {number} of the range from {low} to {high}"),
                None => format!("sees {number}"),
            },
            (_, Some(true)) => "sees its words".to_owned(),
            (_, Some(false)) => "does not see its words".to_owned(),
            (None, None) if trigger.unknown => "unknown: sees words that it does not understand".to_owned(),
            (None, None) => "sees nothing it is about".to_owned(),
        };
        let holds = match trigger.holds {
            Some(true) => ", holds now: it fires when it has not held and holds again",
            Some(false) => ", does not hold now",
            None => "",
        };
        lines.push(format!("trigger  {}: {sees}{holds}", trigger.trigger));
    }
    if report.only_triggers {
        lines.push("Only changes that fire a trigger are told.".to_owned());
    }
    lines.join("\n")
}
