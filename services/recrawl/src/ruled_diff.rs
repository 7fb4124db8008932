//! A comparison of two versions by the watch rule of their page, as the detector makes it.

use crate::{CommandFailure, documents};
use change::{Diff, Version, diff};
use operate::state::CrawlState;
use page::{CanonicalUrl, UrlRules};
use serde::Serialize;
use settings::Settings;
use watch::{WatchMemory, WatchRule, WatchRules};

/// The differences that count, and the triggers of the page's rule.
#[derive(Debug, Serialize)]
pub struct RuledDiff {
    #[serde(flatten)]
    pub diff: Diff,
    /// Name of the watch rule of the page, or its number. Null if it has none.
    pub rule: Option<String>,
    /// The triggers that fire.
    pub triggers: Vec<String>,
    /// The parts that the rule watches and that the newer version does not have.
    pub not_found: Vec<String>,
}

/// One of the two versions as it was given.
#[derive(Clone, Copy)]
pub struct GivenVersion<'a> {
    /// The bytes of the body.
    pub bytes: &'a [u8],
    /// The address it was fetched from.
    pub url: Option<&'a str>,
    /// Its Content-Type.
    pub content_type: Option<&'a str>,
}

/// The rules by which versions are compared.
pub struct Comparing {
    urls: UrlRules,
    rules: WatchRules,
}

impl Comparing {
    /// Takes the rules from the settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            urls: settings.urls.rules(),
            rules: watch::configured(settings).expect("rules were checked when the settings were loaded"),
        }
    }

    /// The rules of a crawl, those that operators have saved included.
    ///
    /// # Errors
    /// The saved rules cannot be read.
    pub fn of_crawl(settings: &Settings, state: &dyn CrawlState) -> Result<Self, CommandFailure> {
        Ok(Self { urls: settings.urls.rules(), rules: state.saved_rules()?.in_force(settings)? })
    }

    /// Compares two versions by the rule of the newer one's address.
    pub fn compare(&self, old: GivenVersion<'_>, new: GivenVersion<'_>) -> RuledDiff {
        let url = new.url.and_then(|url| CanonicalUrl::parse(url).ok()).map(|url| self.urls.apply(url));
        let rule = url.and_then(|url| self.rules.find(&url));
        let (old, new) = (self.version(old, rule), self.version(new, rule));
        let mut memory = WatchMemory::default();
        let triggers = rule.map(|rule| {
            rule.look(old.blocks(), &mut memory);
            rule.look(new.blocks(), &mut memory)
        });
        RuledDiff {
            rule: rule.map(|rule| rule.name().to_owned()),
            triggers: triggers.unwrap_or_default(),
            not_found: rule.map(|rule| rule.not_found(new.blocks())).unwrap_or_default(),
            diff: diff(&old, &new),
        }
    }

    fn version(&self, given: GivenVersion<'_>, rule: Option<&WatchRule>) -> Version<'_> {
        let body = documents::body(given.bytes, given.content_type, given.url);
        let body = match rule {
            Some(rule) => body.with_selection(rule.selection()),
            None => body,
        };
        Version::of_body(&body, &self.urls)
    }
}
