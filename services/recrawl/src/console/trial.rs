//! A rule on versions of a page, before anybody saves it: what it sees, and what would have been reported.

use super::query::Query;
use super::watches::Draft;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use crate::commands::rules::{WatchReport, watch_report};
use crate::one_fetch::{Given, file_or_address};
use change::{Version, VersionVerdict, diff};
use document::Body;
use messages::{CopyKind, body, word};
use operate::state::CrawlState;
use page::CanonicalUrl;
use serde::Serialize;
use settings::Rule;
use watch::{LastValue, Shown, WatchMemory, WatchRule};

/// Versions that a rule is tried on: the last ones.
const VERSIONS: usize = 20;

#[derive(Serialize)]
pub(super) struct Trial {
    draft: Draft,
    /// The rule as it would stand in the configuration.
    toml: String,
    /// What the rule sees on the last of the versions.
    sees: WatchReport,
    /// The newest first.
    looks: Vec<TrialLook>,
    /// Versions of which only the text is kept, so that no part can be selected in them.
    texts_alone: usize,
}

/// The rule on one version.
#[derive(Serialize)]
struct TrialLook {
    /// Number of the version. `None`: the page as it is now.
    number: Option<u32>,
    seen_at: Option<String>,
    values: Vec<(String, String)>,
    blind: Vec<String>,
    triggers: Vec<String>,
    /// Verdict of what the rule watches, against the version before.
    verdict: Option<String>,
    is_reported: bool,
}

/// A version to try a rule on.
struct TrialVersion {
    number: Option<u32>,
    seen_at: Option<String>,
    bytes: Vec<u8>,
    content_type: Option<String>,
}

pub(super) fn of_form(source: &Source<'_>, form: &[u8]) -> Result<Trial, ScreenFailure> {
    let form = Query::of_form(form, &["url", "watch", "ignore", "trigger", "only_triggers", "now"])?;
    let url = form.url(source.settings)?;
    source.permit(&url)?;
    let text = |name: &str| form.get(name).unwrap_or_default().to_owned();
    let draft = Draft {
        url: url.to_string(),
        watch: text("watch"),
        ignore: text("ignore"),
        trigger: text("trigger"),
        only_triggers: form.get("only_triggers").is_some(),
    };
    let rule = compiled(&url, &draft)?;
    let (mut versions, texts_alone) = kept(source, &url, &rule)?;
    if versions.is_empty() || form.get("now").is_some() {
        let given = file_or_address(source.settings, url.as_str());
        versions.push(given.map(TrialVersion::from).map_err(|failure| CommandFailure::No(failure.to_string()))?);
    }
    let newest = versions.last().expect("the page of now, if there is no other");
    let given = Given { bytes: newest.bytes.clone(), url: None, content_type: newest.content_type.clone() };
    let sees = watch_report(&rule, &url, &given, None);
    let looks = looks(source, &url, &rule, &versions);
    Ok(Trial { toml: as_toml(&url, &draft), draft, sees, looks, texts_alone })
}

impl From<Given> for TrialVersion {
    fn from(given: Given) -> Self {
        Self { number: None, seen_at: None, bytes: given.bytes, content_type: given.content_type }
    }
}

fn entries(lines: &str) -> Vec<String> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn compiled(url: &CanonicalUrl, draft: &Draft) -> Result<WatchRule, CommandFailure> {
    let rule = Rule {
        number: 1,
        pages: vec![pattern_of(url)],
        watch: entries(&draft.watch),
        ignore: entries(&draft.ignore),
        trigger: entries(&draft.trigger),
        only_triggers: draft.only_triggers,
        ..Rule::default()
    };
    WatchRule::new(rule).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(|fault| format!("{}: {fault}", fault.key)).collect();
        CommandFailure::Input(faults.join(". "))
    })
}

/// A pattern of this page alone.
fn pattern_of(url: &CanonicalUrl) -> String {
    url.as_str().split_once("://").map_or(url.as_str(), |(_, rest)| rest).to_owned()
}

/// The rule for a configuration file.
fn as_toml(url: &CanonicalUrl, draft: &Draft) -> String {
    let list = |entries: &[String]| toml::Value::from(entries.to_vec()).to_string();
    let mut lines = vec!["[[rules]]".to_owned(), format!("pages = {}", list(&[pattern_of(url)]))];
    for (key, text) in [("watch", &draft.watch), ("ignore", &draft.ignore), ("trigger", &draft.trigger)] {
        let entries = entries(text);
        lines.extend((!entries.is_empty()).then(|| format!("{key} = {}", list(&entries))));
    }
    lines.extend(draft.only_triggers.then(|| "only_triggers = true".to_owned()));
    lines.join("\n")
}

/// The last kept versions that the rule can be tried on, the oldest first, and the number of those of which only a text is kept.
fn kept(
    source: &Source<'_>,
    url: &CanonicalUrl,
    rule: &WatchRule,
) -> Result<(Vec<TrialVersion>, usize), CommandFailure> {
    let (mut versions, mut texts_alone) = (Vec::new(), 0);
    for facts in source.state.history(url)?.iter().rev().take(VERSIONS) {
        let Some(copy) = source.state.version(url, facts.number)? else { continue };
        // Words are found in a text, too; parts and facts of a page are not.
        let is_text = copy.kind == CopyKind::Text;
        if is_text && !rule.selection().parts().is_empty() {
            texts_alone += 1;
            continue;
        }
        let bytes = body::unpack(&copy.content, usize::MAX)
            .map_err(|error| CommandFailure::World(format!("version {} of {url}: {error}", facts.number)))?;
        versions.push(TrialVersion {
            number: Some(facts.number),
            seen_at: Some(copy.seen_at.to_string()),
            bytes: bytes.into_owned(),
            content_type: if is_text { Some("text/plain; charset=utf-8".to_owned()) } else { copy.content_type },
        });
    }
    versions.reverse();
    Ok((versions, texts_alone))
}

/// The rule on versions, one after the other. The newest comes first in the answer.
fn looks(source: &Source<'_>, url: &CanonicalUrl, rule: &WatchRule, versions: &[TrialVersion]) -> Vec<TrialLook> {
    let (urls, mut memory) = (source.settings.urls.rules(), WatchMemory::default());
    let mut before: Option<Version<'_>> = None;
    let mut looks = Vec::new();
    for version in versions {
        let body = Body::new(&version.bytes, version.content_type.as_deref(), Some(url.as_str()));
        let seen = Version::of_body(&body.with_selection(rule.selection()), &urls);
        let look = rule.look_at(seen.blocks(), &mut memory, Shown::Page, true);
        let diff = before.as_ref().map(|before| diff(before, &seen));
        let is_changed =
            diff.as_ref().is_some_and(|diff| matches!(diff.verdict, VersionVerdict::Minor | VersionVerdict::Major));
        looks.push(TrialLook {
            number: version.number,
            seen_at: version.seen_at.clone(),
            values: memory.last_values(rule).into_iter().map(named).collect(),
            blind: look.blind,
            is_reported: !look.triggers.is_empty() || (is_changed && !rule.reports_only_triggers()),
            triggers: look.triggers,
            verdict: diff.map(|diff| word(&diff.verdict)),
        });
        before = Some(seen);
    }
    looks.reverse();
    looks
}

fn named(last: LastValue) -> (String, String) {
    (last.subject.clone(), last.to_string())
}
