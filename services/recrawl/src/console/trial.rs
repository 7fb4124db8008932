//! A rule on versions of a page, before anybody saves it: what it sees, and what would have been reported.

use super::draft::{Draft, FIELDS};
use super::query::Query;
use super::{ScreenFailure, Source, fetched};
use crate::commands::rules::{WatchReport, watch_report};
use crate::kept_copy::{media_type, unpacked};
use crate::one_fetch::Given;
use crate::{CommandFailure, documents};
use change::{Version, VersionVerdict, diff};
use messages::{CopyKind, word};
use page::{CanonicalUrl, UrlRules};
use serde::Serialize;
use settings::write_saved_rules;
use watch::{LastValue, Shown, WatchMemory, WatchRule};

/// Versions that a rule is tried on: the last ones.
const VERSIONS: usize = 20;

#[derive(Serialize)]
pub(super) struct Trial {
    draft: Draft,
    /// Number of the newest set of saved rules when the form was shown.
    after: String,
    /// The rule as it would stand in the configuration.
    toml: String,
    /// The findings on the last of the versions.
    sees: WatchReport,
    /// The newest first.
    looks: Vec<TrialLook>,
    /// Versions of which only the text is kept, so that no part can be selected in them.
    texts_alone: usize,
    /// Why the page of now is missing.
    not_fetched: Option<String>,
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

/// The looks of a rule at one version after the other.
struct Looks<'a> {
    rule: &'a WatchRule,
    url: &'a CanonicalUrl,
    urls: &'a UrlRules,
    memory: WatchMemory,
    looks: Vec<TrialLook>,
    /// The last version, and as it was read. Others are not held.
    last: Option<(TrialVersion, Version<'a>)>,
}

pub(super) fn of_form(source: &Source<'_>, form: &[u8]) -> Result<Trial, ScreenFailure> {
    let form = Query::of_form(form, &FIELDS)?;
    let url = form.url(source.settings)?;
    source.permit(&url)?;
    let draft = Draft::of_form(&form, &url);
    let rule = draft.compiled()?;
    let urls = source.settings.urls.rules();
    let (memory, looks) = (WatchMemory::default(), Vec::new());
    let mut looks = Looks { rule: &rule, url: &url, urls: &urls, memory, looks, last: None };
    let texts_alone = looks.at_kept(source)?;
    let mut not_fetched = None;
    if looks.last.is_none() || form.get("now").is_some() {
        match fetched(source, &url) {
            Ok(given) => looks.at(TrialVersion::from(given)),
            Err(ScreenFailure::Command(CommandFailure::No(why))) if looks.last.is_some() => not_fetched = Some(why),
            Err(failure) => return Err(failure),
        }
    }
    let Looks { mut looks, last, .. } = looks;
    let missing = || CommandFailure::No(format!("there is no version of {url}"));
    let (TrialVersion { bytes, content_type, .. }, _) = last.ok_or_else(missing)?;
    let given = Given { bytes, url: None, content_type: None };
    let sees = watch_report(&rule, &url, &given, content_type.as_deref());
    looks.reverse();
    let after = form.get("after").unwrap_or_default().to_owned();
    Ok(Trial {
        toml: write_saved_rules(&[rule.written().clone()]),
        draft,
        after,
        sees,
        looks,
        texts_alone,
        not_fetched,
    })
}

impl From<Given> for TrialVersion {
    fn from(given: Given) -> Self {
        Self { number: None, seen_at: None, bytes: given.bytes, content_type: given.content_type }
    }
}

impl Looks<'_> {
    /// Looks at the last kept versions that the rule can be tried on, the oldest first. Returns the number of those of which only
    /// a text is kept.
    fn at_kept(&mut self, source: &Source<'_>) -> Result<usize, CommandFailure> {
        let most = usize::try_from(source.settings.fetch.max_body).unwrap_or(usize::MAX);
        let history = source.state.history(self.url)?;
        let mut texts_alone = 0;
        for facts in &history[history.len().saturating_sub(VERSIONS)..] {
            let Some(copy) = source.state.version(self.url, facts.number)? else { continue };
            // Words are found in a text, too; parts and facts of a page are not.
            if copy.kind == CopyKind::Text && !self.rule.selection().parts().is_empty() {
                texts_alone += 1;
                continue;
            }
            self.at(TrialVersion {
                number: Some(facts.number),
                seen_at: Some(copy.seen_at.to_string()),
                bytes: unpacked(&copy, most)?.into_owned(),
                content_type: media_type(&copy).map(str::to_owned),
            });
        }
        Ok(texts_alone)
    }

    fn at(&mut self, version: TrialVersion) {
        let rule = self.rule;
        let body = documents::body(&version.bytes, version.content_type.as_deref(), Some(self.url.as_str()));
        let seen = Version::of_body(&body.with_selection(rule.selection()), self.urls);
        let look = rule.look_at(seen.blocks(), &mut self.memory, Shown::Page, true);
        let diff = self.last.as_ref().map(|(_, before)| diff(before, &seen));
        let is_changed =
            diff.as_ref().is_some_and(|diff| matches!(diff.verdict, VersionVerdict::Minor | VersionVerdict::Major));
        self.looks.push(TrialLook {
            number: version.number,
            seen_at: version.seen_at.clone(),
            values: self.memory.last_values(rule).into_iter().map(named).collect(),
            blind: look.blind,
            is_reported: !look.triggers.is_empty() || (is_changed && !rule.reports_only_triggers()),
            triggers: look.triggers,
            verdict: diff.map(|diff| word(&diff.verdict)),
        });
        self.last = Some((version, seen));
    }
}

fn named(last: LastValue) -> (String, String) {
    (last.subject.clone(), last.to_string())
}
