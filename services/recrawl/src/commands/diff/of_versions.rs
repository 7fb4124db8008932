//! `recrawl diff URL A [B]`: two versions of a page that a crawl has kept.

use super::context::Context;
use super::html::{self, PageHead, VersionHead};
use super::{DiffArguments, text, write_page};
use crate::commands::page::kept_version;
use crate::kept_copy::{media_type, unpacked};
use crate::one_fetch::parsed;
use crate::ruled_diff::{Comparing, GivenVersion, RuledDiff};
use crate::{CommandFailure, documents};
use document::Body;
use messages::{CopyKind, PageContent};
use operate::state::CrawlState;
use outputs::stdout::{Format, answer_coloured, word};
use page::{CanonicalUrl, Timestamp};
use settings::Settings;

/// A kept version, unpacked.
struct KeptVersion {
    copy: PageContent,
    bytes: Vec<u8>,
}

impl KeptVersion {
    fn open(state: &dyn CrawlState, url: &CanonicalUrl, number: u32) -> Result<Self, CommandFailure> {
        let copy = kept_version(state, url, number)?;
        let bytes = unpacked(&copy, usize::MAX)?.into_owned();
        Ok(Self { copy, bytes })
    }

    /// A text has no parts that a rule could select, and no links.
    fn given(&self) -> GivenVersion<'_> {
        let url = (self.copy.kind == CopyKind::Body).then_some(self.copy.url.as_str());
        GivenVersion { bytes: &self.bytes, url, content_type: media_type(&self.copy) }
    }

    fn body(&self) -> Body<'_> {
        let GivenVersion { bytes, url, content_type } = self.given();
        documents::body(bytes, content_type, url)
    }
}

/// Two kept versions of a page, compared.
pub(crate) struct ComparedVersions {
    pub(crate) reported: RuledDiff,
    /// When each was seen first.
    pub(crate) times: [Timestamp; 2],
    context: Context,
}

impl ComparedVersions {
    /// Compares the versions with these numbers, the older first, as the crawl would.
    pub(crate) fn of(
        state: &dyn CrawlState,
        settings: &Settings,
        url: &CanonicalUrl,
        numbers: [u32; 2],
    ) -> Result<Self, CommandFailure> {
        let [older, newer] = numbers;
        let versions = [KeptVersion::open(state, url, older)?, KeptVersion::open(state, url, newer)?];
        if versions[0].copy.kind != versions[1].copy.kind {
            return Err(CommandFailure::No(format!(
                "of version {older} and version {newer} one is a text and one a body, because detector.contents was changed between them"
            )));
        }
        Ok(Self {
            reported: Comparing::of_crawl(settings, state)?.compare(versions[0].given(), versions[1].given()),
            times: versions.each_ref().map(|version| version.copy.seen_at),
            context: Context::of_bodies(&versions[0].body(), &versions[1].body()),
        })
    }

    /// The changed units side by side, within the texts beside them, as escaped markup.
    pub(crate) fn table(&self) -> String {
        html::table_within(&self.reported.diff.record, &self.context)
    }
}

/// Prints the difference between two versions of a page.
pub(super) fn of_versions(
    arguments: &DiffArguments,
    settings: &Settings,
    (address, older): (&str, u32),
    format: Format,
) -> Result<(), CommandFailure> {
    let url = settings.urls.rules().apply(parsed(address)?);
    let state = operate::state::open(settings, crate::stages::topologies(), *arguments.wait.wait)?;
    let last = || -> Result<u32, CommandFailure> {
        let versions = state.history(&url)?;
        let missing = || CommandFailure::No(format!("no version of {url} is kept"));
        versions.last().map(|version| version.number).ok_or_else(missing)
    };
    let numbers = [older, arguments.newer.map_or_else(last, Ok)?];
    let ComparedVersions { reported, times, context } = ComparedVersions::of(&*state, settings, &url, numbers)?;
    if let Some(file) = &arguments.html {
        let names = numbers.map(|number| format!("version {number}"));
        let times = times.map(|time| time.to_string());
        let shown = |index: usize| VersionHead { name: Some(&names[index]), time: Some(&times[index]) };
        let verdict = word(&reported.diff.verdict);
        let looks_like = reported.diff.looks_like.map(|kind| word(&kind));
        let head = PageHead {
            url: Some(url.as_str()),
            versions: [shown(0), shown(1)],
            verdict: &verdict,
            magnitude: reported.diff.magnitude,
            rule: reported.rule.as_deref(),
            triggers: &reported.triggers,
            not_found: &reported.not_found,
            looks_like: looks_like.as_deref(),
            ..PageHead::default()
        };
        if write_page(file, &html::page(&head, &reported.diff.record, &context))? {
            return Ok(());
        }
    }
    answer_coloured(format, &reported, |reported| text(reported, arguments.color.style()))
}
